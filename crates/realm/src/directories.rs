//! Directories of declarations that somebody watches, for monitoring: how much of what they declare
//! was changed by others, and when the server was last as they say.
use signet_telemetry::metrics::{Family, table};
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

/// Most directories that have series of their own since the start; further ones are counted
/// together.
pub const MAX_COUNTED_DIRECTORIES: usize = 100;
/// What further ones are called. No directory has this name: it has parentheses.
const OTHER_DIRECTORIES: &str = "(other)";

/// A realm's name, which is empty for the first one, and a directory's.
type Name = (String, String);

#[derive(Clone, Copy, Default)]
struct Figures {
    drift: u64,
    /// Unix seconds.
    as_declared: u64,
}

/// Figures by realm and directory.
#[derive(Default)]
pub struct Directories(Mutex<BTreeMap<Name, Figures>>);

impl Directories {
    /// The server is, at `now` in Unix seconds, as the directory declares. `drift`: objects that
    /// others had changed, and that were brought back.
    pub fn as_declared(&self, realm: &str, directory: &str, drift: u64, now: u64) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = (realm.to_owned(), directory.to_owned());
        let name = match known.contains_key(&name) || known.len() < MAX_COUNTED_DIRECTORIES {
            true => name,
            false => (String::new(), OTHER_DIRECTORIES.to_owned()),
        };
        let figures = known.entry(name).or_default();
        figures.drift += drift;
        figures.as_declared = figures.as_declared.max(now);
    }

    /// Of a realm, by its name: each directory with what others had changed of it, and when the
    /// server was last as it declares, Unix seconds.
    pub fn of_realm(&self, realm: &str) -> Vec<(String, u64, u64)> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = known.iter().filter(|((of, _), _)| of == realm);
        own.map(|((_, name), figures)| (name.clone(), figures.drift, figures.as_declared))
            .collect()
    }

    /// Both as metrics; nothing where nobody watches.
    pub(crate) fn families(&self) -> Vec<Family> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_empty() {
            return Vec::new();
        }
        let mut drift = Family::new(&table::DECLARATION_DRIFT);
        let mut seen = Family::new(&table::DECLARATION_APPLIED);
        for ((realm, directory), figures) in &*known {
            let labels = [("realm", realm.as_str()), ("directory", directory.as_str())];
            drift = drift.of(labels, figures.drift);
            seen = seen.of(labels, figures.as_declared);
        }
        vec![drift, seen]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_directories_have_series_and_the_rest_one_together() {
        let directories = Directories::default();
        assert!(directories.families().is_empty());
        for number in 0..MAX_COUNTED_DIRECTORIES + 5 {
            directories.as_declared("", &format!("d{number}"), 1, 7);
        }
        directories.as_declared("acme", "d0", 1, 8);
        directories.as_declared("", "d0", 2, 9);
        let own = directories.of_realm("");
        assert!(own.contains(&("d0".to_owned(), 3, 9)), "{own:?}");
        let text = signet_http::metrics::render(directories.families());
        let lines = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
        assert_eq!(
            lines("signet_declaration_drift_total{"),
            MAX_COUNTED_DIRECTORIES + 1
        );
        for line in [
            "signet_declaration_drift_total{realm=\"\",directory=\"d0\"} 3",
            "signet_declaration_drift_total{realm=\"\",directory=\"(other)\"} 6",
            "signet_declaration_applied_seconds{realm=\"\",directory=\"d0\"} 9",
        ] {
            assert!(text.lines().any(|own| own == line), "{line}\n{text}");
        }
    }
}
