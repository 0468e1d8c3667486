//! What holds for every input, tried on many.

use proptest::collection::vec;
use proptest::prelude::*;
use signet_crypto::Algorithm;
use signet_jose::json::{JsonError, Limits, Number, Object, Reader, Value, parse};
use signet_jose::jwk::{Jwk, JwkSet};
use signet_jose::jws::{Compact, Header, JwsError, split};
use signet_jose::jwt::Claims;
use signet_jose::{base64url, dpop};

const WIDE: Limits = Limits {
    bytes: 1 << 20,
    depth: 64,
    members: 100_000,
};

fn values() -> impl Strategy<Value = Value<'static>> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..8).prop_map(Value::Array),
            vec((any::<String>(), inner), 0..24).prop_map(|members| {
                let mut object = Object::new();
                for (name, value) in members {
                    object.insert(name, value);
                }
                Value::Object(object)
            }),
        ]
    })
}

fn serde(value: &Value<'_>) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => serde_number(number),
        Value::String(value) => (&**value).into(),
        Value::Array(elements) => elements.iter().map(serde).collect(),
        Value::Object(object) => {
            let members = object
                .iter()
                .map(|(name, value)| (name.to_owned(), serde(value)));
            serde_json::Value::Object(members.collect())
        }
    }
}

fn serde_number(number: &Number<'_>) -> serde_json::Value {
    match (
        number.as_str(),
        number.as_u64(),
        number.as_i64(),
        number.as_f64(),
    ) {
        ("-0", ..) => (-0.0).into(),
        (_, Some(value), ..) => value.into(),
        (_, None, Some(value), _) => value.into(),
        (.., Some(value)) => value.into(),
        _ => serde_json::Value::Null,
    }
}

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
    fn base64url_round_trips(data in vec(any::<u8>(), 0..200)) {
        let text = base64url::encode(&data);
        prop_assert_eq!(text.len(), base64url::encoded_len(data.len()));
        prop_assert_eq!(base64url::decode(text.as_bytes()).unwrap(), data);
    }

    #[test]
    fn what_base64url_decodes_is_the_encoding_of_the_result(text in "[A-Za-z0-9_=+/ -]{0,24}") {
        if let Ok(data) = base64url::decode(text.as_bytes()) {
            prop_assert_eq!(base64url::encode(&data), text);
        }
    }

    #[test]
    fn written_json_is_read_back_the_same(value in values()) {
        let mut text = Vec::new();
        value.write(&mut text);
        prop_assert_eq!(&parse(&text, &WIDE).unwrap(), &value);
        let other: serde_json::Value = serde_json::from_slice(&text).unwrap();
        prop_assert_eq!(other, serde(&value));
        // Skipping, reading raw and reading agree about where a value ends.
        let mut reader = Reader::new(&text, &WIDE).unwrap();
        prop_assert_eq!(reader.raw().unwrap().as_bytes(), &*text);
        reader.finish().unwrap();
    }

    #[test]
    fn another_parser_reads_alike_what_is_accepted(
        value in values(), at in any::<prop::sample::Index>(), with in "[\\[\\]{}:,\"\\\\u0-9a-f.eE+ntd -]{0,3}", cut in 0..4usize,
    ) {
        let mut text = Vec::new();
        value.write(&mut text);
        let at = at.index(text.len() + 1);
        let end = (at + cut).min(text.len());
        text.splice(at..end, with.bytes());
        let ours = parse(&text, &WIDE);
        let theirs = serde_json::from_slice::<serde_json::Value>(&text);
        match (ours, theirs) {
            (Ok(ours), Ok(theirs)) => prop_assert_eq!(serde(&ours), theirs),
            // What is stricter here: duplicates and bounds, those of numbers among them.
            (Err(error), Ok(_)) => prop_assert!(matches!(error, JsonError::Duplicate | JsonError::Limit), "{:?}", error),
            (Ok(_), Err(error)) => prop_assert!(error.to_string().contains("out of range"), "{}", error),
            (Err(_), Err(_)) => {}
        }
    }

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
        let _ = parse(&bytes, &Limits::default());
        let _ = Claims::parse(&bytes);
        let _ = Jwk::parse(&bytes);
        let _ = JwkSet::parse(&bytes);
        let _ = base64url::decode(&bytes);
        let _ = base64url::decode_standard(&bytes);
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
            jwk.write(&mut signet_jose::json::Writer::new(&mut text));
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
