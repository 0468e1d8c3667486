//! What the store keeps of members and invitations.
//!
//! An invitation is a row with an end; a name is a row that says whose it is; what is known of an
//! identity is a row, too. All are the installation's, of no realm.
use super::ClusterId;
use crate::member::{Fingerprint, Known};
use signet_cbor::{Decoder, Encoder};
use signet_crypto::random;
use signet_store::{Change, Key, NodeId, Op, Outcome, Row, Store, StoreError, Table};

const IDENTITIES: &[u8] = b"cluster_identities";
const NAMES: &[u8] = b"cluster_names";
const CLUSTER: &[u8] = b"cluster_id";

/// A row that was changed meanwhile is read and changed again so often.
const MAX_TRIES: usize = 16;
/// Rows that are read at once.
const PAGE: usize = 64;

fn invitation_key(id: &[u8; 16]) -> Key {
    Key::new(Table::Once, [b"node invitation ".as_slice(), id].concat())
}

fn name_key(node: &NodeId) -> Key {
    Key::with_sort(Table::Setting, NAMES, node.as_str())
}

fn identity_key(fingerprint: &Fingerprint) -> Key {
    Key::with_sort(Table::Setting, IDENTITIES, fingerprint.0)
}

fn put_identity(fingerprint: &Fingerprint, known: &Known) -> Op {
    Op::Put {
        key: identity_key(fingerprint),
        value: known.to_bytes(),
        end: None,
    }
}

/// An invitation, as the store has it.
pub(super) struct Invitation {
    /// Of its secret.
    pub(super) digest: [u8; 32],
    /// Who used it.
    pub(super) used_by: Option<(NodeId, Fingerprint)>,
    row: Row,
}

fn encode_invitation(digest: &[u8; 32], used_by: Option<(&NodeId, &Fingerprint)>) -> Vec<u8> {
    let mut out = Encoder::new();
    out.array(3).uint(1).bytes(digest);
    match used_by {
        Some((node, fingerprint)) => {
            out.array(2).text(node.as_str()).bytes(&fingerprint.0);
        }
        None => {
            out.null();
        }
    }
    out.finish()
}

fn read_invitation(row: Row) -> Result<Invitation, StoreError> {
    let corrupt = || StoreError::Corrupt("an invitation".to_owned());
    let read = Decoder::whole(&row.value, |d| {
        d.tuple(3, |d| {
            if d.uint()? != 1 {
                return Err(signet_cbor::Error::WrongType);
            }
            let digest = d.fixed()?;
            if d.peek()? == 7 {
                d.null()?;
                return Ok((digest, None));
            }
            let used_by = d.tuple(2, |d| Ok::<_, signet_cbor::Error>((d.text()?, d.fixed()?)))?;
            Ok((digest, Some(used_by)))
        })
    });
    let (digest, used_by) = read.map_err(|_| corrupt())?;
    let used_by = match used_by {
        Some((node, fingerprint)) => {
            let node = NodeId::parse(node).map_err(|_| corrupt())?;
            Some((node, Fingerprint(fingerprint)))
        }
        None => None,
    };
    Ok(Invitation {
        digest,
        used_by,
        row,
    })
}

pub(super) async fn insert_invitation(
    store: &dyn Store,
    id: &[u8; 16],
    digest: &[u8; 32],
    end: u64,
    now: u64,
) -> Result<(), StoreError> {
    let insert = Op::Insert {
        key: invitation_key(id),
        value: encode_invitation(digest, None),
        end: Some(end),
    };
    match store.commit(Change::new(insert), now).await? {
        Outcome::Done { .. } => Ok(()),
        // A random id that is there already: or an end that has passed meanwhile.
        Outcome::Refused(_) => Err(StoreError::Invalid("the invitation has expired already")),
    }
}

pub(super) async fn invitation(
    store: &dyn Store,
    id: &[u8; 16],
    now: u64,
) -> Result<Option<Invitation>, StoreError> {
    let row = store.get(&invitation_key(id), now).await?;
    row.map(read_invitation).transpose()
}

/// Uses an invitation for a member whose name is claimed; false: somebody else used it.
pub(super) async fn admit(
    store: &dyn Store,
    id: &[u8; 16],
    invitation: &Invitation,
    (node, fingerprint, known): (&NodeId, &Fingerprint, &Known),
    now: u64,
) -> Result<bool, StoreError> {
    let use_it = Op::Replace {
        key: invitation_key(id),
        version: invitation.row.version,
        value: encode_invitation(&invitation.digest, Some((node, fingerprint))),
        end: invitation.row.end,
    };
    let change = Change::new(use_it)
        .then(put_identity(fingerprint, known))
        .then(Op::Put {
            key: name_key(node),
            value: fingerprint.0.to_vec(),
            end: None,
        });
    Ok(store.commit(change, now).await?.is_done())
}

/// A name that was claimed until a moment, and is given back unless it was used.
pub(super) struct Claim {
    key: Key,
    /// None: an earlier request of the same identity claimed it, and may still be under way.
    version: Option<u64>,
}

/// Claims a name for an identity until `end`; `None`: it is another one's. What the same identity
/// claimed before is its own: its request may have been lost, and the claim not.
pub(super) async fn claim(
    store: &dyn Store,
    node: &NodeId,
    fingerprint: &Fingerprint,
    end: Option<u64>,
    now: u64,
) -> Result<Option<Claim>, StoreError> {
    let key = name_key(node);
    let insert = Op::Insert {
        key: key.clone(),
        value: fingerprint.0.to_vec(),
        end,
    };
    let taken = match store.commit(Change::new(insert), now).await? {
        Outcome::Done { version } => {
            let version = Some(version);
            return Ok(Some(Claim { key, version }));
        }
        Outcome::Refused(taken) => taken,
    };
    let Some(row) = taken else {
        return Ok(None);
    };
    let owner = row.value.as_slice().try_into().map(Fingerprint);
    let owner = owner.map_err(|_| StoreError::Corrupt("the owner of a node's name".to_owned()))?;
    if owner == *fingerprint {
        let version = None;
        return Ok(Some(Claim { key, version }));
    }
    if !is_removed(store, &owner, now).await? {
        return Ok(None);
    }
    // Whoever was removed while it started, and ended over it, has left its name behind.
    let replace = Op::Replace {
        key: key.clone(),
        version: row.version,
        value: fingerprint.0.to_vec(),
        end,
    };
    let replaced = store.commit(Change::new(replace), now).await?;
    Ok(match replaced {
        Outcome::Done { version } => {
            let version = Some(version);
            Some(Claim { key, version })
        }
        Outcome::Refused(_) => None,
    })
}

impl Claim {
    pub(super) async fn give_back(self, store: &dyn Store, now: u64) -> Result<(), StoreError> {
        let Some(version) = self.version else {
            return Ok(());
        };
        let key = self.key;
        let remove = Op::Remove { key, version };
        store.commit(Change::new(remove), now).await.map(drop)
    }
}

/// Whose name it is.
pub(super) async fn owner(
    store: &dyn Store,
    node: &NodeId,
    now: u64,
) -> Result<Option<Fingerprint>, StoreError> {
    let row = store.get(&name_key(node), now).await?;
    let fingerprint = row.map(|row| row.value.as_slice().try_into().map(Fingerprint));
    let corrupt = |_| StoreError::Corrupt("the owner of a node's name".to_owned());
    fingerprint.transpose().map_err(corrupt)
}

/// Keeps what is known of an identity, together with what is kept already: of two nodes that write
/// at once, neither undoes what the other one knows.
pub(super) async fn keep(
    store: &dyn Store,
    fingerprint: &Fingerprint,
    known: &Known,
    now: u64,
) -> Result<(), StoreError> {
    let key = identity_key(fingerprint);
    let mut row = store.get(&key, now).await?;
    for _ in 0..MAX_TRIES {
        let (key, end) = (key.clone(), None);
        let op = match &row {
            Some(row) => {
                let corrupt = |_| StoreError::Corrupt("a member of the cluster".to_owned());
                let kept = Known::from_bytes(&row.value).map_err(corrupt)?;
                let merged = kept.clone().merge(known.clone());
                if merged == kept {
                    return Ok(());
                }
                Op::Replace {
                    key,
                    version: row.version,
                    value: merged.to_bytes(),
                    end,
                }
            }
            None => Op::Insert {
                key,
                value: known.to_bytes(),
                end,
            },
        };
        match store.commit(Change::new(op), now).await? {
            Outcome::Done { .. } => return Ok(()),
            Outcome::Refused(other) => row = other,
        }
    }
    Err(StoreError::Unavailable(
        "a member's row changes all the time".to_owned(),
    ))
}

/// Keeps that an identity was removed, and frees its name: by that row it wrote to the store.
pub(super) async fn remove(
    store: &dyn Store,
    node: &NodeId,
    fingerprint: &Fingerprint,
    known: &Known,
    now: u64,
) -> Result<(), StoreError> {
    // First: where the second step fails, the node writes nothing, and is removed by trying again.
    free(store, node, fingerprint, now).await?;
    keep(store, fingerprint, known, now).await?;
    // It may have started in between, and have taken its name again.
    free(store, node, fingerprint, now).await
}

/// Frees a name, where it is this identity's.
async fn free(
    store: &dyn Store,
    node: &NodeId,
    fingerprint: &Fingerprint,
    now: u64,
) -> Result<(), StoreError> {
    let key = name_key(node);
    if let Some(row) = store.get(&key, now).await?
        && row.value == fingerprint.0
    {
        let version = row.version;
        let free = Change::new(Op::Remove { key, version });
        store.commit(free, now).await?;
    }
    Ok(())
}

/// Whether an identity was removed.
pub(super) async fn is_removed(
    store: &dyn Store,
    fingerprint: &Fingerprint,
    now: u64,
) -> Result<bool, StoreError> {
    let row = store.get(&identity_key(fingerprint), now).await?;
    let corrupt = |_| StoreError::Corrupt("a member of the cluster".to_owned());
    let known = row.map(|row| Known::from_bytes(&row.value)).transpose();
    let known = known.map_err(corrupt)?;
    Ok(matches!(known, Some(Known::Removed { .. })))
}

/// The row by which a living member may write, and its value.
pub(super) fn condition(node: &NodeId, fingerprint: &Fingerprint) -> (Key, Vec<u8>) {
    (name_key(node), fingerprint.0.to_vec())
}

/// Everything that is known of identities.
pub(super) async fn identities(
    store: &dyn Store,
    now: u64,
) -> Result<Vec<(Fingerprint, Known)>, StoreError> {
    let corrupt = || StoreError::Corrupt("a member of the cluster".to_owned());
    let mut found = Vec::new();
    let mut after = Vec::new();
    loop {
        let rows = store
            .partition(Table::Setting, IDENTITIES, &after, PAGE, now)
            .await?;
        let last = rows.len() < PAGE;
        for (key, row) in rows {
            let fingerprint = key.sort.as_slice().try_into().map_err(|_| corrupt())?;
            let known = Known::from_bytes(&row.value).map_err(|_| corrupt())?;
            found.push((Fingerprint(fingerprint), known));
            after = key.sort;
        }
        if last {
            return Ok(found);
        }
    }
}

/// The id of the cluster whose nodes write a store; none where it was never one's.
///
/// # Errors
/// The store's.
pub async fn cluster_of(store: &dyn Store, now: u64) -> Result<Option<ClusterId>, StoreError> {
    let row = store.get(&Key::new(Table::Setting, CLUSTER), now).await?;
    row.map(|row| read_cluster(&row.value)).transpose()
}

fn read_cluster(value: &[u8]) -> Result<ClusterId, StoreError> {
    let corrupt = |_| StoreError::Corrupt("the cluster's id".to_owned());
    value.try_into().map_err(corrupt)
}

/// The cluster's id, drawn at the first call.
pub(super) async fn cluster(store: &dyn Store, now: u64) -> Result<ClusterId, StoreError> {
    let key = Key::new(Table::Setting, CLUSTER);
    let value = match store.get(&key, now).await? {
        Some(row) => row.value,
        None => {
            let value = random::bytes::<16>().to_vec();
            let insert = Op::Insert {
                key,
                value: value.clone(),
                end: None,
            };
            match store.commit(Change::new(insert), now).await? {
                // Another node was faster.
                Outcome::Refused(Some(row)) => row.value,
                Outcome::Done { .. } | Outcome::Refused(None) => value,
            }
        }
    };
    read_cluster(&value)
}
