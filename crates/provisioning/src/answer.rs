//! Answers and refusals (RFC 7644 section 3.12).
use http::{HeaderValue, StatusCode, header};
use serde_json::{Map, Value, json};
use signet_admin::provisioned::Problem;
use signet_directory::UserError;
use signet_realm::records::RecordError;
use signet_request::http::{Response, response};
use signet_scim::{Error, Kind};
use signet_store::StoreError;

const MEDIA: &str = "application/scim+json";
const ERROR_SCHEMA: &str = "urn:ietf:params:scim:api:messages:2.0:Error";

/// What is answered.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Option<Value>,
    pub(super) etag: Option<String>,
    pub(super) location: Option<String>,
}

impl Answer {
    /// A document.
    pub(super) fn of(body: Value) -> Answer {
        Answer {
            status: 200,
            body: Some(body),
            etag: None,
            location: None,
        }
    }

    /// A resource: its version and location are in its `meta`.
    pub(super) fn resource(status: u16, resource: Map<String, Value>) -> Answer {
        let meta = |name: &str| Some(resource.get("meta")?.get(name)?.as_str()?.to_owned());
        Answer {
            status,
            etag: meta("version"),
            location: meta("location"),
            body: Some(Value::Object(resource)),
        }
    }

    /// Done, with nothing to say.
    pub(super) const fn nothing() -> Answer {
        Answer {
            status: 204,
            body: None,
            etag: None,
            location: None,
        }
    }

    pub(super) const fn not_modified(etag: String) -> Answer {
        Answer {
            status: 304,
            body: None,
            etag: Some(etag),
            location: None,
        }
    }

    pub(super) fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::OK);
        let mut answer = match self.body {
            Some(body) => response::body(status, MEDIA, body.to_string()),
            None => response::empty(status),
        };
        for (name, value) in [(header::ETAG, self.etag), (header::LOCATION, self.location)] {
            if let Some(Ok(value)) = value.map(HeaderValue::try_from) {
                answer.headers_mut().insert(name, value);
            }
        }
        answer
    }
}

/// Why a request is refused.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    kind: Option<Kind>,
    detail: String,
    /// Of a 403: the scopes that are needed.
    scope: &'static str,
    /// Of a 429, in seconds.
    retry_after: Option<u64>,
}

/// What every request needs.
const SCOPE: &str = "signet:scim";

impl Refusal {
    pub(super) fn plain(status: u16, detail: impl Into<String>) -> Refusal {
        Refusal {
            status,
            kind: None,
            detail: detail.into(),
            scope: SCOPE,
            retry_after: None,
        }
    }

    pub(super) fn of(kind: Kind, detail: impl Into<String>) -> Refusal {
        Error::new(kind, detail).into()
    }

    pub(super) fn syntax(detail: &str) -> Refusal {
        Refusal::of(Kind::InvalidSyntax, detail)
    }

    pub(super) fn value(detail: impl Into<String>) -> Refusal {
        Refusal::of(Kind::InvalidValue, detail)
    }

    pub(super) fn not_found() -> Refusal {
        Refusal::plain(404, "there is no such resource")
    }

    /// RFC 7644 section 3.14.
    pub(super) fn changed() -> Refusal {
        Refusal::plain(412, "the resource was changed since it was read")
    }

    /// The account administers, and the caller may not.
    pub(super) fn of_administrator() -> Refusal {
        let detail = "an administrator's account is changed with the scopes signet:scim and signet:admin in one token";
        Refusal {
            scope: "signet:scim signet:admin",
            ..Refusal::plain(403, detail)
        }
    }

    /// For the audit trail.
    pub(super) fn code(&self) -> &'static str {
        match (self.kind, self.status) {
            (Some(kind), _) => kind.as_str(),
            (None, 403) => "insufficient_scope",
            (None, 404) => "not_found",
            (None, 412) => "changed_meanwhile",
            (None, 429 | 500..) => "temporarily_unavailable",
            (None, _) => "invalid_request",
        }
    }

    pub(super) fn document(&self) -> Value {
        let mut document = json!({
            "schemas": [ERROR_SCHEMA],
            "status": self.status.to_string(),
            "detail": self.detail,
        });
        if let Some(kind) = self.kind {
            document["scimType"] = kind.as_str().into();
        }
        document
    }

    pub(super) fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::BAD_REQUEST);
        let mut answer = response::body(status, MEDIA, self.document().to_string());
        let challenge = match self.status {
            401 => Some("Bearer error=\"invalid_token\"".to_owned()),
            403 => {
                let scope = self.scope;
                Some(format!(
                    "Bearer error=\"insufficient_scope\", scope=\"{scope}\""
                ))
            }
            _ => None,
        };
        if let Some(Ok(challenge)) = challenge.map(HeaderValue::try_from) {
            let headers = answer.headers_mut();
            headers.insert(header::WWW_AUTHENTICATE, challenge);
        }
        if let Some(seconds) = self.retry_after {
            let headers = answer.headers_mut();
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        answer
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        let status = match error.kind {
            Kind::Uniqueness => 409,
            Kind::InvalidFilter
            | Kind::TooMany
            | Kind::Mutability
            | Kind::InvalidSyntax
            | Kind::InvalidPath
            | Kind::NoTarget
            | Kind::InvalidValue
            | Kind::Sensitive => 400,
        };
        Refusal {
            status,
            kind: Some(error.kind),
            detail: error.detail,
            scope: SCOPE,
            retry_after: None,
        }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Refusal {
        tracing::error!(%error, "failed to read or write the store for SCIM");
        Refusal::plain(503, "temporarily unavailable, try again later")
    }
}

impl From<UserError> for Refusal {
    fn from(error: UserError) -> Refusal {
        let said = error.to_string();
        match error {
            UserError::UsernameTaken | UserError::EmailTaken => Refusal::of(Kind::Uniqueness, said),
            UserError::KeptElsewhere(_) => Refusal::of(Kind::Mutability, said),
            UserError::NotFound => Refusal::not_found(),
            UserError::Conflict => Refusal::changed(),
            UserError::Store(error) => error.into(),
            other => Problem::from(other).into(),
        }
    }
}

impl From<RecordError> for Refusal {
    fn from(error: RecordError) -> Refusal {
        let said = error.to_string();
        match error {
            RecordError::NotFound => Refusal::not_found(),
            RecordError::Conflict => Refusal::changed(),
            RecordError::Exists => Refusal::of(Kind::Uniqueness, said),
            RecordError::Declared | RecordError::BuiltIn => Refusal::of(Kind::Mutability, said),
            RecordError::Refused { why, .. } => Refusal::plain(409, why.to_owned()),
            RecordError::Invalid(fault) => Refusal::value(fault),
            RecordError::Wrong(why) => Refusal::value(why),
            RecordError::Store(error) => error.into(),
        }
    }
}

/// What the admin API refuses.
impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Refusal {
        match problem.status() {
            400 => Refusal::value(problem.detail()),
            status => Refusal {
                retry_after: problem.retry_after(),
                ..Refusal::plain(status, problem.detail())
            },
        }
    }
}

/// Leaves out what an account does not keep: filters and paths may ask for the primary value and
/// for that of work, and find the one there is.
pub(super) fn plain(resource: &mut Map<String, Value>) {
    for name in ["emails", "phoneNumbers"] {
        let list = resource.get_mut(name).and_then(Value::as_array_mut);
        for one in list.into_iter().flatten().filter_map(Value::as_object_mut) {
            one.retain(|name, _| name == "value");
        }
    }
}
