//! The identity that signs the audit trail: an agent's ([`signet_agent::identity`]), made at the
//! first start.
//!
//! Its keys are stored encrypted, like signing keys; the public document is in the trail itself and
//! beside it. The next key, to which the document commits, is stored there too: a party that has
//! the store and the sealing keys has both.

use serde::{Deserialize, Serialize};
use signet_agent::identity::{self, VerifiedDocument};
use signet_agent::keys::SEED_LEN;
use signet_agent::object::Signer;
use signet_agent::{SigningKeys, Suite};
use signet_crypto::Secret;
use signet_crypto::seal::{Keyring, Purpose};
use signet_encoding::base64url;
use signet_store::{Change, Op, Outcome, Row, Store};

use crate::error::AuditError;
use crate::node;
use signet_store::NodeId;

const PURPOSE: Purpose = Purpose::Other("audit_identity");

/// The identity's document and current key.
#[derive(Debug)]
pub struct AuditIdentity {
    pub(crate) document: VerifiedDocument,
    keys: SigningKeys,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    document: String,
    /// The seed of the current key, sealed for this identity.
    current: String,
    /// That of the next.
    next: String,
}

/// The row's name; each node has its own.
const ROW: &str = "identity";

/// Begins the document's name; the node's follows.
const NAME: &str = "signet audit trail of ";

/// The node whose document this is.
pub(crate) fn node_of(document: &VerifiedDocument) -> Option<NodeId> {
    let name = document.body().name.strip_prefix(NAME)?;
    NodeId::parse(name).ok()
}

/// A seed of one identity, or of one place, does not open as that of another.
fn associated_data(document: &VerifiedDocument, place: &str) -> Vec<u8> {
    format!("{}:{place}", document.id()).into_bytes()
}

fn seal(
    ring: &Keyring,
    document: &VerifiedDocument,
    place: &str,
    keys: &SigningKeys,
) -> Result<String, AuditError> {
    // Ed25519 has one seed.
    let seed = keys.seeds().first().ok_or(AuditError::Identity)?;
    let sealed = ring.seal_with(PURPOSE, &associated_data(document, place), seed.expose());
    sealed
        .map(|sealed| base64url::encode(&sealed))
        .map_err(|_| AuditError::Identity)
}

fn open(
    ring: &Keyring,
    document: &VerifiedDocument,
    place: &str,
    sealed: &str,
) -> Result<SigningKeys, AuditError> {
    let sealed = base64url::decode(sealed.as_bytes()).map_err(|_| AuditError::Identity)?;
    let seed = ring
        .open_with(PURPOSE, &associated_data(document, place), &sealed)
        .map(Secret::new)
        .map_err(|_| AuditError::Sealed)?;
    let seed: [u8; SEED_LEN] = seed
        .expose()
        .as_slice()
        .try_into()
        .map_err(|_| AuditError::Identity)?;
    SigningKeys::from_seeds(Suite::Ed25519, vec![Secret::new(seed)])
        .map_err(|_| AuditError::Identity)
}

impl Stored {
    fn read(row: &Row) -> Result<(Stored, VerifiedDocument), AuditError> {
        let stored: Stored =
            serde_json::from_slice(&row.value).map_err(|_| AuditError::Identity)?;
        let document = base64url::decode(stored.document.as_bytes());
        let document = document.map_err(|_| AuditError::Identity)?;
        let document = VerifiedDocument::parse(document).map_err(|_| AuditError::Identity)?;
        Ok((stored, document))
    }

    fn encode(&self) -> Vec<u8> {
        // Invariant: strings always serialize.
        serde_json::to_vec(self).expect("a stored identity serializes")
    }
}

impl AuditIdentity {
    /// The node's identity; a new one if it has none. `now`: Unix seconds.
    pub(crate) async fn load_or_create(
        store: &dyn Store,
        node: &NodeId,
        ring: &Keyring,
        now: u64,
    ) -> Result<AuditIdentity, AuditError> {
        loop {
            if let Some(row) = store.get(&node::row(node, ROW), now).await? {
                let (stored, document) = Stored::read(&row)?;
                let keys = open(ring, &document, "current", &stored.current)?;
                if keys.set() != document.current().set() {
                    return Err(AuditError::Identity);
                }
                return Ok(AuditIdentity { document, keys });
            }
            let made = identity::create(&format!("{NAME}{node}"), Suite::Ed25519, now)
                .map_err(|_| AuditError::Identity)?;
            let stored = Stored {
                document: base64url::encode(made.document.signed().as_bytes()),
                current: seal(ring, &made.document, "current", &made.keys)?,
                next: seal(ring, &made.document, "next", &made.next)?,
            };
            let insert = Op::Insert {
                key: node::row(node, ROW),
                value: stored.encode(),
                end: None,
            };
            // Of two that make one at the same time, the first counts.
            if let Outcome::Done { .. } = store.commit(Change::new(insert), now).await? {
                return Ok(AuditIdentity {
                    document: made.document,
                    keys: made.keys,
                });
            }
        }
    }

    pub(crate) fn signer(&self) -> Signer<'_> {
        self.document.signer(&self.keys)
    }
}

/// Seals the keys again under the ring's current key; whether another had sealed them. After a
/// rotation of the sealing key.
pub(crate) async fn rewrap(
    store: &dyn Store,
    node: &NodeId,
    ring: &Keyring,
    now: u64,
) -> Result<bool, AuditError> {
    loop {
        let Some(row) = store.get(&node::row(node, ROW), now).await? else {
            return Ok(false);
        };
        let (mut stored, document) = Stored::read(&row)?;
        let mut changed = false;
        for (place, sealed) in [("current", &mut stored.current), ("next", &mut stored.next)] {
            let bytes = base64url::decode(sealed.as_bytes()).map_err(|_| AuditError::Identity)?;
            if Keyring::id_of(&bytes) == Some(ring.current_id()) {
                continue;
            }
            let keys = open(ring, &document, place, sealed)?;
            *sealed = seal(ring, &document, place, &keys)?;
            changed = true;
        }
        if !changed {
            return Ok(false);
        }
        let replace = Op::Replace {
            key: node::row(node, ROW),
            version: row.version,
            value: stored.encode(),
            end: None,
        };
        if let Outcome::Done { .. } = store.commit(Change::new(replace), now).await? {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_crypto::seal::SealingKey;
    use signet_store::MemoryStore;

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(future)
    }

    #[test]
    fn the_identity_stays_and_outlives_its_sealing_key() {
        let (store, node) = (MemoryStore::new(), NodeId::default());
        let old = SealingKey::generate();
        let ring = Keyring::new(old.clone(), Vec::new());
        let made = run(AuditIdentity::load_or_create(&store, &node, &ring, 100)).unwrap();
        let again = run(AuditIdentity::load_or_create(&store, &node, &ring, 200)).unwrap();
        assert_eq!(made.document.id(), again.document.id());

        let new = SealingKey::generate();
        let both = Keyring::new(new.clone(), vec![old]);
        assert!(run(rewrap(&store, &node, &both, 300)).unwrap());
        assert!(!run(rewrap(&store, &node, &both, 300)).unwrap());
        let only_new = Keyring::new(new, Vec::new());
        let later = run(AuditIdentity::load_or_create(&store, &node, &only_new, 400)).unwrap();
        assert_eq!(made.document.id(), later.document.id());
        assert!(run(AuditIdentity::load_or_create(&store, &node, &ring, 400)).is_err());
    }
}
