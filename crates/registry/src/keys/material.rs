//! A signing key that is open: made, or unsealed.
use super::{KeyKind, KeysError, spare};
use signet_crypto::{KeyError, Secret, SigningKey, VerifyingKey};
use signet_encoding::base64url;
use signet_jose::{jwk::Jwk, jwt::JwtSigner};
use std::sync::Arc;

/// What signs and verifies, ready for use.
#[derive(Clone)]
pub(super) enum Material {
    /// A JWT's.
    Jose {
        signer: Arc<JwtSigner>,
        verifying: Arc<VerifyingKey>,
    },
    /// A compact token's.
    Compact(Arc<signet_compact::SigningKey>),
}

impl Material {
    /// Makes a key. RSA may take a good part of a second: not for a runtime's thread.
    pub(super) fn generate(kind: KeyKind) -> Result<Material, KeysError> {
        match kind {
            KeyKind::Jose(algorithm) => {
                let key = spare::key(algorithm)?;
                let public = key.public().ok_or(KeyError::WrongKeyType)?.clone();
                Material::jose(key, &Jwk::new(public).thumbprint_text())
            }
            KeyKind::Compact(algorithm) => {
                let key = signet_compact::SigningKey::generate(algorithm)?;
                Ok(Material::Compact(Arc::new(key)))
            }
        }
    }

    /// Reads what [`Material::private`] gave.
    pub(super) fn from_private(
        kind: KeyKind,
        kid: &str,
        private: &[u8],
    ) -> Result<Material, KeysError> {
        match kind {
            KeyKind::Jose(algorithm) => {
                Material::jose(SigningKey::from_private(algorithm, private)?, kid)
            }
            KeyKind::Compact(algorithm) => {
                let key = signet_compact::SigningKey::from_bytes(private)?;
                match key.algorithm() == algorithm && base64url::encode(key.key_id()) == kid {
                    true => Ok(Material::Compact(Arc::new(key))),
                    false => Err(KeysError::Unreadable),
                }
            }
        }
    }

    fn jose(key: SigningKey, kid: &str) -> Result<Material, KeysError> {
        Ok(Material::Jose {
            verifying: Arc::new(key.verifying_key()?.kept()),
            signer: Arc::new(JwtSigner::new(key, kid)),
        })
    }

    /// A hash of the key, so that no two share one: the RFC 7638 thumbprint, or what compact tokens
    /// call their key.
    pub(super) fn kid(&self) -> String {
        match self {
            Material::Jose { signer, .. } => signer.kid().to_owned(),
            Material::Compact(key) => base64url::encode(key.key_id()),
        }
    }

    /// The private half, for sealing.
    pub(super) fn private(&self) -> Result<Secret<Vec<u8>>, KeysError> {
        match self {
            Material::Jose { signer, .. } => Ok(signer.key().to_private()?),
            Material::Compact(key) => Ok(key.to_bytes()?),
        }
    }
}
