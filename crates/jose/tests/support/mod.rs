//! The key that tests sign with.

use signet_crypto::{Algorithm, SigningKey};
use signet_encoding::base64url;

/// The Ed25519 key of RFC 8037 appendix A.1.
pub const X: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
pub const D: &str = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A";

pub fn signing_key() -> SigningKey {
    // PKCS#8 of RFC 8410 section 7: a fixed prefix and the seed.
    let mut der = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20".to_vec();
    base64url::decode_into(D.as_bytes(), &mut der).unwrap();
    SigningKey::from_private(Algorithm::EdDsa, &der).unwrap()
}

/// header.payload.signature, whatever header and payload say.
pub fn sign(header: &[u8], payload: &[u8]) -> String {
    sign_with(&signing_key(), header, payload)
}

pub fn sign_with(key: &SigningKey, header: &[u8], payload: &[u8]) -> String {
    let mut token = base64url::encode(header).into_bytes();
    token.push(b'.');
    base64url::encode_into(payload, &mut token);
    let mut signature = Vec::new();
    key.sign_into(&token, &mut signature).unwrap();
    token.push(b'.');
    base64url::encode_into(&signature, &mut token);
    String::from_utf8(token).unwrap()
}
