//! One signing key at rest.
use serde::{Deserialize, Serialize};
use signet_crypto::{Secret, seal::Keyring, seal::Purpose};
use signet_encoding::base64url;
use signet_store::{Key, Table};

use super::{KeyKind, KeysError, material::Material};

/// Where a key is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Published, has signed nothing yet.
    Standby,
    /// Signs.
    Active,
    /// Signs no more; still verifies what it signed.
    Retired,
}

impl Phase {
    /// Where a key of this phase stands in a list: those that sign come first.
    pub(super) const fn order(self) -> u8 {
        match self {
            Phase::Active => 0,
            Phase::Standby => 1,
            Phase::Retired => 2,
        }
    }

    /// As the admin API calls it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Phase::Standby => "standby",
            Phase::Active => "active",
            Phase::Retired => "retired",
        }
    }
}

/// A key's life, in Unix seconds. The public half is computed from the private one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    /// A hash of the key: no two share one.
    pub(super) kid: String,
    /// The name of its [`KeyKind`].
    pub(super) alg: String,
    /// Made and published.
    pub(super) created_at: u64,
    /// Signs from then on. None: it stands by.
    pub(super) active_from: Option<u64>,
    /// Somebody asked for the next key: it takes over as soon as it has been published for long
    /// enough.
    #[serde(default)]
    pub(super) rotate_soon: bool,
    /// Signs no more since then.
    pub(super) retired_at: Option<u64>,
    /// The last token that it signed has expired: the key goes.
    pub(super) ends_at: Option<u64>,
    /// The private half, sealed for `alg` and `kid`; base64url.
    sealed: String,
}

impl Record {
    /// Makes a key. RSA takes a good part of a second: not for a runtime's thread.
    pub(super) fn generate(
        kind: KeyKind,
        keyring: &Keyring,
        now: u64,
    ) -> Result<(Record, Material), KeysError> {
        let key = Material::generate(kind)?;
        let mut record = Record {
            kid: key.kid(),
            alg: kind.name().to_owned(),
            created_at: now,
            active_from: None,
            rotate_soon: false,
            retired_at: None,
            ends_at: None,
            sealed: String::new(),
        };
        record.seal(&key.private()?, keyring)?;
        Ok((record, key))
    }

    pub(super) fn parse(value: &[u8]) -> Result<Record, KeysError> {
        serde_json::from_slice(value).map_err(|_| KeysError::Unreadable)
    }

    pub(super) fn encode(&self) -> Result<Vec<u8>, KeysError> {
        serde_json::to_vec(self).map_err(|_| KeysError::Unreadable)
    }

    pub(super) fn key(&self) -> Key {
        Key::new(Table::SigningKey, self.kid.as_bytes())
    }

    pub(super) fn kind(&self) -> Result<KeyKind, KeysError> {
        KeyKind::from_name(&self.alg).ok_or(KeysError::Unreadable)
    }

    pub(super) fn phase(&self) -> Phase {
        match (self.active_from, self.retired_at) {
            (_, Some(_)) => Phase::Retired,
            (Some(_), None) => Phase::Active,
            (None, None) => Phase::Standby,
        }
    }

    // A sealed key that was moved to another record does not open.
    fn associated_data(&self) -> String {
        format!("{}:{}", self.alg, self.kid)
    }

    fn seal(&mut self, private: &Secret<Vec<u8>>, keyring: &Keyring) -> Result<(), KeysError> {
        let data = self.associated_data();
        let sealed = keyring
            .seal_with(Purpose::SigningKey, data.as_bytes(), private.expose())
            .map_err(|_| KeysError::Sealed)?;
        self.sealed = base64url::encode(&sealed);
        Ok(())
    }

    fn private(&self, keyring: &Keyring) -> Result<Secret<Vec<u8>>, KeysError> {
        let sealed =
            base64url::decode(self.sealed.as_bytes()).map_err(|_| KeysError::Unreadable)?;
        keyring
            .open_with(
                Purpose::SigningKey,
                self.associated_data().as_bytes(),
                &sealed,
            )
            .map(Secret::new)
            .map_err(|_| KeysError::Sealed)
    }

    /// Opens the private half.
    pub(super) fn open(&self, keyring: &Keyring) -> Result<Material, KeysError> {
        let private = self.private(keyring)?;
        Material::from_private(self.kind()?, &self.kid, private.expose())
    }

    /// Seals the private half again if another key than the current one sealed it; whether it did.
    pub(super) fn rewrap(&mut self, keyring: &Keyring) -> Result<bool, KeysError> {
        let sealed =
            base64url::decode(self.sealed.as_bytes()).map_err(|_| KeysError::Unreadable)?;
        if Keyring::id_of(&sealed) == Some(keyring.current_id()) {
            return Ok(false);
        }
        let private = self.private(keyring)?;
        self.seal(&private, keyring)?;
        Ok(true)
    }
}
