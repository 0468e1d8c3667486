//! HKDF-SHA256 (RFC 5869), and scrypt (RFC 7914) for formats that prescribe it.

use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Prk, Salt};
use zeroize::Zeroize;

use crate::Secret;

/// Extracts from `input` under `salt` and expands with `info` to `N` bytes (RFC 5869 sections 2.2
/// and 2.3).
///
/// `N` is at most 8,160 (255 hashes); more does not compile.
pub fn hkdf_sha256<const N: usize>(salt: &[u8], input: &[u8], info: &[u8]) -> Secret<[u8; N]>
where
    [u8; N]: Zeroize,
{
    Extracted::new(salt, input).expand(&[info])
}

/// scrypt (RFC 7914) to 32 bytes, with blocks of 8 and one lane, for files that say so. It takes
/// 2 to the power of `log_n` kibibytes of memory. Passwords of accounts are hashed by
/// [`crate::password`].
///
/// # Errors
/// Where this machine has no such number.
pub fn scrypt_key(
    passphrase: &[u8],
    salt: &[u8],
    log_n: u8,
) -> Result<Secret<[u8; 32]>, TooMuchWork> {
    let params = scrypt::Params::new(log_n, 8, 1).map_err(|_| TooMuchWork)?;
    let mut out = [0; 32];
    scrypt::scrypt(passphrase, salt, &params, &mut out).map_err(|_| TooMuchWork)?;
    let secret = Secret::new(out);
    out.zeroize();
    Ok(secret)
}

/// More work was asked for than can be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("more work is asked for than can be done")]
pub struct TooMuchWork;

/// The extracted half, kept: each further key then costs one expansion.
pub(crate) struct Extracted(Prk);

impl Extracted {
    pub(crate) fn new(salt: &[u8], input: &[u8]) -> Self {
        Extracted(Salt::new(HKDF_SHA256, salt).extract(input))
    }

    /// The pieces of `info` are concatenated without separators: callers keep them unambiguous.
    pub(crate) fn expand<const N: usize>(&self, info: &[&[u8]]) -> Secret<[u8; N]>
    where
        [u8; N]: Zeroize,
    {
        const { assert!(N <= 255 * 32, "RFC 5869 section 2.3: at most 255 blocks") };
        let mut out = [0; N];
        self.0
            .expand(info, Length(N))
            .and_then(|okm| okm.fill(&mut out))
            // Expansion fails for too long an output only, which the assertion above excludes.
            .expect("HKDF output length is within RFC 5869's bound");
        let secret = Secret::new(out);
        out.zeroize();
        secret
    }
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        (0..text.len() / 2)
            .map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("hex"))
            .collect()
    }

    /// The third vector of RFC 7914 section 12, of which our key is the first half: PBKDF2's last
    /// step gives the same bytes, however many are asked for.
    #[test]
    fn scrypt_is_repeatable_and_depends_on_everything() {
        let key = |passphrase: &[u8], salt: &[u8], log_n| {
            *scrypt_key(passphrase, salt, log_n).expect("a key").expose()
        };
        let one = key(b"pleaseletmein", b"SodiumChloride", 14);
        assert_eq!(
            one.as_slice(),
            hex("7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2")
        );
        assert_ne!(one, key(b"pleaseletmeim", b"SodiumChloride", 14));
        assert_ne!(one, key(b"pleaseletmein", b"SodiumChlorida", 14));
        assert_ne!(one, key(b"pleaseletmein", b"SodiumChloride", 13));
        assert!(scrypt_key(b"", b"", 64).is_err());
    }

    #[test]
    fn rfc_5869_appendix_a_1() {
        let okm = hkdf_sha256::<42>(
            &hex("000102030405060708090a0b0c"),
            &[0x0b; 22],
            &hex("f0f1f2f3f4f5f6f7f8f9"),
        );
        assert_eq!(
            okm.expose().as_slice(),
            hex(
                "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
            )
        );
    }

    #[test]
    fn rfc_5869_appendix_a_2_long_inputs() {
        let bytes = |range: std::ops::RangeInclusive<u8>| range.collect::<Vec<u8>>();
        let okm = hkdf_sha256::<82>(
            &bytes(0x60..=0xaf),
            &bytes(0x00..=0x4f),
            &bytes(0xb0..=0xff),
        );
        assert_eq!(
            okm.expose().as_slice(),
            hex(
                "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"
            )
        );
    }

    #[test]
    fn rfc_5869_appendix_a_3_no_salt_and_info() {
        let okm = hkdf_sha256::<42>(b"", &[0x0b; 22], b"");
        assert_eq!(
            okm.expose().as_slice(),
            hex(
                "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
            )
        );
    }
}
