//! JWS compact serialization (RFC 7515 section 7.1), read without trust.
//!
//! The order is fixed: [`split`] (no allocation), [`Compact::decode_header`] (what the sender
//! says), a key from the caller's own configuration, [`Compact::verify`]. The key decides the
//! algorithm; the header must agree with it. Keys and addresses of keys inside a token (`jwk`,
//! `jku`, `x5u`, `x5c`) are passed over: nothing here hands them out, so nothing can trust them.
//! The one exception, a DPoP proof's `jwk`, stays inside [`crate::dpop`].
//!
//! Extensions are refused rather than ignored (known fault V5): any `crit`, `b64` (RFC 7797) and
//! `zip`.

mod flat;

use crate::jwk::{Jwk, JwkError, MAX_KID_BYTES};
use signet_crypto::{Algorithm, VerifyingKey};
use signet_encoding::base64url;
use signet_encoding::json::{JsonError, Limits, Reader};
use std::borrow::Cow;

/// Bounds of a decoded protected header. An ML-DSA-87 `jwk` or a certificate chain fits.
const HEADER_LIMITS: Limits = Limits {
    bytes: 16 * 1024,
    depth: 8,
    members: 128,
};
/// Longest `typ` and `cty` that are read, in bytes.
const MAX_TYPE_BYTES: usize = 128;

/// The three parts of a compact serialization, borrowed and still encoded.
#[derive(Clone, Copy, Debug)]
pub struct Compact<'a> {
    /// protected header, base64url
    pub header: &'a [u8],
    /// payload, base64url; may be empty
    pub payload: &'a [u8],
    /// signature, base64url
    pub signature: &'a [u8],
    /// header, dot, payload: what was signed
    pub signing_input: &'a [u8],
}

/// Splits a token at its two dots. The parts are decoded, and so checked, by whoever reads them.
///
/// An empty header or signature is malformed (an unsecured JWS, RFC 7515 appendix A.5, has no
/// signature); so is any other number of parts, and JSON serialization.
pub fn split(token: &[u8], max_bytes: usize) -> Result<Compact<'_>, JwsError> {
    if token.len() > max_bytes {
        return Err(JwsError::TooLarge);
    }
    let dot = |from: usize| position_of_dot(&token[from..]).map(|at| from + at);
    let first = dot(0).ok_or(JwsError::Malformed)?;
    let second = dot(first + 1).ok_or(JwsError::Malformed)?;
    if first == 0 || second + 1 == token.len() || dot(second + 1).is_some() {
        return Err(JwsError::Malformed);
    }
    Ok(Compact {
        header: &token[..first],
        payload: &token[first + 1..second],
        signature: &token[second + 1..],
        signing_input: &token[..second],
    })
}

/// A block at a time, which the compiler turns into vector comparisons: an ML-DSA signature has
/// 6000 characters.
fn position_of_dot(text: &[u8]) -> Option<usize> {
    let (blocks, _) = text.as_chunks::<32>();
    let has_dot = |block: &[u8; 32]| {
        block
            .iter()
            .fold(false, |found, byte| found | (*byte == b'.'))
    };
    let start = 32 * blocks.iter().position(has_dot).unwrap_or(blocks.len());
    text[start..]
        .iter()
        .position(|byte| *byte == b'.')
        .map(|at| start + at)
}

/// The protected header members that decide anything. They are the sender's word until the
/// signature holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// must be the key's own
    pub alg: Algorithm,
    /// which key, the sender says
    pub kid: Option<String>,
    /// what kind of token; compare with [`typ_is`]
    pub typ: Option<String>,
    /// what kind of payload
    pub cty: Option<String>,
}

/// As [`Header`], borrowed from a [`HeaderBuffer`] wherever the text holds no escape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderRef<'b> {
    /// must be the key's own
    pub alg: Algorithm,
    /// which key, the sender says
    pub kid: Option<Cow<'b, str>>,
    /// what kind of token; compare with [`typ_is`]
    pub typ: Option<Cow<'b, str>>,
    /// what kind of payload
    pub cty: Option<Cow<'b, str>>,
}

impl HeaderRef<'_> {
    fn into_owned(self) -> Header {
        Header {
            alg: self.alg,
            kid: self.kid.map(Cow::into_owned),
            typ: self.typ.map(Cow::into_owned),
            cty: self.cty.map(Cow::into_owned),
        }
    }
}

/// Most bytes of a decoded header that need no allocation: all but those with keys or certificate
/// chains inside.
const SMALL_HEADER: usize = 512;
/// Most bytes of a signature that need no allocation: RSA up to 4096 bits.
const SMALL_SIGNATURE: usize = 512;

/// Where a header is decoded to. Meant for the stack.
pub struct HeaderBuffer {
    small: [u8; SMALL_HEADER],
    large: Vec<u8>,
}

impl HeaderBuffer {
    /// Empty.
    pub const fn new() -> HeaderBuffer {
        HeaderBuffer {
            small: [0; SMALL_HEADER],
            large: Vec::new(),
        }
    }
}

impl Default for HeaderBuffer {
    fn default() -> Self {
        HeaderBuffer::new()
    }
}

/// Where a signature is decoded to. Meant for the stack.
pub struct SignatureBuffer {
    small: [u8; SMALL_SIGNATURE],
    large: Vec<u8>,
}

impl SignatureBuffer {
    /// Empty.
    pub const fn new() -> SignatureBuffer {
        SignatureBuffer {
            small: [0; SMALL_SIGNATURE],
            large: Vec::new(),
        }
    }
}

impl Default for SignatureBuffer {
    fn default() -> Self {
        SignatureBuffer::new()
    }
}

impl Compact<'_> {
    /// Reads the protected header.
    pub fn decode_header(&self) -> Result<Header, JwsError> {
        let mut buffer = HeaderBuffer::new();
        self.decode_header_in(&mut buffer)
            .map(HeaderRef::into_owned)
    }

    /// As [`Compact::decode_header`], without allocating where the header is an ordinary one.
    pub fn decode_header_in<'b>(
        &self,
        buffer: &'b mut HeaderBuffer,
    ) -> Result<HeaderRef<'b>, JwsError> {
        self.read_header(buffer, false).map(|(header, _)| header)
    }

    /// As [`Compact::decode_header`], with the embedded key. Only for proofs of possession of that
    /// very key.
    pub(crate) fn decode_header_with_jwk(
        &self,
    ) -> Result<(Header, Option<Result<Jwk, JwkError>>), JwsError> {
        let mut buffer = HeaderBuffer::new();
        let (header, jwk) = self.read_header(&mut buffer, true)?;
        Ok((header.into_owned(), jwk))
    }

    fn read_header<'b>(
        &self,
        buffer: &'b mut HeaderBuffer,
        with_jwk: bool,
    ) -> Result<(HeaderRef<'b>, Option<Result<Jwk, JwkError>>), JwsError> {
        let text = if base64url::decoded_len(self.header.len()) <= Some(SMALL_HEADER) {
            base64url::decode_in(self.header, &mut buffer.small).map_err(|_| JwsError::Malformed)?
        } else if self.header.len() > base64url::encoded_len(HEADER_LIMITS.bytes) {
            return Err(JwsError::TooLarge);
        } else {
            buffer.large.clear();
            base64url::decode_into(self.header, &mut buffer.large)
                .map_err(|_| JwsError::Malformed)?;
            &buffer.large
        };
        if let Some(header) = flat::read(text) {
            return header.map(|header| (header, None));
        }
        let mut reader = Reader::new(text, &HEADER_LIMITS)?;
        let (mut alg, mut kid, mut typ, mut cty, mut jwk) = (None, None, None, None, None);
        reader.object(|r, name| -> Result<(), JwsError> {
            match &*name {
                // Not a registered asymmetric or HMAC algorithm, `none` (RFC 8725 section 3.1) in
                // any spelling: refused.
                "alg" => alg = Some(Algorithm::from_name(&r.string()?).ok_or(JwsError::Algorithm)?),
                "kid" => kid = Some(bounded(r, MAX_KID_BYTES)?),
                "typ" => typ = Some(bounded(r, MAX_TYPE_BYTES)?),
                "cty" => cty = Some(bounded(r, MAX_TYPE_BYTES)?),
                // RFC 7515 section 4.1.11: what is critical must be understood, and Signet
                // understands no extension.
                "crit" => return Err(JwsError::Critical),
                // RFC 7797 changes what is signed, and requires `crit`; RFC 7516 section 4.1.3 is
                // for encryption.
                "b64" | "zip" => return Err(JwsError::Extension),
                "jwk" if with_jwk => {
                    let value = r.value()?;
                    let object = value.as_object().ok_or(JwsError::Malformed)?;
                    jwk = Some(Jwk::from_value(object));
                }
                _ => {}
            }
            Ok(())
        })?;
        reader.finish()?;
        let alg = alg.ok_or(JwsError::Malformed)?;
        Ok((HeaderRef { alg, kid, typ, cty }, jwk))
    }

    /// Verifies under a key whose algorithm must equal the header's; gives the decoded payload.
    pub fn verify(&self, header: &Header, key: &VerifyingKey) -> Result<Vec<u8>, JwsError> {
        // RFC 8725 section 3.1: the algorithm is the key's, never the token's.
        if header.alg != key.algorithm() {
            return Err(JwsError::KeyMismatch);
        }
        self.verify_signature(key)?;
        self.unverified_payload()
    }

    /// Verifies the signature alone, for a caller that knows the header already (it compared the
    /// encoded header with the one that its own signer writes, [`crate::jwt::JwtSigner::header`]).
    pub fn verify_signature(&self, key: &VerifyingKey) -> Result<(), JwsError> {
        let mut buffer = SignatureBuffer::new();
        let signature = self.decode_signature_in(&mut buffer)?;
        self.verify_decoded(signature, key)
    }

    /// Decodes the signature, without allocating unless it is longer than that of a 4096-bit RSA
    /// key. That it is canonical base64url can be known before anything costly is done.
    pub fn decode_signature_in<'b>(
        &self,
        buffer: &'b mut SignatureBuffer,
    ) -> Result<&'b [u8], JwsError> {
        if base64url::decoded_len(self.signature.len()) <= Some(SMALL_SIGNATURE) {
            return base64url::decode_in(self.signature, &mut buffer.small)
                .map_err(|_| JwsError::Malformed);
        }
        buffer.large.clear();
        base64url::decode_into(self.signature, &mut buffer.large)
            .map_err(|_| JwsError::Malformed)?;
        Ok(&buffer.large)
    }

    /// Verifies a signature that [`Compact::decode_signature_in`] gave.
    pub fn verify_decoded(&self, signature: &[u8], key: &VerifyingKey) -> Result<(), JwsError> {
        key.verify(self.signing_input, signature)
            .map_err(|_| JwsError::Signature)
    }

    /// The payload without believing it (`token inspect`, choosing an issuer), or after
    /// [`Compact::verify_signature`].
    pub fn unverified_payload(&self) -> Result<Vec<u8>, JwsError> {
        base64url::decode(self.payload).map_err(|_| JwsError::Malformed)
    }
}

fn bounded<'b>(reader: &mut Reader<'b>, max: usize) -> Result<Cow<'b, str>, JwsError> {
    let value = reader.string()?;
    match value.len() <= max {
        true => Ok(value),
        false => Err(JwsError::TooLarge),
    }
}

/// Whether `typ` names the media type `expected`: case-insensitive, `application/` optional where
/// no other slash stands (RFC 7515 section 4.1.9). An absent `typ` is no type.
pub fn typ_is(typ: Option<&str>, expected: &str) -> bool {
    fn short(name: &str) -> &str {
        const PREFIX: &str = "application/";
        match name.split_at_checked(PREFIX.len()) {
            Some((prefix, rest)) if prefix.eq_ignore_ascii_case(PREFIX) && !rest.contains('/') => {
                rest
            }
            _ => name,
        }
    }
    typ.is_some_and(|typ| typ == expected || short(typ).eq_ignore_ascii_case(short(expected)))
}

/// Why a token was refused. The fault is the sender's; the peer learns no more than that the token
/// is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JwsError {
    /// not a compact JWS: parts, base64url or header JSON
    #[error("malformed token")]
    Malformed,
    /// longer than a bound
    #[error("the token is too large")]
    TooLarge,
    /// `alg` is unknown, or `none`
    #[error("unsupported algorithm")]
    Algorithm,
    /// a `crit` header, whatever it holds
    #[error("unknown critical header")]
    Critical,
    /// `b64` or `zip`
    #[error("unsupported header extension")]
    Extension,
    /// the header names another algorithm than the key has
    #[error("the algorithm is not the key's")]
    KeyMismatch,
    /// the signature does not hold
    #[error("the signature is not valid")]
    Signature,
}

impl From<JsonError> for JwsError {
    fn from(error: JsonError) -> Self {
        match error {
            JsonError::Limit => JwsError::TooLarge,
            _ => JwsError::Malformed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(json: &str) -> Result<Header, JwsError> {
        let token = format!("{}.e30.AA", base64url::encode(json.as_bytes()));
        split(token.as_bytes(), 4096).and_then(|compact| compact.decode_header())
    }

    #[test]
    fn a_token_has_exactly_three_parts_and_its_ends_are_not_empty() {
        for token in [
            "",
            ".",
            "..",
            "a.b",
            "a.b.",
            ".b.c",
            "a..",
            "a.b.c.",
            ".a.b.c",
            "a.b.c.d",
            "a.b.c.d.e",
            "{}",
        ] {
            assert_eq!(
                split(token.as_bytes(), 100).err(),
                Some(JwsError::Malformed),
                "{token}"
            );
        }
        let compact = split(b"aa.bb.cc", 8).unwrap();
        assert_eq!(
            (compact.header, compact.payload, compact.signature),
            (&b"aa"[..], &b"bb"[..], &b"cc"[..])
        );
        assert_eq!(compact.signing_input, b"aa.bb");
        assert!(
            split(b"aa..cc", 8).is_ok(),
            "RFC 7515 allows an empty payload"
        );
        assert_eq!(split(b"aa.bb.cc", 7).err(), Some(JwsError::TooLarge));
    }

    #[test]
    fn crit_is_refused_whatever_it_holds() {
        for crit in [
            "[]",
            "[\"exp\"]",
            "[\"b64\"]",
            "[\"alg\"]",
            "[\"x\",\"x\"]",
            "\"exp\"",
            "null",
            "{}",
            "[1]",
        ] {
            assert_eq!(
                header(&format!(r#"{{"alg":"ES256","crit":{crit},"exp":1}}"#)),
                Err(JwsError::Critical),
                "{crit}"
            );
        }
        assert_eq!(
            header(r#"{"alg":"ES256","\u0063rit":[]}"#),
            Err(JwsError::Critical),
            "an escape hides nothing"
        );
    }

    #[test]
    fn b64_and_zip_are_refused() {
        for member in [r#""b64":false"#, r#""b64":true"#, r#""zip":"DEF""#] {
            assert_eq!(
                header(&format!(r#"{{"alg":"ES256",{member}}}"#)),
                Err(JwsError::Extension),
                "{member}"
            );
        }
    }

    #[test]
    fn alg_is_a_registered_name_and_never_none() {
        for alg in [
            "none", "None", "NONE", "nOnE", "", "es256", "ES256K", "HS1", "RSA-OAEP", "ES256 ",
        ] {
            assert_eq!(
                header(&format!(r#"{{"alg":"{alg}"}}"#)),
                Err(JwsError::Algorithm),
                "{alg}"
            );
        }
        for json in [
            r#"{}"#,
            r#"{"alg":1}"#,
            r#"{"alg":["ES256"]}"#,
            r#"{"alg":null}"#,
            r#"{"alg":"ES256","alg":"ES256"}"#,
        ] {
            assert_eq!(header(json), Err(JwsError::Malformed), "{json}");
        }
        assert_eq!(
            header(r#"{"\u0061lg":"ES\u003256"}"#).map(|header| header.alg),
            Ok(Algorithm::Es256)
        );
    }

    #[test]
    fn header_members_have_their_types() {
        for json in [
            r#"{"alg":"ES256","kid":1}"#,
            r#"{"alg":"ES256","typ":null}"#,
            r#"{"alg":"ES256","cty":[]}"#,
            r#"["alg"]"#,
            r#""ES256""#,
            r#"{"alg":"ES256""#,
            r#"{"alg":"ES256"}{}"#,
            "\u{feff}{\"alg\":\"ES256\"}",
        ] {
            assert_eq!(header(json), Err(JwsError::Malformed), "{json}");
        }
    }

    #[test]
    fn unknown_members_embedded_keys_and_white_space_are_passed_over() {
        let json = "\r\n{ \"jku\":\"https://evil.example\", \"jwk\":{\"kty\":\"oct\",\"k\":\"AA\"}, \"x5c\":[1], \"x\":{\"y\":[]},\t\"alg\":\"ES256\",\
                    \"kid\":\"a/b=\u{e9} c\", \"typ\":\"at+jwt\" }\n";
        assert_eq!(
            header(json),
            Ok(Header {
                alg: Algorithm::Es256,
                kid: Some("a/b=\u{e9} c".into()),
                typ: Some("at+jwt".into()),
                cty: None
            })
        );
    }

    #[test]
    fn a_kid_is_bounded() {
        let kid = "k".repeat(MAX_KID_BYTES);
        assert!(header(&format!(r#"{{"alg":"ES256","kid":"{kid}"}}"#)).is_ok());
        assert_eq!(
            header(&format!(r#"{{"alg":"ES256","kid":"{kid}k"}}"#)),
            Err(JwsError::TooLarge)
        );
    }

    #[test]
    fn typ_is_compared_as_a_media_type() {
        for typ in [
            "at+jwt",
            "AT+JWT",
            "application/at+jwt",
            "Application/At+Jwt",
        ] {
            assert!(typ_is(Some(typ), "at+jwt"), "{typ}");
            assert!(typ_is(Some(typ), "application/at+jwt"), "{typ}");
        }
        for typ in [
            "JWT",
            "",
            "at+jwt ",
            "x/at+jwt",
            "application/application/at+jwt",
            "application/",
            "at+jwt;v=1",
            "\u{212a}",
        ] {
            assert!(!typ_is(Some(typ), "at+jwt"), "{typ}");
        }
        assert!(
            !typ_is(None, "at+jwt"),
            "known fault V10: no type has no default"
        );
    }
}
