//! Revocations: in every node's memory, told by word of mouth and read in the change log.
//!
//! Word of mouth is the simulated network's: it may be lost, late and doubled, and nothing repeats
//! it, so that the log alone must do. (What repeats it is the gossip, which has a simulation of its
//! own in `signet-cluster`.)
use crate::{
    executor::NOBODY,
    random::Random,
    world::{World, lock, name},
};
use signet_consensus::ReplicatedStore;
use signet_merge::{
    entry::Entry,
    hlc::{Hlc, Stamp},
    tell::{BoxFuture, Receipt, Tell},
};
use signet_oauth::id::GrantId;
use signet_registry::{
    change_writer::ChangeWriter,
    changelog::{Look, Reader},
};
use signet_store::{Key, RealmId, RevocationIndex, Revoked, Store, StoreError, Subject, Table};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, Weak},
};

/// How often a node reads the change log, in microseconds.
const LOOK_US: u64 = 1_000_000;

/// A node that is well for so long knows whatever was answered before: a look that has just begun,
/// the next one, and the time that its own rows may take to follow the others' when it is well
/// again.
const BOUND_US: u64 = 2 * LOOK_US + 1_500_000;

/// What a node has in memory, in one of its lives.
struct Memory {
    group: u64,
    index: Arc<RevocationIndex>,
}

struct Answered {
    subject: Subject,
    end: u64,
    at_us: u64,
    by: u64,
}

#[derive(Default)]
struct State {
    memories: BTreeMap<u64, Memory>,
    answered: Vec<Answered>,
    /// Since when a node lives, hears the others, and its disk is well.
    well_since: BTreeMap<u64, u64>,
    asked: u64,
}

/// All nodes' memories, and what was answered.
pub(crate) struct Revocations {
    world: Arc<World>,
    state: Mutex<State>,
}

struct Mouth {
    all: Weak<Revocations>,
    node: u64,
    group: u64,
    hlc: Hlc,
}

impl Tell for Mouth {
    fn stamp(&self) -> Stamp {
        let all = self.all.upgrade();
        let unix = all.map_or(0, |all| all.world.wild_unix(self.node));
        self.hlc.now(unix * 1_000)
    }

    fn tell(&self, entries: Vec<Entry>) -> BoxFuture<'static, Receipt> {
        if let Some(all) = self.all.upgrade() {
            let numbers = all.world.numbers();
            for to in numbers.into_iter().filter(|to| *to != self.node) {
                let (word, from, entries) = (all.clone(), self.node, entries.clone());
                let word = async move {
                    if word.world.passes(from, to).await {
                        word.believe(to, &entries);
                    }
                };
                let clock = all.world.clock.clone();
                clock.spawn_in(self.group, Box::pin(word));
            }
        }
        Box::pin(std::future::ready(Receipt::default()))
    }
}

fn apply(index: &RevocationIndex, entries: &[Entry]) {
    for entry in entries {
        let revoked = Revoked::from_parts(&entry.name, &entry.fragment);
        index.apply(revoked.expect("what a revocation is announced as"));
    }
}

impl Revocations {
    pub(crate) fn of(world: &Arc<World>) -> Arc<Revocations> {
        Arc::new(Revocations {
            world: world.clone(),
            state: Mutex::default(),
        })
    }

    fn believe(&self, node: u64, entries: &[Entry]) {
        let state = lock(&self.state);
        if let Some(memory) = state.memories.get(&node) {
            apply(&memory.index, entries);
        }
    }

    /// Sees to it that every node that begins to live loads what is revoked and follows the log,
    /// and that those who are well know what was answered. For ever.
    pub(crate) async fn watch(self: Arc<Revocations>) {
        let mut begun: BTreeMap<u64, u64> = BTreeMap::new();
        loop {
            for (node, status) in self.world.statuses() {
                let Some((store, group)) = self.world.node(node) else {
                    continue;
                };
                if begun.insert(node, group) != Some(group) {
                    lock(&self.state).memories.remove(&node);
                    let life = self.clone().live(node, group, store);
                    self.world.clock.spawn_in(group, Box::pin(life));
                }
                self.judge(node, group, status.has_majority);
            }
            self.world.clock.sleep_us(100_000).await;
        }
    }

    /// One node's life, as the server's: everything is read, then the log is followed.
    async fn live(self: Arc<Revocations>, node: u64, group: u64, store: Arc<ReplicatedStore>) {
        let clock = self.world.clock.clone();
        // As the server's start: a node answers nothing before its rows are as the others', which a
        // read that must be the latest asks them for. What it knows of itself is not enough: right
        // after a crash it does not know what it lacks.
        let any = Key::new(Table::Once, "any");
        while store.get(&any, self.world.wild_unix(node)).await.is_err() {
            clock.sleep_us(LOOK_US / 10).await;
        }
        let store: Arc<dyn Store> = store;
        let mouth = Arc::new(Mouth {
            all: Arc::downgrade(&self),
            node,
            group,
            hlc: Hlc::new(name(node)),
        });
        let change_writer = ChangeWriter::new(RealmId::default_realm(), mouth);
        change_writer.share();
        let mut reader = Reader::default();
        let index = loop {
            let now = self.world.wild_unix(node);
            if reader.begin(&*store, now).await.is_err() {
                clock.sleep_us(LOOK_US / 10).await;
                continue;
            }
            match RevocationIndex::load(store.clone(), now).await {
                Ok(index) => break Arc::new(index),
                Err(StoreError::Unavailable(_)) => clock.sleep_us(LOOK_US / 10).await,
                Err(error) => panic!("{error}"),
            }
        };
        index.announce_by(change_writer.clone());
        let memory = Memory {
            group,
            index: index.clone(),
        };
        lock(&self.state).memories.insert(node, memory);
        loop {
            clock.sleep_us(LOOK_US).await;
            let now = self.world.wild_unix(node);
            match reader.look(&*store, "", change_writer.log(), now).await {
                Ok(Look::Lines(lines)) => {
                    for (_, entries) in lines {
                        apply(&index, &entries);
                    }
                }
                Ok(Look::TooLate) => {
                    let begun = reader.begin(&*store, now).await;
                    if begun.is_err() || index.reload(now).await.is_err() {
                        // Asked again at the next look, and read again then.
                        reader = Reader::default();
                    }
                }
                Err(StoreError::Unavailable(_)) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// A node that has been well for long enough knows all that was answered by then.
    fn judge(&self, node: u64, group: u64, has_majority: bool) {
        let now_us = self.world.clock.now_us();
        let mut state = lock(&self.state);
        let knows = state.memories.get(&node).is_some_and(|m| m.group == group);
        if !(knows && has_majority && self.world.is_well(node)) {
            state.well_since.remove(&node);
            return;
        }
        let since = *state.well_since.entry(node).or_insert(now_us);
        let index = &state.memories[&node].index;
        for answered in &state.answered {
            let Answered {
                subject,
                end,
                at_us,
                by,
            } = answered;
            let due = now_us >= since.max(*at_us) + BOUND_US || *by == node && *at_us >= since;
            assert!(
                !due || index.holds(subject, *end),
                "{node} does not know of {subject:?}, which {by} answered at {at_us}; it is {now_us}"
            );
        }
    }

    /// Revokes, again and again, on any nodes.
    pub(crate) async fn call(self: Arc<Revocations>, random: Random, until_us: u64, pause_us: u64) {
        let world = self.world.clone();
        while world.clock.now_us() < until_us {
            world.clock.sleep_us(random.below(pause_us)).await;
            let numbers = world.numbers();
            if numbers.is_empty() {
                continue;
            }
            let node = *random.one_of(&numbers);
            let (group, index) = {
                let state = lock(&self.state);
                match state.memories.get(&node) {
                    Some(memory) => (memory.group, memory.index.clone()),
                    None => continue,
                }
            };
            let subject = self.subject(&random);
            let (now, end) = (world.wild_unix(node), (1 << 35) + random.below(1_000));
            let revoked = subject.clone();
            let revoking = async move { index.revoke(revoked, end, now).await };
            match world.clock.within(group, revoking).await {
                Some(Ok(())) => {
                    let at_us = world.clock.now_us();
                    world.trace.note(&[at_us, 9, node]);
                    lock(&self.state).answered.push(Answered {
                        subject,
                        end,
                        at_us,
                        by: node,
                    });
                }
                Some(Err(StoreError::Unavailable(_))) | None => {}
                Some(Err(error)) => panic!("{error}"),
            }
        }
    }

    /// A grant of its own, or one of few users, whose epoch and end grow.
    fn subject(&self, random: &Random) -> Subject {
        let mut state = lock(&self.state);
        state.asked += 1;
        match random.permille(500) {
            true => {
                let mut id = [3; 16];
                id[..8].copy_from_slice(&state.asked.to_be_bytes());
                Subject::Grant(GrantId::new(id))
            }
            false => Subject::User(random.below(3).to_string(), random.below(1_000_000)),
        }
    }

    /// When all is well: every node knows everything, and so does one that begins again.
    pub(crate) async fn end(&self, again: Option<u64>) {
        if let Some(node) = again {
            self.world.crash(node);
            self.world.start(node).await;
        }
        let world = &self.world;
        world.clock.sleep_us(1_000_000).await;
        world.settle("all follow the log").await;
        world.clock.sleep_us(BOUND_US + 1_000_000).await;
        let state = lock(&self.state);
        for (node, memory) in &state.memories {
            for Answered { subject, end, .. } in &state.answered {
                let known = memory.index.holds(subject, *end);
                assert!(known, "{node} has forgotten {subject:?}");
            }
        }
        assert_eq!(state.memories.len(), world.numbers().len());
    }

    /// How many were answered.
    pub(crate) fn count(&self) -> u64 {
        lock(&self.state).answered.len() as u64
    }
}

/// Runs [`Revocations::watch`] beside everything else.
pub(crate) fn begin(world: &Arc<World>) -> Arc<Revocations> {
    let all = Revocations::of(world);
    world.clock.spawn_in(NOBODY, Box::pin(all.clone().watch()));
    all
}
