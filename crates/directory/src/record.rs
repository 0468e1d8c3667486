//! A user's record and the claims that it gives.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use signet_crypto::hash::sha256;
use signet_oauth::administration::OWNER;
use signet_oauth::issued::session::UserClaims;
use signet_store::{Key, Table};

use crate::attributes::StoredAttribute;
use crate::credential::{CredentialKind, CredentialName};
use crate::error::UserError;
use crate::unknown::Unknown;

/// Seconds for which groups of an identity provider count where their record has no end.
const YEAR: u64 = 365 * 86_400;

/// Longest value of one profile claim in bytes.
const MAX_CLAIM_BYTES: usize = 1024;

/// Most groups that an account is put into; those around them aside.
pub const MAX_USER_GROUPS: usize = 256;

/// A user's record, as stored. Times are Unix seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct User {
    /// Random, 16 bytes as base64url; the `sub` claim.
    pub id: String,
    /// As it was typed when the account was made; folded for look-up only.
    pub username: String,
    /// Unique among users when present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Whether the person has shown that mail to `email` reaches them.
    #[serde(default)]
    pub email_verified: bool,
    /// Whose person this is, where the account is that of a directory's person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<DirectoryLink>,
    /// The names of the account's credentials; what they are stands in rows of their own.
    #[serde(default)]
    pub(crate) credentials: Vec<CredentialName>,
    /// May be given the scope `signet:admin`.
    #[serde(default)]
    pub admin: bool,
    /// Names of the roles that the account administers with: see
    /// [`User::roles_of_administrator`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub admin_roles: Vec<String>,
    /// A disabled user cannot log in, and their sessions answer nothing.
    pub enabled: bool,
    /// Unix seconds.
    pub created_at: u64,
    /// Unix seconds; the `updated_at` claim.
    pub updated_at: u64,
    /// Unix seconds of the last change of the password; 0: never set.
    #[serde(default)]
    pub password_changed_at: u64,
    /// The next login has to set a new password before a session begins.
    #[serde(default, skip_serializing_if = "is_false")]
    pub must_change_password: bool,
    /// Unix seconds from which the account is as a disabled one. None: it does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
    /// The invitation that the person has not accepted yet: a link of an earlier one is not it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invitation: Option<Invitation>,
    /// Somebody was invited to take the account over, and has not: see [`User::awaits_its_person`].
    /// A withdrawn invitation leaves it so.
    #[serde(default, skip_serializing_if = "is_false")]
    pub invited: bool,
    /// The next login has to accept the realm's terms before a session begins, where it has any.
    #[serde(default, skip_serializing_if = "is_false")]
    pub must_accept_terms: bool,
    /// The terms that the person has accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<AcceptedTerms>,
    /// The account is to be erased; until then it is as a disabled one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion: Option<Deletion>,
    /// How far the deletion has come.
    #[serde(default, skip_serializing_if = "DeletionStage::is_asked")]
    pub deletion_stage: DeletionStage,
    /// The rest of the profile.
    #[serde(default)]
    pub profile: Profile,
    /// The provisioning client's name for it (RFC 7643 section 3.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// Ids of the groups that the account was put into.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Names of the groups that the person's directory has them in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups_outside: Vec<String>,
    /// Unix seconds from which `groups_outside` is invalid, where an identity provider said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups_outside_until: Option<u64>,
    /// Ids of the roles that the account was given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// By name: what the realm's schema has of the person.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, StoredAttribute>,
    /// What a later version wrote.
    #[serde(flatten)]
    pub(crate) unknown: Unknown,
}

// What `skip_serializing_if` calls has a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(is: &bool) -> bool {
    !is
}

impl User {
    /// The account as it is at a time, Unix seconds: one that has expired, or is to be erased, is
    /// not enabled, and groups that an identity provider named too long ago are none.
    pub(crate) fn at(mut self, now: u64) -> User {
        self.enabled &= self.expires_at.is_none_or(|end| now < end) && self.deletion.is_none();
        if !self.groups_outside.is_empty() && self.link.is_none() {
            // A record of an earlier version does not say when: its last change is not before.
            let until = self.groups_outside_until;
            let until = until.unwrap_or(self.updated_at.saturating_add(YEAR));
            if until <= now {
                self.groups_outside.clear();
            }
        }
        self
    }

    /// Whether the account was made for somebody who was invited to take it over, and nobody has:
    /// neither by the invitation, nor was it given a credential since. Until then its address
    /// opens nothing, for it is not known whose mailbox that is.
    pub fn awaits_its_person(&self) -> bool {
        let was_invited = self.invited || self.invitation.is_some();
        was_invited && self.credentials.is_empty() && self.link.is_none()
    }

    /// Names of the roles that the account administers with. One that administers and names none is
    /// an owner: so are those that were made before there were roles.
    pub fn roles_of_administrator(&self) -> Vec<String> {
        match (self.admin, self.admin_roles.is_empty()) {
            (false, _) => Vec::new(),
            (true, true) => vec![OWNER.to_owned()],
            (true, false) => self.admin_roles.clone(),
        }
    }

    /// Whether the account may do everything.
    pub fn is_owner(&self) -> bool {
        self.admin && (self.admin_roles.is_empty() || self.admin_roles.iter().any(|r| r == OWNER))
    }

    /// Whether the account has a credential of this kind.
    pub fn has(&self, kind: CredentialKind) -> bool {
        self.credentials.iter().any(|name| name.kind == kind)
    }

    /// The account as if it did not have this credential.
    #[must_use]
    pub fn without(&self, name: &CredentialName) -> User {
        let mut user = self.clone();
        user.credentials.retain(|held| held != name);
        user
    }

    /// The ids of the account's credentials of this kind.
    pub fn credentials_of(&self, kind: CredentialKind) -> impl Iterator<Item = &str> {
        let of_kind = self
            .credentials
            .iter()
            .filter(move |name| name.kind == kind);
        of_kind.map(|name| name.id.as_str())
    }
}

/// An invitation to take an account over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Invitation {
    /// Unix seconds; no two of an account have the same.
    pub sent_at: u64,
    /// Unix seconds from which it can no longer be accepted.
    pub ends_at: u64,
}

/// The deletion of an account that somebody has asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Deletion {
    /// Unix seconds.
    pub asked_at: u64,
    /// Unix seconds at which it is erased.
    pub erase_at: u64,
}

/// How far a deletion has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeletionStage {
    /// It was asked for, and nobody has been told.
    #[default]
    Asked,
    /// The person was notified, and how to keep the account.
    Told,
    /// Its time has come: nobody keeps the account any more.
    Erasing,
}

impl DeletionStage {
    // What `skip_serializing_if` calls has a reference.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    fn is_asked(&self) -> bool {
        *self == DeletionStage::Asked
    }
}

/// Terms that a person has accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AcceptedTerms {
    /// Which, as the configuration named them.
    pub version: String,
    /// Unix seconds.
    pub accepted_at: u64,
}

/// The person of a directory outside whose account this is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectoryLink {
    /// The directory's name.
    pub directory: String,
    /// The person's id in it.
    pub person: String,
}

impl DirectoryLink {
    /// The row that leads from the person to the account: hashed, for a directory's ids may be
    /// long.
    pub(crate) fn key(&self) -> Key {
        let mut named = (self.directory.len() as u64).to_be_bytes().to_vec();
        named.extend_from_slice(self.directory.as_bytes());
        named.extend_from_slice(self.person.as_bytes());
        Key::new(Table::UserLink, hex(&sha256(&named)))
    }
}

/// Text, so that no key can be taken for another realm's.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Standard claims (OpenID Connect Core section 5.1) that are kept and given out, and never
/// interpreted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// Full name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Given name or names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_name: Option<String>,
    /// Surname or surnames.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family_name: Option<String>,
    /// Middle name or names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub middle_name: Option<String>,
    /// Casual name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nickname: Option<String>,
    /// URL of a profile page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// URL of a picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
    /// URL of a web page or blog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub website: Option<String>,
    /// Free text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gender: Option<String>,
    /// ISO 8601-1 date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub birthdate: Option<String>,
    /// IANA time zone name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zoneinfo: Option<String>,
    /// BCP 47 tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// E.164 number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone_number: Option<String>,
    /// Whether the number was verified.
    pub phone_number_verified: bool,
    /// Postal address: the `formatted` member of the claim (section 5.1.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

impl Profile {
    fn texts(&self) -> [&Option<String>; 13] {
        [
            &self.name,
            &self.given_name,
            &self.family_name,
            &self.middle_name,
            &self.nickname,
            &self.profile,
            &self.picture,
            &self.website,
            &self.gender,
            &self.birthdate,
            &self.zoneinfo,
            &self.locale,
            &self.phone_number,
        ]
    }

    /// Bounded, and without control characters; but an address may have lines (OpenID Connect Core
    /// section 5.1.1).
    pub(crate) fn check(&self) -> Result<(), UserError> {
        let short = |text: &String| text.len() <= MAX_CLAIM_BYTES;
        let one_line = |text: &String| !text.chars().any(char::is_control);
        let lines = |text: &String| {
            text.split('\n').all(|line| {
                !line
                    .strip_suffix('\r')
                    .unwrap_or(line)
                    .chars()
                    .any(char::is_control)
            })
        };
        let mut texts = self.texts().into_iter().flatten();
        if texts.all(|text| short(text) && one_line(text))
            && self.address.iter().all(|text| short(text) && lines(text))
        {
            Ok(())
        } else {
            Err(UserError::Profile)
        }
    }
}

impl User {
    /// What an ID token or the userinfo endpoint may say of this user.
    pub fn claims(&self) -> UserClaims {
        let profile = self.profile.clone();
        UserClaims {
            sub: self.id.clone(),
            name: profile.name,
            given_name: profile.given_name,
            family_name: profile.family_name,
            middle_name: profile.middle_name,
            nickname: profile.nickname,
            preferred_username: Some(self.username.clone()),
            profile: profile.profile,
            picture: profile.picture,
            website: profile.website,
            email: self.email.clone(),
            email_verified: self.email_verified,
            gender: profile.gender,
            birthdate: profile.birthdate,
            zoneinfo: profile.zoneinfo,
            locale: profile.locale,
            phone_number: profile.phone_number,
            phone_number_verified: profile.phone_number_verified,
            address: profile.address,
            updated_at: Some(self.updated_at),
            held: self.holdings(),
        }
    }

    /// What they are searched by, in lower case: name, address, full, given and family name. Who
    /// provisions often writes given and family name, and no full name: they are there one by one
    /// and as people write them together, in either order.
    pub fn texts(&self) -> Vec<String> {
        let profile = &self.profile;
        let own = [
            Some(&self.username),
            self.email.as_ref(),
            profile.name.as_ref(),
            profile.given_name.as_ref(),
            profile.family_name.as_ref(),
        ];
        let together = match (&profile.given_name, &profile.family_name) {
            (Some(given), Some(family)) => {
                [format!("{given} {family}"), format!("{family} {given}")].to_vec()
            }
            (Some(_) | None, None) | (None, Some(_)) => Vec::new(),
        };
        let all = own.into_iter().flatten().chain(&together);
        all.map(|text| text.to_lowercase()).collect()
    }

    /// Whether one of these texts has these words, which are in lower case.
    pub fn has_words(&self, words: &str) -> bool {
        self.texts().iter().any(|text| text.contains(words))
    }

    /// The name to greet the person with.
    pub fn display_name(&self) -> &str {
        self.profile.name.as_deref().unwrap_or(&self.username)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_have_lines_and_no_other_claim() {
        let address = |text: &str| Profile {
            address: Some(text.to_owned()),
            ..Profile::default()
        };
        assert!(address("1 Road\nTown\r\nCountry").check().is_ok());
        assert!(address("1 Road\tTown").check().is_err());
        assert!(address("1 Road\rTown").check().is_err());
        let name = Profile {
            name: Some("Ann\nAdmin".to_owned()),
            ..Profile::default()
        };
        assert!(name.check().is_err());
    }
}
