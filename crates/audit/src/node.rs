//! Which node's records these are.
//!
//! Every node of an installation writes a log of its own: its own identity signs it, its rows in
//! the store and its segments are named after it. No two nodes ever append to one log, and none
//! takes another's records.
//!
//! An embedded store is one node's, and keeps its name. A store that several nodes write keeps the
//! name of none: a node has it from its own directory ([`NODE_FILE`]), with a key that nobody else
//! has, and the store knows of each name the hash of the key that claimed it first. So of two
//! directories with one name the second is refused, for as long as the first may come back, and a
//! node that crashed claims nothing again. What keeps two processes out of one directory is a lock
//! of that file, which the system releases with the process.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use signet_crypto::{Secret, hash::sha256};
use signet_encoding::base64url;
use signet_store::{Change, Key, NodeId, Op, Outcome, Store, StoreError, Table};

use crate::error::AuditError;

/// The file in a trail's directory that says which node of a shared store it is; mode 0600.
pub const NODE_FILE: &str = "node.json";

const MAX_BYTES: u64 = 4096;

fn row_key() -> Key {
    Key::new(Table::Audit, "node")
}

/// The node that this store belongs to; [`NodeId::default`] where no trail was opened yet. An
/// embedded store is one node's.
///
/// # Errors
/// Those of the store.
pub async fn stored(store: &dyn Store, now: u64) -> Result<NodeId, StoreError> {
    Ok(find(store, now).await?.unwrap_or_default())
}

async fn find(store: &dyn Store, now: u64) -> Result<Option<NodeId>, StoreError> {
    let corrupt = || StoreError::Corrupt("the node's name".to_owned());
    let Some(row) = store.get(&row_key(), now).await? else {
        return Ok(None);
    };
    let text = std::str::from_utf8(&row.value).map_err(|_| corrupt())?;
    NodeId::parse(text).map(Some).map_err(|_| corrupt())
}

/// The store's node. The first start decides; `wanted` counts there alone.
pub(crate) async fn claim(
    store: &dyn Store,
    wanted: Option<&NodeId>,
    now: u64,
) -> Result<NodeId, StoreError> {
    loop {
        if let Some(stored) = find(store, now).await? {
            return Ok(stored);
        }
        let node = wanted.cloned().unwrap_or_default();
        let insert = Op::Insert {
            key: row_key(),
            value: node.as_str().into(),
            end: None,
        };
        if let Outcome::Done { .. } = store.commit(Change::new(insert), now).await? {
            return Ok(node);
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    node: String,
    /// 32 random bytes, base64url.
    key: String,
}

impl Drop for Named {
    fn drop(&mut self) {
        drop(Secret::new(std::mem::take(&mut self.key)));
    }
}

/// The directory's node, where it is one of a shared store.
///
/// # Errors
/// Of the file; [`io::ErrorKind::InvalidData`] where it is not what was written.
pub fn of_directory(directory: &Path) -> io::Result<Option<NodeId>> {
    match File::open(directory.join(NODE_FILE)) {
        Ok(file) => read(file).map(|(node, _)| Some(node)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn read(file: impl Read) -> io::Result<(NodeId, [u8; 32])> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    let mut text = String::new();
    file.take(MAX_BYTES).read_to_string(&mut text)?;
    let text = Secret::new(text);
    let named: Named = serde_json::from_str(text.expose()).map_err(|_| invalid())?;
    let key = Secret::new(base64url::decode(named.key.as_bytes()).map_err(|_| invalid())?);
    match (NodeId::parse(&named.node), key.expose().len()) {
        (Ok(node), 32) => Ok((node, sha256(key.expose()))),
        _ => Err(invalid()),
    }
}

/// The directory's node on a store that several nodes write, and the lock that is held for as long
/// as the trail is open. The directory's first start decides; `wanted` counts there alone, and
/// without it the name is made up.
pub(crate) async fn claim_shared(
    store: &dyn Store,
    directory: &Path,
    wanted: Option<&NodeId>,
    now: u64,
) -> Result<(NodeId, File), AuditError> {
    let path = directory.join(NODE_FILE);
    let failed = |source| AuditError::Io {
        path: path.clone(),
        source,
    };
    fs::create_dir_all(directory).map_err(failed)?;
    let file = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            make(directory, wanted).map_err(failed)?;
            File::open(&path)
        }
        opened => opened,
    };
    let file = file.map_err(failed)?;
    let (node, hash) = read(&file).map_err(failed)?;
    match signet_store::lock_file(&file) {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(AuditError::InUse(directory.to_owned())),
        Err(TryLockError::Error(source)) => return Err(failed(source)),
    }
    let key = Key::with_sort(Table::Audit, "claim", node.as_str());
    loop {
        if let Some(row) = store.get(&key, now).await? {
            return match row.value == hash {
                true => Ok((node, file)),
                false => Err(AuditError::NameTaken(node)),
            };
        }
        let insert = Op::Insert {
            key: key.clone(),
            value: hash.to_vec(),
            end: None,
        };
        if let Outcome::Done { .. } = store.commit(Change::new(insert), now).await? {
            return Ok((node, file));
        }
    }
}

/// Makes the file, whole or not at all; another process may be faster.
fn make(directory: &Path, wanted: Option<&NodeId>) -> io::Result<()> {
    let random = signet_crypto::random::bytes::<8>();
    let made_up = random.iter().map(|byte| char::from(b'a' + byte % 26));
    let made_up: String = made_up.collect();
    let node = match wanted {
        Some(node) => node.as_str().to_owned(),
        None => format!("node-{made_up}"),
    };
    let mut key = [0; 32];
    signet_crypto::random::fill_system(&mut key);
    let key = Secret::new(key);
    let named = Named {
        node,
        key: base64url::encode(key.expose()),
    };
    let text = Secret::new(serde_json::to_vec(&named)?);
    let beside = directory.join(format!("{NODE_FILE}.{made_up}.new"));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut file = options.open(&beside)?;
    let done = file
        .write_all(text.expose())
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::hard_link(&beside, directory.join(NODE_FILE)));
    fs::remove_file(&beside)?;
    match done {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        done => done.and_then(|()| File::open(directory)?.sync_all()),
    }
}

/// A node that was removed for good: its name may be claimed again. Its log and what was not yet in
/// it stay.
///
/// # Errors
/// Those of the store.
pub async fn release(store: &dyn Store, node: &NodeId, now: u64) -> Result<(), StoreError> {
    let key = Key::with_sort(Table::Audit, "claim", node.as_str());
    let gone = Change::new(Op::Delete { key });
    store.commit(gone, now).await.map(drop)
}

/// The row of this node at a name of the audit table.
pub(crate) fn row(node: &NodeId, name: &str) -> Key {
    Key::with_sort(Table::Audit, name, node.as_str())
}

/// The partition of this node's records that are not yet in its log.
pub(crate) fn pending(node: &NodeId) -> Vec<u8> {
    format!("pending:{node}").into_bytes()
}
