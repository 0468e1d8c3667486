//! The list of a user's grants: what their clients hold, one row of [`Table::UserGrant`] for each
//! redeemed code or approved device. The token endpoint adds [`entry`] to the change that redeems;
//! account page and admin API read and revoke.
//!
//! A row ends with the grant's last token. It is a list for people: whether a token is in force is
//! the revocations' and the family's business, and a row that was lost would change nothing about
//! that.

use serde::{Deserialize, Serialize};
use signet_oauth::id::GrantId;
use signet_store::{Key, Op, Store, StoreError, Table};

/// Rows that are read at once.
const PAGE: usize = 256;

/// A grant, as its user sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantRow {
    /// Who holds it.
    pub client_id: String,
    /// What for, separated by spaces.
    pub scope: String,
    /// The session it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sid: Option<String>,
    /// Unix seconds.
    pub created_at: u64,
}

fn key_of(user_id: &str, grant_id: &GrantId) -> Key {
    Key::with_sort(
        Table::UserGrant,
        user_id.as_bytes(),
        grant_id.as_bytes().as_slice(),
    )
}

/// The write that lists a grant. `end`: Unix seconds, when its last token has expired.
pub fn entry(user_id: &str, grant_id: &GrantId, row: &GrantRow, end: u64) -> Op {
    Op::Put {
        key: key_of(user_id, grant_id),
        // Invariant: strings and a number always serialize.
        value: serde_json::to_vec(row).expect("a grant row serializes"),
        end: Some(end),
    }
}

/// The write that takes it off the list.
pub fn removal(user_id: &str, grant_id: &GrantId) -> Op {
    Op::Delete {
        key: key_of(user_id, grant_id),
    }
}

/// A page of everybody's grants, in the order of users and ids: after this user and grant, at most
/// `limit`. For the admin API only. With each its user.
pub async fn page(
    store: &dyn Store,
    after: Option<(&str, &GrantId)>,
    limit: usize,
    now: u64,
) -> Result<Vec<(String, GrantId, GrantRow)>, StoreError> {
    let after = after.map(|(user_id, id)| key_of(user_id, id));
    let rows = store
        .page(Table::UserGrant, after.as_ref(), limit, now)
        .await?;
    rows.into_iter()
        .map(|(key, row)| {
            let corrupt = || StoreError::Corrupt("grant row".into());
            let user_id = String::from_utf8(key.partition.to_vec()).map_err(|_| corrupt())?;
            let id = GrantId::from_slice(&key.sort).ok_or_else(corrupt)?;
            let row = serde_json::from_slice(&row.value).map_err(|_| corrupt())?;
            Ok((user_id, id, row))
        })
        .collect()
}

/// Every grant of a user, in the order of their ids.
pub async fn list(
    store: &dyn Store,
    user_id: &str,
    now: u64,
) -> Result<Vec<(GrantId, GrantRow)>, StoreError> {
    let mut grants = Vec::new();
    let mut after = Vec::new();
    loop {
        let rows = store
            .partition(Table::UserGrant, user_id.as_bytes(), &after, PAGE, now)
            .await?;
        let Some((last, _)) = rows.last() else {
            return Ok(grants);
        };
        after.clone_from(&last.sort);
        for (key, row) in rows {
            let corrupt = || StoreError::Corrupt("grant row".into());
            let id = GrantId::from_slice(&key.sort).ok_or_else(corrupt)?;
            let row = serde_json::from_slice(&row.value).map_err(|_| corrupt())?;
            grants.push((id, row));
        }
    }
}
