//! The user records of a store: made, found, changed, removed.

use std::sync::Arc;

use signet_jose::base64url;
use signet_store::{Change, Key, Op, Outcome, Store, StoreError, Table};

use crate::error::UserError;
use crate::name::{fold, folded_email, folded_username};
use crate::record::{Profile, User};

/// How often a change that lost a race is tried again before [`UserError::Conflict`].
const MAX_TRIES: usize = 5;

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
    /// May administer.
    pub admin: bool,
    /// The rest of the profile.
    pub profile: Profile,
}

/// One name space: a user name never equals another user's e-mail address.
fn lookup_key(folded: &str) -> Key {
    Key::new(Table::UserLookup, folded.as_bytes())
}

fn user_key(id: &str) -> Key {
    Key::new(Table::User, id.as_bytes())
}

fn encode(user: &User) -> Vec<u8> {
    // Invariant: a struct of strings, numbers and booleans always serializes.
    serde_json::to_vec(user).expect("a user record serializes")
}

fn decode(bytes: &[u8]) -> Result<User, StoreError> {
    serde_json::from_slice(bytes).map_err(|_| StoreError::Corrupt("user record".into()))
}

/// Reads a page of all users for the administrator; never on a request of a person's way.
pub async fn list(
    store: &dyn Store,
    after: Option<&str>,
    limit: usize,
    now: u64,
) -> Result<Vec<User>, UserError> {
    let after = after.map(user_key);
    let rows = store.page(Table::User, after.as_ref(), limit, now).await?;
    rows.iter()
        .map(|(_, row)| Ok(decode(&row.value)?))
        .collect()
}

/// The user records of a store.
#[derive(Clone)]
pub struct Users {
    store: Arc<dyn Store>,
}

impl Users {
    /// Users of this store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Users { store }
    }

    /// Makes an account and answers its record. Each name is reserved by one atomic insert; of racing callers one gets it.
    pub async fn create(&self, new: NewUser, now: u64) -> Result<User, UserError> {
        let username = folded_username(&new.username)?;
        let email = new.email.as_deref().map(folded_email).transpose()?;
        new.profile.check()?;
        // A user name in the shape of somebody else's address would take that address's look-up row.
        if username.contains('@') && email.as_deref() != Some(&*username) {
            return Err(UserError::Username);
        }
        let user = User {
            id: base64url::encode(&signet_crypto::random::bytes::<16>()),
            username: new.username.trim().to_owned(),
            email: new.email.map(|email| email.trim().to_owned()),
            email_verified: new.email_verified,
            password_changed_at: if new.password.is_some() { now } else { 0 },
            password: new.password,
            admin: new.admin,
            enabled: true,
            created_at: now,
            updated_at: now,
            profile: new.profile,
        };
        // The record comes first: a reserved name whose owner has no record was left behind by a crash, and nothing else.
        let insert = Op::Insert {
            key: user_key(&user.id),
            value: encode(&user),
            end: None,
        };
        let Outcome::Done { version } = self.store.commit(only(insert), now).await? else {
            return Err(UserError::Conflict);
        };
        let taken = if !self.reserve(&username, &user.id, now).await? {
            UserError::UsernameTaken
        } else if let Some(email) = email.filter(|email| *email != username)
            && !self.reserve(&email, &user.id, now).await?
        {
            UserError::EmailTaken
        } else {
            return Ok(user);
        };
        let undo = Op::Remove {
            key: user_key(&user.id),
            version,
        };
        self.store.commit(only(undo), now).await?;
        self.release(&username, &user.id, now).await?;
        Err(taken)
    }

    /// The user with this id.
    pub async fn by_id(&self, id: &str, now: u64) -> Result<Option<User>, UserError> {
        let row = self.store.get(&user_key(id), now).await?;
        Ok(row.map(|row| decode(&row.value)).transpose()?)
    }

    /// As [`Users::by_id`], with the version of the row, which changes at every write.
    pub async fn by_id_with_version(
        &self,
        id: &str,
        now: u64,
    ) -> Result<Option<(User, u64)>, UserError> {
        let row = self.store.get(&user_key(id), now).await?;
        Ok(row
            .map(|row| Ok::<_, StoreError>((decode(&row.value)?, row.version)))
            .transpose()?)
    }

    /// Applies `change` to the record of this version only. None: somebody else has written it since. User name, e-mail
    /// address and id stay as they are.
    pub async fn change_version(
        &self,
        id: &str,
        version: u64,
        now: u64,
        change: impl FnOnce(&mut User),
    ) -> Result<Option<User>, UserError> {
        let found = self.by_id_with_version(id, now).await?;
        let (before, found) = found.ok_or(UserError::NotFound)?;
        if found != version {
            return Ok(None);
        }
        let (user, replace) = replacement(before, version, now, change)?;
        let outcome = self.store.commit(only(replace), now).await?;
        Ok(outcome.is_done().then_some(user))
    }

    /// The user that this user name or e-mail address names. None also where the text cannot be a name.
    pub async fn by_login(&self, typed: &str, now: u64) -> Result<Option<User>, UserError> {
        let Some(folded) = fold(typed) else {
            return Ok(None);
        };
        let Some(id) = self.owner_of(&folded, now).await? else {
            return Ok(None);
        };
        let Some(user) = self.by_id(&id, now).await? else {
            return Ok(None);
        };
        // The record decides: a look-up row that a crash left behind names nobody.
        let named = fold(&user.username).as_deref() == Some(&*folded)
            || user.email.as_deref().and_then(fold).as_deref() == Some(&*folded);
        Ok(named.then_some(user))
    }

    /// Applies `change` to the record and writes it with a compare, again if somebody else was faster. User name, e-mail
    /// address and id stay as they are; [`Users::set_email`] moves an address.
    pub async fn change(
        &self,
        id: &str,
        now: u64,
        change: impl Fn(&mut User),
    ) -> Result<User, UserError> {
        for _ in 0..MAX_TRIES {
            let found = self.by_id_with_version(id, now).await?;
            let (before, version) = found.ok_or(UserError::NotFound)?;
            let (user, replace) = replacement(before, version, now, &change)?;
            if self.store.commit(only(replace), now).await?.is_done() {
                return Ok(user);
            }
        }
        Err(UserError::Conflict)
    }

    /// Sets a new password (a PHC string), or takes it away. It ends nothing that was begun with the old one: a server
    /// does both in one change.
    pub async fn set_password(
        &self,
        id: &str,
        phc: Option<&str>,
        now: u64,
    ) -> Result<User, UserError> {
        self.change(id, now, |user| user.set_password(phc, now))
            .await
    }

    /// Enables or disables. It ends nothing that the user holds: a server does
    /// both in one change.
    pub async fn set_enabled(&self, id: &str, enabled: bool, now: u64) -> Result<User, UserError> {
        self.change(id, now, |user| user.enabled = enabled).await
    }

    /// Moves the account to another e-mail address, or to none.
    pub async fn set_email(
        &self,
        id: &str,
        email: Option<&str>,
        verified: bool,
        now: u64,
    ) -> Result<User, UserError> {
        let folded = email.map(folded_email).transpose()?;
        if let Some(folded) = &folded
            && !self.reserve(folded, id, now).await?
        {
            return Err(UserError::EmailTaken);
        }
        for _ in 0..MAX_TRIES {
            let row = self.store.get(&user_key(id), now).await?;
            let row = row.ok_or(UserError::NotFound)?;
            let mut user = decode(&row.value)?;
            let before = user.email.as_deref().and_then(fold);
            user.email = email.map(|email| email.trim().to_owned());
            user.email_verified = verified && email.is_some();
            user.updated_at = now;
            if self.replace(&user, row.version, now).await? {
                if let Some(before) = before
                    && Some(&before) != folded.as_ref()
                    && Some(&before) != fold(&user.username).as_ref()
                {
                    self.release(&before, id, now).await?;
                }
                return Ok(user);
            }
        }
        Err(UserError::Conflict)
    }

    /// Removes the record and its names. The caller revokes what the user holds.
    pub async fn remove(&self, id: &str, now: u64) -> Result<User, UserError> {
        let row = self.store.get(&user_key(id), now).await?;
        let user = decode(&row.ok_or(UserError::NotFound)?.value)?;
        let delete = Change {
            first: Op::Delete { key: user_key(id) },
            then: Vec::new(),
        };
        self.store.commit(delete, now).await?;
        for name in [Some(&*user.username), user.email.as_deref()] {
            if let Some(folded) = name.and_then(fold) {
                self.release(&folded, id, now).await?;
            }
        }
        Ok(user)
    }

    async fn owner_of(&self, folded: &str, now: u64) -> Result<Option<String>, UserError> {
        let row = self.store.get(&lookup_key(folded), now).await?;
        Ok(row.and_then(|row| String::from_utf8(row.value).ok()))
    }

    /// Whether the name is now `id`'s.
    async fn reserve(&self, folded: &str, id: &str, now: u64) -> Result<bool, UserError> {
        let insert = Op::Insert {
            key: lookup_key(folded),
            value: id.as_bytes().to_vec(),
            end: None,
        };
        let outcome = self.store.commit(only(insert), now).await?;
        let Outcome::Refused(Some(row)) = outcome else {
            return Ok(matches!(outcome, Outcome::Done { .. }));
        };
        if row.value == id.as_bytes() {
            return Ok(true);
        }
        let owner = String::from_utf8_lossy(&row.value).into_owned();
        if self.still_holds(&owner, folded, now).await? {
            return Ok(false);
        }
        let take_over = Op::Replace {
            key: lookup_key(folded),
            version: row.version,
            value: id.as_bytes().to_vec(),
            end: None,
        };
        let outcome = self.store.commit(only(take_over), now).await?;
        Ok(matches!(outcome, Outcome::Done { .. }))
    }

    async fn still_holds(&self, owner: &str, folded: &str, now: u64) -> Result<bool, UserError> {
        Ok(self.by_id(owner, now).await?.is_some_and(|user| {
            fold(&user.username).as_deref() == Some(folded)
                || user.email.as_deref().and_then(fold).as_deref() == Some(folded)
        }))
    }

    async fn release(&self, folded: &str, id: &str, now: u64) -> Result<(), UserError> {
        let key = lookup_key(folded);
        let Some(row) = self.store.get(&key, now).await? else {
            return Ok(());
        };
        if row.value == id.as_bytes() {
            let remove = Op::Remove {
                key,
                version: row.version,
            };
            // Refused: somebody else has it now, and keeps it.
            self.store.commit(only(remove), now).await?;
        }
        Ok(())
    }

    async fn replace(&self, user: &User, version: u64, now: u64) -> Result<bool, UserError> {
        let replace = Op::Replace {
            key: user_key(&user.id),
            version,
            value: encode(user),
            end: None,
        };
        let outcome = self.store.commit(only(replace), now).await?;
        Ok(matches!(outcome, Outcome::Done { .. }))
    }
}

/// What `change` makes of a record, and the write that puts it in the place of this version. User name, e-mail address and
/// id stay as they are.
///
/// # Errors
/// [`UserError::Profile`]
pub fn replacement(
    before: User,
    version: u64,
    now: u64,
    change: impl FnOnce(&mut User),
) -> Result<(User, Op), UserError> {
    let mut user = before.clone();
    change(&mut user);
    user.id = before.id;
    user.username = before.username;
    if user.email != before.email {
        user.email = before.email;
        user.email_verified = before.email_verified;
    }
    user.profile.check()?;
    user.updated_at = now;
    let replace = Op::Replace {
        key: user_key(&user.id),
        version,
        value: encode(&user),
        end: None,
    };
    Ok((user, replace))
}

fn only(first: Op) -> Change {
    Change {
        first,
        then: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_store::MemoryStore;

    fn users() -> Users {
        Users::new(Arc::new(MemoryStore::new()))
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
        assert_eq!(list(&*users.store, None, 10, 1).await.unwrap().len(), 2);
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
            .change(&alice.id, 3, |user| {
                user.admin = true;
                user.id = "other".into();
                user.username = "other".into();
                user.email = Some("x@example.test".into());
            })
            .await
            .unwrap();
        assert!(changed.admin);
        assert_eq!(changed.password.as_deref(), Some("phc"));
        assert_eq!(
            (&changed.id, &changed.username),
            (&alice.id, &alice.username)
        );
        assert_eq!(changed.email, None);
        users.remove(&alice.id, 4).await.unwrap();
        assert_eq!(users.by_login("alice", 4).await.unwrap(), None);
        users.create(new("alice", None), 5).await.unwrap();
    }
}
