//! Frames of peers.
use super::*;

impl Engine {
    pub(super) fn contact(&mut self, node: &NodeId, now: Now) {
        if let Some(contact) = self.contacts.get_mut(node) {
            contact.last_us = Some(now.us);
        }
    }

    pub(super) fn on_summary(
        &mut self,
        from: &NodeId,
        digest: u128,
        wall_ms: u64,
        neighbours: Vec<NodeId>,
        now: Now,
    ) {
        for node in &neighbours {
            self.contact(node, now);
        }
        let in_sync = digest == self.streams.digest();
        if let Some(contact) = self.contacts.get_mut(from) {
            contact.skew_ms = i64::try_from(i128::from(wall_ms) - i128::from(now.wall_ms)).ok();
            contact.in_sync = in_sync;
            if in_sync {
                contact.last_in_sync_us = Some(now.us);
            }
        }
        if in_sync {
            // It has everything that is held here. What is not held any more it needs not either.
            let held = self.streams.stream(&self.stream);
            let held = held.map_or_else(Ranges::new, |stream| stream.ranges.clone());
            self.acknowledged(from, &held, now);
            if let Some(contact) = self.contacts.get_mut(from) {
                let (pending, stream) = (&self.pending, &self.stream);
                contact.unacknowledged.retain(|seq, _| {
                    let stream = stream.clone();
                    pending.contains_key(&BatchId { stream, seq: *seq })
                });
                let left = contact.unacknowledged.values();
                contact.unacknowledged_bytes = left.map(|left| left.bytes).sum();
            }
        }
        let Some(peer) = self.peers.get_mut(from) else {
            return;
        };
        peer.slow = false;
        peer.digest = Some(digest);
        peer.neighbours = neighbours.into_iter().collect();
        if !in_sync {
            self.send_inventory(from, now);
        }
        self.finish_receipts(now);
    }

    pub(super) fn on_inventory(
        &mut self,
        from: &NodeId,
        streams: Vec<(StreamId, Ranges)>,
        now: Now,
    ) {
        if let Some((_, ranges)) = streams.iter().find(|(id, _)| *id == self.stream) {
            self.acknowledged(from, &ranges.clone(), now);
        }
        if self.peers.get(from).is_none_or(|peer| peer.asked.is_some()) {
            return;
        }
        let mut left = MAX_WANTED_PIECES;
        let mut wanted = Vec::new();
        for (id, theirs) in streams {
            // Nobody else has more of this stream than this node.
            if left == 0 || id == self.stream {
                continue;
            }
            let mut lacking = theirs;
            if let Some(known) = self.streams.known(&id) {
                lacking.subtract(known);
            }
            for peer in self.peers.values() {
                let asked = peer.asked.iter().flat_map(|(_, streams)| streams);
                for (_, ranges) in asked.filter(|(other, _)| *other == id) {
                    lacking.subtract(ranges);
                }
            }
            let first = BatchId {
                stream: id.clone(),
                seq: 0,
            };
            let here = |other: &BatchId| other.stream == id;
            let pending = self.pending.range(&first..).map(|(other, _)| other);
            let postponed = self.postponed.range(&first..).map(|(other, _)| other);
            for other in pending.take_while(|o| here(o)) {
                lacking.remove(other.seq);
            }
            for other in postponed.take_while(|o| here(o)) {
                lacking.remove(other.seq);
            }
            let mut some = Ranges::new();
            for (first, last) in lacking.iter().take(left) {
                some.insert_range(first, last);
            }
            left -= some.pieces();
            if !some.is_empty() {
                wanted.push((id, some));
            }
        }
        if wanted.is_empty() {
            return;
        }
        let room = MAX_PENDING_BYTES.saturating_sub(self.pending_bytes) as u64;
        let frame = Frame::Want {
            credit: MAX_CREDIT_BYTES.min(room),
            streams: wanted.clone(),
        };
        if let Some(peer) = self.peers.get_mut(from) {
            peer.asked = Some((now.us + ASKED_US, wanted));
        }
        self.send(from, &frame);
    }

    pub(super) fn on_want(&mut self, from: &NodeId, credit: u64, streams: &[(StreamId, Ranges)]) {
        let mut credit = credit.min(MAX_CREDIT_BYTES);
        let mut frames: Vec<Vec<Arc<[u8]>>> = Vec::new();
        let mut frame: Vec<Arc<[u8]>> = Vec::new();
        let mut bytes = 0;
        let wanted = streams.iter().filter_map(|(id, ranges)| {
            let held = &self.streams.stream(id)?.held;
            let each = ranges.iter();
            Some(each.flat_map(move |(first, last)| held.range(first..=last)))
        });
        for (_, held) in wanted.flatten() {
            let size = held.bytes.len();
            if size as u64 > credit && !(frames.is_empty() && frame.is_empty()) {
                break;
            }
            credit = credit.saturating_sub(size as u64);
            if bytes + size > FRAME_BYTES && !frame.is_empty() {
                frames.push(std::mem::take(&mut frame));
                bytes = 0;
            }
            bytes += size;
            frame.push(held.bytes.clone());
        }
        frames.push(frame);
        let count = frames.len();
        for (index, frame) in frames.into_iter().enumerate() {
            self.send_batches(from, false, index + 1 == count, frame);
        }
    }

    pub(super) fn on_batches(
        &mut self,
        from: &NodeId,
        pushed: bool,
        last: bool,
        batches: &[Arc<[u8]>],
        now: Now,
    ) -> Result<(), signet_cbor::Error> {
        let mut result = Ok(());
        for bytes in batches {
            match Signed::from_bytes(bytes) {
                Ok(signed) => self.take_in(from, pushed, signed),
                Err(error) => {
                    self.status.malformed += 1;
                    result = Err(error);
                }
            }
        }
        if last && !pushed {
            if let Some(peer) = self.peers.get_mut(from) {
                peer.asked = None;
                peer.answered = !batches.is_empty();
            }
            if let Some(contact) = self.contacts.get_mut(from) {
                contact.last_anti_entropy_us = Some(now.us);
            }
            self.follow_up(from, now);
        }
        result
    }

    pub(super) fn take_in(&mut self, from: &NodeId, pushed: bool, signed: Signed) {
        let id = signed.batch().id.clone();
        if id.stream == self.stream {
            // This node's own, on its way back; or somebody claims to be it.
            if id.seq >= self.next_seq {
                self.status.forged += 1;
            }
            return;
        }
        if self.streams.knows(&id) {
            // The acknowledgement may have been lost. What a manifest made needless before it came
            // was never believed here, and is not acknowledged.
            let held = self.streams.stream(&id.stream);
            if pushed && held.is_some_and(|stream| stream.held.contains_key(&id.seq)) {
                self.acknowledge(&id, Some(from));
            }
            return;
        }
        if self.pending.contains_key(&id) {
            return;
        }
        let bytes = signed.bytes().len();
        if self.pending_bytes + bytes > MAX_PENDING_BYTES {
            self.status.overflows += 1;
            return;
        }
        self.pending_bytes += bytes;
        let pending = Pending {
            from: Some(from.clone()),
            pushed,
            bytes,
            step: Step::Verifying,
            signed: signed.clone(),
        };
        self.pending.insert(id, pending);
        self.out.push_back(Output::Verify(signed));
    }

    /// A pending batch is done with, one way or the other.
    pub(super) fn let_go(&mut self, id: &BatchId, now: Now) {
        let Some(pending) = self.pending.remove(id) else {
            return;
        };
        self.pending_bytes -= pending.bytes;
        if !self.outdated.is_empty() {
            for outdated in &mut self.outdated {
                outdated.after.remove(id);
            }
            self.forget_outdated();
        }
        if let Some(from) = pending.from {
            self.follow_up(&from, now);
        }
    }

    /// Once everything that a peer answered is kept, the peer receives a summary of where this node
    /// stands now: it may have more.
    pub(super) fn follow_up(&mut self, from: &NodeId, now: Now) {
        let waits = self
            .pending
            .values()
            .any(|pending| pending.from.as_ref() == Some(from));
        if let Some(peer) = self.peers.get_mut(from)
            && peer.answered
            && peer.asked.is_none()
            && !waits
        {
            peer.answered = false;
            self.summarize(from, now);
        }
    }

    pub(super) fn on_ack(
        &mut self,
        from: &NodeId,
        by: NodeId,
        stream: StreamId,
        seqs: Ranges,
        now: Now,
    ) {
        if stream == self.stream {
            self.contact(&by, now);
            self.acknowledged(&by, &seqs, now);
            self.finish_receipts(now);
        } else if by == *from && stream.origin != *from && self.peers.contains_key(&stream.origin) {
            let to = stream.origin.clone();
            self.send(&to, &Frame::Ack { by, stream, seqs });
        }
    }

    pub(super) fn on_believed(
        &mut self,
        from: &NodeId,
        by: NodeId,
        stream: StreamId,
        seqs: Ranges,
        now: Now,
    ) {
        if stream == self.stream {
            self.contact(&by, now);
            self.believed(&by, &seqs, now);
            self.finish_receipts(now);
        } else if by == *from && stream.origin != *from && self.peers.contains_key(&stream.origin) {
            let to = stream.origin.clone();
            self.send(&to, &Frame::Believed { by, stream, seqs });
        }
    }

    /// Once for a member and a batch.
    fn believed(&mut self, by: &NodeId, seqs: &Ranges, now: Now) {
        let Some(contact) = self.contacts.get_mut(by) else {
            return;
        };
        for (first, last) in seqs.iter() {
            for (seq, batch) in contact.unacknowledged.range_mut(first..=last) {
                if !std::mem::replace(&mut batch.believed, true) {
                    self.receipts.acknowledged(by, *seq, now.us);
                }
            }
        }
    }

    pub(super) fn acknowledged(&mut self, by: &NodeId, seqs: &Ranges, now: Now) {
        // What is kept is believed; the word of it may have been lost.
        self.believed(by, seqs, now);
        let Some(contact) = self.contacts.get_mut(by) else {
            return;
        };
        let mut kept = Vec::new();
        for (first, last) in seqs.iter() {
            let own = contact.unacknowledged.range(first..=last);
            kept.extend(own.map(|(seq, batch)| (*seq, batch.bytes)));
        }
        for (seq, bytes) in kept {
            contact.unacknowledged.remove(&seq);
            contact.unacknowledged_bytes -= bytes;
        }
    }

    pub(super) fn reaches(&self, node: &NodeId) -> bool {
        self.peers.contains_key(node)
            || self
                .peers
                .values()
                .any(|peer| peer.neighbours.contains(node))
    }

    pub(super) fn finish_receipts(&mut self, now: Now) {
        let mut receipts = std::mem::take(&mut self.receipts);
        let finished = receipts.finish(now.us, RECEIPT_US, |node| self.reaches(node));
        self.receipts = receipts;
        for (ticket, receipt) in finished {
            for (node, after) in &receipt.acknowledged {
                if let Some(contact) = self.contacts.get_mut(node) {
                    contact.believed_after = Some(*after);
                }
            }
            self.out.push_back(Output::Receipt(ticket, receipt));
        }
    }
}
