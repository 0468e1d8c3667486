//! What an account says of its person beside the standard claims: attributes, groups and roles.
//!
//! All of it stands in the account's own record, so that a change of it is one change with that
//! record as its condition, and a reader of the account has it.

use signet_oauth::people::{Held, Holdings, MAX_ATTRIBUTES, People};
use signet_store::{Change, Op};

use crate::accounts::Accounts;
use crate::error::UserError;
use crate::group_mark::mark_key;
use crate::record::{MAX_USER_GROUPS, User};

/// Most roles that an account is given; those of its groups aside.
pub const MAX_USER_ROLES: usize = 256;

impl Accounts {
    /// The state of a group's members; none: nobody was ever in it. To be read before the members.
    ///
    /// # Errors
    /// The store's.
    pub async fn group_mark(&self, group_id: &str, now: u64) -> Result<Option<u64>, UserError> {
        let row = self.store().get(&mark_key(group_id), now).await?;
        Ok(row.map(|row| row.version))
    }

    /// Begins a change of a group's members. Whether nobody has changed them since the state was
    /// read: of several who read the same, one gets a yes.
    ///
    /// # Errors
    /// The store's.
    pub async fn claim_group(
        &self,
        group_id: &str,
        read: Option<u64>,
        now: u64,
    ) -> Result<bool, UserError> {
        let (key, value) = (mark_key(group_id), Vec::new());
        let first = match read {
            None => Op::Insert {
                key,
                value,
                end: None,
            },
            Some(version) => Op::Replace {
                key,
                version,
                value,
                end: None,
            },
        };
        Ok(self
            .store()
            .commit(Change::new(first), now)
            .await?
            .is_done())
    }
}

impl User {
    /// What tables of claims are filled from.
    pub fn holdings(&self) -> Holdings {
        let attributes = self.attributes.iter().map(|(name, stored)| {
            let held = Held {
                value: stored.value.to_attribute(),
                verified: stored.verified,
            };
            (name.clone(), held)
        });
        Holdings {
            groups: self.groups.clone(),
            groups_outside: self.groups_outside.clone(),
            roles: self.roles.clone(),
            attributes: attributes.collect(),
        }
    }

    /// Within the bounds of an account.
    pub(crate) fn check_holdings(&self) -> Result<(), UserError> {
        let fits = self.groups.len() <= MAX_USER_GROUPS
            && self.groups_outside.len() <= MAX_USER_GROUPS
            && self.roles.len() <= MAX_USER_ROLES
            && self.attributes.len() <= MAX_ATTRIBUTES;
        match fits {
            true => Ok(()),
            false => Err(UserError::TooMuchHeld),
        }
    }

    /// Puts the account into groups and takes it out of others, by their ids. Where there would be
    /// too many, those that name no group any more go: not before, for a group that another node
    /// has just made may not be known here yet.
    pub fn change_groups(&mut self, add: &[String], remove: &[String], people: &People) {
        let lives = |id: &String| people.group_of_id(id).is_some();
        change(&mut self.groups, add, remove, MAX_USER_GROUPS, lives);
    }

    /// Gives the account roles and takes others away, as [`User::change_groups`].
    pub fn change_roles(&mut self, add: &[String], remove: &[String], people: &People) {
        let lives = |id: &String| people.role_of_id(id).is_some();
        change(&mut self.roles, add, remove, MAX_USER_ROLES, lives);
    }
}

fn change(
    ids: &mut Vec<String>,
    add: &[String],
    remove: &[String],
    most: usize,
    lives: impl Fn(&String) -> bool,
) {
    ids.extend_from_slice(add);
    ids.retain(|id| !remove.contains(id));
    ids.sort_unstable();
    ids.dedup();
    if ids.len() > most {
        ids.retain(lives);
    }
}
