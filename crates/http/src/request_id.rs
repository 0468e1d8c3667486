//! What one request is called, in the log and in its answer.
use std::fmt;

/// Names one request in the log and in the `x-request-id` response header. 96 random bits,
/// base64url.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RequestId([u8; 16]);

impl RequestId {
    /// A new one.
    pub fn generate() -> RequestId {
        const ALPHABET: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let mut id: [u8; 16] = signet_crypto::random::bytes();
        for byte in &mut id {
            *byte = ALPHABET[usize::from(*byte & 63)];
        }
        RequestId(id)
    }
    /// Its characters, ASCII.
    pub fn bytes(&self) -> [u8; 16] {
        self.0
    }
    /// As text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("-")
    }
}
impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
