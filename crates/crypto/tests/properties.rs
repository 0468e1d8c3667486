//! Rules over arbitrary inputs: what was made is read back, and nothing that anybody sends makes
//! anything panic.

use std::sync::LazyLock;

use proptest::{collection::vec, prelude::*};
use signet_crypto::{
    Algorithm, PublicKey, Secret, SigningKey, VerifyingKey,
    aead::AeadKey,
    certificate::{ClientCertificate, DevelopmentCa},
    hash::{Sha256, sha256},
    password,
    seal::{Keyring, Purpose, SealingKey},
};

fn bytes(max: usize) -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..=max)
}

/// The quick ones; RSA and ML-DSA have their unit tests.
static KEYS: LazyLock<Vec<(SigningKey, VerifyingKey)>> = LazyLock::new(|| {
    [Algorithm::Es256, Algorithm::EdDsa, Algorithm::Hs256]
        .into_iter()
        .map(|algorithm| {
            let key = SigningKey::generate(algorithm).expect("a key");
            let verifying = key.verifying_key().expect("its own key");
            (key, verifying)
        })
        .collect()
});

static RING: LazyLock<Keyring> =
    LazyLock::new(|| Keyring::new(SealingKey::generate(), vec![SealingKey::generate()]));

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn any_message_is_signed_and_no_other_verifies(message in bytes(300), other in bytes(300)) {
        for (key, verifying) in KEYS.iter() {
            let mut signature = Vec::new();
            key.sign_into(&message, &mut signature).expect("signed");
            prop_assert!(verifying.verify(&message, &signature).is_ok());
            prop_assert_eq!(verifying.verify(&other, &signature).is_ok(), message == other);
        }
    }

    #[test]
    fn invented_signatures_are_refused(message in bytes(64), signature in bytes(140)) {
        for (_, verifying) in KEYS.iter() {
            prop_assert!(verifying.verify(&message, &signature).is_err());
        }
    }

    #[test]
    fn invented_ed25519_keys_never_panic(x in any::<[u8; 32]>(), signature in vec(any::<u8>(), 64)) {
        if let Ok(key) = VerifyingKey::new(Algorithm::EdDsa, &PublicKey::Ed25519 { x }) {
            prop_assert!(key.verify(b"message", &signature).is_err());
        }
    }

    #[test]
    fn invented_private_keys_never_panic(private in bytes(200)) {
        for algorithm in Algorithm::ALL {
            let _ = SigningKey::from_private(*algorithm, &private);
        }
    }

    #[test]
    fn sealing_is_undone_by_opening(plaintext in bytes(500), aad in bytes(50), other in bytes(50)) {
        let sealed = RING.seal_with(Purpose::RefreshToken, &aad, &plaintext).expect("sealed");
        let opened = RING.open_with(Purpose::RefreshToken, &aad, &sealed);
        prop_assert_eq!(opened.as_ref(), Ok(&plaintext));
        prop_assert_eq!(RING.open_with(Purpose::RefreshToken, &other, &sealed).is_ok(), aad == other);
    }

    #[test]
    fn invented_sealed_values_do_not_open(sealed in bytes(100)) {
        prop_assert!(RING.open(Purpose::SessionCookie, &sealed).is_err());
        let with_id = [&RING.current_id()[..], &sealed].concat();
        prop_assert!(RING.open(Purpose::SessionCookie, &with_id).is_err());
        prop_assert!(AeadKey::new(&[1; 32]).open(b"", &sealed).is_err());
    }

    #[test]
    fn pieces_hash_like_the_whole(data in bytes(500), cut in 0..=500_usize) {
        let (a, b) = data.split_at(cut.min(data.len()));
        let mut pieces = Sha256::new();
        pieces.update(a);
        pieces.update(b);
        prop_assert_eq!(pieces.finish(), sha256(&data));
    }

    #[test]
    fn invented_stored_passwords_never_panic(stored in "\\PC{0,80}", tail in "[$a-zA-Z0-9+/,=]{0,60}") {
        prop_assert!(!password::verify(b"p", &stored));
        // Cheap parameters: what can be read is computed.
        let hashed = format!("$argon2id$v=19$m=8,t=1,p=1${tail}");
        prop_assert!(!password::verify(b"p", &hashed));
    }

    #[test]
    fn invented_certificates_never_panic(der in bytes(300)) {
        prop_assert!(ClientCertificate::parse(&der).is_err());
        let _ = PublicKey::from_spki(&der);
    }

    #[test]
    fn issued_certificates_carry_any_common_name(name in "[ -~\u{a1}-\u{2fff}]{1,40}") {
        static CA: LazyLock<DevelopmentCa> = LazyLock::new(|| DevelopmentCa::generate().expect("a CA"));
        let (pem, key) = CA.issue_client(&name).expect("issued");
        prop_assert!(pem.starts_with("-----BEGIN CERTIFICATE-----"));
        prop_assert!(key.expose().starts_with("-----BEGIN PRIVATE KEY-----"));
    }
}

#[test]
fn bytes_after_a_private_key_are_refused() {
    for algorithm in [
        Algorithm::Es256,
        Algorithm::Es384,
        Algorithm::Es512,
        Algorithm::EdDsa,
        Algorithm::Rs256,
    ] {
        let key = SigningKey::generate(algorithm).expect("a key");
        let private: Secret<Vec<u8>> = key.to_private().expect("encoded");
        let longer = [private.expose().as_slice(), &[0]].concat();
        assert!(
            SigningKey::from_private(algorithm, &longer).is_err(),
            "{algorithm:?}"
        );
    }
}
