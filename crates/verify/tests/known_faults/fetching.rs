use crate::support::*;
use signet_crypto::Algorithm;
use signet_verify::{
    Freshness, HealthState, Issuer, KeySource, Policy, Presented, Refusal, Verifier,
    fetch::{FetchError, Outbound, OutboundOptions, Refresher, is_public},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(test)
}

fn outbound() -> Arc<Outbound> {
    Arc::new(Outbound::new(OutboundOptions {
        allow_http: true,
        allow_loopback: true,
        ..OutboundOptions::default()
    }))
}

/// Fetches every issuer's keys, at the moment `now`.
pub fn fetch_once(v: &Arc<Verifier>, now: u64) {
    run(Refresher::new(v.clone(), outbound(), move || now).fetch_once());
}

/// A web server with this answer; none: it never answers. Counts its connections.
async fn web(answer: Option<Vec<u8>>) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/jwks", listener.local_addr().unwrap());
    let connections = Arc::new(AtomicUsize::new(0));
    let count = connections.clone();
    tokio::spawn(async move {
        let mut held = Vec::new();
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            count.fetch_add(1, Relaxed);
            match &answer {
                None => held.push(stream),
                Some(answer) => {
                    let _ = stream.read(&mut [0; 2048]).await;
                    let _ = stream.write_all(answer).await;
                }
            }
        }
    });
    (url, connections)
}

fn key_set() -> Vec<u8> {
    let mut keys = Vec::new();
    jwks(&[Algorithm::Es256]).write(&mut keys);
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", keys.len());
    [head.into_bytes(), keys].concat()
}

fn verifier_of_both(slow: &str, good: &str, cool_down: Duration) -> Arc<Verifier> {
    let freshness = Freshness {
        cool_down,
        ..Freshness::default()
    };
    let issuer = |name: &str, url: &str| {
        Issuer::new(name, KeySource::JwksUrl(url.to_owned())).freshness(freshness)
    };
    let v = Verifier::builder()
        .issuer(issuer("https://slow", slow))
        .issuer(issuer(ISSUER, good))
        .policy(Policy::access_token(AUDIENCE))
        .build();
    Arc::new(v.unwrap())
}

async fn until(what: &str, ready: impl Fn() -> bool) {
    for _ in 0..500 {
        if ready() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{what}");
}

#[test]
fn v03_no_fetch_stands_in_a_requests_way_and_one_slow_issuer_stalls_nobody() {
    run(async {
        let (slow, asked) = web(None).await;
        let (good, _) = web(Some(key_set())).await;
        let v = verifier_of_both(&slow, &good, Duration::from_secs(10));
        let task = tokio::spawn(Refresher::new(v.clone(), outbound(), || NOW).run());
        until("keys", || v.health(NOW)[1].state == HealthState::Healthy).await;
        until("the slow one is asked", || asked.load(Relaxed) == 1).await;
        // A fetch is under way. No answer here waits for it: this thread is the refresher's too,
        // and does not yield.
        let of_slow = access().with(ISSUER, "https://slow");
        for n in 0..10_000 {
            let kid = of_slow.with_header("key-ES256", &format!("unknown-{n}"));
            let token = format!("{}.{}.AAAA", encode(&kid.header), encode(&kid.payload));
            assert_eq!(verify(&v, &token).unwrap_err(), Refusal::KeysUnavailable);
        }
        assert!(verify(&v, &access().signed()).is_ok());
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(asked.load(Relaxed), 1, "one fetch at a time");
        task.abort();
    });
}

#[test]
fn v13_an_unknown_kid_is_fetched_for_at_once_and_a_flood_of_them_once_a_cool_down() {
    run(async {
        let (slow, _) = web(None).await;
        let (good, asked) = web(Some(key_set())).await;
        let v = verifier_of_both(&slow, &good, Duration::from_secs(3600));
        let begin = || tokio::spawn(Refresher::new(v.clone(), outbound(), || NOW).run());
        let task = begin();
        until("keys", || v.health(NOW)[1].state == HealthState::Healthy).await;
        let unknown = |n: usize| {
            let made = access().with_header("key-ES256", &format!("unknown-{n}"));
            format!("{}.{}.AAAA", encode(&made.header), encode(&made.payload))
        };
        for n in 0..10_000 {
            assert_eq!(verify(&v, &unknown(n)).unwrap_err(), Refusal::UnknownKey);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(asked.load(Relaxed), 1, "the cool-down is an hour");
        task.abort();

        let v = verifier_of_both(&slow, &good, Duration::from_millis(1));
        let task = tokio::spawn(Refresher::new(v.clone(), outbound(), || NOW).run());
        until("keys", || v.health(NOW)[1].state == HealthState::Healthy).await;
        tokio::time::sleep(Duration::from_millis(10)).await;
        let before = asked.load(Relaxed);
        let _ = verify(&v, &unknown(0));
        until("a fetch for one unknown kid", || {
            asked.load(Relaxed) > before
        })
        .await;
        task.abort();
    });
}

#[test]
fn v17_an_outage_and_an_attack_do_not_look_alike() {
    run(async {
        let (slow, _) = web(Some(b"HTTP/1.1 502 Oh\r\n\r\n".to_vec())).await;
        let (good, _) = web(Some(key_set())).await;
        let v = verifier_of_both(&slow, &good, Duration::from_secs(10));
        Refresher::new(v.clone(), outbound(), || NOW)
            .fetch_once()
            .await;
        // An attack on the issuer whose keys are there: junk signatures, unknown keys.
        let token = access().signed();
        let (header, payload, _) = parts(&token);
        let forged = format!("{header}.{payload}.{}", "A".repeat(86));
        let unknown = access().with_header("key-ES256", "x").signed();
        for token in [forged, unknown] {
            assert!(verify(&v, &token).is_err());
        }
        let health = v.health(NOW);
        assert_eq!(health[1].state, HealthState::Healthy);
        assert_eq!((health[1].failures, health[1].error.as_deref()), (0, None));
        assert_eq!(v.counters().refused(Refusal::Signature), 1);
        assert_eq!(v.counters().refused(Refusal::UnknownKey), 1);
        // An outage: another state, another reason, another answer to the caller.
        assert_eq!(health[0].state, HealthState::Failed);
        assert_eq!(health[0].failures, 1);
        assert!(
            health[0]
                .error
                .as_deref()
                .unwrap()
                .contains("status is 502")
        );
        let lost = access().with(ISSUER, "https://slow").signed();
        let refusal = verify(&v, &lost).unwrap_err();
        assert_eq!(refusal, Refusal::KeysUnavailable);
        assert_eq!(refusal.answer().status(), 503, "not the peer's fault");
        assert_eq!(v.counters().refused(Refusal::KeysUnavailable), 1);
    });
}

#[test]
fn v18_addresses_that_lead_inside_are_not_reached_in_any_spelling() {
    for hidden in [
        "100.64.0.1",
        "100.127.255.255",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::a00:1",
        "2002:7f00:1::",
        "2002:a9fe:a9fe::1",
        "2001:0:7f00:1::",
        "::ffff:169.254.169.254",
        "::127.0.0.1",
    ] {
        assert!(!is_public(hidden.parse().unwrap()), "{hidden}");
    }
    run(async {
        let outbound = Outbound::new(OutboundOptions::default());
        for host in [
            "100.64.0.1",
            "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]",
            "[::ffff:127.0.0.1]",
            "0x7f000001",
            "2130706433",
            "0177.0.0.1",
            "127.1",
            "localhost",
        ] {
            let url = format!("https://{host}/jwks");
            let got = outbound.get(&url, "application/json").await;
            assert_eq!(got, Err(FetchError::Address), "{host}");
        }
    });
}

#[test]
fn presented_tokens_lead_to_no_fetch_at_all() {
    run(async {
        let (good, asked) = web(Some(key_set())).await;
        let v = verifier();
        for member in ["jku", "x5u"] {
            let made = access().and_header(&format!(r#""{member}":"{good}""#));
            assert!(v.verify(&Presented::token(&made.signed()), NOW).is_ok());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(asked.load(Relaxed), 0);
    });
}
