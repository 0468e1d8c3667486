//! What a simulated node knows: records that merge, and revocations that only grow.
use signet_cluster::{
    NodeId,
    batch::{Keys, Standing, Verdict},
    member::Fingerprint,
};
use signet_merge::{crdt::Record, entry::Entry, tell::Believe};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet, hash_map::DefaultHasher},
    hash::{Hash, Hasher},
    sync::{Arc, Mutex},
};

pub(super) const RECORD: u8 = 16;
pub(super) const REVOCATION: u8 = 17;

/// What every node ever signed, by its name: nothing else may be believed.
#[derive(Default)]
pub(super) struct Truth(pub(super) Mutex<HashMap<NodeId, HashSet<Entry>>>);

/// A node's memory.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) records: BTreeMap<Vec<u8>, Record>,
    /// By subject: (epoch, end).
    pub(super) revocations: BTreeMap<Vec<u8>, (u64, u64)>,
}

pub(super) fn revocation(entry: &Entry) -> (u64, u64) {
    let (epoch, end) = entry.fragment.split_at(8);
    let number = |bytes: &[u8]| u64::from_be_bytes(bytes.try_into().expect("eight bytes"));
    (number(epoch), number(end))
}

impl Memory {
    pub(super) fn merge(&mut self, entry: &Entry) {
        if entry.kind == RECORD {
            let fragment = Record::from_bytes(&entry.fragment).expect("a record");
            let record = self.records.entry(entry.name.clone()).or_default();
            record.merge(&fragment);
        } else {
            let (epoch, end) = revocation(entry);
            let own = self.revocations.entry(entry.name.clone()).or_default();
            *own = (own.0.max(epoch), own.1.max(end));
        }
    }

    /// Whether merging the entry would change nothing.
    pub(super) fn includes(&self, entry: &Entry) -> bool {
        if entry.kind == RECORD {
            let fragment = Record::from_bytes(&entry.fragment).expect("a record");
            let own = self.records.get(&entry.name).cloned();
            !own.unwrap_or_default().merge(&fragment)
        } else {
            let (epoch, end) = revocation(entry);
            let own = self.revocations.get(&entry.name).copied();
            own.is_some_and(|own| own.0 >= epoch && own.1 >= end)
        }
    }
}

/// The memory as the engine reaches it, with a watch on what it is given.
pub(super) struct Model {
    pub(super) memory: Mutex<Memory>,
    pub(super) truth: Arc<Truth>,
    pub(super) lies: Mutex<Vec<String>>,
}

impl Model {
    pub(super) fn new(truth: Arc<Truth>) -> Model {
        Model {
            memory: Mutex::default(),
            truth,
            lies: Mutex::default(),
        }
    }
}

impl Believe for Model {
    fn believe(&self, origin: &NodeId, entries: &[Entry]) {
        let truth = self.truth.0.lock().expect("whole");
        let told = truth.get(origin);
        for entry in entries {
            if !told.is_some_and(|told| told.contains(entry)) {
                let lie = format!("{origin} never signed {entry:?}");
                self.lies.lock().expect("whole").push(lie);
                continue;
            }
            self.memory.lock().expect("whole").merge(entry);
        }
    }

    fn is_current(&self, entry: &Entry) -> bool {
        let memory = self.memory.lock().expect("whole");
        if entry.kind == RECORD {
            let fragment = Record::from_bytes(&entry.fragment).expect("a record");
            let own = memory.records.get(&entry.name);
            own.is_some_and(|own| own.still_says(&fragment))
        } else {
            let (epoch, end) = revocation(entry);
            let own = memory.revocations.get(&entry.name);
            own.is_some_and(|own| own.0 == epoch || own.1 == end)
        }
    }
}

/// Signatures that cost nothing: a hash with the signer's secret.
pub(super) struct CheapKeys {
    pub(super) own: Fingerprint,
    pub(super) names: HashMap<NodeId, Fingerprint>,
    pub(super) removed: Mutex<BTreeSet<Fingerprint>>,
}

pub(super) fn fingerprint(index: usize) -> Fingerprint {
    Fingerprint([u8::try_from(index).expect("few nodes"); 32])
}

fn tag(signer: &Fingerprint, body: &[u8]) -> Vec<u8> {
    let mut hasher = DefaultHasher::new();
    (signer, "secret", body).hash(&mut hasher);
    hasher.finish().to_be_bytes().to_vec()
}

impl Keys for CheapKeys {
    fn own(&self) -> Fingerprint {
        self.own
    }

    fn sign(&self, body: &[u8]) -> Result<Vec<u8>, signet_crypto::KeyError> {
        Ok(tag(&self.own, body))
    }

    fn verify(&self, origin: &NodeId, signer: &Fingerprint, body: &[u8], by: &[u8]) -> Verdict {
        if self.names.get(origin) != Some(signer) || self.standing(signer) != Standing::Member {
            Verdict::Unknown
        } else if tag(signer, body) == by {
            Verdict::Holds
        } else {
            Verdict::Forged
        }
    }

    fn standing(&self, signer: &Fingerprint) -> Standing {
        if self.removed.lock().expect("whole").contains(signer) {
            Standing::Removed
        } else {
            Standing::Member
        }
    }
}
