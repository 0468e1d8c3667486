use crate::support::*;
use signet_verify::{Answer, Challenge, Policy, Presented, Refusal, Scheme};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// A subscriber that counts what is logged.
struct Lines(Arc<AtomicUsize>);

impl tracing::Subscriber for Lines {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        self.0.fetch_add(1, Relaxed);
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, _: &tracing::Event<'_>) {
        self.0.fetch_add(1, Relaxed);
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

/// Junk of every kind, each refused for another reason.
fn junk() -> Vec<String> {
    let good = access();
    let token = good.signed();
    let (header, payload, signature) = parts(&token);
    let with_header = |header: &str| format!("{}.{payload}.{signature}", encode(header));
    vec![
        String::new(),
        "x".to_owned(),
        ".".repeat(100),
        format!("{header}.{payload}"),
        "é".repeat(50),
        "\u{0}".repeat(50),
        format!("{header}.{payload}.{}", "A".repeat(86)),
        format!("{token}="),
        with_header("{"),
        with_header("[]"),
        with_header(r#"{"alg":"none"}"#),
        with_header(r#"{"alg":"HS256","typ":"at+jwt"}"#),
        with_header(r#"{"alg":"ES256","typ":"JWT"}"#),
        with_header(r#"{"alg":"ES256","typ":"at+jwt","kid":"x"}"#),
        with_header(r#"{"alg":"ES256","typ":"at+jwt","crit":[]}"#),
        with_header(&"[".repeat(5_000)),
        good.with("alice", "\\ud800").signed(),
        good.with(AUDIENCE, "https://other").signed(),
        "a".repeat(100_000),
    ]
}

#[test]
fn v14_a_refusal_writes_no_log_line_and_unwinds_nothing() {
    let (v, junk) = (verifier(), junk());
    let lines = Arc::new(AtomicUsize::new(0));
    let panics = Arc::new(AtomicUsize::new(0));
    let count = panics.clone();
    let before = std::panic::take_hook();
    let thread = std::thread::current().id();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().id() == thread {
            count.fetch_add(1, Relaxed);
        }
        before(info);
    }));
    tracing::subscriber::with_default(Lines(lines.clone()), || {
        tracing::info!("the subscriber counts");
        for _ in 0..200 {
            for token in &junk {
                assert!(verify(&v, token).is_err());
            }
        }
    });
    assert_eq!(
        lines.load(Relaxed),
        1,
        "a flood of junk is counted, not logged"
    );
    assert_eq!(panics.load(Relaxed), 0);
    let counted: u64 = Refusal::ALL.iter().map(|r| v.counters().refused(*r)).sum();
    assert_eq!(counted, 200 * junk.len() as u64);
}

#[test]
fn v15_malformed_input_is_refused_with_an_answer_and_never_fails() {
    let v = verifier();
    let policy = v.rules(v.default_policy());
    for text in junk() {
        for value in [
            text.clone(),
            format!("Bearer {text}"),
            format!("bearer  {text}"),
            format!("DPoP {text}"),
            format!("Basic {text}"),
            format!("Bearer {text} {text}"),
            format!("Bearer {text},{text}"),
        ] {
            let outcome = Presented::authorization(&value)
                .and_then(|presented| v.verify(&presented, NOW).map(drop));
            let refusal = outcome.expect_err("junk is no token");
            let challenge = Challenge::new(policy, refusal, Some(Scheme::Bearer));
            let status = challenge.status();
            assert!((400..500).contains(&status), "{status} for {refusal:?}");
            assert!(challenge.header().is_some());
        }
        // Junk beside a good token: proof, nonce, hashes.
        let token = access().signed();
        let presented = Presented::token(&token)
            .scheme(Scheme::Dpop)
            .proof(signet_verify::Proof {
                jwt: &text,
                method: "GET",
                url: &text,
            })
            .nonce(&text)
            .access_token(&text)
            .code(&text);
        assert_eq!(v.verify(&presented, NOW).unwrap_err(), Refusal::Scheme);
    }
}

#[test]
fn v16_a_challenge_tells_nothing_of_configuration_keys_or_library() {
    let policy = Policy::access_token(AUDIENCE)
        .issuer(ISSUER)
        .named("orders-policy")
        .authorized_party("secret-party");
    for refusal in Refusal::ALL {
        for scheme in [None, Some(Scheme::Bearer), Some(Scheme::Dpop)] {
            let challenge = Challenge::new(&policy, *refusal, scheme);
            let header = challenge.header().unwrap_or_default();
            for told in [
                AUDIENCE,
                ISSUER,
                "key-ES256",
                "orders-policy",
                "secret-party",
                "signet",
                "rust",
                "aws",
            ] {
                assert!(!header.contains(told), "{refusal:?}: {header}");
            }
        }
    }
    // Everything that is wrong with a token looks alike.
    let texts: std::collections::HashSet<_> = Refusal::ALL
        .iter()
        .filter(|refusal| {
            refusal.answer() == Answer::InvalidToken && **refusal != Refusal::ProofKey
        })
        .map(|refusal| Challenge::new(&policy, *refusal, None).header())
        .collect();
    assert_eq!(texts.len(), 1, "{texts:?}");
}
