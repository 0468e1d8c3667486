//! What may be said of a step. Whatever has no variant here cannot be recorded: no query, no body,
//! no header field, nothing that somebody typed.
use std::borrow::Cow;

/// Longest text of a value, in characters; the rest is cut off.
pub const MAX_VALUE_CHARS: usize = 128;

/// The name of a fact. OpenTelemetry's semantic conventions where they have one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attribute {
    /// The signature's algorithm.
    Algorithm,
    /// The client that has authenticated.
    ClientId,
    /// The code of a refusal: the specifications' own.
    Error,
    /// The grant that was asked for, where it is one that the server knows.
    GrantType,
    /// How many changes shared a flush.
    Jobs,
    /// By which way a person logged in.
    LoginMethod,
    /// The HTTP method.
    Method,
    /// The kind of what goes out.
    OutboxKind,
    /// The realm: its issuer.
    Realm,
    /// The request's id, which log and answer have.
    RequestId,
    /// The route, as it is in the table: never the path.
    Route,
    /// The host of another server.
    Server,
    /// The HTTP status.
    Status,
}

impl Attribute {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Attribute::Algorithm => "signet.algorithm",
            Attribute::ClientId => "signet.client_id",
            Attribute::Error => "error.type",
            Attribute::GrantType => "signet.grant_type",
            Attribute::Jobs => "signet.store.jobs",
            Attribute::LoginMethod => "signet.login_method",
            Attribute::Method => "http.request.method",
            Attribute::OutboxKind => "signet.outbox.kind",
            Attribute::Realm => "signet.realm",
            Attribute::RequestId => "signet.request_id",
            Attribute::Route => "http.route",
            Attribute::Server => "server.address",
            Attribute::Status => "http.response.status_code",
        }
    }
}

/// The value of an attribute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// At most [`MAX_VALUE_CHARS`] characters.
    Text(Cow<'static, str>),
    /// A number.
    Number(u64),
}

impl From<&'static str> for Value {
    fn from(text: &'static str) -> Value {
        Value::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Value {
    fn from(mut text: String) -> Value {
        if let Some((at, _)) = text.char_indices().nth(MAX_VALUE_CHARS) {
            text.truncate(at);
        }
        Value::Text(Cow::Owned(text))
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::Number(number)
    }
}
