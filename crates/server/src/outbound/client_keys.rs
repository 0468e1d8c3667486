//! Clients' public keys, prepared and kept. Inline ones are prepared once per record. Those of a `jwks_uri`: one fetch for many requests, in the background where an older set will do, and never more
//! often than a cool-down allows, however many unknown `kid`s a caller invents.
use super::{FetchError, Outbound};
use arc_swap::ArcSwapOption;
use signet_jose::jwk::{JwkSet, Published};
use signet_oauth::{client::Client, client_auth::ClientKeys};
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
    keys: Arc<ClientKeys>,
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

/// All kept keys.
#[derive(Default)]
pub struct ClientKeysCache {
    /// by URL
    fetched: papaya::HashMap<String, Arc<Entry>>,
    /// by client, with the set that they were prepared from
    inline: papaya::HashMap<String, (JwkSet, Arc<ClientKeys>)>,
}

impl ClientKeysCache {
    /// The keys of a client; `None` if its record names none. See `fetched` for `kid` and `now`.
    ///
    /// # Errors
    /// That of the fetch.
    pub async fn of(
        &self,
        outbound: &Arc<Outbound>,
        client: &Client,
        kid: Option<&str>,
        now: u64,
    ) -> Result<Option<Arc<ClientKeys>>, FetchError> {
        if let Some(url) = &client.jwks_uri {
            return self.fetched(outbound, url, kid, now).await.map(Some);
        }
        Ok(client.jwks.as_ref().map(|set| self.inline(client, set)))
    }

    fn inline(&self, client: &Client, set: &JwkSet) -> Arc<ClientKeys> {
        let inline = self.inline.pin();
        match inline.get(&client.client_id) {
            // The set itself, not its revision: a record that was removed and made anew begins at the same one (known fault A15).
            Some((prepared, keys)) if prepared == set => keys.clone(),
            _ => {
                if inline.len() >= MAX_ENTRIES {
                    inline.clear();
                }
                let keys = Arc::new(ClientKeys::from_jwks(set));
                inline.insert(client.client_id.clone(), (set.clone(), keys.clone()));
                keys
            }
        }
    }

    /// The key set of a URL. `kid`: the key that is looked for; a set without it is fetched anew, if the cool-down allows.
    /// `now`: Unix seconds.
    ///
    /// # Errors
    /// That of the fetch, where there is no set that may still be used.
    async fn fetched(
        &self,
        outbound: &Arc<Outbound>,
        url: &str,
        kid: Option<&str>,
        now: u64,
    ) -> Result<Arc<ClientKeys>, FetchError> {
        let entry = self.entry(url);
        if let Some(kept) = entry.kept.load_full() {
            let age = now.saturating_sub(kept.fetched_at);
            let has_key = kid.is_none_or(|kid| kept.keys.has(kid));
            if age < FRESH && has_key {
                return Ok(kept.keys.clone());
            }
            let may_try = now.saturating_sub(entry.attempted_at.load(Relaxed)) >= COOL_DOWN;
            if age < STALE && (has_key || !may_try) {
                if may_try {
                    let (entry, outbound, url) = (entry.clone(), outbound.clone(), url.to_owned());
                    tokio::spawn(async move { entry.refresh(&outbound, &url, now).await });
                }
                return Ok(kept.keys.clone());
            }
        }
        entry.refresh(outbound, url, now).await
    }

    fn entry(&self, url: &str) -> Arc<Entry> {
        let entries = self.fetched.pin();
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
    ) -> Result<Arc<ClientKeys>, FetchError> {
        let _flight = self.flight.lock().await;
        if now.saturating_sub(self.attempted_at.load(Relaxed)) < COOL_DOWN {
            // Somebody fetched while this request waited, or failed to a moment ago.
            return match self.kept.load_full() {
                Some(kept) if now.saturating_sub(kept.fetched_at) < STALE => Ok(kept.keys.clone()),
                _ => Err(FetchError::Content("the last attempt failed a moment ago")),
            };
        }
        self.attempted_at.store(now, Relaxed);
        let body = outbound
            .get(url, "application/jwk-set+json, application/json")
            .await;
        let set = body.and_then(|body| {
            let published = JwkSet::parse_published(&body);
            published.map_err(|_| FetchError::Content("not a JWK Set"))
        });
        match set {
            Ok(Published { set, left_out }) => {
                for entry in &left_out {
                    tracing::debug!(url, %entry, "an entry of a client's key set is not used");
                }
                let keys = Arc::new(ClientKeys::from_jwks(&set));
                self.kept.store(Some(Arc::new(Kept {
                    keys: keys.clone(),
                    fetched_at: now,
                })));
                Ok(keys)
            }
            Err(error) => {
                tracing::warn!(%error, "a client's jwks_uri could not be fetched");
                match self.kept.load_full() {
                    Some(kept) if now.saturating_sub(kept.fetched_at) < STALE => {
                        Ok(kept.keys.clone())
                    }
                    _ => Err(error),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The public keys of RFC 7517 appendix A.1 and RFC 7515 appendix A.3.
    const OLD: &str = r#"{"keys":[{"kty":"EC","crv":"P-256","kid":"old","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}"#;
    const NEW: &str = r#"{"keys":[{"kty":"EC","crv":"P-256","kid":"new","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}"#;

    #[test]
    fn a_record_made_anew_under_the_same_name_and_revision_has_its_own_keys() {
        let cache = ClientKeysCache::default();
        let client = Client::new("service".to_owned(), 0);
        let set = |text: &str| JwkSet::parse(text.as_bytes()).unwrap();
        assert!(cache.inline(&client, &set(OLD)).has("old"));
        let keys = cache.inline(&client, &set(NEW));
        assert!(keys.has("new") && !keys.has("old"));
    }
}
