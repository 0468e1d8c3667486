//! Frames to peers.
use super::*;

impl Engine {
    pub(super) fn send(&mut self, to: &NodeId, frame: &Frame) {
        let frame = frame.to_bytes();
        if let Some(contact) = self.contacts.get_mut(to) {
            contact.sent += frame.len() as u64;
        }
        self.out.push_back(Output::Send {
            to: to.clone(),
            frame,
        });
    }

    pub(super) fn send_batches(
        &mut self,
        to: &NodeId,
        pushed: bool,
        last: bool,
        batches: Vec<Arc<[u8]>>,
    ) {
        let frame = Frame::Batches {
            pushed,
            last,
            batches,
        };
        self.send(to, &frame);
    }

    pub(super) fn push(&mut self, to: &NodeId, signed: &Signed, bytes: usize) {
        let owes = self
            .contacts
            .get(to)
            .map_or(0, |contact| contact.unacknowledged_bytes);
        let Some(peer) = self.peers.get_mut(to) else {
            return;
        };
        peer.slow |= owes > MAX_PUSHED_BYTES.max(bytes);
        if !peer.slow {
            self.send_batches(to, true, true, vec![signed.bytes().clone()]);
        }
    }

    pub(super) fn summarize(&mut self, to: &NodeId, now: Now) {
        let frame = Frame::Summary {
            digest: self.streams.digest(),
            wall_ms: now.wall_ms,
            neighbours: self.peers.keys().cloned().collect(),
        };
        if let Some(peer) = self.peers.get_mut(to) {
            peer.summary_us = now.us;
        }
        self.send(to, &frame);
    }

    pub(super) fn say_where_we_stand(&mut self, now: Now) {
        let peers: Vec<NodeId> = self.peers.keys().cloned().collect();
        for peer in &peers {
            self.summarize(peer, now);
        }
    }

    pub(super) fn send_inventory(&mut self, to: &NodeId, now: Now) {
        let Some(peer) = self.peers.get_mut(to) else {
            return;
        };
        let said = peer.inventory_us;
        if said.is_some_and(|us| now.us.saturating_sub(us) < INVENTORY_US) {
            return;
        }
        peer.inventory_us = Some(now.us);
        let mut frames = Vec::new();
        let mut part: Vec<(StreamId, Ranges)> = Vec::new();
        let mut pieces = 0;
        for (id, stream) in self.streams.iter() {
            let mut ranges = Ranges::new();
            for (first, last) in stream.ranges.iter() {
                ranges.insert_range(first, last);
                pieces += 1;
                if pieces == MAX_PIECES {
                    part.push((id.clone(), std::mem::take(&mut ranges)));
                    frames.push(Frame::Inventory(std::mem::take(&mut part)));
                    pieces = 0;
                }
            }
            if !ranges.is_empty() {
                part.push((id.clone(), ranges));
            }
            if part.len() == MAX_STREAMS {
                frames.push(Frame::Inventory(std::mem::take(&mut part)));
                pieces = 0;
            }
        }
        if !part.is_empty() {
            frames.push(Frame::Inventory(part));
        }
        for frame in frames {
            self.send(to, &frame);
        }
    }

    pub(super) fn acknowledge(&mut self, id: &BatchId, from: Option<&NodeId>) {
        if let Some(to) = self.way_to(&id.stream.origin, from) {
            let acks = self.acks.entry((to, id.stream.clone()));
            acks.or_default().insert(id.seq);
        }
    }

    /// To whom that is said which is for the origin of a batch: itself, or the peer that the batch
    /// came from.
    pub(super) fn way_to(&self, origin: &NodeId, from: Option<&NodeId>) -> Option<NodeId> {
        if *origin == self.node {
            return None;
        }
        let direct = self.peers.contains_key(origin).then_some(origin);
        direct.or(from).cloned()
    }

    pub(super) fn flush_acks(&mut self) {
        // Somebody waits for these.
        while let Some(((to, stream), seqs)) = self.believed.pop_first() {
            let by = self.node.clone();
            if self.peers.contains_key(&to) {
                self.send(&to, &Frame::Believed { by, stream, seqs });
            }
        }
        while let Some(((to, stream), seqs)) = self.acks.pop_first() {
            let by = self.node.clone();
            if self.peers.contains_key(&to) {
                self.send(&to, &Frame::Ack { by, stream, seqs });
            }
        }
    }
}
