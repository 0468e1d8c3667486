//! Opaque tokens: the issuer is asked, once, and its word is held to the same policy.

use crate::support::*;
use signet_crypto::Secret;
use signet_verify::{
    Form, Issuer, KeySource, MemoryRevocations, OnStreamLoss, Policy, Presented, Refusal, Subject,
    Verified, Verifier,
    fetch::{Credentials, Introspect, Introspector, Outbound, OutboundOptions},
};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

/// What RFC 7662 calls an authorization server: answers what the test puts in, and remembers what
/// it was asked.
struct Stub {
    url: String,
    /// status and body
    answer: Arc<Mutex<(u16, String)>>,
    asked: Arc<Mutex<Vec<String>>>,
    questions: Arc<AtomicUsize>,
}

impl Stub {
    async fn start(pause: Duration) -> Stub {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stub = Stub {
            url: format!("http://{}/introspect", listener.local_addr().unwrap()),
            answer: Arc::new(Mutex::new((200, active("")))),
            asked: Arc::default(),
            questions: Arc::default(),
        };
        let (answer, asked, questions) = (
            stub.answer.clone(),
            stub.asked.clone(),
            stub.questions.clone(),
        );
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let (answer, asked, questions) = (answer.clone(), asked.clone(), questions.clone());
                tokio::spawn(async move {
                    let mut request = Vec::new();
                    let mut piece = [0; 4096];
                    // The forms of these tests end with the token.
                    while !String::from_utf8_lossy(&request).contains("&token=") {
                        let length = stream.read(&mut piece).await.unwrap_or(0);
                        if length == 0 {
                            return;
                        }
                        request.extend_from_slice(&piece[..length]);
                    }
                    questions.fetch_add(1, Relaxed);
                    asked
                        .lock()
                        .unwrap()
                        .push(String::from_utf8(request).unwrap());
                    tokio::time::sleep(pause).await;
                    let (status, body) = answer.lock().unwrap().clone();
                    let head = format!(
                        "HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n",
                        body.len()
                    );
                    let _ = stream.write_all((head + &body).as_bytes()).await;
                });
            }
        });
        stub
    }

    fn say(&self, status: u16, body: impl Into<String>) {
        *self.answer.lock().unwrap() = (status, body.into());
    }

    fn questions(&self) -> usize {
        self.questions.load(Relaxed)
    }

    fn introspector(&self, max_age: u64) -> Introspector {
        let outbound = Outbound::new(OutboundOptions {
            allow_http: true,
            allow_loopback: true,
            timeout: Duration::from_secs(20),
            ..OutboundOptions::default()
        });
        let credentials = Credentials::new("gate", Secret::new("secret".to_owned()));
        Introspector::new(
            ISSUER,
            credentials,
            Arc::new(outbound),
            max_age,
            64,
            1 << 20,
        )
        .at(&self.url)
    }
}

/// A good answer, and more members.
fn active(more: &str) -> String {
    format!(
        r#"{{"active":true,"sub":"alice","aud":"{AUDIENCE}","scope":"orders","client_id":"web","exp":{}{more}}}"#,
        NOW + 600
    )
}

fn policy(which: Introspect) -> Policy {
    Policy::access_token(AUDIENCE).introspect(which)
}

fn verifier(stub: &Stub, policy: Policy) -> Verifier {
    Verifier::builder()
        .issuer(issuer())
        .introspector(Arc::new(stub.introspector(60)))
        .policy(policy)
        .build()
        .unwrap()
}

async fn ask_at(v: &Verifier, token: &str, now: u64) -> Result<Verified, Refusal> {
    let presented = Presented::token(token);
    v.decide_asking(v.default_policy(), &presented, || now)
        .await
        .outcome
}

async fn ask(v: &Verifier, token: &str) -> Result<Verified, Refusal> {
    ask_at(v, token, NOW).await
}

#[tokio::test]
async fn an_opaque_token_is_asked_about_with_client_authentication_and_kept_for_a_while() {
    let stub = Stub::start(Duration::ZERO).await;
    let v = verifier(&stub, policy(Introspect::Opaque));
    let verified = ask(&v, "opaque/+ \u{e9}&x=y").await.unwrap();
    assert_eq!(verified.claims().sub(), Some("alice"));
    assert_eq!(verified.form(), Form::Introspected);
    let request = stub.asked.lock().unwrap()[0].clone();
    assert!(request.starts_with("POST /introspect HTTP/1.1\r\n"));
    // base64 of gate:secret
    assert!(request.contains("authorization: Basic Z2F0ZTpzZWNyZXQ=\r\n"));
    assert!(request.ends_with("token=opaque%2F%2B+%C3%A9%26x%3Dy"));
    for _ in 0..3 {
        assert!(ask(&v, "opaque/+ \u{e9}&x=y").await.is_ok());
    }
    assert_eq!(stub.questions(), 1);
    // Another token is another question, and so is the same one when the answer is too old.
    assert!(ask(&v, "opaque").await.is_ok());
    assert!(ask_at(&v, "opaque", NOW + 59).await.is_ok());
    assert_eq!(stub.questions(), 2);
    assert!(ask_at(&v, "opaque", NOW + 60).await.is_ok());
    assert_eq!(stub.questions(), 3);
}

#[tokio::test]
async fn an_answer_is_not_believed_beyond_the_tokens_end() {
    let stub = Stub::start(Duration::ZERO).await;
    stub.say(
        200,
        active("").replace(&(NOW + 600).to_string(), &(NOW + 10).to_string()),
    );
    let v = verifier(&stub, policy(Introspect::Opaque));
    assert!(ask(&v, "opaque").await.is_ok());
    assert_eq!(
        ask_at(&v, "opaque", NOW + 10 + 60).await.unwrap_err(),
        Refusal::Expired
    );
    assert_eq!(stub.questions(), 2);
}

#[tokio::test]
async fn a_refusal_is_never_kept() {
    let stub = Stub::start(Duration::ZERO).await;
    let v = verifier(&stub, policy(Introspect::Opaque));
    for round in 1..=3 {
        stub.say(200, r#"{"active":false}"#);
        assert_eq!(ask(&v, "opaque").await.unwrap_err(), Refusal::Inactive);
        assert_eq!(stub.questions(), round);
    }
    stub.say(200, active(""));
    assert!(ask(&v, "opaque").await.is_ok());
}

#[tokio::test]
async fn what_the_issuer_says_is_held_to_the_policy() {
    let stub = Stub::start(Duration::ZERO).await;
    let v = verifier(&stub, policy(Introspect::Opaque).scope("orders"));
    let cases = [
        (
            active(r#","iss":"https://other.example.com""#),
            Refusal::Issuer,
        ),
        (
            active("").replace(AUDIENCE, "https://other.example.com"),
            Refusal::Audience,
        ),
        (
            active("").replace(&format!(r#""aud":"{AUDIENCE}","#), ""),
            Refusal::MissingClaim,
        ),
        (
            active("").replace(r#""exp""#, r#""end""#),
            Refusal::MissingClaim,
        ),
        (
            active("").replace(&(NOW + 600).to_string(), &(NOW - 120).to_string()),
            Refusal::Expired,
        ),
        (
            active("").replace(r#""scope":"orders""#, r#""scope":"order""#),
            Refusal::Scope,
        ),
        (
            active(&format!(r#","nbf":{}"#, NOW + 120)),
            Refusal::NotYetValid,
        ),
        (
            active(&format!(r#","iat":{}"#, NOW + 120)),
            Refusal::IssuedInFuture,
        ),
        (
            active(r#","cnf":{"kid":"x"}"#),
            Refusal::UnknownConfirmation,
        ),
        (
            active(r#","cnf":{"jkt":"0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}"#),
            Refusal::ProofMissing,
        ),
        (
            active(r#","token_type":"DPoP""#),
            Refusal::UnknownConfirmation,
        ),
        (
            active("").replace(r#""sub":"alice""#, r#""sub":1"#),
            Refusal::Claims,
        ),
    ];
    for (answer, refusal) in cases {
        stub.say(200, active(""));
        let good = format!("good-{}", stub.questions());
        assert!(ask(&v, &good).await.is_ok());
        stub.say(200, &answer);
        let bad = format!("bad-{}", stub.questions());
        assert_eq!(ask(&v, &bad).await.unwrap_err(), refusal, "{answer}");
    }
}

#[tokio::test]
async fn an_issuer_that_cannot_be_asked_refuses_and_says_why() {
    let stub = Stub::start(Duration::ZERO).await;
    let introspector = Arc::new(stub.introspector(60));
    let v = Verifier::builder()
        .issuer(issuer())
        .introspector(introspector.clone())
        .policy(policy(Introspect::Opaque))
        .build()
        .unwrap();
    assert!(ask(&v, "known").await.is_ok());
    for (status, body) in [
        (401, active("")),
        (500, active("")),
        (302, active("")),
        (200, "junk".to_owned()),
        (200, "[]".to_owned()),
        (200, r#"{"sub":"alice"}"#.to_owned()),
        (200, active("").replace("true", r#""true""#)),
    ] {
        stub.say(status, &body);
        let refused = ask(&v, "opaque").await.unwrap_err();
        assert_eq!(
            refused,
            Refusal::IntrospectionUnavailable,
            "{status} {body}"
        );
        assert!(introspector.failure().is_some());
        // What was answered before goes on to count for its time.
        assert!(ask(&v, "known").await.is_ok());
    }
    stub.say(200, active(""));
    assert!(ask(&v, "opaque").await.is_ok());
    assert_eq!(introspector.failure(), None);
}

#[tokio::test]
async fn many_requests_with_one_token_are_one_question() {
    let stub = Stub::start(Duration::from_millis(200)).await;
    let v = Arc::new(verifier(&stub, policy(Introspect::Opaque)));
    let accepted = Arc::new(AtomicU64::new(0));
    let mut tasks = Vec::new();
    for _ in 0..50 {
        let (v, accepted) = (v.clone(), accepted.clone());
        tasks.push(tokio::spawn(async move {
            if ask(&v, "opaque").await.is_ok() {
                accepted.fetch_add(1, Relaxed);
            }
        }));
    }
    // One that gives up takes nobody with it, the one who asks included.
    tasks[0].abort();
    for task in tasks.into_iter().skip(1) {
        task.await.unwrap();
    }
    assert_eq!(accepted.load(Relaxed), 49);
    assert!(stub.questions() <= 2, "{}", stub.questions());
}

#[tokio::test]
async fn without_asking_nothing_is_accepted_that_was_not_answered_before() {
    let stub = Stub::start(Duration::ZERO).await;
    let v = verifier(&stub, policy(Introspect::Opaque));
    assert_eq!(
        verify(&v, "opaque").unwrap_err(),
        Refusal::IntrospectionUnavailable
    );
    assert!(ask(&v, "opaque").await.is_ok());
    assert!(verify(&v, "opaque").is_ok());
    // JWTs are verified as ever, and nobody is asked about them.
    let token = access().signed();
    assert!(ask(&v, &token).await.is_ok());
    assert!(verify(&v, &token).is_ok());
    assert_eq!(stub.questions(), 1);
}

#[tokio::test]
async fn a_policy_that_asks_about_all_verifies_a_jwt_and_asks_as_well() {
    let stub = Stub::start(Duration::ZERO).await;
    let v = verifier(&stub, policy(Introspect::All));
    let token = access().signed();
    assert_eq!(
        verify(&v, &token).unwrap_err(),
        Refusal::IntrospectionUnavailable
    );
    stub.say(200, r#"{"active":false}"#);
    assert_eq!(ask(&v, &token).await.unwrap_err(), Refusal::Inactive);
    stub.say(200, active(""));
    let verified = ask(&v, &token).await.unwrap();
    assert!(matches!(verified.form(), Form::Jwt(_)));
    let asked = stub.questions();
    let forged = format!("{}AAAA", &token[..token.len() - 4]);
    assert_eq!(ask(&v, &forged).await.unwrap_err(), Refusal::Signature);
    assert_eq!(stub.questions(), asked);
    // Its key's withdrawal ends it at once, whatever the issuer said a moment ago.
    assert!(verify(&v, &token).is_ok());
    v.set_keys(ISSUER, &Default::default());
    assert_ne!(ask(&v, &token).await.err(), None);
    assert_ne!(verify(&v, &token).err(), None);
}

#[tokio::test]
async fn a_revoked_or_disabled_answer_ends_at_once() {
    let stub = Stub::start(Duration::ZERO).await;
    stub.say(200, active(r#","jti":"t""#));
    let index = Arc::new(MemoryRevocations::new(OnStreamLoss::FailOpen));
    let v = Verifier::builder()
        .issuer(issuer())
        .introspector(Arc::new(stub.introspector(60)))
        .policy(policy(Introspect::Opaque))
        .revocations(index.clone())
        .build()
        .unwrap();
    assert!(ask(&v, "opaque").await.is_ok());
    v.set_enabled(ISSUER, false);
    assert_eq!(
        ask(&v, "opaque").await.unwrap_err(),
        Refusal::IssuerDisabled
    );
    v.set_enabled(ISSUER, true);
    assert!(ask(&v, "opaque").await.is_ok());
    index.revoke(Subject::Jti("t"), NOW + 700);
    assert_eq!(ask(&v, "opaque").await.unwrap_err(), Refusal::Revoked);
}

#[tokio::test]
async fn a_hit_never_skips_a_stricter_policy() {
    let stub = Stub::start(Duration::ZERO).await;
    let introspector = Arc::new(stub.introspector(60));
    let v = Verifier::builder()
        .issuer(Issuer::new(
            ISSUER,
            KeySource::Memory(jwks(&[signet_crypto::Algorithm::Es256])),
        ))
        .introspector(introspector)
        .policy(policy(Introspect::Opaque))
        .policy(policy(Introspect::Opaque).named("admin").scope("admin"))
        .build()
        .unwrap();
    assert!(ask(&v, "opaque").await.is_ok());
    let admin = v.policy("admin").unwrap();
    let presented = Presented::token("opaque");
    let decision = v.decide_asking(admin, &presented, || NOW).await;
    assert_eq!(decision.outcome.unwrap_err(), Refusal::Scope);
    assert_eq!(
        v.verify_under(admin, &presented, NOW).unwrap_err(),
        Refusal::IntrospectionUnavailable
    );
}
