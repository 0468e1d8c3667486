//! What callers get when they are refused, and when they speak the wrong protocol.
use crate::support::{Engine, REFUSAL};
use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

#[test]
fn a_refusal_before_the_body_was_read_reaches_curl_with_its_text() {
    let engine = Engine::start();
    let large = engine.file("large", &[b'x'; 100 * 1024]);
    let large = format!("@{}", large.display());
    for data in ["a=b", large.as_str()] {
        for version in ["--http2", "--http1.1"] {
            for method in ["POST", "PUT"] {
                let arguments = [version, "--request", method, "--data-binary", data];
                let (code, said) = engine.curl("/nothing", &arguments);
                let number = version.trim_start_matches("--http");
                assert_eq!(code, Some(0), "{arguments:?}: {said}");
                assert_eq!(said, format!("404 {number} {REFUSAL}"), "{arguments:?}");
            }
        }
    }
}

#[test]
fn a_body_that_is_read_is_the_handlers() {
    let engine = Engine::start();
    let (_, said) = engine.curl("/read", &["--http2", "--data-binary", "a=b"]);
    assert_eq!(said, "200 2 a=b");
    let much = "x".repeat(2048);
    let (_, said) = engine.curl("/read", &["--http2", "--data-binary", &much]);
    assert_eq!(said, "413 2 the request body is too large");
}

#[test]
fn a_refusal_does_not_wait_for_a_body_that_never_comes() {
    let engine = Engine::start();
    let mut stream = TcpStream::connect(engine.plain).unwrap();
    let head = "POST /x HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n0123456789";
    stream.write_all(head.as_bytes()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    let mut answer = Vec::new();
    // The connection may be reset behind the answer: there is no telling where the next request
    // would begin.
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
    assert!(answer.ends_with(REFUSAL), "{answer}");
}

/// What is answered to these bytes at a listener without TLS.
fn answered(engine: &Engine, request: &str) -> String {
    let mut stream = TcpStream::connect(engine.plain).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn a_head_that_two_readers_could_read_differently_is_refused_and_ends_the_connection() {
    let engine = Engine::start();
    let once = "0\r\n\r\n";
    for (request, status) in [
        ("GET /x HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n", 400),
        ("GET /x HTTP/1.1\r\nhost: a\r\nHost: a\r\n\r\n", 400),
        ("GET /x HTTP/1.0\r\nhost: a\r\nhost: b\r\n\r\n", 400),
        ("GET /x HTTP/1.1\r\n\r\n", 400),
        ("GET /x HTTP/1.1\r\nhost: a, b\r\n\r\n", 400),
        ("GET /x HTTP/1.1\r\nhost: u@a\r\n\r\n", 400),
        ("GET http://b/x HTTP/1.1\r\nhost: a\r\n\r\n", 400),
        (
            "POST /read HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n",
            400,
        ),
        (
            "POST /read HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked, Chunked\r\n\r\n",
            400,
        ),
        (
            "POST /read HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip, chunked\r\n\r\n",
            501,
        ),
    ] {
        // A second request behind it is not answered.
        let body = if request.starts_with("POST") {
            once
        } else {
            ""
        };
        let two = format!("{request}{body}GET /second HTTP/1.1\r\nhost: a\r\n\r\n");
        let answer = answered(&engine, &two);
        assert!(
            answer.starts_with(&format!(
                "HTTP/1.{} {status} ",
                request
                    .split_once(" HTTP/1.")
                    .unwrap()
                    .1
                    .chars()
                    .next()
                    .unwrap()
            )),
            "{request}: {answer}"
        );
        assert_eq!(
            answer.matches("content-length: ").count(),
            1,
            "{request}: {answer}"
        );
    }
    let close = "connection: close\r\n\r\n";
    for request in [
        "GET /x HTTP/1.0\r\n\r\n".to_owned(),
        format!("GET /x HTTP/1.1\r\nhost: LOCALHOST:80\r\n{close}"),
        format!("GET /x HTTP/1.1\r\nhost: [::1]:80\r\n{close}"),
        format!("GET /x HTTP/1.1\r\nhost:\r\n{close}"),
        format!("GET http://A:1/x HTTP/1.1\r\nhost: a:1\r\n{close}"),
    ] {
        let answer = answered(&engine, &request);
        assert!(
            answer.contains(" 404 ") && answer.ends_with(REFUSAL),
            "{request}: {answer}"
        );
    }
    let chunked = format!(
        "POST /read HTTP/1.1\r\nhost: a\r\ntransfer-encoding: Chunked\r\nconnection: close\r\n\r\n1\r\na\r\n{once}"
    );
    assert!(answered(&engine, &chunked).starts_with("HTTP/1.1 200 "));
    let (_, said) = engine.curl("/x", &["--http2", "--header", "host: elsewhere"]);
    assert!(
        said.starts_with("404 2 "),
        "curl makes it the authority: {said}"
    );
}

#[test]
fn http_2_takes_no_more_header_fields_than_http_1() {
    let engine = Engine::start();
    for (fields, status) in [(40, "404"), (80, "431"), (400, "431")] {
        let fields: Vec<String> = (0..fields).map(|n| format!("x-filler-{n}: 1")).collect();
        for version in ["--http2", "--http1.1"] {
            let mut arguments = vec![version];
            arguments.extend(fields.iter().flat_map(|f| ["--header", f.as_str()]));
            let (_, said) = engine.curl("/x", &arguments);
            let count = fields.len();
            assert!(
                said.starts_with(status),
                "{version}, {count} fields: {said}"
            );
        }
    }
}

#[test]
fn plain_http_at_a_port_of_tls_is_told_so() {
    let engine = Engine::start();
    for request in [
        "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n",
        "POST /token HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\na=b&c=d&e",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(engine.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        // The engine closes its half at once: the answer ends without ours being closed.
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
        assert!(answer.contains("this port speaks https"), "{answer}");
    }
    // What is neither gets no word, and those who speak TLS are served as before.
    let mut stream = TcpStream::connect(engine.address).unwrap();
    stream.write_all(b"\x80\x00garbage").unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    let (_, said) = engine.curl("/x", &["--http2"]);
    assert_eq!(said, format!("404 2 {REFUSAL}"));
}

#[test]
fn a_handler_that_panics_is_one_answer_of_500_and_everybody_else_is_served() {
    let engine = Engine::start();
    for (number, version) in ["--http1.1", "--http2"].into_iter().enumerate() {
        let version_said = version.trim_start_matches("--http");
        // With a body that nobody reads, too, and again on the same connection.
        let large = engine.file("large", &[b'x'; 100 * 1024]);
        let large = format!("@{}", large.display());
        for arguments in [vec![version], vec![version, "--data-binary", &large]] {
            let (code, said) = engine.curl("/panic", &arguments);
            assert_eq!(code, Some(0), "{arguments:?}: {said}");
            assert_eq!(said, format!("500 {version_said} internal server error\n"));
        }
        let (_, said) = engine.curl("/panics", &[version]);
        let panicked = 2 * (number + 1);
        assert_eq!(said, format!("200 {version_said} {panicked}"));
    }
    let mut stream = TcpStream::connect(engine.plain).unwrap();
    let ask = |path: &str| format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    let both = ask("/panic") + &ask("/x").replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
    stream.write_all(both.as_bytes()).unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).unwrap();
    assert!(answers.starts_with("HTTP/1.1 500 "), "{answers}");
    assert!(answers.ends_with(REFUSAL), "{answers}");
}
