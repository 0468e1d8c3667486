# The person's own pages.

account-title = Your account
account-sections = Parts of this page
account-all = All
account-change = Change
account-security = Security
account-about = About you
account-user-name = User name
account-full-name = Full name
account-given-name = Given name
account-family-name = Family name
account-language-about = Mails to you are in this language, and pages for which you have chosen no other.
account-waits = An administrator has to confirm this before applications see it.
account-save = Save
account-saved = What you changed was saved.
account-not-a-number = That is not a whole number.
account-bad-value = One of the values is too long, or cannot be one.

account-sessions = Sessions
account-session-current = This browser
account-session-now = Active now
account-session-seen = Last active: { $seen }
account-session-since = Logged in: { $since }
account-session-log-out = Log out
account-session-log-out-one = Log out { $browser }, since { $since }
account-session-end-text = Applications that were opened there ask for a login again.
account-session-ended = The session was terminated.
account-sessions-end-others = End all other sessions
account-sessions-ended = All other sessions have ended.

account-applications = Applications
account-applications-none = You have not allowed any application to act for you.
account-application-since = { $scopes } · since { $since }
account-withdraw = Remove access
account-withdraw-one = Remove access of { $client }
account-withdraw-text = It can no longer act for you. If you use it again, it asks again.
account-withdrawn = The application can no longer act for you.

account-password = Password
account-password-since = Changed: { $time }
account-password-set = Set a password
account-password-current = Current password
account-password-new = New password
account-password-rule = At least { $count } characters. A few words that nobody would guess are good.
account-password-save = Save the password
account-password-ends = This ends your other sessions.
account-password-elsewhere = Your account comes from another directory, which keeps your password, your name and your address. Change them there.
account-password-wrong = The current password is not right.
account-password-changed = The password was changed. All other sessions have ended, every application has to ask you again, and agents' identities were taken off your account.

account-recover-title = Forgotten password
account-recover-heading = Forgotten your password?
account-recover-text = A link to set a new one is sent to the e-mail address of the account.
account-recover-send = Send the link
account-recover-name = Type your user name or e-mail address.
account-recover-sent-heading = Check your mail
account-recover-sent = If the account exists, a link is on its way to its e-mail address. It works once, { page-for-minutes }.
account-recover-ended = This link has expired or was used. Ask for a new one.
account-recover-back = Back to the login
account-reset-title = Set a new password
account-reset-text = For { $name }. This ends every session and every token of the account.
account-reset-done = The new password is set. Log in with it.
account-reset-elsewhere = The new password is set. Go back to the browser where you began and log in there with it: it takes you on to the application. Or log in here to your account.

account-data = Your data
account-data-copy = A copy of your data
account-data-text = Everything that this server keeps of you: your profile, groups, sessions, applications and what you log in with, without anything secret.
account-data-export = Download
