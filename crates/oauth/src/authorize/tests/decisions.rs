//! What happens next, and what never does.
use super::*;
use crate::id::CodeId;
use crate::id::GrantId;

#[test]
fn no_parameter_makes_a_person_logged_in_or_consenting() {
    // Known fault A1: every name that another server has been seen to read.
    let h = house();
    let request = h.ok(&[
        ("confirmed", "true"),
        ("consent", "allow"),
        ("user_id", "alice"),
        ("sub", "alice"),
        ("session", "sid-1"),
        ("sid", "sid-1"),
        ("logged_in_now", "true"),
        ("consented_now", "1"),
        ("account_selected", "1"),
        ("is_admin", "true"),
        ("acr", acr::PASSWORD),
        ("auth_time", "1800000000"),
    ]);
    assert_eq!(request, h.ok(&[]));
    let step = decide(&request, h.client(), &facts(None));
    assert!(matches!(
        step,
        Step::Login {
            reason: LoginReason::NoSession,
            ..
        }
    ));
    let s = session();
    assert!(matches!(
        decide(&request, h.client(), &facts(Some(&s))),
        Step::Consent { .. }
    ));
}

#[test]
fn an_id_token_hint_never_counts_as_login() {
    let h = house();
    let payload =
        format!(r#"{{"iss":"{ISSUER}","sub":"alice","aud":"client","exp":1,"sid":"sid-1"}}"#);
    let hint = h.id_token(Typ::Jwt, &payload);
    let silent = h.ok(&[("id_token_hint", &hint), ("prompt", "none")]);
    assert_eq!(silent.required_sub.as_deref(), Some("alice"));
    assert_eq!(
        refused(&decide(&silent, h.client(), &facts(None))),
        ErrorCode::LoginRequired
    );
    let request = h.ok(&[("id_token_hint", &hint)]);
    assert!(matches!(
        decide(&request, h.client(), &facts(None)),
        Step::Login { .. }
    ));
    // And somebody else's session does not answer for the person that it names.
    let mut bob = session();
    bob.user_id = "bob".into();
    assert_eq!(
        refused(&decide(&silent, h.client(), &facts(Some(&bob)))),
        ErrorCode::LoginRequired
    );
    assert!(matches!(
        decide(&request, h.client(), &facts(Some(&bob))),
        Step::Login {
            reason: LoginReason::OtherUser,
            ..
        }
    ));
    let mut again = facts(Some(&bob));
    again.progress.logged_in_now = true;
    assert_eq!(
        refused(&decide(&request, h.client(), &again)),
        ErrorCode::LoginRequired
    );
}

#[test]
fn only_an_id_token_of_ours_for_this_client_is_a_hint() {
    let h = house();
    let good = format!(r#"{{"iss":"{ISSUER}","sub":"alice","aud":"client"}}"#);
    h.ok(&[("id_token_hint", &h.id_token(Typ::Jwt, &good))]);
    for (typ, payload) in [
        (Typ::AccessToken, good.clone()),
        (Typ::LogoutToken, good.clone()),
        (Typ::Jwt, good.replace("as.example", "evil.example")),
        (Typ::Jwt, good.replace("\"client\"", "\"another\"")),
        (Typ::Jwt, good.replace("\"alice\"", "7")),
    ] {
        h.redirected(&[("id_token_hint", &h.id_token(typ, &payload))]);
    }
    let stranger = house();
    h.redirected(&[("id_token_hint", &stranger.id_token(Typ::Jwt, &good))]);
}

#[test]
fn acr_says_what_was_done_and_not_what_was_asked_for() {
    let h = house();
    let s = session();
    let ids = CodeIds {
        id: CodeId::new([1; 16]),
        grant_id: GrantId::new([2; 16]),
        now_ms: NOW * 1000,
        issue_ms: NOW * 1000,
    };
    for asked in [
        "urn:example:gold",
        "urn:example:gold urn:signet:acr:email-code",
    ] {
        let request = h.ok(&[("acr_values", asked)]);
        let mut f = facts(Some(&s));
        f.progress.logged_in_now = true;
        f.progress.consented_now = true;
        let granted = granted(decide(&request, h.client(), &f));
        assert_eq!(granted.code(ids, &h.settings).acr, acr::PASSWORD);
    }
}

#[test]
fn an_essential_acr_is_reached_or_refused() {
    let h = house();
    let s = session();
    let claims = |class: &str| {
        format!(r#"{{"id_token":{{"acr":{{"essential":true,"values":["{class}"]}}}}}}"#)
    };
    let email = h.ok(&[("claims", &claims(acr::EMAIL_CODE))]);
    assert!(matches!(
        decide(&email, h.client(), &facts(Some(&s))),
        Step::Login {
            reason: LoginReason::StepUp,
            acr: Some(acr::EMAIL_CODE)
        }
    ));
    let mut f = facts(Some(&s));
    f.progress.logged_in_now = true;
    assert_eq!(
        refused(&decide(&email, h.client(), &f)),
        ErrorCode::UnmetAuthenticationRequirements
    );
    let gold = h.ok(&[("claims", &claims("urn:example:gold"))]);
    assert_eq!(
        refused(&decide(&gold, h.client(), &facts(Some(&s)))),
        ErrorCode::UnmetAuthenticationRequirements
    );
    let mut both = session();
    both.acr = acr::PASSWORD_AND_EMAIL_CODE.into();
    both.methods = vec!["password".into(), "email_code".into()];
    let mut f = facts(Some(&both));
    f.progress.consented_now = true;
    granted(decide(&email, h.client(), &f));
}

#[test]
fn prompt_none_answers_from_the_session_alone() {
    let h = house();
    let s = session();
    let request = h.ok(&[("prompt", "none")]);
    assert_eq!(
        refused(&decide(&request, h.client(), &facts(None))),
        ErrorCode::LoginRequired
    );
    assert_eq!(
        refused(&decide(&request, h.client(), &facts(Some(&s)))),
        ErrorCode::ConsentRequired
    );
    let consent = Consent {
        scope: scope("openid email profile"),
        claims: Vec::new(),
        granted_at: NOW - 100,
    };
    let mut f = facts(Some(&s));
    f.looked_up.consent = Some(&consent);
    assert_eq!(
        granted(decide(&request, h.client(), &f)).scope(),
        &scope("openid email")
    );
    let aged = h.ok(&[("prompt", "none"), ("max_age", "50")]);
    assert_eq!(
        refused(&decide(&aged, h.client(), &f)),
        ErrorCode::LoginRequired
    );
}

#[test]
fn prompt_login_and_max_age_ask_again_and_are_content_with_a_fresh_login() {
    let h = house();
    let s = session();
    for (name, value, expected) in [
        ("prompt", "login", LoginReason::Prompt),
        ("max_age", "99", LoginReason::MaxAge),
        ("max_age", "0", LoginReason::MaxAge),
    ] {
        let request = h.ok(&[(name, value)]);
        match decide(&request, h.client(), &facts(Some(&s))) {
            Step::Login { reason, .. } => assert_eq!(reason, expected),
            other => panic!("{other:?}"),
        }
        let mut f = facts(Some(&s));
        f.progress.logged_in_now = true;
        assert!(matches!(
            decide(&request, h.client(), &f),
            Step::Consent { .. }
        ));
    }
    let request = h.ok(&[("max_age", "100")]);
    assert!(matches!(
        decide(&request, h.client(), &facts(Some(&s))),
        Step::Consent { .. }
    ));
    // The client's default counts where the request says nothing.
    let h = house_with(|c| c.default_max_age = Some(10));
    assert!(matches!(
        decide(&h.ok(&[]), h.client(), &facts(Some(&s))),
        Step::Login { .. }
    ));
}

#[test]
fn an_account_is_selected_before_consent() {
    let h = house();
    let s = session();
    let request = h.ok(&[("prompt", "select_account consent")]);
    let mut f = facts(Some(&s));
    assert_eq!(decide(&request, h.client(), &f), Step::SelectAccount);
    f.progress.account_selected = true;
    assert!(matches!(
        decide(&request, h.client(), &f),
        Step::Consent { .. }
    ));
    f.progress.consented_now = true;
    granted(decide(&request, h.client(), &f));
}

#[test]
fn consent_covers_what_was_agreed_to_and_no_more() {
    let h = house();
    let s = session();
    let consent = Consent {
        scope: scope("openid"),
        claims: vec!["name".into()],
        granted_at: NOW - 100,
    };
    let mut f = facts(Some(&s));
    f.looked_up.consent = Some(&consent);
    match decide(&h.ok(&[]), h.client(), &f) {
        Step::Consent {
            new_scope, scope, ..
        } => {
            assert_eq!(new_scope.to_string(), "email");
            assert_eq!(scope.to_string(), "openid email");
        }
        other => panic!("{other:?}"),
    }
    let openid = ("scope", "openid");
    granted(decide(
        &h.ok(&[openid, ("claims", r#"{"userinfo":{"name":null}}"#)]),
        h.client(),
        &f,
    ));
    match decide(
        &h.ok(&[openid, ("claims", r#"{"userinfo":{"birthdate":null}}"#)]),
        h.client(),
        &f,
    ) {
        Step::Consent { claims, .. } => assert_eq!(claims, ["birthdate"]),
        other => panic!("{other:?}"),
    }
    // prompt=consent asks whatever was agreed to, and a first-party client is not asked.
    assert!(matches!(
        decide(&h.ok(&[openid, ("prompt", "consent")]), h.client(), &f),
        Step::Consent { .. }
    ));
    let first_party = house_with(|c| c.consent = ConsentPolicy::Skip);
    granted(decide(
        &first_party.ok(&[]),
        first_party.client(),
        &facts(Some(&s)),
    ));
}

#[test]
fn what_was_agreed_to_with_a_removed_client_is_not_another_ones_of_its_id() {
    let s = session();
    let consent = Consent {
        scope: scope("openid email"),
        claims: Vec::new(),
        granted_at: NOW - 100,
    };
    let mut f = facts(Some(&s));
    f.looked_up.consent = Some(&consent);
    let silent = [("prompt", "none")];
    let same = house_with(|c| c.created_at = NOW - 100);
    granted(decide(&same.ok(&silent), same.client(), &f));
    let another = house_with(|c| c.created_at = NOW - 99);
    assert_eq!(
        refused(&decide(&another.ok(&silent), another.client(), &f)),
        ErrorCode::ConsentRequired
    );
}

#[test]
fn a_native_apps_remembered_consent_does_not_count() {
    let h = house_with(|c| {
        c.application_type = ApplicationType::Native;
        c.token_endpoint_auth_method = crate::client::AuthMethod::None;
        c.redirect_uris = vec![RedirectUri::parse("http://127.0.0.1/cb", true).unwrap()];
    });
    let s = session();
    let consent = Consent {
        scope: scope("openid email"),
        claims: Vec::new(),
        granted_at: NOW - 100,
    };
    let mut f = facts(Some(&s));
    f.looked_up.consent = Some(&consent);
    let request = h.ok(&[
        ("redirect_uri", "http://127.0.0.1:5000/cb"),
        ("prompt", "none"),
    ]);
    assert_eq!(
        refused(&decide(&request, h.client(), &f)),
        ErrorCode::ConsentRequired
    );
}

#[test]
fn a_scope_of_administration_needs_the_admin_flag() {
    let h = house_with(|c| c.scope = scope("openid signet:admin signet:admin.read"));
    let s = session();
    for name in ["signet:admin", "signet:admin.read"] {
        let both = format!("openid {name}");
        let request = h.ok(&[("scope", &both)]);
        let mut f = facts(Some(&s));
        f.progress.consented_now = true;
        let given = |f: &Facts<'_>| granted(decide(&request, h.client(), f)).scope().to_string();
        assert_eq!(given(&f), "openid", "{name}");
        f.is_admin = true;
        assert_eq!(given(&f), both, "{name}");
        f.is_admin = false;
        let only = h.ok(&[("scope", name)]);
        assert_eq!(
            refused(&decide(&only, h.client(), &f)),
            ErrorCode::AccessDenied,
            "{name}"
        );
    }
}

#[test]
fn a_code_carries_the_public_session_id_and_the_sessions_facts() {
    let h = house();
    let s = session();
    let mut f = facts(Some(&s));
    f.progress.consented_now = true;
    let request = h.ok(&[
        ("nonce", "n"),
        ("claims", r#"{"userinfo":{"name":null},"x":1}"#),
    ]);
    let ids = CodeIds {
        id: CodeId::new([1; 16]),
        grant_id: GrantId::new([2; 16]),
        now_ms: NOW * 1000 + 7,
        issue_ms: NOW * 1000 + 7,
    };
    let code = granted(decide(&request, h.client(), &f)).code(ids, &h.settings);
    assert_eq!(
        (code.user_id.as_str(), code.sid.as_str()),
        ("alice", "sid-1")
    );
    assert_eq!(code.auth_time, s.auth_time);
    assert_eq!(code.expires_at, NOW + h.settings.code_lifetime);
    assert_eq!(
        code.claims.as_deref(),
        Some(r#"{"userinfo":{"name":null}}"#)
    );
    assert_eq!(code.code_challenge.as_deref(), Some(CHALLENGE));
}
