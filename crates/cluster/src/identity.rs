//! A node's own keys, in a file of its data directory.
//!
//! Ed25519 and ML-DSA-65 sign what it tells, ML-KEM-768 opens what is sealed to it, and a key with
//! a self-signed certificate proves who it is on a connection. They are made once and never leave
//! the node; a node whose file is lost joins again, with new keys.
use crate::member::{Fingerprint, NodeKeys};
use signet_cbor::{Decoder, Encoder};
use signet_crypto::{
    Algorithm, KeyError, PublicKey, Secret, SigningKey, certificate::NodeCertificate,
    kem::DecapsulationKey, private_file,
};
use signet_store::NodeId;
use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

/// The file within the data directory's folder `cluster`; mode 0600.
pub const IDENTITY_FILE: &str = "identity";

/// Longest file of a node's keys that is read, in bytes.
const MAX_FILE_BYTES: u64 = 16 * 1024;

/// Why a node's keys could not be had. For the operator.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// The file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// the file
        path: PathBuf,
        /// the system's reason
        source: io::Error,
    },
    /// The file is not what was written.
    #[error("{path} holds no keys of a node; remove it and let the node join again")]
    Unreadable {
        /// the file
        path: PathBuf,
    },
    /// Others could read the keys.
    #[error(
        "{path} can be read by others; remove the node from its cluster and let it join again with new keys"
    )]
    Exposed {
        /// the file
        path: PathBuf,
    },
    /// The library failed.
    #[error("the node's keys cannot be made: {0}")]
    Key(#[from] KeyError),
}

/// A node's keys. Debug prints none of them.
pub struct Identity {
    ed25519: SigningKey,
    ml_dsa_65: SigningKey,
    ml_kem_768: DecapsulationKey,
    tls: NodeCertificate,
    public: NodeKeys,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Identity(..)")
    }
}

impl Identity {
    /// New random keys.
    ///
    /// # Errors
    /// [`KeyError::Library`] if the library fails, which it does not in ordinary use.
    pub fn generate() -> Result<Identity, KeyError> {
        Identity::new(
            SigningKey::generate(Algorithm::Ed25519)?,
            SigningKey::generate(Algorithm::MlDsa65)?,
            DecapsulationKey::generate()?,
            NodeCertificate::generate("signet node").map_err(|_| KeyError::Library)?,
        )
    }

    /// The keys of a data directory (`cluster/identity`), made at the first call. Of two processes
    /// that make them at once, one does.
    ///
    /// # Errors
    /// [`IdentityError`].
    pub fn open_or_create(directory: &Path) -> Result<Identity, IdentityError> {
        let folder = directory.join("cluster");
        let path = folder.join(IDENTITY_FILE);
        match File::open(&path) {
            Ok(file) => Identity::read(path, file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let identity = Identity::generate()?;
                let bytes = identity.to_bytes()?;
                let made = private_file::directory(&folder)
                    .and_then(|()| private_file::create(&path, bytes.expose()));
                match made {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        let made = File::open(&path);
                        let made = made.map_err(|source| IdentityError::Io {
                            path: path.clone(),
                            source,
                        })?;
                        Identity::read(path, made)
                    }
                    Err(source) => Err(IdentityError::Io { path, source }),
                    Ok(()) => Ok(identity),
                }
            }
            Err(source) => Err(IdentityError::Io { path, source }),
        }
    }

    fn read(path: PathBuf, file: File) -> Result<Identity, IdentityError> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let metadata = file.metadata().map_err(|source| IdentityError::Io {
                path: path.clone(),
                source,
            })?;
            if metadata.permissions().mode() & 0o077 != 0 {
                return Err(IdentityError::Exposed { path });
            }
        }
        let mut bytes = Vec::new();
        let read = file.take(MAX_FILE_BYTES).read_to_end(&mut bytes);
        let bytes = Secret::new(bytes);
        match read {
            Ok(_) => Identity::from_bytes(bytes.expose()).ok_or(IdentityError::Unreadable { path }),
            Err(source) => Err(IdentityError::Io { path, source }),
        }
    }

    fn new(
        ed25519: SigningKey,
        ml_dsa_65: SigningKey,
        ml_kem_768: DecapsulationKey,
        tls: NodeCertificate,
    ) -> Result<Identity, KeyError> {
        let (Some(PublicKey::Ed25519 { x }), Some(PublicKey::MlDsa { public, .. })) =
            (ed25519.public(), ml_dsa_65.public())
        else {
            return Err(KeyError::WrongKeyType);
        };
        let public = NodeKeys {
            ed25519: *x,
            ml_dsa_65: public.clone(),
            ml_kem_768: ml_kem_768.public().as_bytes().to_vec(),
            spki_sha256: tls.spki_sha256(),
        };
        Ok(Identity {
            ed25519,
            ml_dsa_65,
            ml_kem_768,
            tls,
            public,
        })
    }

    fn to_bytes(&self) -> Result<Secret<Vec<u8>>, KeyError> {
        let kem = self.ml_kem_768.to_bytes()?;
        // With room for all of it: growing would leave a copy of the keys behind.
        let mut out = Encoder::with_capacity(8 * 1024);
        out.array(6)
            .uint(1)
            .bytes(self.ed25519.ed25519_seed()?.expose())
            .bytes(self.ml_dsa_65.to_private()?.expose())
            .bytes(kem.expose())
            .bytes(self.tls.certificate())
            .bytes(self.tls.key().expose());
        Ok(Secret::new(out.finish()))
    }

    fn from_bytes(bytes: &[u8]) -> Option<Identity> {
        let malformed = signet_cbor::Error::Malformed;
        Decoder::whole(bytes, |d| {
            d.tuple(6, |d| {
                if d.uint()? != 1 {
                    return Err(malformed);
                }
                let seed = Secret::new(d.fixed()?);
                let ed25519 =
                    SigningKey::ed25519_from_seed(seed.expose()).map_err(|_| malformed)?;
                let ml_dsa_65 = SigningKey::from_private(Algorithm::MlDsa65, d.bytes()?)
                    .map_err(|_| malformed)?;
                let kem = DecapsulationKey::from_bytes(d.bytes()?).map_err(|_| malformed)?;
                let certificate = d.bytes()?;
                let key = Secret::new(d.bytes()?.to_vec());
                let tls = NodeCertificate::from_der(certificate, key).map_err(|_| malformed)?;
                Identity::new(ed25519, ml_dsa_65, kem, tls).map_err(|_| malformed)
            })
        })
        .ok()
    }

    /// The public halves.
    pub fn public(&self) -> &NodeKeys {
        &self.public
    }

    /// The identity that these keys are under a name.
    pub fn fingerprint(&self, node: &NodeId) -> Fingerprint {
        self.public.fingerprint(node)
    }

    /// Makes the first signature of what is announced.
    pub fn ed25519(&self) -> &SigningKey {
        &self.ed25519
    }

    /// Makes the second one.
    pub fn ml_dsa_65(&self) -> &SigningKey {
        &self.ml_dsa_65
    }

    /// Opens what is sealed to this node.
    pub fn ml_kem_768(&self) -> &DecapsulationKey {
        &self.ml_kem_768
    }

    /// What it shows on connections.
    pub fn tls(&self) -> &NodeCertificate {
        &self.tls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_kept_and_private() {
        let directory = tempfile::tempdir().expect("a directory");
        let made = Identity::open_or_create(directory.path()).expect("made");
        let again = Identity::open_or_create(directory.path()).expect("read");
        assert_eq!(made.public(), again.public());
        assert_eq!(format!("{made:?}"), "Identity(..)");

        let path = directory.path().join("cluster").join(IDENTITY_FILE);
        let written = std::fs::read(&path).expect("a file");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode();
            assert_eq!(mode(&path) & 0o777, 0o600);
            assert_eq!(mode(path.parent().expect("a folder")) & 0o777, 0o700);
            let open = std::fs::Permissions::from_mode(0o640);
            std::fs::set_permissions(&path, open).expect("changed");
            let exposed = Identity::open_or_create(directory.path());
            assert!(matches!(exposed, Err(IdentityError::Exposed { .. })));
            let closed = std::fs::Permissions::from_mode(0o600);
            std::fs::set_permissions(&path, closed).expect("changed");
        }
        for broken in [&written[..written.len() - 1], &[], b"{}"] {
            std::fs::write(&path, broken).expect("written");
            let read = Identity::open_or_create(directory.path());
            assert!(matches!(read, Err(IdentityError::Unreadable { .. })));
        }
    }

    #[test]
    fn of_two_that_make_the_keys_at_once_one_does() {
        let directory = tempfile::tempdir().expect("a directory");
        let open = || Identity::open_or_create(directory.path()).expect("keys");
        let keys: Vec<NodeKeys> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(open)).collect();
            let made = threads.into_iter().map(|t| t.join().expect("ended"));
            made.map(|identity| identity.public().clone()).collect()
        });
        assert!(keys.iter().all(|k| *k == keys[0]));
    }
}
