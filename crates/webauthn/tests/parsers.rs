use proptest::prelude::*;
use signet_crypto::SigningKey;
use signet_webauthn::{
    Assertion, AuthenticatorData, CoseKey, Error, MAX_MESSAGE, Registration, RelyingParty,
    SUPPORTED, register,
};

use super::authenticator::{Authenticator, cose};

fn parse_all(bytes: &[u8]) {
    let _ = AuthenticatorData::parse(bytes);
    let _ = CoseKey::parse(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = Assertion::parse(text);
        let _ = Registration::parse(text);
    }
    let party = RelyingParty::of_issuer("https://id.example", &[]).expect("a domain");
    let mut answer = Registration {
        id: vec![1],
        client_data: bytes.to_vec(),
        attestation_object: bytes.to_vec(),
        transports: Vec::new(),
    };
    assert!(register(&party, &[1; 32], true, &answer).is_err());
    let challenge = signet_encoding::base64url::encode(&[1; 32]);
    answer.client_data = format!(
        r#"{{"type":"webauthn.create","challenge":"{challenge}","origin":"https://id.example"}}"#
    )
    .into_bytes();
    let refused = register(&party, &[1; 32], true, &answer);
    assert!(
        !matches!(refused, Ok(_) | Err(Error::ClientData)),
        "{refused:?}"
    );
}

proptest! {
    #[test]
    fn no_bytes_are_too_much(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        parse_all(&bytes);
    }

    #[test]
    fn a_key_has_one_writing(at in 0_usize..80, to in any::<u8>()) {
        let key = SigningKey::generate(signet_crypto::Algorithm::EdDsa).expect("a key");
        let whole = cose(&key);
        let mut changed = whole.clone();
        let at = at % whole.len();
        changed[at] = to;
        // Another point may be a key; it is another key.
        if changed != whole && let Ok(parsed) = CoseKey::parse(&changed) {
            prop_assert_ne!(parsed, CoseKey::parse(&whole).expect("a key"));
        }
    }
}

#[test]
fn a_key_of_every_algorithm_is_read_and_cut_short_is_refused() {
    for (number, algorithm) in SUPPORTED {
        let bytes = cose(&SigningKey::generate(algorithm).expect("a key"));
        let key = CoseKey::parse(&bytes).expect("a key");
        assert_eq!(key.algorithm, algorithm, "{number}");
        for length in 0..bytes.len() {
            assert_eq!(CoseKey::parse(&bytes[..length]), Err(Error::Key));
        }
        let longer = [&bytes[..], &[0]].concat();
        assert_eq!(CoseKey::parse(&longer), Err(Error::Key));
    }
}

#[test]
fn a_point_off_the_curve_and_a_weak_rsa_key_are_refused_when_registered() {
    let mut out = signet_cbor::Encoder::new();
    out.map(5).int(1).int(2).int(3).int(-7).int(-1).int(1);
    out.int(-2).bytes(&[1; 32]).int(-3).bytes(&[1; 32]);
    assert_eq!(CoseKey::parse(&out.finish()), Err(Error::Key));
    let mut out = signet_cbor::Encoder::new();
    out.map(4).int(1).int(3).int(3).int(-257);
    out.int(-1).bytes(&[0xff; 128]).int(-2).bytes(&[1, 0, 1]);
    assert_eq!(CoseKey::parse(&out.finish()), Err(Error::Key));
}

#[test]
fn a_message_has_its_members_once_and_its_length() {
    let mut authenticator = Authenticator::new("https://id.example", "id.example");
    authenticator.create(&[1; 32], b"alice");
    let good = authenticator.get(&[1; 32]);
    assert!(Assertion::parse(&good).is_ok());
    for bad in [
        good.replace(r#""type":"public-key""#, r#""type":"password""#),
        good.replace(r#""rawId":""#, r#""rawId":"AA"#),
        good.replace(r#""signature""#, r#""sig""#),
        good.replace(r#""type":"#, r#""id":"AAAA","type":"#),
        format!("{good} x"),
        format!("{good}{}", " ".repeat(MAX_MESSAGE)),
        String::new(),
        "[]".to_owned(),
    ] {
        assert_eq!(Assertion::parse(&bad), Err(Error::Message), "{bad}");
    }
    // Hand-made handles: too long, and none.
    let start = good.find(r#""userHandle":""#).expect("a handle");
    let end = start + good[start..].find('}').expect("its end");
    let with = |handle: &str| format!("{}\"userHandle\":{handle}{}", &good[..start], &good[end..]);
    assert!(Assertion::parse(&with(&format!("\"{}\"", "AAAA".repeat(22)))).is_err());
    let none = Assertion::parse(&with("null")).expect("a message");
    assert_eq!(none.user_handle, None);
}
