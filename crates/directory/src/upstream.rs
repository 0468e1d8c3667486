//! People of identity providers, and the accounts that they log in to.
//!
//! A link is two things: a row of [`signet_store::Table::UserLink`], which leads from the person to
//! the account and belongs to whoever inserted it, and a credential of the account. The credential
//! decides: a row that leads to an account without it was left behind by a crash, and can be taken
//! over.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use signet_crypto::hash::sha256;
use signet_store::{Change, Op, Outcome, StoreError};

use crate::accounts::Accounts;
use crate::credential::{CredentialKind, CredentialName, MAX_CREDENTIALS, lead_of};
use crate::draft::{UserDraft, encode, rewritten, user_key};
use crate::error::UserError;
use crate::local::{MAX_TRIES, NewUser, new_id};
use crate::name::{folded_email, folded_username};
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

/// What became of a link.
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
        Ok(user.filter(|user| user.credentials.contains(&credential(id))))
    }

    /// Makes an account for a provider's person who has none. The link is inserted once, together
    /// with the account: of racing first logins all get the same one. A name that is taken gets
    /// something behind it, an address that is taken is left out.
    ///
    /// # Errors
    /// What is wrong with the profile; and the store's.
    pub async fn create_linked(
        &self,
        new: NewUser,
        link: &UpstreamLink,
        now: u64,
    ) -> Result<User, UserError> {
        let id = link.id();
        for _ in 0..MAX_TRIES {
            let there = self.local().store.get(&lead_of(&id), now).await?;
            if there.is_some()
                && let Some(user) = self.by_upstream(&link.issuer, &link.subject, now).await?
            {
                return Ok(user);
            }
            let mut draft = UserDraft::new(User::plain(new_id(), now));
            draft.user.username = self.free_name(&new.username, now).await?;
            draft.user.profile = new.profile.clone();
            draft.user.profile.check()?;
            draft.put_credential(&row(link));
            let user_id = draft.user.id.clone();
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
            let Outcome::Done { .. } = self
                .local()
                .store
                .commit(Change { first, then }, now)
                .await?
            else {
                continue;
            };
            return self.name(draft.user, &new, now).await;
        }
        Err(UserError::Conflict)
    }

    /// A user name like this one that nobody has at the moment.
    async fn free_name(&self, wanted: &str, now: u64) -> Result<String, UserError> {
        for attempt in 0..MAX_TRIES {
            let name = match attempt {
                0 => wanted.to_owned(),
                _ => with_digits(wanted),
            };
            if folded_username(&name).is_ok() && self.by_login(&name, now).await?.is_none() {
                return Ok(name);
            }
        }
        Ok(format!("person-{}", digits()))
    }

    /// Reserves the names of an account that was just made.
    async fn name(&self, user: User, new: &NewUser, now: u64) -> Result<User, UserError> {
        let local = self.local();
        let mut username = user.username.clone();
        let mut named = false;
        for _ in 0..MAX_TRIES {
            if local
                .reserve(&folded_username(&username)?, &user.id, now)
                .await?
            {
                named = true;
                break;
            }
            username = with_digits(&new.username);
        }
        if !named {
            return Err(UserError::Conflict);
        }
        let email = match &new.email {
            Some(email) => {
                let folded = folded_email(email)?;
                let free =
                    !self.is_outside(email).await? && local.reserve(&folded, &user.id, now).await?;
                free.then(|| email.trim().to_owned())
            }
            None => None,
        };
        let changed = local.update(&user.id, now, |found| {
            rewritten(found, now, |draft| {
                draft.user.username = username.clone();
                draft.user.email_verified = new.email_verified && email.is_some();
                draft.user.email = email.clone();
            })
        });
        Ok(changed.await?.1)
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
    async fn lead_to(
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

fn digits() -> String {
    format!("{:06}", signet_crypto::random::below(1_000_000))
}

/// The name with something behind it that fits.
fn with_digits(name: &str) -> String {
    let kept: String = name.chars().take(48).collect();
    format!("{kept}-{}", digits())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passwords::{PasswordOptions, PasswordPool};
    use signet_store::{MemoryStore, Table};
    use std::sync::Arc;

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
                        .create_linked(new, &link("s1"), 1)
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
    async fn a_taken_name_gets_something_behind_it_and_a_taken_address_is_left_out() {
        let accounts = accounts();
        accounts
            .create(new("ann", Some("ann@corp.example")), 1)
            .await
            .unwrap();
        let wanted = new("ann", Some("ANN@corp.example"));
        let made = accounts
            .create_linked(wanted, &link("s1"), 1)
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
            .create_linked(new("ann", None), &link("s1"), 1)
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
            .create_linked(new("ann", None), &link("s1"), 3)
            .await
            .unwrap();
        let found = accounts
            .by_upstream("https://id.corp.example", "s1", 3)
            .await
            .unwrap();
        assert_eq!(found.unwrap().id, again.id);
    }
}
