use crate::support::*;
use signet_verify::{Policy, Presented, Refusal, Verifier};

fn id_verifier() -> Verifier {
    verifier_of(Policy::id_token("web").leeway(0))
}

fn verify_id(v: &Verifier, token: &str) -> Result<(), Refusal> {
    v.verify(&Presented::token(token).nonce("n-1"), NOW)
        .map(drop)
}

#[test]
fn an_id_token_as_access_token() {
    let good = access();
    // Even where the audience is the same.
    let forged = id().with("\"web\"", &format!("\"{AUDIENCE}\""));
    refused(
        &verifier(),
        &good.signed(),
        &forged.signed(),
        &[Refusal::Type],
    );
    refused(
        &verifier(),
        &good.signed(),
        &good.with_header(r#""typ":"at+jwt","#, "").signed(),
        &[Refusal::Type],
    );
    let plain = verifier_of(Policy::plain_access_token(AUDIENCE));
    let good = good.with_header("at+jwt", "JWT");
    refused(
        &plain,
        &good.signed(),
        &forged.signed(),
        &[Refusal::ForbiddenClaim],
    );
    for member in [r#""at_hash":"x""#, r#""c_hash":"x""#, r#""nonce":"n""#] {
        refused(
            &plain,
            &good.signed(),
            &good.and(member).signed(),
            &[Refusal::ForbiddenClaim],
        );
    }
    for typ in ["ID", "Refresh", "Logout", "Offline"] {
        refused(
            &plain,
            &good.signed(),
            &good.and(&format!(r#""typ":"{typ}""#)).signed(),
            &[Refusal::Type],
        );
    }
}

#[test]
fn an_access_token_as_id_token() {
    let v = id_verifier();
    assert_eq!(verify_id(&v, &id().signed()), Ok(()));
    let forged = access().with(AUDIENCE, "web").and(r#""nonce":"n-1""#);
    assert_eq!(verify_id(&v, &forged.signed()), Err(Refusal::Type));
}

#[test]
fn a_logout_token_as_id_token() {
    let v = id_verifier();
    assert_eq!(verify_id(&v, &id().signed()), Ok(()));
    assert_eq!(verify_id(&v, &logout().signed()), Err(Refusal::Type));
    let disguised = logout()
        .with_header("logout+jwt", "JWT")
        .and(r#""nonce":"n-1""#);
    assert_eq!(
        verify_id(&v, &disguised.signed()),
        Err(Refusal::ForbiddenClaim)
    );
}

#[test]
fn an_id_token_as_logout_token() {
    let v = verifier_of(Policy::logout_token("web").once(false));
    let good = logout();
    refused(&v, &good.signed(), &id().signed(), &[Refusal::Type]);
    refused(
        &v,
        &good.signed(),
        &good.with("backchannel-logout", "other").signed(),
        &[Refusal::LogoutEvent],
    );
    refused(
        &v,
        &good.signed(),
        &good.with("{}", "true").signed(),
        &[Refusal::LogoutEvent],
    );
    refused(
        &v,
        &good.signed(),
        &good.and(r#""nonce":"n""#).signed(),
        &[Refusal::ForbiddenClaim],
    );
    refused(
        &v,
        &good.signed(),
        &good.with(r#""sub":"alice","#, "").signed(),
        &[Refusal::MissingClaim],
    );
    refused(
        &v,
        &good.signed(),
        &good.with(r#""jti":"l-1","#, "").signed(),
        &[Refusal::MissingClaim],
    );
}

#[test]
fn a_logout_token_a_second_time() {
    let v = verifier_of(Policy::logout_token("web"));
    let token = logout().signed();
    assert!(verify(&v, &token).is_ok());
    assert_eq!(verify(&v, &token).unwrap_err(), Refusal::Replayed);
    assert!(verify(&v, &logout().with("l-1", "l-2").signed()).is_ok());
}

#[test]
fn an_id_token_for_another_request() {
    let v = id_verifier();
    let token = id().signed();
    let with = |nonce: Option<&str>| {
        let presented = Presented::token(&token);
        v.verify(&nonce.map_or(presented, |n| presented.nonce(n)), NOW)
            .map(drop)
    };
    assert_eq!(with(Some("n-1")), Ok(()));
    for nonce in [None, Some("n-2"), Some(""), Some("N-1")] {
        assert_eq!(with(nonce), Err(Refusal::Nonce), "{nonce:?}");
    }
    assert_eq!(
        verify_id(&v, &id().with(r#""nonce":"n-1","#, "").signed()),
        Err(Refusal::Nonce)
    );
}

#[test]
fn an_id_token_for_several_parties() {
    let v = id_verifier();
    let aud = r#""aud":"web""#;
    assert_eq!(
        verify_id(&v, &id().with(aud, r#""aud":["web"]"#).signed()),
        Ok(())
    );
    assert_eq!(
        verify_id(
            &v,
            &id().with(aud, r#""aud":["web","x"],"azp":"web""#).signed()
        ),
        Ok(())
    );
    for forged in [
        r#""aud":["web","x"]"#,
        r#""aud":["web","x"],"azp":"x""#,
        r#""aud":"web","azp":"x""#,
    ] {
        assert_eq!(
            verify_id(&v, &id().with(aud, forged).signed()),
            Err(Refusal::AuthorizedParty),
            "{forged}"
        );
    }
}

#[test]
fn an_access_token_or_code_swapped_beside_an_id_token() {
    let v = verifier_of(Policy::id_token("web").require_at_hash().require_c_hash());
    let hash = |value| signet_jose::jwt::half_hash(signet_crypto::Algorithm::Es256, value);
    let made = id().and(&format!(
        r#""at_hash":"{}","c_hash":"{}""#,
        hash("access"),
        hash("code")
    ));
    let token = made.signed();
    let with = |access, code| {
        v.verify(
            &Presented::token(&token)
                .nonce("n-1")
                .access_token(access)
                .code(code),
            NOW,
        )
        .map(drop)
    };
    assert_eq!(with("access", "code"), Ok(()));
    assert_eq!(with("other", "code"), Err(Refusal::AccessTokenHash));
    assert_eq!(with("access", "other"), Err(Refusal::CodeHash));
    assert_eq!(verify_id(&v, &token), Err(Refusal::AccessTokenHash));
    assert_eq!(verify_id(&v, &id().signed()), Err(Refusal::AccessTokenHash));
}

#[test]
fn a_dpop_proof_as_access_token() {
    let good = access();
    for typ in [
        "dpop+jwt",
        "JWT",
        "secevent+jwt",
        "token-introspection+jwt",
        "at+jwt;v=2",
        "application/application/at+jwt",
    ] {
        refused(
            &verifier(),
            &good.signed(),
            &good.with_header("at+jwt", typ).signed(),
            &[Refusal::Type],
        );
    }
}
