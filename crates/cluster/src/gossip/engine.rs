//! The state machine: what happens, and what is to be done.
mod forget;
mod hear;
mod say;
mod sign;

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
    member::Fingerprint,
};
use signet_merge::{
    entry::Entry,
    hlc::Hlc,
    tell::{Believe, Receipt},
};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

/// Something that was announced, until its receipt is made.
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

/// Batches are announced again once so many bytes of them are half outdated, unless the parts say
/// otherwise.
pub const COMPACT_BYTES: usize = 64 * 1024;

/// Bytes of batches that are announced again at a time.
const COMPACT_AT_ONCE: usize = 16 * 1024 * 1024;

/// Batches that are looked at for what still matters, each second.
const JUDGED_AT_ONCE: usize = 32;

/// How often a peer receives a summary of where this node stands.
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
/// By how much the wall clock differs from the other one, between two ticks, where it was set.
const STEP_MS: u128 = 1_000;
/// How long a batch that its origin does not name any more is kept before this node tells itself
/// what matters of it.
const RETAINED_US: u64 = 5_000_000;

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
    /// The receipt of something that was announced.
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
    /// How many bytes of half-outdated batches are announced again; [`COMPACT_BYTES`].
    pub compact_bytes: usize,
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
    /// How long it took until it believed what was last told with a receipt.
    believed_after: Option<Duration>,
    last_in_sync_us: Option<u64>,
    last_anti_entropy_us: Option<u64>,
    sent: u64,
    received: u64,
    /// Own batches that it has not acknowledged.
    unacknowledged: BTreeMap<u64, Unacknowledged>,
    unacknowledged_bytes: usize,
}

/// A batch that a member does not have in its journal yet, as far as is known.
struct Unacknowledged {
    since_us: u64,
    bytes: usize,
    /// It has said that it believes it.
    believed: bool,
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
    /// These were announced again by what waits before this.
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

/// Whether a member who comes again has to hear it.
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
    /// What is believed, and not yet said to be.
    believed: BTreeMap<(NodeId, StreamId), Ranges>,
    /// What the own streams' latest manifest named beside them.
    covered: Vec<(StreamId, Ranges)>,
    compact_bytes: usize,
    compacting: bool,
    outdated: Vec<Outdated>,
    /// Since when a manifest leaves out what still matters here.
    retained: BTreeMap<BatchId, u64>,
    slow_tick_us: Option<u64>,
    /// What the wall clock showed when the other one began.
    began_ms: Option<i128>,
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
            believed: BTreeMap::new(),
            covered: Vec::new(),
            compact_bytes: parts.compact_bytes,
            compacting: false,
            outdated: Vec::new(),
            retained: BTreeMap::new(),
            slow_tick_us: None,
            began_ms: None,
            judged: None,
            orphans: BTreeMap::new(),
            started_us: now.us,
            status: Status::default(),
            out: VecDeque::new(),
        };
        let mut streams = BTreeSet::new();
        for signed in &journal {
            let batch = signed.batch();
            match batch.id.stream.origin == engine.node {
                true => engine.hlc.resume(&batch.stamp),
                // What is too far ahead is believed and not followed, as when it came.
                false => drop(engine.hlc.observe(&batch.stamp, now.wall_ms)),
            }
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
            self.wait(Some(ticket), entries.into());
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
            Frame::Believed { by, stream, seqs } => self.on_believed(from, by, stream, seqs, now),
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
        self.status.signed += 1;
        for (ticket, last) in signing.tickets {
            self.receipts
                .in_batch(ticket, seq, last, self.members.iter());
        }
        let bytes = signed.bytes().len();
        for contact in self.contacts.values_mut() {
            let unacknowledged = Unacknowledged {
                since_us: now.us,
                bytes,
                believed: false,
            };
            contact.unacknowledged.insert(seq, unacknowledged);
            contact.unacknowledged_bytes += bytes;
            while contact.unacknowledged.len() > MAX_UNACKNOWLEDGED {
                if let Some((_, oldest)) = contact.unacknowledged.pop_first() {
                    contact.unacknowledged_bytes -= oldest.bytes;
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
            Verdict::Holds => {
                // Revocations only grow, and how two writes of a record come together is said by
                // the stamps inside: no clock is a reason not to believe them.
                let followed = self.hlc.observe(&batch.stamp, now.wall_ms);
                self.status.ahead += u64::from(followed.is_err());
                None
            }
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
        self.status.verified += 1;
        pending.step = Step::Keeping;
        let (signed, from, pushed) = (pending.signed.clone(), pending.from.clone(), pending.pushed);
        let origin = &id.stream.origin;
        self.believe.believe(origin, &signed.batch().entries);
        if let Some(to) = self.way_to(origin, from.as_ref()) {
            let believed = self.believed.entry((to, id.stream.clone()));
            believed.or_default().insert(id.seq);
        }
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
        self.look_at_the_clock(now);
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

    /// What the others' clocks were compared with counts no more where the wall clock has stepped.
    fn look_at_the_clock(&mut self, now: Now) {
        let began_ms = i128::from(now.wall_ms) - i128::from(now.us / 1000);
        let before = self.began_ms.replace(began_ms);
        if before.is_some_and(|before| began_ms.abs_diff(before) > STEP_MS) {
            for contact in self.contacts.values_mut() {
                contact.skew_ms = None;
            }
            // Whoever hears where this node stands says where it stands itself.
            self.say_where_we_stand(now);
        }
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
                .map_or(Duration::ZERO, |(_, oldest)| since(oldest.since_us)),
            believed_after: contact.believed_after,
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
            clock_epochs: self.hlc.epochs(),
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
}
