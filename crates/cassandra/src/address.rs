//! Where the cluster is, from a URL: `cassandra://USER@HOST:PORT,HOST2:PORT2/KEYSPACE?...`.
//!
//! A URL stands in process lists, shell histories and logs, so it has no password. What it does not
//! say about TLS is the safe answer: certificates and addresses are checked, unless every server is
//! on this machine.
use std::{fmt, net::IpAddr, path::PathBuf};

/// Most hosts in the URL of a Cassandra store
pub const MAX_HOSTS: usize = 16;

/// Longest name of a keyspace: a limit of Cassandra's.
const MAX_KEYSPACE: usize = 48;

/// Why a URL is refused. For the operator; no message repeats the URL, which could have a password.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidUrl {
    /// Everybody who sees the process sees its arguments.
    #[error(
        "the URL has a password in it, where others can read it; put it into CASSANDRA_PASSWORD or a password file (passfile=FILE)"
    )]
    Password,
    /// The rest.
    #[error("{0}; the URL is cassandra://USER@HOST:PORT,HOST2:PORT2/KEYSPACE")]
    Malformed(String),
}

fn malformed(text: impl Into<String>) -> InvalidUrl {
    InvalidUrl::Malformed(text.into())
}

/// What protects the connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TlsMode {
    /// TLS, unless every host of the URL is on this machine.
    Remote,
    /// TLS always.
    Always,
    /// None: what is sent can be read and changed on its way.
    Never,
}

/// A parsed URL.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Address {
    /// `host:port`; the driver finds the other nodes by them.
    pub hosts: Vec<String>,
    /// Role; None: the servers ask for none.
    pub user: Option<String>,
    /// Keyspace: lower case letters, digits and `_`.
    pub keyspace: String,
    /// What protects the connections (`sslmode`: `require` and `verify-full` both check the
    /// certificate, and that it is of the server's IP address; `disable` does without TLS).
    pub tls: TlsMode,
    /// PEM file of the certificates that are believed (`sslrootcert`); None: the system's.
    pub root_certificates: Option<PathBuf>,
    /// PEM files of this side's certificate and key (`sslcert` and `sslkey`).
    pub client_certificate: Option<(PathBuf, PathBuf)>,
    /// Password file (`passfile`): its first line is the password.
    pub password_file: Option<PathBuf>,
}

/// Without anything secret, because there is nothing secret in it.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = self.user.as_deref();
        let at = user.map_or(String::new(), |user| format!("{user}@"));
        write!(
            f,
            "cassandra://{at}{}/{}",
            self.hosts.join(","),
            self.keyspace
        )
    }
}

fn decode(text: &str) -> Result<String, InvalidUrl> {
    let bad = || malformed("a %-escape in the URL is wrong");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || {
            let digit = rest.next().map(char::from).and_then(|c| c.to_digit(16));
            digit.ok_or_else(bad)
        };
        let value = digit()? * 16 + digit()?;
        bytes.push(u8::try_from(value).map_err(|_| bad())?);
    }
    let text = String::from_utf8(bytes).map_err(|_| bad())?;
    match text.contains('\0') {
        true => Err(bad()),
        false => Ok(text),
    }
}

fn host(text: &str) -> Result<String, InvalidUrl> {
    let bad_port = || malformed("a port is 1 to 65535");
    let (name, port) = match text.strip_prefix('[') {
        // An IPv6 address, in brackets as RFC 3986 section 3.2.2 has it.
        Some(rest) => {
            let (name, port) = rest
                .split_once(']')
                .ok_or_else(|| malformed("a bracket is not closed"))?;
            (format!("[{name}]"), port.strip_prefix(':'))
        }
        None => match text.rsplit_once(':') {
            Some((name, port)) => (name.to_owned(), Some(port)),
            None => (text.to_owned(), None),
        },
    };
    if name.is_empty() || name == "[]" {
        return Err(malformed("a host has no name"));
    }
    let port: u16 = match port {
        None | Some("") => 9042,
        Some(port) => port.parse().ok().filter(|p| *p > 0).ok_or_else(bad_port)?,
    };
    Ok(format!("{name}:{port}"))
}

fn is_local(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

impl Address {
    /// Reads a URL.
    ///
    /// # Errors
    /// See [`InvalidUrl`].
    pub fn parse(url: &str) -> Result<Address, InvalidUrl> {
        let rest = url
            .strip_prefix("cassandra://")
            .ok_or_else(|| malformed("the URL does not begin with cassandra://"))?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, keyspace) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, hosts) = match authority.rsplit_once('@') {
            Some((user, hosts)) => (Some(user), hosts),
            None => (None, authority),
        };
        if user.is_some_and(|user| user.contains(':')) {
            return Err(InvalidUrl::Password);
        }
        let user = user.map(decode).transpose()?;
        if user.as_deref() == Some("") {
            return Err(malformed("the URL names an empty user"));
        }
        let hosts: Vec<String> = hosts.split(',').map(host).collect::<Result<_, _>>()?;
        if hosts.len() > MAX_HOSTS {
            return Err(malformed(format!("more than {MAX_HOSTS} hosts")));
        }
        // It becomes part of statements, and needs no quotes there.
        let plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_';
        let first = keyspace
            .bytes()
            .next()
            .is_some_and(|c| c.is_ascii_lowercase());
        if !first || keyspace.len() > MAX_KEYSPACE || !keyspace.bytes().all(plain) {
            return Err(malformed(
                "a keyspace is 1 to 48 of a-z, 0-9 and _, and begins with a letter",
            ));
        }
        let mut address = Address {
            hosts,
            user,
            keyspace: keyspace.to_owned(),
            tls: TlsMode::Remote,
            root_certificates: None,
            client_certificate: None,
            password_file: None,
        };
        address.query(query)?;
        Ok(address)
    }

    fn query(&mut self, query: &str) -> Result<(), InvalidUrl> {
        let (mut certificate, mut key) = (None, None);
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = decode(value)?;
            match (name, &*value) {
                ("password", _) => return Err(InvalidUrl::Password),
                ("sslmode", "require" | "verify-full") => self.tls = TlsMode::Always,
                ("sslmode", "disable") => self.tls = TlsMode::Never,
                ("sslmode", _) => {
                    return Err(malformed(
                        "sslmode is disable, or require or verify-full, which both check the certificate and its address",
                    ));
                }
                ("sslrootcert", _) => self.root_certificates = Some(value.into()),
                ("sslcert", _) => certificate = Some(PathBuf::from(value)),
                ("sslkey", _) => key = Some(PathBuf::from(value)),
                ("passfile", _) => self.password_file = Some(value.into()),
                _ => {
                    return Err(malformed(
                        "the URL has a parameter that is not known; these are: sslmode, sslrootcert, sslcert, sslkey, passfile",
                    ));
                }
            }
        }
        self.client_certificate = match (certificate, key) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err(malformed("sslcert and sslkey belong together")),
        };
        Ok(())
    }

    /// Whether the connections are protected by TLS: one answer for all nodes, because the driver
    /// also connects to those that the URL does not name.
    pub fn uses_tls(&self) -> bool {
        match self.tls {
            TlsMode::Remote => !self.hosts.iter().all(|host| is_local(host)),
            TlsMode::Always => true,
            TlsMode::Never => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_hosts_a_keyspace_and_what_protects_them() {
        let url = "cassandra://signet@a.example,b.example:9142,[::1]:7000/flow?sslrootcert=%2Fca.pem&sslcert=c.pem&sslkey=k.pem";
        let address = Address::parse(url).expect("a URL");
        let hosts = ["a.example:9042", "b.example:9142", "[::1]:7000"];
        assert_eq!(address.hosts, hosts);
        assert_eq!(address.user.as_deref(), Some("signet"));
        assert_eq!(address.keyspace, "flow");
        assert_eq!(address.root_certificates, Some("/ca.pem".into()));
        assert!(address.uses_tls());
        let local = Address::parse("cassandra://127.0.0.1,localhost:1,[::1]/flow").expect("a URL");
        assert!(!local.uses_tls());
        let asked = Address::parse("cassandra://localhost/flow?sslmode=require").expect("a URL");
        assert!(asked.uses_tls());
    }

    #[test]
    fn a_password_in_the_url_is_refused_and_not_repeated() {
        for url in [
            "cassandra://signet:hunter2@db/x",
            "cassandra://signet@db/x?password=hunter2",
        ] {
            let error = Address::parse(url).expect_err(url);
            assert_eq!(error, InvalidUrl::Password);
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn what_would_be_less_than_asked_for_or_more_than_a_name_is_refused() {
        for url in [
            "sqlite:x",
            "cassandra://",
            "cassandra://db",
            "cassandra://@db/x",
            "cassandra://u@/x",
            "cassandra://u@db:0/x",
            "cassandra://u@[::1/x",
            "cassandra://u@db/X",
            "cassandra://u@db/x;drop",
            "cassandra://u@db/x%20",
            "cassandra://u@db/x?sslmode=prefer",
            "cassandra://u@db/x?sslcert=only",
            "cassandra://u@db/x?unheard=of",
        ] {
            assert!(Address::parse(url).is_err(), "{url}");
        }
    }
}
