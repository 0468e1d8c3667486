//! Nodes under a virtual clock and a network that a seed decides.
use super::{
    model::{CheapKeys, Memory, Model, RECORD, REVOCATION, Truth, fingerprint},
    random::Random,
};
use signet_cluster::{
    NodeId,
    batch::{Batch, BatchId, Keys, MemberKeys, Signed, Verdict},
    gossip::{Engine, Frame, Now, Output, Parts, Status, Ticket},
    identity::Identity,
    member::{self, Member, Members},
};
use signet_merge::{
    crdt::Record,
    entry::Entry,
    hlc::{Hlc, Stamp},
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

/// Records, and revocations with epoch and end.
type Known = (BTreeMap<Vec<u8>, Record>, BTreeMap<Vec<u8>, (u64, u64)>);

/// Unix milliseconds at the beginning of every run.
const EPOCH_MS: u64 = 1_700_000_000_000;
const TICK_US: u64 = 200_000;
/// By how much a clock is wrong that is worse than minutes off. Nothing expires in so short a time.
const WILD_MS: i64 = 5_000_000;
/// Bytes on the way between two nodes; beyond it nothing is sent.
const QUEUE_BYTES: usize = 2 * 1024 * 1024;

/// What a run is like.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) nodes: usize,
    /// The first so many are hubs; 0: everybody is connected with everybody.
    pub(super) hubs: usize,
    pub(super) least_delay_us: u64,
    pub(super) most_delay_us: u64,
    pub(super) loss: u64,
    pub(super) duplicates: u64,
    pub(super) skew_ms: u64,
    pub(super) slow_disk: bool,
    pub(super) faults: bool,
    pub(super) forger: Option<usize>,
    pub(super) removal: bool,
    pub(super) real_keys: bool,
    pub(super) active_us: u64,
    pub(super) tells: u64,
    pub(super) leap: bool,
    pub(super) compact_bytes: usize,
    /// Clocks are set wrong by more than an hour, too, and right again.
    pub(super) wild_clocks: bool,
}

enum Identities {
    Cheap(Arc<CheapKeys>),
    Real(Arc<MemberKeys>, Arc<Members>),
}

enum JournalOp {
    Keep(Vec<Signed>),
    Forget(Vec<BatchId>),
}

pub(super) struct Node {
    pub(super) name: NodeId,
    pub(super) engine: Option<Engine>,
    pub(super) model: Arc<Model>,
    keys: Identities,
    boot: u64,
    hlc: Arc<Hlc>,
    skew_ms: i64,
    pub(super) journal: BTreeMap<BatchId, Signed>,
    disk_us: u64,
    /// What it has acknowledged, over restarts.
    pub(super) acknowledged: BTreeSet<BatchId>,
    pub(super) removed: bool,
    /// With the starts that every node had by then.
    told: BTreeMap<Ticket, (Vec<Entry>, Vec<u64>)>,
    pub(super) receipts: u64,
}

enum Event {
    Tick(usize, u64),
    Frame(usize, usize, Vec<u8>),
    Signed(usize, u64, Batch),
    Verified(usize, u64, Signed),
    Journal(usize, u64, JournalOp),
    Tell(usize),
    Fault,
    Start(usize),
    Removal(usize, usize),
}

/// One direction of a connection.
#[derive(Clone, Default)]
struct Link {
    cut: bool,
    bytes: usize,
}

pub(super) struct World {
    pub(super) plan: Plan,
    pub(super) random: Random,
    pub(super) us: u64,
    /// What the wall clocks show beyond the virtual time.
    leap_ms: u64,
    pub(super) nodes: Vec<Node>,
    links: BTreeMap<(usize, usize), Link>,
    up: BTreeSet<(usize, usize)>,
    queue: BTreeMap<(u64, u64), Event>,
    serial: u64,
    truth: Arc<Truth>,
    pub(super) signed: HashMap<BatchId, Vec<Entry>>,
    /// Every entry that was announced, by whom, when, and whether its announcer still knows it.
    pub(super) told: Vec<(usize, u64, Entry)>,
    pub(super) quiet: bool,
    pub(super) most_pending: usize,
    /// When each node first knew an entry of [`Self::told`], where that is watched.
    pub(super) watched: Option<BTreeMap<(usize, usize), u64>>,
}

impl World {
    pub(super) fn new(plan: Plan, seed: u64) -> World {
        let mut random = Random::new(seed ^ 0x5167_6e65_7400);
        let names: Vec<NodeId> = (0..plan.nodes)
            .map(|index| NodeId::parse(&format!("node-{index}")).expect("a name"))
            .collect();
        let truth = Arc::new(Truth::default());
        let identities: Vec<Option<Arc<Identity>>> = (0..plan.nodes)
            .map(|_| {
                plan.real_keys
                    .then(|| Arc::new(Identity::generate().expect("keys")))
            })
            .collect();
        let nodes = (0..plan.nodes)
            .map(|index| {
                let keys = match &identities[index] {
                    None => Identities::Cheap(Arc::new(CheapKeys {
                        own: fingerprint(index),
                        names: names
                            .iter()
                            .enumerate()
                            .map(|(other, name)| (name.clone(), fingerprint(other)))
                            .collect(),
                        removed: Default::default(),
                    })),
                    Some(identity) => {
                        let members = Arc::new(Members::new());
                        for (name, identity) in names.iter().zip(identities.iter().flatten()) {
                            let known = member::Known::Member(Box::new(member(name, identity)));
                            members
                                .merge(identity.fingerprint(name), known)
                                .expect("a member");
                        }
                        let keys =
                            MemberKeys::new(&names[index], identity.clone(), members.clone());
                        Identities::Real(Arc::new(keys), members)
                    }
                };
                let skew = plan.skew_ms as i64;
                Node {
                    name: names[index].clone(),
                    engine: None,
                    model: Arc::new(Model::new(truth.clone())),
                    keys,
                    boot: 0,
                    hlc: Arc::new(Hlc::new(names[index].clone())),
                    skew_ms: random.between(0, 2 * plan.skew_ms) as i64 - skew,
                    journal: BTreeMap::new(),
                    disk_us: 0,
                    acknowledged: BTreeSet::new(),
                    removed: false,
                    told: BTreeMap::new(),
                    receipts: 0,
                }
            })
            .collect();
        let mut world = World {
            random,
            us: 0,
            leap_ms: 0,
            nodes,
            links: BTreeMap::new(),
            up: BTreeSet::new(),
            queue: BTreeMap::new(),
            serial: 0,
            truth,
            signed: HashMap::new(),
            told: Vec::new(),
            quiet: false,
            most_pending: 0,
            watched: None,
            plan,
        };
        for index in 0..world.plan.nodes {
            world.start(index);
        }
        for _ in 0..world.plan.tells {
            let at = world.random.below(world.plan.active_us);
            let node = world.random.index(world.plan.nodes);
            world.schedule(at, Event::Tell(node));
        }
        if world.plan.faults {
            for _ in 0..world.random.between(1, 8) {
                let at = world.random.below(world.plan.active_us);
                world.schedule(at, Event::Fault);
            }
        }
        if world.plan.removal {
            let at = world.plan.active_us / 2;
            // The only hub cannot be done without.
            let least = usize::from(world.plan.hubs == 1);
            let whom = least + world.random.index(world.plan.nodes - least);
            for node in 0..world.plan.nodes {
                let later = world.random.below(300_000);
                world.schedule(at + later, Event::Removal(node, whom));
            }
        }
        world
    }

    fn schedule(&mut self, after_us: u64, event: Event) {
        self.serial += 1;
        self.queue.insert((self.us + after_us, self.serial), event);
    }

    pub(super) fn now(&self, index: usize) -> Now {
        let wall = EPOCH_MS + self.leap_ms + self.us / 1000;
        Now {
            us: self.us,
            wall_ms: wall.saturating_add_signed(self.nodes[index].skew_ms),
        }
    }

    /// Unix seconds by a clock that nobody has.
    pub(super) fn secs(&self) -> u64 {
        (EPOCH_MS + self.leap_ms + self.us / 1000) / 1000
    }

    /// Hours pass in which nothing happens.
    pub(super) fn leap(&mut self, hours: u64) {
        self.leap_ms += hours * 3_600_000;
    }

    fn linked(&self, a: usize, b: usize) -> bool {
        let hubs = self.plan.hubs;
        a != b && (hubs == 0 || a < hubs || b < hubs)
    }

    fn members(&self, index: usize) -> Vec<NodeId> {
        let gone = |other: &Node| match &self.nodes[index].keys {
            Identities::Cheap(keys) => {
                let removed = keys.removed.lock().expect("whole");
                keys.names
                    .get(&other.name)
                    .is_some_and(|f| removed.contains(f))
            }
            Identities::Real(_, members) => members.find(&other.name).is_none(),
        };
        let there = self.nodes.iter().filter(|other| !gone(other));
        there.map(|other| other.name.clone()).collect()
    }

    fn start(&mut self, index: usize) {
        if self.nodes[index].removed || self.nodes[index].engine.is_some() {
            return;
        }
        let stream = self.random.next();
        let now = self.now(index);
        let members = self.members(index);
        let node = &mut self.nodes[index];
        node.boot += 1;
        node.disk_us = self.us;
        node.model = Arc::new(Model::new(self.truth.clone()));
        node.hlc = Arc::new(Hlc::new(node.name.clone()));
        node.told.clear();
        let keys: Arc<dyn Keys> = match &node.keys {
            Identities::Cheap(keys) => keys.clone(),
            Identities::Real(keys, _) => keys.clone(),
        };
        let parts = Parts {
            node: node.name.clone(),
            stream,
            hlc: node.hlc.clone(),
            keys,
            believe: node.model.clone(),
            compact_bytes: self.plan.compact_bytes,
        };
        let journal = node.journal.values().cloned().collect();
        let mut engine = Engine::new(parts, journal, now);
        engine.members(members, now);
        node.engine = Some(engine);
        let boot = node.boot;
        self.check_memory_after_restart(index);
        self.schedule(0, Event::Tick(index, boot));
        for other in 0..self.plan.nodes {
            self.connect(index, other);
        }
        self.drain(index);
    }

    /// Whatever it acknowledged before, it knows: as far as it has not expired since.
    fn check_memory_after_restart(&self, index: usize) {
        let node = &self.nodes[index];
        let memory = node.model.memory.lock().expect("whole");
        for id in &node.acknowledged {
            for entry in &self.signed[id] {
                if entry.end.is_none_or(|end| end > self.secs() + 600) {
                    assert!(
                        memory.includes(entry),
                        "{} acknowledged {id:?} and forgot it at its restart: {entry:?}",
                        node.name
                    );
                }
            }
        }
    }

    fn connect(&mut self, a: usize, b: usize) {
        let there = |node: &Node| node.engine.is_some();
        let pair = (a.min(b), a.max(b));
        let cut = |a, b| self.links.get(&(a, b)).is_some_and(|link: &Link| link.cut);
        if !self.linked(a, b)
            || !there(&self.nodes[a])
            || !there(&self.nodes[b])
            || cut(a, b)
            || cut(b, a)
            || !self.up.insert(pair)
        {
            return;
        }
        for (here, there) in [(a, b), (b, a)] {
            let (now, name) = (self.now(here), self.nodes[there].name.clone());
            if let Some(engine) = &mut self.nodes[here].engine {
                engine.up(&name, now);
            }
            self.drain(here);
        }
    }

    fn disconnect(&mut self, a: usize, b: usize) {
        if !self.up.remove(&(a.min(b), a.max(b))) {
            return;
        }
        for (here, there) in [(a, b), (b, a)] {
            let (now, name) = (self.now(here), self.nodes[there].name.clone());
            if let Some(engine) = &mut self.nodes[here].engine {
                engine.down(&name, now);
            }
            self.drain(here);
        }
    }

    fn crash(&mut self, index: usize) {
        self.nodes[index].engine = None;
        for other in 0..self.plan.nodes {
            self.disconnect(index, other);
        }
    }

    fn fault(&mut self) {
        let nodes = self.plan.nodes;
        let node = self.random.index(nodes);
        let other = self.random.index(nodes);
        match self.random.below(8) {
            // A crash, and a start somewhat later.
            0 | 1 => {
                self.crash(node);
                let later = self.random.between(10_000, 2_000_000);
                self.schedule(later, Event::Start(node));
            }
            // One direction is silent; the connection may stand all the same.
            2 => {
                self.links.entry((node, other)).or_default().cut = true;
                if self.random.permille(500) {
                    self.disconnect(node, other);
                }
            }
            // The nodes are in two parts.
            3 | 4 => {
                let part: Vec<bool> = (0..nodes).map(|_| self.random.permille(500)).collect();
                for a in 0..nodes {
                    for b in 0..nodes {
                        if part[a] != part[b] {
                            self.links.entry((a, b)).or_default().cut = true;
                            self.disconnect(a, b);
                        }
                    }
                }
            }
            5 => self.heal(),
            // A clock is set.
            6 => {
                let skew = self.plan.skew_ms;
                let by = self.random.between(0, 2 * skew) as i64 - skew as i64;
                let wild = self.plan.wild_clocks && self.random.permille(500);
                self.nodes[node].skew_ms = match wild && self.random.permille(500) {
                    true => by + WILD_MS,
                    false if wild => by - WILD_MS,
                    false => by,
                };
            }
            // A hub dies.
            _ => {
                if self.plan.hubs > 0 {
                    let hub = self.random.index(self.plan.hubs);
                    self.crash(hub);
                    let later = self.random.between(500_000, 3_000_000);
                    self.schedule(later, Event::Start(hub));
                }
            }
        }
    }

    pub(super) fn heal(&mut self) {
        self.links.clear();
        for a in 0..self.plan.nodes {
            for b in 0..a {
                self.connect(a, b);
            }
        }
    }

    /// A node's clock is set: so many milliseconds off.
    pub(super) fn set_clock(&mut self, index: usize, skew_ms: i64) {
        self.nodes[index].skew_ms = skew_ms;
    }

    /// Everything that was wrong ends; nothing new is announced.
    pub(super) fn end_faults(&mut self) {
        self.quiet = true;
        for node in &mut self.nodes {
            // Those that were more than minutes off are put right.
            let skew = self.plan.skew_ms as i64;
            node.skew_ms = node.skew_ms.clamp(-skew, skew);
        }
        self.plan.loss = 0;
        self.plan.slow_disk = false;
        self.heal();
        for index in 0..self.plan.nodes {
            self.start(index);
        }
        self.heal();
    }

    fn entry(&mut self, index: usize) -> Entry {
        let subject = self.random.below(12);
        let stamp = self.nodes[index].hlc.now(self.now(index).wall_ms);
        if self.random.permille(400) {
            let epoch = self.secs() + self.random.below(5);
            let end = epoch + self.random.between(2, 4) * 3600;
            // What a clock that is wrong takes for expired, another one holds on to.
            let is_brief = self.random.permille(300) && !self.plan.wild_clocks;
            let end = if is_brief { epoch + 5 } else { end };
            return Entry {
                realm: String::new(),
                kind: REVOCATION,
                name: subject.to_be_bytes().to_vec(),
                // A later end belongs to a later epoch, as with tokens of one lifetime.
                fragment: [end.to_be_bytes(), end.to_be_bytes()].concat(),
                end: Some(end),
            };
        }
        let name = vec![u8::try_from(subject % 5).expect("small")];
        let mut memory = self.nodes[index].model.memory.lock().expect("whole");
        let state = memory.records.entry(name.clone()).or_default();
        let before = state.clone();
        let element = [u8::try_from(self.random.below(4)).expect("small")];
        match self.random.below(10) {
            0 => state.create(&stamp),
            1 => state.delete(&stamp),
            2..5 => {
                let size = if self.random.permille(20) { 20_000 } else { 20 };
                state.set("name", Some(vec![element[0]; size]), &stamp);
            }
            5 | 6 => state.add("uris", &element, &stamp),
            7 => {
                if !state.remove("uris", &element) {
                    state.set("name", None, &stamp);
                }
            }
            8 => state.allow("scopes", &element, &stamp),
            _ => state.deny("scopes", &element, &stamp),
        }
        let fragment = state.difference(&before);
        Entry {
            realm: String::new(),
            kind: RECORD,
            name,
            fragment: fragment.to_bytes(),
            end: None,
        }
    }

    fn tell(&mut self, index: usize) {
        if self.quiet || self.nodes[index].engine.is_none() || self.nodes[index].removed {
            return;
        }
        let count = if self.random.permille(50) {
            40
        } else {
            self.random.between(1, 4)
        };
        let mut entries = Vec::new();
        for _ in 0..count {
            let entry = self.entry(index);
            let mut memory = self.nodes[index].model.memory.lock().expect("whole");
            memory.merge(&entry);
            entries.push(entry);
        }
        for entry in &entries {
            self.told.push((index, self.us, entry.clone()));
        }
        let now = self.now(index);
        let node = &mut self.nodes[index];
        if let Some(engine) = &mut node.engine {
            let ticket = engine.tell(entries.clone(), now);
            let boots = self.nodes.iter().map(|node| node.boot).collect();
            self.nodes[index].told.insert(ticket, (entries, boots));
        }
        self.drain(index);
    }

    /// Does what the engine wants done.
    fn drain(&mut self, index: usize) {
        loop {
            let boot = self.nodes[index].boot;
            let Some(engine) = &mut self.nodes[index].engine else {
                return;
            };
            let Some(output) = engine.poll() else {
                return;
            };
            match output {
                Output::Send { to, frame } => {
                    let to = self.nodes.iter().position(|node| node.name == to);
                    self.send(index, to.expect("a node"), frame);
                }
                Output::Sign(batch) => {
                    let mut truth = self.truth.0.lock().expect("whole");
                    let told = truth.entry(self.nodes[index].name.clone()).or_default();
                    told.extend(batch.entries.iter().cloned());
                    drop(truth);
                    let after = self.random.between(50, 300);
                    self.schedule(after, Event::Signed(index, boot, batch));
                }
                Output::Verify(signed) => {
                    let after = self.random.between(50, 300);
                    self.schedule(after, Event::Verified(index, boot, signed));
                }
                Output::Keep(signed) => self.write(index, JournalOp::Keep(signed)),
                Output::Forget(ids) => self.write(index, JournalOp::Forget(ids)),
                Output::Receipt(ticket, receipt) => {
                    self.nodes[index].receipts += 1;
                    let told = self.nodes[index].told.remove(&ticket);
                    let (entries, boots) = told.expect("one receipt");
                    for (name, _) in &receipt.acknowledged {
                        let mut others = self.nodes.iter().zip(&boots);
                        let other = others.find(|(node, _)| node.name == *name);
                        let (other, boot) = other.expect("a node");
                        // Who was started again since then reads it from the store, which is not
                        // here.
                        if other.boot != *boot {
                            continue;
                        }
                        let memory = other.model.memory.lock().expect("whole");
                        // Only a restart may have taken from its memory what had expired.
                        for entry in entries.iter().filter(|entry| entry.end.is_none()) {
                            assert!(
                                other.engine.is_none() || memory.includes(entry),
                                "{name} acknowledged what it does not believe"
                            );
                        }
                    }
                }
            }
        }
    }

    /// One write after the other, as long as the disk takes.
    fn write(&mut self, index: usize, op: JournalOp) {
        let takes = if self.plan.slow_disk {
            self.random.between(1_000, 700_000)
        } else {
            self.random.between(100, 2_000)
        };
        let (us, boot) = (self.us, self.nodes[index].boot);
        let node = &mut self.nodes[index];
        node.disk_us = node.disk_us.max(us) + takes;
        let after = node.disk_us - us;
        self.schedule(after, Event::Journal(index, boot, op));
    }

    fn send(&mut self, from: usize, to: usize, mut frame: Vec<u8>) {
        if self.plan.forger == Some(from) && !self.quiet {
            self.forge(from, &mut frame);
        }
        // What it acknowledges it believes, and has in its journal or told again there.
        if let Ok(Frame::Ack { by, stream, seqs }) = Frame::from_bytes(&frame)
            && by == self.nodes[from].name
        {
            let ids = seqs.iter().flat_map(|(first, last)| first..=last);
            let memory = self.nodes[from].model.memory.lock().expect("whole");
            let mut new = Vec::new();
            for seq in ids {
                let id = BatchId {
                    stream: stream.clone(),
                    seq,
                };
                for entry in &self.signed[&id] {
                    let expired = entry.end.is_some_and(|end| end <= self.secs() + 600);
                    assert!(
                        expired || memory.includes(entry),
                        "an acknowledgement, unbelieved"
                    );
                }
                new.push(id);
            }
            drop(memory);
            self.nodes[from].acknowledged.extend(new);
        }
        if !self.up.contains(&(from.min(to), from.max(to))) {
            return;
        }
        let (loss, duplicates) = (self.plan.loss, self.plan.duplicates);
        let link = self.links.entry((from, to)).or_default();
        if link.cut {
            return;
        }
        if link.bytes + frame.len() > QUEUE_BYTES {
            let name = self.nodes[to].name.clone();
            if let Some(engine) = &mut self.nodes[from].engine {
                engine.slow(&name);
            }
            return;
        }
        if self.random.permille(loss) {
            return;
        }
        let copies = 1 + u64::from(self.random.permille(duplicates));
        for _ in 0..copies {
            let (least, most) = (self.plan.least_delay_us, self.plan.most_delay_us);
            let delay = self.random.between(least, most);
            self.links.entry((from, to)).or_default().bytes += frame.len();
            self.schedule(delay, Event::Frame(from, to, frame.clone()));
        }
    }

    /// A member that changes what it relays, and makes up what others did not say.
    fn forge(&mut self, from: usize, frame: &mut Vec<u8>) {
        let Ok(Frame::Batches {
            pushed,
            last,
            mut batches,
        }) = Frame::from_bytes(frame)
        else {
            return;
        };
        for batch in &mut batches {
            if !self.random.permille(300) {
                continue;
            }
            let signed = Signed::from_bytes(batch).expect("a batch");
            // What it signs under its own name it says itself: that is no forgery.
            if signed.batch().id.stream.origin == self.nodes[from].name {
                continue;
            }
            let mut bytes = batch.to_vec();
            match self.random.below(3) {
                0 => {
                    let at = self.random.index(bytes.len());
                    bytes[at] ^= 1 << self.random.below(8);
                }
                // The next number of that stream, signed by the wrong one; a manifest that lets
                // everybody forget.
                1 => {
                    let mut made_up = signed.into_batch();
                    made_up.id.seq += self.random.below(3);
                    made_up.manifest = Some(Default::default());
                    bytes = Signed::sign(made_up, &*self.keys(from))
                        .expect("signed")
                        .bytes()
                        .to_vec();
                }
                // More than was said.
                _ => {
                    let mut made_up = signed.into_batch();
                    made_up.entries.push(Entry {
                        realm: String::new(),
                        kind: REVOCATION,
                        name: b"made up".to_vec(),
                        fragment: [u64::MAX.to_be_bytes(); 2].concat(),
                        end: None,
                    });
                    let signed = Signed::sign(made_up, &*self.keys(from));
                    bytes = signed.expect("signed").bytes().to_vec();
                }
            }
            *batch = bytes.into();
        }
        *frame = Frame::Batches {
            pushed,
            last,
            batches,
        }
        .to_bytes();
    }

    fn keys(&self, index: usize) -> Arc<dyn Keys> {
        match &self.nodes[index].keys {
            Identities::Cheap(keys) => keys.clone(),
            Identities::Real(keys, _) => keys.clone(),
        }
    }

    fn verdict(&self, index: usize, signed: &Signed) -> Verdict {
        signed.verify(&*self.keys(index))
    }

    fn remove(&mut self, at: usize, whom: usize) {
        let name = self.nodes[whom].name.clone();
        match &self.nodes[at].keys {
            Identities::Cheap(keys) => {
                keys.removed
                    .lock()
                    .expect("whole")
                    .insert(fingerprint(whom));
            }
            Identities::Real(_, members) => {
                let stamp = Stamp {
                    ms: 1,
                    seq: 0,
                    node: self.nodes[at].name.clone(),
                };
                if let Some((fingerprint, known)) = members.removal(&name, stamp) {
                    members.merge(fingerprint, known).expect("removed");
                }
            }
        }
        if at == whom {
            self.nodes[whom].removed = true;
            self.crash(whom);
        }
        self.disconnect(at, whom);
        let (now, members) = (self.now(at), self.members(at));
        if let Some(engine) = &mut self.nodes[at].engine {
            engine.members(members, now);
        }
        self.drain(at);
    }

    fn step(&mut self, event: Event) {
        let (index, boot) = match &event {
            Event::Tick(index, boot)
            | Event::Signed(index, boot, _)
            | Event::Verified(index, boot, _)
            | Event::Journal(index, boot, _) => (*index, Some(*boot)),
            Event::Frame(_, index, _) | Event::Tell(index) | Event::Start(index) => (*index, None),
            Event::Removal(index, _) => (*index, None),
            Event::Fault => (0, None),
        };
        let now = self.now(index);
        let here = boot.is_none_or(|boot| {
            let node = &self.nodes[index];
            node.engine.is_some() && node.boot == boot
        });
        if !here {
            return;
        }
        let node = &mut self.nodes[index];
        match event {
            Event::Tick(index, boot) => {
                if let Some(engine) = &mut node.engine {
                    engine.tick(now);
                    let status = engine.status(now);
                    self.most_pending = self.most_pending.max(status.pending);
                }
                self.schedule(TICK_US, Event::Tick(index, boot));
            }
            Event::Frame(from, to, frame) => {
                let link = self.links.entry((from, to)).or_default();
                link.bytes = link.bytes.saturating_sub(frame.len());
                if link.cut || !self.up.contains(&(from.min(to), from.max(to))) {
                    return;
                }
                let name = self.nodes[from].name.clone();
                if let Some(engine) = &mut self.nodes[to].engine {
                    let heard = engine.received(&name, &frame, now);
                    assert!(heard.is_ok() || self.plan.forger == Some(from), "{heard:?}");
                }
            }
            Event::Signed(_, _, batch) => {
                let keys = self.keys(index);
                let signed = Signed::sign(batch, &*keys).expect("signed");
                let id = signed.batch().id.clone();
                self.signed.insert(id, signed.batch().entries.clone());
                if let Some(engine) = &mut self.nodes[index].engine {
                    engine.signed(Some(signed), now);
                }
            }
            Event::Verified(_, _, signed) => {
                let verdict = self.verdict(index, &signed);
                if let Some(engine) = &mut self.nodes[index].engine {
                    engine.verified(&signed.batch().id, verdict, now);
                }
                self.watch(index);
            }
            Event::Journal(_, _, op) => match op {
                JournalOp::Keep(batches) => {
                    let ids: Vec<BatchId> = batches
                        .iter()
                        .map(|signed| signed.batch().id.clone())
                        .collect();
                    for signed in batches {
                        node.journal.insert(signed.batch().id.clone(), signed);
                    }
                    if let Some(engine) = &mut node.engine {
                        engine.kept(&ids, now);
                    }
                }
                JournalOp::Forget(ids) => {
                    for id in ids {
                        node.journal.remove(&id);
                    }
                }
            },
            Event::Tell(index) => self.tell(index),
            Event::Fault => {
                if !self.quiet {
                    self.fault();
                }
            }
            Event::Start(index) => self.start(index),
            Event::Removal(at, whom) => self.remove(at, whom),
        }
        self.drain(index);
    }

    fn watch(&mut self, index: usize) {
        let Some(watched) = &mut self.watched else {
            return;
        };
        let memory = self.nodes[index].model.memory.lock().expect("whole");
        for (at, (_, _, entry)) in self.told.iter().enumerate() {
            if !watched.contains_key(&(index, at)) && memory.includes(entry) {
                watched.insert((index, at), self.us);
            }
        }
    }

    /// Lets time pass.
    pub(super) fn run_until(&mut self, us: u64) {
        while let Some(next) = self.queue.first_entry() {
            if next.key().0 > us {
                break;
            }
            let ((at, _), event) = next.remove_entry();
            self.us = at;
            self.step(event);
        }
        self.us = us;
        for node in &self.nodes {
            let lies = node.model.lies.lock().expect("whole");
            assert!(lies.is_empty(), "{} believed: {lies:?}", node.name);
        }
    }

    pub(super) fn living(&self) -> Vec<usize> {
        let nodes = 0..self.plan.nodes;
        nodes
            .filter(|index| self.nodes[*index].engine.is_some())
            .collect()
    }

    pub(super) fn status(&self, index: usize) -> Status {
        let engine = self.nodes[index].engine.as_ref().expect("there");
        engine.status(self.now(index))
    }

    /// All members hold the same batches and have nothing to do.
    pub(super) fn is_settled(&self) -> bool {
        let living = self.living();
        let digests: BTreeSet<u128> = living.iter().map(|i| self.status(*i).digest).collect();
        let idle = |index: &usize| {
            let engine = self.nodes[*index].engine.as_ref();
            engine.is_some_and(Engine::is_idle)
        };
        digests.len() <= 1 && living.iter().all(idle)
    }

    /// What a node knows that has not expired.
    pub(super) fn knows(&self, index: usize) -> Known {
        let memory: &Memory = &self.nodes[index].model.memory.lock().expect("whole");
        let mut revocations = memory.revocations.clone();
        revocations.retain(|_, (_, end)| *end > self.secs() + 600);
        let mut records = memory.records.clone();
        records.retain(|_, record| !record.is_empty());
        (records, revocations)
    }
}

fn member(name: &NodeId, identity: &Identity) -> Member {
    let stamp = Stamp {
        ms: 1,
        seq: 0,
        node: name.clone(),
    };
    Member {
        node: name.clone(),
        keys: identity.public().clone(),
        joined: stamp.clone(),
        written: stamp,
        addresses: Vec::new(),
        url: "https://localhost".into(),
        zone: String::new(),
        hub: false,
    }
}
