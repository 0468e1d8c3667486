//! What people have agreed to: one row of [`Table::Consent`] for each user and client.
//!
//! A consent grows with every scope that the person allows; a later request for no more than that
//! need not ask again. Withdrawing removes the row, and the caller revokes what the client holds.

use crate::unknown::Unknown;
use serde::{Deserialize, Serialize};
use signet_oauth::issued::session::Consent;
use signet_oauth::scope::ScopeSet;
use signet_store::{Change, Key, Op, Outcome, Store, StoreError, Table};

/// Most consents of one user that are listed.
pub const MAX_LISTED: usize = 256;
const MAX_TRIES: usize = 5;

#[derive(Serialize, Deserialize, Default)]
struct ConsentRow {
    scope: String,
    #[serde(default)]
    claims: Vec<String>,
    granted_at: u64,
    /// What a later version wrote.
    #[serde(flatten)]
    unknown: Unknown,
}

fn key_of(user_id: &str, client_id: &str) -> Key {
    Key::with_sort(Table::Consent, user_id.as_bytes(), client_id.as_bytes())
}

fn corrupt() -> StoreError {
    StoreError::Corrupt("consent row".into())
}

fn decode(bytes: &[u8]) -> Result<Consent, StoreError> {
    let row: ConsentRow = serde_json::from_slice(bytes).map_err(|_| corrupt())?;
    Ok(Consent {
        scope: ScopeSet::parse(&row.scope).map_err(|_| corrupt())?,
        claims: row.claims,
        granted_at: row.granted_at,
    })
}

/// What the user has agreed to for this client.
pub async fn get(
    store: &dyn Store,
    user_id: &str,
    client_id: &str,
    now: u64,
) -> Result<Option<Consent>, StoreError> {
    let row = store.get(&key_of(user_id, client_id), now).await?;
    row.map(|row| decode(&row.value)).transpose()
}

/// Adds to what the user has agreed to. Of two at the same time both count.
pub async fn add(
    store: &dyn Store,
    user_id: &str,
    client_id: &str,
    scope: &ScopeSet,
    claims: &[String],
    now: u64,
) -> Result<(), StoreError> {
    let key = key_of(user_id, client_id);
    for _ in 0..MAX_TRIES {
        let stored = store.get(&key, now).await?;
        let before = stored.as_ref().map(|row| decode(&row.value)).transpose()?;
        let before = before.unwrap_or_default();
        let unknown = match &stored {
            None => Unknown::default(),
            Some(row) => {
                let row = serde_json::from_slice::<ConsentRow>(&row.value);
                row.map_err(|_| corrupt())?.unknown
            }
        };
        let mut names: Vec<&str> = before.scope.iter().collect();
        names.extend(scope.iter().filter(|name| !before.scope.contains(name)));
        let mut all_claims = before.claims.clone();
        for claim in claims {
            if !all_claims.contains(claim) {
                all_claims.push(claim.clone());
            }
        }
        let row = ConsentRow {
            scope: names.join(" "),
            claims: all_claims,
            granted_at: now,
            unknown,
        };
        // Invariant: strings and a number always serialize.
        let value = serde_json::to_vec(&row).expect("a consent row serializes");
        let first = match stored {
            None => Op::Insert {
                key: key.clone(),
                value,
                end: None,
            },
            Some(row) => Op::Replace {
                key: key.clone(),
                version: row.version,
                value,
                end: None,
            },
        };
        let then = Vec::new();
        if let Outcome::Done { .. } = store.commit(Change { first, then }, now).await? {
            return Ok(());
        }
    }
    Err(StoreError::Unavailable(
        "a consent is being written by others".into(),
    ))
}

/// What writes the first consent of an account that is being made.
pub(crate) fn put(user_id: &str, client_id: &str, consent: &Consent) -> Op {
    let names: Vec<&str> = consent.scope.iter().collect();
    let row = ConsentRow {
        scope: names.join(" "),
        claims: consent.claims.clone(),
        granted_at: consent.granted_at,
        unknown: Unknown::default(),
    };
    Op::Put {
        key: key_of(user_id, client_id),
        // Invariant: strings and a number always serialize.
        value: serde_json::to_vec(&row).expect("a consent row serializes"),
        end: None,
    }
}

/// Withdraws; whether there was one.
pub async fn withdraw(
    store: &dyn Store,
    user_id: &str,
    client_id: &str,
    now: u64,
) -> Result<bool, StoreError> {
    Ok(store
        .take(&key_of(user_id, client_id), now)
        .await?
        .is_some())
}

/// A user's consents by client id, at most [`MAX_LISTED`].
pub async fn list(
    store: &dyn Store,
    user_id: &str,
    now: u64,
) -> Result<Vec<(String, Consent)>, StoreError> {
    list_after(store, user_id, "", now).await
}

/// All of a user's consents, by client id.
///
/// # Errors
/// The store's.
pub async fn all(
    store: &dyn Store,
    user_id: &str,
    now: u64,
) -> Result<Vec<(String, Consent)>, StoreError> {
    let mut consents: Vec<(String, Consent)> = Vec::new();
    loop {
        let last = consents.last().map_or("", |(client_id, _)| client_id);
        let page = list_after(store, user_id, last, now).await?;
        if page.is_empty() {
            return Ok(consents);
        }
        consents.extend(page);
    }
}

async fn list_after(
    store: &dyn Store,
    user_id: &str,
    after: &str,
    now: u64,
) -> Result<Vec<(String, Consent)>, StoreError> {
    let (user_id, after) = (user_id.as_bytes(), after.as_bytes());
    let rows = store
        .partition(Table::Consent, user_id, after, MAX_LISTED, now)
        .await?;
    rows.into_iter()
        .map(|(key, row)| {
            let client_id = String::from_utf8_lossy(&key.sort).into_owned();
            Ok((client_id, decode(&row.value)?))
        })
        .collect()
}
