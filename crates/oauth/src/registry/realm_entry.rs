//! A further realm of the process. The registry of the first realm has them, and no other one.
use super::{Change, Counted, Records, SharedMap};
use crate::endpoint::split_issuer;
use crate::people::Fault;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Realms, by name; and, of all of them, which have an issuer or an id.
pub type RealmEntries = Records<RealmEntry>;

/// Most realms beside the first.
pub const MAX_REALMS: usize = 20_000;
/// Most settings that a realm has of its own.
pub const MAX_REALM_SETTINGS: usize = 200;
/// Longest value of a realm's setting, in bytes of its JSON.
pub const MAX_REALM_SETTING_BYTES: usize = 16 * 1024;
/// Longest description of a realm, in bytes.
pub const MAX_REALM_DESCRIPTION_BYTES: usize = 512;
/// Longest issuer of a realm, in bytes.
pub const MAX_REALM_ISSUER_BYTES: usize = 512;

/// A realm as an administrator of the installation declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RealmEntry {
    /// Its name: 1 to 32 of `a-z`, `0-9` and `-`, the first a letter.
    pub name: String,
    /// The name that it was made with, where it has another one now: its rows, its seals and the
    /// folder of its audit trail have that for ever.
    pub made_as: Option<String>,
    /// Its issuer identifier.
    pub issuer: String,
    /// For administrators.
    pub description: Option<String>,
    /// It answers nothing, and keeps everything.
    pub suspended: bool,
    /// When everything of it is deleted, Unix seconds. Until then it is as a suspended one.
    pub deletes_at: Option<u64>,
    /// What it has of its own in place of the process' configuration: the setting's name, and its
    /// value as JSON.
    pub settings: BTreeMap<String, String>,
    /// Unix seconds.
    pub created_at: u64,
    /// Grows at every write.
    pub revision: u64,
}

impl RealmEntry {
    /// What its rows, seals and trail are called by.
    pub fn id(&self) -> &str {
        self.made_as.as_deref().unwrap_or(&self.name)
    }

    /// Whether requests for it are answered.
    pub fn answers(&self) -> bool {
        !self.suspended && self.deletes_at.is_none()
    }

    /// Whether its time is over: everything of it is deleted.
    pub fn is_due(&self, now: u64) -> bool {
        self.deletes_at.is_some_and(|at| at <= now)
    }

    /// What is wrong with it by itself.
    ///
    /// # Errors
    /// The first [`Fault`].
    pub fn check(&self) -> Result<(), Fault> {
        if self.issuer.len() > MAX_REALM_ISSUER_BYTES {
            return Err("issuer: at most 512 bytes");
        }
        let description = self.description.as_deref().unwrap_or_default();
        if description.len() > MAX_REALM_DESCRIPTION_BYTES {
            return Err("description: at most 512 bytes");
        }
        if self.settings.len() > MAX_REALM_SETTINGS {
            return Err("settings: at most 200");
        }
        let mut values = self.settings.values();
        if values.any(|value| value.len() > MAX_REALM_SETTING_BYTES) {
            return Err("settings: a value has at most 16384 bytes");
        }
        Ok(())
    }
}

/// The names of realms, by something that two of them should not have in common. They may: what the
/// configuration declares is not compared with what is stored, and a node hears of a renamed realm
/// before it hears that the former name is gone.
#[derive(Clone, Default)]
struct NamesBy(SharedMap<Arc<BTreeSet<String>>>);

impl NamesBy {
    fn count(&mut self, key: &str, name: &str, change: Change) {
        let mut names = self.0.get(key).cloned().unwrap_or_default();
        let all = Arc::make_mut(&mut names);
        match change {
            Change::In => drop(all.insert(name.to_owned())),
            Change::Out => drop(all.remove(name)),
        }
        match names.is_empty() {
            true => drop(self.0.remove(key)),
            false => drop(self.0.insert(key, names)),
        }
    }

    fn of<'a>(&'a self, key: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let names = self.0.get(key).into_iter();
        names.flat_map(|names| names.iter().map(String::as_str))
    }
}

/// What is kept of all realms together: whoever writes one must not compare it with ten thousand.
#[derive(Clone, Default)]
pub struct RealmTally {
    by_issuer: NamesBy,
    by_id: NamesBy,
}

impl RealmTally {
    /// The names of the realms with this issuer, in their order. A slash at its end makes no
    /// difference.
    pub fn with_issuer<'a>(&'a self, issuer: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        self.by_issuer.of(&place_of(issuer))
    }

    /// The names of the realms with this [id](RealmEntry::id), in their order.
    pub fn with_id<'a>(&'a self, id: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        self.by_id.of(id)
    }
}

/// Where an issuer is found. An origin has no slash behind its scheme, and a path begins with one:
/// two issuers have the same text only where they have both in common.
fn place_of(issuer: &str) -> String {
    let (origin, path) = split_issuer(issuer);
    format!("{origin}{path}")
}

impl Counted for RealmEntry {
    type Tally = RealmTally;

    fn count(&self, tally: &mut RealmTally, change: Change) {
        let issuers = &mut tally.by_issuer;
        issuers.count(&place_of(&self.issuer), &self.name, change);
        tally.by_id.count(self.id(), &self.name, change);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, made_as: Option<&str>, issuer: &str) -> Arc<RealmEntry> {
        Arc::new(RealmEntry {
            name: name.to_owned(),
            made_as: made_as.map(str::to_owned),
            issuer: issuer.to_owned(),
            description: None,
            suspended: false,
            deletes_at: None,
            settings: BTreeMap::new(),
            created_at: 1,
            revision: 1,
        })
    }

    #[test]
    fn whoever_has_an_issuer_or_an_id_is_found_as_by_a_walk_through_all() {
        let mut realms = RealmEntries::default();
        let mut seed = 7_u64;
        for _ in 0..3000 {
            // Marsaglia's xorshift64.
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let name = format!("r{}", seed % 40);
            let (made_as, number) = (format!("r{}", (seed >> 8) % 40), (seed >> 16) % 30);
            let made_as = (seed >> 24).is_multiple_of(3).then_some(made_as);
            let slash = if (seed >> 32).is_multiple_of(2) {
                "/"
            } else {
                ""
            };
            let issuer = format!("https://i{}.example/p{}{slash}", number % 5, number / 5);
            match (seed >> 40) % 4 {
                0 => realms.remove(&name),
                _ => realms.insert(name.clone(), entry(&name, made_as.as_deref(), &issuer)),
            }
            let names = |like: &dyn Fn(&RealmEntry) -> bool| -> BTreeSet<String> {
                let all = realms.values().filter(|one| like(one));
                all.map(|one| one.name.clone()).collect()
            };
            let set = |found: &mut dyn Iterator<Item = &str>| -> BTreeSet<String> {
                found.map(str::to_owned).collect()
            };
            let id = made_as.as_deref().unwrap_or(&name);
            let tally = realms.tally();
            assert_eq!(set(&mut tally.with_id(id)), names(&|one| one.id() == id));
            let place = split_issuer(&issuer);
            assert_eq!(
                set(&mut tally.with_issuer(&issuer)),
                names(&|one| split_issuer(&one.issuer) == place)
            );
        }
        assert!(realms.len() > 10);
        let all: Vec<String> = realms.keys().map(str::to_owned).collect();
        all.iter().for_each(|name| realms.remove(name));
        assert!(realms.tally().by_id.0.is_empty() && realms.tally().by_issuer.0.is_empty());
    }
}
