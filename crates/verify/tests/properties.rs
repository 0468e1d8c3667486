//! Whatever is sent: no panic, and nothing but the signed token is accepted.

use crate::support::*;
use proptest::prelude::*;
use signet_crypto::Algorithm;
use signet_verify::{Policy, Presented, Verifier};
use std::sync::OnceLock;

fn shared() -> &'static (Verifier, String) {
    static SHARED: OnceLock<(Verifier, String)> = OnceLock::new();
    SHARED.get_or_init(|| {
        let made = access()
            .with_header("\"ES256\"", "\"EdDSA\"")
            .with_header("key-ES256", "key-EdDSA");
        let token = sign_with(key(Algorithm::EdDsa), &made.header, made.payload.as_bytes());
        (verifier(), token)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_mutation_of_a_valid_token_is_accepted(
        at in any::<prop::sample::Index>(), other in any::<prop::sample::Index>(), byte in 0x20..0x7f_u8, how in 0..6_u8,
    ) {
        let (v, token) = shared();
        prop_assert!(verify(v, token).is_ok());
        let mut changed = token.clone().into_bytes();
        let (at, other) = (at.index(changed.len()), other.index(changed.len()));
        match how {
            0 => changed[at] = byte,
            1 => changed.insert(at, byte),
            2 => { changed.remove(at); }
            3 => changed.truncate(at),
            4 => changed.swap(at, other),
            _ => { let piece = changed[at.min(other)..at.max(other)].to_vec(); changed.extend(piece); }
        }
        let changed = String::from_utf8(changed).unwrap();
        if changed != *token {
            prop_assert!(verify(v, &changed).is_err(), "{changed}");
        }
    }

    #[test]
    fn no_text_makes_a_verifier_panic(text in ".{0,300}") {
        let (v, _) = shared();
        prop_assert!(verify(v, &text).is_err());
        let _ = Presented::authorization(&text);
    }

    #[test]
    fn no_signed_payload_makes_a_verifier_panic(payload in prop::collection::vec(any::<u8>(), 0..200)) {
        let (v, _) = shared();
        let token = sign_with(key(Algorithm::EdDsa), r#"{"alg":"EdDSA","typ":"at+jwt","kid":"key-EdDSA"}"#, &payload);
        prop_assert!(verify(v, &token).is_err());
    }

    #[test]
    fn no_header_makes_a_verifier_panic(header in "\\{(\"[a-z]{1,4}\":(1|\"[A-Za-z0-9+]{0,8}\"|\\[\\]|\\{\\}|null),?){0,6}\\}") {
        let (v, _) = shared();
        let token = sign_with(key(Algorithm::EdDsa), &header, access().payload.as_bytes());
        prop_assert!(verify(v, &token).is_err());
    }

    #[test]
    fn every_moment_is_decided_without_overflow(exp in any::<u64>(), nbf in any::<u64>(), iat in any::<u64>(), now in any::<u64>(), leeway in 0..600_u64) {
        let v = verifier_of(Policy::access_token(AUDIENCE).leeway(leeway).max_age(3600).authentication_max_age(60));
        let payload = format!(r#"{{"iss":"{ISSUER}","sub":"a","aud":"{AUDIENCE}","client_id":"c","jti":"j","exp":{exp},"nbf":{nbf},"iat":{iat},"auth_time":{iat}}}"#);
        let token = sign(&access().header, &payload);
        let accepted = v.verify(&Presented::token(&token), now).is_ok();
        let limit = i64::MAX as u64;
        let holds = exp.max(nbf).max(iat) <= limit && now < exp.saturating_add(leeway) && nbf <= now.saturating_add(leeway)
            && iat <= now.saturating_add(leeway) && now <= iat.saturating_add(60 + leeway);
        prop_assert_eq!(accepted, holds);
    }
}
