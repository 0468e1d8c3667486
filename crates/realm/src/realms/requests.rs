//! How many requests each realm had, for monitoring.
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

/// Most realms whose requests are counted by name since the start; those of further realms are
/// counted together.
pub const MAX_COUNTED_REALMS: usize = 1000;
/// What further ones are called. No realm has this name: it has an underscore.
pub const OTHER_REALMS: &str = "other_realms";

/// Counters by name. A realm has one from its first request on, and keeps it: a series never falls.
#[derive(Default)]
pub struct Requests(Mutex<BTreeMap<String, Arc<AtomicU64>>>);

impl Requests {
    /// The counter of a realm.
    pub(super) fn counter(&self, name: &str) -> Arc<AtomicU64> {
        let mut counters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = match counters.contains_key(name) || counters.len() < MAX_COUNTED_REALMS {
            true => name,
            false => OTHER_REALMS,
        };
        Arc::clone(counters.entry(name.to_owned()).or_default())
    }

    /// All of them.
    pub fn all(&self) -> Vec<(String, u64)> {
        let counters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let counted = counters.iter();
        counted
            .map(|(name, count)| (name.clone(), count.load(Relaxed)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_realms_have_a_series_and_the_rest_one_together() {
        let requests = Requests::default();
        for number in 0..MAX_COUNTED_REALMS + 5 {
            requests
                .counter(&format!("r{number}"))
                .fetch_add(1, Relaxed);
        }
        requests.counter("r0").fetch_add(1, Relaxed);
        let all: BTreeMap<String, u64> = requests.all().into_iter().collect();
        assert_eq!(all.len(), MAX_COUNTED_REALMS + 1);
        assert_eq!((all["r0"], all[OTHER_REALMS]), (2, 5));
    }
}
