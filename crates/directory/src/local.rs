//! The accounts that are kept here: made, found, changed, removed.

use std::sync::Arc;

use signet_crypto::Secret;
use signet_encoding::base64url;
use signet_store::{Change, MAX_THEN, Op, Outcome, Store, StoreError, Table};

use crate::credential::CredentialName;
use crate::draft::{
    ReservedEmail, StoredUser, UserDraft, encode, replacement, rewritten, user_key,
};
use crate::error::UserError;
use crate::group_mark::group_marks;
use crate::name::{claimed, fold, folded_email, lookup_key, new_username, spellings};
use crate::record::{AcceptedTerms, DeletionStage, Profile, User};

/// How often a change that lost a race is tried again before [`UserError::Conflict`].
pub(crate) const MAX_TRIES: usize = 5;
/// For how long a name is kept for an account that is being written, seconds: longer than any
/// request takes.
const RESERVED_FOR: u64 = 600;
/// Rows that are counted at once.
const COUNTED_AT_ONCE: usize = 1000;

/// What is needed to make an account.
#[derive(Clone, Debug, Default)]
pub struct NewUser {
    /// Refused if [`fold`] refuses it, or if it looks like an e-mail address other than `email`.
    pub username: String,
    /// Unique among users.
    pub email: Option<String>,
    /// Whether the e-mail address is known to be the person's.
    pub email_verified: bool,
    /// A PHC string (`signet_crypto::password::hash`).
    pub password: Option<String>,
    /// The first login has to set another password.
    pub must_change_password: bool,
    /// Unix seconds from which the account is as a disabled one.
    pub expires_at: Option<u64>,
    /// May administer.
    pub admin: bool,
    /// Names of the roles that it administers with; none, where it may: an owner.
    pub admin_roles: Vec<String>,
    /// The terms that the person has accepted.
    pub terms: Option<AcceptedTerms>,
    /// The rest of the profile.
    pub profile: Profile,
    /// The provisioning client's name for it.
    pub external_id: Option<String>,
    /// The person is kept out.
    pub disabled: bool,
    /// An administrator chose the user name: it may have letters of several scripts, and characters
    /// that are neither letters nor digits.
    pub by_administrator: bool,
}

/// A new id of an account.
pub(crate) fn new_id() -> String {
    base64url::encode(&signet_crypto::random::id::<16>())
}

/// A password as it is kept: a PHC string. Equality says whether it is still the same row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredPassword {
    pub(crate) phc: Secret<String>,
    /// Of the credential's row; none where it is still in the account's record.
    version: Option<u64>,
}

/// The accounts of a store.
#[derive(Clone)]
pub struct Local {
    pub(crate) store: Arc<dyn Store>,
}

impl Local {
    /// The accounts of this store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Local { store }
    }

    /// Makes an account and answers its record. Each name is reserved by one atomic insert; of
    /// racing callers one gets it.
    ///
    /// # Errors
    /// What is wrong with the names or the profile, or taken; and the store's.
    pub async fn create(&self, new: NewUser, now: u64) -> Result<User, UserError> {
        new.profile.check()?;
        let mut draft = UserDraft::new(User {
            id: new_id(),
            username: new.username.trim().to_owned(),
            email: new.email.as_deref().map(folded_email).transpose()?,
            email_verified: new.email_verified,
            link: None,
            credentials: Vec::new(),
            password_changed_at: 0,
            must_change_password: false,
            expires_at: new.expires_at,
            invitation: None,
            invited: false,
            must_accept_terms: false,
            terms: new.terms,
            deletion: None,
            deletion_stage: DeletionStage::Asked,
            admin: new.admin,
            admin_roles: new.admin_roles,
            enabled: !new.disabled,
            created_at: now,
            updated_at: now,
            profile: new.profile,
            external_id: new.external_id,
            groups: Vec::new(),
            groups_outside: Vec::new(),
            groups_outside_until: None,
            roles: Vec::new(),
            attributes: std::collections::BTreeMap::new(),
            unknown: Default::default(),
        });
        if let Some(phc) = &new.password {
            match new.must_change_password {
                true => draft.set_temporary_password(phc, now),
                false => draft.set_password(Some(phc), now),
            }
        }
        self.write_new(draft, Vec::new(), new.by_administrator, now)
            .await
    }

    /// Writes a new account. Its names are kept for it first, and become its own in the one change
    /// that makes the account, and in which `also` is done: a crash leaves all of it or nothing.
    pub(crate) async fn write_new(
        &self,
        draft: UserDraft,
        also: Vec<Op>,
        by_administrator: bool,
        now: u64,
    ) -> Result<User, UserError> {
        let user = &draft.user;
        let username = new_username(&user.username, by_administrator)?;
        let email = user.email.as_deref().map(folded_email).transpose()?;
        // A user name in the shape of somebody else's address would take that address's look-up
        // row.
        if username.contains('@') && email.as_deref() != Some(&*username) {
            return Err(UserError::Username);
        }
        // Of an account that is refused, the name alone says something.
        signet_audit::name_target("", &user.username);
        let email = email.filter(|email| *email != username);
        let addressed = async {
            match &user.email {
                Some(given) if email.is_some() => self.reserve(given, &user.id, now).await,
                Some(_) | None => Ok(true),
            }
        };
        // At the same time: they share a flush.
        let named = self.reserve(&user.username, &user.id, now);
        let (named, addressed) = futures_util::future::join(named, addressed).await;
        let outcome = match (named?, addressed?) {
            (true, true) => {
                let mut then: Vec<Op> = draft.credentials().collect();
                let names = [Some(&username), email.as_ref()];
                then.extend(
                    names
                        .into_iter()
                        .flatten()
                        .map(|name| claimed(name, &user.id)),
                );
                then.extend(group_marks(&[], &user.groups));
                then.extend(also);
                signet_audit::name_target(&user.id, &user.username);
                let first = Op::Insert {
                    key: user_key(&user.id),
                    value: encode(user),
                    end: None,
                };
                match self.store.commit(Change { first, then }, now).await? {
                    Outcome::Done { .. } => return Ok(draft.user),
                    Outcome::Refused(_) => UserError::Conflict,
                }
            }
            (false, _) => UserError::UsernameTaken,
            (true, false) => UserError::EmailTaken,
        };
        for name in [Some(&username), email.as_ref()].into_iter().flatten() {
            self.release(name, &user.id, now).await?;
        }
        Err(outcome)
    }

    /// The user with this id.
    ///
    /// # Errors
    /// The store's.
    pub async fn by_id(&self, id: &str, now: u64) -> Result<Option<User>, UserError> {
        Ok(self.found(id, now).await?.map(|found| found.user))
    }

    /// The account with this id, as a change has it as its condition.
    ///
    /// # Errors
    /// The store's.
    pub async fn found(&self, id: &str, now: u64) -> Result<Option<StoredUser>, UserError> {
        let row = self.store.get(&user_key(id), now).await?;
        Ok(row.as_ref().map(StoredUser::read).transpose()?)
    }

    /// The user that this user name or e-mail address names. None also where the text cannot be a
    /// name.
    ///
    /// # Errors
    /// The store's.
    pub async fn by_login(&self, typed: &str, now: u64) -> Result<Option<User>, UserError> {
        for spelled in spellings(typed) {
            if let Some(user) = self.holder_of(&spelled, now).await? {
                let present = fold(typed).filter(|present| *present != spelled);
                if let Some(present) = present {
                    // An account of an earlier version: nobody else takes what its name is now.
                    // Where somebody has, or the store only answers reads, it is as before.
                    if let Err(error) = self.claim(&present, &user.id, now).await {
                        tracing::debug!(%error, user = %user.id, "claiming the present spelling of a name failed");
                    }
                }
                return Ok(Some(user));
            }
        }
        Ok(None)
    }

    /// Reads a page of all users for the administrator; never on a request of a person's way.
    ///
    /// # Errors
    /// The store's.
    pub async fn list(
        &self,
        after: Option<&str>,
        limit: usize,
        now: u64,
    ) -> Result<Vec<User>, UserError> {
        let read = self.list_found(after, limit, now).await?;
        Ok(read.into_iter().map(|found| found.user).collect())
    }

    /// As [`Local::list`], with their versions.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn list_found(
        &self,
        after: Option<&str>,
        limit: usize,
        now: u64,
    ) -> Result<Vec<StoredUser>, UserError> {
        let after = after.map(user_key);
        let page = self.store.page(Table::User, after.as_ref(), limit, now);
        let rows = page.await?;
        rows.iter()
            .map(|(_, row)| Ok(StoredUser::read(row)?))
            .collect()
    }

    /// How many accounts come after this one. Rows are counted and not read.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn count_after(
        &self,
        after: Option<&str>,
        now: u64,
    ) -> Result<usize, UserError> {
        let (mut all, mut after) = (0, after.map(user_key));
        loop {
            let page = self
                .store
                .page(Table::User, after.as_ref(), COUNTED_AT_ONCE, now);
            let rows = page.await?;
            all += rows.len();
            let is_full = rows.len() == COUNTED_AT_ONCE;
            match rows.into_iter().last() {
                Some((last, _)) if is_full => after = Some(last),
                Some(_) | None => return Ok(all),
            }
        }
    }

    /// Applies `change` and writes it with a compare, again if somebody else was faster. User name,
    /// e-mail address and id stay as they are; [`Local::set_email`] moves an address.
    ///
    /// # Errors
    /// As [`replacement`]; [`UserError::NotFound`], [`UserError::Conflict`], the store's.
    pub async fn change(
        &self,
        id: &str,
        now: u64,
        change: impl Fn(&mut UserDraft),
    ) -> Result<User, UserError> {
        let changed = self.update(id, now, |found| replacement(found, now, &change));
        Ok(changed.await?.1)
    }

    /// Sets a new password (a PHC string), or takes it away. It ends nothing that was begun with
    /// the old one: a server does both in one change.
    ///
    /// # Errors
    /// As [`Local::change`].
    pub async fn set_password(
        &self,
        id: &str,
        phc: Option<&str>,
        now: u64,
    ) -> Result<User, UserError> {
        self.change(id, now, |draft| draft.set_password(phc, now))
            .await
    }

    /// Enables or disables. It ends nothing that the user holds: a server does both in one change.
    ///
    /// # Errors
    /// As [`Local::change`].
    pub async fn set_enabled(&self, id: &str, enabled: bool, now: u64) -> Result<User, UserError> {
        self.change(id, now, |draft| draft.user.enabled = enabled)
            .await
    }

    /// Moves the account to another e-mail address, or to none.
    ///
    /// # Errors
    /// [`UserError::Email`], [`UserError::EmailTaken`]; as [`Local::change`].
    pub async fn set_email(
        &self,
        id: &str,
        email: Option<&str>,
        verified: bool,
        now: u64,
    ) -> Result<User, UserError> {
        let reserved = self.reserve_email(id, email, now).await?;
        let moved = self.update(id, now, |found| {
            replacement(found, now, |draft| draft.set_email(&reserved, verified))
        });
        let (before, user) = moved.await?;
        self.release_email(&before, &user, now).await?;
        Ok(user)
    }

    /// Keeps an address for an account until a change gives it ([`UserDraft::set_email`]).
    ///
    /// # Errors
    /// [`UserError::Email`], [`UserError::EmailTaken`], the store's.
    pub(crate) async fn reserve_email(
        &self,
        id: &str,
        email: Option<&str>,
        now: u64,
    ) -> Result<ReservedEmail, UserError> {
        let Some(email) = email else {
            return Ok(ReservedEmail::NONE);
        };
        let folded = folded_email(email)?;
        match self.reserve(email, id, now).await? {
            true => Ok(ReservedEmail::of(folded)),
            false => Err(UserError::EmailTaken),
        }
    }

    /// Frees the address that an account had before a change.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn release_email(
        &self,
        before: &User,
        after: &User,
        now: u64,
    ) -> Result<(), UserError> {
        for name in before.email.iter().flat_map(|email| spellings(email)) {
            if !is_name_of(&name, after) {
                self.release(&name, &after.id, now).await?;
            }
        }
        Ok(())
    }

    /// Removes the account, its credentials and its names. The caller revokes what the user holds.
    ///
    /// # Errors
    /// [`UserError::NotFound`], [`UserError::Conflict`], the store's.
    pub async fn remove(&self, id: &str, now: u64) -> Result<User, UserError> {
        let removed = self.update(id, now, |found| {
            // Behind a removal nobody can look up whose id it was.
            signet_audit::name_target(id, &found.user.username);
            let credentials = found.user.credentials.iter();
            let keys = credentials.map(|name| name.key(id));
            let keys = keys.chain(found.user.link.as_ref().map(|link| link.key()));
            let linked = found
                .user
                .credentials
                .iter()
                .filter_map(crate::credential::lead);
            let keys = keys.chain(linked);
            let mut then: Vec<Op> = keys.map(|key| Op::Delete { key }).collect();
            let room = MAX_THEN.saturating_sub(then.len());
            then.extend(group_marks(&found.user.groups, &[]).into_iter().take(room));
            let change = Change {
                // A credential that was added since has changed the version: none is left behind.
                first: Op::Remove {
                    key: user_key(id),
                    version: found.version,
                },
                then,
            };
            Ok((found.user, change))
        });
        let (_, user) = removed.await?;
        for name in [Some(&*user.username), user.email.as_deref()] {
            for spelled in name.map(spellings).unwrap_or_default() {
                self.release(&spelled, id, now).await?;
            }
        }
        Ok(user)
    }

    /// The account before and after the change that `step` makes of it, tried again where somebody
    /// else was faster.
    pub(crate) async fn update(
        &self,
        id: &str,
        now: u64,
        step: impl Fn(StoredUser) -> Result<(User, Change), UserError>,
    ) -> Result<(User, User), UserError> {
        for _ in 0..MAX_TRIES {
            let found = self.found(id, now).await?.ok_or(UserError::NotFound)?;
            let before = found.user.clone();
            let (user, change) = step(found)?;
            if self.store.commit(change, now).await?.is_done() {
                return Ok((before, user));
            }
        }
        Err(UserError::Conflict)
    }

    /// The password that is kept for this account.
    pub(crate) async fn password(
        &self,
        id: &str,
        now: u64,
    ) -> Result<Option<StoredPassword>, UserError> {
        let key = CredentialName::PASSWORD.key(id);
        if let Some(row) = self.store.get(&key, now).await? {
            let phc = String::from_utf8(row.value);
            let phc = phc.map_err(|_| StoreError::Corrupt("password".into()))?;
            return Ok(Some(StoredPassword {
                phc: Secret::new(phc),
                version: Some(row.version),
            }));
        }
        let unmoved = self.found(id, now).await?.and_then(|found| found.unmoved);
        Ok(unmoved.map(|phc| StoredPassword { phc, version: None }))
    }

    /// Puts another hash of the same password in the place of one that was read; not where it was
    /// changed since. Nothing ends by it, and no time changes. Whether it was done.
    pub(crate) async fn rehash(
        &self,
        id: &str,
        before: &StoredPassword,
        phc: &str,
        now: u64,
    ) -> Result<bool, UserError> {
        let change = match before.version {
            Some(version) => Change::new(Op::Replace {
                key: CredentialName::PASSWORD.key(id),
                version,
                value: phc.as_bytes().to_vec(),
                end: None,
            }),
            None => {
                let Some(found) = self.found(id, now).await? else {
                    return Ok(false);
                };
                if found.unmoved.as_ref() != Some(&before.phc) {
                    return Ok(false);
                }
                let updated_at = found.user.updated_at;
                let put = |draft: &mut UserDraft| {
                    draft.put(CredentialName::PASSWORD, phc.as_bytes().to_vec());
                };
                rewritten(found, updated_at, put)?.1
            }
        };
        Ok(self.store.commit(change, now).await?.is_done())
    }

    async fn owner_of(&self, folded: &str, now: u64) -> Result<Option<String>, UserError> {
        let row = self.store.get(&lookup_key(folded), now).await?;
        Ok(row.and_then(|row| String::from_utf8(row.value).ok()))
    }

    /// Who has a name in this spelling. The record decides: a row that was left behind names
    /// nobody.
    pub(crate) async fn holder_of(
        &self,
        spelled: &str,
        now: u64,
    ) -> Result<Option<User>, UserError> {
        let Some(id) = self.owner_of(spelled, now).await? else {
            return Ok(None);
        };
        let user = self.by_id(&id, now).await?;
        Ok(user.filter(|user| is_name_of(spelled, user)))
    }

    /// Keeps a name for `id` until the change that gives it to the account ([`claimed`]) or, where
    /// none comes, for [`RESERVED_FOR`]: until then nobody takes it over, though no account has it.
    /// Whether it is kept; not where an account has it, in whatever spelling.
    pub(crate) async fn reserve(&self, name: &str, id: &str, now: u64) -> Result<bool, UserError> {
        let Some(folded) = fold(name) else {
            return Ok(false);
        };
        for spelled in spellings(name).iter().filter(|one| **one != folded) {
            if self
                .holder_of(spelled, now)
                .await?
                .is_some_and(|user| user.id != id)
            {
                return Ok(false);
            }
        }
        let (key, value) = (lookup_key(&folded), id.as_bytes().to_vec());
        let end = Some(now + RESERVED_FOR);
        let insert = Op::Insert {
            key: key.clone(),
            value: value.clone(),
            end,
        };
        // The account's own change carries the audit record of what is done: what is refused after
        // this must not be recorded as done.
        let kept = signet_audit::outside_act(self.store.commit(only(insert), now));
        let Outcome::Refused(row) = kept.await? else {
            return Ok(true);
        };
        let Some(row) = row else {
            return Ok(false);
        };
        if row.value == value {
            return Ok(true);
        }
        // Somebody is about to have it, or has it.
        if row.end.is_some() || self.holder_of(&folded, now).await?.is_some() {
            return Ok(false);
        }
        let take_over = Op::Replace {
            key,
            version: row.version,
            value,
            end,
        };
        let taken = signet_audit::outside_act(self.store.commit(only(take_over), now));
        Ok(taken.await?.is_done())
    }

    /// Makes a name lead to an account that has it already, where it leads to nobody. Whether it
    /// does now.
    pub(crate) async fn claim(&self, name: &str, id: &str, now: u64) -> Result<bool, UserError> {
        let Some(folded) = fold(name) else {
            return Ok(false);
        };
        if self.owner_of(&folded, now).await?.as_deref() == Some(id) {
            return Ok(true);
        }
        if !self.reserve(name, id, now).await? {
            return Ok(false);
        }
        let outcome = self.store.commit(only(claimed(&folded, id)), now).await?;
        Ok(outcome.is_done())
    }

    /// Frees a name that is an account's.
    pub(crate) async fn release(&self, folded: &str, id: &str, now: u64) -> Result<(), UserError> {
        let key = lookup_key(folded);
        let Some(row) = self.store.get(&key, now).await? else {
            return Ok(());
        };
        if row.value == id.as_bytes() {
            let remove = Op::Remove {
                key,
                version: row.version,
            };
            // Refused: somebody else has it now, and keeps it. No act is done by this change: of an
            // account that was not made, it must not carry the record that it was.
            signet_audit::outside_act(self.store.commit(only(remove), now)).await?;
        }
        Ok(())
    }
}

/// Whether the folded text is the user's name or address.
fn is_name_of(folded: &str, user: &User) -> bool {
    let names = [Some(&*user.username), user.email.as_deref()];
    let mut names = names.into_iter().flatten();
    names.any(|name| spellings(name).iter().any(|own| own == folded))
}

fn only(first: Op) -> Change {
    Change::new(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credential::CredentialKind;
    use signet_store::MemoryStore;

    fn users() -> Local {
        Local::new(Arc::new(MemoryStore::new()))
    }

    fn new(username: &str, email: Option<&str>) -> NewUser {
        NewUser {
            username: username.into(),
            email: email.map(str::to_owned),
            ..NewUser::default()
        }
    }

    #[tokio::test]
    async fn a_user_is_found_by_name_and_address_in_any_case() {
        let users = users();
        let alice = users
            .create(new("Alice", Some("Alice@Example.test")), 1)
            .await
            .unwrap();
        for typed in ["alice", " ALICE ", "alice@example.test", "\u{ff21}lice"] {
            let found = users.by_login(typed, 1).await.unwrap();
            assert_eq!(found.as_ref(), Some(&alice), "{typed}");
        }
        assert_eq!(users.by_login("bob", 1).await.unwrap(), None);
        assert_eq!(alice.username, "Alice");
    }

    #[tokio::test]
    async fn names_and_addresses_have_one_owner() {
        let users = users();
        users
            .create(new("alice", Some("a@example.test")), 1)
            .await
            .unwrap();
        let taken = users.create(new("ALICE", Some("b@example.test")), 1).await;
        assert!(matches!(taken, Err(UserError::UsernameTaken)));
        let taken = users.create(new("bob", Some("A@example.test")), 1).await;
        assert!(matches!(taken, Err(UserError::EmailTaken)));
        // What failed left nothing behind.
        users
            .create(new("bob", Some("b@example.test")), 1)
            .await
            .unwrap();
        assert_eq!(users.list(None, 10, 1).await.unwrap().len(), 2);
    }

    #[tokio::test]
    async fn a_name_that_looks_like_somebody_elses_address_is_refused() {
        let users = users();
        let grab = users.create(new("victim@example.test", None), 1).await;
        assert!(matches!(grab, Err(UserError::Username)));
        users
            .create(new("me@example.test", Some("me@example.test")), 1)
            .await
            .unwrap();
    }

    #[tokio::test]
    async fn of_racing_registrations_one_gets_the_name() {
        let users = users();
        let racers: Vec<_> = (0..20)
            .map(|_| {
                let users = users.clone();
                tokio::spawn(async move { users.create(new("alice", None), 1).await })
            })
            .collect();
        let mut created = Vec::new();
        for racer in racers {
            created.extend(racer.await.unwrap().ok());
        }
        assert_eq!(created.len(), 1);
        let found = users.by_login("alice", 1).await.unwrap();
        assert_eq!(found.unwrap().id, created[0].id);
    }

    #[tokio::test]
    async fn a_name_left_behind_by_a_crash_can_be_taken() {
        let users = users();
        let stale = Op::Insert {
            key: lookup_key("alice"),
            value: b"nobody".to_vec(),
            end: None,
        };
        users.store.commit(only(stale), 1).await.unwrap();
        assert_eq!(users.by_login("alice", 1).await.unwrap(), None);
        users.create(new("alice", None), 1).await.unwrap();
    }

    // An account is about to have it: until its change came, or could not come any more, nobody
    // else takes it.
    #[tokio::test]
    async fn a_name_that_is_kept_is_nobody_elses() {
        let users = users();
        assert!(users.reserve("Alice", "one", 1).await.unwrap());
        assert!(users.reserve("alice", "one", 1).await.unwrap());
        assert!(!users.reserve("alice", "two", RESERVED_FOR).await.unwrap());
        assert_eq!(users.by_login("alice", 1).await.unwrap(), None);
        let taken = users.create(new("alice", None), RESERVED_FOR).await;
        assert!(matches!(taken, Err(UserError::UsernameTaken)));
        let later = 1 + RESERVED_FOR;
        users.create(new("alice", None), later).await.unwrap();
        assert!(!users.reserve("alice", "one", later).await.unwrap());
    }

    /// An account of a version whose fold was another: its rows are as they were written then.
    async fn of_another_fold(users: &Local, name: &str, row: &str) -> User {
        let user = User {
            username: name.into(),
            ..User::plain(new_id(), 1)
        };
        let record = Op::Insert {
            key: user_key(&user.id),
            value: encode(&user),
            end: None,
        };
        let rows = only(record).then(claimed(row, &user.id));
        users.store.commit(rows, 1).await.unwrap();
        user
    }

    #[tokio::test]
    async fn an_account_is_found_under_the_fold_of_its_time() {
        let users = users();
        let fish = of_another_fold(&users, "\u{fb01}sh", "\u{fb01}sh").await;
        // First under its row, and then, because nobody else had it, under what it is now.
        assert_eq!(users.by_login("fish", 1).await.unwrap(), None);
        let taken = users.create(new("\u{fb01}sh", None), 1).await;
        assert!(matches!(taken, Err(UserError::Username)));
        for typed in ["\u{fb01}sh", "\u{fb01}SH", "fish"] {
            let found = users.by_login(typed, 1).await.unwrap();
            assert_eq!(found.unwrap().id, fish.id, "{typed}");
        }
        let taken = users.create(new("fish", None), 1).await;
        assert!(matches!(taken, Err(UserError::UsernameTaken)));
        users.remove(&fish.id, 2).await.unwrap();
        let rows = users.store.page(Table::UserLookup, None, 9, 2).await;
        assert_eq!(rows.unwrap(), []);
        // Two who are one now: each continues with what they type.
        let composed = of_another_fold(&users, "zo\u{eb}", "zo\u{eb}").await;
        let marked = of_another_fold(&users, "zoe\u{308}", "zoe\u{308}").await;
        for (typed, id) in [("zo\u{eb}", &composed.id), ("zoe\u{308}", &marked.id)] {
            let found = users.by_login(typed, 1).await.unwrap();
            assert_eq!(found.unwrap().id, *id);
        }
    }

    #[tokio::test]
    async fn an_address_is_kept_and_found_in_its_one_spelling() {
        let users = users();
        let ann = users
            .create(new("ann", Some("Ann@M\u{fc}nchen.example")), 1)
            .await
            .unwrap();
        assert_eq!(ann.email.as_deref(), Some("ann@xn--mnchen-3ya.example"));
        for typed in ["ann@m\u{fc}nchen.example", "ANN@XN--MNCHEN-3YA.example"] {
            let found = users.by_login(typed, 1).await.unwrap();
            assert_eq!(found.unwrap().id, ann.id, "{typed}");
            let taken = users.create(new("bob", Some(typed)), 1).await;
            assert!(matches!(taken, Err(UserError::EmailTaken)), "{typed}");
        }
        // As an earlier version wrote it.
        let old = User {
            email: Some("Old@N\u{f6}rd.example".into()),
            ..of_another_fold(&users, "old", "old").await
        };
        let put = Op::Put {
            key: user_key(&old.id),
            value: encode(&old),
            end: None,
        };
        let rows = only(put).then(claimed("old@n\u{f6}rd.example", &old.id));
        users.store.commit(rows, 1).await.unwrap();
        for typed in ["old@xn--nrd-sna.example", "old@n\u{f6}rd.example"] {
            let found = users.by_login(typed, 1).await.unwrap();
            assert_eq!(found.unwrap().id, old.id, "{typed}");
            let taken = users.set_email(&ann.id, Some(typed), true, 2).await;
            assert!(matches!(taken, Err(UserError::EmailTaken)), "{typed}");
        }
    }

    #[tokio::test]
    async fn a_new_account_is_there_whole_or_not_at_all() {
        let users = users();
        let more = NewUser {
            external_id: Some("x".into()),
            disabled: true,
            ..new("bob", Some("b@example.test"))
        };
        let bob = users.create(more, 1).await.unwrap();
        assert_eq!(
            (bob.enabled, bob.external_id.as_deref()),
            (false, Some("x"))
        );
        // Its rows are its own for good.
        let rows = users.store.page(Table::UserLookup, None, 9, 1).await;
        assert!(rows.unwrap().iter().all(|(_, row)| row.end.is_none()));
    }

    #[tokio::test]
    async fn an_address_moves_and_frees_the_old_one() {
        let users = users();
        let alice = users
            .create(new("alice", Some("a@example.test")), 1)
            .await
            .unwrap();
        let moved = users.set_email(&alice.id, Some("b@example.test"), true, 2);
        assert!(moved.await.unwrap().email_verified);
        assert_eq!(users.by_login("a@example.test", 2).await.unwrap(), None);
        assert!(users.by_login("b@example.test", 2).await.unwrap().is_some());
        users
            .create(new("bob", Some("a@example.test")), 2)
            .await
            .unwrap();
        let taken = users.set_email(&alice.id, Some("a@example.test"), true, 3);
        assert!(matches!(taken.await, Err(UserError::EmailTaken)));
    }

    #[tokio::test]
    async fn changes_keep_what_others_wrote_and_never_the_identity() {
        let users = users();
        let alice = users.create(new("alice", None), 1).await.unwrap();
        users.set_password(&alice.id, Some("phc"), 2).await.unwrap();
        let changed = users
            .change(&alice.id, 3, |draft| {
                let user = &mut draft.user;
                user.admin = true;
                user.id = "other".into();
                user.username = "other".into();
                user.email = Some("x@example.test".into());
            })
            .await
            .unwrap();
        assert!(changed.admin);
        let kept = users.password(&alice.id, 3).await.unwrap().unwrap();
        assert_eq!(kept.phc.expose(), "phc");
        assert_eq!(
            (&changed.id, &changed.username),
            (&alice.id, &alice.username)
        );
        assert_eq!(changed.email, None);
        users.remove(&alice.id, 4).await.unwrap();
        assert_eq!(users.by_login("alice", 4).await.unwrap(), None);
        users.create(new("alice", None), 5).await.unwrap();
    }

    /// An account as it was written when records had the password in them.
    async fn of_before(users: &Local, name: &str, phc: &str) -> User {
        let user = users.create(new(name, None), 1).await.unwrap();
        let mut record: serde_json::Value = serde_json::to_value(&user).unwrap();
        let members = record.as_object_mut().unwrap();
        members.remove("credentials");
        members.insert("password".into(), phc.into());
        members.insert("password_changed_at".into(), 7.into());
        let put = Op::Put {
            key: user_key(&user.id),
            value: serde_json::to_vec(&record).unwrap(),
            end: None,
        };
        users.store.commit(only(put), 1).await.unwrap();
        users.by_id(&user.id, 1).await.unwrap().unwrap()
    }

    async fn record(users: &Local, id: &str) -> String {
        let row = users.store.get(&user_key(id), 1).await.unwrap().unwrap();
        String::from_utf8(row.value).unwrap()
    }

    async fn phc(users: &Local, id: &str) -> Option<String> {
        let kept = users.password(id, 1).await.unwrap();
        kept.map(|kept| kept.phc.expose().clone())
    }

    #[tokio::test]
    async fn a_password_is_no_part_of_the_record() {
        let users = users();
        let with = NewUser {
            password: Some("$phc$".into()),
            ..new("alice", None)
        };
        let alice = users.create(with, 1).await.unwrap();
        assert!(alice.has(CredentialKind::Password));
        assert!(!record(&users, &alice.id).await.contains("$phc$"));
        assert_eq!(phc(&users, &alice.id).await.as_deref(), Some("$phc$"));
    }

    async fn put_record(users: &Local, id: &str, record: &serde_json::Value) {
        let put = Op::Put {
            key: user_key(id),
            value: serde_json::to_vec(record).unwrap(),
            end: None,
        };
        users.store.commit(only(put), 1).await.unwrap();
    }

    #[tokio::test]
    async fn what_a_later_version_wrote_is_kept_when_the_account_is_changed_here() {
        let users = users();
        let alice = users.create(new("alice", None), 1).await.unwrap();
        let mut record = serde_json::to_value(&alice).unwrap();
        let later = serde_json::json!({ "level": 3, "of": ["a", null] });
        record["later"] = later.clone();
        put_record(&users, &alice.id, &record).await;
        let read = users.by_id(&alice.id, 1).await.unwrap().unwrap();
        assert!(!format!("{read:?}").contains("level"), "it may be secret");
        users.set_enabled(&alice.id, false, 2).await.unwrap();
        users
            .set_password(&alice.id, Some("$phc$"), 3)
            .await
            .unwrap();
        let text = self::record(&users, &alice.id).await;
        let kept: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(kept["later"], later);
        assert_eq!(kept["enabled"], false);
        // Not twice, and nothing more.
        assert_eq!(text.matches("later").count(), 1);
    }

    // It may be a second factor: nobody logs in without what this version cannot ask for.
    #[tokio::test]
    async fn an_account_with_a_credential_of_a_later_version_cannot_be_read() {
        let users = users();
        let alice = users.create(new("alice", None), 1).await.unwrap();
        let mut record = serde_json::to_value(&alice).unwrap();
        let later = serde_json::json!({ "kind": "of_a_later_version", "id": "x" });
        record["credentials"] = serde_json::json!([later]);
        put_record(&users, &alice.id, &record).await;
        assert!(users.by_id(&alice.id, 1).await.is_err());
        assert!(users.by_login("alice", 1).await.is_err());
        assert!(users.set_enabled(&alice.id, false, 2).await.is_err());
    }

    #[tokio::test]
    async fn a_record_with_the_password_in_it_works_and_the_next_change_moves_it() {
        let users = users();
        let alice = of_before(&users, "alice", "$old$").await;
        assert!(alice.has(CredentialKind::Password));
        assert_eq!(alice.password_changed_at, 7);
        assert_eq!(phc(&users, &alice.id).await.as_deref(), Some("$old$"));
        assert!(users.list(None, 9, 1).await.unwrap()[0].has(CredentialKind::Password));
        users.set_enabled(&alice.id, false, 2).await.unwrap();
        assert!(!record(&users, &alice.id).await.contains("$old$"));
        assert_eq!(phc(&users, &alice.id).await.as_deref(), Some("$old$"));
        // What replaces it, or takes it away, does so wherever it was.
        for (name, next) in [("bob", Some("$new$")), ("carol", None)] {
            let user = of_before(&users, name, "$old$").await;
            let changed = users.set_password(&user.id, next, 2).await.unwrap();
            assert_eq!(changed.has(CredentialKind::Password), next.is_some());
            assert_eq!(phc(&users, &user.id).await.as_deref(), next);
            assert!(!record(&users, &user.id).await.contains("$old$"));
        }
    }

    #[tokio::test]
    async fn another_hash_of_a_password_never_replaces_another_password() {
        let users = users();
        let moved = NewUser {
            password: Some("$old$".into()),
            ..new("alice", None)
        };
        let alice = users.create(moved, 1).await.unwrap();
        let bob = of_before(&users, "bob", "$old$").await;
        for user in [alice, bob] {
            let read = users.password(&user.id, 1).await.unwrap().unwrap();
            assert!(users.rehash(&user.id, &read, "$dear$", 2).await.unwrap());
            assert_eq!(phc(&users, &user.id).await.as_deref(), Some("$dear$"));
            let after = users.by_id(&user.id, 2).await.unwrap().unwrap();
            let times = |user: &User| (user.updated_at, user.password_changed_at);
            assert_eq!(times(&after), times(&user));
            // What was read before is not there any more.
            assert!(!users.rehash(&user.id, &read, "$late$", 2).await.unwrap());
            let read = users.password(&user.id, 1).await.unwrap().unwrap();
            users
                .set_password(&user.id, Some("$other$"), 3)
                .await
                .unwrap();
            assert!(!users.rehash(&user.id, &read, "$late$", 3).await.unwrap());
            assert_eq!(phc(&users, &user.id).await.as_deref(), Some("$other$"));
            users.remove(&user.id, 4).await.unwrap();
            assert!(!users.rehash(&user.id, &read, "$late$", 4).await.unwrap());
            assert_eq!(phc(&users, &user.id).await, None);
        }
    }

    #[tokio::test]
    async fn a_removed_user_leaves_no_credential_behind() {
        let users = users();
        let with = NewUser {
            password: Some("$phc$".into()),
            ..new("alice", None)
        };
        let alice = users.create(with, 1).await.unwrap();
        users.remove(&alice.id, 2).await.unwrap();
        let rows = users.store.page(Table::Credential, None, 9, 2).await;
        assert_eq!(rows.unwrap(), []);
    }
}
