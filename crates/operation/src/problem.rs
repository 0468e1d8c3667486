//! Errors of the admin API: problem documents (RFC 9457) with a code that programs can rely on.
use crate::right::Right;
use http::{HeaderValue, StatusCode, header};
use schemars::JsonSchema;
use serde::Serialize;
use signet_agent::Refusal;
use signet_directory::UserError;
use signet_directory::session::RECENT;
use signet_oauth::authorize::acr::TWO_FACTORS;
use signet_oauth::error::{ErrorCode, OAuthError};
use signet_realm::agents::AgentError;
use signet_realm::nodes::NodesError;
use signet_realm::records::RecordError;
use signet_request::http::{Response, response};
use signet_store::StoreError;
use std::borrow::Cow;

/// The code where a person has to show two factors (RFC 9470 section 3).
const TWO_FACTORS_MISSING: &str = "insufficient_user_authentication";

/// The code where the caller's roles are not enough: no other scope would be.
const INSUFFICIENT_ROLE: &str = "insufficient_role";

/// An error, as the caller sees it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Problem {
    /// Always `about:blank`: `code` says which problem it is.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The status in words.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// Stable, for programs.
    code: &'static str,
    /// For people: what to put right.
    detail: Cow<'static, str>,
    /// What the operation needs (RFC 6750 section 3.1).
    #[serde(skip)]
    scope: Option<&'static str>,
    /// The request shows no token at all.
    #[serde(skip)]
    without_token: bool,
    /// Seconds.
    #[serde(skip)]
    retry_after: Option<u64>,
}

impl Problem {
    /// A problem with this status, code and words.
    pub fn new(
        status: StatusCode,
        code: &'static str,
        detail: impl Into<Cow<'static, str>>,
    ) -> Problem {
        Problem {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            code,
            detail: detail.into(),
            scope: None,
            without_token: false,
            retry_after: None,
        }
    }

    /// Nobody was named: 401.
    pub fn no_token(detail: &'static str) -> Problem {
        Problem {
            without_token: true,
            ..Problem::new(StatusCode::UNAUTHORIZED, "invalid_token", detail)
        }
    }

    /// The caller may not: 403 (RFC 6750 section 3.1).
    pub fn insufficient_scope(detail: &'static str) -> Problem {
        Problem::new(StatusCode::FORBIDDEN, "insufficient_scope", detail)
    }

    /// The caller's roles do not allow it: 403.
    pub fn insufficient_role(detail: impl Into<Cow<'static, str>>) -> Problem {
        Problem::new(StatusCode::FORBIDDEN, INSUFFICIENT_ROLE, detail)
    }

    /// A person has to show two factors first, less than [`RECENT`] seconds ago: 401 (RFC 9470).
    pub fn two_factors() -> Problem {
        let detail = format!(
            "a person is asked who has shown two factors in the last {RECENT} seconds: a password and a code of an app, or a passkey; clients and remembered browsers show none"
        );
        Problem::new(StatusCode::UNAUTHORIZED, TWO_FACTORS_MISSING, detail)
    }

    /// What was sent is wrong: 400.
    pub fn invalid(detail: impl Into<Cow<'static, str>>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, "invalid_request", detail)
    }

    /// There is no such thing: 404.
    pub fn not_found() -> Problem {
        Problem::new(
            StatusCode::NOT_FOUND,
            "not_found",
            "there is no such record",
        )
    }

    /// It cannot be as things are: 409.
    pub fn conflict(code: &'static str, detail: &'static str) -> Problem {
        Problem::new(StatusCode::CONFLICT, code, detail)
    }

    /// Somebody has changed it since it was read: 412.
    pub fn changed() -> Problem {
        Problem::new(
            StatusCode::PRECONDITION_FAILED,
            "changed_meanwhile",
            "the record was changed since it was read: read it again",
        )
    }

    /// The store does not answer: 503.
    pub fn unavailable() -> Problem {
        Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "temporarily_unavailable",
            "temporarily unavailable, try again later",
        )
    }

    /// A budget is used up, and has room again after so many seconds: 429.
    pub fn too_many(detail: &'static str, retry_after: u64) -> Problem {
        let code = ErrorCode::TemporarilyUnavailable.as_str();
        Problem {
            retry_after: Some(retry_after),
            ..Problem::new(StatusCode::TOO_MANY_REQUESTS, code, detail)
        }
    }

    /// Names the kind of record and which one, where the refusal is about what the path names.
    pub fn about(mut self, path: &str, named: &[String]) -> Problem {
        let kinds: Vec<&str> = path
            .trim_start_matches("/admin/v1/")
            .split('/')
            .filter(|segment| !segment.starts_with('{'))
            .take(named.len().max(1))
            .collect();
        let kind = kinds.last().copied().unwrap_or("record");
        let kind = kind.strip_suffix('s').unwrap_or(kind);
        match (self.code, named.last()) {
            ("not_found", Some(name)) => self.detail = format!("there is no {kind} {name}").into(),
            ("exists", Some(name)) => {
                self.detail = format!("there is a {kind} {name} already").into();
            }
            ("exists", None) => {
                self.detail = format!("there is a {kind} of this name already").into()
            }
            _ => {}
        }
        self
    }

    /// Names what the operation needs, where the caller may not do it.
    pub fn needing(mut self, right: Right) -> Problem {
        self.scope = Some(right.scope());
        self
    }

    /// Stable, for programs.
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// The status of HTTP.
    pub const fn status(&self) -> u16 {
        self.status
    }

    /// Seconds after which to ask again, where it is 429.
    pub const fn retry_after(&self) -> Option<u64> {
        self.retry_after
    }

    /// What is to be put right.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// As HTTP (RFC 9457).
    pub fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        // A struct of strings and a number always serializes; an empty body would still carry the
        // status.
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut answer = response::body(status, "application/problem+json", body);
        let challenge = match status {
            StatusCode::UNAUTHORIZED if self.code == ErrorCode::UseDpopNonce.as_str() => {
                Some("DPoP error=\"use_dpop_nonce\"".to_owned())
            }
            StatusCode::UNAUTHORIZED if self.code == ErrorCode::InvalidDpopProof.as_str() => {
                Some("DPoP error=\"invalid_dpop_proof\"".to_owned())
            }
            // RFC 6750 section 3.1: a caller that shows no token learns the scheme, and no error.
            StatusCode::UNAUTHORIZED if self.without_token => Some("Bearer".to_owned()),
            // RFC 9470 section 3.
            StatusCode::UNAUTHORIZED if self.code == TWO_FACTORS_MISSING => Some(format!(
                "Bearer error=\"{TWO_FACTORS_MISSING}\", acr_values=\"{TWO_FACTORS}\", max_age=\"{RECENT}\""
            )),
            StatusCode::UNAUTHORIZED => Some("Bearer error=\"invalid_token\"".to_owned()),
            StatusCode::FORBIDDEN if self.code == INSUFFICIENT_ROLE => None,
            StatusCode::FORBIDDEN => Some(match self.scope {
                Some(scope) => format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\""),
                None => "Bearer error=\"insufficient_scope\"".to_owned(),
            }),
            _ => None,
        };
        let headers = answer.headers_mut();
        if let Some(Ok(challenge)) = challenge.map(HeaderValue::try_from) {
            headers.insert(header::WWW_AUTHENTICATE, challenge);
        }
        let seconds = match self.retry_after {
            Some(seconds) => Some(HeaderValue::from(seconds)),
            None if status == StatusCode::SERVICE_UNAVAILABLE => {
                Some(HeaderValue::from_static("2"))
            }
            None => None,
        };
        if let Some(seconds) = seconds {
            headers.insert(header::RETRY_AFTER, seconds);
        }
        answer
    }
}

/// The rules' refusals of what an operator wrote.
impl From<OAuthError> for Problem {
    fn from(error: OAuthError) -> Problem {
        let status = match error.code {
            ErrorCode::TemporarilyUnavailable | ErrorCode::ServerError => {
                return Problem::unavailable();
            }
            ErrorCode::InvalidToken | ErrorCode::UseDpopNonce | ErrorCode::InvalidDpopProof => {
                StatusCode::UNAUTHORIZED
            }
            _ => StatusCode::BAD_REQUEST,
        };
        Problem::new(status, error.code.as_str(), error.description)
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Problem {
        tracing::error!(%error, "failed to read or write the store for the admin API");
        Problem::unavailable()
    }
}

impl From<RecordError> for Problem {
    fn from(error: RecordError) -> Problem {
        match error {
            RecordError::Exists => Problem::conflict("exists", "there is one with this name"),
            RecordError::NotFound => Problem::not_found(),
            RecordError::Conflict => Problem::changed(),
            RecordError::Declared => Problem::conflict(
                "declared_in_configuration",
                "the configuration file declares this record: change it there",
            ),
            RecordError::BuiltIn => Problem::conflict(
                "built_in",
                "every server has this record: it can be changed, and not removed",
            ),
            RecordError::Refused { code, why } => Problem::conflict(code, why),
            RecordError::Invalid(fault) => Problem::invalid(fault),
            RecordError::Wrong(why) => Problem::invalid(why),
            RecordError::Store(error) => error.into(),
        }
    }
}

impl From<UserError> for Problem {
    fn from(error: UserError) -> Problem {
        match error {
            UserError::NotFound => Problem::not_found(),
            UserError::Conflict => Problem::changed(),
            UserError::UsernameTaken => {
                Problem::conflict("username_taken", "somebody has this user name")
            }
            UserError::EmailTaken => {
                Problem::conflict("email_taken", "somebody has this e-mail address")
            }
            UserError::KeptElsewhere(_) => {
                let detail = error.to_string();
                Problem::new(StatusCode::CONFLICT, "kept_elsewhere", detail)
            }
            UserError::Store(error) => error.into(),
            UserError::Directory(error) => {
                tracing::error!(%error, "failed to query the directory for the admin API");
                Problem::unavailable()
            }
            UserError::Username
            | UserError::MixedScripts
            | UserError::Email
            | UserError::Profile
            | UserError::TooManyCredentials
            | UserError::Id
            | UserError::TooMuchHeld => Problem::invalid(error.to_string()),
        }
    }
}

/// What a document about agents has against it: 400.
impl From<Refusal> for Problem {
    fn from(reason: Refusal) -> Problem {
        Problem::new(
            StatusCode::BAD_REQUEST,
            "invalid_document",
            format!("{}: {reason}", reason.name()),
        )
    }
}

impl From<AgentError> for Problem {
    fn from(error: AgentError) -> Problem {
        match error {
            AgentError::Store(error) => error.into(),
            AgentError::Refused(reason) => reason.into(),
            AgentError::NotFound => Problem::not_found(),
            AgentError::Rollback => Problem::conflict(
                "rollback",
                "the document does not continue the one that is known",
            ),
            AgentError::Taken => {
                Problem::conflict("taken", "the identity is bound to another account")
            }
            AgentError::Stopped => Problem::conflict("stopped", "the agent was stopped"),
            AgentError::TooMany => {
                Problem::conflict("too_many", "there are too many identities on this account")
            }
            AgentError::NotTheirs => Problem::conflict("not_theirs", "the signer may not say this"),
            AgentError::NoRoom => Problem::conflict(
                "no_room",
                "the signer has revoked as many grants and agents that are not known here as are kept",
            ),
        }
    }
}

impl From<NodesError> for Problem {
    fn from(error: NodesError) -> Problem {
        match error {
            NodesError::NotFound => Problem::not_found(),
            NodesError::NotPossible(why) => Problem::new(StatusCode::CONFLICT, "not_possible", why),
            NodesError::Unavailable(why) => {
                tracing::warn!(why, "failed to change the members");
                Problem::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "temporarily_unavailable",
                    why,
                )
            }
        }
    }
}
