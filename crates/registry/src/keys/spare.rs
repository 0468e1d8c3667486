//! RSA keys that were made before anybody waits for one: making one takes a good part of a second,
//! and a realm has two. Each is taken once.
use signet_crypto::{Algorithm, KeyError, SigningKey};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The algorithms of such keys.
const ALGORITHMS: [Algorithm; 2] = [Algorithm::Rs256, Algorithm::Ps256];
/// How many of each wait: a realm takes one.
const OF_EACH: usize = 4;

static SPARE: Mutex<Vec<SigningKey>> = Mutex::new(Vec::new());
static TAKEN: Notify = Notify::const_new();

fn spare() -> MutexGuard<'static, Vec<SigningKey>> {
    // A key is put there or taken out whole.
    SPARE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A key of this algorithm; a spare one where there is one.
pub(super) fn key(algorithm: Algorithm) -> Result<SigningKey, KeyError> {
    let taken = {
        let mut spare = spare();
        let found = spare.iter().position(|key| key.algorithm() == algorithm);
        found.map(|at| spare.swap_remove(at))
    };
    match taken {
        Some(key) => {
            TAKEN.notify_one();
            Ok(key)
        }
        None => SigningKey::generate(algorithm),
    }
}

fn missing() -> Option<Algorithm> {
    let spare = spare();
    let count = |algorithm: Algorithm| {
        let keys = spare.iter().filter(|key| key.algorithm() == algorithm);
        keys.count()
    };
    let least = ALGORITHMS.into_iter().min_by_key(|one| count(*one));
    least.filter(|algorithm| count(*algorithm) < OF_EACH)
}

/// Makes spare keys, and new ones for those that are taken, for as long as it runs: where realms
/// are made while the process serves.
pub async fn keep_spare_keys() {
    loop {
        while let Some(algorithm) = missing() {
            let made = tokio::task::spawn_blocking(move || SigningKey::generate(algorithm)).await;
            match made {
                Ok(Ok(key)) => spare().push(key),
                // Whoever needs a key makes one, and says what is wrong.
                Ok(Err(_)) | Err(_) => return,
            }
        }
        TAKEN.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn a_spare_key_is_taken_once_and_another_one_is_made() {
        let keeping = tokio::spawn(keep_spare_keys());
        let until_full = async || {
            while missing().is_some() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        until_full().await;
        let waiting: Vec<Vec<u8>> = spare().iter().map(private).collect();
        assert_eq!(waiting.len(), ALGORITHMS.len() * OF_EACH);
        let (one, other) = (key(Algorithm::Rs256), key(Algorithm::Rs256));
        let (one, other) = (
            private(&one.expect("a key")),
            private(&other.expect("a key")),
        );
        assert_ne!(one, other);
        assert!(waiting.contains(&one) && waiting.contains(&other));
        until_full().await;
        let now: Vec<Vec<u8>> = spare().iter().map(private).collect();
        assert!(!now.contains(&one) && !now.contains(&other));
        keeping.abort();
    }

    fn private(key: &SigningKey) -> Vec<u8> {
        key.to_private().expect("a key").expose().clone()
    }
}
