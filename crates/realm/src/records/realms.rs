//! The further realms of the process: what must be true of all of them together.
use crate::realms::Realms;
use crate::records::write::{Before, Next, RecordError};
use crate::state::{Realm, RealmId};
use signet_oauth::endpoint::split_issuer;
use signet_oauth::registry::RealmEntry;
use signet_registry::kinds::RecordKind;
use signet_store::StoreError;
use std::sync::Arc;

const TAKEN: RecordError = RecordError::Refused {
    code: "issuer_taken",
    why: "issuer: another realm has this issuer",
};
const NAMED_BEFORE: RecordError = RecordError::Refused {
    code: "name_taken",
    why: "name: a realm that was renamed was made with this name, and its rows have it",
};
const ELSEWHERE: RecordError = RecordError::Refused {
    code: "not_the_installation",
    why: "realms are administered at the issuer of the installation",
};
/// A realm as it is wanted.
struct Wanted<'a>(&'a RealmEntry);

impl Next<RealmEntry> for Wanted<'_> {
    async fn next(
        &self,
        realm: &Realm,
        known: Option<&RealmEntry>,
    ) -> Result<Option<RealmEntry>, RecordError> {
        let wanted = self.0;
        // Whoever was faster has changed the census, and is read here before it is compared.
        let read = realm.catch_up().await;
        read.map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let snapshot = realm.snapshot();
        let made_as = known.map_or(&wanted.made_as, |known| &known.made_as);
        let next = RealmEntry {
            created_at: known.map_or(wanted.created_at, |known| known.created_at),
            made_as: made_as.clone(),
            ..wanted.clone()
        };
        // Those that have one of them are known: it is compared with nobody else.
        let all = snapshot.registry.realms.tally();
        if all.with_id(next.id()).any(|name| name != wanted.name) {
            return Err(NAMED_BEFORE);
        }
        let mut same = all.with_issuer(&wanted.issuer);
        let taken = split_issuer(&wanted.issuer) == split_issuer(&snapshot.settings.issuer)
            || same.any(|name| name != wanted.name);
        match taken {
            true => Err(TAKEN),
            false => Ok(Some(next)),
        }
    }
}

impl Realm {
    /// Gives a further realm another name, and another issuer where one is given, in one change.
    /// Its rows, seals and trail keep the name that it was made with.
    ///
    /// # Errors
    /// See [`RecordError`]; `NotFound` where there is no realm of this name.
    pub async fn rename_realm(
        self: &Arc<Self>,
        name: &str,
        new_name: &str,
        issuer: Option<String>,
    ) -> Result<Arc<RealmEntry>, RecordError> {
        self.learn(RecordKind::Realm, name).await?;
        let together = self.together(true).await?;
        let tried = &together.tried;
        let known = tried.snapshot().registry.realms.get(name).cloned();
        let known = known.ok_or(RecordError::NotFound)?;
        let renamed = RealmEntry {
            name: new_name.to_owned(),
            made_as: Some(known.id().to_owned()).filter(|id| id != new_name),
            issuer: issuer.unwrap_or_else(|| known.issuer.clone()),
            ..(*known).clone()
        };
        if new_name != name {
            tried.remove_record::<RealmEntry>(name, None).await?;
        }
        let read = (new_name == name).then_some(known.revision);
        let written = tried.write_realm(&renamed, read).await?;
        together.commit().await?;
        Ok(written)
    }

    /// Writes a further realm of the process: `read` is the revision that it replaces, none if it
    /// must not exist yet. Its issuer is nobody else's, and hides no endpoint.
    ///
    /// # Errors
    /// See [`RecordError`].
    pub async fn write_realm(
        &self,
        entry: &RealmEntry,
        read: Option<u64>,
    ) -> Result<Arc<RealmEntry>, RecordError> {
        if !self.id().is_default() {
            return Err(ELSEWHERE);
        }
        let name = &*entry.name;
        RealmId::parse(name).map_err(|error| RecordError::Wrong(format!("name: {error}")))?;
        entry.check()?;
        if let Some(hidden) = self.host.paths.hidden_by(&entry.issuer) {
            let why = format!("issuer: its path would hide the server's own /{hidden}");
            return Err(RecordError::Wrong(why));
        }
        self.learn(RecordKind::Realm, name).await?;
        if let Some(realms) = Realms::of(self)
            && let Some(opener) = realms.opener()
        {
            let checked = opener.check(entry);
            checked.map_err(|faults| RecordError::Wrong(faults.join("; ")))?;
        }
        let wanted = Wanted(entry);
        let written = self
            .change_record(name, Before::read(read), &wanted)
            .await?;
        written.ok_or(RecordError::Conflict)
    }
}
