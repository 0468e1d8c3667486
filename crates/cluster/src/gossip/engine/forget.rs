//! What is needed no more, and telling again what still is.
use super::*;

impl Engine {
    /// Forgets what a stream's manifest lets it forget. What is believed and not yet in the journal
    /// may be what supersedes it, so it waits for that.
    pub(super) fn settle(&mut self, stream: &StreamId, now: Now) {
        let Some(signer) = self.streams.stream(stream).map(|s| s.signer) else {
            return;
        };
        if self
            .outdated
            .iter()
            .any(|outdated| outdated.stream == *stream)
        {
            return;
        }
        let (keys, believe) = (self.keys.clone(), self.believe.clone());
        let (batches, retained) = self.streams.outdated(
            stream,
            now.secs(),
            |other, their_signer| match their_signer {
                Some(theirs) => *theirs == signer || keys.standing(theirs) == Standing::Removed,
                None => other.origin == stream.origin,
            },
            |entry| matters(&*believe, entry, now),
        );
        self.tell_retained(retained, now);
        if batches.is_empty() {
            return;
        }
        let keeping = self.pending.iter().filter(|(_, p)| p.step == Step::Keeping);
        self.outdated.push(Outdated {
            stream: stream.clone(),
            batches,
            after: keeping.map(|(id, _)| id.clone()).collect(),
        });
        self.forget_outdated();
    }

    /// What a manifest leaves out and still matters here: its writer may have lost, with a crash,
    /// what superseded it. After a while this node tells it itself, and the batch is not needed.
    pub(super) fn tell_retained(&mut self, retained: Vec<BatchId>, now: Now) {
        for id in retained {
            let since = *self.retained.entry(id.clone()).or_insert(now.us);
            if now.us.saturating_sub(since) < RETAINED_US {
                continue;
            }
            self.retained.insert(id.clone(), now.us);
            let stream = self.streams.stream(&id.stream);
            if let Some(held) = stream.and_then(|stream| stream.held.get(&id.seq)) {
                let entries = self.current(&held.bytes.clone(), now);
                self.wait(None, entries.into());
            }
        }
    }

    /// Entries are to be signed.
    pub(super) fn wait(&mut self, ticket: Option<Ticket>, entries: VecDeque<Entry>) {
        if !entries.is_empty() {
            self.waiting_bytes += entries.iter().map(Entry::len).sum::<usize>();
            self.waiting.push_back(Waiting::Entries { ticket, entries });
        }
    }

    pub(super) fn forget_outdated(&mut self) {
        let streams = &mut self.streams;
        let mut forgotten = Vec::new();
        self.outdated.retain(|outdated| {
            let waits = !outdated.after.is_empty();
            if !waits {
                let batches = outdated.batches.iter();
                forgotten.extend(batches.filter(|id| streams.forget(id)).cloned());
                self.retained.retain(|id, _| !outdated.batches.contains(id));
            }
            waits
        });
        if !forgotten.is_empty() {
            self.out.push_back(Output::Forget(forgotten));
        }
    }

    /// Whether the batch is this node's to tell again: of one of its own streams.
    pub(super) fn is_own(&self, id: &StreamId, signer: &Fingerprint) -> bool {
        id.origin == self.node && *signer == self.keys.own()
    }

    /// What still matters of a batch.
    pub(super) fn current(&self, bytes: &[u8], now: Now) -> Vec<Entry> {
        let mut entries = entries(bytes);
        entries.retain(|entry| matters(&*self.believe, entry, now));
        entries
    }

    /// Looks at some of the own batches, in turn: how much of them still matters?
    pub(super) fn judge(&mut self, now: Now) {
        let mut looked_at = Vec::new();
        for (id, stream) in self.streams.iter() {
            if !self.is_own(id, &stream.signer) {
                continue;
            }
            let after = match &self.judged {
                Some(last) if last.stream == *id => last.seq + 1,
                Some(last) if last.stream > *id => continue,
                Some(_) | None => 0,
            };
            for (seq, held) in stream.held.range(after..) {
                let stream = id.clone();
                looked_at.push((BatchId { stream, seq: *seq }, held.bytes.clone()));
                if looked_at.len() == JUDGED_AT_ONCE {
                    break;
                }
            }
            if looked_at.len() == JUDGED_AT_ONCE {
                break;
            }
        }
        self.judged = looked_at.last().map(|(id, _)| id.clone());
        for (id, bytes) in looked_at {
            let matters: usize = self.current(&bytes, now).iter().map(Entry::len).sum();
            self.streams.judged(&id, matters * 2 <= bytes.len());
        }
    }

    /// Tells again what still matters of those own batches that are half outdated, or small, once
    /// there is enough of it.
    pub(super) fn compact(&mut self, now: Now) {
        if self.compacting || !self.waiting.is_empty() {
            return;
        }
        let mut picked = Vec::new();
        let (mut own, mut bytes) = (0, 0);
        for (id, stream) in self.streams.iter() {
            if !self.is_own(id, &stream.signer) {
                continue;
            }
            own += stream.held.values().map(|h| h.bytes.len()).sum::<usize>();
            for (seq, held) in stream.held.iter().filter(|(_, held)| held.poor) {
                if bytes > COMPACT_AT_ONCE {
                    break;
                }
                bytes += held.bytes.len();
                let stream = id.clone();
                picked.push((BatchId { stream, seq: *seq }, held.bytes.clone()));
            }
        }
        // A manifest costs everybody a look at what it keeps.
        if bytes >= self.compact_bytes.max((own / 8).min(COMPACT_AT_ONCE / 2)) {
            self.tell_again(picked, now);
        }
    }

    /// Tells again what removed members told. The members who are there do so one after the other,
    /// each what is still left.
    pub(super) fn adopt(&mut self, now: Now) {
        let orphans: BTreeSet<StreamId> = self
            .streams
            .iter()
            .filter(|(_, stream)| self.keys.standing(&stream.signer) == Standing::Removed)
            .map(|(id, _)| id.clone())
            .collect();
        self.orphans.retain(|id, _| orphans.contains(id));
        for id in &orphans {
            self.orphans.entry(id.clone()).or_insert(now.us);
        }
        if self.compacting || orphans.is_empty() {
            return;
        }
        let rank = self.peers.keys().filter(|peer| **peer < self.node).count() as u64;
        let patience = ADOPT_US * (rank + 1);
        let mut picked = Vec::new();
        for (id, since) in &self.orphans {
            if now.us.saturating_sub(*since) < patience {
                continue;
            }
            let held = self.streams.stream(id).into_iter().flat_map(|s| &s.held);
            for (seq, held) in held {
                let stream = id.clone();
                picked.push((BatchId { stream, seq: *seq }, held.bytes.clone()));
            }
        }
        if !picked.is_empty() {
            self.tell_again(picked, now);
        }
    }

    pub(super) fn tell_again(&mut self, picked: Vec<(BatchId, Arc<[u8]>)>, now: Now) {
        self.compacting = true;
        let mut entries = VecDeque::new();
        for (_, bytes) in &picked {
            entries.extend(self.current(bytes, now));
        }
        self.wait(None, entries);
        let ids = picked.into_iter().map(|(id, _)| id).collect();
        self.waiting.push_back(Waiting::Manifest(ids));
    }

    /// What matters of the own stream when these have been told again.
    pub(super) fn manifest(&mut self, told_again: &[BatchId]) -> Manifest {
        self.status.manifests += 1;
        let mut keep = Ranges::new();
        let mut fleeting = BTreeMap::new();
        if let Some(stream) = self.streams.stream(&self.stream) {
            keep = stream.ranges.clone();
            // The manifest before this one: this one replaces it.
            if let Some((seq, _)) = &stream.manifest {
                keep.remove(*seq);
            }
            let ends = stream.held.iter();
            fleeting.extend(ends.filter_map(|(seq, held)| Some((*seq, held.expires?))));
        }
        for (id, pending) in &self.pending {
            if id.stream == self.stream && pending.signed.batch().manifest.is_none() {
                keep.insert(id.seq);
                fleeting.extend(Streams::expiry(&pending.signed).map(|end| (id.seq, end)));
            }
        }
        let mut others: BTreeMap<StreamId, Ranges> = BTreeMap::new();
        for id in told_again {
            if id.stream == self.stream {
                keep.remove(id.seq);
                continue;
            }
            // With it, what that stream's own manifest let go: it is announced again itself.
            let needless = others.entry(id.stream.clone()).or_insert_with(|| {
                let mut known = self.streams.known(&id.stream).cloned().unwrap_or_default();
                if let Some(stream) = self.streams.stream(&id.stream) {
                    known.subtract(&stream.ranges);
                }
                known
            });
            needless.insert(id.seq);
        }
        fleeting.retain(|seq, _| keep.contains(*seq));
        self.cover(&others.into_iter().collect::<Vec<_>>());
        Manifest {
            keep,
            fleeting: fleeting
                .into_iter()
                .map(|(seq, end)| (seq, end.saturating_sub(EXPIRED_S)))
                .collect(),
            covers: self.covered.clone(),
        }
    }

    /// Remembers what was announced again, the latest last.
    pub(super) fn cover(&mut self, others: &[(StreamId, Ranges)]) {
        for (id, ranges) in others {
            let at = self.covered.iter().position(|(other, _)| other == id);
            let mut all = at.map_or_else(Ranges::new, |at| self.covered.remove(at).1);
            all.join(ranges);
            self.covered.push((id.clone(), all));
        }
        let beyond = self.covered.len().saturating_sub(MAX_COVERED);
        self.covered.drain(..beyond);
    }
}
