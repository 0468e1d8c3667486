//! The batches that a node holds, and those that it needs no more.
use crate::{
    batch::{BatchId, Manifest, Ranges, Signed, StreamId},
    member::Fingerprint,
};
use signet_merge::entry::Entry;
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::Arc,
};

/// How long after its end an entry still travels, in seconds: more than clocks may differ by, so
/// that no node forgets what another one still goes by.
pub(super) const EXPIRED_S: u64 = 900;

#[derive(Debug)]
pub(super) struct Held {
    pub(super) bytes: Arc<[u8]>,
    hash: u128,
    /// Unix seconds after which it is forgotten.
    pub(super) expires: Option<u64>,
    /// Whether telling what still matters of it again takes less than half of its bytes.
    pub(super) poor: bool,
}

#[derive(Debug)]
pub(super) struct Stream {
    pub(super) signer: Fingerprint,
    pub(super) held: BTreeMap<u64, Held>,
    pub(super) ranges: Ranges,
    /// The latest one, and the batch that carries it.
    pub(super) manifest: Option<(u64, Manifest)>,
}

#[derive(Default, Debug)]
pub(super) struct Streams {
    streams: BTreeMap<StreamId, Stream>,
    /// What is held, and what was and is not needed any more: neither is asked for.
    known: BTreeMap<StreamId, Ranges>,
    digest: u128,
    bytes: usize,
    batches: usize,
    expiring: BTreeSet<(u64, BatchId)>,
}

impl Streams {
    pub(super) fn digest(&self) -> u128 {
        self.digest
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn batches(&self) -> usize {
        self.batches
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&StreamId, &Stream)> {
        self.streams.iter()
    }

    pub(super) fn stream(&self, id: &StreamId) -> Option<&Stream> {
        self.streams.get(id)
    }

    pub(super) fn judged(&mut self, id: &BatchId, poor: bool) {
        let stream = self.streams.get_mut(&id.stream);
        if let Some(held) = stream.and_then(|stream| stream.held.get_mut(&id.seq)) {
            held.poor = poor;
        }
    }

    pub(super) fn knows(&self, id: &BatchId) -> bool {
        self.known
            .get(&id.stream)
            .is_some_and(|known| known.contains(id.seq))
    }

    pub(super) fn known(&self, stream: &StreamId) -> Option<&Ranges> {
        self.known.get(stream)
    }

    /// Unix seconds until which a batch matters; None: until a manifest says otherwise.
    pub(super) fn expiry(signed: &Signed) -> Option<u64> {
        let batch = signed.batch();
        if batch.manifest.is_some() {
            return None;
        }
        let ends = batch.entries.iter().map(|entry| entry.end);
        let last = ends.reduce(|a, b| Some(a?.max(b?)))??;
        Some(last.saturating_add(EXPIRED_S))
    }

    /// Takes a batch in; of one that expired only the number is remembered.
    pub(super) fn hold(&mut self, signed: &Signed, now: u64) {
        let id = &signed.batch().id;
        if self.knows(id) {
            return;
        }
        self.known
            .entry(id.stream.clone())
            .or_default()
            .insert(id.seq);
        let expires = Self::expiry(signed);
        if expires.is_some_and(|end| end <= now) {
            return;
        }
        if let Some(end) = expires {
            self.expiring.insert((end, id.clone()));
        }
        let stream = self
            .streams
            .entry(id.stream.clone())
            .or_insert_with(|| Stream {
                signer: signed.batch().signer,
                held: BTreeMap::new(),
                ranges: Ranges::new(),
                manifest: None,
            });
        let hash = signed.hash();
        stream.held.insert(
            id.seq,
            Held {
                bytes: signed.bytes().clone(),
                hash,
                expires,
                poor: false,
            },
        );
        stream.ranges.insert(id.seq);
        if let Some(manifest) = &signed.batch().manifest
            && stream
                .manifest
                .as_ref()
                .is_none_or(|(seq, _)| *seq < id.seq)
        {
            stream.manifest = Some((id.seq, manifest.clone()));
        }
        self.digest = self.digest.wrapping_add(hash);
        self.bytes += signed.bytes().len();
        self.batches += 1;
    }

    /// Whether it was held.
    pub(super) fn forget(&mut self, id: &BatchId) -> bool {
        let Some(stream) = self.streams.get_mut(&id.stream) else {
            return false;
        };
        let Some(held) = stream.held.remove(&id.seq) else {
            return false;
        };
        stream.ranges.remove(id.seq);
        if stream.held.is_empty() {
            self.streams.remove(&id.stream);
        }
        self.digest = self.digest.wrapping_sub(held.hash);
        self.bytes -= held.bytes.len();
        self.batches -= 1;
        if let Some(end) = held.expires {
            self.expiring.remove(&(end, id.clone()));
        }
        true
    }

    /// Forgets what has expired; which batches that were.
    pub(super) fn expire(&mut self, now: u64) -> Vec<BatchId> {
        let mut forgotten = Vec::new();
        while let Some((end, id)) = self.expiring.first().cloned() {
            if end > now {
                break;
            }
            self.expiring.pop_first();
            if self.forget(&id) {
                forgotten.push(id);
            }
        }
        forgotten
    }

    /// What may be forgotten by a stream's manifest: the batches that it does not name, if
    /// everything is there that it names, and of those only such whose entries either do not matter
    /// here any more or were announced again in what is kept: the first list. The second one has
    /// the others. So a manifest takes nothing away that its writer knew to be superseded and this
    /// node does not know yet. Batches of somebody else's stream are among them only where `covers`
    /// allows it.
    pub(super) fn outdated(
        &mut self,
        id: &StreamId,
        now: u64,
        covers: impl Fn(&StreamId, Option<&Fingerprint>) -> bool,
        matters: impl Fn(&Entry) -> bool,
    ) -> (Vec<BatchId>, Vec<BatchId>) {
        let Some(stream) = self.streams.get(id) else {
            return Default::default();
        };
        let Some((seq, manifest)) = &stream.manifest else {
            return Default::default();
        };
        let (seq, known) = (*seq, self.known.entry(id.clone()).or_default());
        let mut needed = manifest.keep.clone();
        for (fleeting, end) in &manifest.fleeting {
            if end.saturating_add(EXPIRED_S) <= now {
                needed.remove(*fleeting);
            }
        }
        if !known.covers(&needed) {
            return Default::default();
        }
        known.insert_range(1, seq);
        let mut candidates: Vec<(BatchId, &Held)> = stream
            .held
            .range(..seq)
            .filter(|(number, _)| !manifest.keep.contains(**number))
            .map(|(number, held)| (batch_id(id, *number), held))
            .collect();
        for (other, ranges) in &manifest.covers {
            let theirs = self.streams.get(other);
            if other == id || !covers(other, theirs.map(|stream| &stream.signer)) {
                continue;
            }
            for (first, last) in ranges.iter() {
                let held = theirs.into_iter().flat_map(|s| s.held.range(first..=last));
                candidates.extend(held.map(|(number, held)| (batch_id(other, *number), held)));
            }
            self.known.entry(other.clone()).or_default().join(ranges);
        }
        let outdated: HashSet<BatchId> = candidates.iter().map(|(id, _)| id.clone()).collect();
        let kept = |which: &dyn Fn(&StreamId) -> bool| -> HashSet<Entry> {
            let streams = self.streams.iter().filter(|(other, _)| which(other));
            let batches = streams.flat_map(|(other, stream)| {
                let held = stream.held.iter();
                held.map(move |(number, held)| (batch_id(other, *number), held))
            });
            batches
                .filter(|(other, _)| !outdated.contains(other))
                .flat_map(|(_, held)| entries(&held.bytes))
                .collect()
        };
        // Mostly it was announced again in the same stream; what a node announced before a restart
        // may be in an earlier one. All that is held is looked through only where that is not
        // enough.
        let (mut same, mut all) = (None, None);
        let mut retained = Vec::new();
        candidates.retain(|(candidate, held)| {
            let mut mattering = entries(&held.bytes);
            mattering.retain(&matters);
            if !mattering.is_empty() {
                let same = same.get_or_insert_with(|| kept(&|other| other == id));
                mattering.retain(|entry| !same.contains(entry));
            }
            if !mattering.is_empty() {
                let all = all.get_or_insert_with(|| kept(&|_| true));
                mattering.retain(|entry| !all.contains(entry));
            }
            if !mattering.is_empty() {
                retained.push(candidate.clone());
            }
            mattering.is_empty()
        });
        let outdated = candidates.into_iter().map(|(id, _)| id).collect();
        (outdated, retained)
    }
}

fn batch_id(stream: &StreamId, seq: u64) -> BatchId {
    BatchId {
        stream: stream.clone(),
        seq,
    }
}

/// What a batch that is held says.
pub(super) fn entries(bytes: &[u8]) -> Vec<Entry> {
    // It was read before it was held.
    Signed::from_bytes(bytes).map_or_else(|_| Vec::new(), |signed| signed.into_batch().entries)
}
