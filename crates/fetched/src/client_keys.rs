//! Clients' public keys, prepared and kept. Inline ones are prepared once per record.
//!
//! Those of a `jwks_uri`: one fetch for many requests, in the background where an older set will
//! do. A key id that the set lacks is looked for at once, for a client that rotates its keys may
//! use the new one with its next request (OpenID Connect Core section 10.1.1). A caller who invents
//! key ids, and a host that does not answer, make the next fetch wait: longer with each that was of
//! no use. Every fetch is counted for the caller's address, for the host and in total
//! ([`signet_budgets`]).
use arc_swap::ArcSwapOption;
use signet_budgets::budgets::{Act, Budgets};
use signet_jose::jwk::{JwkSet, Published};
use signet_oauth::client::Client;
use signet_oauth::token::client_auth::ClientKeys;
use signet_verify::fetch::{FetchError, Outbound};
use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    },
};
use tokio::sync::Mutex;

/// A set younger than this is used as it is, seconds.
const FRESH: u64 = 300;
/// A set older than this is not used at all: a withdrawn key must end some time, even if its
/// owner's server is down.
const STALE: u64 = 3600;
/// How long a set is used once an answer came that is no key set, seconds: it may have been meant
/// to withdraw keys.
const UNREADABLE: u64 = 300;
/// Longest wait between two attempts for one URL, seconds, after several that brought nothing.
const LONGEST_PAUSE: u64 = 20;
/// Most URLs that are kept.
const MAX_ENTRIES: usize = 10_000;

/// Seconds to wait after this many attempts in a row that brought nothing: 0, 1, 2, 4 and so on.
fn pause(useless: u32) -> u64 {
    match useless {
        0 => 0,
        more => LONGEST_PAUSE.min(1 << (more - 1).min(16)),
    }
}

/// On whose behalf something is fetched: who asked, and whose figures count.
#[derive(Clone, Copy)]
pub struct Payer<'a> {
    /// the realm's
    pub budgets: &'a Budgets,
    /// the caller's address
    pub peer: IpAddr,
}

struct Kept {
    keys: Arc<ClientKeys>,
    fetched_at: u64,
    /// When an answer came first that is no key set; 0: none since this one was fetched.
    unreadable_since: AtomicU64,
}

#[derive(Default)]
struct Entry {
    kept: ArcSwapOption<Kept>,
    /// Unix seconds of the last attempt, successful or not.
    attempted_at: AtomicU64,
    /// Attempts in a row that failed, or lacked the key that they were made for.
    useless: AtomicU32,
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
        payer: Payer<'_>,
        client: &Client,
        kid: Option<&str>,
        now: u64,
    ) -> Result<Option<Arc<ClientKeys>>, FetchError> {
        if let Some(url) = &client.jwks_uri {
            let keys = self.fetched(outbound, payer, url, kid, now).await;
            return keys.map(Some);
        }
        Ok(client.jwks.as_ref().map(|set| self.inline(client, set)))
    }

    fn inline(&self, client: &Client, set: &JwkSet) -> Arc<ClientKeys> {
        let inline = self.inline.pin();
        match inline.get(&client.client_id) {
            // The set itself, not its revision: a record that was removed and made again begins at
            // the same one (known fault A15).
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

    /// The key set of a URL. `kid`: the key that is looked for; a set without it is fetched again,
    /// unless the last attempts brought nothing a moment ago. `now`: Unix seconds.
    ///
    /// # Errors
    /// That of the fetch, where there is no set that may still be used.
    async fn fetched(
        &self,
        outbound: &Arc<Outbound>,
        payer: Payer<'_>,
        url: &str,
        kid: Option<&str>,
        now: u64,
    ) -> Result<Arc<ClientKeys>, FetchError> {
        let entry = self.entry(url);
        let Some(kept) = entry.usable(now) else {
            return entry.refresh(outbound, payer, url, kid, now).await;
        };
        if !kept.has(kid) {
            let fetched = entry.refresh(outbound, payer, url, kid, now).await;
            // Whatever was fetched, or not: the set that there is says that the key is unknown.
            return Ok(fetched.unwrap_or(kept.keys.clone()));
        }
        if !kept.is_fresh(now) && entry.claim(now) && spend(payer, url, now).is_ok() {
            let (entry, outbound, url) = (entry.clone(), outbound.clone(), url.to_owned());
            tokio::spawn(async move {
                let _flight = entry.flight.lock().await;
                entry.fetch(&outbound, &url, None, now).await
            });
        }
        Ok(kept.keys.clone())
    }

    fn entry(&self, url: &str) -> Arc<Entry> {
        let entries = self.fetched.pin();
        if let Some(entry) = entries.get(url) {
            return entry.clone();
        }
        if entries.len() >= MAX_ENTRIES {
            // Rare, and only costs fetches: an honest server has far fewer clients with a
            // `jwks_uri`.
            entries.clear();
        }
        entries
            .get_or_insert_with(url.to_owned(), Arc::default)
            .clone()
    }
}

/// Counts a fetch of this URL.
fn spend(payer: Payer<'_>, url: &str, now: u64) -> Result<(), FetchError> {
    payer
        .budgets
        .spend_at(Act::ClientKeys, payer.peer, url, now)
        .map_err(|_| FetchError::Content("too many key sets are fetched at the moment"))
}

impl Kept {
    fn is_fresh(&self, now: u64) -> bool {
        now.saturating_sub(self.fetched_at) < FRESH
    }

    fn may_be_used(&self, now: u64) -> bool {
        let unreadable = self.unreadable_since.load(Relaxed);
        now.saturating_sub(self.fetched_at) < STALE
            && (unreadable == 0 || now.saturating_sub(unreadable) < UNREADABLE)
    }

    fn has(&self, kid: Option<&str>) -> bool {
        kid.is_none_or(|kid| self.keys.has(kid))
    }
}

impl Entry {
    /// The set, where it is not too old.
    fn usable(&self, now: u64) -> Option<Arc<Kept>> {
        let kept = self.kept.load_full()?;
        kept.may_be_used(now).then_some(kept)
    }

    /// An answer came that is no key set. The first one counts: the next ones do not put the end of
    /// the set before it off.
    fn note_unreadable(&self, now: u64) {
        if let Some(kept) = self.kept.load_full() {
            let _ = kept
                .unreadable_since
                .compare_exchange(0, now, Relaxed, Relaxed);
        }
    }

    /// Whether it is time for an attempt; true for one caller, who then makes it.
    fn claim(&self, now: u64) -> bool {
        let attempted_at = self.attempted_at.load(Relaxed);
        let due = attempted_at.saturating_add(pause(self.useless.load(Relaxed)));
        // An attempt in the future was made by a clock that was forward.
        (now >= due || attempted_at > now)
            && self
                .attempted_at
                .compare_exchange(attempted_at, now, Relaxed, Relaxed)
                .is_ok()
    }

    /// Fetches, unless somebody else did so meanwhile or it is too soon.
    async fn refresh(
        &self,
        outbound: &Outbound,
        payer: Payer<'_>,
        url: &str,
        kid: Option<&str>,
        now: u64,
    ) -> Result<Arc<ClientKeys>, FetchError> {
        let _flight = self.flight.lock().await;
        let kept = self.usable(now);
        if let Some(kept) = &kept
            && kept.is_fresh(now)
            && kept.has(kid)
        {
            return Ok(kept.keys.clone());
        }
        let fetched = match self.claim(now) {
            false => Err(FetchError::Content("the last attempt failed a moment ago")),
            true => match spend(payer, url, now) {
                Ok(()) => self.fetch(outbound, url, kid, now).await,
                Err(error) => Err(error),
            },
        };
        fetched.or_else(|error| kept.map(|kept| kept.keys.clone()).ok_or(error))
    }

    /// Makes an attempt that was claimed, in its flight.
    async fn fetch(
        &self,
        outbound: &Outbound,
        url: &str,
        kid: Option<&str>,
        now: u64,
    ) -> Result<Arc<ClientKeys>, FetchError> {
        let body = outbound
            .get(url, "application/jwk-set+json, application/json")
            .await;
        let set = body.and_then(|body| {
            let published = JwkSet::parse_published(&body);
            published.map_err(|_| FetchError::Content("not a JWK Set"))
        });
        let Published { set, left_out } = set.inspect_err(|error| {
            self.useless.fetch_add(1, Relaxed);
            if error.is_of_content() {
                self.note_unreadable(now);
            }
            tracing::warn!(%error, "failed to fetch a client's jwks_uri");
        })?;
        for entry in &left_out {
            tracing::debug!(url, %entry, "skipped an entry of a client's key set");
        }
        let keys = Arc::new(ClientKeys::from_jwks(&set));
        let kept = Arc::new(Kept {
            keys: keys.clone(),
            fetched_at: now,
            unreadable_since: AtomicU64::new(0),
        });
        match kept.has(kid) {
            true => self.useless.store(0, Relaxed),
            false => _ = self.useless.fetch_add(1, Relaxed),
        }
        self.kept.store(Some(kept));
        Ok(keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The public keys of RFC 7517 appendix A.1 and RFC 7515 appendix A.3.
    const OLD: &str = r#"{"keys":[{"kty":"EC","crv":"P-256","kid":"old","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}"#;
    const NEW: &str = r#"{"keys":[{"kty":"EC","crv":"P-256","kid":"new","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}"#;

    #[test]
    fn what_brings_nothing_makes_the_next_attempt_wait_and_what_brings_something_does_not() {
        let pauses: Vec<u64> = (0..8).map(pause).collect();
        assert_eq!(pauses, [0, 1, 2, 4, 8, 16, 20, 20]);
        assert_eq!(pause(u32::MAX), 20);
        let entry = Entry::default();
        assert!(entry.claim(100) && entry.claim(100));
        entry.useless.store(3, Relaxed);
        assert!(!entry.claim(100) && !entry.claim(103));
        assert!(entry.claim(104) && !entry.claim(104));
        // A clock that was forward holds nothing up.
        assert!(entry.claim(50));
    }

    #[test]
    fn a_set_of_before_is_used_for_minutes_once_something_came_that_is_none() {
        let entry = Entry::default();
        entry.note_unreadable(50);
        entry.kept.store(Some(Arc::new(Kept {
            keys: Arc::new(ClientKeys::from_jwks(&JwkSet::default())),
            fetched_at: 100,
            unreadable_since: AtomicU64::new(0),
        })));
        // Where nothing comes.
        assert!(entry.usable(100 + STALE - 1).is_some());
        assert!(entry.usable(100 + STALE).is_none());
        entry.note_unreadable(200);
        entry.note_unreadable(400);
        assert!(entry.usable(200 + UNREADABLE - 1).is_some());
        assert!(entry.usable(200 + UNREADABLE).is_none());
    }

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
