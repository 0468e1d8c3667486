//! What a line says: an action, how it was decided, and who and what it was about.
//!
//! The content is one canonical CBOR map (RFC 8949 section 4.2) with small integers as keys; what
//! is not there is left out. It is hashed where it is made, so that the writer has only chains and
//! trees left to do.

use std::net::IpAddr;

use serde_json::{Map, Value, json};
use signet_agent::Refusal;
use signet_agent::receipt::{Decision, Outcome};
use signet_cbor::{Decoder, Encoder, Value as Cbor};
use signet_crypto::hash::sha256;
use signet_encoding::base64url;

/// Longest content of a line of the audit trail that is read, in bytes; what is written stays below
/// it
pub const MAX_CONTENT: usize = 16 * 1024;

/// Longest text in a line of the audit trail, in bytes; longer ones are cut, and an ellipsis says
/// so
pub const MAX_TEXT: usize = 512;

/// Longest text in a list of such a line, in bytes
pub const MAX_ITEM: usize = 256;

/// Most members of a list in such a line; further ones are left out, and an ellipsis says so
pub const MAX_LIST: usize = 16;

/// The type of an action, as lines name it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Action(pub &'static str);

/// The table of actions: a constant each, and the list of all.
macro_rules! actions {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal;)*) => {
        impl Action {
            $($(#[doc = $doc])* pub const $name: Action = Action($text);)*

            /// Every action of this version.
            pub const ALL: &[Action] = &[$(Action::$name),*];

            /// What each of them says, in the same order.
            #[cfg(test)]
            const MEANINGS: &[&str] = &[$(concat!($($doc),*)),*];
        }
    };
}

actions! {
    /// The trail was opened.
    START = "audit.start";
    /// The trail was closed in order.
    STOP = "audit.stop";
    /// Lines are missing here; `error` says why, `count` how many where that is known.
    GAP = "audit.gap";
    /// A closed segment was handed to the archive; `segment` says which.
    ARCHIVE = "audit.archive";
    /// A closed segment was removed by the rule of the configuration; `segment` says which.
    REMOVE = "audit.remove";
    /// `/token`: a token was issued or refused; `method` is the grant type.
    TOKEN = "token.issue";
    /// `/revoke`; counted where nothing had to be revoked.
    REVOKE = "token.revoke";
    /// A code or refresh token came a second time: its grant was ended.
    REPLAY = "token.replay";
    /// `/introspect`, counted for each caller; a refused caller has a line of its own.
    INTROSPECT = "token.introspect";
    /// `/revocations`: a stream began.
    REVOCATION_STREAM = "token.revocations";
    /// `/userinfo`, counted likewise.
    USERINFO = "userinfo";
    /// `/par`; counted for clients without a secret.
    PUSHED = "authorization.push";
    /// An authorization request was answered: with a code, or refused.
    AUTHORIZE = "authorization";
    /// The token endpoint was asked for what an access rule refuses; `target` is the rule.
    ACCESS = "access";
    /// A person agreed to what a client asked for.
    CONSENT = "consent";
    /// A device asked for codes; counted for clients without a secret.
    DEVICE = "device.begin";
    /// A person allowed or denied a device, or typed a user code that none has.
    DEVICE_DECISION = "device.decide";
    /// Somebody logged in, or tried to; `method` is that of RFC 8176.
    LOGIN = "login";
    /// A session was ended by its person or a client.
    LOGOUT = "logout";
    /// Dynamic client registration (RFC 7591, RFC 7592); `operation` is what was done. Reading is
    /// counted.
    REGISTRATION = "client.registration";
    /// A person changed something of their own account; `operation` is what.
    ACCOUNT = "account";
    /// A forgotten password was replaced by a link in the mail, or such a link did not hold.
    RECOVER = "account.recover";
    /// A person made an account for themselves (`operation` is `account`), or accepted an
    /// invitation to one (`invitation`).
    SIGN_UP = "account.sign_up";
    /// A mail was handed over for an account: `operation` is `login_code` or `recovery_link`.
    MAIL = "mail.send";
    /// An operation of the admin API; `operation` names it, `subject` who did it.
    ADMIN = "admin";
    /// Reads of the admin API, counted for each caller.
    ADMIN_READ = "admin.read";
    /// A signing key's life; `operation` is the step, `target` the key id.
    KEY = "key";
    /// An operation on agents, their roots or revocations. A signed statement that came before is
    /// counted.
    AGENT = "agent";
}

const AT: u64 = 0;
const REQUEST: u64 = 1;
const SUBJECT: u64 = 2;
const CLIENT: u64 = 3;
const JTI: u64 = 4;
const GRANT: u64 = 5;
const SID: u64 = 6;
const ACTORS: u64 = 7;
const METHOD: u64 = 8;
const ERROR: u64 = 9;
const OPERATION: u64 = 10;
const TARGET: u64 = 11;
const SCOPE: u64 = 12;
const AUDIENCE: u64 = 13;
const COUNT: u64 = 14;
const SINCE: u64 = 15;
const GRANTS: u64 = 16;
const CARRIED: u64 = 17;
const SEGMENT: u64 = 18;
const ADDRESS: u64 = 19;
const TARGET_NAME: u64 = 20;
const REASON: u64 = 21;
const CHANGED: u64 = 22;

/// Which records a segment had, and what the log was when it ended: enough to know that what begins
/// behind it is its continuation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SegmentFacts {
    /// The index of its first record.
    pub first: u64,
    /// The index behind its last record.
    pub next: u64,
    /// SHA-256 of its last record's receipt: what the next record names as the one before it.
    pub head: [u8; 32],
    /// The Merkle root over all records up to its last.
    pub root: [u8; 32],
}

impl SegmentFacts {
    fn encode(&self, out: &mut Encoder) {
        out.array(4).uint(self.first).uint(self.next);
        out.bytes(&self.head).bytes(&self.root);
    }

    fn decode(d: &mut Decoder<'_>) -> Result<SegmentFacts, Refusal> {
        d.tuple(4, |d| {
            Ok(SegmentFacts {
                first: d.uint()?,
                next: d.uint()?,
                head: d.fixed()?,
                root: d.fixed()?,
            })
        })
    }

    fn to_json(self) -> Value {
        json!({
            "first": self.first,
            "last": self.next.saturating_sub(1),
            "head": base64url::encode(&self.head),
            "root": base64url::encode(&self.root),
        })
    }
}

/// What is to be recorded. Made with the builders below; only what is known is set.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    action: Action,
    decision: Decision,
    outcome: Outcome,
    at_ms: u64,
    request: Option<&'a str>,
    subject: Option<&'a str>,
    client: Option<&'a str>,
    jti: Option<&'a [u8; 16]>,
    grant: Option<&'a [u8; 16]>,
    sid: Option<&'a str>,
    actors: &'a [&'a str],
    method: Option<&'a str>,
    error: Option<&'a str>,
    operation: Option<&'a str>,
    target: Option<&'a str>,
    scope: Option<&'a str>,
    audience: &'a [String],
    count: Option<u64>,
    since_ms: Option<u64>,
    agent_grants: &'a [[u8; 32]],
    segment: Option<&'a SegmentFacts>,
    address: Option<IpAddr>,
    target_name: Option<&'a str>,
    reason: Option<&'a str>,
}

impl<'a> Event<'a> {
    /// Something that was allowed and done. `at_ms`: Unix milliseconds.
    pub const fn new(action: Action, at_ms: u64) -> Event<'a> {
        Event {
            action,
            decision: Decision::Allowed,
            outcome: Outcome::Success,
            at_ms,
            request: None,
            subject: None,
            client: None,
            jti: None,
            grant: None,
            sid: None,
            actors: &[],
            method: None,
            error: None,
            operation: None,
            target: None,
            scope: None,
            audience: &[],
            count: None,
            since_ms: None,
            agent_grants: &[],
            segment: None,
            address: None,
            target_name: None,
            reason: None,
        }
    }

    /// The same about another action.
    #[must_use]
    pub const fn action(mut self, action: Action) -> Self {
        self.action = action;
        self
    }

    /// Something that nobody decided: it happened, or was counted.
    #[must_use]
    pub const fn happened(mut self) -> Self {
        self.decision = Decision::None;
        self
    }

    /// A person approved it.
    #[must_use]
    pub const fn approved(mut self) -> Self {
        self.decision = Decision::Approved;
        self
    }

    /// It was refused, with this error code. Where the server itself failed, nothing was decided.
    #[must_use]
    pub fn refused(mut self, code: &'a str) -> Self {
        self.decision = match code {
            "server_error" | "temporarily_unavailable" => Decision::None,
            _ => Decision::Denied,
        };
        self.outcome = Outcome::Failure;
        self.error = Some(code);
        self
    }

    /// The request that it came from.
    #[must_use]
    pub const fn request(mut self, id: &'a str) -> Self {
        self.request = Some(id);
        self
    }

    /// Where that request came from.
    #[must_use]
    pub const fn address(mut self, peer: IpAddr) -> Self {
        self.address = Some(peer);
        self
    }

    /// Who it is about: a user's id, or the client that acts for itself.
    #[must_use]
    pub const fn subject(mut self, subject: &'a str) -> Self {
        self.subject = Some(subject);
        self
    }

    /// The client that asked.
    #[must_use]
    pub const fn client(mut self, client_id: &'a str) -> Self {
        self.client = Some(client_id);
        self
    }

    /// The token's id, as its 16 bytes; lines show it as `jti` does.
    #[must_use]
    pub const fn token(mut self, jti: &'a [u8; 16]) -> Self {
        self.jti = Some(jti);
        self
    }

    /// The grant of a person to a client.
    #[must_use]
    pub const fn grant(mut self, grant_id: Option<&'a [u8; 16]>) -> Self {
        self.grant = grant_id;
        self
    }

    /// The session's public id.
    #[must_use]
    pub const fn session(mut self, sid: Option<&'a str>) -> Self {
        self.sid = sid;
        self
    }

    /// Who acts for the subject, the one that acts now first: agents' ids or clients.
    #[must_use]
    pub const fn actors(mut self, actors: &'a [&'a str]) -> Self {
        self.actors = actors;
        self
    }

    /// The ids of the agents' grants it was done under, the root's first.
    #[must_use]
    pub const fn agent_grants(mut self, grants: &'a [[u8; 32]]) -> Self {
        self.agent_grants = grants;
        self
    }

    /// How: a grant type, a login method.
    #[must_use]
    pub const fn method(mut self, method: &'a str) -> Self {
        self.method = Some(method);
        self
    }

    /// What exactly: the operation's name.
    #[must_use]
    pub const fn operation(mut self, operation: &'a str) -> Self {
        self.operation = Some(operation);
        self
    }

    /// On what: a record's id.
    #[must_use]
    pub fn target(mut self, target: &'a str) -> Self {
        self.target = (!target.is_empty()).then_some(target);
        self
    }

    /// What people call the target, where its id does not say: the record may be gone when somebody
    /// asks.
    #[must_use]
    pub fn target_name(mut self, name: &'a str) -> Self {
        self.target_name = (!name.is_empty()).then_some(name);
        self
    }

    /// Why, in the words of whoever did it.
    #[must_use]
    pub const fn reason(mut self, reason: Option<&'a str>) -> Self {
        self.reason = reason;
        self
    }

    /// The target that became known while it was done. What was said before stays.
    pub(crate) fn with_target(self, target: &'a Target) -> Self {
        if self.target.is_some_and(|known| known != target.id) {
            return self;
        }
        self.target(&target.id).target_name(&target.name)
    }

    /// The scope that was given.
    #[must_use]
    pub fn scope(mut self, scope: &'a str) -> Self {
        self.scope = (!scope.is_empty()).then_some(scope);
        self
    }

    /// For whom.
    #[must_use]
    pub const fn audience(mut self, audience: &'a [String]) -> Self {
        self.audience = audience;
        self
    }

    /// How often, since when (Unix milliseconds).
    #[must_use]
    pub const fn counted(mut self, count: Option<u64>, since_ms: u64) -> Self {
        self.count = count;
        self.since_ms = Some(since_ms);
        self
    }

    /// The segment that left the directory.
    #[must_use]
    pub(crate) const fn segment(mut self, facts: &'a SegmentFacts) -> Self {
        self.segment = Some(facts);
        self
    }

    /// Why lines are missing.
    #[must_use]
    pub(crate) const fn because(mut self, reason: &'a str) -> Self {
        self.decision = Decision::None;
        self.outcome = Outcome::Unknown;
        self.error = Some(reason);
        self
    }

    pub(crate) const fn at_ms(&self) -> u64 {
        self.at_ms
    }

    /// Encodes and hashes.
    pub(crate) fn entry(&self, carried: Option<&[u8; 16]>) -> Entry {
        let content = self.encode(carried);
        Entry {
            action: self.action.0.into(),
            decision: self.decision,
            outcome: self.outcome,
            at_ms: self.at_ms,
            hash: sha256(&content),
            content,
        }
    }

    fn encode(&self, carried: Option<&[u8; 16]>) -> Vec<u8> {
        let address = self.address.map(|address| address.to_string());
        let address = address.as_deref();
        let texts = [
            self.request,
            self.subject,
            self.client,
            self.sid,
            self.method,
            self.error,
            self.operation,
            self.target,
            self.scope,
            address,
            self.target_name,
            self.reason,
        ];
        let lists = [!self.actors.is_empty(), !self.audience.is_empty()];
        let rest = [
            self.jti.is_some(),
            self.grant.is_some(),
            self.count.is_some(),
            self.since_ms.is_some(),
            !self.agent_grants.is_empty(),
            carried.is_some(),
            self.segment.is_some(),
        ];
        let members = 1
            + texts.iter().flatten().count()
            + lists.iter().filter(|there| **there).count()
            + rest.iter().filter(|there| **there).count();
        let mut out = Encoder::with_capacity(224);
        out.map(members).uint(AT).uint(self.at_ms);
        text(&mut out, REQUEST, self.request);
        text(&mut out, SUBJECT, self.subject);
        text(&mut out, CLIENT, self.client);
        bytes(&mut out, JTI, self.jti);
        bytes(&mut out, GRANT, self.grant);
        text(&mut out, SID, self.sid);
        list(&mut out, ACTORS, self.actors.iter().copied());
        text(&mut out, METHOD, self.method);
        text(&mut out, ERROR, self.error);
        text(&mut out, OPERATION, self.operation);
        text(&mut out, TARGET, self.target);
        text(&mut out, SCOPE, self.scope);
        list(&mut out, AUDIENCE, self.audience.iter().map(String::as_str));
        uint(&mut out, COUNT, self.count);
        uint(&mut out, SINCE, self.since_ms);
        if !self.agent_grants.is_empty() {
            let kept = &self.agent_grants[..self.agent_grants.len().min(MAX_LIST)];
            out.uint(GRANTS).array(kept.len());
            for grant in kept {
                out.bytes(grant);
            }
        }
        bytes(&mut out, CARRIED, carried);
        if let Some(segment) = self.segment {
            segment.encode(out.uint(SEGMENT));
        }
        text(&mut out, ADDRESS, address);
        text(&mut out, TARGET_NAME, self.target_name);
        text(&mut out, REASON, self.reason);
        out.finish()
    }
}

/// The record that an act is about, where it became known while the act was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) id: String,
    /// What people call it; may be empty.
    pub(crate) name: String,
}

impl Target {
    /// The content of a line with this target. What the line said of one before stays.
    pub(crate) fn put_into(&self, content: &[u8]) -> Option<Vec<u8>> {
        let Ok(Cbor::Map(mut pairs)) = Cbor::decode(content) else {
            return None;
        };
        let has = |pairs: &[(Cbor, Cbor)], key: u64| {
            let key = Cbor::Int(key.into());
            let found = pairs.iter().find(|(known, _)| *known == key);
            found.map(|(_, value)| value.clone())
        };
        let mut put = |key: u64, text: &str| {
            let text = bounded(text, MAX_TEXT).into_owned();
            match has(&pairs, key) {
                Some(known) => known == Cbor::Text(text),
                None if text.is_empty() => true,
                None => {
                    pairs.push((Cbor::Int(key.into()), Cbor::Text(text)));
                    true
                }
            }
        };
        (put(TARGET, &self.id) && put(TARGET_NAME, &self.name))
            .then(|| Cbor::Map(pairs).encode().ok())
            .flatten()
    }
}

/// The content of a line that says what changed; what it said of that before goes.
pub(crate) fn put_changes(content: &[u8], changes: &[String]) -> Option<Vec<u8>> {
    let Ok(Cbor::Map(mut pairs)) = Cbor::decode(content) else {
        return None;
    };
    let key = Cbor::Int(CHANGED.into());
    pairs.retain(|(known, _)| *known != key);
    let mut told: Vec<Cbor> = changes
        .iter()
        .take(MAX_LIST)
        .map(|text| Cbor::Text(bounded(text, MAX_ITEM).into_owned()))
        .collect();
    if changes.len() > MAX_LIST
        && let Some(last) = told.last_mut()
    {
        *last = Cbor::Text("…".to_owned());
    }
    if !told.is_empty() {
        pairs.push((key, Cbor::Array(told)));
    }
    Cbor::Map(pairs).encode().ok()
}

/// At most so many bytes, cut at a character.
fn bounded(text: &str, most: usize) -> std::borrow::Cow<'_, str> {
    if text.len() <= most {
        return text.into();
    }
    let end = text.floor_char_boundary(most - '…'.len_utf8());
    format!("{}…", &text[..end]).into()
}

fn text(out: &mut Encoder, key: u64, value: Option<&str>) {
    if let Some(value) = value {
        out.uint(key).text(&bounded(value, MAX_TEXT));
    }
}

fn bytes(out: &mut Encoder, key: u64, value: Option<&[u8; 16]>) {
    if let Some(value) = value {
        out.uint(key).bytes(value);
    }
}

fn uint(out: &mut Encoder, key: u64, value: Option<u64>) {
    if let Some(value) = value {
        out.uint(key).uint(value);
    }
}

fn list<'a>(out: &mut Encoder, key: u64, items: impl ExactSizeIterator<Item = &'a str>) {
    let len = items.len();
    if len == 0 {
        return;
    }
    out.uint(key).array(len.min(MAX_LIST));
    for (at, item) in items.take(MAX_LIST).enumerate() {
        // The last place says that there were more.
        let cut = at + 1 == MAX_LIST && len > MAX_LIST;
        if cut {
            out.text("…");
        } else {
            out.text(&bounded(item, MAX_ITEM));
        }
    }
}

/// What events have in common that say the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Kind<T> {
    action: Action,
    error: Option<T>,
    subject: Option<T>,
    client: Option<T>,
    sid: Option<T>,
    method: Option<T>,
    operation: Option<T>,
    target: Option<T>,
}

impl<T> Kind<T> {
    fn map<'a, U>(&'a self, with: impl Fn(&'a T) -> U) -> Kind<U> {
        let of = |member: &'a Option<T>| member.as_ref().map(&with);
        Kind {
            action: self.action,
            error: of(&self.error),
            subject: of(&self.subject),
            client: of(&self.client),
            sid: of(&self.sid),
            method: of(&self.method),
            operation: of(&self.operation),
            target: of(&self.target),
        }
    }
}

impl Kind<&str> {
    /// The same of whomever.
    pub(crate) fn of_anybody(self) -> Self {
        Kind {
            subject: None,
            client: None,
            sid: None,
            target: None,
            ..self
        }
    }

    /// To be kept; what is longer than a line would show is cut, and then equals nothing.
    pub(crate) fn owned(&self) -> Kind<String> {
        self.map(|text| text.chars().take(MAX_ITEM).collect())
    }
}

impl Kind<String> {
    pub(crate) fn borrowed(&self) -> Kind<&str> {
        self.map(String::as_str)
    }
}

impl<'a> Event<'a> {
    /// Whether something was refused, or could not be done.
    pub(crate) fn is_refusal(&self) -> bool {
        self.outcome == Outcome::Failure
    }

    pub(crate) fn kind(&self) -> Kind<&'a str> {
        Kind {
            action: self.action,
            error: self.error,
            subject: self.subject,
            client: self.client,
            sid: self.sid,
            method: self.method,
            operation: self.operation,
            target: self.target,
        }
    }

    /// A refusal of this kind; without an error something that happened.
    pub(crate) fn of_kind(kind: Kind<&'a str>, at_ms: u64) -> Event<'a> {
        let event = Event {
            subject: kind.subject,
            client: kind.client,
            sid: kind.sid,
            method: kind.method,
            operation: kind.operation,
            target: kind.target,
            ..Event::new(kind.action, at_ms)
        };
        match kind.error {
            Some(error) => event.refused(error),
            None => event.happened(),
        }
    }
}

/// An event, encoded and hashed: what waits for the writer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) action: Box<str>,
    pub(crate) decision: Decision,
    pub(crate) outcome: Outcome,
    pub(crate) at_ms: u64,
    pub(crate) hash: [u8; 32],
    pub(crate) content: Vec<u8>,
}

/// A line's content, read back.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Content {
    /// When it was decided, Unix milliseconds.
    pub at_ms: u64,
    /// Members by name, as JSON shows them.
    pub members: Map<String, Value>,
    /// The id of the row that it came through, where it was carried by a state change.
    pub(crate) carried: Option<[u8; 16]>,
    /// The segment that left the directory, where the record says that one did.
    pub(crate) segment: Option<SegmentFacts>,
}

impl Content {
    /// Reads content; only the one encoding of it.
    ///
    /// # Errors
    /// As [`Decoder`]: `malformed`, `not_canonical`, `too_large`, `unknown_member`.
    pub fn parse(data: &[u8]) -> Result<Content, Refusal> {
        if data.len() > MAX_CONTENT {
            return Err(Refusal::TooLarge);
        }
        Decoder::whole(data, |d| {
            d.map(|map| {
                let mut content = Content {
                    at_ms: map.required(AT, Decoder::uint)?,
                    ..Content::default()
                };
                let members = &mut content.members;
                let mut put = |name: &str, value: Option<Value>| {
                    if let Some(value) = value {
                        members.insert(name.to_owned(), value);
                    }
                };
                let text = |d: &mut Decoder<'_>| d.text().map(Value::from);
                let id = |d: &mut Decoder<'_>| {
                    d.fixed::<16>()
                        .map(|id| Value::from(base64url::encode(&id)))
                };
                let number = |d: &mut Decoder<'_>| d.uint().map(Value::from);
                let texts = |d: &mut Decoder<'_>| d.list(MAX_LIST, text).map(Value::from);
                put("request_id", map.optional(REQUEST, text)?);
                put("subject", map.optional(SUBJECT, text)?);
                put("client_id", map.optional(CLIENT, text)?);
                put("jti", map.optional(JTI, id)?);
                put("grant_id", map.optional(GRANT, id)?);
                put("sid", map.optional(SID, text)?);
                put("actors", map.optional(ACTORS, texts)?);
                put("method", map.optional(METHOD, text)?);
                put("error", map.optional(ERROR, text)?);
                put("operation", map.optional(OPERATION, text)?);
                put("target", map.optional(TARGET, text)?);
                put("scope", map.optional(SCOPE, text)?);
                put("audience", map.optional(AUDIENCE, texts)?);
                put("count", map.optional(COUNT, number)?);
                put("since_ms", map.optional(SINCE, number)?);
                let hashes = |d: &mut Decoder<'_>| {
                    d.list(MAX_LIST, |d| {
                        d.fixed::<32>()
                            .map(|id| Value::from(base64url::encode(&id)))
                    })
                };
                put(
                    "agent_grants",
                    map.optional(GRANTS, hashes)?.map(Value::from),
                );
                content.carried = map.optional(CARRIED, |d| d.fixed())?;
                content.segment = map.optional(SEGMENT, SegmentFacts::decode)?;
                if let Some(segment) = content.segment {
                    let members = &mut content.members;
                    members.insert("segment".to_owned(), segment.to_json());
                }
                for (name, key) in [
                    ("address", ADDRESS),
                    ("target_name", TARGET_NAME),
                    ("reason", REASON),
                ] {
                    if let Some(value) = map.optional(key, text)? {
                        content.members.insert(name.to_owned(), value);
                    }
                }
                if let Some(changed) = map.optional(CHANGED, texts)? {
                    content.members.insert("changed".to_owned(), changed);
                }
                Ok(content)
            })
        })
    }
}

/// The name of a decision, as lines show it.
pub fn decision_name(decision: Decision) -> &'static str {
    match decision {
        Decision::None => "none",
        Decision::Allowed => "allowed",
        Decision::Denied => "denied",
        Decision::Approved => "approved",
    }
}

/// The name of an outcome.
pub fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Unknown => "unknown",
        Outcome::Success => "success",
        Outcome::Failure => "failure",
    }
}

/// Members of a record that a list shows on one line where it has them, in this order. `to_json`
/// has all of them.
pub const SHOWN: [&str; 14] = [
    "subject",
    "client_id",
    "address",
    "method",
    "operation",
    "target",
    "target_name",
    "error",
    "scope",
    "jti",
    "grant_id",
    "sid",
    "count",
    "request_id",
];

/// A line for people and programs.
pub fn to_json(receipt: &signet_agent::receipt::Receipt, id: &str, content: &Content) -> Value {
    let mut line = json!({
        "index": receipt.index,
        "at_ms": content.at_ms,
        "action": receipt.action,
        "decision": decision_name(receipt.decision),
        "outcome": outcome_name(receipt.outcome),
        "id": id,
    });
    if let Some(line) = line.as_object_mut() {
        line.extend(content.members.clone());
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full<'a>(actors: &'a [&'a str], audience: &'a [String]) -> Event<'a> {
        Event::new(Action::TOKEN, 1_700_000_000_123)
            .request("request")
            .subject("alice")
            .client("web")
            .token(&[1; 16])
            .grant(Some(&[2; 16]))
            .session(Some("sid"))
            .actors(actors)
            .agent_grants(&[[3; 32]])
            .method("authorization_code")
            .operation("op")
            .target("target")
            .target_name("name")
            .reason(Some("ticket 5"))
            .address(IpAddr::from([192, 0, 2, 7]))
            .scope("openid")
            .audience(audience)
            .counted(Some(3), 5)
            .refused("invalid_grant")
    }

    #[test]
    fn what_a_list_shows_are_members_of_a_record() {
        let members = Content::parse(&full(&[], &[]).entry(None).content)
            .unwrap()
            .members;
        for name in SHOWN {
            assert!(members.contains_key(name), "{name}");
        }
    }

    #[test]
    fn an_action_has_a_name_of_its_own() {
        let mut names: Vec<&str> = Action::ALL.iter().map(|action| action.0).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Action::ALL.len());
        assert!(names.contains(&Action::ADMIN.0));
    }

    #[test]
    fn the_manual_is_the_table_of_actions() {
        let file = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/reference/audit-actions.md"
        );
        let mut page = String::from(
            "# Audit actions\n\nWhat the `action` of an audit record can be (`signet audit tail --action ACTION`). Records that are \"counted\" are one for many of the same\nkind; `count` says how many. [Operation](../operations.md) has the members of a record, and how the trail is verified and archived.\n\n\
             This page is made of the table that the server runs on: `SIGNET_WRITE_DOCS=1 cargo test -p signet-audit` writes it.\n\n\
             | action | what it records |\n|---|---|\n",
        );
        for (action, meaning) in Action::ALL.iter().zip(Action::MEANINGS) {
            let (name, meaning) = (action.0, meaning.trim());
            page.push_str(&format!("| `{name}` | {meaning} |\n"));
        }
        if std::env::var_os("SIGNET_WRITE_DOCS").is_some() {
            std::fs::write(file, &page).unwrap();
        }
        let written = std::fs::read_to_string(file).unwrap_or_default();
        assert_eq!(
            written, page,
            "SIGNET_WRITE_DOCS=1 cargo test -p signet-audit"
        );
    }

    #[test]
    fn content_says_what_the_event_said() {
        let audience = ["https://api".to_owned()];
        let entry = full(&["agent:x", "agent:y"], &audience).entry(Some(&[9; 16]));
        assert_eq!(entry.hash, sha256(&entry.content));
        let content = Content::parse(&entry.content).unwrap();
        assert_eq!(content.at_ms, 1_700_000_000_123);
        assert_eq!(content.carried, Some([9; 16]));
        let expected = json!({
            "request_id": "request", "subject": "alice", "client_id": "web",
            "jti": "AQEBAQEBAQEBAQEBAQEBAQ", "grant_id": "AgICAgICAgICAgICAgICAg", "sid": "sid",
            "actors": ["agent:x", "agent:y"], "method": "authorization_code", "error": "invalid_grant",
            "operation": "op", "target": "target", "scope": "openid", "audience": ["https://api"],
            "count": 3, "since_ms": 5, "agent_grants": [base64url::encode(&[3; 32])],
            "address": "192.0.2.7", "target_name": "name", "reason": "ticket 5",
        });
        assert_eq!(Value::from(content.members), expected);
        assert_eq!(
            (entry.decision, entry.outcome),
            (Decision::Denied, Outcome::Failure)
        );
    }

    #[test]
    fn a_target_that_becomes_known_later_is_the_lines_and_another_one_stays() {
        let target = |id: &str| Target {
            id: id.to_owned(),
            name: "alice".to_owned(),
        };
        let event = Event::new(Action::ADMIN, 5).operation("createUser");
        let later = target("u1").put_into(&event.entry(None).content).unwrap();
        let known = target("u1");
        assert_eq!(later, event.with_target(&known).entry(None).content);
        let members = Content::parse(&later).unwrap().members;
        assert_eq!(
            (&members["target"], &members["target_name"]),
            (&json!("u1"), &json!("alice"))
        );
        let other = event.target("u2");
        assert_eq!(known.put_into(&other.entry(None).content), None);
        assert_eq!(
            other.with_target(&known).entry(None).content,
            other.entry(None).content
        );
    }

    #[test]
    fn what_changed_becomes_known_while_it_is_done_and_the_last_word_holds() {
        let event = Event::new(Action::ADMIN, 5).operation("replaceClient");
        let content = event.entry(None).content;
        let once = put_changes(&content, &["a".to_owned()]).unwrap();
        let many: Vec<String> = (0..20)
            .map(|n| format!("member{n}: {}", "x".repeat(300)))
            .collect();
        let again = put_changes(&once, &many).unwrap();
        let members = Content::parse(&again).unwrap().members;
        let changed = members["changed"].as_array().unwrap();
        assert_eq!(changed.len(), MAX_LIST);
        assert!(changed[0].as_str().unwrap().starts_with("member0: x"));
        assert_eq!(changed[MAX_LIST - 1], "…");
        assert_eq!(put_changes(&again, &[]).unwrap(), content);
    }

    #[test]
    fn content_is_bounded_and_a_cut_shows() {
        let long = "é".repeat(MAX_TEXT);
        let (actors, audience) = (vec![long.as_str(); MAX_LIST + 1], vec![long.clone(); 40]);
        let grants = [[7; 32]; MAX_LIST + 1];
        let event = full(&actors, &audience).agent_grants(&grants);
        let event = event
            .request(&long)
            .subject(&long)
            .client(&long)
            .session(Some(&long));
        let event = event
            .method(&long)
            .operation(&long)
            .target(&long)
            .scope(&long)
            .refused(&long);
        let members = Content::parse(&event.entry(Some(&[1; 16])).content)
            .unwrap()
            .members;
        for name in [
            "subject",
            "client_id",
            "request_id",
            "sid",
            "scope",
            "error",
        ] {
            let text = members[name].as_str().unwrap();
            assert!(text.ends_with('…') && text.len() <= MAX_TEXT, "{name}");
        }
        for name in ["actors", "audience", "agent_grants"] {
            assert_eq!(members[name].as_array().unwrap().len(), MAX_LIST);
        }
        assert_eq!(members["actors"][MAX_LIST - 1], "…");
    }

    #[test]
    fn every_changed_byte_of_content_is_another_content_or_none() {
        let entry = full(&["a"], &[]).entry(None);
        let good = Content::parse(&entry.content).unwrap();
        for at in 0..entry.content.len() {
            for flip in [1, 0x20, 0x80] {
                let mut changed = entry.content.clone();
                changed[at] ^= flip;
                assert_ne!(Content::parse(&changed), Ok(good.clone()), "{at}");
            }
        }
    }
}
