//! Which members answer, and since when.
//!
//! SWIM by foca, over the connections: each node asks one other after the other, and where that
//! does not answer it asks others to ask. What a node sees by itself counts at once: a connection
//! that stands shows that its member answers, and one that is lost makes it a suspect. In a
//! hub-and-spoke cluster a node has no connection to most others: hubs pass the messages on, over
//! two hubs at most.
//!
//! Nothing is decided by this but what is shown and whom one asks first: who is a member says
//! [`Members`], and no record is ever accepted or refused for what is said here.
mod codec;

use crate::{
    member::Members,
    transport::{Hear, Transport},
};
use codec::{Codec, Run};
use foca::{Config, Foca, NoCustomBroadcast, Notification, PeriodicParams, State, Timer};
use signet_crypto::{clock::Clock, random};
use signet_store::NodeId;
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, BinaryHeap},
    convert::Infallible,
    io,
    num::{NonZeroU8, NonZeroUsize},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// Longest message of failure detection, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 4096;

/// How often a message is passed on: from a spoke over its hub and another one.
const HOPS: u8 = 2;

/// How soon a member that does not answer is found out.
#[derive(Clone, Debug)]
pub struct MembershipOptions {
    /// One member is asked in each.
    pub period: Duration,
    /// Without an answer by then others are asked to ask. Less than half of the period.
    pub answer: Duration,
    /// A suspect that says nothing for so long is down.
    pub suspicion: Duration,
}

impl Default for MembershipOptions {
    fn default() -> MembershipOptions {
        MembershipOptions {
            period: Duration::from_secs(1),
            answer: Duration::from_millis(300),
            suspicion: Duration::from_secs(3),
        }
    }
}

/// Whether a member takes part, as this node sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// It answers, and knows what this node knows.
    Ready,
    /// It answers, and something that it missed is being fetched.
    Syncing,
    /// Neither this node nor another one has an answer from it.
    Unreachable,
}

/// A member, as this node sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemberState {
    /// The member.
    pub node: NodeId,
    /// Whether it takes part.
    pub standing: Standing,
    /// Since when, Unix milliseconds by this node's clock.
    pub since_ms: u64,
    /// Whether there is a connection between both.
    pub connected: bool,
}

/// What failure detection is made of.
pub struct MembershipParts {
    /// This node.
    pub node: NodeId,
    /// Who is in the cluster.
    pub members: Arc<Members>,
    /// Sends the messages: [`Links::membership`](crate::links::Links::membership).
    pub transport: Box<dyn Transport>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// How soon.
    pub options: MembershipOptions,
}

/// Randomness for foca: whom it asks next.
struct Random;

impl rand::rand_core::TryRng for Random {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(u32::from_le_bytes(random::bytes()))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(u64::from_le_bytes(random::bytes()))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        random::fill(out);
        Ok(())
    }
}

/// What foca wants done.
#[derive(Default)]
struct Wishes {
    send: Vec<(Run, Vec<u8>)>,
    later: Vec<(Timer<Run>, Duration)>,
}

impl foca::Runtime<Run> for Wishes {
    fn notify(&mut self, _: Notification<'_, Run>) {}

    fn send_to(&mut self, to: Run, data: &[u8]) {
        self.send.push((to, data.to_vec()));
    }

    fn submit_after(&mut self, event: Timer<Run>, after: Duration) {
        self.later.push((event, after));
    }
}

/// In the order of their time.
struct Due {
    at: Instant,
    order: u64,
    timer: Timer<Run>,
}

impl PartialEq for Due {
    fn eq(&self, other: &Due) -> bool {
        self.order == other.order
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Due) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Due) -> std::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

struct Inner {
    foca: Foca<Run, Codec, Random, NoCustomBroadcast>,
    due: BinaryHeap<Reverse<Due>>,
    order: u64,
    seen: BTreeMap<NodeId, (Standing, u64)>,
    syncing: BTreeSet<NodeId>,
    stop: bool,
}

struct Shared {
    node: NodeId,
    members: Arc<Members>,
    transport: Box<dyn Transport>,
    clock: Arc<dyn Clock>,
    state: Mutex<Inner>,
    sooner: Condvar,
}

/// Asks the members whether they are there. Dropping it ends that.
pub struct Membership {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Membership {
    /// Begins. Nothing is asked before a connection stands.
    ///
    /// # Errors
    /// If a thread cannot be had.
    pub fn start(parts: MembershipParts) -> io::Result<Membership> {
        let own = Run {
            node: parts.node.clone(),
            boot: parts.clock.now_ms(),
        };
        let state = Inner {
            foca: Foca::new(own, config(&parts.options), Random, Codec),
            due: BinaryHeap::new(),
            order: 0,
            seen: BTreeMap::new(),
            syncing: BTreeSet::new(),
            stop: false,
        };
        let shared = Arc::new(Shared {
            node: parts.node,
            members: parts.members,
            transport: parts.transport,
            clock: parts.clock,
            state: Mutex::new(state),
            sooner: Condvar::new(),
        });
        let for_thread = shared.clone();
        let thread = std::thread::Builder::new()
            .name("cluster-members".to_owned())
            .spawn(move || for_thread.run())?;
        Ok(Membership {
            shared,
            thread: Some(thread),
        })
    }

    /// Hears what comes: [`Ears::membership`](crate::links::Ears::membership).
    pub fn ear(&self) -> Arc<dyn Hear> {
        self.shared.clone()
    }

    /// The other members by name, and how they are.
    pub fn states(&self) -> Vec<MemberState> {
        let connected: BTreeSet<NodeId> = self.shared.transport.connected().into_iter().collect();
        let mut state = self.shared.state();
        self.shared.look(&mut state);
        let seen = state.seen.iter();
        seen.map(|(node, (standing, since_ms))| MemberState {
            node: node.clone(),
            standing: *standing,
            since_ms: *since_ms,
            connected: connected.contains(node),
        })
        .collect()
    }

    /// Notes whether something that a member missed is being fetched.
    pub fn set_syncing(&self, node: &NodeId, syncing: bool) {
        let mut state = self.shared.state();
        if syncing {
            state.syncing.insert(node.clone());
        } else {
            state.syncing.remove(node);
        }
        self.shared.look(&mut state);
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.shared.state().stop = true;
        self.shared.sooner.notify_all();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked is over, too.
            let _ = thread.join();
        }
    }
}

fn config(options: &MembershipOptions) -> Config {
    let one = NonZeroUsize::MIN;
    let every = |frequency| {
        Some(PeriodicParams {
            frequency,
            num_members: one,
        })
    };
    Config {
        probe_period: options.period,
        probe_rtt: options.answer,
        num_indirect_probes: one.saturating_add(2),
        max_transmissions: NonZeroU8::MIN.saturating_add(9),
        suspect_to_down_after: options.suspicion,
        // Who is gone for ever is removed from the members; until then it is asked now and then.
        remove_down_after: None,
        max_packet_size: one.saturating_add(MAX_MESSAGE_BYTES - 1),
        notify_down_members: true,
        periodic_announce: every(30 * options.period),
        periodic_announce_to_down_members: every(10 * options.period),
        periodic_gossip: None,
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, Inner> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut state = self.state();
        while !state.stop {
            let now = Instant::now();
            match state.due.peek() {
                Some(Reverse(due)) if due.at <= now => {
                    if let Some(Reverse(due)) = state.due.pop() {
                        self.act(&mut state, |foca, wishes| {
                            foca.handle_timer(due.timer, wishes)
                        });
                    }
                }
                Some(Reverse(due)) => {
                    let wait = due.at - now;
                    let woken = self.sooner.wait_timeout(state, wait);
                    state = woken.unwrap_or_else(PoisonError::into_inner).0;
                }
                None => {
                    let woken = self.sooner.wait(state);
                    state = woken.unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    /// Lets foca do something, and does what it wishes then.
    fn act(
        &self,
        state: &mut Inner,
        what: impl FnOnce(
            &mut Foca<Run, Codec, Random, NoCustomBroadcast>,
            &mut Wishes,
        ) -> Result<(), foca::Error>,
    ) {
        let mut wishes = Wishes::default();
        if let Err(error) = what(&mut state.foca, &mut wishes) {
            // Of late answers, say, that nobody waits for any more.
            tracing::debug!(%error, "failed to detect failures");
        }
        let now = Instant::now();
        for (timer, after) in wishes.later {
            state.order += 1;
            let order = state.order;
            let at = now + after;
            state.due.push(Reverse(Due { at, order, timer }));
        }
        self.sooner.notify_all();
        for (to, data) in wishes.send {
            self.pass(&self.node, &to.node, HOPS, &data);
        }
        self.look(state);
    }

    /// Sends to a node, directly or over others.
    fn pass(&self, from: &NodeId, to: &NodeId, hops: u8, data: &[u8]) {
        let name = to.as_str().as_bytes();
        // A name has at most 32 bytes.
        let mut frame = vec![hops, name.len() as u8];
        frame.extend_from_slice(name);
        frame.extend_from_slice(data);
        let connected = self.transport.connected();
        let over = if connected.contains(to) {
            Some(to)
        } else if hops == 0 {
            None
        } else {
            // Hubs have the most connections; among equals the lot decides.
            let is_hub = |node: &&NodeId| self.members.find(node).is_some_and(|l| l.member.hub);
            let others = || connected.iter().filter(|node| *node != from);
            let hubs: Vec<&NodeId> = others().filter(is_hub).collect();
            let all: Vec<&NodeId> = if hubs.is_empty() {
                others().collect()
            } else {
                hubs
            };
            let count = u32::try_from(all.len()).unwrap_or(u32::MAX);
            all.get(random::below(count) as usize).copied()
        };
        if let Some(over) = over {
            // What is lost is asked for again.
            let _ = self.transport.send(over, frame);
        }
    }

    /// What follows for each member from what is known now.
    fn look(&self, state: &mut Inner) {
        let connected = self.transport.connected();
        let mut alive = BTreeSet::new();
        for member in state.foca.iter_membership_state() {
            if member.state() == State::Alive {
                alive.insert(member.id().node.clone());
            }
        }
        let now_ms = self.clock.now_ms();
        let mut names = self.members.names();
        names.retain(|node| *node != self.node);
        state.seen.retain(|node, _| names.contains(node));
        for node in names {
            let standing = if !connected.contains(&node) && !alive.contains(&node) {
                Standing::Unreachable
            } else if state.syncing.contains(&node) {
                Standing::Syncing
            } else {
                Standing::Ready
            };
            let seen = state.seen.entry(node).or_insert((standing, now_ms));
            if seen.0 != standing {
                *seen = (standing, now_ms);
            }
        }
    }
}

impl Hear for Shared {
    fn up(&self, peer: &NodeId) {
        // Whichever start it is of: an announcement is for the name.
        let run = Run {
            node: peer.clone(),
            boot: 0,
        };
        let mut state = self.state();
        self.act(&mut state, |foca, wishes| foca.announce(run, wishes));
    }

    fn down(&self, peer: &NodeId) {
        let mut state = self.state();
        let known = state.foca.iter_members().find(|m| m.id().node == *peer);
        let suspect =
            known.map(|m| foca::Member::new(m.id().clone(), m.incarnation(), State::Suspect));
        // If others reach it, it hears of the suspicion and refutes it.
        self.act(&mut state, |foca, wishes| {
            foca.apply_many(suspect.into_iter(), true, &mut *wishes)?;
            foca.gossip(wishes)
        });
    }

    fn received(&self, from: &NodeId, frame: &[u8]) {
        let Some((&[hops, len], rest)) = frame.split_first_chunk::<2>() else {
            return;
        };
        let Some((name, data)) = rest.split_at_checked(usize::from(len)) else {
            return;
        };
        let name = std::str::from_utf8(name).ok();
        let Some(to) = name.and_then(|name| NodeId::parse(name).ok()) else {
            return;
        };
        if to != self.node {
            let hops = hops.min(HOPS);
            if hops > 0 && data.len() <= MAX_MESSAGE_BYTES {
                self.pass(from, &to, hops - 1, data);
            }
            return;
        }
        let mut state = self.state();
        self.act(&mut state, |foca, wishes| foca.handle_data(data, wishes));
    }
}
