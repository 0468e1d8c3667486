//! Algorithms, keys, hashes, authenticated encryption, key derivation, passwords and randomness.
//!
//! The only crate of the house that names a cryptography library: [aws-lc-rs](aws_lc_rs) for nearly
//! everything, `curve25519-dalek` to verify Ed25519, `sha2`'s compression function for HMAC,
//! `argon2` for passwords, `rcgen` and `x509-parser` for certificates. One thing is our own: the
//! check of an ES256 signature by a key that is used often (`p256`, public values alone). The rooms
//! above name an [`Algorithm`], a [`SigningKey`] or a [`seal::Purpose`], so a library can be
//! changed here alone.
//!
//! What this crate assumes: its callers decide which key and which algorithm belong to whom; a key
//! is made for exactly one algorithm and no token can choose another. What it does not decide:
//! encodings (signatures and keys are raw bytes in JOSE's own layout), time, and where keys rest.
#![forbid(unsafe_code)]

pub mod aead;
pub mod algorithm;
pub mod certificate;
pub mod chacha;
pub mod clock;
pub mod decrypt;
pub mod foreign;
pub mod hash;
pub mod kdf;
pub mod kem;
pub mod key;
pub mod mac;
mod p256;
pub mod password;
pub mod private_file;
pub mod random;
pub mod seal;
pub mod secret;
pub mod x25519;

pub use algorithm::{Algorithm, KeyType};
pub use clock::Clock;
pub use key::{
    BatchItem, InvalidSignature, KeyError, PublicKey, SigningKey, VerifyingKey,
    verify_ed25519_batch,
};
pub use secret::{Secret, ct_eq};
