//! Faults of clients' records, and of what is said about the server.
use super::*;

/// Known fault A15.
#[test]
fn a_changed_client_record_counts_from_the_answer_on() {
    let mail = Mail::new();
    let server = server(&mail, |setup| {
        setup.settings.registration.enabled = true;
        setup.settings.registration.open = true;
        let open = ["authorization_code", "client_credentials"];
        setup.settings.registration.grant_types = open.map(str::to_owned).to_vec();
    });
    let document = json!({
        "redirect_uris": [CALLBACK],
        "grant_types": ["authorization_code", "client_credentials"],
        "token_endpoint_auth_method": "client_secret_basic",
    });
    let made = Call::post("/register")
        .json(&document)
        .send(&server)
        .expect(201);
    let (id, secret) = (made.member("client_id"), made.member("client_secret"));
    let grant = Call::post("/token")
        .basic(&id, &secret)
        .form(&[("grant_type", "client_credentials")]);
    // Whatever is kept of the client by now, it is used often.
    for _ in 0..5 {
        grant.send(&server).expect(200);
    }
    let path = format!("/register/{id}");
    let token = made.member("registration_access_token");
    let mut changed = document.clone();
    changed["client_id"] = json!(id);
    changed["redirect_uris"] = json!(["https://client.example/new"]);
    changed["grant_types"] = json!(["authorization_code"]);
    let put = Call::new(http::Method::PUT, &path)
        .bearer(&token)
        .json(&changed);
    put.send(&server).expect(200);
    grant.send(&server).expect_error(400, "unauthorized_client");
    let page = Browser::new(&server).get(&request(&[("client_id", &id)]));
    page.expect_error("invalid_request");
    Call::new(http::Method::DELETE, &path)
        .bearer(&token)
        .send(&server)
        .expect(204);
    grant.send(&server).expect_error(401, "invalid_client");
}

/// Known fault A16.
#[test]
fn what_the_metadata_names_is_there_and_what_is_not_there_is_refused() {
    let mail = Mail::new();
    let server = server(&mail, |setup| {
        setup.settings.registration.enabled = true;
        setup.settings.registration.open = true;
    });
    let meta = Call::get("/.well-known/openid-configuration")
        .send(&server)
        .expect(200)
        .json();
    let names = |member: &str| -> Vec<String> {
        let list = meta[member]
            .as_array()
            .unwrap_or_else(|| panic!("{member}"));
        list.iter()
            .map(|v| v.as_str().unwrap().to_owned())
            .collect()
    };
    for (name, url) in meta.as_object().unwrap() {
        if name.ends_with("_endpoint") || name == "jwks_uri" {
            let path = url
                .as_str()
                .unwrap()
                .strip_prefix(&server.issuer())
                .unwrap()
                .to_owned();
            let found = [Call::get(&path), Call::post(&path)].map(|call| call.send(&server).status);
            assert!(
                found.iter().any(|s| ![404, 405].contains(s)),
                "{name}: {found:?}"
            );
        }
    }
    for grant in names("grant_types_supported") {
        let reply = ask(&server, "/token", "web", &[("grant_type", &grant)]);
        assert_ne!(reply.json()["error"], "unsupported_grant_type", "{grant}");
    }
    let keys = Call::get("/jwks").send(&server).expect(200).text();
    for algorithm in names("id_token_signing_alg_values_supported") {
        assert!(
            keys.contains(&format!("\"alg\":\"{algorithm}\"")),
            "{algorithm}"
        );
    }
    assert_eq!(names("subject_types_supported"), ["public"]);
    assert_eq!(names("response_types_supported"), ["code"]);
    for (member, value) in [
        ("subject_type", json!("pairwise")),
        ("id_token_encrypted_response_alg", json!("RSA-OAEP")),
        ("userinfo_encrypted_response_alg", json!("RSA-OAEP")),
        ("require_signed_request_object", json!(true)),
        ("response_types", json!(["code", "id_token"])),
    ] {
        let mut document = json!({ "redirect_uris": [CALLBACK] });
        document[member] = value;
        let reply = Call::post("/register").json(&document).send(&server);
        reply.expect_error(400, "invalid_client_metadata");
    }
}

/// Known fault A17: the policies that there are, which are those of the client's record. What it
/// does not say is not allowed, at any grant.
#[test]
fn a_clients_policy_holds_for_every_grant_and_allows_nothing_by_default() {
    let mail = Mail::new();
    let server = server(&mail, |setup| {
        let mut bare = client("bare");
        bare.grant_types.clear();
        bare.scope = crate::common::scope("");
        let mut scopeless = client("scopeless");
        scopeless.scope = crate::common::scope("");
        let mut bound = client("bound");
        bound.dpop_bound_access_tokens = true;
        let mut disabled = client("disabled");
        disabled.enabled = false;
        setup.clients.extend([bare, scopeless, bound, disabled]);
    });
    let reach = |who: &str, scope: &str| {
        let form = [("grant_type", "client_credentials"), ("scope", scope)];
        ask(&server, "/token", who, &form)
    };
    let device =
        |who: &str, scope: &str| ask(&server, "/device_authorization", who, &[("scope", scope)]);
    credentials(&server, "bare").expect_error(400, "unauthorized_client");
    device("bare", "openid").expect_error(400, "unauthorized_client");
    for scope in ["api:read", "signet:admin", "anything"] {
        reach("scopeless", scope).expect_error(400, "invalid_scope");
        device("scopeless", scope).expect_error(400, "invalid_scope");
    }
    for who in ["web", "scopeless"] {
        reach(who, "signet:admin").expect_error(400, "invalid_scope");
    }
    credentials(&server, "bound").expect_error(400, "invalid_request");
    credentials(&server, "disabled").expect_error(401, "invalid_client");
    device("disabled", "openid").expect_error(401, "invalid_client");
    let unknown = [
        ("grant_type", "client_credentials"),
        ("resource", "https://unknown.example"),
    ];
    ask(&server, "/token", "web", &unknown).expect_error(400, "invalid_target");
}

/// Known fault A18.
#[test]
fn two_writers_do_not_lose_each_others_redirect_uris() {
    let mut operator = client("operator");
    operator.scope = crate::common::scope("signet:admin");
    let server = Server::start(Setup {
        clients: vec![operator],
        ..Setup::default()
    });
    let form = [
        ("grant_type", "client_credentials"),
        ("scope", "signet:admin"),
    ];
    let admin = ask(&server, "/token", "operator", &form)
        .expect(200)
        .member("access_token");
    let call = |method, path: &str| Call::new(method, path).bearer(&admin);
    let document = json!({ "redirect_uris": [CALLBACK], "grant_types": ["authorization_code"], "token_endpoint_auth_method": "none" });
    let made = call(http::Method::POST, "/admin/v1/clients")
        .json(&document)
        .send(&server)
        .expect(201);
    let path = format!("/admin/v1/clients/{}", made.member("client_id"));
    let read = call(http::Method::GET, &path).send(&server).expect(200);
    let (record, tag) = (read.json(), read.header("etag").to_owned());
    let write = |uri: &str, tag: Option<&str>| {
        let mut next = record.clone();
        next["redirect_uris"] = json!([CALLBACK, uri]);
        let put = call(http::Method::PUT, &path).json(&next);
        tag.map_or(put.clone(), |tag| put.header("if-match", tag))
            .send(&server)
            .status
    };
    assert_eq!(write("https://client.example/first", Some(&tag)), 200);
    assert_eq!(
        write("https://client.example/second", Some(&tag)),
        412,
        "read before the first"
    );
    assert_eq!(write("https://client.example/second", None), 428);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (call, path, server) = (&call, format!("{path}/redirect_uris"), &server);
            scope.spawn(move || {
                let add = json!({ "add": [format!("https://client.example/{number}")] });
                call(http::Method::POST, &path)
                    .json(&add)
                    .send(server)
                    .expect(200);
            });
        }
    });
    let uris = call(http::Method::GET, &path)
        .send(&server)
        .expect(200)
        .json()["redirect_uris"]
        .clone();
    assert_eq!(uris.as_array().unwrap().len(), 10, "{uris}");
}
