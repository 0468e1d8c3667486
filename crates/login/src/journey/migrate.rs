//! Whoever logs in here for the first time, and has an account where the people of this realm come
//! from: that server is asked once, and the account is made here, with the password that was typed.
//!
//! Only a name that nobody has here is asked for, so a password that was changed here counts and the
//! old one does not. Who has moved and was removed here does not come back.

use std::collections::BTreeMap;

use signet_audit::Action;
use signet_crypto::Secret;
use signet_directory::passwords::Waiter;
use signet_directory::{
    ImportedUser, Migrated, PasswordVerdict, User, UserError, fold, folded_email, id_of_uuid, is_id,
};
use signet_federation::upstream::{Asking, Person, Trouble};
use signet_oauth::people::provider::Provider;
use signet_request::browser_request::BrowserRequest;
use signet_request::interaction::MAX_TYPED;

use super::provider::{Mapped, profile_of};

/// What the servers that people move away from know of a password.
pub(super) enum Asked {
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

/// Asks for the password of a name that nobody has here.
///
/// # Errors
/// The store's.
pub(super) async fn ask(
    browser: &BrowserRequest,
    typed: &str,
    password: &Secret<String>,
) -> Result<Asked, UserError> {
    let providers = &browser.context.snapshot.registry.providers;
    if typed.len() > MAX_TYPED || fold(typed).is_none() || password.expose().is_empty() {
        return Ok(Asked::Nobody);
    }
    let mut silent = false;
    for provider in providers.asked_for_passwords() {
        match ask_one(browser, provider, typed, password).await {
            Ok(None) => {}
            Ok(Some(person)) => {
                let theirs = take_in(browser, provider, typed, &person, password);
                return Box::pin(theirs).await;
            }
            Err(NotAsked) => silent = true,
        }
    }
    Ok(match silent {
        true => Asked::Later,
        false => Asked::Nobody,
    })
}

/// The server has not said whose the password is.
struct NotAsked;

async fn ask_one(
    browser: &BrowserRequest,
    provider: &Provider,
    typed: &str,
    password: &Secret<String>,
) -> Result<Option<Person>, NotAsked> {
    let (realm, now) = (&browser.context.realm, browser.context.now());
    let asked = &realm.upstream.passwords;
    let Some(_turn) = asked.turn(&provider.name, now) else {
        return Err(NotAsked);
    };
    let asking = Asking {
        realm,
        provider,
        caller: browser.caller(),
        now,
    };
    match asking.by_password(typed, password).await {
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
    browser: &BrowserRequest,
    provider: &Provider,
    typed: &str,
    person: &Person,
    password: &Secret<String>,
) -> Result<Asked, UserError> {
    let users = &browser.context.realm.people.users;
    let now = browser.context.now();
    let Ok(hash) = users.hash(password.clone()).await else {
        return Ok(Asked::Later);
    };
    let given = ImportedUser {
        password_hash: Some(hash),
        ..account_of(browser, provider, typed, person)
    };
    let username = given.username.clone();
    let made = async {
        let who = (&*provider.issuer, &*person.subject);
        match users.migrate(given, who, now).await {
            Ok(Migrated::Made(user)) => Ok(user),
            Ok(Migrated::There(user)) => Err(NotMade::There(user)),
            Ok(Migrated::Removed) => Err(NotMade::Removed),
            Err(error) => Err(NotMade::Failed(error)),
        }
    };
    let event = browser.context.event(Action::ACCOUNT).operation("migrate");
    let event = event.method(&provider.name);
    let audit = browser.context.realm.audit();
    match audit.act(event, made, NotMade::code).await {
        Ok(user) => Ok(Asked::Theirs(Box::new(user))),
        Err(NotMade::Removed) => Ok(Asked::Refused),
        Err(NotMade::There(user)) => {
            let password = password.clone();
            let verified = users.verify_password(Some(&user), password, Waiter::Anyone, now);
            Ok(match verified.await? {
                PasswordVerdict::Right => Asked::Theirs(Box::new(user)),
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

/// Why no account was made.
enum NotMade {
    /// Another request of theirs was faster, or they are here by another name. What this account
    /// expects counts, whatever it expects there.
    There(User),
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

/// What comes over: names, the profile, what the record's tables say of attributes and groups. The
/// id stays, as an import keeps it, where it can be one here.
fn account_of(
    browser: &BrowserRequest,
    provider: &Provider,
    typed: &str,
    person: &Person,
) -> ImportedUser {
    let people = &browser.context.snapshot.registry.people;
    let trusted = provider.trust_email && person.email_verified;
    let email = person.email.clone().filter(|_| trusted);
    let email = email.filter(|email| folded_email(email).is_ok());
    let mapped = Mapped::of(provider, person, |name| {
        people.attributes.get(name).cloned()
    });
    let (mut profile, mut attributes) = (profile_of(&person.claims), BTreeMap::new());
    mapped.put_profile(&mut profile);
    mapped.put_attributes(&mut attributes);
    let groups = mapped.groups.iter();
    let groups = groups.filter_map(|name| people.groups.get(name));
    let subject = &person.subject;
    ImportedUser {
        id: id_of_uuid(subject).or_else(|| is_id(subject).then(|| subject.clone())),
        username: person.username.clone().unwrap_or_else(|| typed.to_owned()),
        email_verified: email.is_some(),
        email,
        enabled: true,
        profile,
        attributes,
        groups: groups.map(|group| group.id.clone()).collect(),
        ..ImportedUser::default()
    }
}
