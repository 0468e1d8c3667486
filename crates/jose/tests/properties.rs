//! What holds for every input, tried on many.

use proptest::collection::vec;
use proptest::prelude::*;
use signet_crypto::Algorithm;
use signet_jose::dpop;
use signet_jose::jwk::{Jwk, JwkSet};
use signet_jose::jws::{Compact, Header, JwsError, split};
use signet_jose::jwt::Claims;

/// A signed token, its header and its key.
fn signed(payload: &[u8]) -> (String, signet_crypto::VerifyingKey) {
    let key = crate::support::signing_key();
    let token = crate::support::sign(br#"{"typ":"at+jwt","alg":"EdDSA","kid":"k1"}"#, payload);
    (token, key.verifying_key().unwrap())
}

fn verified(
    token: &[u8],
    key: &signet_crypto::VerifyingKey,
) -> Result<(Header, Vec<u8>), JwsError> {
    let compact: Compact<'_> = split(token, 4096)?;
    let header = compact.decode_header()?;
    let payload = compact.verify(&header, key)?;
    Ok((header, payload))
}

proptest! {
    #[test]
    fn no_other_text_than_the_signed_one_is_accepted(
        at in any::<prop::sample::Index>(), byte in any::<u8>(), how in 0..4u8,
    ) {
        let (token, key) = signed(br#"{"sub":"alice"}"#);
        prop_assert!(verified(token.as_bytes(), &key).is_ok());
        let mut changed = token.clone().into_bytes();
        match how {
            0 => { let at = at.index(changed.len()); changed[at] = byte }
            1 => { let at = at.index(changed.len() + 1); changed.insert(at, byte) }
            2 => { let at = at.index(changed.len()); changed.remove(at); }
            _ => { let at = at.index(changed.len()); changed.truncate(at) }
        }
        if changed != token.as_bytes() {
            prop_assert!(verified(&changed, &key).is_err(), "{}", String::from_utf8_lossy(&changed));
        }
    }

    #[test]
    fn any_payload_round_trips_through_a_signature(payload in vec(any::<u8>(), 0..300)) {
        let (token, key) = signed(&payload);
        let (header, read) = verified(token.as_bytes(), &key).unwrap();
        prop_assert_eq!(read, payload);
        prop_assert_eq!(header.alg, Algorithm::EdDsa);
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in vec(any::<u8>(), 0..300)) {
        let _ = split(&bytes, 200).map(|compact| compact.decode_header());
        let _ = Claims::parse(&bytes);
        let _ = Jwk::parse(&bytes);
        let _ = JwkSet::parse(&bytes);
        let text = String::from_utf8_lossy(&bytes);
        let _ = dpop::verify(&text, "POST", &text, 0, 0, 0);
    }

    #[test]
    fn no_jwk_shaped_document_makes_a_reader_panic(
        kty in "EC|OKP|RSA|AKP|oct|x", crv in "P-256|P-384|P-521|Ed25519|x", alg in "ES256|EdDSA|RS256|ML-DSA-44|HS256",
        x in "[A-Za-z0-9_-]{0,90}", y in "[A-Za-z0-9_-]{43}",
    ) {
        let json = format!(
            r#"{{"kty":"{kty}","crv":"{crv}","alg":"{alg}","x":"{x}","y":"{y}","n":"{x}","e":"AQAB","pub":"{x}"}}"#
        );
        if let Ok(jwk) = Jwk::parse(json.as_bytes()) {
            for alg in Algorithm::ALL {
                let _ = jwk.verifying_key(*alg);
            }
            let mut text = Vec::new();
            jwk.write(&mut signet_encoding::json::Writer::new(&mut text));
            prop_assert_eq!(Jwk::parse(&text).unwrap(), jwk);
        }
    }

    #[test]
    fn no_url_makes_the_comparison_panic(
        url in "https?://[a-z0-9:@\\[\\].-]{0,12}(/[a-z%0-9A-F.]{0,5}){0,5}[?#]?[a-z]{0,3}",
    ) {
        let (jwk, key) = (signed(b"{}").1, crate::support::signing_key());
        drop(jwk);
        let x = crate::support::X;
        let header = format!(r#"{{"typ":"dpop+jwt","alg":"EdDSA","jwk":{{"kty":"OKP","crv":"Ed25519","x":"{x}"}}}}"#);
        let payload = format!(r#"{{"jti":"j","htm":"GET","htu":"{url}","iat":5}}"#);
        let proof = crate::support::sign_with(&key, header.as_bytes(), payload.as_bytes());
        match dpop::verify(&proof, "GET", &url, 5, 10, 0) {
            Ok(_) => {
                // Equality is symmetric in its spelling: an upper-case scheme and host change
                // nothing.
                let (scheme, rest) = url.split_once("://").unwrap();
                let loud = format!("{}://{rest}", scheme.to_uppercase());
                prop_assert!(dpop::verify(&proof, "GET", &loud, 5, 10, 0).is_ok());
            }
            Err(error) => prop_assert_eq!(error, dpop::DpopError::Url),
        }
    }
}
