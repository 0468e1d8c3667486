//! Accounts that come from another server, with the ids and the password hashes that they have
//! there.

use std::collections::BTreeMap;

use signet_crypto::foreign::{self, ForeignError};
use signet_crypto::hash::sha256;
use signet_encoding::base64url;
use signet_store::{Key, Op, StoreError, Table};

use crate::accounts::Accounts;
use crate::attributes::StoredAttribute;
use crate::consent;
use crate::credential::MAX_CREDENTIALS;
use crate::draft::UserDraft;
use crate::error::UserError;
use crate::local::{Local, new_id};
use crate::name::{fold, folded_email, folded_username};
use crate::record::{AcceptedTerms, DeletionStage, Profile, User, hex};
use crate::stored_credential::StoredCredential;
use crate::upstream::UpstreamLink;
use signet_oauth::issued::session::Consent;

/// An account as it is brought.
#[derive(Clone, Debug, Default)]
pub struct ImportedUser {
    /// The id that it keeps, as an id here looks; None: a new one.
    pub id: Option<String>,
    /// As for a new user.
    pub username: String,
    /// As for a new user.
    pub email: Option<String>,
    /// Whether the address is known to be the person's.
    pub email_verified: bool,
    /// As [`signet_crypto::foreign`] reads it, or our own.
    pub password_hash: Option<String>,
    /// May administer.
    pub admin: bool,
    /// Names of the roles that it administers with; none, where it may: an owner.
    pub admin_roles: Vec<String>,
    /// Whether the person may log in.
    pub enabled: bool,
    /// The first login has to set another password.
    pub must_change_password: bool,
    /// Unix seconds from which the account is as a disabled one.
    pub expires_at: Option<u64>,
    /// Unix seconds; None: now.
    pub created_at: Option<u64>,
    /// Somebody was invited to take it over, and has not.
    pub invited: bool,
    /// The first login has to accept the terms.
    pub must_accept_terms: bool,
    /// The terms that the person has accepted.
    pub terms: Option<AcceptedTerms>,
    /// The rest of the profile.
    pub profile: Profile,
    /// Ids of groups.
    pub groups: Vec<String>,
    /// Ids of roles.
    pub roles: Vec<String>,
    /// By name.
    pub attributes: BTreeMap<String, StoredAttribute>,
    /// What the person logs in with beside the password, links aside.
    pub credentials: Vec<StoredCredential>,
    /// Who the person is at identity providers. A person of a provider who logs in as another
    /// account does so still.
    pub links: Vec<UpstreamLink>,
    /// What the person has agreed to, by client.
    pub consents: Vec<(String, Consent)>,
    /// The id of the account, if it is made and has none of its own: credentials may be sealed for
    /// it. None: a new one.
    pub new_id: Option<String>,
}

/// Its outcome.
#[derive(Clone, Debug, PartialEq)]
pub enum Imported {
    /// The account was made.
    Made(User),
    /// It was there before, and stays as it is.
    There(User),
}

/// The outcome of a person's moving by their first login.
#[derive(Clone, Debug, PartialEq)]
pub enum Migrated {
    /// The account was made.
    Made(User),
    /// They had moved before, or are here by another name: this account is theirs, and what it
    /// expects counts.
    There(User),
    /// They had moved before, and the account was removed here: they do not come back.
    Removed,
}

/// The row that says that somebody has moved, and to which account. It stays when the account is
/// removed.
fn moved_of(issuer: &str, subject: &str) -> Key {
    let mut named = b"migrated\0".to_vec();
    named.extend_from_slice(&(issuer.len() as u64).to_be_bytes());
    named.extend_from_slice(issuer.as_bytes());
    named.extend_from_slice(subject.as_bytes());
    Key::new(Table::UserLink, hex(&sha256(&named)))
}

/// The id of a new account.
pub fn new_user_id() -> String {
    new_id()
}

/// Whether a text can be the id of an account: 16 bytes as base64url.
pub fn is_id(text: &str) -> bool {
    base64url::decode(text.as_bytes()).is_ok_and(|bytes| bytes.len() == 16)
}

/// The id here of an account whose id elsewhere is a UUID (RFC 9562 section 4): its 16 bytes.
pub fn id_of_uuid(text: &str) -> Option<String> {
    let hyphens = [8, 13, 18, 23];
    let digits: Vec<u8> = text
        .bytes()
        .enumerate()
        .filter(|(at, byte)| !(hyphens.contains(at) && *byte == b'-'))
        .map(|(_, byte)| byte)
        .collect();
    if text.len() != 36 || digits.len() != 32 {
        return None;
    }
    let value = |digit: u8| char::from(digit).to_digit(16);
    let bytes: Option<Vec<u8>> = digits
        .chunks(2)
        .map(|pair| Some((value(pair[0])? << 4 | value(pair[1])?) as u8))
        .collect();
    Some(base64url::encode(&bytes?))
}

/// Whether a password hash can be verified.
///
/// # Errors
/// [`ForeignError`].
pub fn check_hash(stored: &str) -> Result<(), ForeignError> {
    foreign::check(stored)
}

impl Accounts {
    /// As [`Local::import`].
    ///
    /// # Errors
    /// As there; a name that a directory has is taken.
    pub async fn import(&self, given: ImportedUser, now: u64) -> Result<Imported, UserError> {
        if self.is_outside(&given.username).await? {
            return Err(UserError::UsernameTaken);
        }
        if let Some(email) = &given.email
            && self.is_outside(email).await?
        {
            return Err(UserError::EmailTaken);
        }
        let id = given.id.clone().or_else(|| given.new_id.clone());
        let id = id.unwrap_or_else(new_id);
        let mut links = Vec::new();
        for link in &given.links {
            // The row first: without its credential it leads nowhere.
            if self.lead_to(&link.id(), link, &id, now).await? {
                links.push(link.credential());
            }
        }
        let new_id = Some(id);
        let given = ImportedUser { new_id, ..given };
        self.local().import(given, &links, Vec::new(), now).await
    }

    /// Makes an account for a person who has just shown their password at another server, where
    /// `issuer` and `subject` name them for ever. Of racing first logins one makes it. An address
    /// that somebody has is left out.
    ///
    /// # Errors
    /// As [`Accounts::import`].
    pub async fn migrate(
        &self,
        given: ImportedUser,
        (issuer, subject): (&str, &str),
        now: u64,
    ) -> Result<Migrated, UserError> {
        let key = moved_of(issuer, subject);
        if let Some(row) = self.store().get(&key, now).await? {
            let Ok(id) = String::from_utf8(row.value) else {
                return Err(StoreError::Corrupt("who has moved".into()).into());
            };
            let user = self.by_id(&id, now).await?;
            return Ok(user.map_or(Migrated::Removed, Migrated::There));
        }
        if let Some(id) = &given.id
            && let Some(user) = self.by_id(id, now).await?
        {
            return Ok(Migrated::There(user));
        }
        if self.is_outside(&given.username).await? {
            return Err(UserError::UsernameTaken);
        }
        let id = given.id.clone().unwrap_or_else(new_id);
        let moved = || Op::Put {
            key: key.clone(),
            value: id.clone().into_bytes(),
            end: None,
        };
        let mut given = ImportedUser {
            new_id: Some(id.clone()),
            ..given
        };
        if let Some(email) = given.email.clone()
            && self.is_outside(&email).await?
        {
            given.email = None;
        }
        let there = self.local();
        let mut made = there.import(given.clone(), &[], vec![moved()], now).await;
        if matches!(made, Err(UserError::EmailTaken)) {
            given.email = None;
            made = there.import(given, &[], vec![moved()], now).await;
        }
        Ok(match made? {
            Imported::Made(user) => Migrated::Made(user),
            Imported::There(user) => Migrated::There(user.at(now)),
        })
    }
}

impl Local {
    /// Makes an account that comes from another server. One of the same user name (and id, where
    /// one is given) is left as it is, so that an import can be done again. `also` is done in the
    /// change that makes it.
    ///
    /// # Errors
    /// As [`Local::create`]; [`UserError::Id`].
    pub(crate) async fn import(
        &self,
        given: ImportedUser,
        links: &[StoredCredential],
        mut also: Vec<Op>,
        now: u64,
    ) -> Result<Imported, UserError> {
        let username = folded_username(&given.username)?;
        let has_name = |user: &User| fold(&user.username).as_deref() == Some(&*username);
        if let Some(found) = self.by_login(&given.username, now).await? {
            let same = given.id.as_ref().is_none_or(|id| *id == found.id);
            return match same && has_name(&found) {
                true => Ok(Imported::There(found)),
                false => Err(UserError::UsernameTaken),
            };
        }
        if let Some(id) = &given.id {
            if !is_id(id) {
                return Err(UserError::Id);
            }
            if let Some(found) = self.by_id(id, now).await? {
                if !has_name(&found) {
                    return Err(UserError::Id);
                }
                // An import of an earlier version that ended between the record and its names:
                // they are its own.
                for name in [Some(&found.username), found.email.as_ref()]
                    .into_iter()
                    .flatten()
                {
                    self.claim(name, id, now).await?;
                }
                return Ok(Imported::There(found));
            }
        }
        given.profile.check()?;
        let mut draft = UserDraft::new(User {
            id: given.id.or(given.new_id).unwrap_or_else(new_id),
            username: given.username.trim().to_owned(),
            email_verified: given.email_verified && given.email.is_some(),
            email: given.email.as_deref().map(folded_email).transpose()?,
            link: None,
            credentials: Vec::new(),
            password_changed_at: 0,
            must_change_password: false,
            expires_at: given.expires_at,
            admin: given.admin,
            admin_roles: given.admin_roles,
            enabled: given.enabled,
            created_at: given.created_at.unwrap_or(now),
            updated_at: now,
            invitation: None,
            invited: given.invited,
            must_accept_terms: given.must_accept_terms,
            terms: given.terms,
            deletion: None,
            deletion_stage: DeletionStage::Asked,
            profile: given.profile,
            external_id: None,
            groups: given.groups,
            groups_outside: Vec::new(),
            groups_outside_until: None,
            roles: given.roles,
            attributes: given.attributes,
            unknown: Default::default(),
        });
        draft.user.check_holdings()?;
        if let Some(stored) = &given.password_hash {
            match given.must_change_password {
                true => draft.set_temporary_password(stored, now),
                false => draft.set_password(Some(stored), now),
            }
        }
        for credential in given.credentials.iter().chain(links) {
            draft.put_credential(credential);
        }
        draft.user.invited = given.invited;
        if draft.user.credentials.len() > MAX_CREDENTIALS {
            return Err(UserError::TooManyCredentials);
        }
        let consents = given.consents.iter();
        let user_id = draft.user.id.clone();
        also.extend(consents.map(|(client, consent)| consent::put(&user_id, client, consent)));
        let written = self.write_new(draft, also, true, now).await;
        written.map(Imported::Made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_the_id_of_its_bytes_and_nothing_else_is_one() {
        let id = id_of_uuid("00112233-4455-6677-8899-AABBccddeeff").unwrap();
        assert_eq!(id, "ABEiM0RVZneImaq7zN3u_w");
        assert!(is_id(&id));
        for text in [
            "",
            "00112233445566778899aabbccddeeff",
            "00112233-4455-6677-8899-aabbccddeefg",
            "00112233-4455-6677-8899-aabbccddee-f",
            "0011223-34455-6677-8899-aabbccddeeff",
        ] {
            assert_eq!(id_of_uuid(text), None, "{text}");
        }
    }
}
