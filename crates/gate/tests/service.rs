//! The validation service: tokens in, claims or refusals out; and what a reverse proxy receives.
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use signet_crypto::{Algorithm, Clock, SigningKey, certificate::ClientCertificate};
use signet_gate::{Gate, Identity, Proxies, Setup};
use signet_http::{Body, Connection, Limits, ListenerKind, PresentedCertificate, Response, Serves};
use signet_jose::{
    dpop,
    jwk::{Jwk, JwkSet},
    jwt::{JwtSigner, Typ},
};
use signet_verify::{Issuer, KeySource, Policy, Verifier};
use std::sync::Arc;

const ISSUER: &str = "https://id.example.com";
const AUDIENCE: &str = "https://orders.example.com";
const NOW: u64 = 1_795_000_000;

struct Still;
impl Clock for Still {
    fn now_ms(&self) -> u64 {
        NOW * 1000
    }
}

const SECRET: &str = "0123456789abcdef0123456789abcdef";

fn proxies() -> Proxies {
    let secret = signet_crypto::Secret::new(SECRET.to_owned());
    Proxies::new().with_secret("x-gate-secret", secret).unwrap()
}

struct Service {
    gate: Arc<Gate>,
    signer: JwtSigner,
}

fn setup(set: JwkSet, scope: Option<&str>) -> Setup {
    let mut policy = Policy::access_token(AUDIENCE).realm("orders");
    if let Some(scope) = scope {
        policy = policy.scope(scope);
    }
    Setup {
        verifier: Arc::new(
            Verifier::builder()
                .issuer(Issuer::new(ISSUER, KeySource::Memory(set)))
                .policy(policy)
                .policy(Policy::access_token(AUDIENCE).named("admin").scope("admin"))
                .build()
                .unwrap(),
        ),
        identity: Identity::default(),
        certificate_header: Some("x-client-cert".into()),
        proxies: proxies(),
        login: None,
    }
}

impl Service {
    fn new() -> Service {
        let key = SigningKey::generate(Algorithm::Es256).unwrap();
        let set = Self::set(&key);
        let gate = Gate::new(setup(set, None), Arc::new(Still), Limits::default());
        Service {
            gate,
            signer: JwtSigner::new(key, "k"),
        }
    }

    fn set(key: &SigningKey) -> JwkSet {
        let jwk = Jwk::for_signatures(key.public().unwrap().clone(), key.algorithm(), "k");
        JwkSet { keys: vec![jwk] }
    }

    fn token(&self, sub: &str, more: &str) -> String {
        let mut payload = Vec::new();
        signet_encoding::json::Writer::new(&mut payload).object(|w| {
            w.member("iss").string(ISSUER);
            w.member("sub").string(sub);
            w.member("aud").string(AUDIENCE);
            w.member("client_id").string("web");
            w.member("jti").string("t");
            w.member("scope").string("orders read");
            w.member("iat").number(NOW - 5);
            w.member("exp").number(NOW + 60);
        });
        payload.pop();
        payload.extend_from_slice(more.as_bytes());
        payload.push(b'}');
        let mut token = Vec::new();
        self.signer
            .sign_into(Typ::AccessToken, &payload, &mut token)
            .unwrap();
        String::from_utf8(token).unwrap()
    }

    fn ask(&self, request: http::request::Builder, body: &str) -> Response {
        let connection = Connection {
            peer: [127, 0, 0, 1].into(),
            listener_kind: ListenerKind::Public,
            is_tls: false,
            certificate: None,
        };
        let body = Body::from(Bytes::copy_from_slice(body.as_bytes()));
        run(self.gate.respond(&connection, request.body(body).unwrap()))
    }

    fn validate(&self, body: &str) -> (StatusCode, String) {
        read(self.ask(Request::post("/validate"), body))
    }

    fn replace(&self, policy: Policy, proxies: Proxies) {
        let key = self.signer.key();
        let issuer = Issuer::new(ISSUER, KeySource::Memory(Self::set(key)));
        let verifier = Verifier::builder().issuer(issuer).policy(policy);
        self.gate.replace(Setup {
            login: None,
            verifier: Arc::new(verifier.build().unwrap()),
            identity: Identity::default(),
            certificate_header: Some("x-client-cert".into()),
            proxies,
        });
    }

    /// As the proxy asks.
    fn nginx(&self, path: &str, fields: &[(&str, &str)]) -> Response {
        let known = [fields, &[("x-gate-secret", SECRET)]].concat();
        self.anybody(path, &known)
    }

    /// As somebody asks who need not be a proxy.
    fn anybody(&self, path: &str, fields: &[(&str, &str)]) -> Response {
        let mut request = Request::get(path);
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        self.ask(request, "")
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

fn read(response: Response) -> (StatusCode, String) {
    let status = response.status();
    let body = run(response.into_body().collect()).unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

fn field<'r>(response: &'r Response, name: &str) -> &'r str {
    response
        .headers()
        .get(name)
        .map_or("(none)", |value| value.to_str().unwrap())
}

#[test]
fn a_valid_token_gives_its_claims_and_a_refused_one_its_reason() {
    let service = Service::new();
    let token = service.token("alice", "");
    for body in [
        format!(r#"{{"token":"{token}"}}"#),
        format!(r#"{{ "policy":"default", "token":"{token}" }}"#),
    ] {
        let (status, text) = service.validate(&body);
        assert_eq!(status, 200);
        assert!(text.starts_with(r#"{"valid":true,"alg":"ES256","claims":{"iss":"https://id.example.com","sub":"alice""#), "{text}");
    }
    let forged = format!("{}AAAA", &token[..token.len() - 4]);
    let (status, text) = service.validate(&format!(r#"{{"token":"{forged}"}}"#));
    assert_eq!(status, 401);
    assert!(
        text.contains(r#""valid":false,"error":"invalid_token","reason":"signature""#),
        "{text}"
    );
    let (status, text) = service.validate(&format!(r#"{{"token":"{token}","policy":"admin"}}"#));
    assert_eq!(status, 403);
    assert!(
        text.contains(r#""error":"insufficient_scope","reason":"scope""#),
        "{text}"
    );
}

#[test]
fn a_form_and_an_authorization_field_do_as_well() {
    let service = Service::new();
    let token = service.token("alice", "");
    let form =
        Request::post("/validate").header("content-type", "application/x-www-form-urlencoded");
    assert_eq!(service.ask(form, &format!("token={token}")).status(), 200);
    let bearer = Request::post("/validate").header("authorization", format!("Bearer {token}"));
    assert_eq!(service.ask(bearer, "").status(), 200);
    let none = service.ask(Request::post("/validate"), "");
    assert_eq!(none.status(), 401);
    assert_eq!(field(&none, "www-authenticate"), "Bearer realm=\"orders\"");
    let twice = Request::post("/validate")
        .header("authorization", "Bearer a")
        .header("authorization", "Bearer b");
    assert_eq!(service.ask(twice, "").status(), 400);
}

#[test]
fn a_question_that_is_not_understood_is_not_answered() {
    let service = Service::new();
    let token = service.token("alice", "");
    for body in [
        "{}x".to_owned(),
        "[]".into(),
        "null".into(),
        format!(r#"{{"token":"{token}","scopes":"admin"}}"#),
        format!(r#"{{"token":"{token}","token":"{token}"}}"#),
        format!(r#"{{"token":"{token}","policy":"none"}}"#),
        r#"{"token":1}"#.into(),
        format!(r#"{{"tokens":["{token}"]}}"#),
        format!(r#"{{"token":"{token}","certificate":"AA"}}"#),
    ] {
        assert_eq!(service.validate(&body).0, 400, "{body}");
    }
    assert_eq!(service.ask(Request::get("/validate"), "").status(), 405);
    assert_eq!(service.ask(Request::get("/"), "").status(), 404);
}

#[test]
fn a_batch_answers_each_in_order() {
    let service = Service::new();
    let (good, bad) = (service.token("alice", ""), "junk");
    let ask = |body: String| read(service.ask(Request::post("/validate/batch"), &body));
    let (status, text) = ask(format!(r#"{{"tokens":["{good}","{bad}","{good}"]}}"#));
    assert_eq!(status, 200);
    let valid: Vec<&str> = text
        .split("\"valid\":")
        .skip(1)
        .map(|rest| &rest[..4])
        .collect();
    assert_eq!(valid, ["true", "fals", "true"]);
    let many = vec![format!("\"{bad}\""); 257].join(",");
    assert_eq!(ask(format!(r#"{{"tokens":[{many}]}}"#)).0, 400);
}

#[test]
fn a_proxy_gets_identity_fields_for_an_accepted_request() {
    let service = Service::new();
    let bearer = format!("Bearer {}", service.token("alice", ""));
    for path in [
        "/auth/nginx",
        "/auth/traefik",
        "/auth/envoy",
        "/auth/envoy/orders/1",
        "/auth/nginx?scope=orders",
    ] {
        let answer = service.nginx(path, &[("authorization", &bearer)]);
        assert_eq!(answer.status(), 200, "{path}");
        assert_eq!(field(&answer, "x-auth-subject"), "alice");
        assert_eq!(field(&answer, "x-auth-issuer"), ISSUER);
        assert_eq!(field(&answer, "x-auth-client"), "web");
        assert_eq!(field(&answer, "x-auth-scope"), "orders read");
    }
    for (path, status) in [
        ("/auth/nginx?scope=admin", 403),
        ("/auth/nginx?policy=admin", 403),
        ("/auth/envoy@admin/x", 403),
        ("/auth/nginx?policy=x", 500),
        ("/auth/nginx?scopes=x", 500),
        ("/auth/envoy@x", 500),
        ("/auth/envoyx", 404),
    ] {
        let answer = service.nginx(path, &[("authorization", &bearer)]);
        assert_eq!(answer.status(), status, "{path}");
        assert_eq!(field(&answer, "x-auth-subject"), "(none)");
    }
    let scope = service.nginx("/auth/nginx?scope=admin", &[("authorization", &bearer)]);
    assert!(field(&scope, "www-authenticate").ends_with("scope=\"admin\""));
}

#[test]
fn a_refused_request_is_challenged_and_gets_no_identity() {
    let service = Service::new();
    for (fields, status) in [
        (&[][..], 401),
        (&[("authorization", "Bearer junk")], 401),
        (&[("authorization", "Basic YTpi")], 401),
        (
            &[("authorization", "Bearer a"), ("authorization", "Bearer b")],
            401,
        ),
    ] {
        let answer = service.nginx("/auth/nginx", fields);
        assert_eq!(answer.status(), status, "{fields:?}");
        assert!(field(&answer, "www-authenticate").starts_with("Bearer realm=\"orders\""));
        assert_eq!(field(&answer, "x-auth-subject"), "(none)");
    }
}

#[test]
fn no_claim_can_inject_a_header_field() {
    let service = Service::new();
    for sub in [
        "a\r\nX-Admin: 1",
        "a\nb",
        "a\0b",
        "\u{e9}\u{202e}",
        " lead",
        "trail ",
        "a,b",
        "%0d%0a",
        "x: y\r\n\r\n<html>",
    ] {
        let bearer = format!("Bearer {}", service.token(sub, ""));
        let answer = service.nginx("/auth/nginx", &[("authorization", &bearer)]);
        assert_eq!(answer.status(), 200);
        let value = field(&answer, "x-auth-subject");
        assert!(
            value
                .bytes()
                .all(|byte| byte.is_ascii_graphic() && byte != b','),
            "{value}"
        );
        assert_eq!(answer.headers().len(), 5, "four fields and cache-control");
    }
}

#[test]
fn every_identity_field_is_there_so_that_forged_ones_are_overwritten() {
    let key = SigningKey::generate(Algorithm::Es256).unwrap();
    let mut made = setup(Service::set(&key), None);
    made.identity = Identity::new([
        ("x-user", "sub"),
        ("x-tenant", "tenant"),
        ("x-roles", "roles"),
        ("x-level", "level"),
    ])
    .unwrap();
    let service = Service {
        gate: Gate::new(made, Arc::new(Still), Limits::default()),
        signer: JwtSigner::new(key, "k"),
    };
    let bearer = format!(
        "Bearer {}",
        service.token("alice", r#","roles":["a","b c"],"level":3"#)
    );
    let forged = [
        ("authorization", bearer.as_str()),
        ("x-tenant", "forged"),
        ("x-user", "admin"),
    ];
    let answer = service.nginx("/auth/envoy/x", &forged);
    assert_eq!(field(&answer, "x-user"), "alice");
    assert_eq!(field(&answer, "x-tenant"), "");
    assert_eq!(field(&answer, "x-roles"), "a,b%20c");
    assert_eq!(field(&answer, "x-level"), "3");
    assert_eq!(field(&answer, "x-envoy-auth-headers-to-remove"), "x-tenant");
}

#[test]
fn a_bound_token_needs_its_proof_for_the_request_that_the_proxy_names() {
    let service = Service::new();
    let client = SigningKey::generate(Algorithm::Es256).unwrap();
    let jkt = Jwk::new(client.public().unwrap().clone()).thumbprint_text();
    let token = service.token("alice", &format!(r#","cnf":{{"jkt":"{jkt}"}}"#));
    let prover = JwtSigner::new(client, "");
    let proof = |jti: &str, method: &str, url: &str| {
        prover
            .sign(Typ::DpopProof, |w| {
                w.member("jti").string(jti);
                w.member("htm").string(method);
                w.member("htu").string(url);
                w.member("iat").number(NOW);
                w.member("ath").string(&dpop::ath(&token));
            })
            .unwrap()
    };
    let authorization = format!("DPoP {token}");
    let url = "https://orders.example.com/orders/1";
    let nginx = |proof: &str, method: &str| {
        let fields = [
            ("authorization", authorization.as_str()),
            ("dpop", proof),
            ("x-original-method", method),
            ("x-original-url", url),
        ];
        service.nginx("/auth/nginx", &fields)
    };
    let first = proof("1", "PUT", url);
    assert_eq!(nginx(&first, "PUT").status(), 200);
    let again = nginx(&first, "PUT");
    assert_eq!(again.status(), 401);
    assert!(
        field(&again, "www-authenticate")
            .starts_with("DPoP realm=\"orders\", error=\"invalid_dpop_proof\"")
    );
    assert_eq!(nginx(&proof("2", "PUT", url), "GET").status(), 401);
    assert_eq!(
        nginx(
            &proof("3", "PUT", "https://orders.example.com/orders/2"),
            "PUT"
        )
        .status(),
        401
    );
    let bearer = format!("Bearer {token}");
    assert_eq!(
        service
            .nginx("/auth/nginx", &[("authorization", &bearer)])
            .status(),
        401
    );
    let traefik = [
        ("authorization", authorization.as_str()),
        ("dpop", &proof("4", "GET", url)),
        ("x-forwarded-method", "GET"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-host", "orders.example.com"),
        ("x-forwarded-uri", "/orders/1?x=1"),
    ];
    assert_eq!(service.nginx("/auth/traefik", &traefik).status(), 200);
    let envoy = [
        ("authorization", authorization.as_str()),
        ("dpop", &proof("5", "GET", url)),
        ("x-forwarded-proto", "https"),
        ("host", "orders.example.com"),
    ];
    assert_eq!(
        service.nginx("/auth/envoy/orders/1?x=1", &envoy).status(),
        200
    );
}

#[test]
fn a_proof_for_a_request_at_another_origin_is_refused() {
    let service = Service::new();
    let policy = Policy::access_token(AUDIENCE).origin("https://orders.example.com");
    service.replace(policy, proxies());
    let client = SigningKey::generate(Algorithm::Es256).unwrap();
    let jkt = Jwk::new(client.public().unwrap().clone()).thumbprint_text();
    let token = service.token("alice", &format!(r#","cnf":{{"jkt":"{jkt}"}}"#));
    let prover = JwtSigner::new(client, "");
    let authorization = format!("DPoP {token}");
    let ask = |jti: &str, origin: &str, fields: &[(&str, &str)], path: &str| {
        let proof = prover
            .sign(Typ::DpopProof, |w| {
                w.member("jti").string(jti);
                w.member("htm").string("GET");
                w.member("htu").string(&format!("{origin}/x"));
                w.member("iat").number(NOW);
                w.member("ath").string(&dpop::ath(&token));
            })
            .unwrap();
        let own = [("authorization", &*authorization), ("dpop", &*proof)];
        service.nginx(path, &[&own, fields].concat()).status()
    };
    for (number, (origin, status)) in [
        ("https://orders.example.com", 200),
        ("https://evil.example", 401),
        ("http://orders.example.com", 401),
        ("https://orders.example.com:8443", 401),
    ]
    .into_iter()
    .enumerate()
    {
        let (scheme, host) = origin.split_once("://").unwrap();
        let url = format!("{origin}/x");
        let fields = [("x-original-url", &*url)];
        let got = ask(&format!("n{number}"), origin, &fields, "/auth/nginx");
        assert_eq!(got, status, "{origin}");
        let fields = [
            ("x-forwarded-proto", scheme),
            ("x-forwarded-host", host),
            ("x-forwarded-uri", "/x"),
        ];
        let got = ask(&format!("t{number}"), origin, &fields, "/auth/caddy");
        assert_eq!(got, status, "{origin}");
        let fields = [("x-forwarded-proto", scheme), ("host", host)];
        let got = ask(&format!("e{number}"), origin, &fields, "/auth/envoy/x");
        assert_eq!(got, status, "{origin}");
    }
}

#[test]
fn what_a_caller_says_who_is_no_known_proxy_is_not_believed() {
    let service = Service::new();
    // A certificate's bytes as base64: what it says is not looked at here, only its hash.
    let (certificate, der) = ("AQIDBAUG", [1, 2, 3, 4, 5, 6]);
    let x5t = signet_encoding::base64url::encode(&signet_crypto::hash::sha256(&der));
    let bound = service.token("alice", &format!(r#","cnf":{{"x5t#S256":"{x5t}"}}"#));
    let bound = format!("Bearer {bound}");
    let fields = [("authorization", &*bound), ("x-client-cert", certificate)];
    assert_eq!(service.nginx("/auth/nginx", &fields).status(), 200);
    for path in [
        "/auth/nginx",
        "/auth/traefik",
        "/auth/caddy",
        "/auth/envoy/x",
    ] {
        let without = service.anybody(path, &fields);
        assert_eq!(without.status(), 403, "{path}");
        assert_eq!(field(&without, "x-auth-subject"), "(none)");
        let almost = SECRET.replacen('0', "1", 1);
        for wrong in ["", "x", &almost, &SECRET[1..]] {
            let fields = [&fields[..], &[("x-gate-secret", wrong)]].concat();
            assert_eq!(
                service.anybody(path, &fields).status(),
                403,
                "{path} {wrong}"
            );
        }
        // One of the two is not the proxy's.
        let twice = [("x-gate-secret", SECRET), ("x-gate-secret", SECRET)];
        let fields = [&fields[..], &twice].concat();
        assert_eq!(service.anybody(path, &fields).status(), 403, "{path}");
    }
    // Where no proxy can be known, nobody's word is taken, and bearer tokens are decided about.
    service.replace(Policy::access_token(AUDIENCE), Proxies::new());
    let fields = [&fields[..], &[("x-gate-secret", SECRET)]].concat();
    for path in [
        "/auth/nginx",
        "/auth/traefik",
        "/auth/caddy",
        "/auth/envoy/x",
    ] {
        assert_eq!(service.anybody(path, &fields).status(), 401, "{path}");
        let bearer = format!("Bearer {}", service.token("alice", ""));
        let plain = [("authorization", &*bearer)];
        assert_eq!(service.anybody(path, &plain).status(), 200, "{path}");
    }
}

#[test]
fn a_caller_whose_certificate_ends_at_the_client_ca_is_a_proxy() {
    let service = Service::new();
    service.replace(
        Policy::access_token(AUDIENCE),
        Proxies::new().with_certificate(),
    );
    let bearer = format!("Bearer {}", service.token("alice", ""));
    let ask = |certificate| {
        let connection = Connection {
            peer: [127, 0, 0, 1].into(),
            listener_kind: ListenerKind::Public,
            is_tls: false,
            certificate,
        };
        let request = Request::get("/auth/nginx").header("authorization", &bearer);
        let request = request.body(Body::from(Bytes::new())).unwrap();
        run(service.gate.respond(&connection, request)).status()
    };
    let ca = signet_crypto::certificate::DevelopmentCa::generate().unwrap();
    let (chain, _) = ca.issue_client("proxy").unwrap();
    let der = signet_http::certificate::der_of_field(&chain).unwrap();
    let presented = |chain_trusted| {
        Some(Arc::new(PresentedCertificate {
            certificate: ClientCertificate::parse(&der).unwrap(),
            chain_trusted,
        }))
    };
    assert_eq!(ask(None), 403);
    assert_eq!(ask(presented(false)), 403);
    assert_eq!(ask(presented(true)), 200);
}

#[test]
fn a_demand_without_a_value_is_not_taken_for_none() {
    let service = Service::new();
    let bearer = format!("Bearer {}", service.token("alice", ""));
    let fields = [("authorization", &*bearer)];
    for path in ["/auth/nginx", "/auth/traefik"] {
        for query in [
            "policy=",
            "policy",
            "scope=",
            "scope",
            "scope=%20",
            "scope=+",
            "scope=%20%20",
            "policy=&scope=read",
            "scope=read&policy=",
            "=x",
            "other=",
        ] {
            let answer = service.nginx(&format!("{path}?{query}"), &fields);
            assert_eq!(answer.status(), 500, "{path}?{query}");
        }
        for query in [
            "",
            "?",
            "?scope=read",
            "?policy=default&scope=read%20orders",
        ] {
            let answer = service.nginx(&format!("{path}{query}"), &fields);
            assert_eq!(answer.status(), 200, "{path}{query}");
        }
    }
    assert_eq!(service.nginx("/auth/envoy@/x", &fields).status(), 500);
}

#[test]
fn a_client_does_not_choose_the_policy_by_its_own_query() {
    let service = Service::new();
    let bearer = format!("Bearer {}", service.token("alice", ""));
    for path in ["/auth/traefik", "/auth/caddy"] {
        let asked = |query: &str, uri: &str| {
            let fields = [("authorization", &*bearer), ("x-forwarded-uri", uri)];
            service.nginx(&format!("{path}{query}"), &fields).status()
        };
        // As Caddy asks where its configuration says `uri /auth/caddy`.
        for own in ["policy=admin", "policy=default", "scope=read", "x=1"] {
            let uri = format!("/orders?{own}");
            assert_eq!(asked(&format!("?{own}"), &uri), 500, "{path} {own}");
            assert_eq!(asked("", &uri), 200, "{path} {own}");
            assert_eq!(asked("?", &uri), 200, "{path} {own}");
            assert_eq!(asked("?policy=admin&scope=read", &uri), 403, "{path} {own}");
        }
        assert_eq!(asked("?policy=default", "/orders?"), 200);
    }
}

#[test]
fn readiness_waits_for_keys_and_says_what_is_missing() {
    let service = Service::new();
    assert_eq!(service.ask(Request::get("/health/live"), "").status(), 200);
    assert_eq!(service.ask(Request::get("/health/ready"), "").status(), 200);
    let later = Issuer::new("https://later.example", KeySource::Discovery);
    let verifier = Verifier::builder()
        .issuer(later)
        .policy(Policy::access_token(AUDIENCE))
        .build()
        .unwrap();
    service.gate.replace(Setup {
        login: None,
        verifier: Arc::new(verifier),
        identity: Identity::default(),
        certificate_header: None,
        proxies: Proxies::new(),
    });
    let (status, text) = read(service.ask(Request::get("/health/ready"), ""));
    assert_eq!(status, 503);
    assert_eq!(text, "not ready\nhttps://later.example: starting\n");
    // Not the token's fault, and so no 401.
    let (status, text) =
        service.validate(&format!(r#"{{"token":"{}"}}"#, service.token("alice", "")));
    assert_eq!(status, 503);
    assert!(
        text.contains(r#""error":"temporarily_unavailable","reason":"keys_unavailable""#),
        "{text}"
    );
}

#[test]
fn metrics_count_each_reason_and_time_each_stage() {
    let service = Service::new();
    let body = format!(r#"{{"token":"{}"}}"#, service.token("alice", ""));
    service.validate(&body);
    service.validate(&body);
    service.validate(r#"{"token":"a.b.c"}"#);
    service.nginx("/auth/envoy/any/path", &[]);
    service.nginx("/unknown", &[]);
    let (_, text) = read(service.ask(Request::get("/metrics"), ""));
    for line in [
        "signet_gate_accepted_total 2",
        "signet_gate_cached_total 1",
        "signet_gate_refused_total{reason=\"malformed\"} 1",
        "signet_gate_stage_seconds_count{stage=\"verified\"} 1",
        "signet_gate_stage_seconds_count{stage=\"cached\"} 1",
        "signet_gate_issuer_state{issuer=\"https://id.example.com\",state=\"healthy\"} 1",
        "signet_requests_total{route=\"/validate\",status=\"2xx\"} 2",
        "signet_requests_total{route=\"/validate\",status=\"4xx\"} 1",
        "signet_requests_total{route=\"/auth/envoy\",status=\"4xx\"} 1",
        "signet_requests_total{route=\"other\",status=\"4xx\"} 1",
        "signet_handler_panics_total 0",
    ] {
        assert!(
            text.lines().any(|own| own == line),
            "{line} is not in\n{text}"
        );
    }
}
