//! What can go wrong between the store and the cluster.
use scylla::errors::{DbError, ExecutionError, RequestAttemptError};
use signet_store::StoreError;

/// Why a cluster cannot be used. For the operator.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CassandraError {
    /// No server answers.
    #[error("the cluster cannot be reached: {0}")]
    Unreachable(String),
    /// A server answered, and refused.
    #[error("the cluster refuses: {0}")]
    Refused(String),
    /// There is no schema, or an old one.
    #[error(
        "the keyspace's schema is version {found}, and this program needs {known}: it has to be migrated"
    )]
    OldSchema {
        /// in the keyspace; 0: none
        found: u32,
        /// this program's
        known: u32,
    },
    /// The schema is too new.
    #[error(
        "the keyspace's schema is version {found}; this program knows {known} and can work with one more, no further"
    )]
    NewSchema {
        /// in the keyspace
        found: u32,
        /// this program's
        known: u32,
    },
    /// Certificates or keys that cannot be used.
    #[error("TLS to the cluster: {0}")]
    Tls(String),
    /// The password file cannot be used.
    #[error("the password file: {0}")]
    PasswordFile(String),
}

/// How a statement failed.
#[derive(Clone, Debug)]
pub(crate) enum Trouble {
    /// It was not done, and will not be: it was not sent.
    NotDone(String),
    /// It was refused, and would be again.
    Refused(String),
    /// It may have been done, or be done later.
    Unknown(String),
    /// An answer, or a row, that is not what was written.
    Corrupt(String),
}

impl Trouble {
    pub(crate) fn for_caller(self) -> StoreError {
        match self {
            Trouble::NotDone(text) | Trouble::Refused(text) | Trouble::Unknown(text) => {
                StoreError::Unavailable(text)
            }
            Trouble::Corrupt(text) => StoreError::Corrupt(text),
        }
    }

    pub(crate) fn for_operator(self) -> CassandraError {
        match self {
            Trouble::NotDone(text) | Trouble::Unknown(text) => CassandraError::Unreachable(text),
            Trouble::Refused(text) | Trouble::Corrupt(text) => CassandraError::Refused(text),
        }
    }
}

/// Anything else than what is surely not done may have been: a server that says that too few
/// replicas live can say so in the last phase of a lightweight transaction.
impl From<ExecutionError> for Trouble {
    fn from(error: ExecutionError) -> Trouble {
        let text = error.to_string();
        match error {
            ExecutionError::BadQuery(_) => Trouble::Refused(text),
            ExecutionError::EmptyPlan
            | ExecutionError::ConnectionPoolError(_)
            | ExecutionError::PrepareError(_) => Trouble::NotDone(text),
            ExecutionError::LastAttemptError(error) => match error {
                RequestAttemptError::UnableToAllocStreamId => Trouble::NotDone(text),
                RequestAttemptError::SerializationError(_)
                | RequestAttemptError::CqlRequestSerialization(_) => Trouble::Refused(text),
                RequestAttemptError::DbError(
                    DbError::SyntaxError
                    | DbError::Invalid
                    | DbError::Unauthorized
                    | DbError::AuthenticationError
                    | DbError::ConfigError,
                    _,
                ) => Trouble::Refused(text),
                _ => Trouble::Unknown(text),
            },
            _ => Trouble::Unknown(text),
        }
    }
}
