//! A question to an LDAP server: is this the password of whom this name means, and who is that
//! ([`ask`]).
//!
//! The protocol is the `ldap3` crate's. What is ours is what surrounds it: TLS always (LDAPS, or
//! STARTTLS by RFC 4511 section 4.14), a bound on the bytes that are read, no referral followed,
//! and no bind without a password (RFC 4513 section 5.1.2 lets such a bind succeed for everybody).
//!
//! Whom a connection may go to, and how long a question may take, is for whoever opens it to say.
#![forbid(unsafe_code)]

mod question;
mod tls;

pub use question::{Entry, MAX_ATTRIBUTES, MAX_BYTES, MAX_VALUE_BYTES, MAX_VALUES, Question};
pub use tls::{Security, Server};

use std::sync::Arc;

use rustls::ClientConfig;
use tokio::net::TcpStream;

/// Why a question has no answer. The text is for the log.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LdapError {
    /// The handshake of TLS, or the server does not begin it.
    #[error("TLS: {0}")]
    Tls(String),
    /// The connection broke, or what came over it is no LDAP.
    #[error("the connection failed: {0}")]
    Connection(String),
    /// More bytes came than a question may have.
    #[error("the answer is longer than {MAX_BYTES} bytes")]
    TooLarge,
    /// The filter is none (RFC 4515).
    #[error("the filter cannot be read")]
    Filter,
    /// This server's own bind was refused.
    #[error("this server's own bind was refused with result code {0}")]
    Bind(u32),
    /// The search was refused.
    #[error("the search was refused with result code {0}")]
    Search(u32),
    /// A name means several people.
    #[error("the name means several entries")]
    Several,
    /// The person's bind was refused for another reason than a wrong password: an expired password,
    /// a locked account.
    #[error("the person's bind was refused with result code {0}")]
    Refused(u32),
}

/// The entry of whom `question` names, if the password is theirs. None: nobody has the name, or the
/// password is wrong.
///
/// `stream` leads to `server`, whose certificate has to be one that `tls` trusts.
///
/// # Errors
/// See [`LdapError`].
pub async fn ask(
    stream: TcpStream,
    server: &Server,
    tls: Arc<ClientConfig>,
    question: Question,
) -> Result<Option<Entry>, LdapError> {
    let stream = tls::begin(stream, server, tls).await?;
    question::over(stream, question).await
}
