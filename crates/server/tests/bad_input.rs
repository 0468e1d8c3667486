//! Every malformed request gets its RFC's error code and status; nothing panics, nothing is half
//! done.
use crate::common::{SECRET, Server, Setup, client::Call};
use std::io::{Read, Write};

const FORM: &str = "application/x-www-form-urlencoded";

#[test]
fn malformed_token_requests_get_their_codes() {
    let server = Server::start(Setup::default());
    let many: String = (0..200).map(|n| format!("p{n}=x&")).collect();
    let long = format!("grant_type=client_credentials&scope={}", "x".repeat(20_000));
    let table: &[(&str, u16, &str)] = &[
        ("", 400, "invalid_request"),
        ("grant_type=", 400, "invalid_request"),
        ("grant_type=password", 400, "unsupported_grant_type"),
        ("grant_type=implicit", 400, "unsupported_grant_type"),
        (
            "grant_type=CLIENT_CREDENTIALS",
            400,
            "unsupported_grant_type",
        ),
        (
            "grant_type=client_credentials&grant_type=client_credentials",
            400,
            "invalid_request",
        ),
        ("grant_type=%zz", 400, "invalid_request"),
        ("grant_type=%ff", 400, "invalid_request"),
        ("grant_type=client_credentials%00", 400, "invalid_request"),
        ("=x", 400, "invalid_request"),
        (
            "grant_type=client_credentials&scope=unknown",
            400,
            "invalid_scope",
        ),
        (
            "grant_type=client_credentials&scope=openid",
            400,
            "invalid_scope",
        ),
        (
            "grant_type=client_credentials&scope=a%22b",
            400,
            "invalid_scope",
        ),
        (
            "grant_type=client_credentials&resource=https://unknown.example",
            400,
            "invalid_target",
        ),
        (
            "grant_type=client_credentials&resource=nonsense",
            400,
            "invalid_target",
        ),
        ("grant_type=authorization_code", 400, "invalid_request"),
        ("grant_type=authorization_code&code=x", 400, "invalid_grant"),
        ("grant_type=refresh_token", 400, "invalid_request"),
        (
            "grant_type=refresh_token&refresh_token=x",
            400,
            "invalid_grant",
        ),
        (
            "grant_type=urn:ietf:params:oauth:grant-type:device_code",
            400,
            "invalid_request",
        ),
        (
            "grant_type=urn:ietf:params:oauth:grant-type:device_code&device_code=x",
            400,
            "invalid_grant",
        ),
        (
            "grant_type=urn:ietf:params:oauth:grant-type:token-exchange",
            400,
            "invalid_request",
        ),
        (
            "grant_type=urn:ietf:params:oauth:grant-type:token-exchange&subject_token=x&subject_token_type=y",
            400,
            "invalid_request",
        ),
        (&many, 400, "invalid_request"),
        (&long, 400, "invalid_request"),
    ];
    for (body, status, error) in table {
        let reply = Call::post("/token")
            .basic("service", SECRET)
            .body(FORM, body.as_bytes())
            .send(&server);
        let short = &body[..body.len().min(80)];
        assert_eq!(
            (reply.status, &*reply.member("error")),
            (*status, *error),
            "{short}: {}",
            reply.text()
        );
        assert_eq!(reply.header("cache-control"), "no-store", "{short}");
        assert_ne!(reply.member("error_description"), "", "{short}");
    }
}

#[test]
fn bodies_of_the_wrong_kind_or_size_are_refused() {
    let server = Server::start(Setup::default());
    for path in [
        "/token",
        "/introspect",
        "/revoke",
        "/par",
        "/device_authorization",
    ] {
        let json = Call::post(path)
            .body("application/json", b"{}")
            .send(&server);
        assert_eq!(
            (json.status, &*json.member("error")),
            (415, "invalid_request")
        );
        let none = Call::post(path).send(&server);
        assert_eq!(none.status, 415, "{path}");
        let large = Call::post(path)
            .body(FORM, &vec![b'a'; 200 * 1024])
            .send(&server);
        assert_eq!(large.status, 413, "{path}");
        let charset = Call::post(path).body(
            "application/x-www-form-urlencoded; charset=UTF-8",
            b"token=x",
        );
        assert_ne!(charset.send(&server).status, 415, "{path}");
    }
}

#[test]
fn parameters_in_the_query_are_never_read() {
    let server = Server::start(Setup::default());
    // Known fault A1.
    let call = Call::post("/token?grant_type=client_credentials")
        .basic("service", SECRET)
        .body(FORM, b"");
    call.send(&server).expect_error(400, "invalid_request");
}

#[test]
fn malformed_authorization_headers_get_invalid_client_or_invalid_request() {
    let server = Server::start(Setup::default());
    let form = [("grant_type", "client_credentials")];
    for header in [
        "Basic",
        "Basic ",
        "Basic !!!",
        "Basic YQ==",
        "Basic OjpA",
        "Bearer x",
        "x",
        "Basic //9h",
    ] {
        let reply = Call::post("/token")
            .header("authorization", header)
            .form(&form)
            .send(&server);
        assert!(
            matches!(reply.status, 400 | 401),
            "{header}: {}",
            reply.text()
        );
        assert!(
            ["invalid_client", "invalid_request"].contains(&&*reply.member("error")),
            "{header}"
        );
    }
    let twice = Call::post("/token")
        .basic("service", SECRET)
        .basic("service", SECRET)
        .form(&form);
    twice.send(&server).expect_error(400, "invalid_request");
}

#[test]
fn malformed_assertions_and_proofs_are_refused() {
    let server = Server::start(Setup::default());
    for text in [
        "x",
        "a.b",
        "a.b.c",
        "..",
        "eyJhbGciOiJub25lIn0.e30.",
        &"a".repeat(9000),
    ] {
        let assertion = Call::post("/token").form(&[
            ("grant_type", "client_credentials"),
            (
                "client_assertion_type",
                "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
            ),
            ("client_assertion", text),
        ]);
        assertion.send(&server).expect_error(401, "invalid_client");
        let proof = Call::post("/token")
            .basic("service", SECRET)
            .header("dpop", text)
            .form(&[("grant_type", "client_credentials")]);
        proof.send(&server).expect_error(400, "invalid_dpop_proof");
    }
    let lonely = Call::post("/token").form(&[("client_assertion", "a.b.c")]);
    lonely.send(&server).expect_error(400, "invalid_request");
}

#[test]
fn a_protected_resource_says_what_it_wants() {
    let server = Server::start(Setup::default());
    let bare = Call::get("/userinfo").send(&server);
    assert_eq!(bare.status, 401);
    assert!(bare.header("www-authenticate").starts_with("Bearer"));
    assert!(!bare.header("www-authenticate").contains("error="));
    for (header, status, error) in [
        ("Bearer x", 401, "invalid_token"),
        ("Bearer a.b.c", 401, "invalid_token"),
        ("bearer a.b.c", 401, "invalid_token"),
        ("DPoP a.b.c", 401, "invalid_token"),
        ("Bearer", 400, "invalid_request"),
        ("Basic YTpi", 400, "invalid_request"),
    ] {
        let reply = Call::get("/userinfo")
            .header("authorization", header)
            .send(&server);
        assert_eq!(
            (reply.status, &*reply.member("error")),
            (status, error),
            "{header}"
        );
        assert_ne!(reply.header("www-authenticate"), "", "{header}");
    }
    let token = Call::post("/token")
        .basic("service", SECRET)
        .form(&[("grant_type", "client_credentials")])
        .send(&server)
        .member("access_token");
    let reply = Call::get("/userinfo").bearer(&token).send(&server);
    reply.expect_error(403, "insufficient_scope");
    let twice = Call::post("/userinfo")
        .bearer(&token)
        .form(&[("access_token", &token)]);
    twice.send(&server).expect_error(400, "invalid_request");
}

#[test]
fn introspection_and_revocation_need_a_token_and_take_any_string() {
    let server = Server::start(Setup::default());
    for path in ["/introspect", "/revoke"] {
        let none = Call::post(path).basic("service", SECRET).form(&[]);
        none.send(&server).expect_error(400, "invalid_request");
        for text in ["x", "....", "\u{1f600}", "%", " ", &"y".repeat(15_000)] {
            let reply = Call::post(path)
                .basic("service", SECRET)
                .form(&[("token", text)]);
            assert_eq!(reply.send(&server).status, 200, "{path}");
        }
    }
}

#[test]
fn broken_http_is_answered_or_closed_and_the_server_goes_on() {
    let server = Server::start(Setup {
        plain: true,
        ..Setup::default()
    });
    for raw in [
        "GARBAGE\r\n\r\n",
        "GET  / HTTP/1.1\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "POST /token HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
        "POST /token HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nabcdef",
        "POST /token HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n",
        "GET /\u{0}x HTTP/1.1\r\nhost: x\r\n\r\n",
    ] {
        let mut stream = std::net::TcpStream::connect(server.address).unwrap();
        stream
            .set_read_timeout(Some(std::time::Duration::from_secs(5)))
            .unwrap();
        stream.write_all(raw.as_bytes()).unwrap();
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        assert!(
            !answer.starts_with("HTTP/1.1 2") && !answer.contains(" 500 "),
            "{raw}: {answer}"
        );
    }
    assert_eq!(Call::get("/health/live").send(&server).status, 200);
}
