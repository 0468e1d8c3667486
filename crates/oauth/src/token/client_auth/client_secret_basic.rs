//! `client_secret_basic`: RFC 6749 section 2.3.1 over RFC 7617.
use super::{Attempt, Proof, WRONG_METHOD, secret};
use crate::params;
use crate::token::decision::SingleUse;
use signet_encoding::base64url;

/// Longest header value that is read, in bytes.
const MAX_HEADER_BYTES: usize = 4096;

pub(super) fn verify(attempt: &Attempt<'_>) -> Result<Option<SingleUse>, &'static str> {
    let Proof::Basic(secret) = attempt.proof else {
        return Err(WRONG_METHOD);
    };
    match secret::matches(
        attempt.context.keyring,
        attempt.client,
        secret,
        attempt.context.now(),
    ) {
        true => Ok(None),
        false => Err("wrong client secret"),
    }
}

/// Identifier and secret of an `Authorization` header; both are form-encoded inside (RFC 6749
/// section 2.3.1 and appendix B).
pub(super) fn parse(header: &str) -> Result<(String, String), &'static str> {
    const MALFORMED: &str = "malformed Basic credentials";
    if header.len() > MAX_HEADER_BYTES {
        return Err(MALFORMED);
    }
    let (scheme, encoded) = header.split_once(' ').ok_or(MALFORMED)?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return Err("not the Basic scheme");
    }
    // RFC 7617 uses the alphabet of RFC 4648 section 4, with padding; the one decoder of the house
    // reads section 5.
    let encoded = encoded.trim_matches(' ');
    if encoded.contains(['-', '_']) {
        return Err(MALFORMED);
    }
    let unpadded: Vec<u8> = encoded
        .trim_end_matches('=')
        .bytes()
        .map(|b| match b {
            b'+' => b'-',
            b'/' => b'_',
            b => b,
        })
        .collect();
    let text = base64url::decode(&unpadded).map_err(|_| MALFORMED)?;
    let colon = text.iter().position(|&b| b == b':').ok_or(MALFORMED)?;
    let field = |bytes: &[u8]| {
        let mut decoded = Vec::with_capacity(bytes.len());
        params::decode(bytes, &mut decoded).map_err(|_| MALFORMED)?;
        String::from_utf8(decoded).map_err(|_| MALFORMED)
    };
    let (client_id, secret) = (field(&text[..colon])?, field(&text[colon + 1..])?);
    match client_id.is_empty() || secret.is_empty() {
        true => Err(MALFORMED),
        false => Ok((client_id, secret)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifier_and_secret_are_form_encoded_inside() {
        // "a%3Ab:s%2B1+2"
        assert_eq!(
            parse("Basic YSUzQWI6cyUyQjErMg=="),
            Ok(("a:b".into(), "s+1 2".into()))
        );
        assert_eq!(
            parse("bAsIc YSUzQWI6cyUyQjErMg=="),
            Ok(("a:b".into(), "s+1 2".into()))
        );
    }

    #[test]
    fn malformed_credentials_are_refused() {
        for bad in [
            "Basic",
            "Basic ",
            "Bearer YTpi",
            "Basic YWI=",
            "Basic !!!!",
            "Basic OmI=",
            "Basic YTo=",
            "Basic JTpi",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
