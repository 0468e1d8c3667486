//! Keys from the network and from files: fetched beside the requests, bounded, and kept when
//! fetching fails.

use crate::support::*;
use signet_crypto::{Algorithm, SigningKey};
use signet_jose::jwk::{Jwk, JwkSet};
use signet_verify::{
    Freshness, HealthState, Issuer, KeySource, Policy, Presented, Refusal, Verifier,
    fetch::{Outbound, OutboundOptions, Refresher},
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

/// An issuer's web server: answers what the test puts in, and counts.
struct Web {
    address: String,
    jwks: Arc<Mutex<Option<Vec<u8>>>>,
    metadata_issuer: Arc<Mutex<Option<String>>>,
    fetches: Arc<AtomicUsize>,
}

impl Web {
    async fn start(keys: &JwkSet) -> Web {
        Web::start_with(keys, "public").await
    }

    async fn start_with(keys: &JwkSet, cache_control: &'static str) -> Web {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let web = Web {
            address: format!("http://{}", listener.local_addr().unwrap()),
            jwks: Arc::new(Mutex::new(Some(text(keys)))),
            metadata_issuer: Arc::default(),
            fetches: Arc::default(),
        };
        let (jwks, named, fetches, address) = (
            web.jwks.clone(),
            web.metadata_issuer.clone(),
            web.fetches.clone(),
            web.address.clone(),
        );
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut head = [0; 2048];
                let length = stream.read(&mut head).await.unwrap_or(0);
                let head = String::from_utf8_lossy(&head[..length]).into_owned();
                let body = if head.starts_with("GET /.well-known/openid-configuration ") {
                    let issuer = named.lock().unwrap().clone().unwrap_or(address.clone());
                    Some(
                        format!(r#"{{"issuer":"{issuer}","jwks_uri":"{address}/jwks"}}"#)
                            .into_bytes(),
                    )
                } else if head.starts_with("GET /jwks ") {
                    fetches.fetch_add(1, Relaxed);
                    jwks.lock().unwrap().clone()
                } else {
                    None
                };
                let mut answer = match &body {
                    Some(body) => {
                        format!("HTTP/1.1 200 OK\r\ncache-control: {cache_control}\r\ncontent-length: {}\r\n\r\n", body.len())
                            .into_bytes()
                    }
                    None => b"HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n".to_vec(),
                };
                answer.extend(body.unwrap_or_default());
                let _ = stream.write_all(&answer).await;
            }
        });
        web
    }

    fn publish(&self, keys: Option<&JwkSet>) {
        *self.jwks.lock().unwrap() = keys.map(text);
    }

    fn fetches(&self) -> usize {
        self.fetches.load(Relaxed)
    }
}

fn text(keys: &JwkSet) -> Vec<u8> {
    let mut out = Vec::new();
    keys.write(&mut out);
    out
}

fn outbound() -> Arc<Outbound> {
    Arc::new(Outbound::new(OutboundOptions {
        allow_http: true,
        allow_loopback: true,
        ..OutboundOptions::default()
    }))
}

fn quick() -> Freshness {
    Freshness {
        interval: Duration::from_secs(3600),
        grace: Duration::from_secs(7200),
        cool_down: Duration::from_millis(200),
        ..Freshness::default()
    }
}

struct Running {
    v: Arc<Verifier>,
    now: Arc<AtomicU64>,
    issuer: String,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Running {
    fn start(issuer: &str, source: KeySource) -> Running {
        Running::start_with(issuer, source, quick())
    }

    fn start_with(issuer: &str, source: KeySource, freshness: Freshness) -> Running {
        let made = Issuer::new(issuer, source).freshness(freshness);
        let v = Verifier::builder()
            .issuer(made)
            .policy(Policy::access_token(AUDIENCE).leeway(0))
            .build()
            .unwrap();
        let (v, now) = (Arc::new(v), Arc::new(AtomicU64::new(NOW)));
        let clock = now.clone();
        let task =
            tokio::spawn(Refresher::new(v.clone(), outbound(), move || clock.load(Relaxed)).run());
        Running {
            v,
            now,
            issuer: issuer.to_owned(),
            task,
        }
    }

    fn verify(&self, token: &str) -> Result<(), Refusal> {
        self.v
            .verify(&Presented::token(token), self.now.load(Relaxed))
            .map(drop)
    }

    fn token(&self, key: &SigningKey, kid: &str) -> String {
        let made = access()
            .with(ISSUER, &self.issuer)
            .with_header("key-ES256", kid)
            .with(&format!("{}", NOW + 300), "99999999999");
        sign_with(key, &made.header, made.payload.as_bytes())
    }

    async fn until(&self, what: &str, ready: impl Fn(&Running) -> bool) {
        for _ in 0..500 {
            if ready(self) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{what}: {:?}", self.v.health(self.now.load(Relaxed)));
    }

    fn state(&self) -> HealthState {
        self.v.health(self.now.load(Relaxed))[0].state
    }
}

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(test);
}

fn second() -> (SigningKey, Jwk) {
    let key = SigningKey::generate(Algorithm::Es256).unwrap();
    let jwk = Jwk::for_signatures(key.public().unwrap().clone(), Algorithm::Es256, "second");
    (key, jwk)
}

#[test]
fn keys_are_found_through_metadata_and_until_then_nothing_is_ready() {
    run(async {
        let web = Web::start(&jwks(&[Algorithm::Es256])).await;
        let running = Running::start(&web.address, KeySource::Discovery);
        let token = running.token(key(Algorithm::Es256), "key-ES256");
        assert_eq!(running.state(), HealthState::Starting);
        assert!(!running.v.is_ready(NOW));
        assert_eq!(running.verify(&token), Err(Refusal::KeysUnavailable));
        running.until("keys", |r| r.v.is_ready(NOW)).await;
        assert_eq!(running.verify(&token), Ok(()));
        assert_eq!(running.state(), HealthState::Healthy);
    });
}

#[test]
fn an_emergency_rotation_is_seen_with_the_first_token_of_the_new_key_and_ends_the_old_one() {
    run(async {
        let web = Web::start(&jwks(&[Algorithm::Es256])).await;
        let running = Running::start(
            &web.address,
            KeySource::JwksUrl(format!("{}/jwks", web.address)),
        );
        running.until("keys", |r| r.v.is_ready(NOW)).await;
        let old = running.token(key(Algorithm::Es256), "key-ES256");
        assert_eq!(running.verify(&old), Ok(()));
        let (key, jwk) = second();
        web.publish(Some(&JwkSet { keys: vec![jwk] }));
        let new = running.token(&key, "second");
        running
            .until("the new key", |r| r.verify(&new).is_ok())
            .await;
        assert_eq!(web.fetches(), 2);
        assert_eq!(
            running.verify(&old),
            Err(Refusal::UnknownKey),
            "though it was cached"
        );
    });
}

#[test]
fn a_key_that_an_issuer_withdraws_is_withdrawn_however_odd_the_rest_of_its_set_is() {
    run(async {
        let (key, jwk) = second();
        let good = String::from_utf8(text(&JwkSet { keys: vec![jwk] })).unwrap();
        let good = &good[r#"{"keys":["#.len()..good.len() - 2];
        let filler = |number| format!(r#"{{"kty":"oct","k":"AAAA","kid":"{number}"}}"#);
        let many: Vec<String> = (0..70).map(filler).collect();
        for odd in [
            r#"{"kty":"oct","k":"AAAA"}"#,
            r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"}"#,
            "7",
            "null",
            good,
            &many.join(","),
        ] {
            let web = Web::start(&jwks(&[Algorithm::Es256])).await;
            let url = KeySource::JwksUrl(format!("{}/jwks", web.address));
            let running = Running::start(&web.address, url);
            running.until("keys", |r| r.v.is_ready(NOW)).await;
            let old = running.token(crate::support::key(Algorithm::Es256), "key-ES256");
            assert_eq!(running.verify(&old), Ok(()));
            let set = format!(r#"{{"keys":[{good},{odd}]}}"#);
            *web.jwks.lock().unwrap() = Some(set.into_bytes());
            let new = running.token(&key, "second");
            running
                .until("the new key", |r| r.verify(&new).is_ok())
                .await;
            assert_eq!(running.verify(&old), Err(Refusal::UnknownKey), "{odd}");
            assert_eq!(running.state(), HealthState::Healthy);
        }
        // A publication of which nothing can be used still withdraws what it does not name, and so
        // does an empty one.
        for set in [
            format!(r#"{{"keys":[{}]}}"#, filler(1)),
            r#"{"keys":[]}"#.to_owned(),
        ] {
            let web = Web::start(&jwks(&[Algorithm::Es256])).await;
            let url = KeySource::JwksUrl(format!("{}/jwks", web.address));
            let running = Running::start(&web.address, url);
            running.until("keys", |r| r.v.is_ready(NOW)).await;
            let old = running.token(crate::support::key(Algorithm::Es256), "key-ES256");
            *web.jwks.lock().unwrap() = Some(set.into_bytes());
            let unknown = running.token(&key, "second");
            let _ = running.verify(&unknown);
            running
                .until("the withdrawal", |r| {
                    r.verify(&old) == Err(Refusal::UnknownKey)
                })
                .await;
            assert!(!running.v.is_ready(NOW));
            // The next token causes the fetch that ends it.
            web.publish(Some(&jwks(&[Algorithm::Es256])));
            running
                .until("keys again", |r| r.verify(&old).is_ok())
                .await;
        }
    });
}

#[test]
fn one_place_that_strict_json_refuses_leaves_no_withdrawn_key_in_force() {
    run(async {
        let (key, jwk) = second();
        let good = String::from_utf8(text(&JwkSet { keys: vec![jwk] })).unwrap();
        let good = &good[r#"{"keys":["#.len()..good.len() - 2];
        let deep = format!("{}{}", "[".repeat(70), "]".repeat(70));
        for document in [
            format!(r#"{{"keys":[{{"kty":"EC","n":1e400}},{good}]}}"#),
            format!(r#"{{"n":1234567890123456789012345678901,"keys":[{good}]}}"#),
            format!(r#"{{"keys":[{good},{{"kid":"\ud800"}}]}}"#),
            format!(r#"{{"keys":[{{"kid":"a","kid":"a"}},{good}]}}"#),
            format!(r#"{{"x":1,"x":2,"keys":[{good}]}}"#),
            format!(r#"{{"keys":[{good},{{"x":{deep}}}],"y":{deep}}}"#),
            format!("\u{feff}{{\"keys\":[{good}]}}"),
        ] {
            let web = Web::start(&jwks(&[Algorithm::Es256])).await;
            let url = KeySource::JwksUrl(format!("{}/jwks", web.address));
            let running = Running::start(&web.address, url);
            running.until("keys", |r| r.v.is_ready(NOW)).await;
            let old = running.token(crate::support::key(Algorithm::Es256), "key-ES256");
            assert_eq!(running.verify(&old), Ok(()));
            *web.jwks.lock().unwrap() = Some(document.clone().into_bytes());
            let new = running.token(&key, "second");
            running
                .until("the new key", |r| r.verify(&new).is_ok())
                .await;
            assert_eq!(running.verify(&old), Err(Refusal::UnknownKey), "{document}");
            assert_eq!(running.state(), HealthState::Healthy);
        }
    });
}

#[test]
fn an_answer_that_is_no_key_set_leaves_the_keys_of_before_minutes_and_none_leaves_them_hours() {
    run(async {
        for (answer, lasts) in [
            (Some(&b"<html>"[..]), 300),
            (Some(br#"{"keys":"x"}"#), 300),
            (Some(br#"{"keys":[],"keys":[]}"#), 300),
            (None, 7200),
        ] {
            let web = Web::start(&jwks(&[Algorithm::Es256])).await;
            let url = KeySource::JwksUrl(format!("{}/jwks", web.address));
            let running = Running::start(&web.address, url);
            running.until("keys", |r| r.v.is_ready(NOW)).await;
            let token = running.token(key(Algorithm::Es256), "key-ES256");
            let unknown = running.token(&second().0, "second");
            *web.jwks.lock().unwrap() = answer.map(<[u8]>::to_vec);
            // Later failures do not put the end off.
            for failures in 1..3 {
                running
                    .until("failures", |r| {
                        let _ = r.verify(&unknown);
                        r.v.health(NOW)[0].failures >= failures
                    })
                    .await;
                running.now.store(NOW + 100, Relaxed);
            }
            running.now.store(NOW + lasts, Relaxed);
            assert_eq!(running.verify(&token), Ok(()), "{answer:?}");
            running.now.store(NOW + lasts + 1, Relaxed);
            let refused = running.verify(&token);
            assert_eq!(refused, Err(Refusal::KeysUnavailable), "{answer:?}");
        }
    });
}

#[test]
fn a_hundred_thousand_unknown_kids_cause_one_fetch_in_a_cool_down() {
    run(async {
        let web = Web::start(&jwks(&[Algorithm::Es256])).await;
        let url = KeySource::JwksUrl(format!("{}/jwks", web.address));
        let running = Running::start(&web.address, url);
        running.until("keys", |r| r.v.is_ready(NOW)).await;
        let good = running.token(key(Algorithm::Es256), "key-ES256");
        let (_, payload, signature) = parts(&good);
        let begun = std::time::Instant::now();
        for n in 0..100_000 {
            let header = encode(format!(
                r#"{{"alg":"ES256","typ":"at+jwt","kid":"unknown-{n}"}}"#
            ));
            let token = format!("{header}.{payload}.{signature}");
            assert_eq!(running.verify(&token), Err(Refusal::UnknownKey));
            if n % 1_000 == 0 {
                // The refresher shares this thread: it gets its turn.
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        assert!(web.fetches() >= 2, "an unknown kid may be a new key");
        let most = 2 + begun.elapsed().as_millis() as usize / 200;
        let fetches = web.fetches();
        assert!(fetches <= most, "{fetches} fetches, at most {most}");
        assert_eq!(
            running.verify(&good),
            Ok(()),
            "the issuer's own tokens pass meanwhile"
        );
    });
}

/// An issuer that says this, and a verifier that has its keys.
async fn following(cache_control: &'static str, freshness: Freshness) -> (Web, Running) {
    let web = Web::start_with(&jwks(&[Algorithm::Es256]), cache_control).await;
    let url = KeySource::JwksUrl(format!("{}/jwks", web.address));
    let running = Running::start_with(&web.address, url, freshness);
    running.until("keys", |r| r.v.is_ready(NOW)).await;
    (web, running)
}

#[test]
fn max_age_says_when_keys_are_fetched_again_within_the_bounds() {
    run(async {
        let freshness = Freshness {
            interval_min: Duration::from_millis(200),
            ..quick()
        };
        let capped = Freshness {
            interval_max: Duration::from_millis(200),
            ..freshness
        };
        let (silent, soon, late, late_capped) = tokio::join!(
            following("public", freshness),
            following("max-age=0", freshness),
            following("max-age=600", freshness),
            following("max-age=600", capped),
        );
        // As long as it takes those that are to fetch again to have done so a few times. How long
        // the pauses are, `refresh` tests where the clock stands still.
        for (web, running) in [&soon, &late_capped] {
            running.until("more fetches", |_| web.fetches() >= 4).await;
        }
        assert_eq!(silent.0.fetches(), 1, "the interval is an hour");
        assert_eq!(late.0.fetches(), 1, "fresh for ten minutes");
    });
}

#[test]
fn the_last_good_keys_count_for_their_grace_and_health_says_why() {
    run(async {
        let web = Web::start(&jwks(&[Algorithm::Es256])).await;
        let running = Running::start(
            &web.address,
            KeySource::JwksUrl(format!("{}/jwks", web.address)),
        );
        running.until("keys", |r| r.v.is_ready(NOW)).await;
        let token = running.token(key(Algorithm::Es256), "key-ES256");
        web.publish(None);
        let (foreign, _) = second();
        let unknown = running.token(&foreign, "second");
        running
            .until("a failure", |r| {
                let _ = r.verify(&unknown);
                r.state() == HealthState::Stale
            })
            .await;
        assert_eq!(running.verify(&token), Ok(()));
        let health = &running.v.health(NOW)[0];
        assert!(
            health.error.as_deref().unwrap().contains("status is 500"),
            "{health:?}"
        );
        running.now.store(NOW + 7201, Relaxed);
        assert_eq!(
            running.verify(&token),
            Err(Refusal::KeysUnavailable),
            "cached or not"
        );
        assert_eq!(running.state(), HealthState::Failed);
        web.publish(Some(&jwks(&[Algorithm::Es256])));
        running
            .until("recovery", |r| r.verify(&token).is_ok())
            .await;
        assert_eq!(running.state(), HealthState::Healthy);
    });
}

#[test]
fn the_metadata_of_another_issuer_is_not_used() {
    run(async {
        let web = Web::start(&jwks(&[Algorithm::Es256])).await;
        *web.metadata_issuer.lock().unwrap() = Some("https://evil.example".into());
        let running = Running::start(&web.address, KeySource::Discovery);
        running
            .until("a failure", |r| r.v.health(NOW)[0].failures > 0)
            .await;
        assert_eq!(running.state(), HealthState::Failed);
        assert!(
            running.v.health(NOW)[0]
                .error
                .as_deref()
                .unwrap()
                .contains("another issuer")
        );
        assert_eq!(web.fetches(), 0);
    });
}

#[test]
fn a_file_is_read_again_when_it_changes_and_a_withdrawn_key_ends_within_a_second_or_two() {
    run(async {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("keys.json");
        std::fs::write(&file, text(&jwks(&[Algorithm::Es256]))).unwrap();
        let running = Running::start(ISSUER, KeySource::File(file.clone()));
        running.until("keys", |r| r.v.is_ready(NOW)).await;
        let old = running.token(key(Algorithm::Es256), "key-ES256");
        assert_eq!(running.verify(&old), Ok(()));
        std::fs::write(&file, b"{").unwrap();
        running
            .until("a failure", |r| r.state() == HealthState::Stale)
            .await;
        assert_eq!(
            running.verify(&old),
            Ok(()),
            "a broken file changes nothing"
        );
        let (key, jwk) = second();
        std::fs::write(&file, text(&JwkSet { keys: vec![jwk] })).unwrap();
        let new = running.token(&key, "second");
        running
            .until("the new key", |r| r.verify(&new).is_ok())
            .await;
        assert_eq!(running.verify(&old), Err(Refusal::UnknownKey));
    });
}

#[test]
fn private_addresses_are_not_fetched_from() {
    run(async {
        let web = Web::start(&jwks(&[Algorithm::Es256])).await;
        let issuer = Issuer::new(
            "https://127.0.0.1",
            KeySource::JwksUrl(format!("{}/jwks", web.address)),
        );
        let v = Arc::new(
            Verifier::builder()
                .issuer(issuer)
                .policy(Policy::access_token(AUDIENCE))
                .build()
                .unwrap(),
        );
        let closed = Arc::new(Outbound::new(OutboundOptions {
            allow_http: true,
            ..OutboundOptions::default()
        }));
        Refresher::new(v.clone(), closed, || NOW).fetch_once().await;
        assert_eq!(web.fetches(), 0);
        assert!(
            v.health(NOW)[0]
                .error
                .as_deref()
                .unwrap()
                .contains("allow_private_addresses")
        );
    });
}
