//! Algorithms, keys, hashes, authenticated encryption, key derivation, passwords and randomness.
//!
//! The only crate of the house that names a cryptography library.

pub mod aead;
pub mod algorithm;
pub mod certificate;
pub mod hash;
pub mod kdf;
pub mod key;
pub mod mac;
pub mod password;
pub mod random;
pub mod seal;
pub mod secret;

pub use algorithm::{Algorithm, KeyType};
pub use key::{InvalidSignature, KeyError, PublicKey, SigningKey, VerifyingKey};
pub use secret::{Secret, ct_eq};
