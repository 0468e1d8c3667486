//! JSON Web Token Best Current Practices (RFC 8725): a test for each section of part 3, and for
//! what its successor adds (draft-ietf-oauth-rfc8725bis).

use crate::support::*;
use signet_crypto::Algorithm;
use signet_jose::jwk::{Jwk, JwkSet};
use signet_verify::{BuildError, Issuer, KeySource, Policy, Refusal, Verifier};

fn build(policy: Policy, source: KeySource) -> Result<Verifier, BuildError> {
    Verifier::builder()
        .issuer(Issuer::new(ISSUER, source))
        .policy(policy)
        .build()
}

fn memory(keys: Vec<Jwk>) -> KeySource {
    KeySource::Memory(JwkSet { keys })
}

#[test]
fn section_3_1_the_key_has_one_algorithm_and_the_caller_chooses_which_are_allowed() {
    let good = access();
    refused(
        &verifier(),
        &good.signed(),
        &good.with_header("ES256\"", "RS256\"").signed(),
        &[Refusal::KeyMismatch],
    );
    let none = Policy::access_token(AUDIENCE).algorithms(&[]);
    assert!(build(none, memory(vec![jwk(Algorithm::Es256)])).is_err());
}

#[test]
fn section_3_2_none_is_no_algorithm_and_weak_keys_are_no_keys() {
    let good = access();
    refused(
        &verifier(),
        &good.signed(),
        &good.with_header("\"ES256\"", "\"none\"").signed(),
        &[Refusal::Algorithm],
    );
    let small = signet_crypto::PublicKey::Rsa {
        n: vec![0xff; 128],
        e: vec![1, 0, 1],
    };
    let weak = Jwk::for_signatures(small, Algorithm::Rs256, "weak");
    assert!(build(Policy::access_token(AUDIENCE), memory(vec![weak])).is_err());
}

#[test]
fn section_3_3_every_layer_is_validated() {
    // A good outer signature does not make what is inside good.
    let inner = access().signed();
    let outer = sign(&access().header, &inner);
    refused(&verifier(), &inner, &outer, &[Refusal::Claims]);
}

#[test]
fn section_3_4_points_off_the_curve_are_no_keys() {
    let off = signet_crypto::PublicKey::P256 {
        x: [1; 32],
        y: [1; 32],
    };
    assert!(
        build(
            Policy::access_token(AUDIENCE),
            memory(vec![Jwk::for_signatures(off, Algorithm::Es256, "off")])
        )
        .is_err()
    );
}

#[test]
fn section_3_5_short_secrets_are_refused() {
    let policy = Policy::access_token(AUDIENCE).algorithms(&[Algorithm::Hs256]);
    let source = |length| KeySource::Secret {
        kid: None,
        algorithm: Algorithm::Hs256,
        secret: vec![1; length],
    };
    assert!(build(policy.clone(), source(31)).is_err());
    assert!(build(policy, source(32)).is_ok());
}

#[test]
fn section_3_6_compressed_tokens_are_refused() {
    let good = access();
    refused(
        &verifier(),
        &good.signed(),
        &good.and_header(r#""zip":"DEF""#).signed(),
        &[Refusal::Extension],
    );
}

#[test]
fn section_3_7_only_utf_8_is_read() {
    let good = access();
    let utf16: Vec<u8> = good
        .payload
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    refused(
        &verifier(),
        &good.signed(),
        &sign_with(key(Algorithm::Es256), &good.header, &utf16),
        &[Refusal::Claims],
    );
}

#[test]
fn section_3_8_issuer_and_subject_are_validated() {
    let good = access();
    refused(
        &verifier(),
        &good.signed(),
        &good.with(ISSUER, "https://other").signed(),
        &[Refusal::Issuer],
    );
    refused(
        &verifier(),
        &good.signed(),
        &good.with(r#""sub":"alice","#, "").signed(),
        &[Refusal::MissingClaim],
    );
    let known =
        verifier_of(Policy::access_token(AUDIENCE).rule(|claims| claims.sub() == Some("alice")));
    refused(
        &known,
        &good.signed(),
        &good.with("alice", "mallory").signed(),
        &[Refusal::Rule],
    );
}

#[test]
fn section_3_9_the_audience_is_validated() {
    let good = access();
    refused(
        &verifier(),
        &good.signed(),
        &good.with(AUDIENCE, "https://other").signed(),
        &[Refusal::Audience],
    );
    assert!(
        build(
            Policy::access_token(""),
            memory(vec![jwk(Algorithm::Es256)])
        )
        .is_err()
    );
}

#[test]
fn section_3_10_received_claims_lead_nowhere() {
    // Nothing here fetches on a token's word: an unknown kid is refused, whatever address stands
    // beside it.
    let good = access();
    let made = good
        .with_header("key-ES256", "' OR 1=1")
        .and_header(r#""jku":"http://169.254.169.254/","x5u":"file:///etc/passwd""#);
    refused(
        &verifier(),
        &good.signed(),
        &made.signed(),
        &[Refusal::UnknownKey],
    );
}

#[test]
fn section_3_11_types_are_explicit() {
    let good = access();
    refused(
        &verifier(),
        &good.signed(),
        &good.with_header("at+jwt", "JWT").signed(),
        &[Refusal::Type],
    );
}

#[test]
fn section_3_12_kinds_of_tokens_exclude_each_other() {
    let tokens = [access().signed(), id().signed(), logout().signed()];
    let policies = [
        Policy::access_token(AUDIENCE).any_audience(),
        Policy::id_token("web").any_audience().any_nonce(),
        Policy::logout_token("web").any_audience().once(false),
    ];
    for (p, policy) in policies.into_iter().enumerate() {
        let v = verifier_of(policy);
        for (t, token) in tokens.iter().enumerate() {
            assert_eq!(verify(&v, token).is_ok(), p == t, "policy {p}, token {t}");
        }
    }
}

#[test]
fn bis_none_is_refused_in_any_case() {
    let good = access();
    for none in ["none", "None", "NONE", "nONE"] {
        let token = good.with_header("ES256", none).signed();
        refused(&verifier(), &good.signed(), &token, &[Refusal::Algorithm]);
    }
}

#[test]
fn bis_an_encrypted_token_is_not_taken_for_a_signed_one() {
    // Encrypting needs no secret: whoever has the public key can make five parts.
    let good = access();
    let inner = good.signed();
    let jwe = encode(r#"{"alg":"RSA-OAEP-256","enc":"A256GCM","cty":"JWT","kid":"key-ES256"}"#);
    let five = format!("{jwe}.AAAA.AAAA.{}.AAAA", encode(&inner));
    refused(&verifier(), &inner, &five, &[Refusal::Malformed]);
    // Three parts that name an encryption.
    let (_, payload, signature) = parts(&inner);
    let three = format!("{jwe}.{payload}.{signature}");
    refused(&verifier(), &inner, &three, &[Refusal::Algorithm]);
}

#[test]
fn bis_no_iteration_count_is_followed() {
    let good = access();
    let (_, payload, signature) = parts(&good.signed());
    for alg in ["PBES2-HS256+A128KW", "PBES2-HS512+A256KW"] {
        let header = encode(format!(
            r#"{{"alg":"{alg}","enc":"A256GCM","p2s":"AAAA","p2c":2147483647}}"#
        ));
        for token in [
            format!("{header}.{payload}.{signature}"),
            format!("{header}.AAAA.AAAA.{payload}.AAAA"),
        ] {
            let reasons = [Refusal::Algorithm, Refusal::Malformed];
            refused(&verifier(), &good.signed(), &token, &reasons);
        }
    }
}

#[test]
fn bis_nothing_is_decompressed() {
    let good = access();
    for zip in ["DEF", "GZ", ""] {
        let token = good.and_header(&format!(r#""zip":"{zip}""#)).signed();
        refused(&verifier(), &good.signed(), &token, &[Refusal::Extension]);
    }
}

#[test]
fn bis_the_format_is_the_compact_one_and_nothing_reads_another_into_it() {
    let good = access().signed();
    let (header, payload, signature) = parts(&good);
    let flat =
        format!(r#"{{"protected":"{header}","payload":"{payload}","signature":"{signature}"}}"#);
    let general = format!(
        r#"{{"payload":"{payload}","signatures":[{{"protected":"{header}","signature":"{signature}"}}]}}"#
    );
    // One text that is both: a compact token that a lax reader finds inside of JSON.
    let both = format!(r#"{{"x":"{good}"}}"#);
    for other in [flat, general, both, format!("\"{good}\"")] {
        refused(&verifier(), &good, &other, &[Refusal::Malformed]);
    }
}
