//! The link that is printed once: it makes the first administrator, or, in development mode, logs
//! the one in that is there.
//!
//! The link has a secret; the store has its hash, and until when it counts. Opening the link
//! changes nothing; its form does, and of two that are sent at once one consumes it: the row is
//! removed by its version. A link that makes an administrator is made where there is no account at
//! all. `signet setup` makes one before there is a server ([`link_of_setup`]), and a start that
//! prints another one leaves it valid; one that an earlier start printed is then worth nothing.
//! Whichever is used first, there is one row, and so one first administrator.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use signet_crypto::hash::sha256;
use signet_crypto::random;
use signet_directory::Local;
use signet_encoding::base64url;
use signet_realm::state::Realm;
use signet_store::{Change, Key, Op, Outcome, Store, StoreError, Table};

/// Where it leads, below the issuer.
pub(crate) const PATH: &str = "/console/first";
/// How long a link counts, in seconds.
pub const MAX_LINK_SECONDS: u64 = 24 * 3600;
const SECRET_BYTES: usize = 24;
/// Longest secret that is looked at, in characters.
const MAX_TEXT: usize = 64;

/// What the row says.
#[derive(Serialize, Deserialize)]
struct Row {
    /// SHA-256 of the secret, base64url.
    hash: String,
    /// Who is logged in; none: somebody is to be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    /// The link of `signet setup`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    setup: Option<OfSetup>,
}

/// A link that starts leave alone.
#[derive(Clone, Serialize, Deserialize)]
struct OfSetup {
    /// As the row's.
    hash: String,
    /// Until when it counts, in Unix seconds: the row may stay for longer.
    end: u64,
}

/// A link that was opened.
#[derive(Clone)]
pub(crate) struct Opened {
    /// Who is logged in; none: somebody is to be made.
    pub(crate) user_id: Option<String>,
    row: signet_store::Row,
}

fn key() -> Key {
    Key::new(Table::Once, b"console link".as_slice())
}

/// A link that makes the first administrator; None: there are accounts, and one of them, or the
/// command line, makes further ones.
///
/// # Errors
/// The store's.
pub async fn link(realm: &Realm) -> Result<Option<String>, StoreError> {
    match is_empty(realm).await? {
        true => make(realm, None).await.map(Some),
        false => Ok(None),
    }
}

/// A link that makes the first administrator of a server that does not run: `store` is its own,
/// and no other process has it. It counts once the server runs. None: there are accounts.
///
/// # Errors
/// The store's.
pub async fn link_of_setup(
    store: &Arc<dyn Store>,
    issuer: &str,
    now: u64,
) -> Result<Option<String>, StoreError> {
    let found = Local::new(store.clone()).list(None, 1, now).await?;
    if !found.is_empty() {
        return Ok(None);
    }
    let (secret, hash) = secret();
    let end = now + MAX_LINK_SECONDS;
    let row = Row {
        hash: hash.clone(),
        user_id: None,
        setup: Some(OfSetup { hash, end }),
    };
    put(&**store, &row, now).await?;
    Ok(Some(address(issuer, &secret)))
}

/// Whether the realm has no account at all. One read.
async fn is_empty(realm: &Realm) -> Result<bool, StoreError> {
    let found = realm.people.users.list(None, 1, realm.now()).await?;
    Ok(found.is_empty())
}

/// A link that logs somebody in: whoever starts a development server has their password anyway.
///
/// # Errors
/// The store's.
pub async fn login_link(realm: &Realm, username: &str) -> Result<Option<String>, StoreError> {
    let found = realm.people.users.by_login(username, realm.now()).await;
    match found.map_err(StoreError::from)? {
        Some(user) => make(realm, Some(user.id)).await.map(Some),
        None => Ok(None),
    }
}

async fn make(realm: &Realm, user_id: Option<String>) -> Result<String, StoreError> {
    let now = realm.now();
    let (secret, hash) = secret();
    // Whoever set the server up has a link already, and may not have used it yet.
    let setup = match (&user_id, realm.store.get(&key(), now).await?) {
        (None, Some(row)) => read(&row)?.setup.filter(|setup| setup.end > now),
        (Some(_), _) | (None, None) => None,
    };
    let row = Row {
        hash,
        user_id,
        setup,
    };
    put(&*realm.store, &row, now).await?;
    Ok(address(&realm.snapshot().settings.issuer, &secret))
}

/// A secret, and its hash.
fn secret() -> (String, String) {
    let secret = base64url::encode(&random::bytes::<SECRET_BYTES>());
    let hash = hash_of(&secret);
    (secret, hash)
}

fn hash_of(secret: &str) -> String {
    base64url::encode(&sha256(secret.as_bytes()))
}

fn address(issuer: &str, secret: &str) -> String {
    format!("{issuer}{PATH}?token={secret}")
}

fn read(row: &signet_store::Row) -> Result<Row, StoreError> {
    serde_json::from_slice(&row.value).map_err(|_| StoreError::Corrupt("the console's link".into()))
}

async fn put(store: &dyn Store, row: &Row, now: u64) -> Result<(), StoreError> {
    let put = Op::Put {
        key: key(),
        // Invariant: strings always serialize.
        value: serde_json::to_vec(row).expect("a link serializes"),
        end: Some(now + MAX_LINK_SECONDS),
    };
    store.commit(Change::new(put), now).await?;
    Ok(())
}

/// The link of this secret, if it counts.
pub(crate) async fn open(realm: &Realm, secret: &str) -> Result<Option<Opened>, StoreError> {
    if secret.is_empty() || secret.len() > MAX_TEXT {
        return Ok(None);
    }
    let Some(row) = realm.store.get(&key(), realm.now()).await? else {
        return Ok(None);
    };
    let found = read(&row)?;
    // Hashes are compared: how long that takes says nothing of the secret.
    let hash = hash_of(secret);
    let of_setup = found.setup.as_ref();
    let is_it =
        found.hash == hash || of_setup.is_some_and(|s| s.hash == hash && s.end > realm.now());
    // The first is made where there is nobody.
    let counts = is_it && (found.user_id.is_some() || is_empty(realm).await?);
    Ok(counts.then_some(Opened {
        user_id: found.user_id,
        row,
    }))
}

/// Consumes it: of all who try, one is the first.
pub(crate) async fn consume(realm: &Realm, opened: &Opened) -> Result<bool, StoreError> {
    let remove = Op::Remove {
        key: key(),
        version: opened.row.version,
    };
    let outcome = realm.store.commit(Change::new(remove), realm.now()).await?;
    Ok(matches!(outcome, Outcome::Done { .. }))
}

/// Gives it back: what it was consumed for could not be done.
pub(crate) async fn give_back(realm: &Realm, opened: Opened) -> Result<(), StoreError> {
    let insert = Op::Insert {
        key: key(),
        value: opened.row.value,
        end: opened.row.end,
    };
    realm.store.commit(Change::new(insert), realm.now()).await?;
    Ok(())
}
