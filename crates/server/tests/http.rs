//! The HTTP side by itself: limits, methods, entrances, headers, and the end.
use crate::common::{Server, Setup, client::Call};
use http::Method;
use std::io::{Read, Write};

#[test]
fn live_ready_and_metrics_answer() {
    let server = Server::start(Setup::default());
    assert_eq!(Call::get("/health/live").send(&server).status, 200);
    assert_eq!(Call::get("/health/ready").send(&server).status, 200);
    let metrics = Call::get("/metrics").send(&server).expect(200).text();
    assert!(metrics.contains("signet_requests_total"), "{metrics}");
}

#[test]
fn both_versions_of_http_answer_over_tls() {
    let server = Server::start(Setup::default());
    let one = Call::get("/jwks").send(&server).expect(200);
    let two = Call::get("/jwks").h2().send(&server).expect(200);
    assert_eq!(one.body, two.body);
    assert_eq!(one.header("cache-control"), "public, max-age=300");
    assert_eq!(one.header("x-content-type-options"), "nosniff");
    assert_eq!(one.header("x-request-id").len(), 16);
}

#[test]
fn a_head_request_gets_the_headers_only() {
    let server = Server::start(Setup::default());
    for call in [
        Call::new(Method::HEAD, "/jwks"),
        Call::new(Method::HEAD, "/jwks").h2(),
    ] {
        let reply = call.send(&server).expect(200);
        assert!(reply.body.is_empty());
        assert_ne!(reply.header("content-length"), "0");
    }
}

#[test]
fn unknown_paths_and_methods_are_refused_with_what_is_allowed() {
    let server = Server::start(Setup::default());
    for path in ["/nothing", "/jwks/", "//jwks", "/JWKS", "/token/x"] {
        assert_eq!(Call::get(path).send(&server).status, 404, "{path}");
    }
    let reply = Call::get("/token").send(&server).expect(405);
    assert_eq!(reply.header("allow"), "POST, OPTIONS");
    let reply = Call::new(Method::DELETE, "/jwks").send(&server).expect(405);
    assert_eq!(reply.header("allow"), "GET, HEAD, OPTIONS");
}

#[test]
fn heads_and_urls_beyond_their_limits_are_refused() {
    let server = Server::start(Setup::default());
    let long = format!("/jwks?{}", "x".repeat(13 * 1024));
    assert_eq!(Call::get(&long).send(&server).status, 414);
    let mut many = Call::get("/jwks");
    for _ in 0..80 {
        many = many.header("x-filler", "1");
    }
    assert_eq!(many.send(&server).status, 431);
    let big = Call::get("/jwks").header("x-filler", &"x".repeat(40 * 1024));
    assert_eq!(big.send(&server).status, 431);
}

#[test]
fn the_mtls_entrance_serves_no_pages_and_needs_no_certificate() {
    let server = Server::start(Setup::default());
    assert_eq!(Call::get("/jwks").mtls().send(&server).status, 404);
    assert_eq!(Call::post("/token").mtls().send(&server).status, 415);
    let certificate = server.ca.issue_client("somebody").unwrap();
    let certificate = (certificate.0, certificate.1.expose().clone());
    let call = Call::post("/token").certificate(&certificate);
    assert_eq!(call.send(&server).status, 415);
}

#[test]
fn other_origins_read_public_documents_and_nothing_unregistered() {
    let mut setup = Setup::default();
    setup.clients[0].allowed_origins = vec!["https://app.example".to_owned()];
    let server = Server::start(setup);
    let reply = Call::get("/jwks")
        .header("origin", "https://any.example")
        .send(&server);
    assert_eq!(reply.header("access-control-allow-origin"), "*");
    for (origin, allowed) in [
        ("https://app.example", "https://app.example"),
        ("https://other.example", ""),
        ("https://app.example.evil.test", ""),
        ("null", ""),
    ] {
        let preflight = Call::new(Method::OPTIONS, "/token")
            .header("origin", origin)
            .header("access-control-request-method", "POST")
            .send(&server)
            .expect(204);
        assert_eq!(preflight.header("access-control-allow-origin"), allowed);
        assert_eq!(preflight.header("vary"), "Origin");
        let reply = Call::post("/token").header("origin", origin).send(&server);
        assert_eq!(reply.header("access-control-allow-origin"), allowed);
    }
    let preflight = Call::new(Method::OPTIONS, "/authorize")
        .header("origin", "https://app.example")
        .send(&server);
    assert_eq!(preflight.header("access-control-allow-origin"), "");
}

#[test]
fn a_connection_that_says_nothing_is_closed() {
    let mut setup = Setup {
        plain: true,
        ..Setup::default()
    };
    setup.limits.head = std::time::Duration::from_millis(200);
    let server = Server::start(setup);
    let mut stream = std::net::TcpStream::connect(server.address).unwrap();
    stream.write_all(b"GET /jwks HTTP/1.1\r\n").unwrap();
    let mut rest = Vec::new();
    // Ends at the server's close, with or without a word.
    let _ = stream.read_to_end(&mut rest);
}

#[test]
fn stopping_lets_the_request_under_way_finish() {
    // The handler says that it has begun, and continues when the test lets it.
    let (begun, has_begun) = std::sync::mpsc::channel();
    let go_on = std::sync::Arc::new(tokio::sync::Notify::new());
    let mut router = crate::common::routes();
    let told = go_on.clone();
    router.get("/slow", move |_context| {
        let (begun, told) = (begun.clone(), told.clone());
        async move {
            begun.send(()).unwrap();
            told.notified().await;
            signet_request::http::response::text(http::StatusCode::OK, "done")
        }
    });
    let mut server = Server::start_with(Setup::default(), router);
    std::thread::scope(|scope| {
        let call = scope.spawn(|| {
            let server = &server;
            crate::common::block_on(async { Call::get("/slow").send_async(server).await })
        });
        has_begun.recv().unwrap();
        server.begin_stop();
        go_on.notify_one();
        assert_eq!(call.join().unwrap().text(), "done");
    });
    server.stop();
    assert!(std::net::TcpStream::connect(server.address).is_err());
}

/// curl, HTTP/2 as it does by default: exit code, and "STATUS BODY".
fn curl(server: &Server, path: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let directory = tempfile::tempdir().unwrap();
    let ca = directory.path().join("ca.pem");
    std::fs::write(&ca, server.ca.cert_pem()).unwrap();
    let output = std::process::Command::new("curl")
        .args(["--silent", "--show-error", "--max-time", "20"])
        .args(["--write-out", "%{stderr}%{http_code} "])
        .arg("--cacert")
        .arg(ca)
        .args(arguments)
        .arg(format!("https://localhost:{}{path}", server.address.port()))
        .output()
        .expect("curl is installed by scripts/setup-tests.sh");
    let said = [output.stderr, output.stdout].concat();
    (
        output.status.code(),
        String::from_utf8_lossy(&said).into_owned(),
    )
}

#[test]
fn a_developers_first_mistakes_are_answered_to_curl_with_their_text() {
    let server = Server::start(Setup::default());
    let json = "content-type: application/json";
    for (path, arguments, status, text) in [
        (
            "/tokne",
            &["--data", "grant_type=x"][..],
            "404",
            "not found",
        ),
        ("/jwks", &["--data", "a=b"], "405", "method"),
        (
            "/token",
            &["--header", json, "--data", "{}"],
            "415",
            "content type",
        ),
        (
            "/admin/v1/users",
            &["--header", json, "--data", "{\"username\":\"x\"}"],
            "401",
            "an access token",
        ),
        (
            "/admin/v1/users",
            &[
                "--header",
                "authorization: Bearer x.y.z",
                "--header",
                json,
                "--data",
                "{}",
            ],
            "401",
            "invalid_token",
        ),
    ] {
        let (code, said) = curl(&server, path, arguments);
        assert_eq!(code, Some(0), "{path}: {said}");
        assert!(said.starts_with(status), "{path}: {said}");
        assert!(said.contains(text), "{path}: {said}");
    }
}

#[test]
fn a_client_that_its_proxy_cannot_name_is_not_taken_for_the_proxy() {
    let mut setup = Setup {
        plain: true,
        ..Setup::default()
    };
    setup.policy.trusted_proxies = vec!["127.0.0.1".parse().unwrap()];
    let server = Server::start(setup);
    let status = |value: &[u8]| {
        let mut stream = std::net::TcpStream::connect(server.address).unwrap();
        let mut request = b"GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n".to_vec();
        if !value.is_empty() {
            request.extend_from_slice(b"x-forwarded-for: ");
            request.extend_from_slice(value);
            request.extend_from_slice(b"\r\n");
        }
        request.extend_from_slice(b"\r\n");
        stream.write_all(&request).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer[9..12]).into_owned()
    };
    // The figures are for this machine only: whoever is taken for the proxy sees them.
    assert_eq!(status(b""), "200");
    assert_eq!(status(b"203.0.113.9"), "404");
    assert_eq!(status(b"xx, 203.0.113.9"), "404");
    assert_eq!(status(b"\xff, 203.0.113.9"), "404");
    assert_eq!(status(b"\xff"), "400");
    assert_eq!(status(b"unknown"), "400");
}

#[test]
fn the_bare_address_leads_to_the_account_and_pages_take_a_slash_too_many() {
    let server = Server::start(Setup::default());
    for (asked, leads_to) in [
        ("/", "/account"),
        ("/account/", "/account"),
        ("/account/recover/", "/account/recover"),
        ("/device/", "/device"),
        ("/device/?user_code=ABCD", "/device?user_code=ABCD"),
    ] {
        let reply = Call::get(asked).send(&server).expect(303);
        assert_eq!(reply.header("location"), leads_to, "{asked}");
    }
    let icon = Call::get("/favicon.ico").send(&server).expect(200);
    assert_eq!(icon.header("content-type"), "image/x-icon");
    assert_eq!(icon.body[..4], [0, 0, 1, 0]);
    assert_eq!(icon.header("cache-control"), "public, max-age=86400");
}

#[test]
fn a_path_that_nothing_has_is_answered_in_the_callers_form() {
    let server = Server::start(Setup::default());
    let ask = |accept: &str| {
        let call = Call::get("/nothing").header("accept", accept);
        call.send(&server).expect(404)
    };
    let page = ask("text/html,application/xhtml+xml,*/*;q=0.8");
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    for part in [
        "<html lang=\"en\" dir=\"ltr\">",
        "<title>Page not found</title>",
        "<main",
        "<h1>",
        "href=\"/account\"",
    ] {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
    assert!(
        page.header("content-security-policy")
            .contains("default-src 'none'")
    );
    assert_eq!(ask("application/json").member("error"), "not_found");
    assert_eq!(ask("*/*").text(), "not found\n");
    // Where certificates are asked for there are no pages, and methods do not matter.
    let mtls = Call::get("/nothing").header("accept", "text/html").mtls();
    assert_eq!(mtls.send(&server).expect(404).text(), "not found\n");
    let post = Call::post("/nothing").header("accept", "text/html");
    assert!(post.send(&server).expect(404).text().contains("<main"));
}

#[test]
fn every_route_that_the_server_has_is_counted_under_its_own_name() {
    let server = Server::start(Setup::default());
    let asked = [
        "/account",
        "/account/recover",
        "/interaction",
        "/compact-keys",
        "/register/x",
        "/admin/v1/users",
        "/device",
        "/health/live",
        "/nothing",
    ];
    for path in asked {
        Call::get(path).send(&server);
    }
    let reply = Call::get("/metrics").send(&server).expect(200);
    assert_eq!(
        reply.header("content-type"),
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    );
    let text = reply.text();
    let counted = |route: &str| {
        let start = format!("signet_requests_total{{route=\"{route}\",");
        text.lines().any(|line| line.starts_with(&start))
    };
    for route in asked {
        let route = match route {
            "/register/x" => "/register/{client_id}",
            "/nothing" => "other",
            route => route,
        };
        assert!(counted(route), "{route}\n{text}");
    }
    let others = text
        .lines()
        .find(|line| line.starts_with("signet_request_duration_seconds_count{route=\"other\"}"));
    assert!(others.is_some_and(|line| line.ends_with(" 1")), "{text}");
    assert!(text.ends_with("# EOF\n"), "{text}");
}
