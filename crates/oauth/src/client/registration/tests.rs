//! The rules of registration and management, one test each.
use super::*;
use crate::{client::GrantType, testing::keyring};
use proptest::prelude::*;

const NOW: u64 = 1_800_000_000;

fn settings() -> Settings {
    let mut s = Settings::new("https://id.example");
    s.registration.enabled = true;
    s.mtls_base = Some("https://id.example:9443".into());
    s
}
fn random() -> Random {
    Random {
        client_id: [1; 16],
        secret: [2; 48],
        token: [3; 32],
    }
}
fn try_register(body: &str) -> Result<Registered, OAuthError> {
    register(
        body.as_bytes(),
        &settings(),
        &keyring(),
        None,
        &random(),
        NOW,
    )
}
/// The good document with one member more, or another value of it.
fn with(member: &str) -> String {
    let name = member.split('"').nth(1).unwrap_or_default();
    if name == "redirect_uris" {
        format!("{{{member}}}")
    } else {
        format!(r#"{{"redirect_uris":["https://rp.example/cb"],{member}}}"#)
    }
}
fn ok(member: &str) -> Client {
    try_register(&with(member))
        .unwrap_or_else(|e| panic!("{member}: {e:?}"))
        .client
}
fn refused(member: &str) -> OAuthError {
    try_register(&with(member)).map(|_| ()).expect_err(member)
}

const KEY: &str = r#"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#;

#[test]
fn the_defaults_are_those_of_the_specifications() {
    let registered = try_register(r#"{"redirect_uris":["https://rp.example/cb"]}"#).unwrap();
    let client = &registered.client;
    assert_eq!(
        client.token_endpoint_auth_method,
        AuthMethod::ClientSecretBasic
    );
    assert_eq!(client.grant_types, [GrantType::AuthorizationCode]);
    assert_eq!(client.response_types, ["code"]);
    assert!(client.require_pkce && client.consent == ConsentPolicy::Ask);
    assert!(!client.scope.contains("offline_access"));
    let answer = json::parse_object(&registered.response, &Limits::default()).unwrap();
    let secret = answer.string("client_secret").unwrap().unwrap();
    assert_eq!(secret.len(), 64);
    assert_eq!(answer.u64("client_secret_expires_at"), Ok(Some(0)));
    assert_eq!(
        answer.string("registration_client_uri").unwrap(),
        Some(format!("https://id.example/register/{}", client.client_id).as_str())
    );
    assert_eq!(
        answer.string("id_token_signed_response_alg"),
        Ok(Some("RS256"))
    );
    assert_eq!(
        client.secrets,
        [ClientSecret::Sha256 {
            hash: sha256(secret.as_bytes()),
            expires_at: None
        }]
    );
    let token = answer.string("registration_access_token").unwrap();
    assert_eq!(authorize_management(Some(client), token), Ok(()));
}

#[test]
fn members_that_are_not_understood_are_ignored() {
    let client = ok(
        r#""client_name#de":"x","x_of_another_server":"https://x","request_object_signing_alg":"none","consent":"implicit","may_act_for":["x"],"require_pkce":false,"enabled":false,"resources":["x"]"#,
    );
    assert!(client.enabled && client.require_pkce && client.may_act_for.is_empty());
    assert_eq!(client.consent, ConsentPolicy::Ask);
    assert!(client.resources.is_empty());
}

// LS6: shown on login and consent as it was written.
#[test]
fn what_a_stranger_writes_for_people_has_nothing_that_cannot_be_seen() {
    for unseen in [
        "\u{202e}", "\u{200b}", "\u{2028}", "\u{2066}", "\u{3164}", "\u{feff}",
    ] {
        for member in ["client_name", "software_id", "software_version"] {
            refused(&format!(r#""{member}":"Signet{unseen}moc""#));
        }
        refused(&format!(
            r#""contacts":["a@rp.example","b{unseen}@rp.example"]"#
        ));
    }
    for name in [
        "Zo\u{eb}'s app",
        "\u{65e5}\u{672c}\u{8a9e}",
        "\u{5d0}\u{5d1} \u{5d2}",
        "\u{645}\u{62d}\u{645}\u{62f}",
        "\u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940}",
        "\u{1f600}",
    ] {
        let client = ok(&format!(r#""client_name":"{name}""#));
        assert_eq!(client.client_name.as_deref(), Some(name));
        // What an earlier version took is still read.
        let mut before = client;
        before.client_name = Some(format!("{name}\u{202e}"));
        assert_eq!(Client::from_json(&before.to_json()), Ok(before));
    }
}

#[test]
fn a_page_that_a_logout_loads_is_of_the_origin_of_a_redirect_uri() {
    let client = ok(r#""frontchannel_logout_uri":"https://rp.example/out?x=y""#);
    assert_eq!(
        client.frontchannel_logout_uri.as_deref(),
        Some("https://rp.example/out?x=y")
    );
    for url in [
        "https://other.example/out",
        "https://rp.example:8443/out",
        "http://rp.example/out",
        "https://rp.example.evil.example/out",
    ] {
        let member = format!(r#""frontchannel_logout_uri":"{url}""#);
        let error = refused(&member);
        assert_eq!(error.code, ErrorCode::InvalidClientMetadata, "{url}");
    }
}

#[test]
fn what_would_leave_the_client_less_safe_than_it_thinks_is_refused() {
    for member in [
        r#""software_statement":"a.b.c""#,
        r#""id_token_encrypted_response_alg":"RSA-OAEP""#,
        r#""userinfo_encrypted_response_alg":"RSA-OAEP""#,
        r#""subject_type":"pairwise""#,
        r#""subject_type":7"#,
        r#""require_signed_request_object":true"#,
        r#""id_token_signed_response_alg":"none""#,
        r#""userinfo_signed_response_alg":"none""#,
        r#""id_token_signed_response_alg":"HS256""#,
        r#""id_token_signed_response_alg":"PS512""#,
        r#""token_endpoint_auth_signing_alg":"none""#,
        r#""token_endpoint_auth_method":"private_key_jwt""#,
        r#""token_endpoint_auth_method":"tls_client_auth""#,
        r#""token_endpoint_auth_method":"self_signed_tls_client_auth""#,
        r#""token_endpoint_auth_method":"client_secret_magic""#,
        r#""token_endpoint_auth_method":"client_secret_jwt","token_endpoint_auth_signing_alg":"ES256""#,
        r#""token_endpoint_auth_method":"none","grant_types":["authorization_code","client_credentials"]"#,
        r#""grant_types":["implicit"]"#,
        r#""grant_types":["urn:ietf:params:oauth:grant-type:token-exchange"]"#,
        r#""grant_types":["authorization_code","authorization_code"]"#,
        r#""grant_types":["client_credentials"],"response_types":["code"]"#,
        r#""response_types":["code id_token"]"#,
        r#""response_types":[]"#,
        r#""jwks_uri":"http://rp.example/jwks""#,
        r#""jwks":{"keys":[]}"#,
        r#""jwks":[]"#,
        r#""jwks_uri":"https://rp.example/jwks","jwks":{"keys":[]}"#,
        r#""scope":7"#,
        r#""client_name":7"#,
        r#""logo_uri":"javascript:x""#,
        r#""initiate_login_uri":"http://127.0.0.1/""#,
        r#""default_max_age":"x""#,
        r#""sector_identifier_uri":"http://rp.example/list""#,
        r#""sector_identifier_uri":"https://rp.example/list""#,
        r#""tls_client_auth_san_dns":"a","tls_client_auth_san_email":"b""#,
    ] {
        assert_eq!(
            refused(member).code,
            ErrorCode::InvalidClientMetadata,
            "{member}"
        );
    }
    for body in [
        "",
        "[]",
        "null",
        "{",
        r#"{"redirect_uris":[],"redirect_uris":[]}"#,
    ] {
        assert!(try_register(body).is_err(), "{body}");
    }
}

#[test]
fn a_logout_uri_may_be_http_on_loopback_as_a_redirect_uri_may() {
    for name in ["backchannel_logout_uri", "frontchannel_logout_uri"] {
        let with =
            |uri: &str| format!(r#""redirect_uris":["http://localhost:3000/cb"],"{name}":"{uri}""#);
        let register = |uri: &str| try_register(&format!("{{{}}}", with(uri)));
        assert!(register("http://localhost:3000/logout").is_ok(), "{name}");
        for uri in [
            "http://rp.example/logout",
            "ftp://localhost/logout",
            "http://localhost.rp.example/",
        ] {
            assert!(register(uri).is_err(), "{name}: {uri}");
        }
    }
}

#[test]
fn redirect_uris_are_checked_by_application_type() {
    for member in [
        r#""redirect_uris":[]"#,
        r#""redirect_uris":["https://rp.example/cb#fragment"]"#,
        r#""redirect_uris":["http://rp.example/cb"]"#,
        r#""redirect_uris":["com.example.app:/cb"]"#,
        r#""redirect_uris":"https://rp.example/cb""#,
        r#""redirect_uris":[7]"#,
        r#""redirect_uris":["myapp:/cb"],"application_type":"native""#,
        r#""post_logout_redirect_uris":["https://rp.example/#x"]"#,
    ] {
        assert_eq!(
            refused(member).code,
            ErrorCode::InvalidRedirectUri,
            "{member}"
        );
    }
    ok(r#""redirect_uris":["com.example.app:/cb"],"application_type":"native""#);
    ok(r#""redirect_uris":["https://rp.example/cb?x=y"]"#);
}

#[test]
fn each_method_gets_what_it_needs() {
    let keys = format!(r#""jwks":{{"keys":[{KEY}]}}"#);
    let client = ok(&format!(
        r#""token_endpoint_auth_method":"private_key_jwt",{keys},"token_endpoint_auth_signing_alg":"ES256""#
    ));
    assert!(client.secrets.is_empty() && client.jwks.is_some());
    let client = ok(r#""token_endpoint_auth_method":"client_secret_jwt""#);
    assert!(matches!(client.secrets[..], [ClientSecret::Sealed { .. }]));
    let client = ok(
        r#""token_endpoint_auth_method":"tls_client_auth","tls_client_auth_subject_dn":"CN=rp","tls_client_certificate_bound_access_tokens":true"#,
    );
    assert!(client.tls_client_auth.is_some() && client.is_sender_constrained());
    let client = ok(r#""token_endpoint_auth_method":"none""#);
    assert!(client.is_public() && client.secrets.is_empty());
    assert_eq!(client.allowed_origins, ["https://rp.example"]);
    // A private key in the set is refused, not stripped.
    let private = KEY.replace(
        "\"kty\"",
        "\"d\":\"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI\",\"kty\"",
    );
    refused(&format!(r#""jwks":{{"keys":[{private}]}}"#));
}

#[test]
fn certificates_are_refused_where_nobody_asks_for_them() {
    let mut s = settings();
    s.mtls_base = None;
    for member in [
        r#""token_endpoint_auth_method":"tls_client_auth","tls_client_auth_subject_dn":"CN=rp""#,
        r#""tls_client_certificate_bound_access_tokens":true"#,
    ] {
        let body = with(member);
        assert!(register(body.as_bytes(), &s, &keyring(), None, &random(), NOW).is_err());
    }
}

#[test]
fn registration_never_gives_a_scope_of_the_servers_own_or_more_than_its_default() {
    let mut s = settings();
    s.registration.default_scope = ScopeSet::parse(&format!(
        "openid email offline_access {}",
        crate::scope::PRIVILEGED.join(" ")
    ))
    .unwrap();
    let get = |member: &str| {
        let body = with(member);
        register(body.as_bytes(), &s, &keyring(), None, &random(), NOW)
            .unwrap()
            .client
            .scope
            .to_string()
    };
    assert_eq!(get(r#""x":1"#), "openid email");
    assert_eq!(
        get(r#""scope":"openid signet:admin signet:admin.read signet:revocations api:write""#),
        "openid"
    );
    assert_eq!(
        get(r#""grant_types":["authorization_code","refresh_token"]"#),
        "openid email offline_access"
    );
}

#[test]
fn pkce_is_what_the_setting_says_but_always_for_public_clients() {
    let mut s = settings();
    s.registration.require_pkce = false;
    let get = |member: &str| {
        let body = with(member);
        let registered = register(body.as_bytes(), &s, &keyring(), None, &random(), NOW);
        registered.unwrap().client.require_pkce
    };
    assert!(!get(r#""x":1"#));
    assert!(get(r#""token_endpoint_auth_method":"none""#));
}

#[test]
fn redirect_uris_must_be_in_the_sectors_list() {
    let body = with(r#""sector_identifier_uri":"https://rp.example/list""#);
    assert_eq!(
        sector_identifier_uri(body.as_bytes()).unwrap().as_deref(),
        Some("https://rp.example/list")
    );
    let run = |list: &[&str]| {
        let list: Vec<String> = list.iter().map(|s| (*s).to_owned()).collect();
        register(
            body.as_bytes(),
            &settings(),
            &keyring(),
            Some(&list),
            &random(),
            NOW,
        )
        .is_ok()
    };
    assert!(run(&["https://rp.example/other", "https://rp.example/cb"]));
    assert!(!run(&["https://rp.example/other"]));
    assert!(!run(&[]));
}

#[test]
fn management_needs_the_clients_own_token() {
    let client = ok(r#""x":1"#);
    let token = base64url::encode(&[3; 32]);
    assert!(authorize_management(Some(&client), Some(&token)).is_ok());
    for (c, t) in [
        (Some(&client), None),
        (Some(&client), Some("")),
        (Some(&client), Some("wrong")),
        (None, Some(token.as_str())),
    ] {
        assert_eq!(authorize_management(c, t).unwrap_err().status(), 401);
    }
    // A client that was not registered dynamically has no such token: nothing opens it.
    let mut operators = client.clone();
    operators.registration_token_hash = None;
    assert!(authorize_management(Some(&operators), Some("")).is_err());
}

#[test]
fn an_update_replaces_metadata_and_keeps_policy_and_secret() {
    let keyring = keyring();
    let registered = register(
        with(r#""client_name":"Old""#).as_bytes(),
        &settings(),
        &keyring,
        None,
        &random(),
        NOW,
    )
    .unwrap();
    let mut current = registered.client;
    current.resources = vec!["https://api.example".into()];
    let run = |member: &str| {
        let body = format!(
            r#"{{"client_id":"{}","redirect_uris":["https://rp.example/new"],{member}}}"#,
            current.client_id
        );
        update(
            &current,
            body.as_bytes(),
            "t",
            &settings(),
            &keyring,
            None,
            &random(),
        )
    };
    let updated = run(r#""client_uri":"https://rp.example/""#).unwrap().client;
    assert_eq!(updated.client_name, None);
    assert_eq!(updated.redirect_uris[0].as_str(), "https://rp.example/new");
    assert_eq!(updated.revision, current.revision + 1);
    assert_eq!(updated.secrets, current.secrets);
    assert_eq!(updated.resources, current.resources);
    assert_eq!(
        updated.registration_token_hash,
        current.registration_token_hash
    );
    let secret = base64url::encode(&[2; 48]);
    assert!(run(&format!(r#""client_secret":"{secret}""#)).is_ok());
    for bad in [
        r#""client_secret":"another""#,
        r#""registration_access_token":"x""#,
        r#""client_id_issued_at":1"#,
        r#""software_statement":"x""#,
        r#""sector_identifier_uri":"https://rp.example/list""#,
    ] {
        assert!(run(bad).is_err(), "{bad}");
    }
    let stolen = r#"{"client_id":"another","redirect_uris":["https://rp.example/new"]}"#;
    assert!(
        update(
            &current,
            stolen.as_bytes(),
            "t",
            &settings(),
            &keyring,
            None,
            &random()
        )
        .is_err()
    );
    // To client_secret_jwt the hash is of no use: a new secret is made and told.
    let jwt = run(r#""token_endpoint_auth_method":"client_secret_jwt""#).unwrap();
    assert!(matches!(
        jwt.client.secrets[..],
        [ClientSecret::Sealed { .. }]
    ));
    assert!(
        String::from_utf8(jwt.response)
            .unwrap()
            .contains("client_secret\"")
    );
}

#[test]
fn a_stored_client_is_read_back_whole() {
    let registered = try_register(&format!(
            r#"{{"redirect_uris":["https://rp.example/cb"],"post_logout_redirect_uris":["https://rp.example/out"],
            "client_name":"Caf\u00e9","contacts":["a@rp.example"],"grant_types":["authorization_code","refresh_token"],
            "token_endpoint_auth_method":"self_signed_tls_client_auth","jwks":{{"keys":[{KEY}]}},"default_max_age":60,
            "require_auth_time":true,"default_acr_values":["a"],"tls_client_auth_san_ip":"192.0.2.1",
            "userinfo_signed_response_alg":"RS256","require_pushed_authorization_requests":true,
            "dpop_bound_access_tokens":true,"software_id":"s","software_version":"1",
            "tls_client_certificate_bound_access_tokens":true,"initiate_login_uri":"https://rp.example/login"}}"#
        ))
        .unwrap();
    let mut client = registered.client;
    client.enabled = false;
    client.revision = 7;
    client.allowed_origins = vec!["https://spa.example".into()];
    client.resources = vec!["https://api.example".into()];
    client.may_act_for = vec!["web".into()];
    client.access_token_signed_response_alg = Some(signet_crypto::Algorithm::MlDsa65);
    client.introspection_signed_response_alg = Some(signet_crypto::Algorithm::Es256);
    client.refresh_rotation = RefreshRotation::Keep;
    client.consent = ConsentPolicy::Skip;
    client.access_token_lifetime = Some(1);
    client.refresh_token_lifetime = Some(2);
    client.expires_at = Some(3);
    client.sector_identifier_uri = Some("https://rp.example/list".into());
    client.secrets = vec![
        ClientSecret::Sha256 {
            hash: [5; 32],
            expires_at: Some(9),
        },
        ClientSecret::Sealed {
            sealed: vec![1, 2, 3],
            expires_at: None,
        },
    ];
    assert_eq!(Client::from_json(&client.to_json()), Ok(client.clone()));
    client.jwks = None;
    client.jwks_uri = Some("https://rp.example/jwks".into());
    client.token_endpoint_auth_method = AuthMethod::PrivateKeyJwt;
    client.token_endpoint_auth_signing_alg = Some(signet_crypto::Algorithm::Ps256);
    client.grant_types = GrantType::ALL.to_vec();
    assert_eq!(Client::from_json(&client.to_json()), Ok(client.clone()));
    let public = Client::new("bare", 1);
    assert_eq!(Client::from_json(&public.to_json()), Ok(public));
    // Neither the public form nor the answer shows a hash.
    let mut out = Vec::new();
    Writer::new(&mut out).object(|w| client.write_public(w));
    let text = String::from_utf8(out).unwrap();
    assert!(!text.contains("sha256") && !text.contains("secrets") && !text.contains("sealed"));
}

#[test]
fn an_operators_secret_is_long_enough() {
    let make = |secret| client_secret(AuthMethod::ClientSecretPost, secret, "c", None, &keyring());
    assert!(make("0123456789abcdef0123456789abcde").is_err());
    assert!(make("0123456789abcdef0123456789abcdef").is_ok());
}

proptest! {
    #[test]
    fn registering_any_text_never_panics(text in ".{0,120}") {
        let _ = try_register(&text);
        let _ = sector_identifier_uri(text.as_bytes());
        let _ = Client::from_json(text.as_bytes());
    }
    #[test]
    fn registering_any_member_never_panics(
        name in prop_oneof![Just("grant_types"), Just("response_types"), Just("jwks"), Just("scope"), Just("contacts"),
            Just("tls_client_auth_san_ip"), Just("application_type"), Just("default_max_age"), Just("post_logout_redirect_uris")],
        value in prop_oneof![Just("null".to_owned()), Just("[]".to_owned()), Just("{}".to_owned()), Just("7".to_owned()),
            Just("[null]".to_owned()), Just("\"x\"".to_owned()), Just("[\"code\"]".to_owned()), Just("-1".to_owned())],
    ) {
        if let Ok(registered) = try_register(&with(&format!("\"{name}\":{value}"))) {
            prop_assert_eq!(Client::from_json(&registered.client.to_json()), Ok(registered.client));
        }
    }
}
