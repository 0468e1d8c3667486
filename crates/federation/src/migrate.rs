//! Whoever logs in here for the first time, and has an account where the people of this realm come
//! from: that server is asked once, and the account is made here, with the password that was typed.
//!
//! Only a name that nobody has here is asked for, so a password that was changed here counts and
//! the old one does not. Who has moved and was removed here does not come back.

use std::collections::BTreeMap;

use signet_audit::Event;
use signet_crypto::Secret;
use signet_directory::passwords::Waiter;
use signet_directory::{
    ImportedUser, Migrated, PasswordVerdict, User, UserError, fold, folded_email, id_of_uuid, is_id,
};
use signet_oauth::people::provider::Provider;
use signet_realm::budgets::Caller;
use signet_realm::state::{Realm, Snapshot};

use crate::mapped::Mapped;
use crate::profile;
use crate::upstream::{Asking, Person, Trouble};

/// What the servers that people move away from know of a password.
pub enum Asked {
    /// Nothing: there are none, or nobody there has this name and password.
    Nobody,
    /// It is theirs. The account is here now.
    Theirs(Box<User>),
    /// It was right there, and counts for nothing here: the account was removed here, has another
    /// password here, or cannot be made.
    Refused,
    /// One of them did not answer.
    Later,
}

/// A first login, by a name that nobody has here.
pub struct FirstLogin<'a> {
    /// The realm.
    pub realm: &'a Realm,
    /// What is configured at this moment.
    pub snapshot: &'a Snapshot,
    /// Whose budget the requests are of.
    pub caller: Caller,
    /// The name.
    pub typed: &'a str,
    /// The password.
    pub password: &'a Secret<String>,
    /// Unix seconds.
    pub now: u64,
}

impl FirstLogin<'_> {
    /// Asks the servers that people move away from. `event` is what an account that is made leaves
    /// in the audit trail, without operation and method.
    ///
    /// # Errors
    /// The store's.
    pub async fn ask(&self, event: Event<'_>) -> Result<Asked, UserError> {
        if fold(self.typed).is_none() || self.password.expose().is_empty() {
            return Ok(Asked::Nobody);
        }
        let mut silent = false;
        for provider in self.snapshot.registry.providers.asked_for_passwords() {
            match self.ask_one(provider).await {
                Ok(None) => {}
                Ok(Some(person)) => {
                    return Box::pin(self.take_in(provider, &person, event)).await;
                }
                Err(NotAsked) => silent = true,
            }
        }
        Ok(match silent {
            true => Asked::Later,
            false => Asked::Nobody,
        })
    }

    async fn ask_one(&self, provider: &Provider) -> Result<Option<Person>, NotAsked> {
        let (realm, now) = (self.realm, self.now);
        let asked = &realm.upstream.passwords;
        let Some(_turn) = asked.turn(&provider.name, now) else {
            return Err(NotAsked);
        };
        let asking = Asking {
            realm,
            provider,
            caller: self.caller,
            now,
        };
        match asking.by_password(self.typed, self.password).await {
            Ok(answer) => Ok(answer),
            Err(trouble) => {
                // A caller whose budget is used up says nothing about the server.
                if !matches!(trouble, Trouble::TooMany) {
                    asked.failed(&provider.name, now);
                }
                tracing::warn!(error = %trouble, provider = %provider.name, "failed to ask the provider for a password");
                Err(NotAsked)
            }
        }
    }

    /// The account of a person whose password was right there.
    async fn take_in(
        &self,
        provider: &Provider,
        person: &Person,
        event: Event<'_>,
    ) -> Result<Asked, UserError> {
        let (users, now) = (&self.realm.people.users, self.now);
        let Ok(hash) = users.hash(self.password.clone()).await else {
            return Ok(Asked::Later);
        };
        let given = ImportedUser {
            password_hash: Some(hash),
            ..self.account_of(provider, person)
        };
        let username = given.username.clone();
        let made = async {
            let who = (&*provider.issuer, &*person.subject);
            match users.migrate(given, who, now).await {
                Ok(Migrated::Made(user)) => Ok(user),
                Ok(Migrated::There(user)) => Err(NotMade::There(Box::new(user))),
                Ok(Migrated::Removed) => Err(NotMade::Removed),
                Err(error) => Err(NotMade::Failed(error)),
            }
        };
        let event = event.operation("migrate").method(&provider.name);
        match self.realm.audit().act(event, made, NotMade::code).await {
            Ok(user) => Ok(Asked::Theirs(Box::new(user))),
            Err(NotMade::Removed) => Ok(Asked::Refused),
            Err(NotMade::There(user)) => {
                let password = self.password.clone();
                let verified = users.verify_password(Some(&user), password, Waiter::Anyone, now);
                Ok(match verified.await? {
                    PasswordVerdict::Right => Asked::Theirs(user),
                    PasswordVerdict::Wrong => Asked::Refused,
                    PasswordVerdict::Busy => Asked::Later,
                })
            }
            Err(NotMade::Failed(
                error @ (UserError::Store(_) | UserError::Directory(_) | UserError::Conflict),
            )) => Err(error),
            Err(NotMade::Failed(error)) => {
                tracing::warn!(%error, username, provider = %provider.name, "failed to make the account of a person who moves here; a user name that is an address needs trust_email");
                Ok(Asked::Refused)
            }
        }
    }

    /// What comes over: names, the profile, what the record's tables say of attributes and groups.
    /// The id stays, as an import keeps it, where it can be one here.
    fn account_of(&self, provider: &Provider, person: &Person) -> ImportedUser {
        let people = &self.snapshot.registry.people;
        let trusted = provider.trust_email && person.email_verified;
        let email = person.email.clone().filter(|_| trusted);
        let email = email.filter(|email| folded_email(email).is_ok());
        let mapped = Mapped::of(provider, person, |name| {
            people.attributes.get(name).cloned()
        });
        let (mut profile, mut attributes) = (profile::of(&person.claims), BTreeMap::new());
        mapped.put_profile(&mut profile);
        mapped.put_attributes(&mut attributes);
        let groups = mapped.groups.iter();
        let groups = groups.filter_map(|name| people.groups.get(name));
        let username = person.username.as_deref().unwrap_or(self.typed);
        let subject = &person.subject;
        ImportedUser {
            id: id_of_uuid(subject).or_else(|| is_id(subject).then(|| subject.clone())),
            username: username.to_owned(),
            email_verified: email.is_some(),
            email,
            enabled: true,
            profile,
            attributes,
            groups: groups.map(|group| group.id.clone()).collect(),
            ..ImportedUser::default()
        }
    }
}

/// The server has not said whose the password is.
struct NotAsked;

/// Why no account was made.
enum NotMade {
    /// Another request of theirs was faster, or they are here by another name. What this account
    /// expects counts, whatever it expects there.
    There(Box<User>),
    /// They had moved, and were removed here.
    Removed,
    /// It cannot be made.
    Failed(UserError),
}

impl NotMade {
    /// What the audit trail calls it.
    fn code(&self) -> &'static str {
        match self {
            NotMade::There(_) => "account_exists",
            NotMade::Removed => "account_removed",
            NotMade::Failed(UserError::UsernameTaken) => "username_taken",
            NotMade::Failed(
                UserError::Store(_) | UserError::Directory(_) | UserError::Conflict,
            ) => "temporarily_unavailable",
            NotMade::Failed(_) => "invalid_request",
        }
    }
}
