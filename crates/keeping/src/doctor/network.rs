//! What lies between callers and the server, and between the server and its mail server.

use std::sync::Arc;

use rustls::CertificateError;
use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use signet_crypto::certificate::ClientCertificate;
use signet_http_client::Trust;
use tokio::net::{TcpStream, lookup_host};
use tokio_rustls::TlsConnector;

use super::Finding;
use super::subject::Subject;
use crate::moment::now;

/// A certificate that ends within this time is about to be missed, seconds.
const SOON: u64 = 14 * 86_400;
const DAY: u64 = 86_400;

/// The issuer's host has an address.
pub(crate) async fn dns(subject: Arc<Subject>) -> Finding {
    let host = &subject.host;
    match lookup_host((host.as_str(), subject.port)).await {
        Ok(found) => {
            let mut addresses: Vec<String> =
                found.map(|address| address.ip().to_string()).collect();
            addresses.sort_unstable();
            addresses.dedup();
            match addresses.is_empty() {
                false => Finding::ok(format!("{host}: {}", addresses.join(", "))),
                true => nowhere(host, "no address"),
            }
        }
        Err(error) => nowhere(host, &error.to_string()),
    }
}

fn nowhere(host: &str, why: &str) -> Finding {
    Finding::wrong(
        format!("{host} cannot be resolved: {why}"),
        format!("add an A or AAAA record for {host}, or correct `issuer`"),
    )
}

/// The certificate that is shown at the issuer's address.
pub(crate) async fn tls(subject: Arc<Subject>) -> Finding {
    let address = (subject.host.as_str(), subject.port);
    let stream = match TcpStream::connect(address).await {
        Ok(stream) => stream,
        Err(error) => return of_file(&subject, &error.to_string()),
    };
    let config = match trust(&subject) {
        Ok(trust) => trust,
        Err(why) => return Finding::wrong(why, "--ca-cert FILE names another authority"),
    };
    let Ok(name) = ServerName::try_from(subject.host.clone()) else {
        return Finding::wrong(
            format!("{} is no name of a host", subject.host),
            "correct `issuer`",
        );
    };
    match TlsConnector::from(config).connect(name, stream).await {
        Ok(stream) => {
            let (_, connection) = stream.get_ref();
            let shown = connection.peer_certificates().and_then(<[_]>::first);
            match shown {
                Some(certificate) => lasts(&subject.host, certificate, now()),
                None => Finding::wrong("no certificate was shown", "set [tls] certificate and key"),
            }
        }
        Err(error) => {
            let refused = error
                .get_ref()
                .and_then(|e| e.downcast_ref::<rustls::Error>());
            refusal(&subject.host, refused, &error.to_string())
        }
    }
}

fn trust(subject: &Subject) -> Result<Arc<rustls::ClientConfig>, String> {
    let mut trust = match subject.trust.is_empty() {
        true => Trust::system(),
        false => Trust::nobody(),
    };
    for file in &subject.trust {
        let bad = |e: &dyn std::fmt::Display| format!("{}: {e}", file.display());
        let pem = std::fs::read(file).map_err(|e| bad(&e))?;
        trust = trust.and(&pem).map_err(|e| bad(&e))?;
    }
    trust.tls().map_err(|e| e.to_string())
}

/// Why a certificate was refused, and what mends that.
pub(crate) fn refusal(host: &str, error: Option<&rustls::Error>, text: &str) -> Finding {
    use CertificateError::{
        Expired, ExpiredContext, NotValidForName, NotValidForNameContext, NotValidYet,
        NotValidYetContext, UnknownIssuer,
    };
    let renew = "renew it ([tls] certificate and key), then `kill -HUP` the server";
    match error {
        Some(rustls::Error::InvalidCertificate(Expired | ExpiredContext { .. })) => {
            Finding::wrong("the certificate has expired", renew)
        }
        Some(rustls::Error::InvalidCertificate(NotValidYet | NotValidYetContext { .. })) => {
            Finding::wrong(
                "the certificate is not valid yet",
                "set this machine's clock, or wait until it is",
            )
        }
        Some(rustls::Error::InvalidCertificate(
            NotValidForName | NotValidForNameContext { .. },
        )) => Finding::wrong(
            format!("the certificate is not for {host}"),
            format!("get one that names {host} (subject alternative name), or correct `issuer`"),
        ),
        Some(rustls::Error::InvalidCertificate(UnknownIssuer)) => Finding::wrong(
            "the certificate is from an authority that this machine does not know, or the chain is not whole",
            "put the authorities between into [tls] certificate behind the leaf; name a private authority by --ca-cert FILE",
        ),
        _ => Finding::wrong(
            format!("no TLS at {host}: {text}"),
            "an https listener, or a proxy that ends TLS, must answer at the issuer's address",
        ),
    }
}

/// A certificate that holds: for how long.
pub(crate) fn lasts(host: &str, certificate: &CertificateDer<'_>, now: u64) -> Finding {
    let Ok(certificate) = ClientCertificate::parse(certificate) else {
        return Finding::ok(format!("the certificate is for {host}"));
    };
    let left = certificate.not_after.saturating_sub(now);
    let found = format!(
        "the certificate is for {host}, for {} days more",
        left / DAY
    );
    match left > SOON {
        true => Finding::ok(found),
        false => Finding::warning(
            found,
            "renew it now ([tls] certificate and key), then `kill -HUP` the server",
        ),
    }
}

/// Where nothing answers: the file that would be shown.
fn of_file(subject: &Subject, why: &str) -> Finding {
    let silent = format!(
        "nothing answers at {}:{} ({why})",
        subject.host, subject.port
    );
    let configuration = subject.place.configuration.as_ref();
    let tls = configuration.and_then(|found| Some((found, found.config.tls.as_ref()?)));
    let Some((found, tls)) = tls else {
        return Finding::wrong(silent, "start the server, or the proxy in front of it");
    };
    let path = found.base.join(&tls.certificate);
    match std::fs::read(&path).map(|pem| CertificateDer::from_pem_slice(&pem)) {
        Ok(Ok(certificate)) => {
            let finding = names(&subject.host, &certificate, now());
            match finding.state {
                super::State::Wrong => finding,
                _ => Finding::wrong(
                    format!("{silent}; {}: {}", path.display(), finding.found),
                    "start the server, or the proxy in front of it",
                ),
            }
        }
        Ok(Err(_)) => Finding::wrong(
            format!("{} holds no certificate", path.display()),
            "set [tls] certificate to the PEM file of a chain, leaf first",
        ),
        Err(error) => Finding::wrong(
            format!("{}: {error}", path.display()),
            "correct [tls] certificate, or let the server's user read it",
        ),
    }
}

/// Whether a certificate names a host, and lasts.
pub(crate) fn names(host: &str, certificate: &CertificateDer<'_>, now: u64) -> Finding {
    let Ok(parsed) = ClientCertificate::parse(certificate) else {
        return Finding::wrong("the certificate cannot be read", "get another one");
    };
    let covers = |name: &String| match name.strip_prefix("*.") {
        Some(rest) => host
            .split_once('.')
            .is_some_and(|(_, domain)| domain == rest),
        None => name == host,
    };
    let named = parsed.san_dns.iter().any(covers)
        || host.parse().is_ok_and(|ip| parsed.san_ip.contains(&ip));
    if !named {
        return refusal(
            host,
            Some(&rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName,
            )),
            "",
        );
    }
    if !parsed.is_valid_at(now) {
        let error = match now < parsed.not_before {
            true => CertificateError::NotValidYet,
            false => CertificateError::Expired,
        };
        return refusal(host, Some(&rustls::Error::InvalidCertificate(error)), "");
    }
    lasts(host, certificate, now)
}

/// The mail server: a connection, TLS, the login.
pub(crate) async fn mail(subject: Arc<Subject>) -> Finding {
    let Some(found) = &subject.place.configuration else {
        return Finding::ok(match subject.place.dev {
            Some(_) => "a development server writes mails to files",
            None => "without a configuration file nothing is known of it",
        });
    };
    let Some(mail) = &found.config.mail else {
        return Finding::warning(
            "no mail is configured: mailed codes, invitations and recovery are not offered",
            "set [mail] from and [mail.smtp]",
        );
    };
    let Some(smtp) = &mail.smtp else {
        return Finding::ok("mails are written to files");
    };
    let shown = &smtp.host;
    let mailer = match signet_assembly::mailer(&found.config, &found.base) {
        Ok(Some(mailer)) => mailer,
        Ok(None) => return Finding::wrong("[mail] names no way", "correct [mail]"),
        Err(why) => return Finding::wrong(why, "correct [mail]"),
    };
    match mailer.reach().await {
        Ok(()) => Finding::ok(format!("{shown} takes the connection, and who we are")),
        Err(error) => Finding::wrong(
            format!("{shown}: {error}"),
            "correct [mail.smtp]: host, port, security (tls, starttls), username, password, trust",
        ),
    }
}
