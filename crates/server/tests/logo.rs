//! Pictures of clients and of identity providers: fetched by the server, kept, and shown for those
//! that an administrator made.

use std::io::{Read, Write};
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use http::Method;
use serde_json::{Value, json};

use crate::common::{
    Server, block_on,
    client::Call,
    made::REDIRECT,
    people::{Mail, parameters, request, start},
};
use signet_encoding::base64url;
use signet_oauth::client::Client;
use signet_oauth::people::provider::{Provider, ProviderAuth};
use signet_realm::outbound::{LOGO_LIFETIME, LOGO_RETRY, MAX_LOGO_BYTES};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n a picture";

/// Where a client keeps its picture.
struct Place {
    url: String,
    bytes: Arc<Mutex<Vec<u8>>>,
    fetches: Arc<AtomicUsize>,
}

impl Place {
    fn start() -> Place {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/logo.png", listener.local_addr().expect("bound"));
        let bytes = Arc::new(Mutex::new(PNG.to_vec()));
        let fetches = Arc::new(AtomicUsize::new(0));
        let (body, counted) = (bytes.clone(), fetches.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.expect("a connection");
                let _ = stream.read(&mut [0; 2048]);
                counted.fetch_add(1, SeqCst);
                let body = body.lock().expect("bytes").clone();
                let length = body.len();
                // What the place calls it decides nothing.
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {length}\r\n\r\n"
                );
                let _ = stream.write_all(&[head.as_bytes(), &body].concat());
            }
        });
        Place {
            url,
            bytes,
            fetches,
        }
    }

    fn put(&self, bytes: &[u8]) {
        *self.bytes.lock().expect("bytes") = bytes.to_vec();
    }

    fn count(&self) -> usize {
        self.fetches.load(SeqCst)
    }
}

fn server(mail: &Mail, place: &Place) -> Server {
    let server = start(mail, |setup| {
        setup.settings.registration.enabled = true;
        setup.settings.registration.open = true;
        setup.clients[0].logo_uri = Some(place.url.clone());
    });
    server.stop_clock();
    server
}

fn path(client_id: &str) -> String {
    format!("/client-logo/{}", base64url::encode(client_id.as_bytes()))
}

#[test]
fn a_picture_is_served_from_here_and_fetched_once_a_day() {
    let (mail, place) = (Mail::new(), Place::start());
    let server = server(&mail, &place);
    let page = Call::get(&request(&[])).send(&server).expect(200);
    let text = page.text();
    assert!(text.contains(&format!("src=\"{}\"", path("web"))), "{text}");
    assert!(!text.contains(&place.url), "{text}");
    assert!(
        page.header("content-security-policy")
            .contains("img-src 'self'")
    );
    assert_eq!(place.count(), 0, "a page fetches nothing by itself");

    for _ in 0..3 {
        let shown = Call::get(&path("web")).send(&server).expect(200);
        assert_eq!(shown.body, PNG);
        assert_eq!(shown.header("content-type"), "image/png");
        assert_eq!(shown.header("x-content-type-options"), "nosniff");
        assert!(shown.header("content-security-policy").contains("sandbox"));
    }
    assert_eq!(place.count(), 1);
    server.pass(LOGO_LIFETIME);
    Call::get(&path("web")).send(&server).expect(200);
    assert_eq!(place.count(), 2);
}

#[test]
fn what_is_no_picture_or_too_long_is_not_served_and_not_soon_asked_again() {
    let (mail, place) = (Mail::new(), Place::start());
    let server = server(&mail, &place);
    place.put(b"<html><script>alert(1)</script></html>");
    for _ in 0..3 {
        Call::get(&path("web")).send(&server).expect(404);
    }
    assert_eq!(place.count(), 1);
    server.pass(LOGO_RETRY);
    place.put(&[PNG, &vec![0; MAX_LOGO_BYTES]].concat());
    Call::get(&path("web")).send(&server).expect(404);
    server.pass(LOGO_RETRY);
    place.put(PNG);
    Call::get(&path("web")).send(&server).expect(200);
    assert_eq!(place.count(), 3);
}

#[test]
fn a_client_that_registered_itself_has_no_picture() {
    let (mail, place) = (Mail::new(), Place::start());
    let server = server(&mail, &place);
    let document = json!({ "redirect_uris": [REDIRECT], "client_name": "Self-made", "logo_uri": "https://client.example/logo.png" });
    let made = Call::post("/register").json(&document).send(&server);
    let id = made.expect(201).member("client_id");
    let asked = parameters(&[("client_id", &id), ("scope", "openid")]);
    let page = Call::get(&crate::common::browser::with("/authorize", &asked));
    let text = page.send(&server).expect(200).text();
    assert!(
        text.contains("Self-made") && !text.contains("<img"),
        "{text}"
    );
    Call::get(&path(&id)).send(&server).expect(404);
    for nobody in [
        "/client-logo/",
        "/client-logo/%00",
        "/client-logo/d2Vi=",
        &path("nobody"),
    ] {
        Call::get(nobody).send(&server).expect(404);
    }
    assert_eq!(place.count(), 0);
}

#[test]
fn a_client_that_an_operator_vouches_for_has_its_picture_until_it_changes_its_record() {
    let (mail, place) = (Mail::new(), Place::start());
    let server = server(&mail, &place);
    let document = json!({ "redirect_uris": [REDIRECT], "client_name": "Self-made", "logo_uri": "https://client.example/logo.png" });
    let made = Call::post("/register").json(&document).send(&server);
    let made = made.expect(201);
    let (id, token) = (
        made.member("client_id"),
        made.member("registration_access_token"),
    );
    let client = || {
        server
            .realm
            .snapshot()
            .registry
            .clients
            .get(&id)
            .cloned()
            .unwrap()
    };
    let shows = || {
        let asked = parameters(&[("client_id", &id), ("scope", "openid")]);
        let page = Call::get(&crate::common::browser::with("/authorize", &asked));
        let text = page.send(&server).expect(200).text();
        text.contains(&format!("src=\"{}\"", path(&id)))
    };
    // An error of nobody's client is a page, and an operator's goes to its redirect URI.
    let error_redirects = || {
        let asked = parameters(&[("client_id", &id), ("scope", "nonsense")]);
        let call = Call::get(&crate::common::browser::with("/authorize", &asked));
        (300..400).contains(&call.send(&server).status)
    };
    let vouch = || {
        let current = client();
        let mut next = Client::clone(&current);
        next.vouched_for = true;
        next.revision += 1;
        block_on(server.realm.write_record(next, Some(current.revision))).unwrap();
    };
    assert!(!shows() && !error_redirects());
    vouch();
    assert!(shows() && error_redirects());
    let put = |document: &Value| {
        let mut document = document.clone();
        document["client_id"] = json!(id);
        let call = Call::new(Method::PUT, &format!("/register/{id}")).bearer(&token);
        call.json(&document).send(&server)
    };
    put(&document).expect(200);
    assert!(client().vouched_for, "it said the same again");
    let mut other = document.clone();
    other["logo_uri"] = json!("https://client.example/another.png");
    put(&other).expect(200);
    assert!(!client().vouched_for && !shows());
    // It cannot say so itself.
    other["vouched_for"] = json!(true);
    put(&other);
    assert!(!client().vouched_for);
}

#[test]
fn the_button_of_a_provider_has_its_picture_from_here() {
    let (mail, place) = (Mail::new(), Place::start());
    let server = server(&mail, &place);
    let corp = Provider {
        client_id: "us".into(),
        auth: ProviderAuth::PrivateKeyJwt,
        logo_uri: Some(place.url.clone()),
        ..Provider::new("corp", "https://corp.example")
    };
    let unfit = Provider {
        logo_uri: Some("javascript:alert(1)".into()),
        ..corp.clone()
    };
    assert!(unfit.check().is_err());
    block_on(server.realm.write_provider(corp, None)).expect("written");
    let text = Call::get(&request(&[])).send(&server).expect(200).text();
    assert!(text.contains("src=\"/provider-logo/corp\""), "{text}");
    assert!(!text.contains(&place.url), "{text}");
    let shown = Call::get("/provider-logo/corp").send(&server).expect(200);
    assert_eq!(shown.body, PNG);
    Call::get("/provider-logo/other").send(&server).expect(404);
}
