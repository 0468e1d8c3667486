//! The header that nearly every token has: one object of `alg`, `kid`, `typ` and `cty`, each at
//! most once, without white space and escapes. Read in one pass, so that a flood of junk costs
//! little. Everything else, right or wrong, is left to the general reader, which gives the same
//! answer to what is read here (`tests/header_forms.rs` compares them).

use super::{HeaderRef, JwsError, MAX_TYPE_BYTES};
use crate::jwk::MAX_KID_BYTES;
use signet_crypto::Algorithm;
use signet_encoding::json::plain_prefix;
use std::borrow::Cow;

/// None: not of this form.
pub(super) fn read(text: &[u8]) -> Option<Result<HeaderRef<'_>, JwsError>> {
    let mut rest = text.strip_prefix(b"{")?;
    let mut values: [Option<&str>; 4] = [None; 4];
    loop {
        let (name, value) = rest.split_first_chunk::<7>()?;
        let member = match name {
            br#""alg":""# => 0,
            br#""kid":""# => 1,
            br#""typ":""# => 2,
            br#""cty":""# => 3,
            _ => return None,
        };
        let length = plain_prefix(value);
        let (value, behind) = value.split_at(length);
        let (closing, behind) = behind.split_first_chunk::<2>()?;
        if values[member].is_some() {
            return None;
        }
        values[member] = Some(std::str::from_utf8(value).ok()?);
        rest = behind;
        match closing {
            b"\"," => {}
            b"\"}" if rest.is_empty() => break,
            _ => return None,
        }
    }
    let [alg, kid, typ, cty] = values;
    // What is beyond a bound, or has no `alg`, has an error of its own, which depends on the order
    // of the members.
    let fits = |value: Option<&str>, max| value.is_none_or(|value| value.len() <= max);
    if !fits(kid, MAX_KID_BYTES) || !fits(typ, MAX_TYPE_BYTES) || !fits(cty, MAX_TYPE_BYTES) {
        return None;
    }
    let alg = Algorithm::from_name(alg?).ok_or(JwsError::Algorithm);
    Some(alg.map(|alg| HeaderRef {
        alg,
        kid: kid.map(Cow::Borrowed),
        typ: typ.map(Cow::Borrowed),
        cty: cty.map(Cow::Borrowed),
    }))
}
