//! An account that is being changed, and the one change of the store that it becomes.

use std::collections::BTreeMap;

use serde_json::Value;
use signet_crypto::Secret;
use signet_store::{Change, Key, Op, Row, StoreError, Table};

use crate::credential::{CredentialName, MAX_CREDENTIALS};
use crate::error::UserError;
use crate::group_mark::group_marks;
use crate::name::claimed;
use crate::outside::Capabilities;
use crate::record::User;

/// An account as it was read: what a change of it has as its condition.
#[derive(Clone, Debug)]
pub struct StoredUser {
    /// The record.
    pub user: User,
    /// Of its row; every write changes it.
    pub version: u64,
    /// What may be changed here.
    pub(crate) may: Capabilities,
    /// The password of a record that was written when records had it in them; the next change moves
    /// it to a row of its own.
    pub(crate) unmoved: Option<Secret<String>>,
}

/// The account's row.
pub(crate) fn user_key(id: &str) -> Key {
    Key::new(Table::User, id.as_bytes())
}

impl StoredUser {
    /// Reads a row.
    pub(crate) fn read(row: &Row) -> Result<StoredUser, StoreError> {
        let corrupt = || StoreError::Corrupt("user record".into());
        let mut user: User = serde_json::from_slice(&row.value).map_err(|_| corrupt())?;
        let mut unmoved = None;
        // What a record had in it before credentials had rows.
        let before = user.unknown.take("password");
        if user.credentials.is_empty() {
            unmoved = match before {
                None | Some(Value::Null) => None,
                Some(Value::String(phc)) => Some(Secret::new(phc)),
                Some(_) => return Err(corrupt()),
            };
            let password = unmoved.is_some().then_some(CredentialName::PASSWORD);
            user.credentials.extend(password);
        }
        let may = match user.link {
            None => Capabilities::ALL,
            Some(_) => Capabilities::NONE,
        };
        Ok(StoredUser {
            user,
            version: row.version,
            may,
            unmoved,
        })
    }
}

/// An address, in its one spelling, that is kept for an account until a change gives it; or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservedEmail(Option<String>);

impl ReservedEmail {
    pub(crate) const NONE: ReservedEmail = ReservedEmail(None);

    pub(crate) fn of(folded: String) -> ReservedEmail {
        ReservedEmail(Some(folded))
    }
}

/// An account in the hands of its writer: its record, and the credentials that change with
/// it.
#[derive(Debug)]
pub struct UserDraft {
    /// The record.
    pub user: User,
    credentials: BTreeMap<CredentialName, Option<Secret<Vec<u8>>>>,
    /// The address that was given, which its row has to lead by.
    moved: Option<ReservedEmail>,
}

impl UserDraft {
    pub(crate) fn new(user: User) -> UserDraft {
        UserDraft {
            user,
            credentials: BTreeMap::new(),
            moved: None,
        }
    }

    /// Gives the account an address that is kept for it, or takes its own away. `verified`: mail to
    /// it is known to reach the person.
    pub fn set_email(&mut self, email: &ReservedEmail, verified: bool) {
        self.user.email.clone_from(&email.0);
        self.user.email_verified = verified && email.0.is_some();
        self.moved = Some(email.clone());
    }

    /// Puts a credential's row in place.
    pub(crate) fn put(&mut self, name: CredentialName, value: Vec<u8>) {
        // A person with a credential has the account: an invitation to it is over.
        self.user.invited = false;
        self.user.invitation = None;
        if !self.user.credentials.contains(&name) {
            self.user.credentials.push(name.clone());
        }
        self.credentials.insert(name, Some(Secret::new(value)));
    }

    pub(crate) fn take_away(&mut self, name: CredentialName) {
        self.user.credentials.retain(|held| *held != name);
        self.credentials.insert(name, None);
    }

    /// Sets a new password (a PHC string), or takes it away. `now`: Unix seconds. The time of the
    /// change never repeats, so that what names it (a recovery link, a known device) is about one
    /// password only, also within one second.
    pub fn set_password(&mut self, phc: Option<&str>, now: u64) {
        match phc {
            Some(phc) => self.put(CredentialName::PASSWORD, phc.as_bytes().to_vec()),
            None => self.take_away(CredentialName::PASSWORD),
        }
        let before = self.user.password_changed_at;
        self.user.password_changed_at = now.max(before.saturating_add(1));
        self.user.must_change_password = false;
    }

    /// As [`UserDraft::set_password`], of a password that another person chose: the next login
    /// has to set a new one.
    pub fn set_temporary_password(&mut self, phc: &str, now: u64) {
        self.set_password(Some(phc), now);
        self.user.must_change_password = true;
    }

    /// The operations on the credentials' rows.
    pub(crate) fn credentials(&self) -> impl Iterator<Item = Op> + '_ {
        self.credentials.iter().map(|(name, value)| {
            let key = name.key(&self.user.id);
            match value {
                Some(value) => Op::Put {
                    key,
                    value: value.expose().clone(),
                    end: None,
                },
                None => Op::Delete { key },
            }
        })
    }
}

/// The row of a record.
pub(crate) fn encode(user: &User) -> Vec<u8> {
    // Invariant: a struct of strings, numbers and booleans always serializes.
    serde_json::to_vec(user).expect("a user record serializes")
}

/// What `change` makes of an account, names and all, and the change of the store that puts it in
/// the place of what was read.
///
/// # Errors
/// [`UserError::Profile`], [`UserError::TooManyCredentials`], [`UserError::KeptElsewhere`].
pub(crate) fn rewritten(
    found: StoredUser,
    now: u64,
    change: impl FnOnce(&mut UserDraft),
) -> Result<(User, Change), UserError> {
    let StoredUser {
        user: before,
        version,
        may,
        unmoved,
    } = found;
    let mut draft = UserDraft::new(before.clone());
    change(&mut draft);
    let kept_elsewhere = [
        (
            may.password || !draft.credentials.contains_key(&CredentialName::PASSWORD),
            "the password",
        ),
        (
            may.mail || draft.user.email == before.email,
            "the e-mail address",
        ),
        (
            may.profile || draft.user.profile == before.profile,
            "the profile",
        ),
        (
            may.attributes || draft.user.attributes == before.attributes,
            "the attributes",
        ),
        (
            may.groups || draft.user.groups == before.groups,
            "which groups the person is in",
        ),
    ];
    if let Some((_, what)) = kept_elsewhere.iter().find(|(fine, _)| !fine) {
        return Err(UserError::KeptElsewhere(what));
    }
    if let Some(phc) = unmoved
        && !draft.credentials.contains_key(&CredentialName::PASSWORD)
    {
        draft.put(CredentialName::PASSWORD, phc.expose().as_bytes().to_vec());
    }
    draft.user.id = before.id;
    draft.user.link = before.link;
    draft.user.profile.check()?;
    draft.user.check_holdings()?;
    if draft.user.credentials.len() > MAX_CREDENTIALS {
        return Err(UserError::TooManyCredentials);
    }
    draft.user.updated_at = now;
    let replace = Op::Replace {
        key: user_key(&draft.user.id),
        version,
        value: encode(&draft.user),
        end: None,
    };
    let mut then: Vec<Op> = draft.credentials().collect();
    let address = draft.moved.and_then(|moved| moved.0);
    then.extend(address.map(|address| claimed(&address, &draft.user.id)));
    then.extend(group_marks(&before.groups, &draft.user.groups));
    let change = Change {
        first: replace,
        then,
    };
    Ok((draft.user, change))
}

/// What `change` makes of an account, and the change of the store that puts it in the place of what
/// was read. User name and id stay as they are, and so does the e-mail address unless
/// [`UserDraft::set_email`] gave another.
///
/// # Errors
/// [`UserError::Profile`], [`UserError::TooManyCredentials`], [`UserError::KeptElsewhere`].
pub fn replacement(
    found: StoredUser,
    now: u64,
    change: impl FnOnce(&mut UserDraft),
) -> Result<(User, Change), UserError> {
    rewritten(found, now, |draft| {
        let (username, email) = (draft.user.username.clone(), draft.user.email.clone());
        let verified = draft.user.email_verified;
        change(draft);
        draft.user.username = username;
        if draft.moved.is_none() && draft.user.email != email {
            draft.user.email = email;
            draft.user.email_verified = verified;
        }
    })
}
