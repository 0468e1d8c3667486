use crate::support::*;
use signet_verify::{Issuer, KeySource, Policy, Refusal, Verifier};

#[test]
fn an_issuer_that_only_looks_alike() {
    let (v, good) = (verifier(), access());
    for iss in [
        "https://ID.example.com",
        "https://id.example.com/",
        "https://id.example.com:443",
        "http://id.example.com",
        "https://id.example.com.evil.example",
        "https://id.ex\u{430}mple.com",
        "https://id.example.com\\u0000",
        " https://id.example.com",
        "https://id.example.com#",
        "https://id%2eexample.com",
        "https://evil.example/https://id.example.com",
        "",
    ] {
        refused(
            &v,
            &good.signed(),
            &good.with(ISSUER, iss).signed(),
            &[Refusal::Issuer],
        );
    }
    refused(
        &v,
        &good.signed(),
        &good.with(&format!(r#""iss":"{ISSUER}","#), "").signed(),
        &[Refusal::MissingClaim],
    );
}

#[test]
fn an_audience_that_only_contains_ours() {
    let (v, good) = (verifier(), access());
    let long = format!("{AUDIENCE}.evil.example");
    for aud in [
        "https://orders.example.co",
        &long,
        "orders.example.com",
        "https://orders.example.com/",
        "HTTPS://orders.example.com",
        "*",
        "",
    ] {
        refused(
            &v,
            &good.signed(),
            &good.with(AUDIENCE, aud).signed(),
            &[Refusal::Audience],
        );
    }
    let quoted = format!(r#""{AUDIENCE}""#);
    let spaced = format!(r#""{AUDIENCE} other""#);
    refused(
        &v,
        &good.signed(),
        &good.with(&quoted, &spaced).signed(),
        &[Refusal::Audience],
    );
    refused(
        &v,
        &good.signed(),
        &good.with(&quoted, "[]").signed(),
        &[Refusal::MissingClaim],
    );
    refused(
        &v,
        &good.signed(),
        &good.with(&format!(r#""aud":{quoted},"#), "").signed(),
        &[Refusal::MissingClaim],
    );
}

#[test]
fn an_end_that_is_missing_past_or_beyond_numbers() {
    let (v, good) = (verifier(), access());
    let exp = format!(r#""exp":{}"#, NOW + 300);
    for (end, reason) in [
        (format!(r#""exp":{NOW}"#), Refusal::Expired),
        (r#""exp":0"#.to_owned(), Refusal::Expired),
        (r#""exp":-0"#.to_owned(), Refusal::Expired),
        (r#""exp":1e3"#.to_owned(), Refusal::Expired),
        (r#""exp":-1"#.to_owned(), Refusal::Claims),
        (r#""exp":1e309"#.to_owned(), Refusal::Claims),
        (r#""exp":18446744073709551616"#.to_owned(), Refusal::Claims),
        (r#""exp":9223372036854775808"#.to_owned(), Refusal::Claims),
        (format!(r#""exp":"{}""#, NOW + 300), Refusal::Claims),
        (r#""exp":null"#.to_owned(), Refusal::Claims),
        (r#""exp":true"#.to_owned(), Refusal::Claims),
        (r#""exp":[9999999999]"#.to_owned(), Refusal::Claims),
        (r#""exp":NaN"#.to_owned(), Refusal::Claims),
        (r#""exp":Infinity"#.to_owned(), Refusal::Claims),
        (r#""exp":0x7fffffff"#.to_owned(), Refusal::Claims),
        (r#""exp":09999999999"#.to_owned(), Refusal::Claims),
        (r#""x":1"#.to_owned(), Refusal::MissingClaim),
        (format!(r#""Exp":{}"#, NOW + 300), Refusal::MissingClaim),
    ] {
        refused(
            &v,
            &good.signed(),
            &good.with(&exp, &end).signed(),
            &[reason],
        );
    }
}

#[test]
fn begin_and_issue_in_the_future() {
    let (v, good) = (verifier(), access());
    refused(
        &v,
        &good.signed(),
        &good.and(&format!(r#""nbf":{}"#, NOW + 1)).signed(),
        &[Refusal::NotYetValid],
    );
    let iat = format!(r#""iat":{}"#, NOW - 10);
    refused(
        &v,
        &good.signed(),
        &good.with(&iat, &format!(r#""iat":{}"#, NOW + 1)).signed(),
        &[Refusal::IssuedInFuture],
    );
    refused(
        &v,
        &good.signed(),
        &good.and(r#""nbf":9223372036854775807"#).signed(),
        &[Refusal::NotYetValid],
    );
    let v = verifier_of(Policy::access_token(AUDIENCE).leeway(0).max_age(60));
    refused(
        &v,
        &good.signed(),
        &good.with(&iat, &format!(r#""iat":{}"#, NOW - 61)).signed(),
        &[Refusal::TooOld],
    );
}

#[test]
fn values_of_another_type() {
    let (v, good) = (verifier(), access());
    for (from, to) in [
        (r#""sub":"alice""#, r#""sub":1"#),
        (r#""sub":"alice""#, r#""sub":{"a":1}"#),
        (r#""sub":"alice""#, r#""sub":["alice"]"#),
        (r#""sub":"alice""#, r#""sub":null"#),
        (r#""sub":"alice""#, r#""sub":true"#),
        (r#""jti":"t-1""#, r#""jti":1"#),
        (r#""client_id":"web""#, r#""client_id":["web"]"#),
        (r#""scope":"orders read""#, r#""scope":["orders","read"]"#),
    ] {
        refused(
            &v,
            &good.signed(),
            &good.with(from, to).signed(),
            &[Refusal::Claims],
        );
    }
    let aud = format!(r#""{AUDIENCE}""#);
    for to in [
        format!("[{aud},1]"),
        format!("[{aud},null]"),
        format!("[[{aud}]]"),
        format!(r#"{{"a":{aud}}}"#),
    ] {
        refused(
            &v,
            &good.signed(),
            &good.with(&aud, &to).signed(),
            &[Refusal::Claims],
        );
    }
    // 2^53 and 2^53 + 1 are two numbers.
    assert_eq!(
        verify(
            &v,
            &good
                .with(&format!("{}", NOW + 300), "9007199254740993")
                .signed()
        )
        .unwrap()
        .claims()
        .exp(),
        Some((1 << 53) + 1)
    );
}

#[test]
fn claims_that_rfc_9068_demands_are_missing() {
    let (v, good) = (verifier(), access());
    for member in [
        r#""sub":"alice","#,
        r#""client_id":"web","#,
        r#""jti":"t-1","#,
    ] {
        refused(
            &v,
            &good.signed(),
            &good.with(member, "").signed(),
            &[Refusal::MissingClaim],
        );
    }
    refused(
        &v,
        &good.signed(),
        &good.with("\"alice\"", "\"\"").signed(),
        &[Refusal::MissingClaim],
    );
    refused(
        &v,
        &good.signed(),
        &good.with(&format!(r#""iat":{},"#, NOW - 10), "").signed(),
        &[Refusal::MissingClaim],
    );
}

#[test]
fn a_scope_as_part_of_another() {
    let v = verifier_of(Policy::access_token(AUDIENCE).scope("orders"));
    let good = access();
    for scope in [
        "orders:read read",
        "order s",
        "Orders read",
        "xorders",
        "",
        "orders\\tread",
        "read",
    ] {
        refused(
            &v,
            &good.signed(),
            &good.with("orders read", scope).signed(),
            &[Refusal::Scope],
        );
    }
}

#[test]
fn a_weak_or_old_authentication() {
    let v = verifier_of(
        Policy::access_token(AUDIENCE)
            .acr("mfa")
            .authentication_max_age(300)
            .leeway(0),
    );
    let good = access().and(&format!(r#""acr":"mfa","auth_time":{}"#, NOW - 300));
    refused(
        &v,
        &good.signed(),
        &good.with("\"mfa\"", "\"mf\"").signed(),
        &[Refusal::AuthenticationContext],
    );
    refused(
        &v,
        &good.signed(),
        &good.with(r#""acr":"mfa","#, "").signed(),
        &[Refusal::AuthenticationContext],
    );
    refused(
        &v,
        &good.signed(),
        &good
            .with(&format!("{}", NOW - 300), &format!("{}", NOW - 301))
            .signed(),
        &[Refusal::AuthenticationAge],
    );
    refused(
        &v,
        &good.signed(),
        &good.with("auth_time", "auth_tine").signed(),
        &[Refusal::AuthenticationAge],
    );
}

#[test]
fn a_party_that_is_not_allowed() {
    let v = verifier_of(Policy::access_token(AUDIENCE).authorized_party("web"));
    let good = access();
    refused(
        &v,
        &good.signed(),
        &good.with("\"web\"", "\"webs\"").signed(),
        &[Refusal::AuthorizedParty],
    );
    refused(
        &v,
        &good.signed(),
        &good.and(r#""azp":"evil""#).signed(),
        &[Refusal::AuthorizedParty],
    );
}

#[test]
fn a_token_of_another_issuer_of_the_same_verifier() {
    let second = Issuer::new(
        "https://second.example",
        KeySource::Memory(jwks(&[signet_crypto::Algorithm::EdDsa])),
    );
    let v = Verifier::builder()
        .issuer(issuer())
        .issuer(second)
        .policy(Policy::access_token(AUDIENCE).issuer(ISSUER))
        .policy(Policy::access_token(AUDIENCE).named("both"))
        .build()
        .unwrap();
    let good = access();
    // The first issuer's key signs a token in the second one's name, and the reverse.
    let forged = good.with(ISSUER, "https://second.example");
    refused(&v, &good.signed(), &forged.signed(), &[Refusal::Issuer]);
    let both = v.policy("both").unwrap();
    let under = |token: &str| {
        v.verify_under(both, &signet_verify::Presented::token(token), NOW)
            .map(|_| ())
    };
    assert_eq!(under(&good.signed()), Ok(()));
    assert!(under(&forged.signed()).is_err());
    let own = forged
        .with_header("\"ES256\"", "\"EdDSA\"")
        .with_header("key-ES256", "key-EdDSA");
    let own = sign_with(
        key(signet_crypto::Algorithm::EdDsa),
        &own.header,
        own.payload.as_bytes(),
    );
    assert_eq!(under(&own), Ok(()));
    assert_eq!(verify(&v, &own).unwrap_err(), Refusal::Issuer);
}
