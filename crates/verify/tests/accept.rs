//! What a strict verifier must still accept: one that refuses everything is not strict, it is
//! broken. Each has its number (`pos_01` to `pos_26`; the published vectors, `pos_09`, are read in
//! signet-jose, too).

use crate::support::*;
use signet_crypto::{Algorithm, SigningKey, hash::sha256};
use signet_encoding::{base64url, json::Value};
use signet_jose::{
    dpop,
    jwk::{Jwk, JwkSet},
};
use signet_verify::{Issuer, KeySource, Policy, Presented, Proof, Refusal, Verifier};

fn made_for(algorithm: Algorithm) -> Made {
    access()
        .with_header("\"ES256\"", &format!("\"{}\"", algorithm.name()))
        .with_header("key-ES256", &kid(algorithm))
}

fn signed(made: &Made, algorithm: Algorithm) -> String {
    sign_with(key(algorithm), &made.header, made.payload.as_bytes())
}

fn verifier_with(set: JwkSet, policy: Policy) -> Verifier {
    Verifier::builder()
        .issuer(Issuer::new(ISSUER, KeySource::Memory(set)))
        .policy(policy)
        .build()
        .unwrap()
}

#[test]
fn pos_02_to_06_every_asymmetric_algorithm_is_accepted_under_its_own_name() {
    for algorithm in Algorithm::ALL.iter().filter(|a| !a.is_symmetric()) {
        let v = verifier_with(jwks(&[*algorithm]), Policy::access_token(AUDIENCE));
        let verified = verify(&v, &signed(&made_for(*algorithm), *algorithm)).unwrap();
        assert_eq!(verified.claims().sub(), Some("alice"), "{algorithm:?}");
    }
}

#[test]
fn every_shared_secret_algorithm_is_accepted_where_it_was_configured() {
    for algorithm in [Algorithm::Hs256, Algorithm::Hs384, Algorithm::Hs512] {
        let secret = vec![7; 64];
        let source = KeySource::Secret {
            kid: None,
            algorithm,
            secret: secret.clone(),
        };
        let policy = Policy::access_token(AUDIENCE).algorithms(&[algorithm]);
        let v = Verifier::builder()
            .issuer(Issuer::new(ISSUER, source))
            .policy(policy)
            .build()
            .unwrap();
        let key = SigningKey::from_private(algorithm, &secret).unwrap();
        let header = format!(r#"{{"alg":"{}","typ":"at+jwt"}}"#, algorithm.name());
        assert!(verify(&v, &sign_with(&key, &header, access().payload.as_bytes())).is_ok());
    }
}

#[test]
fn pos_07_eddsa_and_ed25519_are_each_accepted_where_configured() {
    for name in [Algorithm::EdDsa, Algorithm::Ed25519] {
        let v = verifier_with(
            jwks(&[name]),
            Policy::access_token(AUDIENCE).algorithms(&[name]),
        );
        assert!(verify(&v, &signed(&made_for(name), name)).is_ok());
    }
    // A key that names no algorithm serves both names.
    let mut jwk = jwk(Algorithm::EdDsa);
    jwk.alg = None;
    let v = verifier_with(JwkSet { keys: vec![jwk] }, Policy::access_token(AUDIENCE));
    for name in ["EdDSA", "Ed25519"] {
        let made = made_for(Algorithm::EdDsa).with_header("\"EdDSA\"", &format!("\"{name}\""));
        assert!(
            verify(&v, &signed(&made, Algorithm::EdDsa)).is_ok(),
            "{name}"
        );
    }
}

#[test]
fn an_rsa_key_without_alg_serves_all_its_algorithms() {
    let mut jwk = jwk(Algorithm::Rs256);
    jwk.alg = None;
    let v = verifier_with(JwkSet { keys: vec![jwk] }, Policy::access_token(AUDIENCE));
    for algorithm in [
        Algorithm::Rs256,
        Algorithm::Rs384,
        Algorithm::Rs512,
        Algorithm::Ps256,
        Algorithm::Ps384,
        Algorithm::Ps512,
    ] {
        let made = made_for(algorithm).with_header(&kid(algorithm), &kid(Algorithm::Rs256));
        assert!(
            verify(&v, &signed(&made, algorithm)).is_ok(),
            "{algorithm:?}"
        );
    }
}

#[test]
fn pos_10_typ_is_a_media_type_in_any_case_and_with_or_without_its_prefix() {
    let v = verifier_of(Policy::plain_access_token(AUDIENCE));
    for typ in [
        "JWT",
        "jwt",
        "at+jwt",
        "AT+JWT",
        "application/at+jwt",
        "Application/AT+JWT",
        "application/jwt",
    ] {
        assert!(
            verify(&v, &access().with_header("at+jwt", typ).signed()).is_ok(),
            "{typ}"
        );
    }
    assert!(verify(&v, &access().with_header(r#""typ":"at+jwt","#, "").signed()).is_ok());
}

#[test]
fn pos_11_an_audience_among_three_is_enough() {
    let aud = format!("\"{AUDIENCE}\"");
    let three = access().with(&aud, &format!(r#"["https://a","https://b",{aud}]"#));
    assert!(verify(&verifier(), &three.signed()).is_ok());
}

#[test]
fn pos_12_a_fractional_end_is_a_number_as_any_other() {
    let fractional = access().with(&format!("{}", NOW + 300), "1795000000.5");
    let v = verifier();
    let at = |now| {
        v.verify(&Presented::token(&fractional.signed()), now)
            .map(drop)
    };
    assert_eq!(at(NOW - 1), Ok(()));
    assert_eq!(at(NOW + 1), Err(Refusal::Expired));
}

#[test]
fn pos_13_unknown_header_members_are_passed_over() {
    let v = verifier();
    for member in [
        r#""x":{"y":[1,{}]}"#,
        r#""x":[]"#,
        r#""x5t":"AA""#,
        r#""exp":1"#,
        r#""x":null"#,
    ] {
        assert!(
            verify(&v, &access().and_header(member).signed()).is_ok(),
            "{member}"
        );
    }
}

#[test]
fn pos_14_any_text_in_a_claim_round_trips() {
    let v = verifier();
    for (written, meant) in [
        ("\u{1f600} \u{4f60}\u{597d}", "\u{1f600} \u{4f60}\u{597d}"),
        (r#"\ud83d\ude00\n\"\\\/"#, "\u{1f600}\n\"\\/"),
        ("a'b<c>&", "a'b<c>&"),
    ] {
        let made = access()
            .with("alice", written)
            .and(&format!(r#""x":{{"y":["{written}"]}}"#));
        let verified = verify(&v, &made.signed()).unwrap();
        assert_eq!(verified.claims().sub(), Some(meant));
        let x = verified.claims().get("x").unwrap();
        assert_eq!(
            x.as_object().unwrap().get("y"),
            Some(&Value::Array(vec![meant.into()]))
        );
    }
    // As deep as the limit, no deeper: 16 levels, the document itself among them.
    let nested = |depth: usize| format!(r#""x":{}{}"#, "[".repeat(depth), "]".repeat(depth));
    assert!(verify(&v, &access().and(&nested(15)).signed()).is_ok());
    assert_eq!(
        verify(&v, &access().and(&nested(16)).signed()).unwrap_err(),
        Refusal::Claims
    );
}

#[test]
fn pos_15_an_escaped_member_name_is_that_member() {
    let v = verifier();
    assert!(
        verify(
            &v,
            &access().with_header("\"alg\"", r#""\u0061lg""#).signed()
        )
        .is_ok()
    );
    let made = access().with("\"sub\"", r#""s\u0075b""#);
    assert_eq!(
        verify(&v, &made.signed()).unwrap().claims().sub(),
        Some("alice")
    );
}

#[test]
fn pos_16_white_space_and_order_do_not_matter() {
    let made = Made {
        header: "\r\n{ \"kid\" : \"key-ES256\",\t\"typ\":\"at+jwt\" , \"alg\":\"ES256\"}\n".into(),
        payload: access()
            .payload
            .replace(':', " :\n")
            .replace(" :\n//", "://")
            .replace(',', "\t, "),
    };
    assert!(verify(&verifier(), &made.signed()).is_ok());
}

#[test]
fn pos_17_a_kid_may_hold_any_text_up_to_its_length() {
    for kid in [
        "caf\u{e9}/=a b+\u{1f600}",
        "https://id.example.com/keys/1",
        &"k".repeat(512),
    ] {
        let mut jwk = jwk(Algorithm::Es256);
        jwk.kid = Some(kid.to_owned());
        let v = verifier_with(JwkSet { keys: vec![jwk] }, Policy::access_token(AUDIENCE));
        assert!(
            verify(&v, &access().with_header("key-ES256", kid).signed()).is_ok(),
            "{kid}"
        );
    }
}

#[test]
fn pos_20_old_and_new_keys_both_verify_while_both_are_published() {
    let new = SigningKey::generate(Algorithm::Es256).unwrap();
    let both = JwkSet {
        keys: vec![
            jwk(Algorithm::Es256),
            Jwk::for_signatures(new.public().unwrap().clone(), Algorithm::Es256, "new"),
        ],
    };
    let v = verifier();
    let old = access().signed();
    assert!(verify(&v, &old).is_ok());
    v.set_keys(ISSUER, &both);
    let made = access().with_header("key-ES256", "new");
    assert!(verify(&v, &sign_with(&new, &made.header, made.payload.as_bytes())).is_ok());
    assert!(verify(&v, &old).is_ok());
    assert_eq!(
        v.counters().cached(),
        1,
        "a key that stays keeps its cached tokens"
    );
}

#[test]
fn pos_01_and_22_tokens_shaped_as_other_issuers_write_them() {
    let times = format!(
        r#""iat":{},"nbf":{},"exp":{}"#,
        NOW - 10,
        NOW - 10,
        NOW + 300
    );
    let plain = || Policy::plain_access_token("api");
    let shapes = [
        (
            "Keycloak",
            "https://kc.example/realms/r",
            r#""jti":"onrtac:0-1","aud":["api","account"],"sub":"f:1:alice","typ":"Bearer","azp":"web","sid":"s","acr":"1","allowed-origins":["*"],"realm_access":{"roles":["a"]},"resource_access":{"account":{"roles":["view"]}},"scope":"openid email","email_verified":true,"preferred_username":"alice""#,
        ),
        (
            "Auth0",
            "https://t.eu.auth0.com/",
            r#""sub":"auth0|5f","aud":["api","https://t.eu.auth0.com/userinfo"],"azp":"web","scope":"openid read:orders","gty":"password","permissions":["read:orders"]"#,
        ),
        (
            "Entra",
            "https://login.microsoftonline.com/9188040d/v2.0",
            r#""aud":"api","azp":"web","azpacr":"1","oid":"o","rh":"r","scp":"Orders.Read Orders.Write","sub":"s","tid":"9188040d","uti":"u","ver":"2.0","aio":"x""#,
        ),
        (
            "Okta",
            "https://dev-1.okta.com/oauth2/default",
            r#""ver":1,"jti":"AT.x","aud":"api","cid":"web","uid":"u","scp":["openid","orders"],"auth_time":1794999000,"sub":"alice@example.com""#,
        ),
        (
            "Zitadel",
            "https://z.example",
            r#""aud":["api","2345"],"client_id":"web","jti":"j","sub":"1234","urn:zitadel:iam:user:metadata":{}"#,
        ),
    ];
    for (name, iss, claims) in shapes {
        let set = jwks(&[Algorithm::Rs256]);
        let v = Verifier::builder()
            .issuer(Issuer::new(iss, KeySource::Memory(set)))
            .policy(plain())
            .build()
            .unwrap();
        let header = r#"{"alg":"RS256","typ":"JWT","kid":"key-RS256"}"#;
        let payload = format!(r#"{{"iss":"{iss}",{claims},{times}}}"#);
        let verified = verify(
            &v,
            &sign_with(key(Algorithm::Rs256), header, payload.as_bytes()),
        );
        let verified = verified.unwrap_or_else(|refusal| panic!("{name}: {refusal:?}"));
        assert_eq!(verified.claims().json(), payload, "{name}");
        assert!(verified.claims().has_audience("api"));
    }
    for (name, iss, claims) in [
        (
            "Google",
            "https://accounts.google.com",
            r#""azp":"web","aud":"web","sub":"10769150350006150715113082367","at_hash":"HK6E_P6Dh8Y93mRNtsDB1Q","email":"a@example.com","email_verified":true,"nonce":"n-1""#,
        ),
        (
            "Dex",
            "https://dex.example/dex",
            r#""sub":"CgVhbGljZRIFbG9jYWw","aud":"web","nonce":"n-1","at_hash":"x","email_verified":true,"groups":["a"]"#,
        ),
    ] {
        let set = jwks(&[Algorithm::Rs256]);
        let v = Verifier::builder()
            .issuer(Issuer::new(iss, KeySource::Memory(set)))
            .policy(Policy::id_token("web"))
            .build()
            .unwrap();
        let payload = format!(r#"{{"iss":"{iss}",{claims},{times}}}"#);
        let token = sign_with(
            key(Algorithm::Rs256),
            r#"{"alg":"RS256","kid":"key-RS256"}"#,
            payload.as_bytes(),
        );
        assert!(
            v.verify(&Presented::token(&token).nonce("n-1"), NOW)
                .is_ok(),
            "{name}"
        );
    }
}

#[test]
fn pos_24_proofs_of_possession_with_each_algorithm_that_clients_use() {
    let url = "https://orders.example.com/orders";
    for algorithm in [
        Algorithm::Es256,
        Algorithm::EdDsa,
        Algorithm::Ps256,
        Algorithm::Rs256,
    ] {
        let client = key(algorithm);
        let jwk = Jwk::new(client.public().unwrap().clone());
        let token = access()
            .and(&format!(r#""cnf":{{"jkt":"{}"}}"#, jwk.thumbprint_text()))
            .signed();
        let mut text = Vec::new();
        jwk.write(&mut signet_encoding::json::Writer::new(&mut text));
        let header = format!(
            r#"{{"typ":"dpop+jwt","alg":"{}","jwk":{}}}"#,
            algorithm.name(),
            String::from_utf8(text).unwrap()
        );
        let payload = format!(
            r#"{{"jti":"1","htm":"GET","htu":"{url}","iat":{NOW},"ath":"{}"}}"#,
            dpop::ath(&token)
        );
        let proof = sign_with(client, &header, payload.as_bytes());
        let value = format!("DPoP {token}");
        let presented = Presented::authorization(&value).unwrap().proof(Proof {
            jwt: &proof,
            method: "GET",
            url,
        });
        assert!(verifier().verify(&presented, NOW).is_ok(), "{algorithm:?}");
    }
}

#[test]
fn a_certificate_bound_token_with_its_certificate() {
    let thumbprint = sha256(b"certificate");
    let token = access()
        .and(&format!(
            r#""cnf":{{"x5t#S256":"{}"}}"#,
            base64url::encode(&thumbprint)
        ))
        .signed();
    assert!(
        verifier()
            .verify(&Presented::token(&token).certificate(thumbprint), NOW)
            .is_ok()
    );
}

#[test]
fn pos_26_exactly_at_the_limits() {
    let token = access().signed();
    let v = verifier_of(
        Policy::access_token(AUDIENCE)
            .max_bytes(token.len())
            .leeway(60),
    );
    assert!(verify(&v, &token).is_ok());
    let at = |now| v.verify(&Presented::token(&token), now).map(drop);
    assert_eq!(at(NOW + 359), Ok(()), "one second inside the leeway");
    assert_eq!(at(NOW + 360), Err(Refusal::Expired));
    let v = verifier_of(Policy::access_token(AUDIENCE).max_bytes(token.len() - 1));
    assert_eq!(verify(&v, &token).unwrap_err(), Refusal::TooLarge);
    let soon = access().and(&format!(r#""nbf":{}"#, NOW + 60)).signed();
    assert!(
        verify(
            &verifier_of(Policy::access_token(AUDIENCE).leeway(60)),
            &soon
        )
        .is_ok()
    );
}

#[test]
fn id_and_logout_tokens_that_are_right() {
    let v = verifier_of(Policy::id_token("web"));
    assert!(
        v.verify(&Presented::token(&id().signed()).nonce("n-1"), NOW)
            .is_ok()
    );
    assert!(
        verify(
            &verifier_of(Policy::id_token("web").any_nonce()),
            &id().signed()
        )
        .is_ok()
    );
    assert!(
        verify(
            &verifier_of(Policy::logout_token("web")),
            &logout().signed()
        )
        .is_ok()
    );
}

#[test]
fn a_compact_scope_with_a_space_in_it_is_not_two_scopes() {
    use signet_compact::{KeySet, Payload, Scopes, SigningKey, VerifyingKey, Version};
    let secret = [9; 32];
    let key = SigningKey::from_bytes(&[&[0x08, 1, 0x12, 32], &secret[..]].concat()).unwrap();
    let keys = KeySet::new([VerifyingKey::hmac(&secret).unwrap()]).unwrap();
    let v = verifier_of(Policy::access_token(AUDIENCE).leeway(0).compact(keys));
    let payload = Payload {
        expires_at: NOW + 60,
        subject: "alice",
        audience: AUDIENCE,
        scopes: Scopes::new(&["read:admin"]).unwrap(),
        ..Payload::default()
    };
    let mut token = Vec::new();
    key.sign_into(Version::V0, &payload, &mut token).unwrap();
    assert!(verify(&v, &base64url::encode(&token)).is_ok());
    // The published format takes any text: the same token with a space, signed by an issuer that
    // does not look.
    let end = token.len() - 34;
    let at = (0..end).find(|at| token[*at..].starts_with(b"read:admin"));
    token[at.unwrap() + 4] = b' ';
    let tag = signet_crypto::mac::HmacSha256Key::new(&secret).sign(&token[2..end]);
    token[end + 2..].copy_from_slice(&tag);
    assert_eq!(
        verify(&v, &base64url::encode(&token)).unwrap_err(),
        Refusal::Claims
    );
}

#[test]
fn compact_tokens_under_the_same_policy() {
    use signet_compact::{
        Algorithm as Compact, Claim, Claims, KeySet, Payload, Scopes, SigningKey, Version,
    };
    let key = SigningKey::generate(Compact::Ed25519).unwrap();
    let keys = || KeySet::new([key.verifying_key().unwrap()]).unwrap();
    let sign = |payload: &Payload<'_>, version| {
        let mut token = Vec::new();
        key.sign_into(version, payload, &mut token).unwrap();
        base64url::encode(&token)
    };
    let v = verifier_of(Policy::access_token(AUDIENCE).leeway(0).compact(keys()));
    let scopes = ["orders", "read"];
    let payload = Payload {
        expires_at: NOW + 60,
        subject: "alice",
        audience: AUDIENCE,
        scopes: Scopes::new(&scopes).unwrap(),
        ..Payload::default()
    };
    let token = sign(&payload, Version::V0);
    let verified = verify(&v, &token).unwrap();
    assert_eq!(
        (verified.claims().sub(), verified.claims().has_scope("read")),
        (Some("alice"), true)
    );
    assert!(verify(&v, &token).is_ok());
    assert_eq!(v.counters().cached(), 1);
    assert!(verify(&v, &access().signed()).is_ok(), "JWTs still are");
    let at = |now| v.verify(&Presented::token(&token), now).map(drop);
    assert_eq!(at(NOW + 60), Ok(()), "the last second in which it is valid");
    assert_eq!(at(NOW + 61), Err(Refusal::Expired));
    let claims = [Claim {
        name: "sub",
        json: "\"admin\"",
    }];
    let named = Payload {
        issuer: ISSUER,
        claims: Claims::new(&claims).unwrap(),
        ..payload
    };
    assert_eq!(
        verify(&v, &sign(&named, Version::V1)).unwrap_err(),
        Refusal::Claims,
        "a named claim is no registered one"
    );
    let breaking = [Claim {
        name: "x",
        json: "1},\"sub\":\"admin\",\"y\":{",
    }];
    let broken = Payload {
        claims: Claims::new(&breaking).unwrap(),
        ..named
    };
    assert_eq!(
        verify(&v, &sign(&broken, Version::V1)).unwrap_err(),
        Refusal::Claims
    );
    for (other, reason) in [
        (
            Payload {
                audience: "https://other",
                ..payload
            },
            Refusal::Audience,
        ),
        (
            Payload {
                audience: "",
                ..payload
            },
            Refusal::MissingClaim,
        ),
        (
            Payload {
                not_before: NOW + 1,
                ..payload
            },
            Refusal::NotYetValid,
        ),
    ] {
        assert_eq!(verify(&v, &sign(&other, Version::V0)).unwrap_err(), reason);
    }
    let foreign = Payload {
        issuer: "https://other",
        ..payload
    };
    assert_eq!(
        verify(&v, &sign(&foreign, Version::V1)).unwrap_err(),
        Refusal::Issuer
    );
    assert_eq!(
        verify(&verifier(), &token).unwrap_err(),
        Refusal::Malformed,
        "without the keys it is nothing"
    );
    let mut bytes = decode(&token);
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    assert_eq!(
        verify(&v, &base64url::encode(&bytes)).unwrap_err(),
        Refusal::Signature
    );
}

#[test]
fn pos_09_the_form_of_published_tokens_is_read() {
    // RFC 7515 appendix A.3: line breaks and escapes in the payload, no `typ`, no `kid`. Its key is
    // the issuer's.
    let set = br#"{"keys":[{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}"#;
    let token = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
    let keys = JwkSet::parse(set).unwrap();
    let v = Verifier::builder()
        .issuer(Issuer::new("joe", KeySource::Memory(keys)))
        .policy(Policy::plain_access_token("x").any_audience())
        .build()
        .unwrap();
    let before = v.verify(&Presented::token(token), 1_300_819_379).map(drop);
    // It names no audience; a policy that asks for none has no quarrel with that.
    assert_eq!(before, Ok(()));
    let after = v.verify(&Presented::token(token), 1_300_819_380 + 60);
    assert_eq!(after.map(drop), Err(Refusal::Expired));
}

#[test]
fn pos_18_a_token_without_kid_where_one_key_fits_and_by_policy_where_two_do() {
    use signet_verify::WithoutKid;
    let nameless = access().with_header(r#","kid":"key-ES256""#, "").signed();
    let second = SigningKey::generate(Algorithm::Es256).unwrap();
    let second = Jwk::for_signatures(second.public().unwrap().clone(), Algorithm::Es256, "second");
    let one = JwkSet {
        keys: vec![jwk(Algorithm::Es256), jwk(Algorithm::Rs256)],
    };
    let two = JwkSet {
        keys: vec![second, jwk(Algorithm::Es256)],
    };
    let under = |rule, set: &JwkSet| {
        let policy = Policy::access_token(AUDIENCE).without_kid(rule);
        verify(&verifier_with(set.clone(), policy), &nameless).map(drop)
    };
    assert_eq!(under(WithoutKid::OnlyKey, &one), Ok(()));
    assert_eq!(under(WithoutKid::Refuse, &one), Err(Refusal::UnknownKey));
    assert_eq!(under(WithoutKid::TryEach, &two), Ok(()));
    assert_eq!(under(WithoutKid::OnlyKey, &two), Err(Refusal::AmbiguousKey));
}

#[test]
fn pos_19_rsa_keys_of_3072_and_4096_bits() {
    for (bits, der) in [
        (3072, include_bytes!("data/rsa-3072.der").as_slice()),
        (4096, include_bytes!("data/rsa-4096.der")),
    ] {
        for algorithm in [Algorithm::Rs256, Algorithm::Ps256] {
            let key = SigningKey::from_private(algorithm, der).unwrap();
            let public = key.public().unwrap().clone();
            let signet_crypto::PublicKey::Rsa { n, e } = &public else {
                panic!("an RSA key");
            };
            assert_eq!((8 * n.len(), e.as_slice()), (bits, &[1, 0, 1][..]));
            let jwk = Jwk::for_signatures(public, algorithm, &kid(algorithm));
            let v = verifier_with(JwkSet { keys: vec![jwk] }, Policy::access_token(AUDIENCE));
            let made = made_for(algorithm);
            let token = sign_with(&key, &made.header, made.payload.as_bytes());
            assert!(verify(&v, &token).is_ok(), "{bits} {algorithm:?}");
        }
    }
}

#[test]
fn pos_21_an_ecdsa_signature_in_its_high_form_is_accepted_and_names_the_same_token() {
    // Signers write either form: of sixteen tokens some have the one and some the other.
    let v = verifier();
    let mut high = 0;
    for n in 0..16 {
        let token = access().with("t-1", &format!("t-{n}")).signed();
        let signature = decode(&parts(&token).2);
        high += usize::from(signature[32] >= 0x80);
        assert!(verify(&v, &token).is_ok());
    }
    assert!((1..16).contains(&high), "{high}: both forms came");
}

#[test]
fn pos_25_the_scheme_in_any_case_and_spaces_behind_it() {
    let token = access().signed();
    for value in [
        format!("Bearer {token}"),
        format!("bearer {token}"),
        format!("BEARER {token}"),
        format!("bEaReR   {token}"),
        format!("Bearer  {token}"),
    ] {
        let presented = Presented::authorization(&value).unwrap();
        assert!(verifier().verify(&presented, NOW).is_ok(), "{value}");
    }
}
