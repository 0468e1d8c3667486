//! A further realm of the process. The registry of the first realm has them, and no other one.
use crate::people::Fault;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Realms, by name.
pub type RealmEntries = BTreeMap<String, Arc<RealmEntry>>;

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
