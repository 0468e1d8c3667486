//! Keys kept fresh beside the requests, never in front of them.
//!
//! One task for each issuer, so there is one fetch at a time. It fetches ahead of the keys' end
//! (what `Cache-Control` says of it, within the bounds of [`crate::Freshness`]), sooner where a
//! token named an unknown key, and for that no more often than the cool-down, however many unknown
//! keys come (known faults V3 and V13). What fails is tried again with growing, jittered pauses;
//! meanwhile the last good keys count: for hours where nothing arrives, for minutes where something
//! arrives that cannot be read.

use crate::{
    Freshness, KeySource, Verifier,
    compact_keys::CompactKeys,
    issuer::IssuerState,
    outbound::{
        Outbound,
        metadata::{self, Failure},
    },
};
use signet_jose::jwk::{JwkSet, LeftOut, Published};
use std::{
    path::Path,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::{Duration, SystemTime},
};
use tokio::{
    sync::Notify,
    task::JoinSet,
    time::{Instant, sleep},
};

/// How often a watched file is looked at.
const LOOK_AT_FILE: Duration = Duration::from_secs(1);
/// First pause after a failure; doubled with each, up to the interval.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// Keeps a verifier's keys fresh.
pub struct Refresher {
    verifier: Arc<Verifier>,
    outbound: Arc<Outbound>,
    now: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl Refresher {
    /// `now` gives Unix seconds.
    pub fn new(
        verifier: Arc<Verifier>,
        outbound: Arc<Outbound>,
        now: impl Fn() -> u64 + Send + Sync + 'static,
    ) -> Refresher {
        Refresher {
            verifier,
            outbound,
            now: Arc::new(now),
        }
    }

    /// Fetches every issuer's keys once, all at the same time. [`Verifier::health`] says how it
    /// went.
    pub async fn fetch_once(&self) {
        let mut tasks = JoinSet::new();
        for issuer in self
            .verifier
            .issuers
            .iter()
            .filter(|issuer| fetches(issuer))
        {
            let (issuer, outbound, now) = (issuer.clone(), self.outbound.clone(), self.now.clone());
            tasks.spawn(async move { attempt(&issuer, &outbound, &*now).await.is_ok() });
        }
        while tasks.join_next().await.is_some() {}
    }

    /// Keeps all keys fresh until it is dropped. Fetches at once.
    pub async fn run(self) {
        let mut tasks = JoinSet::new();
        for issuer in self
            .verifier
            .issuers
            .iter()
            .filter(|issuer| fetches(issuer))
        {
            tasks.spawn(keep(
                issuer.clone(),
                self.outbound.clone(),
                self.now.clone(),
            ));
        }
        while tasks.join_next().await.is_some() {}
    }
}

fn fetches(issuer: &IssuerState) -> bool {
    !matches!(
        issuer.issuer.source,
        KeySource::Memory(_) | KeySource::Secret { .. }
    )
}

async fn keep(
    issuer: Arc<IssuerState>,
    outbound: Arc<Outbound>,
    now: Arc<dyn Fn() -> u64 + Send + Sync>,
) {
    if let KeySource::File(path) = &issuer.issuer.source {
        return watch(&issuer, path, &*now).await;
    }
    let freshness = issuer.issuer.freshness;
    let timer = RuntimeClock(Instant::now());
    again_and_again(freshness, &issuer.wake, &timer, || {
        attempt(&issuer, &outbound, &*now)
    })
    .await;
}

/// Time that passes: the runtime's, and a test's own.
trait Timer {
    /// Since some moment in the past.
    fn now(&self) -> Duration;
    /// Returns when [`Timer::now`] is at least this.
    fn sleep_until(&self, at: Duration) -> impl Future<Output = ()> + Send;
}

/// The runtime's clock, since this moment.
struct RuntimeClock(Instant);

impl Timer for RuntimeClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep_until(&self, at: Duration) -> impl Future<Output = ()> + Send {
        tokio::time::sleep_until(self.0 + at)
    }
}

/// Makes one attempt after another, at the times that they themselves and `freshness` say. `wake`:
/// a token named a key that is not there.
async fn again_and_again<A>(
    freshness: Freshness,
    wake: &Notify,
    timer: &impl Timer,
    mut attempt: impl FnMut() -> A,
) where
    A: Future<Output = Result<Option<Duration>, u32>>,
{
    loop {
        let begun = timer.now();
        let pause = match attempt().await {
            Ok(lifetime) => ahead_of(lifetime, &freshness),
            Err(failures) => back_off(failures, freshness.interval),
        };
        let due = begun.saturating_add(pause);
        // An unknown key cuts the pause short, down to the cool-down, and never makes it longer.
        let wanted = begun.saturating_add(freshness.cool_down).min(due);
        tokio::select! {
            biased;
            () = wake.notified() => timer.sleep_until(wanted).await,
            () = timer.sleep_until(due) => {}
        }
    }
}

/// Before the keys' end, at eight to nine tenths of their time: many verifiers do not ask at once.
/// But no sooner than the least time between two fetches, whatever the publisher says.
fn ahead_of(lifetime: Option<Duration>, freshness: &Freshness) -> Duration {
    let end = freshness.until_next(lifetime);
    let ahead = end.mul_f64(0.8 + 0.1 * chance());
    match lifetime {
        // The end is no less than the minimum, unless the two bounds contradict each other.
        Some(_) => ahead.max(freshness.interval_min.min(end)),
        None => ahead,
    }
}

/// A second, doubled with each failure up to `longest`; half of it to all of it.
fn back_off(failures: u32, longest: Duration) -> Duration {
    let doubled = FIRST_PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(16));
    doubled.min(longest).mul_f64(0.5 + 0.5 * chance())
}

/// From 0 to 1.
fn chance() -> f64 {
    f64::from(signet_crypto::random::below(1001)) / 1000.0
}

/// Gives how long the new keys stay good, if their publisher said so, or how many attempts failed
/// in a row.
async fn attempt(
    issuer: &IssuerState,
    outbound: &Outbound,
    now: &(dyn Fn() -> u64 + Send + Sync),
) -> Result<Option<Duration>, u32> {
    issuer.wanted.store(false, Relaxed);
    match fetch(issuer, outbound).await {
        Ok(Fetched {
            published,
            compact: Ok(compact),
            lifetime,
        }) => {
            if issuer.wants_compact {
                issuer.install_compact(compact);
            }
            install(issuer, &published, now());
            Ok(lifetime)
        }
        Ok(Fetched {
            published,
            compact: Err(failure),
            lifetime: _,
        }) => {
            // Half of a publication. What it withdraws is withdrawn, but it gives nothing more
            // time: keys that were fetched at two moments must not look like one publication.
            issuer.replace_keys(&published.set);
            Err(failed(issuer, failure, now()))
        }
        Err(failure) => Err(failed(issuer, failure, now())),
    }
}

/// One log line when keys begin to fail, and one when it gets better.
fn failed(issuer: &IssuerState, failure: Failure, now: u64) -> u32 {
    let Failure { text, arrived } = failure;
    let failures = issuer.note_failure(text.clone(), arrived, now);
    if failures == 1 {
        tracing::warn!(
            issuer = issuer.issuer.name,
            error = text,
            arrived,
            "failed to fetch keys"
        );
    }
    failures
}

/// What one attempt brings.
struct Fetched {
    published: Published,
    /// of compact tokens, where a policy wants them and the metadata says where they are
    compact: Result<Option<CompactKeys>, Failure>,
    lifetime: Option<Duration>,
}

async fn fetch(issuer: &IssuerState, outbound: &Outbound) -> Result<Fetched, Failure> {
    let (url, compact_url) = match &issuer.issuer.source {
        KeySource::JwksUrl(url) => (url.clone(), None),
        KeySource::Discovery => {
            let members = ["jwks_uri", "signet_compact_keys_uri"];
            let name = &issuer.issuer.name;
            let [jwks_uri, compact] = metadata::urls_of(name, members, outbound).await?;
            let jwks_uri = jwks_uri
                .ok_or_else(|| Failure::unreadable(name, "the metadata name no jwks_uri"))?;
            (jwks_uri, compact.filter(|_| issuer.wants_compact))
        }
        KeySource::File(path) => {
            return read(path).map(|published| Fetched {
                published,
                compact: Ok(None),
                lifetime: None,
            });
        }
        KeySource::Memory(_) | KeySource::Secret { .. } => {
            return Err(Failure {
                text: "nothing to fetch".to_owned(),
                arrived: false,
            });
        }
    };
    let answer = outbound
        .get_with_lifetime(&url, "application/jwk-set+json, application/json")
        .await;
    let (body, lifetime) = answer.map_err(|error| Failure::of_fetch(&url, &error))?;
    let published = parse(&body, &url)?;
    let compact = match compact_url {
        None => Ok(None),
        Some(url) => fetch_compact(issuer, outbound, &url).await.map(Some),
    };
    Ok(Fetched {
        published,
        compact,
        lifetime,
    })
}

async fn fetch_compact(
    issuer: &IssuerState,
    outbound: &Outbound,
    url: &str,
) -> Result<CompactKeys, Failure> {
    let body = outbound.get(url, "application/json").await;
    let body = body.map_err(|error| Failure::of_fetch(url, &error))?;
    CompactKeys::parse(&body, &issuer.issuer.verifying_keys)
        .map_err(|error| Failure::unreadable(url, error))
}

/// A set whose entries are all of no use, or that has none, still withdraws what it does not name:
/// it is what an operator publishes in an emergency. One that was a deployment under way is
/// replaced by the fetch that the next token causes.
fn parse(text: &[u8], from: &str) -> Result<Published, Failure> {
    JwkSet::parse_published(text).map_err(|error| Failure::unreadable(from, error))
}

/// Puts a published set in place. What is left out of it is said once for each publication that
/// changes it.
fn install(issuer: &IssuerState, published: &Published, now: u64) {
    let had_keys = issuer.table.load().len() > 0;
    issuer.install(&published.set, Some(now));
    if had_keys && published.set.keys.is_empty() {
        tracing::warn!(
            issuer = issuer.issuer.name,
            "withdrew all keys of an issuer: it publishes no usable key"
        );
    }
    if !issuer.is_news(&published.left_out) {
        return;
    }
    let left_out: Vec<String> = published.left_out.iter().map(LeftOut::to_string).collect();
    if !left_out.is_empty() {
        tracing::warn!(
            issuer = issuer.issuer.name,
            usable = published.set.keys.len(),
            left_out = left_out.join("; "),
            "skipped entries of the issuer's key set"
        );
    }
}

/// Most bytes of a file of keys.
const MAX_FILE: u64 = 512 * 1024;

fn read(path: &Path) -> Result<Published, Failure> {
    let from = path.display().to_string();
    let failed = |error: std::io::Error| Failure {
        text: format!("{from}: {error}"),
        arrived: false,
    };
    if std::fs::metadata(path).map_err(failed)?.len() > MAX_FILE {
        return Err(Failure::unreadable(&from, "the file is too large"));
    }
    parse(&std::fs::read(path).map_err(failed)?, &from)
}

/// A file's keys have no end while the file is as it is: it is the operator's own word.
async fn watch(issuer: &IssuerState, path: &Path, now: &(dyn Fn() -> u64 + Send + Sync)) {
    let mut seen: Option<(SystemTime, u64)> = None;
    loop {
        // A file that cannot be looked at reads as an error below, and the last good keys stay.
        let stamp = std::fs::metadata(path)
            .and_then(|m| Ok((m.modified()?, m.len())))
            .ok();
        if stamp.is_none() || stamp != seen {
            match read(path) {
                Ok(published) => {
                    install(issuer, &published, now());
                    seen = stamp;
                }
                Err(failure) => {
                    failed(issuer, failure, now());
                    seen = None;
                }
            }
        } else {
            issuer.still_good(now());
        }
        sleep(LOOK_AT_FILE).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        pin::pin,
        sync::Mutex,
        task::{Context, Poll, Waker},
    };

    /// A clock that stands still but for what is slept.
    #[derive(Default)]
    struct StillClock(Mutex<Duration>);

    impl Timer for StillClock {
        fn now(&self) -> Duration {
            *self.0.lock().unwrap()
        }

        fn sleep_until(&self, at: Duration) -> impl Future<Output = ()> + Send {
            std::future::poll_fn(move |_| {
                let mut now = self.0.lock().unwrap();
                *now = at.max(*now);
                Poll::Ready(())
            })
        }
    }

    /// The moments of the first attempts, which come to this; `wanted`: tokens with unknown keys
    /// come all the time.
    fn moments(
        freshness: Freshness,
        wanted: bool,
        mut outcome: impl FnMut(u32) -> Result<Option<Duration>, u32>,
    ) -> Vec<Duration> {
        let (clock, wake, mut moments) = (StillClock::default(), Notify::new(), Vec::new());
        let attempts = again_and_again(freshness, &wake, &clock, || {
            moments.push(clock.now());
            if wanted {
                wake.notify_one();
            }
            let (outcome, enough) = (outcome(moments.len() as u32), moments.len() == 20);
            async move {
                if enough {
                    std::future::pending::<()>().await;
                }
                outcome
            }
        });
        // Nothing in it waits for anything but the last attempt.
        let mut context = Context::from_waker(Waker::noop());
        assert!(pin!(attempts).poll(&mut context).is_pending());
        moments
    }

    #[test]
    fn the_pause_between_two_fetches_is_what_their_publisher_names_within_the_bounds() {
        let seconds = Duration::from_secs;
        let freshness = Freshness {
            interval: seconds(3600),
            grace: seconds(7200),
            interval_min: seconds(30),
            interval_max: seconds(1000),
            ..Freshness::default()
        };
        for (said, least, most) in [
            (None, 2880, 3240),
            (Some(600), 480, 540),
            (Some(0), 30, 30),
            // Nine tenths of it would be sooner than the minimum.
            (Some(33), 30, 30),
            (Some(86_400), 800, 900),
        ] {
            let moments = moments(freshness, false, |_| Ok(said.map(seconds)));
            assert_eq!(moments.len(), 20, "{said:?}");
            for pair in moments.windows(2) {
                let pause = pair[1] - pair[0];
                let within = seconds(least)..=seconds(most);
                assert!(within.contains(&pause), "{said:?}: {pause:?}");
            }
        }
    }

    #[test]
    fn unknown_keys_are_fetched_for_once_in_a_cool_down_and_failures_wait_longer_each() {
        let freshness = Freshness::default();
        let wanted = moments(freshness, true, |_| Ok(None));
        let cool_downs: Vec<Duration> = (0..20).map(|n| freshness.cool_down * n).collect();
        assert_eq!(wanted, cool_downs);

        let failed = moments(freshness, false, Err);
        for (number, pair) in failed.windows(2).enumerate() {
            let most = Duration::from_secs(1 << number).min(freshness.interval);
            let pause = pair[1] - pair[0];
            assert!(pause <= most && pause >= most / 2, "{number}: {pause:?}");
        }
    }

    #[test]
    fn pauses_double_stay_within_the_interval_and_differ() {
        let interval = Duration::from_secs(300);
        for (failures, most) in [(1, 1), (2, 2), (3, 4), (9, 256), (10, 300), (u32::MAX, 300)] {
            let most = Duration::from_secs(most);
            let pauses: Vec<Duration> = (0..50).map(|_| back_off(failures, interval)).collect();
            assert!(
                pauses
                    .iter()
                    .all(|pause| *pause <= most && *pause >= most / 2)
            );
            assert!(pauses.iter().any(|pause| *pause != pauses[0]), "no jitter");
        }
    }

    #[test]
    fn keys_are_fetched_ahead_of_the_end_that_their_publisher_names_within_the_bounds() {
        let freshness = Freshness::default();
        let seconds = Duration::from_secs;
        for (said, counts) in [
            (None, 300),
            (Some(600), 600),
            (Some(0), 30),
            (Some(86_400), 3600),
        ] {
            let end = freshness.until_next(said.map(seconds));
            assert_eq!(end, seconds(counts), "{said:?}");
            for _ in 0..50 {
                let pause = ahead_of(said.map(seconds), &freshness);
                assert!(pause <= end && pause >= end.mul_f64(0.79));
            }
        }
        let short = Freshness {
            grace: seconds(400),
            ..freshness
        };
        assert_eq!(short.until_next(Some(seconds(86_400))), seconds(400));
    }
}
