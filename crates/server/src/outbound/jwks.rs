//! Clients' key sets, kept: one fetch for many requests, in the background where an older set will do, and never more
//! often than a cool-down allows, however many unknown `kid`s a caller invents.
use super::{FetchError, Outbound};
use arc_swap::ArcSwapOption;
use signet_jose::jwk::JwkSet;
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};
use tokio::sync::Mutex;

/// A set younger than this is used as it is, seconds.
const FRESH: u64 = 300;
/// A set older than this is not used at all: a withdrawn key must end some time, even if its owner's server is down.
const STALE: u64 = 3600;
/// Least seconds between two attempts for one URL.
const COOL_DOWN: u64 = 20;
/// Most URLs that are kept.
const MAX_ENTRIES: usize = 10_000;

struct Kept {
    set: Arc<JwkSet>,
    fetched_at: u64,
}

#[derive(Default)]
struct Entry {
    kept: ArcSwapOption<Kept>,
    /// Unix seconds of the last attempt, successful or not.
    attempted_at: AtomicU64,
    /// Held while fetching: others wait for the same answer.
    flight: Mutex<()>,
}

/// Key sets by URL.
#[derive(Default)]
pub struct JwksCache {
    entries: papaya::HashMap<String, Arc<Entry>>,
}

impl JwksCache {
    /// The key set of a URL. `kid`: the key that is looked for; a set without it is fetched anew, if the cool-down allows.
    /// `now`: Unix seconds.
    ///
    /// # Errors
    /// That of the fetch, where there is no set that may still be used.
    pub async fn get(
        self: &Arc<Self>,
        outbound: &Arc<Outbound>,
        url: &str,
        kid: Option<&str>,
        now: u64,
    ) -> Result<Arc<JwkSet>, FetchError> {
        let entry = self.entry(url);
        if let Some(kept) = entry.kept.load_full() {
            let age = now.saturating_sub(kept.fetched_at);
            let has_key =
                kid.is_none_or(|kid| kept.set.keys.iter().any(|k| k.kid.as_deref() == Some(kid)));
            if age < FRESH && has_key {
                return Ok(kept.set.clone());
            }
            let may_try = now.saturating_sub(entry.attempted_at.load(Relaxed)) >= COOL_DOWN;
            if age < STALE && (has_key || !may_try) {
                if may_try {
                    let (entry, outbound, url) = (entry.clone(), outbound.clone(), url.to_owned());
                    tokio::spawn(async move { entry.refresh(&outbound, &url, now).await });
                }
                return Ok(kept.set.clone());
            }
        }
        entry.refresh(outbound, url, now).await
    }

    fn entry(&self, url: &str) -> Arc<Entry> {
        let entries = self.entries.pin();
        if let Some(entry) = entries.get(url) {
            return entry.clone();
        }
        if entries.len() >= MAX_ENTRIES {
            // Rare, and only costs fetches: an honest server has far fewer clients with a `jwks_uri`.
            entries.clear();
        }
        entries
            .get_or_insert_with(url.to_owned(), Arc::default)
            .clone()
    }
}

impl Entry {
    async fn refresh(
        &self,
        outbound: &Outbound,
        url: &str,
        now: u64,
    ) -> Result<Arc<JwkSet>, FetchError> {
        let _flight = self.flight.lock().await;
        if now.saturating_sub(self.attempted_at.load(Relaxed)) < COOL_DOWN {
            // Somebody fetched while this request waited, or failed to a moment ago.
            return match self.kept.load_full() {
                Some(kept) if now.saturating_sub(kept.fetched_at) < STALE => Ok(kept.set.clone()),
                _ => Err(FetchError::Content("the last attempt failed a moment ago")),
            };
        }
        self.attempted_at.store(now, Relaxed);
        let body = outbound
            .get(url, "application/jwk-set+json, application/json")
            .await;
        let set = body.and_then(|body| {
            JwkSet::parse(&body).map_err(|_| FetchError::Content("not a JWK Set"))
        });
        match set {
            Ok(set) => {
                let set = Arc::new(set);
                self.kept.store(Some(Arc::new(Kept {
                    set: set.clone(),
                    fetched_at: now,
                })));
                Ok(set)
            }
            Err(error) => {
                tracing::warn!(%error, "a client's jwks_uri could not be fetched");
                match self.kept.load_full() {
                    Some(kept) if now.saturating_sub(kept.fetched_at) < STALE => {
                        Ok(kept.set.clone())
                    }
                    _ => Err(error),
                }
            }
        }
    }
}
