//! TLS to an LDAP server, from the first byte or by STARTTLS.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::LdapError;

/// The port of LDAPS.
const LDAPS: u16 = 636;
/// The port of LDAP.
const LDAP: u16 = 389;

/// How TLS begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Security {
    /// At once (`ldaps:`).
    Tls,
    /// After a request for it (`ldap:`; RFC 4511 section 4.14). Nothing else is sent before it.
    StartTls,
}

/// Where an LDAP server is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Server {
    /// A name or an address, without brackets: what the certificate has to have.
    pub host: String,
    /// The TCP port.
    pub port: u16,
    /// How TLS begins.
    pub security: Security,
}

impl Server {
    /// Of `ldaps://HOST[:PORT]` or `ldap://HOST[:PORT]`. None: the text is neither.
    pub fn of(url: &str) -> Option<Server> {
        let (rest, security, port) = match url.strip_prefix("ldaps://") {
            Some(rest) => (rest, Security::Tls, LDAPS),
            None => (url.strip_prefix("ldap://")?, Security::StartTls, LDAP),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (host, port) = match rest.rsplit_once(':') {
            // The colons of an IPv6 address are inside brackets.
            Some((host, said)) if !said.contains(']') => (host, said.parse().ok()?),
            Some(_) | None => (rest, port),
        };
        let host = match host.strip_prefix('[') {
            Some(inside) => inside.strip_suffix(']')?,
            None => host,
        };
        let is_host = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b':' | b'_');
        (!host.is_empty() && host.bytes().all(is_host) && port != 0).then(|| Server {
            host: host.to_owned(),
            port,
            security,
        })
    }
}

/// An extended request for TLS, message 1: `1.3.6.1.4.1.1466.20037`.
const START_TLS: &[u8] = b"\x30\x1d\x02\x01\x01\x77\x18\x80\x161.3.6.1.4.1.1466.20037";
/// The longest answer to it, in bytes.
const MAX_ANSWER: usize = 4096;

/// Shakes hands.
///
/// # Errors
/// [`LdapError::Tls`], [`LdapError::Connection`].
pub(crate) async fn begin(
    mut stream: TcpStream,
    server: &Server,
    config: Arc<ClientConfig>,
) -> Result<TlsStream<TcpStream>, LdapError> {
    if server.security == Security::StartTls {
        start(&mut stream).await?;
    }
    let name = ServerName::try_from(server.host.clone());
    let name = name.map_err(|_| LdapError::Tls("the host has no name".to_owned()))?;
    let shaken = TlsConnector::from(config).connect(name, stream).await;
    shaken.map_err(|error| LdapError::Tls(error.to_string()))
}

/// Asks for TLS. What the server says before it, beside yes, is not believed.
async fn start(stream: &mut TcpStream) -> Result<(), LdapError> {
    let broken = |error: std::io::Error| LdapError::Connection(error.to_string());
    stream.write_all(START_TLS).await.map_err(broken)?;
    let mut head = [0; 2];
    stream.read_exact(&mut head).await.map_err(broken)?;
    let mut length = usize::from(head[1]);
    // The long form (X.690 section 8.1.3.5): Active Directory writes all its lengths so.
    if let Some(bytes @ 1..=4) = length.checked_sub(0x80) {
        let mut long = [0; 4];
        let at = long.len() - bytes;
        stream.read_exact(&mut long[at..]).await.map_err(broken)?;
        length = u32::from_be_bytes(long) as usize;
    }
    if head[0] != 0x30 || length > MAX_ANSWER {
        return Err(LdapError::Connection("the answer is no LDAP".to_owned()));
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.map_err(broken)?;
    match result_of(&body) {
        Some(0) => Ok(()),
        Some(code) => Err(LdapError::Tls(format!(
            "the server refuses STARTTLS with result code {code}"
        ))),
        None => Err(LdapError::Connection("the answer is no LDAP".to_owned())),
    }
}

/// The result code of an extended response to message 1 (RFC 4511 section 4.12).
fn result_of(body: &[u8]) -> Option<u8> {
    let rest = body.strip_prefix(b"\x02\x01\x01\x78")?;
    let bytes = usize::from(*rest.first()?).checked_sub(0x80);
    let rest = match bytes {
        None => rest.get(1..)?,
        Some(bytes @ 1..=4) => rest.get(1 + bytes..)?,
        Some(_) => return None,
    };
    match rest {
        [0x0a, 0x01, code, ..] => Some(*code),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_a_host_a_port_and_how_tls_begins() {
        let server = |host: &str, port, security| {
            Some(Server {
                host: host.into(),
                port,
                security,
            })
        };
        let (tls, start) = (Security::Tls, Security::StartTls);
        for (url, wanted) in [
            ("ldaps://ldap.example", server("ldap.example", 636, tls)),
            ("ldaps://ldap.example/", server("ldap.example", 636, tls)),
            ("ldap://127.0.0.1:1389", server("127.0.0.1", 1389, start)),
            ("ldaps://[::1]:1636", server("::1", 1636, tls)),
            ("ldap://[::1]", server("::1", 389, start)),
            ("ldaps://", None),
            ("ldaps://:636", None),
            ("ldaps://a:0", None),
            ("ldaps://a:x", None),
            ("ldaps://a:70000", None),
            ("ldaps://a/b", None),
            ("ldaps://[::1", None),
            ("ldapi://a", None),
            ("https://a", None),
        ] {
            assert_eq!(Server::of(url), wanted, "{url}");
        }
    }

    #[test]
    fn the_answer_to_starttls_is_a_result_code_or_no_answer() {
        let good = b"\x02\x01\x01\x78\x07\x0a\x01\x00\x04\x00\x04\x00";
        assert_eq!(result_of(good), Some(0));
        let long = b"\x02\x01\x01\x78\x84\x00\x00\x00\x07\x0a\x01\x00";
        assert_eq!(result_of(long), Some(0));
        assert_eq!(result_of(b"\x02\x01\x01\x78\x81\x07\x0a\x01\x34"), Some(52));
        for cut in 0..8 {
            assert_eq!(result_of(&good[..cut]), None, "{cut}");
        }
        // Of another message, or another answer.
        assert_eq!(result_of(b"\x02\x01\x02\x78\x07\x0a\x01\x00"), None);
        assert_eq!(result_of(b"\x02\x01\x01\x61\x07\x0a\x01\x00"), None);
    }
}
