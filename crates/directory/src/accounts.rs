//! The accounts of a realm, kept here or by a directory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use signet_crypto::Secret;
use signet_store::{Change, Op, Outcome, Store, StoreError};

use crate::credential::CredentialKind;
use crate::draft::{ReservedEmail, StoredUser, UserDraft, encode, rewritten, user_key};
use crate::error::UserError;
use crate::local::{Local, MAX_TRIES, NewUser, StoredPassword, new_id};
use crate::name::{fold, folded_email, folded_username};
use crate::outside::{Capabilities, Directory, PasswordVerdict, Person};
use crate::passwords::{PasswordPool, PoolError, Waiter};
use crate::people_index::{LEAST, MAX_INDEXED, Noting, PeopleIndex, Texts};
use crate::record::MAX_USER_GROUPS;
use crate::record::{DeletionStage, DirectoryLink, Profile, User};

/// For how long a directory's word of a person is taken as it was, seconds: somebody who is removed
/// there is out after that.
const FRESH: u64 = 300;
/// People of directories outside whose last answer is remembered.
pub const MAX_REMEMBERED: usize = 10_000;

/// What a directory said of a person, and when. None: it has them no more.
type Remembered = HashMap<String, (u64, Option<Person>)>;

/// The accounts of a realm: those that are kept here, and those of directories outside.
///
/// Who is meant by a name is decided in order: the accounts here first, then each directory. So
/// nobody outside can take the name of an account here; and none is made here with a name that a
/// directory has.
#[derive(Clone)]
pub struct Accounts {
    local: Local,
    passwords: Arc<PasswordPool>,
    outside: Arc<[Arc<dyn Directory>]>,
    remembered: Arc<Mutex<Remembered>>,
    index: Arc<PeopleIndex>,
}

/// Accounts that are read at once for the index.
const INDEXED_AT_ONCE: usize = 500;

impl Accounts {
    /// The accounts of this store, and of these directories.
    pub fn new(
        store: Arc<dyn Store>,
        passwords: Arc<PasswordPool>,
        outside: Vec<Arc<dyn Directory>>,
    ) -> Accounts {
        let index: Arc<PeopleIndex> = Arc::default();
        let store = Arc::new(Noting {
            inner: store,
            index: Arc::clone(&index),
        });
        Accounts {
            index,
            local: Local::new(store),
            passwords,
            outside: outside.into(),
            remembered: Arc::default(),
        }
    }

    /// The user that this user name or e-mail address names; one that has expired is not enabled.
    /// None also where the text cannot be a name. A directory's person who is seen for the first
    /// time gets an account by it.
    ///
    /// # Errors
    /// A directory's and the store's.
    pub async fn by_login(&self, typed: &str, now: u64) -> Result<Option<User>, UserError> {
        match self.local.by_login(typed, now).await? {
            Some(user) if user.link.is_some() => return self.by_id(&user.id, now).await,
            Some(user) => return Ok(Some(user.at(now))),
            None => {}
        }
        let Some(folded) = fold(typed) else {
            return Ok(None);
        };
        for directory in self.outside.iter() {
            if let Some(person) = directory.find(&folded).await?.and_then(Person::cleaned) {
                return self.admit(&**directory, person, now).await.map(Some);
            }
        }
        Ok(None)
    }

    /// The user with this id. One that has expired is not enabled. Where a directory has the person
    /// no more, or keeps them out, they are not enabled.
    ///
    /// # Errors
    /// The store's. A directory that fails changes nothing: its last answer stays in force.
    pub async fn by_id(&self, id: &str, now: u64) -> Result<Option<User>, UserError> {
        let Some(user) = self.local.by_id(id, now).await? else {
            return Ok(None);
        };
        let user = user.at(now);
        let Some(link) = user.link.clone() else {
            return Ok(Some(user));
        };
        let Some(directory) = self.directory(&link) else {
            return Ok(Some(User {
                enabled: false,
                ..user
            }));
        };
        let known = self.remembered().get(id).cloned();
        let fresh = |at: u64| now.saturating_sub(at) < FRESH;
        let person = match known {
            Some((at, person)) if fresh(at) => person,
            known => match directory.by_id(&link.person).await {
                Ok(person) => {
                    let person = person.and_then(Person::cleaned);
                    self.remember(id, now, person.clone());
                    person
                }
                Err(error) => {
                    tracing::warn!(%error, "failed to query the directory; using its last answer");
                    match known {
                        Some((_, person)) => person,
                        None => return Ok(Some(user)),
                    }
                }
            },
        };
        Ok(Some(match person {
            Some(person) => person.over(user, directory.may()),
            None => User {
                enabled: false,
                ..user
            },
        }))
    }

    /// The account with this id as it is kept here, as a change has it as its condition.
    ///
    /// # Errors
    /// The store's.
    pub async fn found(&self, id: &str, now: u64) -> Result<Option<StoredUser>, UserError> {
        let found = self.local.found(id, now).await?;
        Ok(found.map(|found| self.allowed(found)))
    }

    /// A page of all accounts, as they are kept here; never on a request of a person's way.
    ///
    /// # Errors
    /// The store's.
    pub async fn list(
        &self,
        after: Option<&str>,
        limit: usize,
        now: u64,
    ) -> Result<Vec<User>, UserError> {
        self.local.list(after, limit, now).await
    }

    /// People who have these words (in lower case) in a name or the address, in the order of
    /// [`Accounts::list`], after this one, `limit` at most. None: there is no index, and the caller
    /// reads on by itself.
    ///
    /// # Errors
    /// The store's.
    pub async fn search(
        &self,
        words: &str,
        after: Option<&str>,
        limit: usize,
        now: u64,
    ) -> Result<Option<Vec<User>>, UserError> {
        let (mut found, mut after) = (Vec::new(), after.map(str::to_owned));
        while found.len() < limit {
            let Some(ids) = self.index.find(words, after.as_deref(), limit, now) else {
                return Ok(None);
            };
            let Some(last) = ids.last().cloned() else {
                break;
            };
            for id in ids {
                // As it is kept here, like a list: no directory is asked.
                let user = self.local.by_id(&id, now).await?;
                found.extend(user.filter(|user| user.has_words(words)));
            }
            after = Some(last);
        }
        found.truncate(limit);
        Ok(Some(found))
    }

    /// Makes the index for [`Accounts::search`] again, where somebody has searched lately. Whether
    /// it did.
    ///
    /// # Errors
    /// The store's; then the one before stays.
    pub async fn index(&self, now: u64) -> Result<bool, UserError> {
        if !self.index.is_wanted(now) {
            return Ok(false);
        }
        let begun = self.index.begin();
        let (mut texts, mut after): (Texts, Option<String>) = (Texts::default(), None);
        loop {
            let read = self.list(after.as_deref(), INDEXED_AT_ONCE, now).await?;
            read.iter().for_each(|user| texts.push(user));
            after = read.last().map(|user| user.id.clone());
            if read.len() < INDEXED_AT_ONCE || texts.len() > MAX_INDEXED {
                break;
            }
        }
        let is_worth_it = (LEAST..=MAX_INDEXED).contains(&texts.len());
        self.index.finish(begun, is_worth_it.then_some(texts));
        Ok(true)
    }

    /// What may be changed of this account here.
    pub fn may(&self, user: &User) -> Capabilities {
        match &user.link {
            None => Capabilities::ALL,
            Some(link) => match self.directory(link) {
                Some(directory) => directory.may(),
                None => Capabilities::NONE,
            },
        }
    }

    /// Whether the person can log in by a password, wherever it is kept.
    pub fn has_password(&self, user: &User) -> bool {
        user.has(CredentialKind::Password) || !self.may(user).password
    }

    /// Whether this is the password of this account. Where there is no account it takes as long as
    /// for one that is kept here.
    ///
    /// # Errors
    /// A directory's and the store's.
    pub async fn verify_password(
        &self,
        user: Option<&User>,
        password: Secret<String>,
        waiter: Waiter,
        now: u64,
    ) -> Result<PasswordVerdict, UserError> {
        if let Some(user) = user
            && let Some(link) = &user.link
            && !self.may(user).password
        {
            return match self.directory(link) {
                Some(directory) => Ok(directory.verify_password(&link.person, password).await?),
                None => Ok(PasswordVerdict::Wrong),
            };
        }
        let kept = match user {
            Some(user) => self.local.password(&user.id, now).await?,
            None => None,
        };
        let phc = kept.as_ref().map(|kept| &**kept.phc.expose());
        let again = phc
            .is_some_and(|phc| self.passwords.needs_rehash(phc))
            .then(|| password.clone());
        Ok(match self.passwords.verify(password, phc, waiter).await {
            Ok(true) => {
                if let (Some(user), Some(kept), Some(password)) = (user, kept, again) {
                    self.rehash(user.id.clone(), kept, password, now);
                }
                PasswordVerdict::Right
            }
            Ok(false) | Err(PoolError::TooLong | PoolError::Parameters) => PasswordVerdict::Wrong,
            Err(PoolError::Busy) => PasswordVerdict::Busy,
        })
    }

    /// The hash of the password that is kept here for this account, for who takes the account
    /// elsewhere. None: the account has no password, or a directory keeps it.
    ///
    /// # Errors
    /// The store's.
    pub async fn password_hash(
        &self,
        user: &User,
        now: u64,
    ) -> Result<Option<Secret<String>>, UserError> {
        let kept = self.local.password(&user.id, now).await?;
        Ok(kept.map(|kept| kept.phc))
    }

    /// Hashes a new password, of a person who may set one, to a PHC string.
    ///
    /// # Errors
    /// See [`PoolError`].
    pub async fn hash(&self, password: Secret<String>) -> Result<String, PoolError> {
        self.passwords.hash(password, Waiter::Known).await
    }

    /// Makes an account that is kept here.
    ///
    /// # Errors
    /// As [`Local::create`]; a name that a directory has is taken.
    pub async fn create(&self, new: NewUser, now: u64) -> Result<User, UserError> {
        if self.is_outside(&new.username).await? {
            return Err(UserError::UsernameTaken);
        }
        if let Some(email) = &new.email
            && self.is_outside(email).await?
        {
            return Err(UserError::EmailTaken);
        }
        self.local.create(new, now).await
    }

    /// As [`Local::change`], of what is kept here.
    ///
    /// # Errors
    /// As there; [`UserError::KeptElsewhere`].
    pub async fn change(
        &self,
        id: &str,
        now: u64,
        change: impl Fn(&mut UserDraft),
    ) -> Result<User, UserError> {
        let changed = self.local.update(id, now, |found| {
            crate::draft::replacement(self.allowed(found), now, &change)
        });
        Ok(changed.await?.1)
    }

    /// Applies `change` to the account as it was read. None: somebody else has written it since.
    /// User name, e-mail address and id stay as they are.
    ///
    /// # Errors
    /// As [`Accounts::change`].
    pub async fn change_found(
        &self,
        found: StoredUser,
        now: u64,
        change: impl FnOnce(&mut UserDraft),
    ) -> Result<Option<User>, UserError> {
        let (user, change) = crate::draft::replacement(found, now, change)?;
        let outcome = self.local.store.commit(change, now).await?;
        Ok(outcome.is_done().then_some(user))
    }

    /// As [`Accounts::change`], while `may` holds of the account that the change replaces. None: it
    /// does not.
    ///
    /// # Errors
    /// As [`Accounts::change`]; [`UserError::Conflict`], where others write it all the time.
    pub async fn change_if(
        &self,
        id: &str,
        now: u64,
        may: impl Fn(&User) -> bool,
        change: impl Fn(&mut UserDraft),
    ) -> Result<Option<User>, UserError> {
        for _ in 0..MAX_TRIES {
            let found = self.found(id, now).await?.ok_or(UserError::NotFound)?;
            if !may(&found.user) {
                return Ok(None);
            }
            if let Some(user) = self.change_found(found, now, &change).await? {
                return Ok(Some(user));
            }
        }
        Err(UserError::Conflict)
    }

    /// As [`Local::set_password`].
    ///
    /// # Errors
    /// As [`Accounts::change`].
    pub async fn set_password(
        &self,
        id: &str,
        phc: Option<&str>,
        now: u64,
    ) -> Result<User, UserError> {
        let change = self.change(id, now, |draft| draft.set_password(phc, now));
        change.await
    }

    /// As [`Local::set_enabled`]. A person whom their directory keeps out stays out.
    ///
    /// # Errors
    /// As [`Accounts::change`].
    pub async fn set_enabled(&self, id: &str, enabled: bool, now: u64) -> Result<User, UserError> {
        let change = self.change(id, now, |draft| draft.user.enabled = enabled);
        change.await
    }

    /// As [`Local::set_email`].
    ///
    /// # Errors
    /// As there; [`UserError::KeptElsewhere`]; an address that a directory has is taken.
    pub async fn set_email(
        &self,
        id: &str,
        email: Option<&str>,
        verified: bool,
        now: u64,
    ) -> Result<User, UserError> {
        let found = self.found(id, now).await?.ok_or(UserError::NotFound)?;
        self.expect_free(&found, email).await?;
        self.local.set_email(id, email, verified, now).await
    }

    /// Keeps an address for an account that was read, until a change of it gives the address
    /// ([`UserDraft::set_email`]); [`Accounts::release_email`] comes after that.
    ///
    /// # Errors
    /// As [`Accounts::set_email`].
    pub async fn reserve_email(
        &self,
        found: &StoredUser,
        email: Option<&str>,
        now: u64,
    ) -> Result<ReservedEmail, UserError> {
        self.expect_free(found, email).await?;
        self.local.reserve_email(&found.user.id, email, now).await
    }

    /// Frees the address that an account had before a change.
    ///
    /// # Errors
    /// The store's.
    pub async fn release_email(
        &self,
        before: &User,
        after: &User,
        now: u64,
    ) -> Result<(), UserError> {
        self.local.release_email(before, after, now).await
    }

    /// Whether the account may have this address, as far as directories are asked.
    async fn expect_free(&self, found: &StoredUser, email: Option<&str>) -> Result<(), UserError> {
        if !found.may.mail {
            return Err(UserError::KeptElsewhere("the e-mail address"));
        }
        match email {
            Some(email) if found.user.link.is_none() && self.is_outside(email).await? => {
                Err(UserError::EmailTaken)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Whether some people are known to directories outside alone, whose names have no rows here.
    pub fn has_directories(&self) -> bool {
        !self.outside.is_empty()
    }

    /// A page of all accounts as changes have them as their condition; as [`Accounts::list`].
    ///
    /// # Errors
    /// The store's.
    pub async fn list_found(
        &self,
        after: Option<&str>,
        limit: usize,
        now: u64,
    ) -> Result<Vec<StoredUser>, UserError> {
        let read = self.local.list_found(after, limit, now).await?;
        Ok(read.into_iter().map(|found| self.allowed(found)).collect())
    }

    /// How many accounts come after this one in [`Accounts::list`]; none of them is read.
    ///
    /// # Errors
    /// The store's.
    pub async fn count_after(&self, after: Option<&str>, now: u64) -> Result<usize, UserError> {
        self.local.count_after(after, now).await
    }

    /// As [`Local::remove`].
    ///
    /// # Errors
    /// As there; [`UserError::KeptElsewhere`].
    pub async fn remove(&self, id: &str, now: u64) -> Result<User, UserError> {
        let found = self.found(id, now).await?.ok_or(UserError::NotFound)?;
        if !found.may.remove {
            return Err(UserError::KeptElsewhere("the account"));
        }
        self.local.remove(id, now).await
    }

    /// Rehashes a password that was right, at today's cost. Nobody waits for it; where it cannot be
    /// done now, the next login does it.
    fn rehash(&self, id: String, kept: StoredPassword, password: Secret<String>, now: u64) {
        let (local, passwords) = (self.local.clone(), Arc::clone(&self.passwords));
        tokio::spawn(async move {
            let phc = match passwords.hash(password, Waiter::Spare).await {
                Ok(phc) => phc,
                Err(PoolError::Busy) => return,
                Err(error @ (PoolError::TooLong | PoolError::Parameters)) => {
                    tracing::warn!(%error, user = %id, "failed to rehash a password at the current cost");
                    return;
                }
            };
            // Not done: it was changed meanwhile, and stays as it was changed.
            if let Err(error) = local.rehash(&id, &kept, &phc, now).await {
                tracing::warn!(%error, user = %id, "failed to store a rehashed password");
            }
        });
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.local.store
    }

    pub(crate) fn local(&self) -> &Local {
        &self.local
    }

    fn directory(&self, link: &DirectoryLink) -> Option<&dyn Directory> {
        let named = |directory: &&Arc<dyn Directory>| directory.name() == link.directory;
        self.outside.iter().find(named).map(|found| &**found)
    }

    fn allowed(&self, found: StoredUser) -> StoredUser {
        StoredUser {
            may: self.may(&found.user),
            ..found
        }
    }

    /// Whether a directory has this name.
    pub(crate) async fn is_outside(&self, typed: &str) -> Result<bool, UserError> {
        let Some(folded) = fold(typed) else {
            return Ok(false);
        };
        for directory in self.outside.iter() {
            if directory.find(&folded).await?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The account of a directory's person, made if missing: the link is inserted once,
    /// together with the account, so that of racing first logins all get the same `sub`.
    async fn admit(
        &self,
        directory: &dyn Directory,
        person: Person,
        now: u64,
    ) -> Result<User, UserError> {
        let link = DirectoryLink {
            directory: directory.name().to_owned(),
            person: person.id.clone(),
        };
        let (key, may) = (link.key(), directory.may());
        for _ in 0..MAX_TRIES {
            let linked = self.local.store.get(&key, now).await?;
            let Some(row) = linked else {
                let user = person
                    .clone()
                    .over(User::linked(new_id(), link.clone(), now), may);
                // Whether the directory lets the person in is its own to say, each time.
                let kept = User {
                    enabled: true,
                    ..user.clone()
                };
                let insert = Op::Insert {
                    key: key.clone(),
                    value: user.id.as_bytes().to_vec(),
                    end: None,
                };
                let change = Change::new(insert).then(Op::Put {
                    key: user_key(&user.id),
                    value: encode(&kept),
                    end: None,
                });
                match self.local.store.commit(change, now).await? {
                    Outcome::Done { .. } => {
                        self.remember(&user.id, now, Some(person));
                        return Ok(user);
                    }
                    Outcome::Refused(_) => continue,
                }
            };
            let id = String::from_utf8(row.value);
            let id = id.map_err(|_| StoreError::Corrupt("link of a person".into()))?;
            // The link goes with the account, in one change: without an account it is about to be
            // gone.
            let Some(found) = self.local.found(&id, now).await? else {
                continue;
            };
            self.remember(&id, now, Some(person.clone()));
            let user = person.clone().over(found.user.clone(), may);
            let kept = User {
                enabled: found.user.enabled,
                ..user.clone()
            };
            if kept != found.user {
                let found = StoredUser {
                    may: Capabilities::ALL,
                    ..found
                };
                let (_, change) = rewritten(found, now, |draft| draft.user = kept)?;
                // Refused: somebody else has just written it, and the next login writes it again.
                self.local.store.commit(change, now).await?;
            }
            return Ok(user.at(now));
        }
        Err(UserError::Conflict)
    }

    fn remembered(&self) -> std::sync::MutexGuard<'_, Remembered> {
        // Nothing panics while the lock is held; a poisoned lock still guards a whole map.
        self.remembered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, id: &str, now: u64, person: Option<Person>) {
        let mut remembered = self.remembered();
        if remembered.len() >= MAX_REMEMBERED && !remembered.contains_key(id) {
            // They are asked for again, one by one.
            remembered.clear();
        }
        remembered.insert(id.to_owned(), (now, person));
    }
}

impl User {
    /// The account of a person who was never seen before, before what the directory says of them.
    fn linked(id: String, link: DirectoryLink, now: u64) -> User {
        User {
            link: Some(link),
            ..User::plain(id, now)
        }
    }

    /// An account of which nothing is said yet.
    pub(crate) fn plain(id: String, now: u64) -> User {
        User {
            id,
            username: String::new(),
            email: None,
            email_verified: false,
            link: None,
            credentials: Vec::new(),
            admin: false,
            admin_roles: Vec::new(),
            enabled: true,
            created_at: now,
            updated_at: now,
            password_changed_at: 0,
            must_change_password: false,
            expires_at: None,
            invitation: None,
            invited: false,
            must_accept_terms: false,
            terms: None,
            deletion: None,
            deletion_stage: DeletionStage::Asked,
            profile: Profile::default(),
            external_id: None,
            groups: Vec::new(),
            groups_outside: Vec::new(),
            groups_outside_until: None,
            roles: Vec::new(),
            attributes: std::collections::BTreeMap::new(),
            unknown: Default::default(),
        }
    }
}

impl Person {
    /// What is left of what a directory said: None where it names nobody.
    fn cleaned(mut self) -> Option<Person> {
        if self.id.is_empty() || folded_username(&self.username).is_err() {
            tracing::warn!("ignored a directory entry: no id, or an invalid name");
            return None;
        }
        self.email = self.email.and_then(|email| folded_email(&email).ok());
        self.email_verified &= self.email.is_some();
        if self.profile.check().is_err() {
            self.profile = Profile::default();
        }
        self.groups.sort_unstable();
        self.groups.dedup();
        self.groups.truncate(MAX_USER_GROUPS);
        Some(self)
    }

    /// The account as the directory has it: over it what is the directory's, and what is kept here
    /// as it is.
    fn over(self, mut user: User, may: Capabilities) -> User {
        user.username = self.username;
        if !may.mail || user.email.is_none() {
            // A code that came by mail has shown it as well as a directory can.
            let shown = user.email_verified && user.email == self.email;
            user.email_verified = self.email_verified || shown;
            user.email = self.email;
        }
        if !may.profile {
            user.profile = self.profile;
        }
        if !may.attributes {
            user.attributes = crate::attributes::cleaned(self.attributes);
        }
        if !may.groups {
            user.groups_outside = self.groups;
        }
        user.enabled &= self.enabled;
        user
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passwords::PasswordOptions;
    use signet_crypto::password::{Cost, hash};
    use signet_store::MemoryStore;
    use std::time::Duration;

    const CHEAP: Cost = Cost {
        memory_kib: 64,
        passes: 1,
        lanes: 1,
    };

    fn accounts(cost: Cost) -> Accounts {
        let pool = PasswordPool::new(PasswordOptions {
            cost,
            threads: 1,
            queue: 4,
        });
        Accounts::new(Arc::new(MemoryStore::new()), Arc::new(pool), Vec::new())
    }

    async fn phc(accounts: &Accounts, id: &str) -> String {
        let kept = accounts.local.password(id, 1).await.unwrap();
        kept.unwrap().phc.expose().clone()
    }

    #[tokio::test]
    async fn a_raised_cost_reaches_existing_accounts_at_their_next_login() {
        let dear = Cost { passes: 2, ..CHEAP };
        let accounts = accounts(dear);
        let new = NewUser {
            username: "alice".into(),
            password: Some(hash(b"correct horse", CHEAP).unwrap()),
            ..NewUser::default()
        };
        let alice = accounts.create(new, 1).await.unwrap();
        let before = phc(&accounts, &alice.id).await;
        let verify = async |text: &str| {
            let typed = Secret::new(text.to_owned());
            accounts
                .verify_password(Some(&alice), typed, Waiter::Anyone, 1)
                .await
                .unwrap()
        };
        // Only who knows the password can have it hashed.
        assert_eq!(verify("wrong").await, PasswordVerdict::Wrong);
        assert_eq!(phc(&accounts, &alice.id).await, before);
        assert_eq!(verify("correct horse").await, PasswordVerdict::Right);
        let mut after = before.clone();
        for _ in 0..2000 {
            after = phc(&accounts, &alice.id).await;
            if after != before {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert!(after.starts_with("$argon2id$v=19$m=64,t=2,p=1$"), "{after}");
        assert_eq!(verify("correct horse").await, PasswordVerdict::Right);
        assert_eq!(phc(&accounts, &alice.id).await, after);
        let same = accounts.by_id(&alice.id, 1).await.unwrap().unwrap();
        assert_eq!(same, alice, "nothing ends by it");
    }

    #[tokio::test]
    async fn an_imported_hash_lets_its_person_in_and_is_hashed_anew_at_the_first_login() {
        let accounts = accounts(CHEAP);
        // htpasswd -nbB -C 4
        let stored = "$2y$04$7WSTcw/7cffl9cXCWlfvguI6MrrSQzCg6QUgcqdiAa9KsQxJIAMPu";
        let new = NewUser {
            username: "alice".into(),
            password: Some(stored.into()),
            ..NewUser::default()
        };
        let alice = accounts.create(new, 1).await.unwrap();
        let verify = async |text: &str| {
            let typed = Secret::new(text.to_owned());
            accounts
                .verify_password(Some(&alice), typed, Waiter::Anyone, 1)
                .await
                .unwrap()
        };
        assert_eq!(verify("wrong").await, PasswordVerdict::Wrong);
        assert_eq!(phc(&accounts, &alice.id).await, stored);
        assert_eq!(verify("correct horse \u{e4}").await, PasswordVerdict::Right);
        let mut after = stored.to_owned();
        for _ in 0..2000 {
            after = phc(&accounts, &alice.id).await;
            if after != stored {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert!(after.starts_with("$argon2id$v=19$m=64,t=1,p=1$"), "{after}");
        assert_eq!(verify("correct horse \u{e4}").await, PasswordVerdict::Right);
        assert_eq!(verify("wrong").await, PasswordVerdict::Wrong);
    }
}
