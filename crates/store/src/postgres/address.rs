//! Where the database is, from a URL: `postgres://USER@HOST:PORT,HOST2:PORT2/DATABASE?...`.
//!
//! A URL stands in process lists, shell histories and logs, so it has no password. What it does not
//! say about TLS is the safe answer: certificates and host names are checked, unless the server is
//! on this machine.
use signet_crypto::Secret;
use std::{fmt, path::PathBuf};

/// Most hosts in the URL of a PostgreSQL store
pub const MAX_HOSTS: usize = 16;

/// Why a URL is refused. For the operator; no message repeats the URL, which could have a password.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidUrl {
    /// Everybody who sees the process sees its arguments.
    #[error(
        "the URL has a password in it, where others can read it; put it into PGPASSWORD, a password file (passfile=FILE, PGPASSFILE, ~/.pgpass) or the configuration's [store] password = {{ file = \"...\" }}"
    )]
    Password,
    /// The rest.
    #[error("{0}; a store is sqlite or postgres://USER@HOST:PORT,HOST2:PORT2/DATABASE")]
    Malformed(String),
}

fn malformed(text: impl Into<String>) -> InvalidUrl {
    InvalidUrl::Malformed(text.into())
}

/// One server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Host {
    /// A name, an address, or the directory of a Unix socket, which begins with a slash.
    pub name: String,
    /// TCP, or the suffix of the socket's name.
    pub port: u16,
}

impl Host {
    fn is_local(&self) -> bool {
        let address = self.name.parse::<std::net::IpAddr>();
        self.name.starts_with('/')
            || self.name == "localhost"
            || address.is_ok_and(|address| address.is_loopback())
    }
}

/// What protects the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TlsMode {
    /// TLS for every host that is not on this machine.
    Remote,
    /// TLS always; the certificate and its host name are checked.
    Always,
    /// None: what is sent can be read and changed on its way.
    Never,
}

/// A parsed URL. `target_session_attrs=read-write` is implied: a store writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Address {
    /// Tried in this order, until one takes writes.
    pub hosts: Vec<Host>,
    /// Role.
    pub user: String,
    /// Database.
    pub database: String,
    /// What protects the connection (`sslmode`: `require` and `verify-full` both check the
    /// certificate and its name, `disable` does without TLS).
    pub tls: TlsMode,
    /// PEM file of the certificates that are believed (`sslrootcert`); None: the system's.
    pub root_certificates: Option<PathBuf>,
    /// PEM files of this side's certificate and key (`sslcert` and `sslkey`).
    pub client_certificate: Option<(PathBuf, PathBuf)>,
    /// Password file (`passfile`).
    pub password_file: Option<PathBuf>,
}

/// Without anything secret, because there is nothing secret in it.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "postgres://{}@", self.user)?;
        for (n, host) in self.hosts.iter().enumerate() {
            let comma = if n > 0 { "," } else { "" };
            write!(f, "{comma}{}:{}", host.name, host.port)?;
        }
        write!(f, "/{}", self.database)
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

fn host(text: &str) -> Result<Host, InvalidUrl> {
    let bad_port = || malformed("a port is 1 to 65535");
    let (name, port) = match text.strip_prefix('[') {
        // An IPv6 address, in brackets as RFC 3986 section 3.2.2 has it.
        Some(rest) => {
            let (name, port) = rest
                .split_once(']')
                .ok_or_else(|| malformed("a bracket is not closed"))?;
            (name.to_owned(), port.strip_prefix(':'))
        }
        None => match text.rsplit_once(':') {
            Some((name, port)) => (decode(name)?, Some(port)),
            None => (decode(text)?, None),
        },
    };
    if name.is_empty() {
        return Err(malformed("a host has no name"));
    }
    let port = match port {
        None | Some("") => 5432,
        Some(port) => port.parse().ok().filter(|p| *p > 0).ok_or_else(bad_port)?,
    };
    Ok(Host { name, port })
}

impl Address {
    /// Reads a URL, or the beginning `postgresql://` of one.
    ///
    /// # Errors
    /// See [`InvalidUrl`].
    pub fn parse(url: &str) -> Result<Address, InvalidUrl> {
        let rest = url
            .strip_prefix("postgres://")
            .or_else(|| url.strip_prefix("postgresql://"))
            .ok_or_else(|| malformed("the URL does not begin with postgres://"))?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, hosts) = match authority.rsplit_once('@') {
            Some((user, hosts)) => (user, hosts),
            None => ("", authority),
        };
        if user.contains(':') {
            return Err(InvalidUrl::Password);
        }
        let user = decode(user)?;
        if user.is_empty() {
            return Err(malformed("the URL names no user"));
        }
        let hosts: Vec<Host> = hosts.split(',').map(host).collect::<Result<_, _>>()?;
        if hosts.len() > MAX_HOSTS {
            return Err(malformed(format!("more than {MAX_HOSTS} hosts")));
        }
        let database = decode(database)?;
        let mut address = Address {
            hosts,
            database: if database.is_empty() {
                user.clone()
            } else {
                database
            },
            user,
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
                        "sslmode is disable, or require or verify-full, which both check the certificate and its host name",
                    ));
                }
                ("sslrootcert", _) => self.root_certificates = Some(value.into()),
                ("sslcert", _) => certificate = Some(PathBuf::from(value)),
                ("sslkey", _) => key = Some(PathBuf::from(value)),
                ("passfile", _) => self.password_file = Some(value.into()),
                ("target_session_attrs", "read-write" | "primary" | "any") => {}
                ("target_session_attrs", _) => {
                    return Err(malformed("a store needs target_session_attrs=read-write"));
                }
                _ => {
                    return Err(malformed(
                        "the URL has a parameter that is not known; these are: sslmode, sslrootcert, sslcert, sslkey, passfile, target_session_attrs",
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

    /// Whether the connection to a host is protected by TLS.
    pub fn uses_tls(&self, host: &Host) -> bool {
        match self.tls {
            TlsMode::Remote => !host.is_local(),
            // A socket of this machine's file system has none to offer.
            TlsMode::Always => !host.name.starts_with('/'),
            TlsMode::Never => false,
        }
    }

    /// The password of a host from a password file's text: lines of
    /// `host:port:database:user:password`, where `*` stands for any and a backslash escapes.
    pub fn password_in(&self, file: &str, host: &Host) -> Option<Secret<String>> {
        let name = match host.name.starts_with('/') {
            true => "localhost",
            false => &*host.name,
        };
        let wanted = [name, &host.port.to_string(), &self.database, &self.user];
        file.lines()
            .filter(|line| !line.starts_with('#'))
            .find_map(|line| {
                let (fields, password) = fields(line)?;
                let fits = |(field, wanted): (&String, &&str)| field == "*" || field == wanted;
                fields
                    .iter()
                    .zip(&wanted)
                    .all(fits)
                    .then(|| Secret::new(password))
            })
    }
}

/// The four fields of a line, and the password.
fn fields(line: &str) -> Option<([String; 4], String)> {
    let mut fields: [String; 5] = Default::default();
    let mut at = 0;
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => fields[at].push(rest.next()?),
            ':' if at < 4 => at += 1,
            c => fields[at].push(c),
        }
    }
    let [host, port, database, user, password] = fields;
    (at == 4).then_some(([host, port, database, user], password))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Address {
        Address::parse(url).expect(url)
    }

    #[test]
    fn a_url_names_hosts_in_order_and_what_protects_them() {
        let address = parse(
            "postgres://signet@a.example,b.example:6432,[::1]:7000/tokens?sslrootcert=%2Fca.pem&sslcert=c.pem&sslkey=k.pem",
        );
        let hosts: Vec<_> = address.hosts.iter().map(|h| (&*h.name, h.port)).collect();
        let expected = [("a.example", 5432), ("b.example", 6432), ("::1", 7000)];
        assert_eq!(hosts, expected);
        assert_eq!((&*address.user, &*address.database), ("signet", "tokens"));
        assert_eq!(address.root_certificates, Some("/ca.pem".into()));
        let tls: Vec<bool> = address.hosts.iter().map(|h| address.uses_tls(h)).collect();
        assert_eq!(tls, [true, true, false]);
        let socket = parse("postgresql://signet@%2Frun%2Fpostgresql");
        assert_eq!(socket.hosts[0].name, "/run/postgresql");
        assert_eq!(socket.database, "signet");
    }

    #[test]
    fn a_password_in_the_url_is_refused_and_not_repeated() {
        for url in [
            "postgres://signet:hunter2@db/x",
            "postgres://signet@db/x?password=hunter2",
        ] {
            let error = Address::parse(url).expect_err(url);
            assert_eq!(error, InvalidUrl::Password);
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn what_would_be_less_than_asked_for_is_refused() {
        for url in [
            "sqlite:x",
            "postgres://",
            "postgres://db/x",
            "postgres://u@/x",
            "postgres://u@db:0/x",
            "postgres://u@db:70000/x",
            "postgres://u@[::1/x",
            "postgres://u@db/x?sslmode=prefer",
            "postgres://u@db/x?sslmode=verify-ca",
            "postgres://u@db/x?sslcert=only",
            "postgres://u@db/x?target_session_attrs=standby",
            "postgres://u@db/x?unheard=of",
            "postgres://u@db/%zz",
            "postgres://u@db/%00",
        ] {
            assert!(Address::parse(url).is_err(), "{url}");
        }
    }

    #[test]
    fn a_password_file_is_read_as_psql_reads_it() {
        let address = parse("postgres://signet@db:5432/x");
        let host = address.hosts[0].clone();
        let found = |text: &str| address.password_in(text, &host).map(|s| s.expose().clone());
        let file = "# comment\nother:*:*:*:no\ndb:5432:x:signet:a\\:b\\\\c\n*:*:*:*:late\n";
        assert_eq!(found(file).as_deref(), Some("a:b\\c"));
        assert_eq!(found("*:*:*:*:p:q").as_deref(), Some("p:q"));
        assert_eq!(found("db:5433:*:*:no\nshort:line"), None);
    }
}
