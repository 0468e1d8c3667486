//! How much would end: counted before it does, for whoever decides whether it shall.
//!
//! What belongs to a person is counted in their own partition of each table. What a client holds of
//! everybody is in no list of the client: everybody's grants are looked through for it, as far as
//! a bound. So a number is exact, or says that there is more.
use crate::state::Realm;
use signet_directory::grants::{self, GrantRow};
use signet_oauth::id::GrantId;
use signet_revocation::RevocationQuery;
use signet_store::{Key, StoreError, Table};
use std::ops::AddAssign;

/// Most of one kind that is counted
pub const MAX_COUNTED: usize = 10_000;
/// Most grants that are looked through for those of a client
pub const MAX_LOOKED_THROUGH: usize = 100_000;
/// Rows that are read at once.
const PAGE: usize = 1000;

/// A number of things, or of some of them.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Counted {
    /// At most [`MAX_COUNTED`].
    pub count: usize,
    /// There are, or may be, more.
    pub more: bool,
}

impl AddAssign<usize> for Counted {
    fn add_assign(&mut self, number: usize) {
        let sum = self.count.saturating_add(number);
        self.more |= sum > MAX_COUNTED;
        self.count = sum.min(MAX_COUNTED);
    }
}

impl Counted {
    /// Whether no more of them is counted.
    fn is_full(self) -> bool {
        self.more
    }
}

/// What would end, by its kind.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Counts {
    /// Whose it is.
    pub people: Counted,
    /// Login sessions.
    pub sessions: Counted,
    /// Grants that are in force: refresh families, with their access tokens.
    pub grants: Counted,
    /// Remembered consents.
    pub consents: Counted,
    /// Identities of agents that people bound.
    pub agents: Counted,
}

/// How far everybody's grants were looked through.
#[derive(Default)]
pub struct LookingThrough {
    after: Option<(String, GrantId)>,
    looked: usize,
    is_done: bool,
    /// There may be more than were looked through.
    pub is_cut: bool,
}

impl Realm {
    /// Whether a grant that is listed was revoked: by itself, its session, its person or its
    /// client. One that began in the very second of a revocation counts as begun after it.
    fn is_grant_revoked(&self, user_id: &str, id: GrantId, row: &GrantRow) -> bool {
        self.revocations.is_revoked(&RevocationQuery {
            issued_at_ms: row.created_at.saturating_mul(1000).saturating_add(999),
            grant_id: Some(id),
            sid: row.sid.as_deref(),
            user_id: Some(user_id),
            client_id: Some(&row.client_id),
            ..RevocationQuery::default()
        })
    }

    /// The grants of a person that are in force.
    ///
    /// # Errors
    /// The store's.
    pub async fn grants_in_force(&self, user_id: &str) -> Result<Vec<GrantRow>, StoreError> {
        let listed = grants::list(&*self.store, user_id, self.now()).await?;
        let in_force = listed
            .into_iter()
            .filter(|(id, row)| !self.is_grant_revoked(user_id, *id, row));
        Ok(in_force.map(|(_, row)| row).collect())
    }

    /// The next of everybody's grants in force, each with its user, those of one person one after
    /// another. None: there are no more, or enough were looked through.
    ///
    /// # Errors
    /// The store's.
    pub async fn look_through_grants(
        &self,
        looking: &mut LookingThrough,
    ) -> Result<Option<Vec<(String, GrantRow)>>, StoreError> {
        if looking.is_done {
            return Ok(None);
        }
        let last = looking.after.as_ref();
        let last = last.map(|(user_id, id)| (user_id.as_str(), id));
        let rows = grants::page(&*self.store, last, PAGE, self.now()).await?;
        looking.looked += rows.len();
        let is_last = rows.len() < PAGE;
        looking.is_cut = !is_last && looking.looked >= MAX_LOOKED_THROUGH;
        looking.is_done = is_last || looking.is_cut;
        let last = rows.last();
        looking.after = last.map(|(user_id, id, _)| (user_id.clone(), *id));
        let in_force = rows
            .into_iter()
            .filter(|(user_id, id, row)| !self.is_grant_revoked(user_id, *id, row));
        Ok(Some(
            in_force.map(|(user_id, _, row)| (user_id, row)).collect(),
        ))
    }

    /// What a person has.
    ///
    /// # Errors
    /// The store's.
    pub async fn count_of(&self, user_id: &str) -> Result<Counts, StoreError> {
        let mut counts = Counts::default();
        counts.people += 1;
        counts.sessions = self.count_own(Table::UserSession, user_id).await?;
        counts.grants += self.grants_in_force(user_id).await?.len();
        counts.consents = self.count_own(Table::Consent, user_id).await?;
        counts.agents = self.count_own(Table::UserAgent, user_id).await?;
        Ok(counts)
    }

    /// What all people of the realm have together.
    ///
    /// # Errors
    /// The store's.
    pub async fn count_everything(&self) -> Result<Counts, StoreError> {
        let mut counts = Counts {
            people: self.count_all(Table::User).await?,
            sessions: self.count_all(Table::UserSession).await?,
            consents: self.count_all(Table::Consent).await?,
            agents: self.count_all(Table::UserAgent).await?,
            ..Counts::default()
        };
        let mut looking = LookingThrough::default();
        while let Some(grants) = self.look_through_grants(&mut looking).await? {
            counts.grants += grants.len();
            if counts.grants.is_full() {
                break;
            }
        }
        counts.grants.more |= looking.is_cut;
        Ok(counts)
    }

    /// Rows of a person in a table that is partitioned by people.
    async fn count_own(&self, table: Table, user_id: &str) -> Result<Counted, StoreError> {
        let (store, now) = (&self.store, self.now());
        let (mut counted, mut after) = (Counted::default(), Vec::new());
        loop {
            let read = store.partition(table, user_id.as_bytes(), &after, PAGE, now);
            let rows = read.await?;
            counted += rows.len();
            match rows.into_iter().last() {
                Some((last, _)) if !counted.is_full() => after = last.sort,
                Some(_) | None => return Ok(counted),
            }
        }
    }

    async fn count_all(&self, table: Table) -> Result<Counted, StoreError> {
        let (mut counted, mut after) = (Counted::default(), None::<Key>);
        loop {
            let page = self.store.page(table, after.as_ref(), PAGE, self.now());
            let rows = page.await?;
            let is_last = rows.len() < PAGE;
            counted += rows.len();
            if is_last || counted.is_full() {
                return Ok(counted);
            }
            after = rows.into_iter().last().map(|(key, _)| key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stops_at_its_bound_and_says_so() {
        let mut counted = Counted::default();
        counted += MAX_COUNTED;
        assert_eq!((counted.count, counted.more), (MAX_COUNTED, false));
        counted += 1;
        assert_eq!((counted.count, counted.more), (MAX_COUNTED, true));
    }
}
