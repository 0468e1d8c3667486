//! The certificate that is meant, and whether it may be trusted.

use std::path::{Path, PathBuf};

use rustls::pki_types::{CertificateDer, pem::PemObject};
use signet_crypto::certificate::{ClientCertificate, DEVELOPMENT_CA_NAME, DevelopmentCa};
use signet_crypto::private_file;
use signet_terminal::output::Failure;

use super::Act;

use crate::certificate::{CA_CERT, CA_KEY};
use crate::paths::absolute;

const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// An authority that a data directory made.
pub(super) struct Authority {
    /// Its file, as an absolute path.
    pub(super) file: PathBuf,
    /// The certificate alone, PEM, whatever else stands in the file.
    pub(super) pem: String,
    der: CertificateDer<'static>,
    /// Its own name.
    pub(super) name: String,
    /// SHA-256 of the certificate, in hexadecimal digits.
    pub(super) fingerprint: String,
    /// The names that it is limited to; none: it may stand for any server.
    pub(super) limited_to: Option<Vec<String>>,
}

impl Authority {
    /// That of a data directory.
    ///
    /// # Errors
    /// It is missing, it is no authority that was made there, or others can read its key.
    pub(super) fn read(data_dir: &Path, act: Act) -> Result<Authority, Failure> {
        let file = absolute(&data_dir.join(CA_CERT));
        let shown = file.display();
        let text = std::fs::read_to_string(&file).map_err(|e| {
            Failure::unusable(format!(
                "{shown}: {e} (--data-dir DIR names the data directory of a server that made its own certificate)"
            ))
        })?;
        let refused = |why: &str| Failure::no("not_trusted", format!("{shown}: {why}"));
        let certificates: Result<Vec<CertificateDer<'static>>, _> =
            CertificateDer::pem_slice_iter(text.as_bytes()).collect();
        let Ok([der]) = certificates.as_deref() else {
            return Err(refused("it is not one certificate"));
        };
        let pem = block(&text).ok_or_else(|| refused("it is not one certificate"))?;
        let parsed = ClientCertificate::parse(der).map_err(|_| refused("it cannot be read"))?;
        let name = parsed.subject_dn.strip_prefix("CN=").unwrap_or_default();
        if !parsed.is_authority || !name.starts_with(DEVELOPMENT_CA_NAME) {
            return Err(refused(
                "it is no authority that a Signet server made for itself",
            ));
        }
        let mut authority = Authority {
            pem,
            der: der.clone().into_owned(),
            name: name.to_owned(),
            fingerprint: hexadecimal(&parsed.thumbprint),
            limited_to: None,
            file: file.clone(),
        };
        // What is taken out needs no key: it may be gone with the rest of the directory.
        if act == Act::Add {
            let key = absolute(&data_dir.join(CA_KEY));
            let ca = std::fs::read_to_string(&key)
                .ok()
                .and_then(|key| DevelopmentCa::from_pem(&authority.pem, &key).ok());
            let Some(ca) = ca else {
                return Err(refused(
                    "its key is not beside it, so this data directory did not make it",
                ));
            };
            if private_file::is_open_to_others(&key).unwrap_or(true) {
                return Err(refused(&format!(
                    "other users of this machine can read its key: chmod 600 {}",
                    key.display()
                )));
            }
            authority.limited_to = ca.limited_to();
        }
        Ok(authority)
    }

    /// The beginning of the fingerprint: what its file and its entries are called by.
    pub(super) fn short(&self) -> &str {
        &self.fingerprint[..16]
    }

    /// Whether this PEM is the same certificate, to the byte, and no other beside it.
    pub(super) fn is(&self, pem: &[u8]) -> bool {
        let found: Result<Vec<CertificateDer<'_>>, _> =
            CertificateDer::pem_slice_iter(pem).collect();
        matches!(found.as_deref(), Ok([found]) if *found == self.der)
    }
}

/// The text of the one certificate.
fn block(text: &str) -> Option<String> {
    let (_, rest) = text.split_once(BEGIN)?;
    let (body, _) = rest.split_once(END)?;
    Some(format!("{BEGIN}{body}{END}\n"))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::{self, For};
    use std::os::unix::fs::PermissionsExt;

    fn made(dir: &Path) {
        let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
        certificate::ensure(dir, "id.example", For::OneHost, now).unwrap();
    }

    fn refused(dir: &Path) -> String {
        let failure = Authority::read(dir, Act::Add).err().unwrap();
        failure.description().to_owned()
    }

    #[test]
    fn only_an_authority_that_the_directory_made_is_trusted() {
        let dir = tempfile::tempdir().unwrap();
        assert!(refused(dir.path()).contains("--data-dir"));
        made(dir.path());
        let authority = Authority::read(dir.path(), Act::Add).unwrap();
        assert!(authority.limited_to.is_some());
        let path = |name: &str| dir.path().join(name);
        let (good, key) = (
            std::fs::read_to_string(path(CA_CERT)).unwrap(),
            std::fs::read_to_string(path(CA_KEY)).unwrap(),
        );
        assert!(authority.is(good.as_bytes()));
        // The certificate of another directory, whose key is not here.
        let other = tempfile::tempdir().unwrap();
        made(other.path());
        let theirs = std::fs::read_to_string(other.path().join(CA_CERT)).unwrap();
        private_file::write(&path(CA_CERT), theirs.as_bytes()).unwrap();
        assert!(refused(dir.path()).contains("did not make it"));
        assert!(!authority.is(theirs.as_bytes()));
        // The server's own certificate, which is no authority; and two in one file.
        let server = std::fs::read_to_string(path(certificate::SERVER_CERT)).unwrap();
        assert!(!authority.is(server.as_bytes()));
        private_file::write(&path(CA_CERT), server.as_bytes()).unwrap();
        assert!(refused(dir.path()).contains("not one certificate"));
        let leaf = server.split_inclusive(END).next().unwrap();
        private_file::write(&path(CA_CERT), leaf.as_bytes()).unwrap();
        assert!(refused(dir.path()).contains("no authority"));
        // A key that others can read.
        private_file::write(&path(CA_CERT), good.as_bytes()).unwrap();
        std::fs::set_permissions(path(CA_KEY), std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(refused(dir.path()).contains("chmod 600"));
        // Without the key it can be taken out, and not put in.
        std::fs::remove_file(path(CA_KEY)).unwrap();
        assert!(refused(dir.path()).contains("did not make it"));
        assert!(Authority::read(dir.path(), Act::Remove).is_ok());
        drop(key);
    }
}
