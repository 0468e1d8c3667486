//! API keys: who calls the admin API for a script, without a client and without a login.
//!
//! A key is `signet_ak_ID_SECRET`. Its row has the SHA-256 of the secret, which is 256 random bits,
//! and is read at each request: a key that was removed counts nowhere any more, on no node. It has
//! roles, and never more than who made it has at that moment; it ends at its time by itself.
use crate::problem::Problem;
use crate::roles::Rights;
use serde::{Deserialize, Serialize};
use signet_crypto::hash::sha256;
use signet_crypto::{Secret, ct_eq, random};
use signet_encoding::base64url;
use signet_realm::state::Realm;
use signet_request::access::{self, Entrance, KeptOut, Wants};
use signet_request::http::Context;
use signet_store::{Change, Key, Op, StoreError, Table};

/// What every key begins with, for those who search for secrets that got out.
pub const PREFIX: &str = "signet_ak_";

/// Longest time until an API key ends, in seconds
pub const MAX_API_KEY_SECONDS: u64 = 31_622_400;
/// Shortest time until an API key ends, in seconds
pub const MIN_API_KEY_SECONDS: u64 = 60;
/// Most API keys of a realm
pub const MAX_API_KEYS: usize = 1000;
/// Longest name of an API key in bytes
pub const MAX_API_KEY_NAME_BYTES: usize = 128;

/// How often the last use is written, in seconds.
const USE_EVERY: u64 = 60;
const ID_BYTES: usize = 10;
const SECRET_BYTES: usize = 32;
const KEYS: &[u8] = b"api_key";
const USES: &[u8] = b"api_key_use";

/// Who made a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Maker {
    /// A user, by id.
    User(String),
    /// A client.
    Client(String),
}

/// A key, without its secret.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ApiKey {
    /// Names it: 20 hexadecimal digits.
    pub id: String,
    /// For people.
    pub name: String,
    /// Names of roles of administrators.
    pub roles: Vec<String>,
    /// Who made it.
    pub made_by: Maker,
    /// Unix seconds.
    pub created_at: u64,
    /// Unix seconds from which it counts no more.
    pub expires_at: u64,
    /// SHA-256 of the secret, base64url.
    hash: String,
}

fn row(id: &str) -> Key {
    Key::with_sort(Table::Setting, KEYS, id)
}

fn use_row(id: &str) -> Key {
    Key::with_sort(Table::Setting, USES, id)
}

fn read(value: &[u8]) -> Result<ApiKey, StoreError> {
    serde_json::from_slice(value)
        .map_err(|error| StoreError::Corrupt(format!("an API key: {error}")))
}

/// Makes a key, and gives it with its text, which nobody sees again.
///
/// # Errors
/// 409 where there are as many as there may be; the store's.
pub async fn make(
    realm: &Realm,
    name: String,
    roles: Vec<String>,
    made_by: Maker,
    seconds: u64,
) -> Result<(ApiKey, Secret<String>), Problem> {
    let now = realm.now();
    let known = realm
        .store
        .partition(Table::Setting, KEYS, b"", MAX_API_KEYS, now);
    if known.await?.len() >= MAX_API_KEYS {
        return Err(Problem::conflict(
            "too_many",
            "there are as many API keys as there may be: remove one",
        ));
    }
    let id: String = random::bytes::<ID_BYTES>()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let secret = base64url::encode(&random::bytes::<SECRET_BYTES>());
    let key = ApiKey {
        hash: base64url::encode(&sha256(secret.as_bytes())),
        id,
        name,
        roles,
        made_by,
        created_at: now,
        expires_at: now.saturating_add(seconds),
    };
    signet_audit::name_target(&key.id, &key.name);
    let insert = Op::Insert {
        key: row(&key.id),
        value: serde_json::to_vec(&key).map_err(|_| Problem::unavailable())?,
        end: Some(key.expires_at),
    };
    if !realm
        .store
        .commit(Change::new(insert), now)
        .await?
        .is_done()
    {
        return Err(Problem::unavailable());
    }
    let text = Secret::new(format!("{PREFIX}{}_{secret}", key.id));
    Ok((key, text))
}

/// A key with its last use, Unix seconds; none: it was not used.
pub type Used = (ApiKey, Option<u64>);

/// At most `limit` keys after the one of an id, in the order of their ids.
///
/// # Errors
/// The store's.
pub async fn list(realm: &Realm, after: &str, limit: usize) -> Result<Vec<Used>, Problem> {
    let now = realm.now();
    let store = &realm.store;
    let rows = store.partition(Table::Setting, KEYS, after.as_bytes(), limit, now);
    let mut keys = Vec::new();
    for (_, row) in rows.await? {
        let key = read(&row.value)?;
        let used = last_use(realm, &key.id).await?;
        keys.push((key, used));
    }
    Ok(keys)
}

/// Removes a key: it counts nowhere any more.
///
/// # Errors
/// 404; the store's.
pub async fn remove(realm: &Realm, id: &str) -> Result<(), Problem> {
    let now = realm.now();
    let found = realm.store.get(&row(id), now).await?;
    let found = found.ok_or_else(Problem::not_found)?;
    let key = read(&found.value)?;
    signet_audit::name_target(&key.id, &key.name);
    let remove = Change::new(Op::Remove {
        key: row(id),
        version: found.version,
    });
    // A key is never written again: another one has removed it.
    match realm.store.commit(remove, now).await?.is_done() {
        true => Ok(()),
        false => Err(Problem::not_found()),
    }
}

async fn last_use(realm: &Realm, id: &str) -> Result<Option<u64>, Problem> {
    let found = realm.store.get(&use_row(id), realm.now()).await?;
    let bytes = found.and_then(|row| <[u8; 8]>::try_from(row.value).ok());
    Ok(bytes.map(u64::from_be_bytes))
}

/// Says that a key is used now, once in a while: a failure keeps nobody out.
async fn note_use(realm: &Realm, key: &ApiKey) {
    let now = realm.now();
    match last_use(realm, &key.id).await {
        Ok(Some(at)) if now < at.saturating_add(USE_EVERY) => return,
        Ok(_) => {}
        Err(_) => return,
    }
    let put = Op::Put {
        key: use_row(&key.id),
        value: now.to_be_bytes().to_vec(),
        end: Some(key.expires_at),
    };
    if let Err(error) = realm.store.commit(Change::new(put), now).await {
        tracing::warn!(%error, key = key.id, "failed to write the last use of an API key");
    }
}

/// The key that a request shows, by its whole text; none: it shows another kind of credential.
pub(crate) fn shown(authorization: &str) -> Option<Secret<String>> {
    let (scheme, text) = authorization.split_once(' ')?;
    let is_key = scheme.eq_ignore_ascii_case("bearer") && text.trim().starts_with(PREFIX);
    is_key.then(|| Secret::new(text.trim().to_owned()))
}

/// The key of this text; none: it is unknown, or has expired.
async fn known(realm: &Realm, text: &Secret<String>) -> Result<Option<ApiKey>, Problem> {
    let rest = text.expose().strip_prefix(PREFIX).unwrap_or_default();
    let Some((id, secret)) = rest.split_once('_') else {
        return Ok(None);
    };
    if id.len() != 2 * ID_BYTES || !id.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Ok(None);
    }
    let Some(found) = realm.store.get(&row(id), realm.now()).await? else {
        return Ok(None);
    };
    let key = read(&found.value)?;
    let hash = base64url::encode(&sha256(secret.as_bytes()));
    Ok(ct_eq(hash.as_bytes(), key.hash.as_bytes()).then_some(key))
}

/// The holder of a key: what they are called, and what they may. None: the key is none here, or who
/// made it may not administer any more.
///
/// # Errors
/// `access_denied`, 403, where an access rule keeps out who made it; the store's.
pub(crate) async fn holder(
    context: &Context,
    text: &Secret<String>,
) -> Result<Option<(String, Rights)>, Problem> {
    let realm = &context.realm;
    let Some(key) = known(realm, text).await? else {
        return Ok(None);
    };
    let registry = &context.snapshot.registry;
    let maker = match &key.made_by {
        Maker::User(id) => {
            let user = realm.people.users.by_id(id, context.now()).await?;
            let Some(user) = user.filter(|user| user.admin) else {
                return Ok(None);
            };
            match access::ask(context, Entrance::AdminApi, &user, &Wants::default()) {
                Ok(_) => Rights::of_user(&user, registry),
                Err(KeptOut::Rule(_)) => {
                    return Err(Problem::new(
                        http::StatusCode::FORBIDDEN,
                        "access_denied",
                        "an access rule does not let in who made this key",
                    ));
                }
                Err(KeptOut::Nobody | KeptOut::Owed(_) | KeptOut::Class) => return Ok(None),
            }
        }
        Maker::Client(id) => match registry.client(id, context.now()) {
            Some(client) => Rights::of_client(client),
            None => return Ok(None),
        },
    };
    note_use(realm, &key).await;
    let rights = Rights::of_roles(&key.roles, registry).within(maker);
    Ok(Some((format!("api-key:{}", key.id), rights)))
}
