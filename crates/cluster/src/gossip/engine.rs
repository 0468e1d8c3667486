//! The state machine.
use super::{
    frame::{Frame, MAX_PIECES, MAX_STREAMS},
    held::{EXPIRED_S, Streams, entries},
    receipts::Receipts,
    status::{PeerStatus, Status},
};
use crate::{
    NodeId,
    batch::{
        Batch, BatchId, Keys, MAX_COVERED, MAX_ENTRIES, MAX_SHARED_BYTES, Manifest, Ranges, Signed,
        Standing, StreamId, Verdict,
    },
    entry::Entry,
    hlc::Hlc,
    member::Fingerprint,
    tell::{Believe, Receipt},
};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

/// Something that was told, until its receipt is made.
pub type Ticket = u64;

/// Bytes of batches that are being verified or written to the journal; further ones are left out
/// and fetched later.
pub const MAX_PENDING_BYTES: usize = 16 * 1024 * 1024;

/// Bytes of entries that wait to be signed; further ones are not told.
pub const MAX_WAITING_BYTES: usize = 16 * 1024 * 1024;

/// Bytes of own batches that a peer has not acknowledged and further ones are still pushed to it.
pub const MAX_PUSHED_BYTES: usize = 4 * 1024 * 1024;

/// Bytes of batches that a node asks a peer for at a time.
pub const MAX_CREDIT_BYTES: u64 = 1024 * 1024;

/// Own batches of which it is remembered who has not acknowledged them.
const MAX_UNACKNOWLEDGED: usize = 4096;

/// Batches that are not asked for, for a moment: they could not be believed.
const MAX_POSTPONED: usize = 4096;

/// Ranges of batches that are asked for at a time.
const MAX_WANTED_PIECES: usize = 4096;

/// Bytes of batches that share a frame.
const FRAME_BYTES: usize = 256 * 1024;

/// Batches are told again once so many bytes of them are half outdated.
const COMPACT_BYTES: usize = 64 * 1024;

/// Bytes of batches that are told again at a time.
const COMPACT_AT_ONCE: usize = 16 * 1024 * 1024;

/// Batches that are looked at for what still matters, each second.
const JUDGED_AT_ONCE: usize = 32;

/// How often a peer is told where this node stands.
const SUMMARY_US: u64 = 1_000_000;
/// How often it is looked for what may be forgotten.
const FORGET_US: u64 = 1_000_000;
/// How long an inventory counts as said.
const INVENTORY_US: u64 = 20_000;
/// How long an answer with batches may take until others are asked.
const ASKED_US: u64 = 3_000_000;
/// How long a batch that could not be believed is not asked for.
const POSTPONED_US: u64 = 2_000_000;
/// How long a receipt waits for members that can be reached.
const RECEIPT_US: u64 = 1_500_000;
/// How long each further member waits before it tells again what a removed one told.
const ADOPT_US: u64 = 2_000_000;

/// The time, handed in: of a clock that never runs backwards, and of the wall clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Now {
    /// Microseconds since any moment.
    pub us: u64,
    /// Unix milliseconds.
    pub wall_ms: u64,
}

impl Now {
    fn secs(self) -> u64 {
        self.wall_ms / 1000
    }
}

/// What the driver is to do.
#[derive(Debug)]
pub enum Output {
    /// Send a frame; if it cannot be sent, nothing is to be done.
    Send {
        /// To whom.
        to: NodeId,
        /// What.
        frame: Vec<u8>,
    },
    /// Sign a batch and hand it to [`Engine::signed`]. There is one at a time.
    Sign(Batch),
    /// Check a batch's signatures and hand the verdict to [`Engine::verified`].
    Verify(Signed),
    /// Write batches to the journal, where there is one, and then call [`Engine::kept`].
    Keep(Vec<Signed>),
    /// Delete batches from the journal; not urgent, but never before what was handed out earlier
    /// to be kept.
    Forget(Vec<BatchId>),
    /// The receipt of something that was told.
    Receipt(Ticket, Receipt),
}

/// What an engine is made of.
pub struct Parts {
    /// The node's name.
    pub node: NodeId,
    /// A random number, other than at every earlier start.
    pub stream: u64,
    /// The node's hybrid clock.
    pub hlc: Arc<Hlc>,
    /// Whose signatures count.
    pub keys: Arc<dyn Keys>,
    /// What is done with entries.
    pub believe: Arc<dyn Believe>,
}

#[derive(Default)]
struct Peer {
    neighbours: BTreeSet<NodeId>,
    digest: Option<u128>,
    /// It took less than it was sent: left to anti-entropy until it says where it stands.
    slow: bool,
    summary_us: u64,
    inventory_us: Option<u64>,
    /// What it was asked for, until when.
    asked: Option<(u64, Vec<(StreamId, Ranges)>)>,
    /// It has answered; once all of it is kept, where this node stands is said at once.
    answered: bool,
}

#[derive(Default)]
struct Contact {
    last_us: Option<u64>,
    skew_ms: Option<i64>,
    in_sync: bool,
    last_in_sync_us: Option<u64>,
    last_anti_entropy_us: Option<u64>,
    sent: u64,
    received: u64,
    /// Own batches that it has not acknowledged: since when, and their bytes.
    unacknowledged: BTreeMap<u64, (u64, usize)>,
    unacknowledged_bytes: usize,
}

#[derive(PartialEq, Eq)]
enum Step {
    Verifying,
    Keeping,
}

struct Pending {
    from: Option<NodeId>,
    pushed: bool,
    bytes: usize,
    step: Step,
    signed: Signed,
}

enum Waiting {
    Entries {
        ticket: Option<Ticket>,
        entries: VecDeque<Entry>,
    },
    /// These were told again by what waits before this.
    Manifest(Vec<BatchId>),
}

/// A batch that is being signed, and what to do once it is.
struct Signing {
    batch: Batch,
    tickets: Vec<(Ticket, bool)>,
    handed_out: bool,
}

/// Batches that are not needed any more once others are in the journal.
struct Outdated {
    stream: StreamId,
    batches: Vec<BatchId>,
    after: BTreeSet<BatchId>,
}

/// Whether a member who comes anew has to hear it.
fn matters(believe: &dyn Believe, entry: &Entry, now: Now) -> bool {
    !entry.has_expired(now.secs().saturating_sub(EXPIRED_S)) && believe.is_current(entry)
}

/// How a node tells and hears. See the [module](super).
pub struct Engine {
    node: NodeId,
    stream: StreamId,
    next_seq: u64,
    hlc: Arc<Hlc>,
    keys: Arc<dyn Keys>,
    believe: Arc<dyn Believe>,
    members: BTreeSet<NodeId>,
    peers: BTreeMap<NodeId, Peer>,
    contacts: BTreeMap<NodeId, Contact>,
    streams: Streams,
    pending: BTreeMap<BatchId, Pending>,
    pending_bytes: usize,
    postponed: BTreeMap<BatchId, u64>,
    waiting: VecDeque<Waiting>,
    waiting_bytes: usize,
    signing: Option<Signing>,
    receipts: Receipts,
    acks: BTreeMap<(NodeId, StreamId), Ranges>,
    /// What the own streams' latest manifest named beside them.
    covered: Vec<(StreamId, Ranges)>,
    compacting: bool,
    outdated: Vec<Outdated>,
    slow_tick_us: Option<u64>,
    judged: Option<BatchId>,
    orphans: BTreeMap<StreamId, u64>,
    started_us: u64,
    status: Status,
    out: VecDeque<Output>,
}

impl Engine {
    /// A node that has just started, with what its journal holds. Everything in it is believed
    /// again.
    pub fn new(parts: Parts, journal: Vec<Signed>, now: Now) -> Engine {
        let mut engine = Engine {
            stream: StreamId {
                origin: parts.node.clone(),
                number: parts.stream,
            },
            node: parts.node,
            next_seq: 1,
            hlc: parts.hlc,
            keys: parts.keys,
            believe: parts.believe,
            members: BTreeSet::new(),
            peers: BTreeMap::new(),
            contacts: BTreeMap::new(),
            streams: Streams::default(),
            pending: BTreeMap::new(),
            pending_bytes: 0,
            postponed: BTreeMap::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            signing: None,
            receipts: Receipts::default(),
            acks: BTreeMap::new(),
            covered: Vec::new(),
            compacting: false,
            outdated: Vec::new(),
            slow_tick_us: None,
            judged: None,
            orphans: BTreeMap::new(),
            started_us: now.us,
            status: Status::default(),
            out: VecDeque::new(),
        };
        let mut streams = BTreeSet::new();
        for signed in &journal {
            let batch = signed.batch();
            // It was observed before it was kept.
            engine.hlc.resume(&batch.stamp);
            engine
                .believe
                .believe(&batch.id.stream.origin, &batch.entries);
            engine.streams.hold(signed, now.secs());
            if engine.streams.stream(&batch.id.stream).is_none()
                || Streams::expiry(signed).is_some_and(|end| end <= now.secs())
            {
                engine.out.push_back(Output::Forget(vec![batch.id.clone()]));
            }
            if batch.id.stream.origin == engine.node
                && let Some(manifest) = &batch.manifest
            {
                engine.cover(&manifest.covers);
            }
            streams.insert(batch.id.stream.clone());
        }
        for stream in &streams {
            engine.settle(stream, now);
        }
        engine
    }

    /// What is to be done next; asked until there is nothing.
    pub fn poll(&mut self) -> Option<Output> {
        if self.out.is_empty() {
            self.flush_acks();
        }
        self.out.pop_front()
    }

    /// Over all batches that are held.
    pub fn digest(&self) -> u128 {
        self.streams.digest()
    }

    /// Who the members are, this node among them or not.
    pub fn members(&mut self, members: impl IntoIterator<Item = NodeId>, now: Now) {
        self.members = members.into_iter().filter(|n| *n != self.node).collect();
        self.contacts.retain(|node, _| self.members.contains(node));
        for node in &self.members {
            self.contacts.entry(node.clone()).or_default();
        }
        self.receipts.left(&self.members);
        let streams: Vec<StreamId> = self.streams.iter().map(|(id, _)| id.clone()).collect();
        for stream in &streams {
            self.settle(stream, now);
        }
        self.finish_receipts(now);
    }

    /// Tells entries to all members. [`Output::Receipt`] follows in bounded time.
    pub fn tell(&mut self, entries: Vec<Entry>, now: Now) -> Ticket {
        let ticket = self.receipts.begin(now.us);
        let bytes: usize = entries.iter().map(Entry::len).sum();
        let fits = entries.iter().all(Entry::fits);
        if entries.is_empty() {
            let receipt = self.receipts.close(ticket).unwrap_or_default();
            self.out.push_back(Output::Receipt(ticket, receipt));
        } else if !fits || self.waiting_bytes + bytes > MAX_WAITING_BYTES {
            // Nobody hears of it from here; what the store's change log tells is not bounded so.
            self.receipts.close(ticket);
            let unreachable = self.members.iter().cloned().collect();
            let receipt = Receipt {
                acknowledged: Vec::new(),
                unreachable,
            };
            self.out.push_back(Output::Receipt(ticket, receipt));
        } else {
            self.waiting_bytes += bytes;
            self.waiting.push_back(Waiting::Entries {
                ticket: Some(ticket),
                entries: entries.into(),
            });
            self.sign_next(now);
        }
        ticket
    }

    /// A connection to a member stands.
    pub fn up(&mut self, peer: &NodeId, now: Now) {
        if *peer == self.node {
            return;
        }
        self.peers.insert(peer.clone(), Peer::default());
        self.contact(peer, now);
        self.say_where_we_stand(now);
    }

    /// It is gone.
    pub fn down(&mut self, peer: &NodeId, now: Now) {
        if self.peers.remove(peer).is_some() {
            self.say_where_we_stand(now);
            self.finish_receipts(now);
        }
    }

    /// A frame could not be sent because the peer takes less than it is sent.
    pub fn slow(&mut self, peer: &NodeId) {
        if let Some(peer) = self.peers.get_mut(peer) {
            peer.slow = true;
        }
    }

    /// A frame of a peer.
    ///
    /// # Errors
    /// If it is none: the peer is broken, or another version.
    pub fn received(
        &mut self,
        from: &NodeId,
        frame: &[u8],
        now: Now,
    ) -> Result<(), signet_cbor::Error> {
        if !self.peers.contains_key(from) {
            return Ok(());
        }
        if let Some(contact) = self.contacts.get_mut(from) {
            contact.received += frame.len() as u64;
        }
        let frame = Frame::from_bytes(frame).inspect_err(|_| self.status.malformed += 1)?;
        self.contact(from, now);
        match frame {
            Frame::Summary {
                digest,
                wall_ms,
                neighbours,
            } => self.on_summary(from, digest, wall_ms, neighbours, now),
            Frame::Inventory(streams) => self.on_inventory(from, streams, now),
            Frame::Want { credit, streams } => self.on_want(from, credit, &streams),
            Frame::Batches {
                pushed,
                last,
                batches,
            } => return self.on_batches(from, pushed, last, &batches, now),
            Frame::Ack { by, stream, seqs } => self.on_ack(from, by, stream, seqs, now),
        }
        Ok(())
    }

    /// The batch of [`Output::Sign`], signed, or None if that failed: it is tried again.
    pub fn signed(&mut self, signed: Option<Signed>, now: Now) {
        let Some(signing) = self.signing.as_mut() else {
            return;
        };
        let Some(signed) = signed.filter(|signed| signed.batch().id == signing.batch.id) else {
            signing.handed_out = false;
            return;
        };
        let Some(signing) = self.signing.take() else {
            return;
        };
        let seq = self.next_seq;
        self.next_seq += 1;
        for (ticket, last) in signing.tickets {
            self.receipts
                .in_batch(ticket, seq, last, self.members.iter());
        }
        let bytes = signed.bytes().len();
        for contact in self.contacts.values_mut() {
            contact.unacknowledged.insert(seq, (now.us, bytes));
            contact.unacknowledged_bytes += bytes;
            while contact.unacknowledged.len() > MAX_UNACKNOWLEDGED {
                if let Some((_, (_, bytes))) = contact.unacknowledged.pop_first() {
                    contact.unacknowledged_bytes -= bytes;
                }
            }
        }
        let peers: Vec<NodeId> = self.peers.keys().cloned().collect();
        for peer in peers {
            self.push(&peer, &signed, bytes);
        }
        self.keep(None, false, signed);
        self.finish_receipts(now);
        self.sign_next(now);
    }

    /// What the signatures of a batch of [`Output::Verify`] are worth.
    pub fn verified(&mut self, id: &BatchId, verdict: Verdict, now: Now) {
        let Some(pending) = self.pending.get_mut(id) else {
            return;
        };
        if pending.step != Step::Verifying {
            return;
        }
        let batch = pending.signed.batch();
        let fits = self
            .streams
            .stream(&id.stream)
            .is_none_or(|stream| stream.signer == batch.signer);
        let postpone = match verdict {
            Verdict::Holds if !fits => Some(&mut self.status.forged),
            Verdict::Holds => match self.hlc.observe(&batch.stamp, now.wall_ms) {
                Ok(()) => None,
                Err(_) => Some(&mut self.status.ahead),
            },
            Verdict::Forged => {
                // The real one may be the next that comes.
                self.status.forged += 1;
                self.let_go(id, now);
                return;
            }
            Verdict::Unknown => Some(&mut self.status.unknown),
        };
        if let Some(count) = postpone {
            *count += 1;
            if self.postponed.len() < MAX_POSTPONED {
                self.postponed.insert(id.clone(), now.us + POSTPONED_US);
            }
            self.let_go(id, now);
            return;
        }
        pending.step = Step::Keeping;
        let (signed, from, pushed) = (pending.signed.clone(), pending.from.clone(), pending.pushed);
        let origin = &id.stream.origin;
        self.believe.believe(origin, &signed.batch().entries);
        // Whoever is connected with the origin heard it from there.
        if pushed && self.peers.contains_key(origin) {
            let others: Vec<NodeId> = self
                .peers
                .iter()
                .filter(|(name, peer)| {
                    Some(*name) != from.as_ref()
                        && *name != origin
                        && !peer.slow
                        && !peer.neighbours.contains(origin)
                })
                .map(|(name, _)| name.clone())
                .collect();
            for other in others {
                self.send_batches(&other, true, true, vec![signed.bytes().clone()]);
            }
        }
        self.out.push_back(Output::Keep(vec![signed]));
    }

    /// Batches of [`Output::Keep`] are in the journal.
    pub fn kept(&mut self, ids: &[BatchId], now: Now) {
        for id in ids {
            let Some(pending) = self.pending.get(id) else {
                continue;
            };
            if pending.step != Step::Keeping {
                continue;
            }
            let (signed, from) = (pending.signed.clone(), pending.from.clone());
            self.streams.hold(&signed, now.secs());
            let held = self.streams.stream(&id.stream);
            if held.is_none_or(|stream| !stream.held.contains_key(&id.seq)) {
                self.out.push_back(Output::Forget(vec![id.clone()]));
            }
            self.postponed.remove(id);
            self.acknowledge(id, from.as_ref());
            self.let_go(id, now);
            self.settle(&id.stream, now);
            if id.stream == self.stream && signed.batch().manifest.is_some() {
                self.compacting = false;
            }
        }
        self.sign_next(now);
    }

    /// Time has passed. To be called about ten times a second, and at once after
    /// [`new`](Self::new).
    pub fn tick(&mut self, now: Now) {
        let due: Vec<NodeId> = self
            .peers
            .iter()
            .filter(|(_, peer)| now.us.saturating_sub(peer.summary_us) >= SUMMARY_US)
            .map(|(name, _)| name.clone())
            .collect();
        for peer in due {
            self.summarize(&peer, now);
        }
        for peer in self.peers.values_mut() {
            if peer
                .asked
                .as_ref()
                .is_some_and(|(until, _)| *until <= now.us)
            {
                peer.asked = None;
            }
        }
        self.postponed.retain(|_, until| *until > now.us);
        let last = self.slow_tick_us;
        if last.is_none_or(|us| now.us.saturating_sub(us) >= FORGET_US) {
            self.slow_tick_us = Some(now.us);
            self.tidy(now);
        }
        self.sign_next(now);
        self.finish_receipts(now);
    }

    fn tidy(&mut self, now: Now) {
        let expired = self.streams.expire(now.secs());
        if !expired.is_empty() {
            self.out.push_back(Output::Forget(expired));
        }
        let streams: Vec<StreamId> = self
            .streams
            .iter()
            .filter(|(_, stream)| stream.manifest.is_some())
            .map(|(id, _)| id.clone())
            .collect();
        for stream in &streams {
            self.settle(stream, now);
        }
        self.judge(now);
        self.compact(now);
        self.adopt(now);
    }

    /// How long the node has not been in contact with enough members for a majority, itself
    /// counted, at a moment; None if it never was. Zero for a node without other members.
    pub fn staleness(&self, now: Now) -> Option<Duration> {
        let enough = self.members.len().div_ceil(2);
        if enough == 0 {
            return Some(Duration::ZERO);
        }
        let mut contacts: Vec<u64> = self.contacts.values().filter_map(|c| c.last_us).collect();
        contacts.sort_unstable_by(|a, b| b.cmp(a));
        let last = contacts.get(enough - 1)?;
        Some(Duration::from_micros(now.us.saturating_sub(*last)))
    }

    /// Where the node stands.
    pub fn status(&self, now: Now) -> Status {
        let since = |us: u64| Duration::from_micros(now.us.saturating_sub(us));
        let peers = self.contacts.iter().map(|(node, contact)| PeerStatus {
            node: node.clone(),
            connected: self.peers.contains_key(node),
            relayed: !self.peers.contains_key(node) && self.reaches(node),
            lag_batches: contact.unacknowledged.len(),
            lag: contact
                .unacknowledged
                .first_key_value()
                .map_or(Duration::ZERO, |(_, (us, _))| since(*us)),
            last_contact: contact.last_us.map(since),
            clock_skew_ms: contact.skew_ms,
            in_sync: contact.in_sync,
            last_in_sync: contact.last_in_sync_us.map(since),
            last_anti_entropy: contact.last_anti_entropy_us.map(since),
            bytes_sent: contact.sent,
            bytes_received: contact.received,
        });
        Status {
            digest: self.streams.digest(),
            batches: self.streams.batches(),
            bytes: self.streams.bytes(),
            pending: self.pending.len(),
            waiting_bytes: self.waiting_bytes,
            staleness: self.staleness(now),
            peers: peers.collect(),
            ..self.status.clone()
        }
    }

    /// Whether this node has asked nobody for anything and has nothing to do.
    pub fn is_idle(&self) -> bool {
        self.pending.is_empty()
            && self.waiting.is_empty()
            && self.signing.is_none()
            && !self.receipts.are_open()
    }

    /// How long the process has told and heard.
    pub fn age(&self, now: Now) -> Duration {
        Duration::from_micros(now.us.saturating_sub(self.started_us))
    }

    // Frames out

    fn send(&mut self, to: &NodeId, frame: &Frame) {
        let frame = frame.to_bytes();
        if let Some(contact) = self.contacts.get_mut(to) {
            contact.sent += frame.len() as u64;
        }
        self.out.push_back(Output::Send {
            to: to.clone(),
            frame,
        });
    }

    fn send_batches(&mut self, to: &NodeId, pushed: bool, last: bool, batches: Vec<Arc<[u8]>>) {
        let frame = Frame::Batches {
            pushed,
            last,
            batches,
        };
        self.send(to, &frame);
    }

    fn push(&mut self, to: &NodeId, signed: &Signed, bytes: usize) {
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

    fn summarize(&mut self, to: &NodeId, now: Now) {
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

    fn say_where_we_stand(&mut self, now: Now) {
        let peers: Vec<NodeId> = self.peers.keys().cloned().collect();
        for peer in &peers {
            self.summarize(peer, now);
        }
    }

    fn send_inventory(&mut self, to: &NodeId, now: Now) {
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

    fn acknowledge(&mut self, id: &BatchId, from: Option<&NodeId>) {
        let origin = &id.stream.origin;
        if *origin == self.node {
            return;
        }
        let through = if self.peers.contains_key(origin) {
            origin
        } else {
            match from {
                Some(from) => from,
                None => return,
            }
        };
        let key = (through.clone(), id.stream.clone());
        self.acks.entry(key).or_default().insert(id.seq);
    }

    fn flush_acks(&mut self) {
        while let Some(((to, stream), seqs)) = self.acks.pop_first() {
            let by = self.node.clone();
            if self.peers.contains_key(&to) {
                self.send(&to, &Frame::Ack { by, stream, seqs });
            }
        }
    }

    // Frames in

    fn contact(&mut self, node: &NodeId, now: Now) {
        if let Some(contact) = self.contacts.get_mut(node) {
            contact.last_us = Some(now.us);
        }
    }

    fn on_summary(
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
            // It has everything that is held here, and what was told before was told again.
            let mut own = Ranges::of(1, self.next_seq - 1);
            let pending = self.pending.keys().filter(|id| id.stream == self.stream);
            for id in pending {
                own.remove(id.seq);
            }
            self.acknowledged(from, &own, now);
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

    fn on_inventory(&mut self, from: &NodeId, streams: Vec<(StreamId, Ranges)>, now: Now) {
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

    fn on_want(&mut self, from: &NodeId, credit: u64, streams: &[(StreamId, Ranges)]) {
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

    fn on_batches(
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

    fn take_in(&mut self, from: &NodeId, pushed: bool, signed: Signed) {
        let id = signed.batch().id.clone();
        if id.stream == self.stream {
            // This node's own, on its way back; or somebody claims to be it.
            if id.seq >= self.next_seq {
                self.status.forged += 1;
            }
            return;
        }
        if self.streams.knows(&id) {
            // The acknowledgement may have been lost.
            if pushed {
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
    fn let_go(&mut self, id: &BatchId, now: Now) {
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

    /// Once everything that a peer answered is kept, it is told where this node stands now: it may
    /// have more.
    fn follow_up(&mut self, from: &NodeId, now: Now) {
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

    fn on_ack(&mut self, from: &NodeId, by: NodeId, stream: StreamId, seqs: Ranges, now: Now) {
        if stream == self.stream {
            self.contact(&by, now);
            self.acknowledged(&by, &seqs, now);
            self.finish_receipts(now);
        } else if by == *from && stream.origin != *from && self.peers.contains_key(&stream.origin) {
            let to = stream.origin.clone();
            self.send(&to, &Frame::Ack { by, stream, seqs });
        }
    }

    fn acknowledged(&mut self, by: &NodeId, seqs: &Ranges, now: Now) {
        let Some(contact) = self.contacts.get_mut(by) else {
            return;
        };
        let mut new = Vec::new();
        for (first, last) in seqs.iter() {
            let own = contact.unacknowledged.range(first..=last);
            new.extend(own.map(|(seq, (_, bytes))| (*seq, *bytes)));
        }
        for (seq, bytes) in new {
            contact.unacknowledged.remove(&seq);
            contact.unacknowledged_bytes -= bytes;
            self.receipts.acknowledged(by, seq, now.us);
        }
    }

    fn reaches(&self, node: &NodeId) -> bool {
        self.peers.contains_key(node)
            || self
                .peers
                .values()
                .any(|peer| peer.neighbours.contains(node))
    }

    fn finish_receipts(&mut self, now: Now) {
        let mut receipts = std::mem::take(&mut self.receipts);
        let finished = receipts.finish(now.us, RECEIPT_US, |node| self.reaches(node));
        self.receipts = receipts;
        for (ticket, receipt) in finished {
            self.out.push_back(Output::Receipt(ticket, receipt));
        }
    }

    // Telling

    fn keep(&mut self, from: Option<NodeId>, pushed: bool, signed: Signed) {
        let bytes = signed.bytes().len();
        self.pending_bytes += bytes;
        let pending = Pending {
            from,
            pushed,
            bytes,
            step: Step::Keeping,
            signed: signed.clone(),
        };
        self.pending.insert(signed.batch().id.clone(), pending);
        self.out.push_back(Output::Keep(vec![signed]));
    }

    fn sign_next(&mut self, now: Now) {
        if self.signing.is_none() && self.pending_bytes < MAX_PENDING_BYTES {
            self.signing = self.next_batch(now);
        }
        if let Some(signing) = &mut self.signing
            && !signing.handed_out
        {
            signing.handed_out = true;
            self.out.push_back(Output::Sign(signing.batch.clone()));
        }
    }

    fn next_batch(&mut self, now: Now) -> Option<Signing> {
        let mut tickets = Vec::new();
        let mut taken = Vec::new();
        let mut manifest = None;
        let mut bytes = 0;
        while let Some(waiting) = self.waiting.front_mut() {
            match waiting {
                Waiting::Manifest(told_again) => {
                    if taken.is_empty() {
                        let told_again = std::mem::take(told_again);
                        self.waiting.pop_front();
                        manifest = Some(self.manifest(&told_again));
                    }
                    break;
                }
                Waiting::Entries { ticket, entries } => {
                    let mut full = false;
                    while let Some(entry) = entries.front() {
                        full = taken.len() == MAX_ENTRIES
                            || bytes + entry.len() > MAX_SHARED_BYTES && !taken.is_empty();
                        if full {
                            break;
                        }
                        bytes += entry.len();
                        self.waiting_bytes = self.waiting_bytes.saturating_sub(entry.len());
                        taken.extend(entries.pop_front());
                    }
                    if let Some(ticket) = ticket {
                        tickets.push((*ticket, entries.is_empty()));
                    }
                    if full {
                        break;
                    }
                    self.waiting.pop_front();
                }
            }
        }
        if taken.is_empty() && manifest.is_none() {
            return None;
        }
        Some(Signing {
            batch: Batch {
                id: BatchId {
                    stream: self.stream.clone(),
                    seq: self.next_seq,
                },
                signer: self.keys.own(),
                stamp: self.hlc.now(now.wall_ms),
                entries: taken,
                manifest,
            },
            tickets,
            handed_out: false,
        })
    }

    // Forgetting

    /// Forgets what a stream's manifest lets it forget. What is believed and not yet in the journal
    /// may be what supersedes it, so it waits for that.
    fn settle(&mut self, stream: &StreamId, now: Now) {
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
        let batches = self.streams.outdated(
            stream,
            now.secs(),
            |other, their_signer| match their_signer {
                Some(theirs) => *theirs == signer || keys.standing(theirs) == Standing::Removed,
                None => other.origin == stream.origin,
            },
            |entry| matters(&*believe, entry, now),
        );
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

    fn forget_outdated(&mut self) {
        let streams = &mut self.streams;
        let mut forgotten = Vec::new();
        self.outdated.retain(|outdated| {
            let waits = !outdated.after.is_empty();
            if !waits {
                let batches = outdated.batches.iter();
                forgotten.extend(batches.filter(|id| streams.forget(id)).cloned());
            }
            waits
        });
        if !forgotten.is_empty() {
            self.out.push_back(Output::Forget(forgotten));
        }
    }

    /// Whether the batch is this node's to tell again: of one of its own streams.
    fn is_own(&self, id: &StreamId, signer: &Fingerprint) -> bool {
        id.origin == self.node && *signer == self.keys.own()
    }

    /// What still matters of a batch.
    fn current(&self, bytes: &[u8], now: Now) -> Vec<Entry> {
        let mut entries = entries(bytes);
        entries.retain(|entry| matters(&*self.believe, entry, now));
        entries
    }

    /// Looks at some of the own batches, in turn: how much of them still matters?
    fn judge(&mut self, now: Now) {
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
    fn compact(&mut self, now: Now) {
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
        if bytes >= COMPACT_BYTES.max((own / 8).min(COMPACT_AT_ONCE / 2)) {
            self.tell_again(picked, now);
        }
    }

    /// Tells again what removed members told. The members who are there do so one after the other,
    /// each what is still left.
    fn adopt(&mut self, now: Now) {
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

    fn tell_again(&mut self, picked: Vec<(BatchId, Arc<[u8]>)>, now: Now) {
        self.compacting = true;
        let mut entries = VecDeque::new();
        for (_, bytes) in &picked {
            entries.extend(self.current(bytes, now));
        }
        if !entries.is_empty() {
            self.waiting_bytes += entries.iter().map(Entry::len).sum::<usize>();
            self.waiting.push_back(Waiting::Entries {
                ticket: None,
                entries,
            });
        }
        let ids = picked.into_iter().map(|(id, _)| id).collect();
        self.waiting.push_back(Waiting::Manifest(ids));
    }

    /// What matters of the own stream when these have been told again.
    fn manifest(&mut self, told_again: &[BatchId]) -> Manifest {
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
            } else {
                others.entry(id.stream.clone()).or_default().insert(id.seq);
            }
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

    /// Remembers what was told again, the latest last.
    fn cover(&mut self, others: &[(StreamId, Ranges)]) {
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
