//! Faults at the door: what a browser sends, and what a person is shown.
use super::*;

/// Known fault A1.
#[test]
fn what_only_the_server_may_set_is_not_read_from_a_request() {
    let mail = Mail::new();
    let server = server(&mail, |_| {});
    let alice = id_of(&server, "alice");
    let claimed = [
        ("user_id", &*alice),
        ("sub", &*alice),
        ("sid", "1"),
        ("session_id", "1"),
        ("confirmed", "true"),
        ("consent", "true"),
        ("approved", "1"),
        ("authenticated", "true"),
        ("auth_time", "9999999999"),
        ("acr", "urn:signet:acr:password-and-email-code"),
        ("prompt", "none"),
    ];
    let page = Browser::new(&server).get(&request(&claimed));
    assert_eq!(error(&page), "login_required");
    let page = Browser::new(&server).post("/authorize", &parameters(&claimed));
    assert_eq!(error(&page), "login_required");
    // At the token endpoint, too: the tokens are the code's.
    let bob = id_of(&server, "bob");
    let code = code(&server, "web", &bob);
    let mut form = redeem(&code);
    form.extend([
        ("sub", &*alice),
        ("user_id", &*alice),
        ("acr", "x"),
        ("username", "alice"),
    ]);
    let reply = ask(&server, "/token", "web", &form).expect(200);
    assert_eq!(claims(&reply.member("access_token"))["sub"], *bob);
}

/// Known fault A2.
#[test]
fn a_device_is_approved_by_the_user_of_the_session() {
    let mail = Mail::new();
    let server = server(&mail, |_| {});
    let bob = id_of(&server, "bob");
    let form = [("scope", "openid")];
    let begun = ask(&server, "/device_authorization", "web", &form).expect(200);
    let user_code = begun.member("user_code");
    let device_code = begun.member("device_code");
    let forged = [
        ("user_code", &*user_code),
        ("user_id", &*bob),
        ("sub", &*bob),
        ("decision", "allow"),
    ];
    Browser::new(&server)
        .post("/device", &forged)
        .expect_status(400);
    let poll = [("grant_type", DEVICE), ("device_code", &*device_code)];
    ask(&server, "/token", "web", &poll).expect_error(400, "authorization_pending");

    let mut browser = Browser::new(&server);
    let page = browser.get(&with("/device", &[("user_code", &user_code)]));
    let page = browser.log_in(&page, "alice", PASSWORD);
    let page = browser.press(&page, "allow", &[]);
    let named = [("user_id", &*bob), ("sub", &*bob), ("username", "bob")];
    browser
        .press(&page, "allow", &named)
        .expect("Device connected");
    server.pass(6);
    let reply = ask(&server, "/token", "web", &poll).expect(200);
    let subject = claims(&reply.member("access_token"))["sub"].clone();
    assert_eq!(subject, *id_of(&server, "alice"));
}

/// Known fault A4.
#[test]
fn the_session_id_of_a_token_is_not_the_cookie() {
    let mail = Mail::new();
    let server = server(&mail, |_| {});
    let mut browser = Browser::new(&server);
    let reply = log_in(&server, &mut browser, "alice", &[]);
    let sid = claims(&reply.member("access_token"))["sid"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_ne!(browser.cookies[SESSION], sid);
    let mut thief = Browser::new(&server);
    thief.cookies.insert(SESSION.into(), sid);
    thief.get("/account").expect("name=\"password\"");
    browser.get("/account").expect("Your account");
}

/// Known fault A5.
#[test]
fn an_id_token_hint_alone_logs_nobody_in() {
    let mail = Mail::new();
    let server = server(&mail, |_| {});
    let hint = tokens(&server, "alice", &[]).member("id_token");
    let silent = request(&[("id_token_hint", &hint), ("prompt", "none")]);
    assert_eq!(error(&Browser::new(&server).get(&silent)), "login_required");
    let page = Browser::new(&server).get(&request(&[("id_token_hint", &hint)]));
    page.expect("name=\"password\"");
    // Nor does it make bob's session alice's.
    let mut bob = Browser::new(&server);
    log_in(&server, &mut bob, "bob", &[]);
    assert_eq!(error(&bob.get(&silent)), "login_required");
}

/// Known fault A6.
#[test]
fn acr_says_what_was_done_not_what_was_asked_for() {
    let mail = Mail::new();
    // Without mail, the class of two factors cannot be reached.
    let server = server(&mail, |setup| setup.people.mailer = None);
    let asked = [
        ("acr_values", "urn:signet:acr:password-and-email-code gold"),
        ("acr", "gold"),
    ];
    let reply = tokens(&server, "alice", &asked);
    for token in ["id_token", "access_token"] {
        let said = claims(&reply.member(token));
        assert_eq!(said["acr"], "urn:signet:acr:password", "{token}");
        assert_eq!(said["amr"], json!(["pwd"]), "{token}");
    }
    // Where the class is essential and was not reached, there is an error, not a claim.
    let essential = r#"{"id_token":{"acr":{"essential":true,"values":["gold"]}}}"#;
    let mut browser = Browser::new(&server);
    let mut page = browser.get(&request(&[("claims", essential)]));
    if page.text().contains("name=\"password\"") {
        page = browser.log_in(&page, "alice", PASSWORD);
    }
    assert_eq!(error(&page), "unmet_authentication_requirements");
}

/// Known fault A10.
#[test]
fn a_one_time_code_leaves_by_mail_or_not_at_all() {
    let mut mail = Mail::new();
    let server_with_mail = server(&mail, |_| {});
    let mut browser = Browser::new(&server_with_mail);
    let page = browser.get(&request(&[]));
    let page = browser.press(&page, "email", &[("username", "alice")]);
    let otp = mail.code();
    assert!(!page.text().contains(&otp));
    let headers = format!("{:?}", page.reply.headers);
    assert!(!headers.contains(&otp));

    let silent = server(&mail, |setup| setup.people.mailer = None);
    let mut browser = Browser::new(&silent);
    let page = browser.get(&request(&[]));
    assert!(!page.offers("email"));
    let sealed = page.field("interaction");
    let fields = [
        ("interaction", &*sealed),
        ("username", "alice"),
        ("decision", "email"),
    ];
    let page = browser.post("/interaction", &fields);
    assert!(!page.text().contains("name=\"otp\""));
}

/// Known fault A21, as far as there is something to try: origins are compared whole, names are
/// shown as text, parsers are bounded.
#[test]
fn origins_names_and_nested_input_are_what_they_are() {
    let mail = Mail::new();
    let hostile = "<img src=x onerror=alert(1)>\"'><script>alert(1)</script>";
    let server = server(&mail, |setup| {
        setup.clients[0].client_name = Some(hostile.into());
        setup.clients[0].allowed_origins = vec!["https://app.example".into()];
        setup.settings.registration.enabled = true;
        setup.settings.registration.open = true;
    });
    for (origin, allowed) in [
        ("https://app.example", "https://app.example"),
        ("https://evil-app.example", ""),
        ("https://app.example.evil.test", ""),
        ("https://sub.app.example", ""),
        ("https://app.example:444", ""),
        ("http://app.example", ""),
    ] {
        let reply = Call::post("/token").header("origin", origin).send(&server);
        assert_eq!(
            reply.header("access-control-allow-origin"),
            allowed,
            "{origin}"
        );
    }
    let mut browser = Browser::new(&server);
    let login = browser.get(&request(&[("login_hint", hostile)]));
    let consent = browser.log_in(&login, "alice", PASSWORD);
    for page in [&login, &consent] {
        assert!(!page.text().contains("<script>") && !page.text().contains("<img"));
    }
    let deep = format!("{}{}", "{\"userinfo\":".repeat(3000), "}".repeat(3000));
    let wide = format!(
        "{{\"userinfo\":{{{}}}}}",
        (0..3000)
            .map(|n| format!("\"c{n}\":null"))
            .collect::<Vec<_>>()
            .join(",")
    );
    for text in [deep, wide] {
        let form = parameters(&[("claims", &text)]);
        let form: Vec<(&str, &str)> = form
            .into_iter()
            .filter(|(n, _)| *n != "client_id")
            .collect();
        let begun = Instant::now();
        ask(&server, "/par", "web", &form).expect_error(400, "invalid_request");
        assert!(begun.elapsed() < Duration::from_secs(2));
    }
    let nested = format!("{{\"jwks\":{}1{}}}", "[".repeat(20_000), "]".repeat(20_000));
    let reply = Call::post("/register")
        .body("application/json", nested.as_bytes())
        .send(&server);
    reply.expect_error(400, "invalid_client_metadata");
}

/// Known fault A22.
#[test]
fn a_password_costs_the_same_for_everybody_and_has_a_longest_form() {
    let mail = Mail::new();
    let cost = signet_crypto::password::Cost {
        memory_kib: 8192,
        passes: 2,
        lanes: 1,
    };
    let server = server(&mail, |setup| setup.passwords.cost = cost);
    let users = &server.realm.people.users;
    let hash = signet_crypto::password::hash(PASSWORD.as_bytes(), cost).unwrap();
    block_on(users.set_password(&id_of(&server, "alice"), Some(&hash), server.realm.now()))
        .unwrap();
    let time = |name: &str, password: &str| {
        let mut browser = Browser::new(&server);
        let page = browser.get(&request(&[]));
        let begun = Instant::now();
        browser.log_in(&page, name, password).expect("is not right");
        begun.elapsed()
    };
    // The least of several tries, in turn, until both agree: what else the machine does takes time
    // from either.
    let (mut known, mut unknown) = (Duration::MAX, Duration::MAX);
    let agree = |one: Duration, other: Duration| one < other * 2 && other < one * 2;
    for _ in 0..12 {
        known = known.min(time("alice", "wrong"));
        unknown = unknown.min(time("nobody-of-that-name", "wrong"));
        if agree(known, unknown) {
            break;
        }
        // Guesses are counted for a while.
        server.pass(7200);
    }
    assert!(agree(known, unknown), "{known:?} and {unknown:?}");
    // Too long to be one: refused, and not hashed byte for byte.
    let mut browser = Browser::new(&server);
    let page = browser.get(&request(&[]));
    for size in [10_000, 60_000] {
        let begun = Instant::now();
        let page = browser.log_in(&page, "bob", &"x".repeat(size));
        assert!(page.url.starts_with('/') && page.param("code").is_none());
        assert!(begun.elapsed() < Duration::from_secs(2), "{size}");
    }
}
