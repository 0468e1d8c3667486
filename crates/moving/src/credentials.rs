//! What people log in with, in the forms that several servers have.

use serde_json::Value;
use signet_encoding::{base32, base64url};

use crate::moved::App;

/// What is said of a passkey whose export names no relying party.
pub(crate) const NO_HOST: &str = "the export does not say for which host: --rp-id HOST does";

/// Bytes in base64 of either alphabet, padded or not.
pub(crate) fn bytes(text: &str) -> Option<Vec<u8>> {
    let text = text
        .trim_end_matches('=')
        .replace('+', "-")
        .replace('/', "_");
    base64url::decode(text.as_bytes()).ok()
}

/// Bytes in hexadecimal digits.
pub(crate) fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|c| c.to_digit(16)).collect();
    let digits = digits?;
    let pairs = digits.chunks_exact(2);
    let whole = pairs.remainder().is_empty();
    whole.then(|| pairs.map(|pair| (pair[0] << 4 | pair[1]) as u8).collect())
}

/// Bytes in the alphabet of base64 that password hashes have, without padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    base64url::encode(bytes).replace('-', "+").replace('_', "/")
}

/// A member that is bytes, in base64url.
pub(crate) fn in_base64url(value: &Value, member: &str) -> Option<String> {
    Some(base64url::encode(&bytes(value.get(member)?.as_str()?)?))
}

/// An app, or why it cannot be kept. `algorithm`: `SHA1`, or as Java calls it (`HmacSHA1`).
pub(crate) fn app(
    secret: &[u8],
    algorithm: &str,
    digits: u64,
    period: u64,
) -> Result<App, &'static str> {
    let algorithm = match algorithm.strip_prefix("Hmac").unwrap_or(algorithm) {
        "SHA1" => "SHA1",
        "SHA256" => "SHA256",
        "SHA512" => "SHA512",
        _ => return Err("an unknown algorithm"),
    };
    if !(10..=128).contains(&secret.len()) {
        return Err("its secret has less than 10 or more than 128 bytes");
    }
    if !(6..=8).contains(&digits) || !(1..=120).contains(&period) {
        return Err("its digits or its period are out of bounds");
    }
    Ok(App {
        secret: base32::encode(secret),
        algorithm,
        digits: digits as u32,
        period,
        label: String::new(),
        created_at: None,
    })
}

/// An app as most servers make it, of a secret in base32: SHA-1, six digits, thirty seconds.
pub(crate) fn usual_app(secret: &str) -> Result<App, &'static str> {
    // Some write it in groups, or in lower case.
    let plain: String = secret.chars().filter(|c| !c.is_whitespace()).collect();
    let plain = plain.trim_end_matches('=').to_ascii_uppercase();
    let secret = base32::decode(&plain).ok_or("its secret is not base32")?;
    app(&secret, "SHA1", 6, 30)
}
