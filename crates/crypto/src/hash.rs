//! SHA-2.

use aws_lc_rs::digest;

/// The hashes that JOSE algorithms name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HashAlgorithm {
    /// SHA-256, 32 bytes.
    Sha256,
    /// SHA-384, 48 bytes.
    Sha384,
    /// SHA-512, 64 bytes.
    Sha512,
}

impl HashAlgorithm {
    /// The digest of `data`.
    pub fn digest(self, data: &[u8]) -> Digest {
        let algorithm = match self {
            HashAlgorithm::Sha256 => &digest::SHA256,
            HashAlgorithm::Sha384 => &digest::SHA384,
            HashAlgorithm::Sha512 => &digest::SHA512,
        };
        let digest = digest::digest(algorithm, data);
        let mut bytes = [0; 64];
        let len = self.len();
        bytes[..len].copy_from_slice(digest.as_ref());
        Digest { bytes, len }
    }

    /// Length of the digest in bytes.
    #[expect(clippy::len_without_is_empty, reason = "a digest length is never zero")]
    pub const fn len(self) -> usize {
        match self {
            HashAlgorithm::Sha256 => 32,
            HashAlgorithm::Sha384 => 48,
            HashAlgorithm::Sha512 => 64,
        }
    }
}

/// A digest of any of the three, on the stack.
#[derive(Clone, Copy)]
pub struct Digest {
    bytes: [u8; 64],
    len: usize,
}

impl AsRef<[u8]> for Digest {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// SHA-256 of `data`.
pub fn sha256(data: &[u8]) -> [u8; 32] {
    fixed(&digest::digest(&digest::SHA256, data))
}

/// SHA-512 of `data`.
pub fn sha512(data: &[u8]) -> [u8; 64] {
    fixed(&digest::digest(&digest::SHA512, data))
}

/// SHA-256 of data that comes in pieces.
#[derive(Clone)]
pub struct Sha256(digest::Context);

impl Sha256 {
    /// Nothing hashed yet.
    pub fn new() -> Self {
        Sha256(digest::Context::new(&digest::SHA256))
    }

    /// Hashes a further piece.
    pub fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    /// The digest of all pieces together.
    pub fn finish(self) -> [u8; 32] {
        fixed(&self.0.finish())
    }
}

impl Default for Sha256 {
    fn default() -> Self {
        Self::new()
    }
}

/// Both lengths are fixed by the algorithm that the caller names, so they agree.
fn fixed<const N: usize>(digest: &digest::Digest) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(digest.as_ref());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|b| format!("{b:02x}")).collect()
    }

    #[test]
    fn fips_180_examples_of_abc() {
        assert_eq!(
            hex(&sha256(b"abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(
            hex(HashAlgorithm::Sha384.digest(b"abc").as_ref()),
            "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"
        );
        assert_eq!(
            hex(&sha512(b"abc")),
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        );
    }

    #[test]
    fn pieces_hash_like_the_whole() {
        let mut pieces = Sha256::new();
        pieces.update(b"a");
        pieces.update(b"");
        pieces.update(b"bc");
        assert_eq!(pieces.finish(), sha256(b"abc"));
    }
}
