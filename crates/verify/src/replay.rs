//! Once-only ids: DPoP proofs and logout tokens.
//!
//! Two generations of a lock-free map: entries are written to the young one and looked up in both; when the young one is older than the
//! longest life of an entry, the old one is dropped. Bounded: when a generation is full, further ids are refused rather than forgotten.
//! Only ids of proofs that verified, with a token that verified, ever get in, so a stranger cannot fill it.

use arc_swap::ArcSwap;
use signet_crypto::hash::Sha256;
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
};

use crate::Refusal;

#[derive(Default)]
struct Generation {
    seen: papaya::HashMap<[u8; 16], ()>,
    count: AtomicUsize,
}

struct Generations {
    young: Arc<Generation>,
    old: Arc<Generation>,
}

/// Remembers ids until they end.
pub(crate) struct ReplayGuard {
    generations: ArcSwap<Generations>,
    /// Unix seconds at which the young generation began
    since: AtomicU64,
    turning: Mutex<()>,
    /// seconds that an entry must be remembered
    life: u64,
    capacity: usize,
}

impl ReplayGuard {
    pub(crate) fn new(life: u64, capacity: usize) -> ReplayGuard {
        ReplayGuard {
            generations: ArcSwap::from_pointee(Generations {
                young: Arc::default(),
                old: Arc::default(),
            }),
            since: AtomicU64::new(0),
            turning: Mutex::new(()),
            life: life.max(1),
            capacity,
        }
    }

    /// True for the one caller that brings this id first.
    ///
    /// # Errors
    /// [`Refusal::ReplayGuardFull`] where nothing more can be remembered.
    pub(crate) fn first(&self, scope: &str, id: &str, now: u64) -> Result<bool, Refusal> {
        self.turn(now);
        let mut hash = Sha256::new();
        // The length keeps scope and id apart.
        hash.update(&(scope.len() as u64).to_be_bytes());
        hash.update(scope.as_bytes());
        hash.update(id.as_bytes());
        let digest = hash.finish();
        let mut key = [0; 16];
        key.copy_from_slice(&digest[..16]);
        let generations = self.generations.load();
        if generations.old.seen.pin().contains_key(&key) {
            return Ok(false);
        }
        let young = &generations.young;
        if young.count.load(Relaxed) >= self.capacity {
            return Err(Refusal::ReplayGuardFull);
        }
        let first = young.seen.pin().try_insert(key, ()).is_ok();
        if first {
            young.count.fetch_add(1, Relaxed);
        }
        // A turn between look-up and insertion moved this generation to the old one, which is still looked into.
        Ok(first)
    }

    fn turn(&self, now: u64) {
        let since = self.since.load(Relaxed);
        if now < since.saturating_add(self.life) {
            return;
        }
        let _turning = self.turning.lock().unwrap_or_else(PoisonError::into_inner);
        if self.since.load(Relaxed) != since {
            return;
        }
        let before = self.generations.load_full();
        self.generations.store(Arc::new(Generations {
            young: Arc::default(),
            old: before.young.clone(),
        }));
        self.since.store(now, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_first_once_within_its_life_and_scopes_are_apart() {
        let guard = ReplayGuard::new(100, 1000);
        assert_eq!(guard.first("a", "b", 1000), Ok(true));
        assert_eq!(guard.first("a", "b", 1000), Ok(false));
        assert_eq!(guard.first("", "ab", 1000), Ok(true));
        assert_eq!(guard.first("a", "b", 1100), Ok(false), "one generation on");
        assert_eq!(guard.first("a", "b", 1099), Ok(false));
        assert_eq!(guard.first("a", "b", 1201), Ok(true), "forgotten after two");
    }

    #[test]
    fn a_full_guard_refuses_instead_of_forgetting() {
        let guard = ReplayGuard::new(100, 2);
        assert_eq!(guard.first("", "1", 1000), Ok(true));
        assert_eq!(guard.first("", "2", 1000), Ok(true));
        assert_eq!(guard.first("", "3", 1000), Err(Refusal::ReplayGuardFull));
        assert_eq!(guard.first("", "3", 1200), Ok(true));
    }

    #[test]
    fn of_many_at_once_one_is_first() {
        let guard = ReplayGuard::new(100, 1000);
        let firsts = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for id in 0..200 {
                        if guard.first("s", &id.to_string(), 1000) == Ok(true) {
                            firsts.fetch_add(1, Relaxed);
                        }
                    }
                });
            }
        });
        assert_eq!(firsts.load(Relaxed), 200);
    }
}
