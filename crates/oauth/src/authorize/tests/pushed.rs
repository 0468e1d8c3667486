//! What a pushed request must be.
use super::*;
use crate::id::PushedId;

#[test]
fn a_pushed_request_is_what_was_pushed_and_nothing_of_the_query() {
    let h = house();
    let uri = h.push(&[("nonce", "pushed")]).unwrap();
    let query = Params::from_pairs([
        ("client_id", "client"),
        ("request_uri", uri.as_str()),
        ("scope", "openid profile"),
        ("state", "other"),
        ("redirect_uri", "https://evil.example/cb"),
    ])
    .unwrap();
    let request = h.asked(query).unwrap();
    assert_eq!(request.scope.to_string(), "openid email");
    assert_eq!(request.return_to.state.as_deref(), Some("xyz"));
    assert_eq!(request.nonce.as_deref(), Some("pushed"));
    assert_eq!(request.pushed.unwrap().id, PushedId::new([9; 16]));
}

#[test]
fn a_request_uri_is_for_its_client_and_its_time_and_must_be_ours() {
    let mut h = house();
    let other = Arc::new(a_client("other"));
    h.registry.clients.insert("other".into(), other);
    let uri = h.push(&[]).unwrap();
    let ask = |h: &House, client: &str, uri: &str| {
        let pairs = [("client_id", client), ("request_uri", uri)];
        let query = Params::from_pairs(pairs.into_iter().filter(|(_, v)| !v.is_empty())).unwrap();
        match h.asked(query) {
            Ok(_) => None,
            Err(AuthorizeError::Page(e)) => Some(e.code),
            Err(e) => panic!("{e:?}"),
        }
    };
    assert_eq!(ask(&h, "client", &uri), None);
    assert_eq!(ask(&h, "", &uri), Some(ErrorCode::InvalidRequest));
    assert_eq!(ask(&h, "other", &uri), Some(ErrorCode::InvalidRequest));
    let altered = format!("{}A", &uri[..uri.len() - 1]);
    let altered = if altered == uri {
        format!("{}B", &uri[..uri.len() - 1])
    } else {
        altered
    };
    for bad in [
        altered.as_str(),
        par::URN,
        "urn:ietf:params:oauth:request_uri:AAAA",
    ] {
        assert_eq!(
            ask(&h, "client", bad),
            Some(ErrorCode::InvalidRequestUri),
            "{bad}"
        );
    }
    h.now += h.settings.par_lifetime;
    assert_eq!(ask(&h, "client", &uri), Some(ErrorCode::InvalidRequestUri));
}

#[test]
fn pushing_refuses_what_the_endpoint_would_refuse() {
    let h = house();
    for (name, value, code) in [
        (
            "request_uri",
            "urn:ietf:params:oauth:request_uri:x",
            ErrorCode::InvalidRequest,
        ),
        ("request", "x", ErrorCode::RequestNotSupported),
        ("redirect_uri", "", ErrorCode::InvalidRequest),
        (
            "redirect_uri",
            "https://evil.example",
            ErrorCode::InvalidRequest,
        ),
        ("client_id", "somebody", ErrorCode::InvalidRequest),
        (
            "response_type",
            "code token",
            ErrorCode::UnsupportedResponseType,
        ),
        ("code_challenge_method", "plain", ErrorCode::InvalidRequest),
        ("code_challenge", "", ErrorCode::InvalidRequest),
    ] {
        assert_eq!(h.push(&[(name, value)]), Err(code), "{name}={value}");
    }
}

#[test]
fn a_client_that_must_push_cannot_ask_directly() {
    let h = house_with(|c| c.require_pushed_authorization_requests = true);
    assert_eq!(h.redirected(&[]), ErrorCode::InvalidRequest);
    assert!(h.push(&[]).is_ok());
    let mut h = house();
    h.settings.require_pushed_authorization_requests = true;
    assert_eq!(h.redirected(&[]), ErrorCode::InvalidRequest);
}

#[test]
fn dpop_jkt_and_the_proof_of_the_pushing_agree() {
    let h = house();
    let push = |named: &str, proven: Option<&str>| {
        let incoming = Incoming::at_par(params(&[("dpop_jkt", named)]));
        let resolved = incoming.resolved(Some(h.client().clone()));
        h.with_context(|c| validate_pushed(&resolved, proven, c))
            .map(|r| r.dpop_jkt)
            .map_err(|e| e.code)
    };
    assert_eq!(push("", Some("proof-key")), Ok(Some("proof-key".into())));
    assert_eq!(push(CHALLENGE, None), Ok(Some(CHALLENGE.into())));
    assert_eq!(push(CHALLENGE, Some(CHALLENGE)), Ok(Some(CHALLENGE.into())));
    assert_eq!(
        push(CHALLENGE, Some("other")),
        Err(ErrorCode::InvalidDpopProof)
    );
}

#[test]
fn an_answered_pushed_request_is_stopped_whoever_is_logged_in() {
    let h = house();
    let uri = h.push(&[]).unwrap();
    let query = Params::from_pairs([("client_id", "client"), ("request_uri", uri.as_str())]);
    let request = h.asked(query.unwrap()).unwrap();
    let alice = session();
    for session in [None, Some(&alice)] {
        let needs = needs(&request, h.client(), session);
        assert_eq!(needs.pushed, request.pushed.as_ref());
        assert_eq!(needs.consent_of, session.map(|s| s.user_id.as_str()));
        let mut answered = facts(session);
        answered.looked_up.pushed_is_used = true;
        assert!(matches!(
            decide(&request, h.client(), &answered),
            Step::Stop(error) if error.code == ErrorCode::InvalidRequestUri
        ));
    }
}

#[test]
fn only_a_consent_that_counts_is_looked_up() {
    let alice = session();
    let h = house_with(|c| c.consent = ConsentPolicy::Skip);
    let needs = needs(&h.ok(&[]), h.client(), Some(&alice))
        .consent_of
        .is_some();
    assert!(!needs);
}
