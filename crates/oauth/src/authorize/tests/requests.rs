//! What a request must be.
use super::*;
use proptest::prelude::*;

#[test]
fn a_good_request_is_read_whole() {
    let request = house().ok(&[
        ("nonce", "n"),
        ("response_mode", "form_post"),
        ("prompt", "login consent"),
        ("max_age", "60"),
        ("acr_values", "a b"),
        ("login_hint", "alice"),
        ("ui_locales", "de en"),
        ("display", "popup"),
        ("unknown", "ignored"),
        ("resource", "https://api.example"),
    ]);
    assert_eq!(request.return_to.state.as_deref(), Some("xyz"));
    assert_eq!(request.return_to.response_mode, ResponseMode::FORM_POST);
    assert!(request.prompts.login && request.prompts.consent);
    assert_eq!(request.max_age, Some(60));
    assert_eq!(request.resources, ["https://api.example"]);
    assert_eq!(request.code_challenge.as_deref(), Some(CHALLENGE));
    assert_eq!(
        AuthorizationRequest::from_bytes(&request.to_bytes()),
        Ok(request)
    );
}

#[test]
fn until_the_redirect_is_proven_an_error_is_a_page() {
    let h = house();
    for changes in [
        &[("client_id", "")][..],
        &[("client_id", "nobody")],
        &[("redirect_uri", "https://evil.example/cb")],
        &[("redirect_uri", "https://client.example/cb?x")],
        &[("redirect_uri", "https://client.example/cb/")],
        &[
            ("redirect_uri", "https://evil.example/cb"),
            ("response_type", "token"),
        ],
    ] {
        assert_eq!(h.page(changes), ErrorCode::InvalidRequest);
    }
    let disabled = house_with(|c| c.enabled = false);
    assert_eq!(disabled.page(&[]), ErrorCode::InvalidRequest);
}

#[test]
fn a_proven_redirect_hears_of_errors_with_its_state_and_mode() {
    let h = house();
    let Err(AuthorizeError::Redirect(back)) =
        h.validate(&[("response_type", "token"), ("response_mode", "form_post")])
    else {
        panic!("a proven redirect");
    };
    assert_eq!(back.error.code, ErrorCode::UnsupportedResponseType);
    assert_eq!(back.to.state.as_deref(), Some("xyz"));
    assert_eq!(back.to.response_mode, ResponseMode::FORM_POST);
}

#[test]
fn every_bad_parameter_has_its_error_code() {
    use ErrorCode::*;
    let h = house();
    let long = "x".repeat(3000);
    for (name, value, code) in [
        ("response_type", "", InvalidRequest),
        ("response_type", "code id_token", UnsupportedResponseType),
        ("response_type", "none", UnsupportedResponseType),
        ("response_mode", "fragment", InvalidRequest),
        ("state", &long, InvalidRequest),
        ("nonce", &long, InvalidRequest),
        ("scope", "nothing that exists", InvalidScope),
        ("scope", "open\"id", InvalidScope),
        ("request", "e30.e30.", RequestNotSupported),
        (
            "request_uri",
            "https://client.example/r.jwt",
            RequestUriNotSupported,
        ),
        ("registration", "{}", RegistrationNotSupported),
        ("prompt", "none login", InvalidRequest),
        ("prompt", "whatever", InvalidRequest),
        ("max_age", "-1", InvalidRequest),
        ("max_age", "1.5", InvalidRequest),
        ("max_age", "99999999999", InvalidRequest),
        ("claims", "{", InvalidRequest),
        ("claims", "[]", InvalidRequest),
        ("login_hint", &long, InvalidRequest),
        ("id_token_hint", "a.b.c", InvalidRequest),
        ("dpop_jkt", "short", InvalidRequest),
        ("resource", "https://unknown.example", InvalidTarget),
        ("resource", "https://other.example", InvalidTarget),
    ] {
        assert_eq!(h.redirected(&[(name, value)]), code, "{name}={value}");
    }
}

#[test]
fn pkce_is_s256_and_required() {
    let h = house();
    for changes in [
        &[("code_challenge", ""), ("code_challenge_method", "")][..],
        &[("code_challenge", "")],
        &[("code_challenge_method", "")],
        &[("code_challenge_method", "plain")],
        &[("code_challenge_method", "s256")],
        &[("code_challenge", "tooshort")],
        &[(
            "code_challenge",
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c!",
        )],
    ] {
        assert_eq!(
            h.redirected(changes),
            ErrorCode::InvalidRequest,
            "{changes:?}"
        );
    }
    let none = [("code_challenge", ""), ("code_challenge_method", "")];
    let freed = house_with(|c| c.require_pkce = false);
    assert_eq!(freed.ok(&none).code_challenge, None);
    // A freed client that sends a challenge is held to it, and plain stays refused.
    assert!(freed.ok(&[]).code_challenge.is_some());
    freed.redirected(&[("code_challenge_method", "plain")]);
    let public = house_with(|c| {
        c.require_pkce = false;
        c.token_endpoint_auth_method = crate::client::AuthMethod::None;
    });
    assert_eq!(public.redirected(&none), ErrorCode::InvalidRequest);
}

#[test]
fn scope_is_narrowed_to_what_exists_and_is_allowed() {
    let h = house();
    let request = h.ok(&[("scope", "email openid unknown phone api:read")]);
    assert_eq!(request.scope.to_string(), "email openid api:read");
    // Without a scope: what is registered, but nothing that must be asked for.
    let request = h.ok(&[("scope", "")]);
    assert_eq!(request.scope.to_string(), "profile email api:read");
    let h = house_with(|c| c.grant_types = vec![GrantType::AuthorizationCode]);
    let request = h.ok(&[("scope", "openid offline_access")]);
    assert_eq!(request.scope.to_string(), "openid");
}

#[test]
fn a_client_without_the_code_grant_gets_none() {
    let h = house_with(|c| c.grant_types = vec![GrantType::ClientCredentials]);
    assert_eq!(h.redirected(&[]), ErrorCode::UnauthorizedClient);
}

#[test]
fn the_redirect_uri_may_be_left_out_only_without_openid() {
    let h = house();
    let request = h.ok(&[("redirect_uri", ""), ("scope", "api:read")]);
    assert!(!request.redirect_uri_was_sent);
    h.redirected(&[("redirect_uri", "")]);
    let two = house_with(|c| c.redirect_uris.push(c.redirect_uris[0].clone()));
    two.page(&[("redirect_uri", ""), ("scope", "api:read")]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn checking_any_request_never_panics_and_never_sends_to_a_strange_place(
        pairs in proptest::collection::vec((
            prop_oneof![
                Just("client_id"), Just("redirect_uri"), Just("response_type"), Just("scope"), Just("state"),
                Just("prompt"), Just("max_age"), Just("claims"), Just("request_uri"), Just("id_token_hint"),
                Just("acr_values"), Just("response_mode"), Just("resource"), Just("code_challenge"),
            ],
            prop_oneof![Just("client".to_owned()), Just("https://client.example/cb".to_owned()),
                Just("code".to_owned()), Just("openid".to_owned()), ".{0,40}"],
        ), 0..12),
    ) {
        thread_local!(static HOUSE: House = house());
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(n, v)| (*n, v.as_str())).collect();
        if let Ok(params) = Params::from_pairs(pairs) {
            HOUSE.with(|h| {
                let answer = h.asked(params);
                let to = match &answer {
                    Ok(request) => Some(&request.return_to),
                    Err(AuthorizeError::Redirect(back)) => Some(&back.to),
                    Err(AuthorizeError::Page(_)) => None,
                };
                assert!(to.is_none_or(|t| t.redirect_uri == "https://client.example/cb"));
                if let Ok(request) = &answer {
                    let s = session();
                    let _ = decide(request, h.client(), &facts(Some(&s)));
                    assert_eq!(AuthorizationRequest::from_bytes(&request.to_bytes()).as_ref(), Ok(request));
                    assert_ne!(request.scope, ScopeSet::EMPTY);
                }
            });
        }
    }
}

#[test]
fn a_web_clients_loopback_redirect_has_its_port_and_a_native_ones_any() {
    let at = |application_type, port: &str| {
        house_with(|client| {
            client.application_type = application_type;
            client.redirect_uris =
                vec![RedirectUri::parse("http://localhost:3000/cb", false).unwrap()];
        })
        .validate(&[("redirect_uri", &format!("http://localhost{port}/cb"))])
        .is_ok()
    };
    for (port, web, native) in [
        (":3000", true, true),
        (":9999", false, true),
        ("", false, true),
    ] {
        assert_eq!(at(ApplicationType::Web, port), web, "{port}");
        assert_eq!(at(ApplicationType::Native, port), native, "{port}");
    }
}

/// RFC 9396 section 5: refused, not taken and forgotten.
#[test]
fn authorization_details_of_a_type_that_is_not_supported_are_refused() {
    let mut h = house();
    for enabled in [false, true] {
        h.settings.agents.enabled = enabled;
        let details = [(
            "authorization_details",
            r#"[{"type":"payment_initiation"}]"#,
        )];
        assert_eq!(
            h.redirected(&details),
            ErrorCode::InvalidAuthorizationDetails
        );
        assert_eq!(
            h.push(&details),
            Err(ErrorCode::InvalidAuthorizationDetails)
        );
    }
}

/// OpenID Connect Core section 3.1.2.6: what is missing may lie inside the object, so that is no
/// answer.
#[test]
fn a_request_object_is_what_is_wrong_with_a_request_that_has_one() {
    let inside = [
        ("request", "e30.e30."),
        ("redirect_uri", ""),
        ("response_type", ""),
        ("scope", ""),
        ("code_challenge", ""),
        ("code_challenge_method", ""),
    ];
    let h = house();
    assert_eq!(h.push(&inside), Err(ErrorCode::RequestNotSupported));
    assert_eq!(h.redirected(&inside), ErrorCode::RequestNotSupported);
    let two = house_with(|client| {
        let second = RedirectUri::parse("https://client.example/other", false).unwrap();
        client.redirect_uris.push(second);
    });
    assert_eq!(two.page(&inside), ErrorCode::RequestNotSupported);
}
