//! The development CA and the server's certificate from it.

use std::path::Path;

use rustls::pki_types::{CertificateDer, pem::PemObject};
use signet_crypto::certificate::{ClientCertificate, DevelopmentCa};

use signet_crypto::private_file;

pub const CA_CERT: &str = "ca.pem";
pub const CA_KEY: &str = "ca.key";
pub const SERVER_CERT: &str = "server.pem";
pub const SERVER_KEY: &str = "server.key";
/// A certificate that ends within this time is replaced, seconds.
const RENEW_BEFORE: u64 = 14 * 86_400;

/// What the server and its greeting need.
pub struct Certificate {
    pub ca_pem: Vec<u8>,
}

/// Makes the CA if it does not exist, and a certificate if it does not exist, ends soon or does not
/// name `host`.
pub fn ensure(directory: &Path, host: &str, now: u64) -> Result<Certificate, String> {
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
            let ca = DevelopmentCa::generate().map_err(|e| failed(&e))?;
            // The key first: a certificate without its key would be taken for a whole CA by other
            // programs.
            write(CA_KEY, ca.key_pem().expose())?;
            write(CA_CERT, &ca.cert_pem())?;
            ca
        }
    };
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
        ensure(dir.path(), "localhost", now).unwrap();
        let server = || std::fs::read(dir.path().join(SERVER_CERT)).unwrap();
        let first = server();
        let ca = ensure(dir.path(), "::1", now).unwrap().ca_pem;
        assert_eq!(server(), first);
        ensure(dir.path(), "id.example", now).unwrap();
        let second = server();
        assert_ne!(second, first);
        assert_eq!(
            ensure(dir.path(), "id.example", now + 100 * 366 * 86_400)
                .unwrap()
                .ca_pem,
            ca
        );
        assert_ne!(server(), second);
    }
}
