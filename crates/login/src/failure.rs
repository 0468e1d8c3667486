//! Why what a person tried with a credential was not done, wherever they tried it: at the login, at
//! recovery, at `/account`.

use http::StatusCode;
use signet_directory::UserError;
use signet_directory::passwords::PoolError;
use signet_store::StoreError;

use signet_realm::attempts::Refused;

const TOO_MANY: &str = "login-too-many";
const BUSY: &str = "login-busy";
const ELSEWHERE: &str = "login-kept-elsewhere";

/// What the person reads, and what the audit trail calls it.
pub enum Failure {
    /// What was typed is not right; whose account it was for, where there is one.
    Wrong(&'static str, Option<String>),
    /// What it answers has expired, or was consumed. Shown beside the form.
    Expired(&'static str),
    /// It cannot be done as it was asked. Shown beside the form.
    Invalid(&'static str),
    /// Not in this session: a login comes first.
    LoginRequired,
    /// 429 or 503, with `Retry-After` in seconds.
    Later(StatusCode, u64, &'static str),
    /// The store's, or a directory's.
    Store(StoreError),
}

impl Failure {
    /// Nobody looked at it: 503.
    pub const BUSY: Failure = Failure::Later(StatusCode::SERVICE_UNAVAILABLE, 5, BUSY);

    /// What the audit trail calls it.
    pub fn code(&self) -> &'static str {
        match self {
            Failure::Wrong(..) => "wrong_credentials",
            Failure::Expired(_) => "ended",
            Failure::Invalid(_) => "invalid_request",
            Failure::LoginRequired => "login_required",
            Failure::Later(StatusCode::TOO_MANY_REQUESTS, ..) => "too_many_attempts",
            Failure::Later(..) | Failure::Store(_) => "temporarily_unavailable",
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::Store(error)
    }
}

impl From<UserError> for Failure {
    fn from(error: UserError) -> Failure {
        match error {
            UserError::KeptElsewhere(_) => Failure::Invalid(ELSEWHERE),
            UserError::Username
            | UserError::MixedScripts
            | UserError::Email
            | UserError::Profile
            | UserError::UsernameTaken
            | UserError::EmailTaken
            | UserError::NotFound
            | UserError::TooManyCredentials
            | UserError::TooMuchHeld
            | UserError::Id
            | UserError::Conflict
            | UserError::Directory(_)
            | UserError::Store(_) => Failure::Store(error.into()),
        }
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Failure {
        match refused {
            Refused::TooMany { retry_after } => {
                Failure::Later(StatusCode::TOO_MANY_REQUESTS, retry_after, TOO_MANY)
            }
            Refused::Store(error) => Failure::Store(error),
        }
    }
}

impl From<PoolError> for Failure {
    fn from(error: PoolError) -> Failure {
        match error {
            PoolError::TooLong => Failure::Invalid("login-password-too-long"),
            PoolError::Busy | PoolError::Parameters => Failure::BUSY,
        }
    }
}
