//! Files of compact keys. Rules: a key that is read is written to the same bytes; a file is of one
//! kind; what a key signs, it verifies.

use signet_compact::{Algorithm, Payload, Policy, SigningKey, VerifyingKey, Version};
use signet_crypto::hash::sha256;

/// One input.
pub fn run(data: &[u8]) {
    let policy = Policy::any_audience(1);
    if let Ok(key) = SigningKey::from_bytes(data) {
        assert!(
            VerifyingKey::from_bytes(data).is_err(),
            "one file, one kind"
        );
        let written = key.to_bytes().expect("written");
        assert_eq!(written.expose(), data, "one key, one file");
        if key.algorithm().is_zero_knowledge() {
            return;
        }
        let payload = Payload {
            expires_at: 1,
            ..Payload::default()
        };
        let mut token = Vec::new();
        key.sign_into(Version::V1, &payload, &mut token)
            .expect("signs");
        let verifying = key.verifying_key().expect("its own");
        assert!(verifying.verify(&token, &policy).is_ok());
        if let Some(public) = key.public_bytes() {
            let read = VerifyingKey::from_bytes(&public).expect("a public file");
            assert!(read.verify(&token, &policy).is_ok());
        }
    }
    if let Ok(Some(pin)) = VerifyingKey::parameters_hash(data) {
        assert!(
            VerifyingKey::from_bytes(data).is_err(),
            "pinned or not read"
        );
        assert!(VerifyingKey::from_bytes_pinned(data, &[], |_| None).is_err());
        if let Ok(key) = VerifyingKey::from_bytes_pinned(data, &[pin], |_| None) {
            assert!(key.algorithm().is_zero_knowledge());
        }
    }
    if let Ok(key) = VerifyingKey::from_bytes(data) {
        assert_ne!(
            key.algorithm(),
            Algorithm::HmacSha256,
            "a shared key is not public"
        );
        let length = match key.algorithm() {
            Algorithm::Ed25519 => 32,
            Algorithm::MlDsa44 => 1312,
            _ => return,
        };
        // What was read is the end of the file, whole.
        let public = &data[data.len() - length..];
        assert_eq!(key.key_hash(), sha256(public));
    }
}
