//! Compact JWS: split, header, signature. Rules: what verifies is exactly what the key signed, in
//! exactly one spelling.

use std::sync::LazyLock;

use signet_crypto::{Algorithm, SigningKey, VerifyingKey};
use signet_encoding::base64url;
use signet_jose::jws;

const MAX: usize = 64 * 1024;

static KEY: LazyLock<(SigningKey, VerifyingKey)> = LazyLock::new(|| {
    let key = SigningKey::from_private(Algorithm::Hs256, &[7; 32]).expect("a long enough secret");
    let verifying = key.verifying_key().expect("its own key");
    (key, verifying)
});

/// The input as a token, as the header of a signed token, and as the payload of one.
pub fn run(data: &[u8]) {
    token(data);
    let header = signed(data, b"{}");
    if let Ok(compact) = jws::split(&header, MAX)
        && let Ok(header) = compact.decode_header()
    {
        // The header was signed: all that may keep it from verifying is another algorithm.
        let verified = compact.verify(&header, &KEY.1);
        assert_eq!(verified.is_ok(), header.alg == Algorithm::Hs256);
    }
    let payload = signed(br#"{"alg":"HS256"}"#, data);
    match jws::split(&payload, MAX) {
        Ok(compact) => {
            let header = compact.decode_header().expect("a fixed header");
            let verified = compact.verify(&header, &KEY.1).expect("signed above");
            assert_eq!(verified, data);
        }
        Err(_) => assert!(payload.len() > MAX),
    }
}

fn token(data: &[u8]) {
    let Ok(compact) = jws::split(data, MAX) else {
        return;
    };
    let Ok(header) = compact.decode_header() else {
        return;
    };
    if let Ok(payload) = compact.unverified_payload() {
        assert_eq!(base64url::encode(&payload).as_bytes(), compact.payload);
    }
    if let Ok(payload) = compact.verify(&header, &KEY.1) {
        let header = base64url::decode(compact.header).expect("decoded before");
        assert_eq!(
            signed(&header, &payload),
            data,
            "a second spelling of a signed token"
        );
    }
}

/// A token of the fixed key.
pub(super) fn signed(header: &[u8], payload: &[u8]) -> Vec<u8> {
    sign_with(&KEY.0, header, payload)
}

/// A token of any key, whatever its header says.
pub(super) fn sign_with(key: &SigningKey, header: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut token = Vec::new();
    base64url::encode_into(header, &mut token);
    token.push(b'.');
    base64url::encode_into(payload, &mut token);
    let mut signature = Vec::new();
    key.sign_into(&token, &mut signature)
        .expect("HMAC and Ed25519 do not fail");
    token.push(b'.');
    base64url::encode_into(&signature, &mut token);
    token
}
