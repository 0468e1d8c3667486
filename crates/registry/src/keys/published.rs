//! The open keys that a [`KeySet`] is made of: what one node has in memory.
use super::{KeySet, KeysError, Phase, material::Material, record::Record};
use signet_crypto::seal::Keyring;
use std::{collections::BTreeMap, sync::Arc};

/// Keys by `kid`. Cheap to clone: the keys themselves are shared.
#[derive(Clone, Default)]
pub struct Published {
    keys: BTreeMap<String, (Record, Material)>,
}

impl FromIterator<(Record, Material)> for Published {
    fn from_iter<I: IntoIterator<Item = (Record, Material)>>(keys: I) -> Self {
        let by_kid = |(record, key): (Record, Material)| (record.kid.clone(), (record, key));
        Published {
            keys: keys.into_iter().map(by_kid).collect(),
        }
    }
}

impl Published {
    /// Puts the record of a key in, as it is at rest, or takes the key out. `keyring` opens a key
    /// that is new.
    ///
    /// # Errors
    /// [`KeysError`], where the record cannot be read, is another key's, or does not open; then
    /// nothing is changed.
    pub fn apply(
        &mut self,
        kid: &str,
        record: Option<&[u8]>,
        keyring: &Keyring,
    ) -> Result<(), KeysError> {
        let Some(bytes) = record else {
            self.keys.remove(kid);
            return Ok(());
        };
        let record = Record::parse(bytes)?;
        if record.kid != kid {
            return Err(KeysError::Unreadable);
        }
        let key = match self.keys.get(kid) {
            // The id is the key's own hash: under one id there is one key.
            Some((known, key)) if known.alg == record.alg => key.clone(),
            Some(_) | None => record.open(keyring)?,
        };
        self.keys.insert(kid.to_owned(), (record, key));
        Ok(())
    }

    /// The view: active keys first, so that a client that takes the first fitting key takes the
    /// right one.
    ///
    /// # Errors
    /// [`KeysError`], where a record names no kind of key.
    pub fn render(&self) -> Result<KeySet, KeysError> {
        let mut sorted = Vec::with_capacity(self.keys.len());
        for (record, key) in self.keys.values() {
            sorted.push((record.phase(), record.kind()?, key));
        }
        sorted.sort_by_key(|(phase, kind, _)| (phase.order(), *kind));
        let mut set = KeySet::builder();
        for (phase, _, key) in sorted {
            let active = phase == Phase::Active;
            match key {
                Material::Jose { signer, verifying } => {
                    set.jose(Arc::clone(signer), Arc::clone(verifying), active);
                }
                Material::Compact(key) => set.compact(Arc::clone(key), active),
            }
        }
        Ok(set.build()?)
    }
}
