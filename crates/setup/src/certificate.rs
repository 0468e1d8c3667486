//! The CA that a data directory made for itself, and the server's certificate from it.

use std::path::Path;

use rustls::pki_types::{CertificateDer, pem::PemObject};
use signet_crypto::certificate::{ClientCertificate, DevelopmentCa};
use signet_crypto::private_file;

/// The authority's certificate.
pub const CA_CERT: &str = "ca.pem";
/// The authority's key.
pub const CA_KEY: &str = "ca.key";
/// The server's certificate.
pub const SERVER_CERT: &str = "server.pem";
/// The server's key.
pub const SERVER_KEY: &str = "server.key";
/// A certificate that ends within this time is replaced, seconds.
const RENEW_BEFORE: u64 = 14 * 86_400;

/// What the server and its greeting need.
#[derive(Debug)]
pub struct Certificate {
    /// The authority's certificate.
    pub ca_pem: Vec<u8>,
}

/// What a new CA may be believed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum For {
    /// Whatever a developer tries, certificates of clients among it.
    Development,
    /// The server of one host, and this machine.
    OneHost,
}

/// Makes the CA if it does not exist, and a certificate if it does not exist, ends soon or does not
/// name `host`.
///
/// # Errors
/// What the system says, or that the CA which is there is limited to other hosts.
pub fn ensure(directory: &Path, host: &str, wanted: For, now: u64) -> Result<Certificate, String> {
    let path = |name: &str| directory.join(name);
    let read = |name: &str| std::fs::read_to_string(path(name)).ok();
    let write = |name: &str, text: &str| {
        private_file::write(&path(name), text.as_bytes())
            .map_err(|e| format!("{}: {e}", path(name).display()))
    };
    let failed =
        |e: &dyn std::fmt::Display| format!("the development certificates cannot be made: {e}");
    let ca = match (read(CA_CERT), read(CA_KEY)) {
        (Some(cert), Some(key)) => DevelopmentCa::from_pem(&cert, &key)
            .map_err(|e| format!("{}: {e}", path(CA_CERT).display()))?,
        _ => {
            let ca = match wanted {
                For::Development => DevelopmentCa::generate(),
                For::OneHost => DevelopmentCa::generate_for(&[host.to_owned()]),
            };
            let ca = ca.map_err(|e| failed(&e))?;
            // The key first: a certificate without its key would be taken for a whole CA by other
            // programs.
            write(CA_KEY, ca.key_pem().expose())?;
            write(CA_CERT, &ca.cert_pem())?;
            ca
        }
    };
    if !ca.permits(host) {
        return Err(format!(
            "{} is the authority of {} alone, not of {host}: use another data directory, or remove {CA_CERT} and {CA_KEY} there for a new one",
            path(CA_CERT).display(),
            ca.limited_to().unwrap_or_default().join(", ")
        ));
    }
    let fits =
        read(SERVER_CERT).is_some_and(|pem| names(&pem, host, now)) && read(SERVER_KEY).is_some();
    if !fits {
        let mut names: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(String::from).to_vec();
        if !names.iter().any(|n| n == host) {
            names.push(host.to_owned());
        }
        let (chain, key) = ca.issue_server(&names).map_err(|e| failed(&e))?;
        write(SERVER_KEY, key.expose())?;
        write(SERVER_CERT, &chain)?;
    }
    Ok(Certificate {
        ca_pem: ca.cert_pem().into_bytes(),
    })
}

fn names(pem: &str, host: &str, now: u64) -> bool {
    let Ok(der) = CertificateDer::from_pem_slice(pem.as_bytes()) else {
        return false;
    };
    let Ok(certificate) = ClientCertificate::parse(&der) else {
        return false;
    };
    let named = certificate.san_dns.iter().any(|n| n == host)
        || host
            .parse()
            .is_ok_and(|ip| certificate.san_ip.contains(&ip));
    named && certificate.is_valid_at(now.saturating_add(RENEW_BEFORE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_kept_while_it_names_the_host_and_lasts() {
        let dir = tempfile::tempdir().unwrap();
        let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
        ensure(dir.path(), "localhost", For::Development, now).unwrap();
        let server = || std::fs::read(dir.path().join(SERVER_CERT)).unwrap();
        let first = server();
        let ca = ensure(dir.path(), "::1", For::Development, now)
            .unwrap()
            .ca_pem;
        assert_eq!(server(), first);
        ensure(dir.path(), "id.example", For::Development, now).unwrap();
        let second = server();
        assert_ne!(second, first);
        assert_eq!(
            ensure(
                dir.path(),
                "id.example",
                For::Development,
                now + 100 * 366 * 86_400
            )
            .unwrap()
            .ca_pem,
            ca
        );
        assert_ne!(server(), second);
    }
    #[test]
    fn the_authority_of_one_host_is_believed_for_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
        for host in ["id.example", "127.0.0.1", "login.id.example"] {
            ensure(dir.path(), host, For::OneHost, now).unwrap();
        }
        let refused = ensure(dir.path(), "id.example.org", For::OneHost, now).unwrap_err();
        assert!(refused.contains("id.example"), "{refused}");
        assert!(refused.contains(CA_CERT), "{refused}");
        let read = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
        let ca = String::from_utf8(read(CA_CERT)).unwrap();
        let key = String::from_utf8(read(CA_KEY)).unwrap();
        let ca = DevelopmentCa::from_pem(&ca, &key).unwrap();
        assert!(ca.limited_to().unwrap().contains(&"id.example".to_owned()));
        for name in ["localhost", "::1", "a.localhost", "id.example"] {
            assert!(ca.permits(name), "{name}");
        }
        for name in ["example", "xid.example", "10.0.0.1"] {
            assert!(!ca.permits(name), "{name}");
        }
        // The constraint holds for whoever checks a chain, not for us alone.
        let (chain, key) = ca.issue_server(&["evil.example".to_owned()]).unwrap();
        let trust = |chain: &str| {
            use rustls::pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject};
            let mut roots = rustls::RootCertStore::empty();
            let root = ca.cert_pem();
            roots
                .add(CertificateDer::from_pem_slice(root.as_bytes()).unwrap())
                .unwrap();
            let verifier = rustls::client::WebPkiServerVerifier::builder_with_provider(
                roots.into(),
                rustls::crypto::aws_lc_rs::default_provider().into(),
            );
            let verifier = verifier.build().unwrap();
            let leaf = CertificateDer::from_pem_slice(chain.as_bytes()).unwrap();
            move |name: &'static str| {
                let name = ServerName::try_from(name).unwrap();
                let now = UnixTime::since_unix_epoch(std::time::UNIX_EPOCH.elapsed().unwrap());
                rustls::client::danger::ServerCertVerifier::verify_server_cert(
                    &*verifier,
                    &leaf,
                    &[],
                    &name,
                    &[],
                    now,
                )
                .is_ok()
            }
        };
        drop(key);
        assert!(!trust(&chain)("evil.example"));
        let (chain, _) = ca.issue_server(&["id.example".to_owned()]).unwrap();
        assert!(trust(&chain)("id.example"));
    }
}
