//! People of identity providers, and the accounts that they log in to.
//!
//! A link is two things: a row of [`signet_store::Table::UserLink`], which leads from the person to
//! the account and belongs to the one that inserted it, and a credential of the account. The
//! credential decides: a row that leads to an account without it was left behind by a crash, and
//! can be taken over.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use signet_crypto::hash::sha256;
use signet_store::{Change, Op, Outcome, StoreError};

use crate::accounts::Accounts;
use crate::credential::{CredentialKind, CredentialName, MAX_CREDENTIALS, lead_of};
use crate::draft::{UserDraft, encode, rewritten, user_key};
use crate::error::UserError;
use crate::local::{MAX_TRIES, NewUser, new_id};
use crate::name::{claimed, fold, folded_email, folded_username, made_username};
use crate::record::{User, hex};
use crate::stored_credential::StoredCredential;

/// A person of an identity provider, as an account knows them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpstreamLink {
    /// The provider's name in the registry when the link was made.
    pub provider: String,
    /// Its issuer identifier: with `subject` what names the person for ever (OpenID Connect Core
    /// section 5.7).
    pub issuer: String,
    /// The person's `sub` there.
    pub subject: String,
    /// What the person is called there, for their eyes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Unix seconds.
    pub linked_at: u64,
}

impl UpstreamLink {
    /// The credential's id: a hash, for subjects may be long.
    pub fn id(&self) -> String {
        UpstreamLink::id_for(&self.issuer, &self.subject)
    }

    /// The credential that makes it the account's.
    pub(crate) fn credential(&self) -> StoredCredential {
        row(self)
    }

    /// The id of the credential that links this person of this issuer.
    pub fn id_for(issuer: &str, subject: &str) -> String {
        id_of(issuer, subject)
    }
}

fn id_of(issuer: &str, subject: &str) -> String {
    let mut named = b"identity provider\0".to_vec();
    named.extend_from_slice(&(issuer.len() as u64).to_be_bytes());
    named.extend_from_slice(issuer.as_bytes());
    named.extend_from_slice(subject.as_bytes());
    hex(&sha256(&named))
}

fn credential(id: String) -> CredentialName {
    CredentialName {
        kind: CredentialKind::Provider,
        id,
    }
}

/// The outcome of a link.
#[derive(Clone, Debug, PartialEq)]
pub enum Linked {
    /// It leads to this account now.
    Done(Box<User>),
    /// It leads to another one, and stays.
    Taken,
}

fn row(link: &UpstreamLink) -> StoredCredential {
    // Invariant: strings and a number always serialize.
    let data = serde_json::to_vec(link).expect("a link serializes");
    let label = link.name.as_deref().unwrap_or(&link.provider);
    StoredCredential::new(credential(link.id()), label, data, link.linked_at)
}

impl Accounts {
    /// The account of a provider's person. Enabled or not is the caller's to look at.
    ///
    /// # Errors
    /// The store's.
    pub async fn by_upstream(
        &self,
        issuer: &str,
        subject: &str,
        now: u64,
    ) -> Result<Option<User>, UserError> {
        let id = id_of(issuer, subject);
        let Some(row) = self.local().store.get(&lead_of(&id), now).await? else {
            return Ok(None);
        };
        let Ok(user_id) = String::from_utf8(row.value) else {
            return Err(StoreError::Corrupt("link of a provider's person".into()).into());
        };
        let user = self.by_id(&user_id, now).await?;
        let user = user.filter(|user| user.credentials.contains(&credential(id)));
        match user {
            Some(user) => Box::pin(self.named(user, now)).await.map(Some),
            None => Ok(None),
        }
    }

    /// The account with a name that leads to it. Before an account and its names were one change, a
    /// crash left accounts whose name was free for others: such a name becomes the account's now,
    /// or, where somebody has it, the account gets another.
    async fn named(&self, user: User, now: u64) -> Result<User, UserError> {
        let local = self.local();
        if user.link.is_some() {
            return Ok(user);
        }
        let holder = match fold(&user.username) {
            Some(folded) => local.holder_of(&folded, now).await?,
            None => None,
        };
        if holder.is_some_and(|holder| holder.id == user.id) {
            return Ok(user);
        }
        // As an earlier version wrote it.
        let found = local.by_login(&user.username, now).await?;
        if found.is_some_and(|found| found.id == user.id)
            || local.claim(&user.username, &user.id, now).await?
        {
            return Ok(user);
        }
        for _ in 0..MAX_TRIES {
            let username = made_username(&user.username, &|_| false);
            if !local.reserve(&username, &user.id, now).await? {
                continue;
            }
            let named = local.update(&user.id, now, |found| {
                let (user, mut change) = rewritten(found, now, |draft| {
                    draft.user.username.clone_from(&username)
                })?;
                let folded = folded_username(&username)?;
                change.then.push(claimed(&folded, &user.id));
                Ok((user, change))
            });
            return Ok(named.await?.1.at(now));
        }
        Err(UserError::Conflict)
    }

    /// Makes an account for a provider's person who has none: the account, its link and its names
    /// are one change. The link decides, so that of racing first logins all get the same account.
    /// The user name is made of `new.username` ([`made_username`]); an address that is taken is
    /// left out. `is_somebodys`: which names clients and groups have.
    ///
    /// # Errors
    /// What is wrong with the profile; and the store's.
    pub async fn create_linked(
        &self,
        new: NewUser,
        is_somebodys: &(dyn Fn(&str) -> bool + Sync),
        link: &UpstreamLink,
        now: u64,
    ) -> Result<User, UserError> {
        let (id, local) = (link.id(), self.local());
        new.profile.check()?;
        for _ in 0..MAX_TRIES {
            let there = local.store.get(&lead_of(&id), now).await?;
            if there.is_some()
                && let Some(user) = self.by_upstream(&link.issuer, &link.subject, now).await?
            {
                return Ok(user);
            }
            let mut draft = UserDraft::new(User::plain(new_id(), now));
            let user_id = draft.user.id.clone();
            let username = made_username(&new.username, is_somebodys);
            if self.is_outside(&username).await? || !local.reserve(&username, &user_id, now).await?
            {
                continue;
            }
            let email = self
                .free_address(new.email.as_deref(), &user_id, now)
                .await?;
            draft.user.email_verified = new.email_verified && email.is_some();
            draft.user.email.clone_from(&email);
            draft.user.profile = new.profile.clone();
            draft.put_credential(&row(link));
            let names = [Some(folded_username(&username)?), email];
            draft.user.username = username;
            let value = user_id.as_bytes().to_vec();
            let first = match there {
                None => Op::Insert {
                    key: lead_of(&id),
                    value,
                    end: None,
                },
                Some(row) => Op::Replace {
                    key: lead_of(&id),
                    version: row.version,
                    value,
                    end: None,
                },
            };
            let mut then = vec![Op::Put {
                key: user_key(&user_id),
                value: encode(&draft.user),
                end: None,
            }];
            then.extend(draft.credentials());
            then.extend(names.iter().flatten().map(|name| claimed(name, &user_id)));
            if local
                .store
                .commit(Change { first, then }, now)
                .await?
                .is_done()
            {
                return Ok(draft.user);
            }
            for name in names.iter().flatten() {
                local.release(name, &user_id, now).await?;
            }
        }
        Err(UserError::Conflict)
    }

    /// The address in its one spelling, kept for an account that is being made; none where somebody
    /// has it.
    async fn free_address(
        &self,
        email: Option<&str>,
        user_id: &str,
        now: u64,
    ) -> Result<Option<String>, UserError> {
        let Some(email) = email else {
            return Ok(None);
        };
        let folded = folded_email(email)?;
        let is_free =
            !self.is_outside(email).await? && self.local().reserve(email, user_id, now).await?;
        Ok(is_free.then_some(folded))
    }

    /// Links a provider's person to an account whose owner has proven both.
    ///
    /// # Errors
    /// [`UserError::TooManyCredentials`], [`UserError::KeptElsewhere`], [`UserError::NotFound`];
    /// the store's.
    pub async fn link(
        &self,
        user_id: &str,
        link: &UpstreamLink,
        now: u64,
    ) -> Result<Linked, UserError> {
        let id = link.id();
        let found = self.found(user_id, now).await?.ok_or(UserError::NotFound)?;
        if found.user.credentials.len() >= MAX_CREDENTIALS {
            return Err(UserError::TooManyCredentials);
        }
        if !self.lead_to(&id, link, user_id, now).await? {
            return Ok(Linked::Taken);
        }
        let changed = self.change(user_id, now, |draft| draft.put_credential(&row(link)));
        Ok(Linked::Done(Box::new(changed.await?)))
    }

    /// Whether the row leads to this account now.
    pub(crate) async fn lead_to(
        &self,
        id: &str,
        link: &UpstreamLink,
        user_id: &str,
        now: u64,
    ) -> Result<bool, UserError> {
        let store = &self.local().store;
        let value = user_id.as_bytes().to_vec();
        let insert = Op::Insert {
            key: lead_of(id),
            value: value.clone(),
            end: None,
        };
        let outcome = store.commit(Change::new(insert), now).await?;
        let Outcome::Refused(Some(row)) = outcome else {
            return Ok(outcome.is_done());
        };
        if row.value == value {
            return Ok(true);
        }
        if self
            .by_upstream(&link.issuer, &link.subject, now)
            .await?
            .is_some()
        {
            return Ok(false);
        }
        let replace = Op::Replace {
            key: lead_of(id),
            version: row.version,
            value,
            end: None,
        };
        Ok(store.commit(Change::new(replace), now).await?.is_done())
    }

    /// Takes a link off an account, where `may` still says so of the record that is changed: the
    /// last way to log in stays. None: it did not, or there is no such link.
    ///
    /// # Errors
    /// As [`Accounts::change`].
    pub async fn unlink(
        &self,
        user_id: &str,
        id: &str,
        now: u64,
        may: impl Fn(&User) -> bool,
    ) -> Result<Option<User>, UserError> {
        for _ in 0..MAX_TRIES {
            let found = self.found(user_id, now).await?.ok_or(UserError::NotFound)?;
            let name = credential(id.to_owned());
            if !found.user.credentials.contains(&name) || !may(&found.user) {
                return Ok(None);
            }
            let changed = self.change_found(found, now, |draft| {
                draft.take_away(name);
                draft.user.groups_outside.clear();
                draft.user.groups_outside_until = None;
            });
            if let Some(user) = changed.await? {
                // Behind it: a row without its credential leads nowhere.
                let gone = Op::Delete { key: lead_of(id) };
                self.local().store.commit(Change::new(gone), now).await?;
                return Ok(Some(user));
            }
        }
        Err(UserError::Conflict)
    }

    /// The links of an account, by the ids of their credentials.
    ///
    /// # Errors
    /// The store's.
    pub async fn links(
        &self,
        user: &User,
        now: u64,
    ) -> Result<BTreeMap<String, UpstreamLink>, UserError> {
        let mut links = BTreeMap::new();
        for name in &user.credentials {
            if name.kind != CredentialKind::Provider {
                continue;
            }
            let stored = self.credential(&user.id, name, now).await?;
            let Some(stored) = stored else { continue };
            let link = serde_json::from_slice(stored.data.expose());
            let link = link.map_err(|_| StoreError::Corrupt("link to a provider".into()))?;
            links.insert(name.id.clone(), link);
        }
        Ok(links)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::lookup_key;
    use crate::passwords::{PasswordOptions, PasswordPool};
    use signet_store::{Layer, MemoryStore, Store, StoreFuture, Table};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A process that is killed: so many changes are made, and no more.
    struct Killed {
        store: Arc<MemoryStore>,
        left: AtomicUsize,
    }

    impl Layer for Killed {
        fn inner(&self) -> &dyn Store {
            &*self.store
        }
        fn commit(&self, change: Change, now: u64) -> StoreFuture<'_, Outcome> {
            let before = self.left.load(Ordering::Relaxed);
            if before == 0 {
                return Box::pin(async { Err(StoreError::Unavailable("killed".into())) });
            }
            self.left.store(before - 1, Ordering::Relaxed);
            self.store.commit(change, now)
        }
    }

    fn over(store: Arc<dyn Store>) -> Accounts {
        let pool = PasswordPool::new(PasswordOptions::default());
        Accounts::new(store, Arc::new(pool), Vec::new())
    }

    fn killed(store: &Arc<MemoryStore>, left: usize) -> Accounts {
        over(Arc::new(Killed {
            store: Arc::clone(store),
            left: AtomicUsize::new(left),
        }))
    }

    // MP7: a crash left an account without its address, or with a name that was free.
    #[tokio::test]
    async fn an_account_of_a_first_login_is_there_whole_or_not_at_all() {
        let mut whole = 0;
        for left in 0..6 {
            let store = Arc::new(MemoryStore::new());
            let wanted = || new("ann", Some("ann@corp.example"));
            let made = killed(&store, left)
                .create_linked(wanted(), &|_| false, &link("s1"), 1)
                .await;
            let accounts = over(store);
            let issuer = "https://id.corp.example";
            let found = accounts.by_upstream(issuer, "s1", 1).await.unwrap();
            assert_eq!(found.is_some(), made.is_ok(), "{left}");
            let all = accounts.list(None, 9, 1).await.unwrap();
            assert_eq!(all.len(), usize::from(made.is_ok()), "{left}");
            whole += all.len();
            // Until a name that was kept is free again, the next login gets another.
            let known = link("s1");
            let again = accounts.create_linked(wanted(), &|_| false, &known, 1 + 600);
            let again = again.await.unwrap();
            assert_eq!(again.email.as_deref(), Some("ann@corp.example"), "{left}");
            for login in [&again.username, "ann@corp.example"] {
                let found = accounts.by_login(login, 601).await.unwrap().unwrap();
                assert_eq!(found.id, again.id, "{left}");
            }
            let taken = accounts.create(new(&again.username, None), 601).await;
            assert!(matches!(taken, Err(UserError::UsernameTaken)), "{left}");
        }
        assert!(whole > 0);
    }

    // MP7: accounts that are so already.
    #[tokio::test]
    async fn an_account_whose_name_leads_nowhere_gets_it_at_the_next_login() {
        let accounts = accounts();
        let ann = accounts
            .create_linked(new("ann", None), &|_| false, &link("s1"), 1)
            .await
            .unwrap();
        let issuer = "https://id.corp.example";
        let store = &accounts.local().store;
        let gone = || {
            Change::new(Op::Delete {
                key: lookup_key(&ann.username),
            })
        };
        store.commit(gone(), 1).await.unwrap();
        assert_eq!(accounts.by_login(&ann.username, 1).await.unwrap(), None);
        let found = accounts.by_upstream(issuer, "s1", 1).await.unwrap();
        assert_eq!(found.unwrap().username, ann.username);
        let led = accounts.by_login(&ann.username, 1).await.unwrap();
        assert_eq!(led.unwrap().id, ann.id);
        // Somebody has it meanwhile: two accounts never say one name.
        store.commit(gone(), 1).await.unwrap();
        accounts.create(new(&ann.username, None), 1).await.unwrap();
        let found = accounts
            .by_upstream(issuer, "s1", 1)
            .await
            .unwrap()
            .unwrap();
        assert_ne!(found.username, ann.username);
        let led = accounts.by_login(&found.username, 1).await.unwrap();
        assert_eq!(led.unwrap().id, ann.id);
        let same = accounts.by_upstream(issuer, "s1", 1).await.unwrap();
        assert_eq!(same.unwrap().username, found.username);
    }

    fn accounts() -> Accounts {
        let pool = PasswordPool::new(PasswordOptions::default());
        Accounts::new(Arc::new(MemoryStore::new()), Arc::new(pool), Vec::new())
    }

    fn link(subject: &str) -> UpstreamLink {
        UpstreamLink {
            provider: "corp".into(),
            issuer: "https://id.corp.example".into(),
            subject: subject.into(),
            name: None,
            linked_at: 1,
        }
    }

    fn new(username: &str, email: Option<&str>) -> NewUser {
        NewUser {
            username: username.into(),
            email: email.map(str::to_owned),
            email_verified: email.is_some(),
            ..NewUser::default()
        }
    }

    #[tokio::test]
    async fn of_racing_first_logins_all_get_one_account() {
        let accounts = accounts();
        let racers: Vec<_> = (0..20)
            .map(|_| {
                let accounts = accounts.clone();
                tokio::spawn(async move {
                    let new = new("ann", Some("ann@corp.example"));
                    accounts
                        .create_linked(new, &|_| false, &link("s1"), 1)
                        .await
                        .unwrap()
                        .id
                })
            })
            .collect();
        let mut ids = Vec::new();
        for racer in racers {
            ids.push(racer.await.unwrap());
        }
        ids.dedup();
        assert_eq!(ids.len(), 1);
        let all = accounts.list(None, 10, 1).await.unwrap();
        assert_eq!(all.len(), 1);
        let found = accounts
            .by_upstream("https://id.corp.example", "s1", 1)
            .await
            .unwrap();
        assert_eq!(found.unwrap().email.as_deref(), Some("ann@corp.example"));
    }

    #[tokio::test]
    async fn a_name_has_a_tail_and_a_taken_address_is_left_out() {
        let accounts = accounts();
        accounts
            .create(new("ann", Some("ann@corp.example")), 1)
            .await
            .unwrap();
        let wanted = new("ann", Some("ANN@corp.example"));
        let made = accounts
            .create_linked(wanted, &|_| false, &link("s1"), 1)
            .await
            .unwrap();
        assert!(made.username.starts_with("ann-"), "{}", made.username);
        assert_eq!((made.email, made.email_verified), (None, false));
        let by_name = accounts.by_login(&made.username, 1).await.unwrap().unwrap();
        assert_eq!(by_name.id, made.id);
    }

    #[tokio::test]
    async fn a_person_is_linked_to_one_account_and_another_cannot_take_them() {
        let accounts = accounts();
        let ann = accounts.create(new("ann", None), 1).await.unwrap();
        let bob = accounts.create(new("bob", None), 1).await.unwrap();
        let linked = accounts.link(&ann.id, &link("s1"), 1).await.unwrap();
        assert!(matches!(linked, Linked::Done(user) if user.id == ann.id));
        assert_eq!(
            accounts.link(&bob.id, &link("s1"), 1).await.unwrap(),
            Linked::Taken
        );
        let id = link("s1").id();
        // The last way in stays.
        assert!(
            accounts
                .unlink(&ann.id, &id, 2, |_| false)
                .await
                .unwrap()
                .is_none()
        );
        assert!(
            accounts
                .unlink(&ann.id, &id, 2, |_| true)
                .await
                .unwrap()
                .is_some()
        );
        let none = accounts
            .by_upstream("https://id.corp.example", "s1", 2)
            .await
            .unwrap();
        assert!(none.is_none());
        let linked = accounts.link(&bob.id, &link("s1"), 2).await.unwrap();
        assert!(matches!(linked, Linked::Done(user) if user.id == bob.id));
    }

    #[tokio::test]
    async fn a_removed_account_leaves_no_link_and_a_lead_to_nobody_is_taken_over() {
        let accounts = accounts();
        let ann = accounts
            .create_linked(new("ann", None), &|_| false, &link("s1"), 1)
            .await
            .unwrap();
        accounts.remove(&ann.id, 2).await.unwrap();
        let rows = accounts
            .local()
            .store
            .page(Table::UserLink, None, 9, 2)
            .await;
        assert_eq!(rows.unwrap(), []);
        let stale = Op::Insert {
            key: lead_of(&link("s1").id()),
            value: b"nobody".to_vec(),
            end: None,
        };
        accounts
            .local()
            .store
            .commit(Change::new(stale), 2)
            .await
            .unwrap();
        let again = accounts
            .create_linked(new("ann", None), &|_| false, &link("s1"), 3)
            .await
            .unwrap();
        let found = accounts
            .by_upstream("https://id.corp.example", "s1", 3)
            .await
            .unwrap();
        assert_eq!(found.unwrap().id, again.id);
    }
}
