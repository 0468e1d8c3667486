//! What a node has heard of each record, in states that merge.
//!
//! Only a node that is one of several has it: alone, the rows say everything. States are kept as
//! they travel: a client's takes a kilobyte so, and fifteen as maps in memory, which with a hundred
//! thousand clients would be most of what a node takes. They are looked into where something is
//! heard of their record, and at no other time.
use crate::{fields, kinds::RecordKind};
use signet_merge::{crdt::Record, hlc::Stamp};
use std::collections::HashMap;

/// Milliseconds for which a record that was removed is remembered, so that a late word of it does
/// not bring it back; and how old the first word of a record may be. What is older is read from the
/// store.
pub const REMEMBERED_MS: u64 = 86_400_000;

/// The outcome of a fragment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Heard {
    /// It says nothing new.
    Known,
    /// The record is this now, in its stored form; none: the record is gone.
    Changed(Option<Vec<u8>>),
    /// The first word of a record, and an old one: the record may be gone and forgotten. The store
    /// knows.
    Doubtful,
}

/// See the module.
#[derive(Default)]
pub struct Merged {
    states: HashMap<(RecordKind, String), State>,
}

/// What is known of a record.
struct State {
    /// [`Record::to_bytes`]
    bytes: Box<[u8]>,
    newest: Option<Stamp>,
    /// When it was removed; none: it lives, or was never made.
    removed: Option<Stamp>,
    lives: bool,
}

impl State {
    fn of(record: &Record) -> State {
        let lives = record.lives();
        State {
            bytes: record.to_bytes().into(),
            newest: record.newest().cloned(),
            removed: record.deleted().filter(|_| !lives).cloned(),
            lives,
        }
    }

    fn record(&self) -> Record {
        // Invariant: it was written by `of`.
        Record::from_bytes(&self.bytes).unwrap_or_default()
    }
}

impl Merged {
    /// Merges a fragment in. `now_ms`: Unix milliseconds.
    ///
    /// # Errors
    /// [`fields::Unreadable`], where what results is no record; then nothing is changed.
    pub fn hear(
        &mut self,
        kind: RecordKind,
        name: &str,
        fragment: &Record,
        now_ms: u64,
    ) -> Result<Heard, fields::Unreadable> {
        let place = (kind, name.to_owned());
        let known = self.states.get(&place);
        if known.is_none()
            && fragment
                .newest()
                .is_none_or(|stamp| is_old(stamp.ms, now_ms))
        {
            return Ok(Heard::Doubtful);
        }
        self.join(place, fragment)
    }

    /// Merges what the store says in, however old it is; what the record is then, in its stored
    /// form.
    ///
    /// # Errors
    /// As [`Merged::hear`].
    pub fn read(
        &mut self,
        kind: RecordKind,
        name: &str,
        state: &Record,
    ) -> Result<Option<Vec<u8>>, fields::Unreadable> {
        let place = (kind, name.to_owned());
        match self.join(place, state)? {
            Heard::Changed(stored) => Ok(stored),
            Heard::Known | Heard::Doubtful => {
                let known = self.state(kind, name);
                known.map_or(Ok(None), |known| fields::read(&known, kind))
            }
        }
    }

    fn join(
        &mut self,
        place: (RecordKind, String),
        fragment: &Record,
    ) -> Result<Heard, fields::Unreadable> {
        let known = self.states.get(&place);
        let mut state = known.map_or_else(Record::new, State::record);
        if !state.merge(fragment) {
            return Ok(Heard::Known);
        }
        let stored = fields::read(&state, place.0)?;
        self.states.insert(place, State::of(&state));
        Ok(Heard::Changed(stored))
    }

    /// Whether a later word of the same record superseded this one: it is no longer worth telling.
    pub fn supersedes(&self, kind: RecordKind, name: &str, fragment: &Record) -> bool {
        let known = self.states.get(&(kind, name.to_owned()));
        known.is_some_and(|known| known.newest.as_ref() > fragment.newest())
    }

    /// What is known of a record.
    pub fn state(&self, kind: RecordKind, name: &str) -> Option<Record> {
        self.states.get(&(kind, name.to_owned())).map(State::record)
    }

    /// The records that live, by kind and name.
    pub fn living(&self) -> impl Iterator<Item = (RecordKind, &str)> {
        let living = self.states.iter().filter(|(_, state)| state.lives);
        living.map(|((kind, name), _)| (*kind, name.as_str()))
    }

    /// Forgets records that were removed long ago; how many are left.
    pub fn sweep(&mut self, now_ms: u64) -> usize {
        self.states.retain(|_, state| {
            let removed = state.removed.as_ref();
            state.lives || removed.is_none_or(|stamp| !is_old(stamp.ms, now_ms))
        });
        self.states.len()
    }
}

fn is_old(ms: u64, now_ms: u64) -> bool {
    ms.saturating_add(REMEMBERED_MS) < now_ms
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_merge::hlc::Stamp;
    use signet_store::NodeId;

    const NOW: u64 = 10 * REMEMBERED_MS;

    fn stamp(ms: u64) -> Stamp {
        let (seq, node) = (0, NodeId::default());
        Stamp { ms, seq, node }
    }

    fn scope(ms: u64, words: &str) -> Record {
        let mut state = Record::new();
        let stored = format!(r#"{{"name":"read","description":"{words}","published":true}}"#);
        fields::write(
            &mut state,
            RecordKind::Scope,
            Some(stored.as_bytes()),
            &stamp(ms),
        )
        .unwrap();
        state
    }

    #[test]
    fn a_late_word_does_not_bring_back_what_was_removed() {
        let mut merged = Merged::default();
        let first = scope(NOW, "one");
        let mut removed = first.clone();
        fields::write(&mut removed, RecordKind::Scope, None, &stamp(NOW + 1)).unwrap();
        let hear = |merged: &mut Merged, state: &Record, now| {
            merged.hear(RecordKind::Scope, "read", state, now).unwrap()
        };
        assert_eq!(hear(&mut merged, &removed, NOW), Heard::Changed(None));
        assert_eq!(hear(&mut merged, &first, NOW), Heard::Known);
        assert!(merged.supersedes(RecordKind::Scope, "read", &first));
        assert!(!merged.supersedes(RecordKind::Scope, "read", &removed));
        // Also when the removal itself is forgotten.
        let later = NOW + REMEMBERED_MS + 2;
        assert_eq!(merged.sweep(later), 0);
        assert_eq!(hear(&mut merged, &first, later), Heard::Doubtful);
        // What the store says counts, however old it is.
        let read = merged.read(RecordKind::Scope, "read", &first).unwrap();
        assert!(read.is_some());
        assert_eq!(merged.read(RecordKind::Scope, "read", &first), Ok(read));
        assert_eq!(merged.sweep(later), 1);
    }

    /// A sequence of numbers that a seed decides.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, bound: u64) -> u64 {
            // Marsaglia's xorshift64.
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0 % bound
        }
    }

    #[test]
    fn any_order_repetition_and_loss_of_what_writers_tell_gives_what_the_store_says() {
        for seed in 1..300_u64 {
            let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            // The store's state: each writer reads it and writes over it, whatever the clocks say.
            let mut store = Record::new();
            let (mut told, mut row) = (Vec::new(), None);
            for step in 0..numbers.below(12) + 2 {
                let node = ["a", "b", "c"][usize::try_from(numbers.below(3)).unwrap()];
                let own = Stamp {
                    ms: NOW + step + numbers.below(240_000),
                    seq: 0,
                    node: signet_store::NodeId::parse(node).unwrap(),
                };
                let stamp = signet_merge::hlc::after(store.newest(), own);
                row = match numbers.below(6) {
                    0 => None,
                    _ => Some(resource(&mut numbers, step)),
                };
                let value = row.as_deref();
                fields::write(&mut store, RecordKind::Resource, value, &stamp).unwrap();
                told.push(store.clone());
            }
            for _ in 0..3 {
                let mut merged = Merged::default();
                let mut heard: Vec<&Record> = told.iter().chain(&told).collect();
                for place in (1..heard.len()).rev() {
                    let other = numbers.below(place as u64 + 1);
                    heard.swap(place, usize::try_from(other).unwrap());
                }
                // Any may be lost but the last; that is what the log is for.
                let lost = usize::try_from(numbers.below(told.len() as u64)).unwrap();
                heard.drain(..lost);
                heard.push(told.last().unwrap());
                for state in heard {
                    merged.hear(RecordKind::Resource, "r", state, NOW).unwrap();
                }
                let known = merged.state(RecordKind::Resource, "r").unwrap();
                let said = fields::read(&known, RecordKind::Resource).unwrap();
                let same = match (&said, &row) {
                    (Some(said), Some(row)) => fields::same(said, row),
                    (said, row) => said.is_none() && row.is_none(),
                };
                assert!(same, "seed {seed}: {said:?} for {row:?}");
            }
        }
    }

    fn resource(numbers: &mut Numbers, revision: u64) -> Vec<u8> {
        let mut scopes: Vec<&str> = ["read", "write", "admin", "list"].to_vec();
        for place in (1..scopes.len()).rev() {
            let other = usize::try_from(numbers.below(place as u64 + 1)).unwrap();
            scopes.swap(place, other);
        }
        scopes.truncate(usize::try_from(numbers.below(5)).unwrap());
        let mut record = serde_json::json!({
            "identifier": "r",
            "scopes": scopes,
            "introspectors": [],
            "revision": revision,
        });
        if numbers.below(2) == 0 {
            record["name"] = format!("R {}", numbers.below(3)).into();
        }
        serde_json::to_vec(&record).unwrap()
    }
}
