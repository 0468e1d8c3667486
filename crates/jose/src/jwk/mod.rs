//! Public JSON Web Keys: RFC 7517, RFC 7518 section 6, RFC 8037 (`OKP`), RFC 9964 (`AKP`).
//!
//! A [`Jwk`] can only hold a public key: a document that carries a private part or a symmetric key
//! is refused, because what was published is compromised, and whoever uses it all the same hides
//! that (known fault V7). What a key says about its use (`use`, `key_ops`, `alg`) is enforced in
//! the one place where a verifying key is made.
//!
//! Whether a point is on its curve or a modulus long enough is decided by signet-crypto, when the
//! key is prepared.

mod entries;
mod parse;
mod set;

pub use entries::entries as published_entries;
pub use set::{JwkSet, LeftOut, MAX_KEYS, Published};

use signet_crypto::{Algorithm, PublicKey, VerifyingKey};
use signet_encoding::base64url;
use signet_encoding::json::{Object, Writer};

/// Longest `kid` that is read, in bytes.
pub const MAX_KID_BYTES: usize = 512;

/// A public JSON Web Key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jwk {
    /// the key material
    pub key: PublicKey,
    /// key id
    pub kid: Option<String>,
    /// the only algorithm that the key may be used with
    pub alg: Option<Algorithm>,
    /// what the key is for (`use`)
    pub key_use: Option<KeyUse>,
    /// the operations that the key may be used for
    pub key_ops: Option<Vec<String>>,
    /// the certificate chain, DER, leaf first; carried, never believed
    pub x5c: Vec<Vec<u8>>,
}

/// The registered values of `use` (RFC 7517 section 4.2). A key with another value is unsupported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyUse {
    /// `sig`
    Signature,
    /// `enc`
    Encryption,
}

/// Why a JWK or a key set was refused. The fault is the publisher's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JwkError {
    /// not strict JSON, or a member of the wrong JSON type
    #[error(transparent)]
    Json(#[from] signet_encoding::json::JsonError),
    /// a member is missing, or its value cannot be
    #[error("the JWK member {0} is missing or malformed")]
    Member(&'static str),
    /// a private or symmetric key where only public ones belong
    #[error("the JWK carries private key material")]
    Private,
    /// `use`, `key_ops` or `alg` say otherwise, or the key does not fit the algorithm
    #[error("the key may not be used so")]
    Use,
    /// a key type, curve, algorithm or use that Signet does not know
    #[error("unsupported key type")]
    Unsupported,
    /// two keys of one type have one id
    #[error("two keys have one kid")]
    DuplicateKid,
    /// more than [`MAX_KEYS`]
    #[error("too many keys")]
    TooMany,
}

impl Jwk {
    /// Key material alone.
    pub fn new(key: PublicKey) -> Jwk {
        Jwk {
            key,
            kid: None,
            alg: None,
            key_use: None,
            key_ops: None,
            x5c: Vec::new(),
        }
    }

    /// As an issuer publishes it: for signatures with one algorithm, under an id.
    pub fn for_signatures(key: PublicKey, alg: Algorithm, kid: &str) -> Jwk {
        Jwk {
            kid: Some(kid.to_owned()),
            alg: Some(alg),
            key_use: Some(KeyUse::Signature),
            ..Jwk::new(key)
        }
    }

    /// Reads a JWK document.
    pub fn parse(json: &[u8]) -> Result<Jwk, JwkError> {
        let object = signet_encoding::json::parse_object(json, &set::KEY_LIMITS)?;
        parse::jwk(&object)
    }

    /// Reads a JWK that is part of a larger document.
    pub fn from_value(object: &Object<'_>) -> Result<Jwk, JwkError> {
        parse::jwk(object)
    }

    /// Prepared to verify signatures with `alg`, if this key may be used so: type, curve, `alg`,
    /// `use` and `key_ops` all fit. The algorithm is the key's: a token that names another one does
    /// not get here (RFC 8725 section 3.1).
    pub fn verifying_key(&self, alg: Algorithm) -> Result<VerifyingKey, JwkError> {
        if !self.verifies(alg) {
            return Err(JwkError::Use);
        }
        VerifyingKey::new(alg, &self.key).map_err(|_| JwkError::Member("key material"))
    }

    /// Whether the key may verify signatures with `alg`, by what it says of itself.
    pub fn verifies(&self, alg: Algorithm) -> bool {
        let allowed = match &self.key_ops {
            Some(operations) => operations.iter().any(|operation| operation == "verify"),
            None => true,
        };
        self.key.fits(alg)
            && self.alg.is_none_or(|own| own == alg)
            && self.key_use != Some(KeyUse::Encryption)
            && allowed
    }

    /// RFC 7638 SHA-256 thumbprint: over the required members alone, in the order of their names,
    /// without white space.
    pub fn thumbprint(&self) -> [u8; 32] {
        let mut text = Vec::with_capacity(256);
        Writer::new(&mut text).object(|w| match &self.key {
            PublicKey::P256 { .. }
            | PublicKey::P384 { .. }
            | PublicKey::P521 { .. }
            | PublicKey::Ed25519 { .. } => {
                w.member("crv").string(curve(&self.key));
                w.member("kty").string(self.key.key_type().name());
                write_coordinates(&self.key, w);
            }
            PublicKey::Rsa { n, e } => {
                w.member("e").base64url(e);
                w.member("kty").string("RSA");
                w.member("n").base64url(n);
            }
            // RFC 9964 section 6: `alg` is part of an AKP key, and so of its thumbprint.
            PublicKey::MlDsa { algorithm, public } => {
                w.member("alg").string(algorithm.name());
                w.member("kty").string("AKP");
                w.member("pub").base64url(public);
            }
        });
        signet_crypto::hash::sha256(&text)
    }

    /// The thumbprint in base64url: `jkt`, and a `kid` where nothing else names the key.
    pub fn thumbprint_text(&self) -> String {
        base64url::encode(&self.thumbprint())
    }

    /// Writes the JWK as one object.
    pub fn write(&self, w: &mut Writer<'_>) {
        w.object(|w| {
            w.member("kty").string(self.key.key_type().name());
            match &self.key {
                PublicKey::Rsa { n, e } => {
                    w.member("n").base64url(n);
                    w.member("e").base64url(e);
                }
                PublicKey::MlDsa { public, .. } => w.member("pub").base64url(public),
                key @ PublicKey::P256 { .. }
                | key @ PublicKey::P384 { .. }
                | key @ PublicKey::P521 { .. }
                | key @ PublicKey::Ed25519 { .. } => {
                    w.member("crv").string(curve(key));
                    write_coordinates(key, w);
                }
            }
            if let Some(kid) = &self.kid {
                w.member("kid").string(kid);
            }
            if let Some(alg) = self.alg.or(own_algorithm(&self.key)) {
                w.member("alg").string(alg.name());
            }
            match self.key_use {
                Some(KeyUse::Signature) => w.member("use").string("sig"),
                Some(KeyUse::Encryption) => w.member("use").string("enc"),
                None => {}
            }
            if let Some(operations) = &self.key_ops {
                w.member("key_ops").strings(operations);
            }
            if !self.x5c.is_empty() {
                w.member("x5c").array(|w| {
                    for certificate in &self.x5c {
                        let mut text = vec![b'"'];
                        base64url::encode_standard_into(certificate, &mut text);
                        text.push(b'"');
                        w.raw(&text);
                    }
                });
            }
        });
    }
}

/// `crv` of the types that have one.
fn curve(key: &PublicKey) -> &'static str {
    match key {
        PublicKey::P256 { .. } => "P-256",
        PublicKey::P384 { .. } => "P-384",
        PublicKey::P521 { .. } => "P-521",
        PublicKey::Ed25519 { .. } => "Ed25519",
        PublicKey::Rsa { .. } | PublicKey::MlDsa { .. } => "",
    }
}

fn write_coordinates(key: &PublicKey, w: &mut Writer<'_>) {
    let (x, y): (&[u8], Option<&[u8]>) = match key {
        PublicKey::P256 { x, y } => (x, Some(y)),
        PublicKey::P384 { x, y } => (x, Some(y)),
        PublicKey::P521 { x, y } => (x, Some(y)),
        PublicKey::Ed25519 { x } => (x, None),
        PublicKey::Rsa { .. } | PublicKey::MlDsa { .. } => return,
    };
    w.member("x").base64url(x);
    if let Some(y) = y {
        w.member("y").base64url(y);
    }
}

/// The algorithm that is part of the key itself (RFC 9964 section 3).
fn own_algorithm(key: &PublicKey) -> Option<Algorithm> {
    match key {
        PublicKey::MlDsa { algorithm, .. } => Some(*algorithm),
        PublicKey::P256 { .. }
        | PublicKey::P384 { .. }
        | PublicKey::P521 { .. }
        | PublicKey::Ed25519 { .. }
        | PublicKey::Rsa { .. } => None,
    }
}
