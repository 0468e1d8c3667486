# The console, where people administer.

console-title = Console
console-menu = Menu
console-skip = Go to the page
console-way = Where this page is
console-realm = Realm
console-find = Find a person by name or address
console-account = Your account
console-leave = Log out
console-session-about = The console closes after 30 minutes without use, and after 8 hours.
console-overview = Overview
console-people = People
console-applications = Applications
console-live = In use now
console-server = Installation
console-explain = Explain access
console-token = Look at a token
console-audit = Audit trail
console-settings = Settings
console-drift = Plan and drift
console-operations = All operations

console-kind-users = People
console-kind-groups = Groups
console-kind-roles = Roles
console-kind-attributes = Attributes
console-kind-rules = Access rules
console-kind-clients = Clients
console-kind-resources = Resource servers
console-kind-scopes = Scopes
console-kind-providers = Identity providers
console-kind-realms = Realms
console-kind-keys = Signing keys
console-kind-sessions = Sessions
console-kind-grants = Grants
console-kind-consents = Consents
console-kind-credentials = Factors
console-kind-agents = Agents
console-kind-nodes = Nodes

console-yes = yes
console-no = no
console-none = There is nothing here.
console-add = Add
console-change = Change
console-remove = Remove
console-save = Save
console-show = Show
console-end = End it
console-go-on = Go on
console-search = Search
console-filter = Filter
console-any = any
console-all = Show all
console-pages = Pages
console-first-page = First page
console-next-page = Next page
console-older = Older
console-acts = What can be done
console-record = Record
console-result = Result
console-as-table = As a table
console-default = Default:
console-required = required
console-unset = as by default
console-one-a-line = One a line.
console-as-json = JSON.
console-more-fields = More fields: { $count }
console-recorded = This is recorded in the audit trail.
console-done = Done, and recorded in the audit trail.
console-once = Keep what is secret here now: it is not shown again.

console-refused = This was not done.
console-not-allowed = You are logged in as { $name }. This account may not administer here.
console-form-old = The form has expired, or is not from this browser. Open the page again.
console-form-foreign = The form came from another site, and was not read.
console-form-bad = The form could not be read.
console-look-at-fields = Nothing was saved: look at the fields that are marked.
console-not-a-number = This is not a whole number.
console-not-json = This is not JSON: line { $line }, column { $column }.

console-ends = This ends something, and cannot be taken back.
console-type-name = To go on, type { $name }
console-type-again = To go on, type what you wrote at { $names }
console-name-wrong = Nothing was done: what was typed at the end is not { $name }.
console-fresh-about = This asks who you are once more: a passkey, or a password and a code, of the last ten minutes.
console-fresh-go = Show who you are
console-fresh-missing = Nothing was done: first show who you are once more.

console-changed = Nothing was saved: somebody else has changed this record meanwhile.
console-changed-about = Their changes are listed. The form has them now, and what you typed.
console-changed-what = What was changed meanwhile
console-member = Member
console-before = Before
console-now = Now
console-yours = Yours

console-timeline = Timeline
console-timeline-about = The last lines of the audit trail about this record.
console-latest = Last acts of administration
console-audit-who = Who or what
console-audit-action = Action
console-audit-outcome = Outcome
console-audit-address = Address
console-audit-id = Request, session or grant

console-attention = Needs attention
console-all-well = Nothing does. Nodes, keys and the audit trail are as they should be.
console-node-state = Node { $name } is { $state }.
console-node-clock = The clock of node { $name } is wrong.
console-audit-stopped = The audit trail is not being written.
console-key-old = The key for { $alg } is old. Days for which it has signed: { $days }
console-logouts-failed = Logout notices that were given up: { $count }

console-oldest-key = Oldest signing key, days
console-settings-set = Settings of your own

console-keys-about = Each key is published before it signs, and stays published until what it signed has expired.
console-key-made = Published since { $time }.
console-key-signs-since = Signs since { $time }.
console-key-signs-from = Signs from { $time } on.
console-key-ends = Removed at { $time }.
console-key-age = Age in days: { $days }
console-key-published = published
console-key-signing = signs

console-settings-about = The value that counts, and where it comes from. The process' settings are changed in its configuration, a realm's in its record.
console-settings-first = General
console-source = Source
console-source-default = default
console-source-configuration = configuration
console-source-record = record

console-token-about = What a token is, and whether it counts. It is sent in the body of the form, and kept nowhere.
console-token-paste = Access token or refresh token
console-token-valid = This token counts.
console-token-expired = This token has expired.
console-token-revoked = This token was revoked, or what it hangs on.
console-token-consumed = This refresh token was used: another one took its place.
console-token-unknown = Whether this token counts cannot be said now.
console-token-foreign = This is no token of this server.
console-the-person = The person
console-the-client = The client

console-operations-about = Everything that the admin API can do, each with a form of its own. What operations and their members are for is said in English.
console-operation = Operation
console-right = Right

console-first-title = The first administrator
console-first-about = This server has no account yet. Choose a name and a password; then you add a passkey, or an app that shows codes.
console-first-password = Password
console-first-rule = Characters, at least: { $count }
console-first-make = Make the account
console-first-ended = This link was used, has expired, or is not whole. A start of the server prints another one, as long as there is no account.
console-first-login = Administer
console-first-login-about = This link logs the administrator of this development server in, once.
console-no-passkey = You have no passkey: it is quicker than a code, and cannot be given away.
