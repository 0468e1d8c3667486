//! Where the answers come from: flags, or a person at a terminal. Each is checked when it is given,
//! by the same rules that check the file.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use signet_config::model::Tls;
use signet_config::read;
use signet_crypto::{Secret, private_file};
use signet_process::sockets;
use signet_terminal::input;
use signet_terminal::output::{Failure, note};

use crate::arguments::Setup;
use crate::file::{Answers, Certificate, Mail};
use crate::paths::absolute;

/// The issuer where nothing else is said.
const ISSUER: &str = "https://localhost:8443";
/// The data directory, in that of the file.
const DATA_DIR: &str = "data";
/// Where a typed password of the mail server is kept, in the directory of the file.
const SMTP_PASSWORD: &str = "secrets/smtp";
/// The port behind a proxy.
const PROXIED_PORT: u16 = 8080;

/// Asks, or takes what the flags say.
pub(crate) struct Asking<'a> {
    pub(crate) arguments: &'a Setup,
    /// The directory of the file, absolute.
    pub(crate) directory: &'a Path,
    /// Nobody is asked.
    pub(crate) silent: bool,
}

/// What is wrong with an answer.
type Wrong = String;

impl Asking<'_> {
    /// All answers. Files that an answer needs (a password that was typed) are not written yet.
    pub(crate) fn all(&self) -> Result<(Answers, Option<Secret<String>>), Failure> {
        let issuer = self.issuer()?;
        let data_dir = self.data_dir()?;
        let certificate = self.certificate()?;
        let listen = self.listen(&issuer, &certificate)?;
        let mut answers = Answers {
            issuer,
            data_dir,
            listen,
            certificate,
            mail: Mail::No,
        };
        let (mail, password) = self.mail(&answers)?;
        answers.mail = mail;
        Ok((answers, password))
    }

    /// Takes a flag, asks, or takes the default; asks again until the answer is right. A flag that
    /// is wrong is a refusal: nobody who wrote it waits for a question.
    fn answer<T>(
        &self,
        flag: Option<&str>,
        question: &str,
        default: &str,
        check: impl Fn(&str) -> Result<T, Wrong>,
    ) -> Result<T, Failure> {
        if let Some(given) = flag {
            return check(given).map_err(Failure::unusable);
        }
        if self.silent {
            return check(default).map_err(Failure::unusable);
        }
        loop {
            let shown = match default {
                "" => format!("{question}: "),
                default => format!("{question} [{default}]: "),
            };
            let typed = input::line(&shown)?;
            let typed = if typed.is_empty() { default } else { &typed };
            match check(typed) {
                Ok(answer) => return Ok(answer),
                Err(wrong) => note(&format!("  {wrong}")),
            }
        }
    }

    fn issuer(&self) -> Result<String, Failure> {
        self.answer(
            self.arguments.issuer.as_deref(),
            "The issuer, the URL that clients know the server by",
            ISSUER,
            |text| {
                host_of(text)?;
                self.check_file(&[], |answers| text.clone_into(&mut answers.issuer))?;
                Ok(text.to_owned())
            },
        )
    }

    fn data_dir(&self) -> Result<PathBuf, Failure> {
        let flag = self.arguments.data_dir.as_deref();
        let flag = flag.map(|path| absolute(path).to_string_lossy().into_owned());
        self.answer(
            flag.as_deref(),
            "The data directory, for the database and the keys",
            DATA_DIR,
            |text| {
                let path = self.directory.join(text);
                match std::fs::metadata(&path) {
                    Ok(found) if !found.is_dir() => Err(format!("{} is a file", path.display())),
                    Ok(found) if found.permissions().readonly() => {
                        Err(format!("{} cannot be written to", path.display()))
                    }
                    Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                        Err(format!("{}: {e}", path.display()))
                    }
                    Ok(_) | Err(_) => Ok(PathBuf::from(text)),
                }
            },
        )
    }

    fn certificate(&self) -> Result<Certificate, Failure> {
        let arguments = self.arguments;
        if let (Some(chain), Some(key)) = (&arguments.certificate, &arguments.key) {
            let own = self.own(chain, key).map_err(Failure::unusable)?;
            return Ok(own);
        }
        if !arguments.behind_proxy.is_empty() {
            return Ok(Certificate::Proxy(arguments.behind_proxy.clone()));
        }
        if arguments.self_made || self.silent {
            return Ok(Certificate::SelfMade);
        }
        let way = self.answer(
            None,
            "The certificate: \"self-made\", \"own\" files, or behind a \"proxy\" that has it",
            "self-made",
            |text| match text {
                "self-made" | "own" | "proxy" => Ok(text.to_owned()),
                other => Err(format!("self-made, own or proxy, not \"{other}\"")),
            },
        )?;
        match way.as_str() {
            "own" => {
                let readable = |text: &str| match std::fs::File::open(text) {
                    Ok(_) => Ok(PathBuf::from(text)),
                    Err(e) => Err(format!("cannot read {text}: {e}")),
                };
                loop {
                    let chain = self.answer(None, "PEM file of its chain", "", readable)?;
                    let key = self.answer(None, "PEM file of its key", "", readable)?;
                    match self.own(&chain, &key) {
                        Ok(own) => return Ok(own),
                        Err(wrong) => note(&format!("  {wrong}")),
                    }
                }
            }
            "proxy" => {
                let trusted = self.answer(
                    None,
                    "Addresses of the proxy, with spaces between them",
                    "127.0.0.1",
                    |text| {
                        text.split_whitespace()
                            .map(|ip| ip.parse().map_err(|_| format!("\"{ip}\" is no address")))
                            .collect::<Result<Vec<IpAddr>, Wrong>>()
                    },
                )?;
                Ok(Certificate::Proxy(trusted))
            }
            _ => Ok(Certificate::SelfMade),
        }
    }

    /// Files of the operator, which a start could use.
    fn own(&self, chain: &Path, key: &Path) -> Result<Certificate, Wrong> {
        let (chain, key) = (absolute(chain), absolute(key));
        let tls = Tls {
            certificate: chain.clone(),
            key: key.clone(),
            client_ca: None,
            tls12: false,
        };
        sockets::make_tls(&tls, self.directory, false)?;
        Ok(Certificate::Own(chain, key))
    }

    /// By the flag; else the issuer's port, on loopback where the issuer or a proxy is.
    fn listen(&self, issuer: &str, certificate: &Certificate) -> Result<SocketAddr, Failure> {
        if let Some(listen) = self.arguments.listen {
            return Ok(listen);
        }
        let host = host_of(issuer).map_err(Failure::unusable)?;
        let is_proxied = matches!(certificate, Certificate::Proxy(_));
        let is_local = is_local(&host.name);
        let address = match is_proxied || is_local {
            true => Ipv4Addr::LOCALHOST,
            false => Ipv4Addr::UNSPECIFIED,
        };
        let port = if is_proxied { PROXIED_PORT } else { host.port };
        Ok(SocketAddr::new(address.into(), port))
    }

    fn mail(&self, so_far: &Answers) -> Result<(Mail, Option<Secret<String>>), Failure> {
        let arguments = self.arguments;
        let from = |default: &str| {
            self.answer(
                arguments.mail_from.as_deref(),
                "The sender of its mails",
                default,
                |text| match signet_mail::is_sender(text) {
                    true => Ok(text.to_owned()),
                    false => Err(format!(
                        "a sender is \"Name <address>\" or an address, not \"{text}\""
                    )),
                },
            )
        };
        let host = host_of(&so_far.issuer).map_err(Failure::unusable)?.name;
        let sender = format!("Login <login@{host}>");
        if let Some(directory) = &arguments.mail_dir {
            let mail = Mail::Directory {
                from: from(&sender)?,
                directory: absolute(directory),
            };
            return Ok((mail, None));
        }
        let smtp = match (&arguments.smtp, self.silent) {
            (Some(smtp), _) => smtp.clone(),
            (None, true) => return Ok((Mail::No, None)),
            (None, false) => self.answer(
                None,
                "The SMTP server that its mails are sent by (none: no mail)",
                "none",
                |text| self.smtp_host(text),
            )?,
        };
        if smtp == "none" {
            return Ok((Mail::No, None));
        }
        self.smtp_host(&smtp).map_err(Failure::unusable)?;
        let from = from(&sender)?;
        let name = match &arguments.smtp_user {
            Some(name) => name.clone(),
            None if self.silent => String::new(),
            None => self.answer(
                None,
                "The user name there (none: it asks for none)",
                "none",
                |text| Ok(if text == "none" { "" } else { text }.to_owned()),
            )?,
        };
        let (account, password) = match (name.as_str(), &arguments.smtp_password_file) {
            ("", None) => (None, None),
            ("", Some(_)) => {
                return Err(Failure::unusable(
                    "--smtp-password-file is of whom? --smtp-user",
                ));
            }
            (_, Some(file)) => {
                let file = absolute(file);
                std::fs::File::open(&file).map_err(|e| {
                    Failure::unusable(format!("cannot read {}: {e}", file.display()))
                })?;
                (Some((name, file)), None)
            }
            (_, None) if self.silent => {
                return Err(Failure::unusable("--smtp-user wants --smtp-password-file"));
            }
            (_, None) => {
                let password = input::passphrase("SIGNET_SMTP_PASSWORD", "Password there", false)?;
                (Some((name, SMTP_PASSWORD.into())), Some(password))
            }
        };
        let mail = Mail::Smtp {
            from,
            host: smtp,
            account,
        };
        Ok((mail, password))
    }

    fn smtp_host(&self, text: &str) -> Result<String, Wrong> {
        self.check_file(&["mail.smtp"], |answers| {
            answers.mail = Mail::Smtp {
                from: "login@example.com".into(),
                host: text.to_owned(),
                account: None,
            };
        })?;
        match text.is_empty() || text.contains(char::is_whitespace) {
            true => Err(format!("\"{text}\" is no host name")),
            false => Ok(text.to_owned()),
        }
    }

    /// Reads the file with one answer as a start would, and takes what is wrong with it: at these
    /// places, or anywhere.
    fn check_file(&self, places: &[&str], put: impl Fn(&mut Answers)) -> Result<(), Wrong> {
        let mut answers = Answers {
            issuer: ISSUER.into(),
            data_dir: DATA_DIR.into(),
            listen: SocketAddr::new(Ipv4Addr::LOCALHOST.into(), PROXIED_PORT),
            certificate: Certificate::Proxy(vec![Ipv4Addr::LOCALHOST.into()]),
            mail: Mail::No,
        };
        put(&mut answers);
        let Err(problems) = read::parse(&answers.file(), self.directory, false) else {
            return Ok(());
        };
        let counts = |path: &str| places.is_empty() || places.iter().any(|p| path.starts_with(p));
        let found = problems.into_iter().find(|problem| counts(&problem.path));
        found.map_or(Ok(()), |problem| Err(problem.message))
    }
}

/// Writes a password that was typed where the file refers to.
pub(crate) fn keep_password(directory: &Path, password: &Secret<String>) -> Result<(), Failure> {
    let path = directory.join(SMTP_PASSWORD);
    let parent = path.parent().unwrap_or(directory);
    let written = private_file::directory(parent)
        .and_then(|()| private_file::write(&path, password.expose().as_bytes()));
    written.map_err(|e| Failure::unusable(format!("{}: {e}", path.display())))
}

fn is_local(host: &str) -> bool {
    let address = host.parse::<IpAddr>();
    host == "localhost" || host.ends_with(".localhost") || address.is_ok_and(|ip| ip.is_loopback())
}

/// The host and port of an issuer.
pub(crate) struct Host {
    /// Without brackets.
    pub(crate) name: String,
    /// 443 unless said.
    pub(crate) port: u16,
}

/// Those of an issuer; what the file's own check knows better is left to it.
pub(crate) fn host_of(issuer: &str) -> Result<Host, Wrong> {
    let rest = issuer.strip_prefix("https://");
    let rest = rest.ok_or_else(|| format!("an issuer begins with https://, not \"{issuer}\""))?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let wrong = || format!("\"{issuer}\" names no host");
    let (name, port) = match authority.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => {
            let port = port.parse().map_err(|_| wrong())?;
            (name, port)
        }
        _ => (authority, 443),
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    match name.is_empty() || port == 0 {
        true => Err(wrong()),
        false => Ok(Host {
            name: name.to_owned(),
            port,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_has_a_host_and_a_port() {
        for (issuer, name, port) in [
            ("https://id.example", "id.example", 443),
            ("https://id.example:8443/acme", "id.example", 8443),
            ("https://[::1]:8443", "::1", 8443),
            ("https://[::1]", "::1", 443),
        ] {
            let host = host_of(issuer).unwrap();
            assert_eq!((host.name.as_str(), host.port), (name, port), "{issuer}");
        }
        for bad in [
            "id.example",
            "http://id.example",
            "https://",
            "https://a:x",
            "https://a:0",
        ] {
            assert!(host_of(bad).is_err(), "{bad}");
        }
    }
}
