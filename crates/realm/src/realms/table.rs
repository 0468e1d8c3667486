//! What was made of the realms' records of one moment, and what a change of some makes of it.
//!
//! A table is a whole that readers keep for as long as they use it. The next one shares with it
//! what did not change: making one realm among ten thousand looks at the few hundred records of
//! one shard, and at the places of the realms that are made of what changed there.
use super::Slot;
use crate::state::{Realm, RealmId};
use signet_oauth::registry::{MayDiffer, RealmEntries, RealmEntry, SharedMap};
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

/// See the module.
#[derive(Clone, Default)]
pub struct Table {
    pub(super) entries: Arc<RealmEntries>,
    /// By [`RealmEntry::id`].
    slots: SharedMap<Arc<Slot>>,
    /// Places whose records are gone, until their realms are closed: a realm of the same name is
    /// opened after that. By the id.
    leaving: HashMap<String, Arc<Slot>>,
    /// Realms that were made elsewhere and have no record.
    given: Arc<[Arc<Realm>]>,
}

impl Table {
    /// Those with a record, in no order.
    pub fn slots(&self) -> impl Iterator<Item = &Arc<Slot>> {
        self.slots.iter().map(|(_, slot)| slot)
    }

    /// The one of this name.
    pub fn slot(&self, id: &RealmId) -> Option<&Arc<Slot>> {
        self.slots.get(id.as_str())
    }

    /// Those without.
    pub fn given(&self) -> &Arc<[Arc<Realm>]> {
        &self.given
    }

    /// Those that are open, without the first.
    pub fn opened(&self) -> impl Iterator<Item = Arc<Realm>> {
        let opened = self.slots().filter_map(|slot| slot.opened());
        opened.chain(self.given.iter()).cloned()
    }

    /// The table with these realms in place of the given ones.
    pub(super) fn with_given(&self, given: Vec<Arc<Realm>>) -> Table {
        Table {
            given: given.into(),
            ..self.clone()
        }
    }

    /// The places that are other ones than in `before`: that of then, and that of now.
    pub fn changes_since<'a>(
        &'a self,
        before: &'a Table,
    ) -> impl Iterator<Item = (Option<&'a Arc<Slot>>, Option<&'a Arc<Slot>>)> {
        let may_differ = self.slots.changes_since(&before.slots);
        let differ = may_differ.filter(|MayDiffer { was, is, .. }| match (was, is) {
            (Some(was), Some(is)) => !Arc::ptr_eq(was, is),
            (None, None) => false,
            (Some(_), None) | (None, Some(_)) => true,
        });
        differ.map(|MayDiffer { was, is, .. }| (was, is))
    }

    /// How many places the changes since `before` copied.
    pub fn copied_since(&self, before: &Table) -> usize {
        self.slots.copied_since(&before.slots)
    }

    /// The table of other records, and the places whose realms are closed for it. `usable`: whether
    /// there can be a realm of a record.
    pub(super) fn next(
        &self,
        entries: Arc<RealmEntries>,
        usable: impl Fn(&RealmEntry) -> bool,
    ) -> (Table, Vec<Arc<Slot>>) {
        let mut ids = BTreeSet::new();
        for MayDiffer { was, is, .. } in entries.changes_since(&self.entries) {
            // A file that was read again says the same of most.
            if was != is {
                ids.extend([was, is].into_iter().flatten().map(|entry| entry.id()));
            }
        }
        let mut next = self.clone();
        next.leaving.retain(|_, slot| !slot.is_closed());
        let mut ended = Vec::new();
        for id in ids {
            let known = self.slots.get(id);
            match (known, record_of(&entries, id, &usable)) {
                (Some(known), Some(entry)) if known.entry() == entry => {}
                (known, Some(entry)) => {
                    let before = known.or_else(|| self.leaving.get(id));
                    next.slots.insert(id, Slot::new(Arc::clone(entry), before));
                    ended.extend(known.cloned());
                }
                (Some(known), None) => {
                    next.slots.remove(id);
                    next.leaving.insert(id.to_owned(), Arc::clone(known));
                    ended.push(Arc::clone(known));
                }
                (None, None) => {}
            }
        }
        next.entries = entries;
        (next, ended)
    }

    /// The table with other places for the realms that are made of something else now, and the
    /// places that these had.
    pub(super) fn renewed(&self, changed: impl Fn(&RealmEntry) -> bool) -> (Table, Vec<Arc<Slot>>) {
        let ended = self.slots().filter(|slot| changed(slot.entry()));
        let ended: Vec<Arc<Slot>> = ended.cloned().collect();
        let mut next = self.clone();
        for slot in &ended {
            let entry = Arc::clone(slot.entry());
            let id = entry.id().to_owned();
            next.slots.insert(&id, Slot::new(entry, Some(slot)));
        }
        (next, ended)
    }
}

/// The record that the realm with this id is made of: of several the one that was renamed, because
/// the rows are its own. The file can declare what no command may make, and a node hears of a
/// renamed realm before it hears that the former name is gone.
fn record_of<'a>(
    entries: &'a RealmEntries,
    id: &str,
    usable: &impl Fn(&RealmEntry) -> bool,
) -> Option<&'a Arc<RealmEntry>> {
    // What has no such name has no rows.
    RealmId::parse(id).ok()?;
    let names = entries.tally().with_id(id);
    let all: Vec<&Arc<RealmEntry>> = names.filter_map(|name| entries.get(name)).collect();
    let is_renamed = all.iter().any(|entry| entry.made_as.is_some());
    let (rightful, others): (Vec<_>, Vec<_>) = all
        .into_iter()
        .partition(|entry| entry.made_as.is_some() || !is_renamed);
    for entry in others {
        tracing::error!(
            realm = entry.name,
            "ignored a realm whose rows are those of one that was renamed"
        );
    }
    // The last by name, on every node the same one.
    rightful.into_iter().rfind(|entry| usable(entry))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn entry(name: &str, made_as: Option<&str>, issuer: &str) -> RealmEntry {
        RealmEntry {
            name: name.to_owned(),
            made_as: made_as.map(str::to_owned),
            issuer: issuer.to_owned(),
            description: None,
            suspended: false,
            deletes_at: None,
            settings: BTreeMap::new(),
            created_at: 1,
            revision: 1,
        }
    }

    fn usable(entry: &RealmEntry) -> bool {
        !entry.issuer.ends_with("/token")
    }

    fn put(entries: &mut RealmEntries, entry: RealmEntry) {
        entries.insert(entry.name.clone(), Arc::new(entry));
    }

    /// What a table is made of, as can be compared.
    fn made_of(table: &Table) -> BTreeMap<String, RealmEntry> {
        let slots = table.slots.iter();
        slots
            .map(|(id, slot)| (id.to_string(), (**slot.entry()).clone()))
            .collect()
    }

    /// The places of these records by a walk through all of them.
    fn by_a_walk(entries: &RealmEntries) -> BTreeMap<String, RealmEntry> {
        let mut all: Vec<&Arc<RealmEntry>> = entries.values().collect();
        all.sort_by_key(|entry| &entry.name);
        let renamed = |id: &str| all.iter().any(|one| one.made_as.as_deref() == Some(id));
        let mut found = BTreeMap::new();
        for entry in &all {
            let is_former = entry.made_as.is_none() && renamed(&entry.name);
            if !is_former && usable(entry) && RealmId::parse(entry.id()).is_ok() {
                found.insert(entry.id().to_owned(), (***entry).clone());
            }
        }
        found
    }

    #[test]
    fn a_table_after_any_changes_is_the_one_made_from_nothing() {
        for seed in 1..40_u64 {
            let mut seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut below = |bound: u64| {
                // Marsaglia's xorshift64.
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                (seed >> 11) % bound
            };
            let mut table = Table::default();
            for _ in 0..120 {
                let mut entries = (*table.entries).clone();
                // Some changes come together: a renaming, a file, what was heard of other nodes.
                for _ in 0..=below(3) {
                    let name = format!("r{}", below(12));
                    let known = entries.get(&name).map(|entry| (**entry).clone());
                    let issuer = match below(9) {
                        0 => "https://id.example/token".to_owned(),
                        n => format!("https://id.example/{n}"),
                    };
                    match (below(6), known) {
                        // Made, or by another node too, or declared beside one that was renamed.
                        (0 | 1, _) | (_, None) => put(&mut entries, entry(&name, None, &issuer)),
                        (2, Some(known)) => {
                            let suspended = !known.suspended;
                            let revision = known.revision + 1;
                            let next = RealmEntry {
                                suspended,
                                revision,
                                ..known
                            };
                            put(&mut entries, next);
                        }
                        (3, Some(known)) => {
                            // Of two words of a renaming the second may come later.
                            if below(2) == 0 {
                                entries.remove(&name);
                            }
                            let next = RealmEntry {
                                made_as: Some(known.id().to_owned()),
                                name: format!("r{}", below(12)),
                                ..known
                            };
                            put(&mut entries, next);
                        }
                        // The same, read again.
                        (4, Some(known)) => put(&mut entries, known),
                        (_, Some(_)) => entries.remove(&name),
                    }
                }
                let (next, ended) = table.next(Arc::new(entries), usable);
                assert_eq!(made_of(&next), by_a_walk(&next.entries));
                // Whatever lost its place is closed, and nothing else is.
                let changed = next.changes_since(&table);
                let left: Vec<String> = changed
                    .filter_map(|(was, _)| Some(was?.entry().id().to_owned()))
                    .collect();
                let mut closed: Vec<String> = ended
                    .iter()
                    .map(|slot| slot.entry().id().to_owned())
                    .collect();
                let mut left = left;
                left.sort();
                closed.sort();
                assert_eq!(left, closed);
                // What is as it was has the place that it had.
                for (id, slot) in next.slots.iter() {
                    if let Some(was) = table.slots.get(id) {
                        assert_eq!(Arc::ptr_eq(was, slot), was.entry() == slot.entry());
                    }
                }
                table = next;
            }
        }
    }

    #[test]
    fn one_realm_among_ten_thousand_copies_a_shard_and_asks_for_one_record() {
        let mut entries = RealmEntries::default();
        for n in 0..10_000 {
            let name = format!("r{n}");
            put(
                &mut entries,
                entry(&name, None, &format!("https://id.example/{name}")),
            );
        }
        let (table, ended) = Table::default().next(Arc::new(entries), usable);
        assert!(ended.is_empty());
        assert_eq!(table.slots().count(), 10_000);
        let one = entry("one-more", None, "https://id.example/one-more");
        let mut entries = (*table.entries).clone();
        put(&mut entries, one.clone());
        let asked = std::cell::Cell::new(0);
        let (next, ended) = table.next(Arc::new(entries), |entry| {
            asked.set(asked.get() + 1);
            usable(entry)
        });
        assert!(ended.is_empty());
        assert_eq!(asked.get(), 1);
        assert!(next.entries.copied_since(&table.entries) < 512);
        assert!(next.copied_since(&table) < 512);
        let changes: Vec<_> = next.changes_since(&table).collect();
        assert_eq!(changes.len(), 1);
        assert_eq!(**changes[0].1.unwrap().entry(), one);
    }
}
