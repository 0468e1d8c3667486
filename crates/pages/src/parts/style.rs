//! The pages' style sheet, and the hashes that a page's policy names.

use std::sync::LazyLock;

use signet_crypto::hash::sha256;
use signet_encoding::base64url;

/// Newlines are cut, so that the page carries little; the hash is of the text as it is sent.
pub(crate) static STYLE: LazyLock<String> =
    LazyLock::new(|| include_str!("style.css").replace('\n', ""));

/// Base64 with its own alphabet and padding, as Content Security Policy compares it.
pub(crate) fn csp_hash(text: &[u8]) -> String {
    let mut hash = base64url::encode(&sha256(text))
        .replace('-', "+")
        .replace('_', "/");
    // 32 bytes are 43 characters, and one of padding.
    hash.push('=');
    hash
}
