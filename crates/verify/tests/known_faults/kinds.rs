use crate::support::*;
use signet_crypto::hash::sha256;
use signet_encoding::base64url;
use signet_verify::{Policy, Presented, Refusal};

#[test]
fn v10_nothing_but_an_access_token_is_taken_for_one() {
    let rfc_9068 = verifier();
    let plain = verifier_of(Policy::plain_access_token(AUDIENCE).leeway(0));
    let good = access();
    assert!(verify(&rfc_9068, &good.signed()).is_ok());
    assert!(verify(&plain, &good.signed()).is_ok());
    let for_us = |made: Made| made.with(r#""aud":"web""#, &format!(r#""aud":"{AUDIENCE}""#));
    // Each has the right issuer, audience, key and time.
    for (what, token) in [
        ("an ID token", for_us(id()).signed()),
        ("a logout token", for_us(logout()).signed()),
        (
            "a logout token with another typ",
            for_us(logout()).with_header("logout+jwt", "JWT").signed(),
        ),
        (
            "a DPoP proof",
            good.with_header("at+jwt", "dpop+jwt").signed(),
        ),
        (
            "an answer of introspection",
            good.with_header("at+jwt", "token-introspection+jwt")
                .signed(),
        ),
        (
            "a client assertion",
            good.with_header("at+jwt", "client-authentication+jwt")
                .signed(),
        ),
        ("an empty typ", good.with_header("at+jwt", "").signed()),
    ] {
        assert!(verify(&rfc_9068, &token).is_err(), "{what}");
        assert!(verify(&plain, &token).is_err(), "{what}");
    }
    // No `typ` has no default: only a policy that lists it takes it.
    let untyped = good.with_header(r#""typ":"at+jwt","#, "").signed();
    assert_eq!(verify(&rfc_9068, &untyped).unwrap_err(), Refusal::Type);
    assert!(verify(&plain, &untyped).is_ok());
    let listed = verifier_of(Policy::access_token(AUDIENCE).types(&[None]));
    assert!(verify(&listed, &untyped).is_ok());
}

#[test]
fn v11_a_bound_token_is_no_bearer_token_whether_its_binding_is_known_or_not() {
    let (v, good) = (verifier(), access());
    let thumbprint = sha256(b"certificate");
    let x5t = format!(r#""x5t#S256":"{}""#, base64url::encode(&thumbprint));
    let jkt = format!(r#""jkt":"{}""#, base64url::encode(&sha256(b"key")));
    for (cnf, reason) in [
        (format!("{{{x5t}}}"), Refusal::CertificateMissing),
        (format!("{{{jkt}}}"), Refusal::Scheme),
        (format!("{{{x5t},{jkt}}}"), Refusal::CertificateMissing),
        (
            r#"{"jwk":{"kty":"EC"}}"#.to_owned(),
            Refusal::UnknownConfirmation,
        ),
        (r#"{"kid":"x"}"#.to_owned(), Refusal::UnknownConfirmation),
        (
            r#"{"x5t#S512":"AAAA"}"#.to_owned(),
            Refusal::UnknownConfirmation,
        ),
        (
            format!(r#"{{{x5t},"later":1}}"#),
            Refusal::UnknownConfirmation,
        ),
        ("{}".to_owned(), Refusal::UnknownConfirmation),
    ] {
        let token = good.and(&format!(r#""cnf":{cnf}"#)).signed();
        let value = format!("Bearer {token}");
        let bearer = Presented::authorization(&value).unwrap();
        for cached in [false, true] {
            let refusal = v.verify(&bearer, NOW).unwrap_err();
            assert_eq!(refusal, reason, "{cnf}, cached: {cached}");
        }
    }
    let token = good.and(&format!(r#""cnf":{{{x5t}}}"#)).signed();
    let proven = Presented::token(&token).certificate(thumbprint);
    assert!(v.verify(&proven, NOW).is_ok());
}
