//! Every way in which a client proves who it is, over real sockets, and what does not count.
use crate::common::{
    SECRET, Server, Setup, client,
    client::Call,
    made::{assertion, claims, random_id, signer},
};
use signet_crypto::{Algorithm, Secret, SigningKey};
use signet_http::ProxySecret;
use signet_jose::{
    jwk::{Jwk, JwkSet},
    jwt::JwtSigner,
};
use signet_oauth::client::{AuthMethod, Client, TlsClientAuth};
use std::{
    io::{Read, Write},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

const GRANT: (&str, &str) = ("grant_type", "client_credentials");
const TYPE: (&str, &str) = (
    "client_assertion_type",
    "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
);

fn with(method: AuthMethod, change: impl FnOnce(&mut Client)) -> Setup {
    let mut setup = Setup::default();
    setup.clients[0].token_endpoint_auth_method = method;
    change(&mut setup.clients[0]);
    setup
}

pub fn public_set(signer: &JwtSigner) -> JwkSet {
    let public = signer.key().public().unwrap().clone();
    JwkSet {
        keys: vec![Jwk::for_signatures(
            public,
            signer.algorithm(),
            signer.kid(),
        )],
    }
}

#[test]
fn a_secret_in_the_header_gives_an_rfc_9068_token() {
    let server = Server::start(Setup::default());
    let reply = Call::post("/token")
        .basic("service", SECRET)
        .form(&[GRANT, ("scope", "api:read")])
        .send(&server)
        .expect(200);
    assert_eq!(reply.header("cache-control"), "no-store");
    assert_eq!(reply.member("token_type"), "Bearer");
    assert_eq!(reply.member("scope"), "api:read");
    let claims = claims(&reply.member("access_token"));
    assert_eq!(claims["iss"], server.issuer());
    assert_eq!(claims["sub"], "service");
    assert_eq!(claims["client_id"], "service");
    assert_eq!(claims["scope"], "api:read");
    assert_eq!(claims["jti"].as_str().unwrap().len(), 22);
    assert_eq!(
        crate::common::made::rows(&server, signet_store::Table::Once),
        0
    );
}

#[test]
fn a_secret_in_the_body_is_for_clients_registered_so() {
    let setup = with(AuthMethod::ClientSecretPost, |_| {});
    let server = Server::start(setup);
    let form = [GRANT, ("client_id", "service"), ("client_secret", SECRET)];
    Call::post("/token").form(&form).send(&server).expect(200);
    let other = Call::post("/token").basic("service", SECRET).form(&[GRANT]);
    let reply = other.send(&server).expect_error(401, "invalid_client");
    assert!(reply.header("www-authenticate").starts_with("Basic"));
    let twice = Call::post("/token").basic("service", SECRET).form(&form);
    twice.send(&server).expect_error(400, "invalid_request");
}

#[test]
fn whoever_has_the_secret_is_told_the_registered_method_and_nobody_else_is() {
    let server = Server::start(Setup::default());
    let post = |secret| {
        let form = [GRANT, ("client_id", "service"), ("client_secret", secret)];
        let reply = Call::post("/token").form(&form).send(&server);
        reply
            .expect_error(401, "invalid_client")
            .member("error_description")
    };
    assert!(
        post(SECRET).contains("client_secret_basic"),
        "{}",
        post(SECRET)
    );
    assert_eq!(post("wrong"), "client authentication failed");
}

#[test]
fn a_client_that_nobody_chose_a_method_for_sends_its_secret_either_way() {
    let setup = with(AuthMethod::ClientSecretBasic, |client| {
        client.any_secret_method = true
    });
    let server = Server::start(setup);
    let form = [GRANT, ("client_id", "service"), ("client_secret", SECRET)];
    Call::post("/token").form(&form).send(&server).expect(200);
    let header = Call::post("/token").basic("service", SECRET).form(&[GRANT]);
    header.send(&server).expect(200);
    // One of them, not both at once (RFC 6749 section 2.3).
    let twice = Call::post("/token").basic("service", SECRET).form(&form);
    twice.send(&server).expect_error(400, "invalid_request");
    let none = Call::post("/token").form(&[GRANT, ("client_id", "service")]);
    none.send(&server).expect_error(401, "invalid_client");
}

#[test]
fn wrong_unknown_and_missing_credentials_look_alike() {
    let server = Server::start(Setup::default());
    let wrong = Call::post("/token")
        .basic("service", "wrong")
        .form(&[GRANT]);
    let unknown = Call::post("/token").basic("nobody", SECRET).form(&[GRANT]);
    let none = Call::post("/token").form(&[GRANT, ("client_id", "service")]);
    let bodies: Vec<_> = [wrong, unknown, none]
        .iter()
        .map(|call| call.send(&server).expect_error(401, "invalid_client").body)
        .collect();
    assert!(bodies.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
pub fn an_address_that_guesses_secrets_hears_429_and_good_secrets_go_on() {
    let mut setup = Setup::default();
    setup.people.limits.address = 3;
    let server = Server::start(setup);
    let wrong = Call::post("/token")
        .basic("service", "wrong")
        .form(&[GRANT]);
    let mut last = wrong.send(&server);
    for _ in 0..4 {
        last = wrong.send(&server);
    }
    assert_eq!(last.status, 429);
    assert_ne!(last.header("retry-after"), "");
    let good = Call::post("/token").basic("service", SECRET).form(&[GRANT]);
    good.send(&server).expect(200);
}

#[test]
pub fn private_key_jwt_names_the_issuer_alone_and_counts_once() {
    let key = signer(Algorithm::Es256);
    let server = Server::start(with(AuthMethod::PrivateKeyJwt, |c| {
        c.secrets.clear();
        c.jwks = Some(public_set(&key));
    }));
    let now = server.realm.now();
    let send = |assertion: &str| {
        Call::post("/token")
            .form(&[GRANT, TYPE, ("client_assertion", assertion)])
            .send(&server)
    };
    let issuer = server.issuer();
    let good = assertion(&key, "service", &issuer, &random_id(), now);
    send(&good).expect(200);
    send(&good).expect_error(401, "invalid_client");
    // Known fault A20: the token endpoint as audience.
    let endpoint = format!("{issuer}/token");
    let other = assertion(&key, "service", &endpoint, &random_id(), now);
    send(&other).expect_error(401, "invalid_client");
    let old = assertion(&key, "service", &issuer, &random_id(), now - 600);
    send(&old).expect_error(401, "invalid_client");
    let early = assertion(&key, "service", &issuer, &random_id(), now + 300);
    send(&early).expect_error(401, "invalid_client");
    let stranger = signer(Algorithm::Es256);
    let forged = assertion(&stranger, "service", &issuer, &random_id(), now);
    send(&forged).expect_error(401, "invalid_client");
}

#[test]
fn of_many_racing_requests_with_one_assertion_one_succeeds() {
    let key = signer(Algorithm::EdDsa);
    let server = Server::start(with(AuthMethod::PrivateKeyJwt, |c| {
        c.secrets.clear();
        c.jwks = Some(public_set(&key));
    }));
    let once = assertion(
        &key,
        "service",
        &server.issuer(),
        &random_id(),
        server.realm.now(),
    );
    let call = Call::post("/token").form(&[GRANT, TYPE, ("client_assertion", &once)]);
    let good = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..24 {
            scope.spawn(|| {
                if call.send(&server).status == 200 {
                    good.fetch_add(1, SeqCst);
                }
            });
        }
    });
    assert_eq!(good.into_inner(), 1);
}

#[test]
fn client_secret_jwt_signs_with_the_secret() {
    // The sealed secret needs the server's own keyring, so the record is made after the start.
    let server = Server::start(Setup::default());
    let secret = signet_oauth::client::registration::client_secret(
        AuthMethod::ClientSecretJwt,
        SECRET,
        "hmac",
        None,
        &server.realm.keyring(),
    );
    let mut record = client("hmac");
    record.token_endpoint_auth_method = AuthMethod::ClientSecretJwt;
    record.secrets = vec![secret.unwrap()];
    server.configure(|_, declared| {
        declared.clients.insert("hmac".to_owned(), Arc::new(record));
    });
    let key = SigningKey::from_private(Algorithm::Hs256, SECRET.as_bytes()).unwrap();
    let key = JwtSigner::new(key, "");
    let now = server.realm.now();
    let good = assertion(&key, "hmac", &server.issuer(), &random_id(), now);
    let call = Call::post("/token").form(&[GRANT, TYPE, ("client_assertion", &good)]);
    call.send(&server).expect(200);
    call.send(&server).expect_error(401, "invalid_client");
}

#[test]
fn keys_come_from_jwks_uri_and_an_unknown_kid_does_not_flood_it() {
    let key = signer(Algorithm::Es256);
    let mut document = Vec::new();
    public_set(&key).write(&mut document);
    let fetches = Arc::new(AtomicUsize::new(0));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/jwks", listener.local_addr().unwrap());
    let counted = fetches.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            counted.fetch_add(1, SeqCst);
            let _ = stream.read(&mut [0; 2048]);
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                document.len()
            );
            let _ = stream.write_all(head.as_bytes());
            let _ = stream.write_all(&document);
        }
    });
    let server = Server::start(with(AuthMethod::PrivateKeyJwt, |c| {
        c.secrets.clear();
        c.jwks_uri = Some(url);
    }));
    let send = |key: &JwtSigner| {
        let now = server.realm.now();
        let text = assertion(key, "service", &server.issuer(), &random_id(), now);
        Call::post("/token")
            .form(&[GRANT, TYPE, ("client_assertion", &text)])
            .send(&server)
    };
    send(&key).expect(200);
    send(&key).expect(200);
    server.stop_clock();
    assert_eq!(fetches.load(SeqCst), 1);
    let unknown = JwtSigner::new(SigningKey::generate(Algorithm::Es256).unwrap(), "k2");
    for _ in 0..5 {
        send(&unknown).expect_error(401, "invalid_client");
    }
    assert_eq!(fetches.load(SeqCst), 2, "it may be a new key: once");
    server.pass(30);
    send(&unknown).expect_error(401, "invalid_client");
    send(&unknown).expect_error(401, "invalid_client");
    assert_eq!(fetches.load(SeqCst), 3, "after the pause, once");
    send(&key).expect(200);
    assert_eq!(fetches.load(SeqCst), 3, "a known key needs no fetch");
}

/// A client's own server: answers with what the test puts in, 500 where that is nothing, and
/// counts.
struct KeyServer {
    url: String,
    keys: Arc<Mutex<Option<Vec<u8>>>>,
    fetches: Arc<AtomicUsize>,
}

impl KeyServer {
    fn start() -> KeyServer {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/jwks", listener.local_addr().unwrap());
        let (keys, fetches) = (Arc::new(Mutex::new(None)), Arc::new(AtomicUsize::new(0)));
        let made = KeyServer { url, keys, fetches };
        let (keys, fetches) = (made.keys.clone(), made.fetches.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let _ = stream.read(&mut [0; 2048]);
                fetches.fetch_add(1, SeqCst);
                let (status, body): (_, Vec<u8>) = match keys.lock().unwrap().clone() {
                    Some(keys) => (200, keys),
                    None => (500, Vec::new()),
                };
                let length = body.len();
                let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n\r\n");
                let _ = stream.write_all(&[head.as_bytes(), &body].concat());
            }
        });
        made
    }

    fn publish(&self, keys: &[&JwtSigner]) {
        let keys = keys.iter().flat_map(|key| public_set(key).keys).collect();
        let mut document = Vec::new();
        JwkSet { keys }.write(&mut document);
        *self.keys.lock().unwrap() = Some(document);
    }

    fn fetches(&self) -> usize {
        self.fetches.load(SeqCst)
    }
}

#[test]
fn a_client_whose_keys_are_new_or_could_not_be_fetched_does_not_wait_long() {
    let owner = KeyServer::start();
    let server = Server::start(with(AuthMethod::PrivateKeyJwt, |c| {
        c.secrets.clear();
        c.jwks_uri = Some(owner.url.clone());
    }));
    let send = |key: &JwtSigner| {
        let now = server.realm.now();
        let text = assertion(key, "service", &server.issuer(), &random_id(), now);
        Call::post("/token")
            .form(&[GRANT, TYPE, ("client_assertion", &text)])
            .send(&server)
    };
    server.stop_clock();
    let key = |kid: &str| JwtSigner::new(SigningKey::generate(Algorithm::Es256).unwrap(), kid);
    let first = key("first");
    // Its server is down, for a moment.
    send(&first).expect_error(401, "invalid_client");
    owner.publish(&[&first]);
    send(&first).expect_error(401, "invalid_client");
    assert_eq!(owner.fetches(), 1, "not twice in a second");
    server.pass(1);
    send(&first).expect(200);
    // A new key is used with the next request, and the one after it: each is a fetch, and no wait.
    for (kid, fetches) in [("second", 3), ("third", 4)] {
        let next = key(kid);
        owner.publish(&[&first, &next]);
        send(&next).expect(200);
        send(&next).expect(200);
        send(&first).expect(200);
        assert_eq!(owner.fetches(), fetches);
    }
    // Its server is down for long: attempts become rare, and what is known counts.
    *owner.keys.lock().unwrap() = None;
    let fourth = key("fourth");
    for _ in 0..40 {
        send(&fourth).expect_error(401, "invalid_client");
        send(&first).expect(200);
        server.pass(1);
    }
    assert_eq!(owner.fetches(), 4 + 6, "at 0, 1, 3, 7, 15 and 31 seconds");
}

#[test]
fn tls_client_auth_needs_a_trusted_chain_and_the_registered_subject() {
    let setup = |trust| {
        let mut setup = with(AuthMethod::TlsClientAuth, |c| {
            c.secrets.clear();
            c.tls_client_auth = Some(TlsClientAuth::SubjectDn("CN=service".to_owned()));
            c.tls_client_certificate_bound_access_tokens = true;
        });
        setup.trust_client_ca = trust;
        setup
    };
    let form = [GRANT, ("client_id", "service")];
    let server = Server::start(setup(true));
    let issue = |server: &Server, name| {
        let (chain, key) = server.ca.issue_client(name).unwrap();
        (chain, key.expose().clone())
    };
    let good = issue(&server, "service");
    let reply = Call::post("/token")
        .certificate(&good)
        .form(&form)
        .send(&server)
        .expect(200);
    let claims = claims(&reply.member("access_token"));
    assert_eq!(claims["cnf"]["x5t#S256"].as_str().unwrap().len(), 43);
    let other = issue(&server, "other");
    let call = Call::post("/token").certificate(&other).form(&form);
    call.send(&server).expect_error(401, "invalid_client");
    let none = Call::post("/token").mtls().form(&form);
    none.send(&server).expect_error(401, "invalid_client");
    // Somebody else's CA signs whatever name is asked for.
    let stranger = signet_crypto::certificate::DevelopmentCa::generate().unwrap();
    let (chain, key) = stranger.issue_client("service").unwrap();
    let call = Call::post("/token")
        .certificate(&(chain, key.expose().clone()))
        .form(&form);
    call.send(&server).expect_error(401, "invalid_client");
    let untrusting = Server::start(setup(false));
    let call = Call::post("/token")
        .certificate(&issue(&untrusting, "service"))
        .form(&form);
    call.send(&untrusting).expect_error(401, "invalid_client");
}

#[test]
fn a_certificate_header_counts_only_from_a_named_proxy() {
    let setup = |proxy: Option<&str>| {
        let mut setup = with(AuthMethod::TlsClientAuth, |c| {
            c.secrets.clear();
            c.tls_client_auth = Some(TlsClientAuth::SubjectDn("CN=service".to_owned()));
        });
        setup.plain = true;
        setup.policy.client_certificate_header = Some("client-cert".to_owned());
        setup.policy.proxy_verifies_client_certificates = true;
        setup.policy.trusted_proxies = proxy.map(|p| p.parse().unwrap()).into_iter().collect();
        setup
    };
    let send = |server: &Server| {
        let (chain, _) = server.ca.issue_client("service").unwrap();
        let base64: String = chain
            .split("-----END")
            .next()
            .unwrap()
            .lines()
            .skip(1)
            .collect();
        Call::post("/token")
            .header("client-cert", &format!(":{base64}:"))
            .form(&[GRANT, ("client_id", "service")])
            .send(server)
    };
    send(&Server::start(setup(Some("127.0.0.1")))).expect(200);
    send(&Server::start(setup(Some("192.0.2.1")))).expect_error(401, "invalid_client");
    send(&Server::start(setup(None))).expect_error(401, "invalid_client");
    // Whoever speaks TLS to the server is a client, and no proxy.
    let mut with_tls = setup(Some("127.0.0.1"));
    with_tls.plain = false;
    send(&Server::start(with_tls)).expect_error(401, "invalid_client");
}

#[test]
fn with_a_secret_a_certificate_header_counts_only_beside_it() {
    const SECRET: &str = "0123456789abcdef0123456789abcdef";
    for plain in [true, false] {
        let mut setup = with(AuthMethod::TlsClientAuth, |c| {
            c.secrets.clear();
            c.tls_client_auth = Some(TlsClientAuth::SubjectDn("CN=service".to_owned()));
        });
        setup.plain = plain;
        setup.policy.client_certificate_header = Some("client-cert".to_owned());
        setup.policy.proxy_verifies_client_certificates = true;
        setup.policy.trusted_proxies = vec!["127.0.0.1".parse().unwrap()];
        let secret = ProxySecret::new("x-proxy-secret", Secret::new(SECRET.to_owned()));
        setup.policy.proxy_secret = Some(Arc::new(secret.unwrap()));
        let server = Server::start(setup);
        let (chain, _) = server.ca.issue_client("service").unwrap();
        let base64 = chain.split("-----END").next().unwrap();
        let base64: String = base64.lines().skip(1).collect();
        let call = || {
            Call::post("/token")
                .header("client-cert", &format!(":{base64}:"))
                .form(&[GRANT, ("client_id", "service")])
        };
        call().send(&server).expect_error(401, "invalid_client");
        let wrong = call().header("x-proxy-secret", "0123456789abcdef");
        wrong.send(&server).expect_error(401, "invalid_client");
        let right = call().header("x-proxy-secret", SECRET);
        right.send(&server).expect(200);
    }
}

#[test]
fn self_signed_tls_client_auth_needs_the_registered_key_and_no_ca() {
    use rustls::pki_types::{CertificateDer, pem::PemObject};
    let ca = signet_crypto::certificate::DevelopmentCa::generate().unwrap();
    let issue = |name| {
        let (chain, key) = ca.issue_client(name).unwrap();
        (chain, key.expose().clone())
    };
    let (own, other) = (issue("own"), issue("own"));
    let der = CertificateDer::from_pem_slice(own.0.as_bytes()).unwrap();
    let certificate = signet_crypto::certificate::ClientCertificate::parse(&der).unwrap();
    let mut setup = with(AuthMethod::SelfSignedTlsClientAuth, |c| {
        c.secrets.clear();
        c.jwks = Some(JwkSet {
            keys: vec![Jwk::new(certificate.public_key().unwrap())],
        });
    });
    setup.trust_client_ca = false;
    let server = Server::start(setup);
    let form = [GRANT, ("client_id", "service")];
    let send = |call: Call| call.form(&form).send(&server);
    send(Call::post("/token").certificate(&own)).expect(200);
    send(Call::post("/token").certificate(&own).h2()).expect(200);
    send(Call::post("/token").certificate(&other)).expect_error(401, "invalid_client");
    send(Call::post("/token").mtls()).expect_error(401, "invalid_client");
    send(Call::post("/token")).expect_error(401, "invalid_client");
}
