//! A person's own data, as they download it and as an administrator has it.
use crate::common::{
    SECRET, Server,
    browser::Browser,
    client,
    client::{Call, Reply},
    people::{Mail, PASSWORD, VERIFIER, request, start},
    scope,
    totp::{App, between},
};
use http::Method;
use serde_json::{Value, json};

fn admin(server: &Server, method: Method, path: &str, body: Option<&Value>) -> Reply {
    let form = [
        ("grant_type", "client_credentials"),
        ("scope", "signet:admin"),
    ];
    let token = Call::post("/token").basic("operator", SECRET).form(&form);
    let token = token.send(server).expect(200).member("access_token");
    let call = Call::new(method, &format!("/admin/v1{path}")).bearer(&token);
    match body {
        None => call.send(server),
        Some(body) => call.json(body).send(server),
    }
}

#[test]
fn a_person_and_an_administrator_read_all_that_is_kept_and_no_secret() {
    let mail = Mail::new();
    let server = start(&mail, |setup| {
        let mut operator = client("operator");
        operator.scope = scope("signet:admin");
        setup.clients.push(operator);
    });
    for (name, read) in [("department", "person"), ("rating", "administrator")] {
        let body = json!({ "read": read });
        admin(
            &server,
            Method::PUT,
            &format!("/attributes/{name}"),
            Some(&body),
        )
        .expect(201);
    }
    admin(&server, Method::PUT, "/groups/staff", Some(&json!({}))).expect(201);
    let found = admin(&server, Method::GET, "/users?login=alice", None).json();
    let id = found["items"][0]["id"].as_str().expect("an id").to_owned();
    let path = format!("/users/{id}");
    let body = json!({ "attributes": { "department": "Sales", "rating": "B" } });
    let attributes = format!("{path}/attributes");
    admin(&server, Method::PUT, &attributes, Some(&body)).expect(200);
    let body = json!({ "add": ["staff"] });
    admin(
        &server,
        Method::POST,
        &format!("{path}/groups"),
        Some(&body),
    )
    .expect(200);

    let mut browser = Browser::new(&server);
    let page = browser.get("/account");
    let page = browser
        .log_in(&page, "alice", PASSWORD)
        .expect("Your account");
    let page = browser.press(&page, "totp-add", &[]);
    let secret = between(&page.text(), "<code id=\"totp-secret\">", "<");
    let digits = App::of(&secret).code(&server, 0);
    browser.press(&page, "totp-add", &[("totp", &digits)]);
    let page = browser.get(&request(&[("scope", "openid offline_access")]));
    let code = browser.press(&page, "allow", &[]).param("code");
    let redeem = [
        ("grant_type", "authorization_code"),
        ("code", &*code.expect("a code")),
        ("redirect_uri", "https://client.example/cb"),
        ("code_verifier", VERIFIER),
    ];
    let tokens = Call::post("/token").basic("web", SECRET).form(&redeem);
    let refresh = tokens.send(&server).expect(200).member("refresh_token");

    let page = browser.get("/account");
    let answer = browser.press(&page, "export", &[]).expect_status(200);
    assert_eq!(answer.reply.header("content-type"), "application/json");
    assert!(
        answer
            .reply
            .header("content-disposition")
            .starts_with("attachment")
    );
    assert_eq!(answer.reply.header("cache-control"), "no-store");
    let own = answer.reply.json();
    let read = admin(&server, Method::GET, &format!("{path}/export"), None).expect(200);
    let administrators = read.json();

    assert_eq!(
        own["account"]["attributes"],
        json!({ "department": "Sales" })
    );
    assert_eq!(own["withheld_attributes"], json!(["rating"]));
    let both = json!({ "department": "Sales", "rating": "B" });
    assert_eq!(administrators["account"]["attributes"], both);
    assert!(administrators.get("withheld_attributes").is_none());
    for data in [&own, &administrators] {
        assert_eq!(data["account"]["username"], "alice");
        assert_eq!(data["account"]["email"], "alice@example.test");
        assert_eq!(data["account"]["groups"], json!(["staff"]));
        let kinds: Vec<&Value> = data["credentials"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|credential| &credential["kind"])
            .collect();
        assert!(kinds.contains(&&json!("totp")), "{kinds:?}");
        assert_eq!(data["sessions"].as_array().expect("a list").len(), 1);
        assert_eq!(data["consents"][0]["client_id"], "web");
        assert_eq!(data["grants"][0]["client_id"], "web");
        for list in ["identities", "agents", "delegations"] {
            assert_eq!(data[list], json!([]), "{list}");
        }
        let text = data.to_string();
        let cookies = browser.cookies.values().map(String::as_str);
        for hidden in cookies.chain(["$argon2", PASSWORD, &secret, &refresh]) {
            assert!(!text.contains(hidden), "{hidden} is in {text}");
        }
    }
    admin(&server, Method::GET, "/users/nobody/export", None).expect(404);
    // Nobody's: the button without a session leads to the login.
    let page = browser.get("/account");
    browser.cookies.clear();
    browser
        .press(&page, "export", &[])
        .expect_error("invalid_request");
}
