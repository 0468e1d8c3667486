//! A node's part in the consensus: it runs the library, answers the other nodes, and knows where
//! the leader is.
use crate::{
    Acknowledged, ConsensusError, Member, NodeId, Role, Settings, Status,
    acknowledged::GENERATION,
    codec::Malformed,
    dial::Dial,
    log::Log,
    machine::{Formats, Machine, Transfer},
    moment::{Moment, sleep_until},
    proposal::Call,
    runtime,
    task::{Until, work},
    types::{LogId, Proposed, SnapshotMeta, Types, Vote, written},
    voters::{self, Candidate},
    watch,
    wire::{self, Envelope, Reply, Request},
};
use openraft::{
    ChangeMembers, Config, ServerState, SnapshotPolicy,
    async_runtime::WatchReceiver,
    error::{ClientWriteError, LinearizableReadError, RaftError},
    raft::TransferLeaderRequest,
    storage::Snapshot,
};
use signet_store::{
    Need, SqliteStore, Store, StoreError,
    sqlite::replica::{Note, RawRow},
};
use signet_surroundings::{sleep, spawn, timeout};
use std::{
    collections::BTreeSet,
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::sync::Notify;

type Raft = openraft::Raft<Types, Machine>;

/// Who this node is.
pub(crate) const ME: &[u8] = b"me";

/// How long one attempt at the leader may take before it is asked again.
const ATTEMPT: Duration = Duration::from_secs(1);
/// How often the leader looks whether others should vote, and a stopped library is begun again.
const TEND_EVERY: Duration = Duration::from_millis(500);
/// How long another node may take to say whether it has space, or whom it hears.
const SAYS_WITHIN: Duration = Duration::from_millis(300);
/// A voter that the leader has not heard for so long, and others may hear.
const UNHEARD_AFTER: Duration = Duration::from_secs(3);
/// How long a change of the members may take.
const MEMBERS_WITHIN: Duration = Duration::from_secs(15);
/// How long a snapshot may take to become a node's rows, once it is there.
const INSTALL_WITHIN: Duration = Duration::from_secs(60);
/// A voter that was silent for so long is replaced, where another member is ready.
const GONE_AFTER: Duration = Duration::from_secs(60);

/// A leader that no majority has answered for so long stops speaking: those who hear it would wait
/// for it, though it hears none of them.
const DEAF_AFTER: Duration = Duration::from_secs(1);

/// Entries of the log after which it is shortened
const SHORTEN_EVERY: u64 = 2048;

/// Entries of the log that are kept when it is shortened, for members that were away for a moment
const MAX_LEFT: u64 = 1024;

/// Entries that a member's log may be behind for it to become a voter
const MAX_READY_LAG: u64 = 256;

#[derive(Clone, Copy, PartialEq, Eq)]
struct View {
    leader: Option<u64>,
    term: u64,
}

/// A snapshot that comes in.
struct Staging {
    transfer: u64,
    parts: u64,
    notes: Vec<Note>,
}

pub(crate) struct Node {
    pub(crate) me: Member,
    pub(crate) settings: Settings,
    pub(crate) store: Arc<SqliteStore>,
    dial: Dial,
    raft: Mutex<Option<Raft>>,
    log: Mutex<Option<Log>>,
    /// Why nothing is decided that may happen once.
    barred: Mutex<Option<String>>,
    applied: watch::Sender<u64>,
    view: watch::Sender<View>,
    /// How often another leader was seen.
    leader_changes: AtomicU64,
    reads: Formats,
    /// When the leader, or this node's candidate for it, was last heard.
    heard: Mutex<Moment>,
    staging: tokio::sync::Mutex<Option<Staging>>,
    /// An index plus one: whatever this node was answered lies below it.
    pub(crate) seen: AtomicU64,
    tend: Notify,
    closed: watch::Sender<bool>,
}

/// How a proposal fared at a leader.
pub(crate) enum Submitted {
    /// Where it stands in the log, and the bytes of its outcome; none where those are too
    /// large for a message: then they are in the rows from that index on.
    Done(u64, Option<Vec<u8>>),
    /// Refused before it was in any log: the leader's disk is full.
    Full,
}

/// What came back from the leader.
enum Led {
    Done(Vec<u8>),
    Full,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind these locks is replaced whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unavailable(why: &str) -> StoreError {
    StoreError::Unavailable(why.to_owned())
}

pub(crate) const NO_MAJORITY: &str = "the replicated store has no majority now";

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl Node {
    /// Begins, or resumes, this node's part. Its tasks run on the runtime that this is called
    /// on.
    pub(crate) async fn start(
        me: Member,
        settings: Settings,
        store: Arc<SqliteStore>,
        network: Arc<dyn crate::Network>,
        generation: u64,
    ) -> Result<Arc<Node>, ConsensusError> {
        let node = Arc::new(Node {
            dial: Dial {
                network,
                store: store.clone(),
                me: me.number,
                generation: Arc::new(AtomicU64::new(generation)),
                refused: Arc::default(),
                quiet: Arc::new(AtomicBool::new(false)),
                vote_within: settings.election.1,
                random: settings.random.clone(),
            },
            me,
            reads: Formats::up_to(settings.format),
            settings,
            store,
            raft: Mutex::default(),
            log: Mutex::default(),
            barred: Mutex::default(),
            applied: watch::Sender::new(0),
            view: watch::Sender::new(View {
                leader: None,
                term: 0,
            }),
            leader_changes: AtomicU64::new(0),
            heard: Mutex::new(Moment::now()),
            staging: tokio::sync::Mutex::default(),
            seen: AtomicU64::new(0),
            tend: Notify::new(),
            closed: watch::Sender::new(false),
        });
        let raft = node.build().await?;
        let known = raft.metrics();
        let voters: Vec<u64> = known
            .borrow_watched()
            .membership_config
            .voter_ids()
            .collect();
        if voters == [node.me.number] {
            // Nobody else is to be waited for.
            let _ = raft.trigger().elect(false).await;
        }
        spawn(node.clone().run(raft));
        spawn(node.clone().listen());
        spawn(node.clone().mind_the_place());
        Ok(node)
    }

    // Boxed: so the library is compiled here once, and not in every crate that waits for this.
    fn build(&self) -> Pin<Box<dyn Future<Output = Result<Raft, ConsensusError>> + Send + '_>> {
        Box::pin(async move {
            let (min, max) = self.settings.election;
            let config = Config {
                cluster_name: "signet".to_owned(),
                heartbeat_interval: millis(self.settings.heartbeat),
                election_timeout_min: millis(min),
                election_timeout_max: millis(max),
                install_snapshot_timeout: 600_000,
                max_payload_entries: 256,
                snapshot_policy: SnapshotPolicy::LogsSinceLast(SHORTEN_EVERY),
                max_in_snapshot_log_to_keep: MAX_LEFT,
                purge_batch_size: 256,
                enable_pre_vote: Some(true),
                // Until it is known whether another voter has space: see `mind_the_place`.
                enable_elect: !self.store.is_full(),
                // The rows are not flushed: a leader that is back has to learn what is committed.
                enable_leader_restore: Some(false),
                // A voter that lost its disk comes back empty, under a number of its own: see
                // `acknowledged` for who sees to that.
                allow_log_reversion: Some(false),
                backoff: "50ms 100ms 200ms ...400ms".to_owned(),
                ..Config::default()
            };
            let config = Arc::new(config.validate().map_err(|error| {
                tracing::error!(%error, "rejected the consensus timing configuration");
                ConsensusError::Settings
            })?);
            let log = Log::open(self.store.clone())?;
            *lock(&self.log) = Some(log.clone());
            let machine =
                Machine::open(self.store.clone(), self.applied.clone(), self.reads.clone())?;
            let raft = Raft::new(self.me.number, config, self.dial.clone(), log, machine);
            let raft = runtime::with_random(self.settings.random.clone(), raft).await;
            let raft = raft.map_err(|error| StoreError::Unavailable(error.to_string()))?;
            *lock(&self.raft) = Some(raft.clone());
            Ok(raft)
        })
    }

    fn raft(&self) -> Option<Raft> {
        lock(&self.raft).clone()
    }

    /// Follows the library for as long as it runs, and begins it again where the disk stopped it.
    async fn run(self: Arc<Node>, mut raft: Raft) {
        let mut closed = self.closed.subscribe();
        loop {
            self.follow(&raft, &mut closed).await;
            *lock(&self.raft) = None;
            let _ = raft.shutdown().await;
            self.view.send_replace(View {
                leader: None,
                term: 0,
            });
            if let Some(why) = self.reads.outdated.get() {
                // Beginning again would meet the same entry.
                tracing::error!(reason = %why, "stopped the consensus: the log needs a newer program");
                return;
            }
            raft = loop {
                if *closed.borrow() {
                    return;
                }
                tokio::select! {
                    biased;
                    _ = closed.changed() => {}
                    () = sleep(TEND_EVERY) => {}
                }
                match self.build().await {
                    Ok(raft) => break raft,
                    Err(error) => {
                        tracing::error!(%error, "stopped the consensus: disk failure");
                    }
                }
            };
        }
    }

    async fn follow(&self, raft: &Raft, closed: &mut watch::Receiver<bool>) {
        let mut metrics = raft.metrics();
        let (mut announced, mut last_leader) = (None, None);
        let mut next = Moment::now() + TEND_EVERY;
        while !*closed.borrow() {
            let (view, running, members) = {
                let now = metrics.borrow_watched();
                let view = View {
                    leader: now.current_leader,
                    term: now.current_term,
                };
                (
                    view,
                    now.running_state.clone(),
                    now.membership_config.clone(),
                )
            };
            if let Err(error) = running {
                tracing::error!(%error, "stopped the consensus");
                return;
            }
            self.view.send_if_modified(|before| {
                let changed = *before != view;
                *before = view;
                changed
            });
            if let Some(leader) = view.leader
                && last_leader
                    .replace(leader)
                    .is_some_and(|last| last != leader)
            {
                self.leader_changes.fetch_add(1, SeqCst);
            }
            if announced.as_ref() != Some(members.log_id()) {
                announced = Some(*members.log_id());
                for (_, member) in members.membership().nodes() {
                    self.dial.network.member(member);
                }
            }
            tokio::select! {
                biased;
                _ = closed.changed() => {}
                // Before the library's news, of which there may always be some.
                () = sleep_until(next) => {
                    // A full disk is why nothing comes to the writer, who would look by itself.
                    if self.store.is_full() {
                        self.store.look_for_space();
                    }
                    self.tend_voters(raft).await;
                    self.say_format(raft).await;
                    next = Moment::now() + TEND_EVERY;
                }
                () = self.tend.notified() => self.tend_voters(raft).await,
                changed = metrics.changed() => if changed.is_err() { return },
            }
        }
    }

    /// A leader that hears no majority stops speaking, so that the others choose one that they can
    /// answer. They need one election for that. It then speaks again for a while: where nobody
    /// could take its place, somebody may hear it by now.
    async fn listen(self: Arc<Node>) {
        let mut closed = self.closed.subscribe();
        let silent_for = self.settings.election.1 * 5 / 2;
        let mut turn: Option<Moment> = None;
        while !*closed.borrow() {
            tokio::select! {
                biased;
                _ = closed.changed() => {}
                () = sleep(self.settings.heartbeat) => {}
            }
            let was_quiet = self.dial.quiet.load(SeqCst);
            let quiet = match turn {
                _ if !self.is_deaf() => {
                    turn = None;
                    false
                }
                None => {
                    tracing::warn!("stepped down as leader: no majority answers");
                    turn = Some(Moment::now() + silent_for);
                    true
                }
                Some(until) if Moment::now() >= until => {
                    let next = if was_quiet { DEAF_AFTER } else { silent_for };
                    turn = Some(Moment::now() + next);
                    !was_quiet
                }
                Some(_) => was_quiet,
            };
            self.dial.quiet.store(quiet, SeqCst);
        }
    }

    /// Who leads can write, and hears everybody who could be heard. A leader whose disk is full
    /// hands its place to a voter that has space, and nobody stands for election whose disk is full
    /// while another one has space: where none has, one of them leads, and what ends or revokes
    /// something continues. A leader that does not hear a voter hands its place to one that does.
    async fn mind_the_place(self: Arc<Node>) {
        let mut closed = self.closed.subscribe();
        let mut led_since: Option<Moment> = None;
        while !*closed.borrow() {
            tokio::select! {
                biased;
                _ = closed.changed() => {}
                () = sleep(TEND_EVERY) => {}
            }
            let Some(raft) = self.raft() else {
                continue;
            };
            let with_space = match self.store.is_full() {
                true => self.voters_with_space(&raft).await,
                false => Vec::new(),
            };
            raft.runtime_config().elect(with_space.is_empty());
            if !leads(&raft) {
                led_since = None;
                continue;
            }
            let led_since = *led_since.get_or_insert(Moment::now());
            match with_space.first() {
                Some(heir) => self.hand_over(&raft, *heir, "its disk is full").await,
                // Who leads for a moment only has heard nobody yet.
                None if led_since.elapsed() > UNHEARD_AFTER => self.mind_the_unheard(&raft).await,
                None => {}
            }
        }
    }

    /// The other voters, whom the leader has heard of the most entries first.
    fn other_voters(&self, raft: &Raft) -> Vec<u64> {
        let metrics = raft.metrics();
        let metrics = metrics.borrow_watched();
        let at = |number: &u64| {
            let replication = metrics.replication.iter().flatten();
            let mut known = replication.filter(|(other, _)| *other == number);
            known.next().and_then(|(_, at)| at.map(|at| at.index))
        };
        let voters = metrics.membership_config.voter_ids();
        let mut voters: Vec<u64> = voters.filter(|other| *other != self.me.number).collect();
        voters.sort_by_key(|number| std::cmp::Reverse(at(number)));
        voters
    }

    /// What another node answers at once; none where it does not, or is of a version that does not
    /// know the question.
    async fn says(&self, number: u64, request: Request, within: Duration) -> Option<Vec<u8>> {
        let name = self.name_of(number)?;
        match timeout(within, self.dial.ask(&name, request, within)).await {
            Ok(Ok(Reply::Done(answer))) => Some(answer),
            Ok(Ok(_) | Err(_)) | Err(_) => None,
        }
    }

    async fn voters_with_space(&self, raft: &Raft) -> Vec<u64> {
        let mut with_space = Vec::new();
        for number in self.other_voters(raft) {
            let said = self.says(number, Request::Space, SAYS_WITHIN).await;
            if said.is_some_and(|said| said == [1]) {
                with_space.push(number);
            }
        }
        with_space
    }

    /// A link to one voter is cut, and another voter hears it: that one leads from now on. Only one
    /// that hears more voters than this node does, so that the place does not go to and fro.
    async fn mind_the_unheard(&self, raft: &Raft) {
        let heard: BTreeSet<u64> = {
            let metrics = raft.metrics();
            let metrics = metrics.borrow_watched();
            let (ServerState::Leader, Some(heartbeat)) = (metrics.state, &metrics.heartbeat) else {
                return;
            };
            let is_heard = |number: &u64| {
                let at = heartbeat.get(number).copied().flatten();
                at.is_some_and(|at| at.into_inner().elapsed() < UNHEARD_AFTER)
            };
            let voters = metrics.membership_config.voter_ids();
            let others = voters.filter(|number| *number != self.me.number);
            others.filter(is_heard).collect()
        };
        let voters = self.other_voters(raft);
        if heard.is_empty() || voters.len() == heard.len() {
            return;
        }
        for number in voters.iter().filter(|number| heard.contains(number)) {
            let within = SAYS_WITHIN * u32::try_from(voters.len() + 1).unwrap_or(u32::MAX);
            let said = self.says(*number, Request::Hears, within).await;
            let hears = said.and_then(|said| wire::read_numbers_answer(&said).ok());
            let hears: BTreeSet<u64> = hears.unwrap_or_default().into_iter().collect();
            let misses = heard
                .iter()
                .any(|other| other != number && !hears.contains(other));
            // Of the others it hears at least as many, and this node.
            if !misses && hears.contains(&self.me.number) && hears.len() > heard.len() {
                self.hand_over(raft, *number, "it does not hear all voters")
                    .await;
                return;
            }
        }
    }

    async fn hand_over(&self, raft: &Raft, heir: u64, why: &'static str) {
        if !leads(raft) {
            return;
        }
        tracing::warn!(heir, why, "transferring leadership to another voter");
        if let Err(error) = raft.trigger().transfer_leader(heir).await {
            tracing::debug!(%error, "failed to transfer leadership");
            return;
        }
        let mut view = self.view.subscribe();
        let moved = view.wait_for(|view| view.leader != Some(self.me.number));
        if timeout(self.settings.election.1 * 2, moved).await.is_err() && leads(raft) {
            // The heir is gone. A leader that is handing over takes no change, for ever: it stands
            // for election again.
            let _ = raft.trigger().elect(false).await;
        }
    }

    /// Whether it leads, and no majority has answered it for a while.
    fn is_deaf(&self) -> bool {
        let leads = self
            .raft()
            .is_some_and(|raft| raft.metrics().borrow_watched().state == ServerState::Leader);
        leads && self.silence() > DEAF_AFTER
    }

    /// The format that this node writes entries in: the newest that all members read.
    pub(crate) fn format(&self) -> u8 {
        let Some(raft) = self.raft() else {
            return 1;
        };
        let metrics = raft.metrics();
        let metrics = metrics.borrow_watched();
        let members = metrics.membership_config.membership();
        let all = members.nodes().map(|(_, member)| member.format.max(1));
        all.min().unwrap_or(1).min(self.settings.format)
    }

    /// Has the members know which entries this node reads, after it joined or its program changed.
    async fn say_format(&self, raft: &Raft) {
        let told = {
            let metrics = raft.metrics();
            let metrics = metrics.borrow_watched();
            let members = metrics.membership_config.membership();
            members.get_node(&self.me.number).map(|me| me.format)
        };
        let format = self.settings.format;
        if told.is_none_or(|told| told == format) || self.view.borrow().leader.is_none() {
            return;
        }
        let request = || Request::Reads {
            number: self.me.number,
            format,
        };
        // It is tried again soon.
        let said = self.lead(Moment::now() + ATTEMPT, request).await;
        if let Err(error) = said {
            tracing::debug!(%error, "failed to report the entries that this node still reads");
        }
    }

    /// The leader's care for who votes.
    async fn tend_voters(&self, raft: &Raft) {
        let (wanted, voters) = {
            let metrics = raft.metrics();
            let metrics = metrics.borrow_watched();
            let membership = metrics.membership_config.membership();
            let settled = metrics.committed_membership_config == metrics.membership_config;
            let (Some(heartbeat), Some(replication)) = (&metrics.heartbeat, &metrics.replication)
            else {
                return;
            };
            if metrics.state != ServerState::Leader
                || membership.get_joint_config().len() != 1
                || !settled
            {
                return;
            }
            let voters: BTreeSet<u64> = membership.voter_ids().collect();
            let last = metrics.last_log_index.unwrap_or(0);
            let candidates: Vec<Candidate> = membership
                .nodes()
                .map(|(number, member)| {
                    let me = *number == self.me.number;
                    let heard = heartbeat.get(number).copied().flatten();
                    let silent = heard.map(|at| at.into_inner().elapsed());
                    let at = replication.get(number).and_then(|at| at.map(|at| at.index));
                    let near = at.is_some_and(|at| at + MAX_READY_LAG >= last);
                    let answers = silent.is_some_and(|silent| silent < self.settings.deadline);
                    Candidate {
                        number: *number,
                        zone: member.zone.clone(),
                        votes: voters.contains(number),
                        ready: me || (near && answers),
                        gone: !me && silent.is_some_and(|silent| silent > GONE_AFTER),
                    }
                })
                .collect();
            (voters::choose(self.me.number, &candidates), voters)
        };
        if wanted == voters {
            return;
        }
        tracing::info!(
            ?voters,
            ?wanted,
            "changing the voters of the replicated store"
        );
        // Who votes no longer stays as one who forwards.
        let change = raft.change_membership(ChangeMembers::ReplaceAllVoters(wanted), true);
        match timeout(MEMBERS_WITHIN, change).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::warn!(%error, "failed to change the voters"),
            Err(_) => tracing::warn!("failed to change the voters in time"),
        }
    }

    /// For how long this node has not known of a majority: zero while it does.
    pub(crate) fn silence(&self) -> Duration {
        let Some(raft) = self.raft() else {
            return Duration::MAX;
        };
        let metrics = raft.metrics();
        let metrics = metrics.borrow_watched();
        let heard = lock(&self.heard).elapsed();
        if metrics.state != ServerState::Leader {
            return heard;
        }
        if metrics.membership_config.voter_ids().eq([self.me.number]) {
            return Duration::ZERO;
        }
        match metrics.last_quorum_acked {
            Some(at) => at.into_inner().elapsed(),
            None => heard,
        }
    }

    /// Refuses at once what could only wait in vain.
    pub(crate) fn has_hope(&self) -> Result<(), StoreError> {
        if *self.closed.borrow() {
            return Err(unavailable("it was closed"));
        }
        if let Some(why) = self.reads.outdated.get() {
            return Err(unavailable(why));
        }
        match self.silence() > self.settings.deadline {
            true => Err(unavailable(NO_MAJORITY)),
            false => Ok(()),
        }
    }

    /// What this node has acknowledged for good: on its disk, and known to be on a majority.
    pub(crate) fn acknowledged(&self) -> Acknowledged {
        let log = lock(&self.log).clone();
        let (term, flushed) = log.map_or((0, 0), |log| log.kept_for_good());
        Acknowledged {
            generation: self.dial.generation.load(SeqCst),
            term,
            index: flushed.min(*self.applied.borrow()).saturating_sub(1),
        }
    }

    /// What this node's rows have, whether it is on a majority or not.
    pub(crate) fn holds(&self) -> Acknowledged {
        let kept = self.acknowledged();
        let applied = self.applied.borrow().saturating_sub(1);
        let last = self.raft().and_then(|raft| {
            let metrics = raft.metrics();
            metrics.borrow_watched().last_log_index
        });
        Acknowledged {
            index: kept.index.max(applied).max(last.unwrap_or(0)),
            ..kept
        }
    }

    /// Ends this node's part, for this reason.
    pub(crate) fn refuse(&self, why: String) {
        *lock(&self.dial.refused) = Some(why);
        self.close();
    }

    /// Decides nothing that may happen once from now on, or again.
    pub(crate) fn bar(&self, why: Option<String>) {
        *lock(&self.barred) = why;
    }

    /// Whether this is to be refused because nothing may be decided now that may happen once.
    pub(crate) fn bars(&self, call: &Call) -> Result<(), StoreError> {
        let barred = lock(&self.barred);
        let Some(why) = &*barred else {
            return Ok(());
        };
        let ends = match call {
            Call::Commit(change, _) => Need::of(change) == Need::Ends,
            Call::CommitEach(changes, _) => changes.iter().all(|one| Need::of(one) == Need::Ends),
            Call::Sweep(..) | Call::Check => true,
            Call::Take(..) => false,
        };
        match ends {
            true => Ok(()),
            false => Err(unavailable(why)),
        }
    }

    fn name_of(&self, number: u64) -> Option<NodeId> {
        let raft = self.raft()?;
        let metrics = raft.metrics();
        let metrics = metrics.borrow_watched();
        let member = metrics.membership_config.membership().get_node(&number)?;
        Some(member.name.clone())
    }

    /// Brings a request to the leader, wherever that is, and its answer back, until `until`. The
    /// request may be done several times.
    async fn lead(
        &self,
        until: Moment,
        request: impl Fn() -> Request + Send + Sync,
    ) -> Result<Led, String> {
        let mut view = self.view.subscribe();
        let mut hint = None;
        let mut why = NO_MAJORITY.to_owned();
        let mut tries = 0u32;
        loop {
            let leader = match hint.take() {
                Some(hint) => Some(hint),
                None => view.borrow_and_update().leader,
            };
            let left = until.saturating_since(Moment::now());
            tries = tries.saturating_add(u32::from(leader.is_some()));
            let reply = tokio::select! {
                biased;
                reply = self.attempt(leader, left.min(ATTEMPT), request()) => reply,
                _ = view.changed() => continue,
                () = sleep_until(until) => return Err(why),
            };
            match reply {
                Reply::Done(answer) => return Ok(Led::Done(answer)),
                // What was sent before may stand in a log: then nothing is known of it.
                Reply::Full if tries == 1 => return Ok(Led::Full),
                Reply::Full => why = "the leader's disk is full".to_owned(),
                Reply::NotLeader(Some(other)) if Some(other) != leader => hint = Some(other),
                Reply::NotLeader(_) | Reply::Stopped => {}
                Reply::Failed(said) => why = said,
                Reply::Generation(_) => {
                    why = "this node was left behind by a recovery of the cluster".to_owned();
                }
                Reply::Refused => why = "the leader refused the request".to_owned(),
            }
            // Not at once: a node that is asked needs a moment to learn something new.
            tokio::select! {
                biased;
                () = sleep(self.settings.heartbeat / 4) => {}
                _ = view.changed() => {}
                () = sleep_until(until) => return Err(why),
            }
        }
    }

    /// One attempt at a leader; none, where none is known, and then it never ends.
    async fn attempt(&self, leader: Option<u64>, within: Duration, request: Request) -> Reply {
        let Some(leader) = leader else {
            return std::future::pending().await;
        };
        if leader == self.me.number {
            return match self.raft() {
                Some(raft) => match self.serve(&raft, request).await {
                    Ok(answer) => Reply::Done(answer),
                    Err(reply) => reply,
                },
                None => Reply::Stopped,
            };
        }
        let Some(name) = self.name_of(leader) else {
            return Reply::NotLeader(None);
        };
        match self.dial.ask(&name, request, within).await {
            Ok(reply) => reply,
            Err(error) => Reply::Failed(error.to_string()),
        }
    }

    /// Whether a leader with a full disk takes these bytes of a proposal.
    fn admits(&self, bytes: &[u8]) -> bool {
        use crate::proposal::{Call, Proposal};
        if !self.store.is_full() {
            return true;
        }
        match Proposal::from_bytes(bytes, self.settings.format) {
            Ok(Proposal::Batch { calls, .. }) => calls.iter().all(|call| match call {
                Call::Commit(change, _) => Need::of(change) == Need::Ends,
                Call::CommitEach(changes, _) => {
                    changes.iter().all(|change| Need::of(change) == Need::Ends)
                }
                Call::Take(..) | Call::Sweep(..) | Call::Check => true,
            }),
            Ok(Proposal::Open { .. }) | Err(_) => true,
        }
    }

    async fn propose_here(&self, raft: &Raft, bytes: Arc<[u8]>) -> Result<(u64, Vec<u8>), Reply> {
        if !self.admits(&bytes) {
            return Err(Reply::Full);
        }
        // The proposer may have seen other members.
        let format = self.format();
        if crate::proposal::format(&bytes).is_none_or(|of| of > format) {
            let why = format!("not all members read entries of another format than {format} now");
            return Err(Reply::Failed(why));
        }
        match raft.client_write(Proposed(bytes)).await {
            Ok(written) => Ok((written.log_id.index, written.data.0)),
            Err(RaftError::APIError(
                ClientWriteError::ForwardToLeader(to) | ClientWriteError::LogEntryDiscarded(to),
            )) => Err(Reply::NotLeader(to.leader_id)),
            Err(error) => Err(Reply::Failed(error.to_string())),
        }
    }

    /// Proposes, wherever the leader is. The state knows a proposal again, so it may be sent as
    /// often as it takes.
    pub(crate) async fn submit(
        &self,
        bytes: Arc<[u8]>,
        until: Moment,
    ) -> Result<Submitted, StoreError> {
        let led = self.lead(until, || Request::Propose(bytes.clone())).await;
        match led.map_err(StoreError::Unavailable)? {
            Led::Full => Ok(Submitted::Full),
            Led::Done(answer) => {
                let (index, applied) = wire::read_proposed_answer(&answer)
                    .map_err(|error| StoreError::Unavailable(error.to_string()))?;
                Ok(Submitted::Done(index, applied))
            }
        }
    }

    async fn point_here(&self, raft: &Raft) -> Result<u64, Reply> {
        match raft
            .get_read_linearizer(openraft::ReadPolicy::ReadIndex)
            .await
        {
            Ok(reader) => Ok(reader.read_log_id().index()),
            Err(RaftError::APIError(LinearizableReadError::ForwardToLeader(to))) => {
                Err(Reply::NotLeader(to.leader_id))
            }
            Err(error) => Err(Reply::Failed(error.to_string())),
        }
    }

    /// The index that this node's rows must have reached to show everything that anybody was
    /// answered before this was called. A majority has confirmed the leader since.
    pub(crate) async fn read_point(&self, until: Moment) -> Result<u64, StoreError> {
        let led = self.lead(until, || Request::ReadPoint).await;
        match led.map_err(StoreError::Unavailable)? {
            Led::Done(answer) => crate::types::read(&answer, |from| from.u64())
                .map_err(|error| StoreError::Unavailable(error.to_string())),
            Led::Full => Err(unavailable("the leader's disk is full")),
        }
    }

    /// Waits for the rows to hold everything below an index plus one.
    pub(crate) async fn wait_applied(&self, behind: u64, until: Moment) -> Result<(), StoreError> {
        let mut applied = self.applied.subscribe();
        if *applied.borrow() >= behind {
            return Ok(());
        }
        tokio::select! {
            biased;
            reached = applied.wait_for(|applied| *applied >= behind) => {
                reached.map(drop).map_err(|_| unavailable("it was closed"))
            }
            () = sleep_until(until) => Err(unavailable("this node's rows are too far behind")),
        }
    }

    async fn add_here(&self, raft: &Raft, member: &Member) -> Result<(), Reply> {
        let known = {
            let metrics = raft.metrics();
            let metrics = metrics.borrow_watched();
            let membership = metrics.membership_config.membership();
            let mut nodes = membership.nodes().map(|(_, known)| known);
            nodes
                .find(|known| known.number == member.number || known.name == member.name)
                .cloned()
        };
        let mut member = member.clone();
        if let Some(known) = &known {
            member.format = known.format;
        }
        match known {
            Some(known) if known == member => return Ok(()),
            Some(known) if known.number != member.number || known.name != member.name => {
                return Err(Reply::Failed(format!(
                    "{known} is a member already: a node that comes back with an empty store is \
                     removed first and given a new number"
                )));
            }
            // It stands in another zone now.
            Some(_) => {
                let nodes = [(member.number, member.clone())].into();
                let change = raft.change_membership(ChangeMembers::SetNodes(nodes), true);
                return change.await.map(drop).map_err(changed);
            }
            None => {}
        }
        let added = raft.add_learner(member.number, member.clone(), false).await;
        added.map_err(changed)?;
        self.tend.notify_one();
        Ok(())
    }

    async fn reads_here(&self, raft: &Raft, number: u64, format: u8) -> Result<(), Reply> {
        let known = {
            let metrics = raft.metrics();
            let metrics = metrics.borrow_watched();
            let membership = metrics.membership_config.membership();
            membership.get_node(&number).cloned()
        };
        let Some(mut member) = known.filter(|known| known.format != format) else {
            return Ok(());
        };
        member.format = format;
        let nodes = [(number, member)].into();
        let change = raft.change_membership(ChangeMembers::SetNodes(nodes), true);
        change.await.map(drop).map_err(changed)
    }

    async fn remove_here(&self, raft: &Raft, name: &NodeId) -> Result<(), Reply> {
        let (number, mut voters) = {
            let metrics = raft.metrics();
            let metrics = metrics.borrow_watched();
            let membership = metrics.membership_config.membership();
            let Some(number) = membership
                .nodes()
                .find(|(_, member)| member.name == *name)
                .map(|(number, _)| *number)
            else {
                return Ok(());
            };
            (number, membership.voter_ids().collect::<BTreeSet<u64>>())
        };
        let votes = voters.remove(&number);
        if votes && voters.is_empty() {
            let only = "it is the only node that votes: add another one first";
            return Err(Reply::Failed(only.to_owned()));
        }
        // Whoever leads next removes it. A leader that is out leads on until that is committed, and
        // must not be asked for another change meanwhile: the library takes it for a mistake.
        if number == self.me.number {
            if let Some(heir) = self.heir(raft) {
                let why = "this node is to be removed";
                self.hand_over(raft, heir, why).await;
            }
            return Err(Reply::NotLeader(None));
        }
        let change = match votes {
            true => {
                let change = ChangeMembers::ReplaceAllVoters(voters);
                raft.change_membership(change, false).await
            }
            false => {
                let change = ChangeMembers::RemoveNodes([number].into());
                raft.change_membership(change, true).await
            }
        };
        change.map_err(changed)?;
        self.tend.notify_one();
        Ok(())
    }

    /// Adds a member, or changes its zone. It votes as soon as it has caught up and is chosen.
    pub(crate) async fn add(&self, member: &Member) -> Result<(), ConsensusError> {
        let until = Moment::now() + MEMBERS_WITHIN;
        let led = self.lead(until, || Request::Add(member.clone())).await;
        led.map(drop).map_err(ConsensusError::Members)
    }

    /// Removes a member.
    pub(crate) async fn remove(&self, name: &NodeId) -> Result<(), ConsensusError> {
        let until = Moment::now() + MEMBERS_WITHIN;
        let led = self.lead(until, || Request::Remove(name.clone())).await;
        led.map(drop).map_err(ConsensusError::Members)
    }

    /// Waits until this node can change something.
    pub(crate) async fn wait_leader(&self, within: Duration) -> Result<(), ConsensusError> {
        let mut view = self.view.subscribe();
        let known = view.wait_for(|view| view.leader.is_some());
        match timeout(within, known).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(unavailable(NO_MAJORITY).into()),
        }
    }

    pub(crate) fn status(&self) -> Status {
        let outdated = self.reads.outdated.get().cloned();
        let refused = outdated.or_else(|| lock(&self.dial.refused).clone());
        let applied = self.applied.borrow().saturating_sub(1);
        let generation = self.dial.generation.load(SeqCst);
        let barred = lock(&self.barred).clone();
        let leader_changes = self.leader_changes.load(SeqCst);
        let Some(raft) = self.raft() else {
            return Status {
                role: Role::Stopped,
                term: 0,
                leader: None,
                leader_changes,
                has_majority: false,
                last_log: 0,
                committed: 0,
                applied,
                lag: 0,
                members: Vec::new(),
                silent: Vec::new(),
                generation,
                refused,
                barred,
            };
        };
        let silence = self.silence();
        let metrics = raft.metrics();
        let metrics = metrics.borrow_watched();
        let membership = metrics.membership_config.membership();
        let voters: BTreeSet<u64> = membership.voter_ids().collect();
        let name = |number: &u64| {
            membership
                .get_node(number)
                .map(|member| member.name.clone())
        };
        let index = |id: &Option<LogId>| id.map_or(0, |id| id.index);
        let committed = index(&metrics.cluster_committed).max(index(&metrics.local_committed));
        let silent = metrics.heartbeat.iter().flatten();
        Status {
            role: match metrics.state {
                ServerState::Leader => Role::Leader,
                ServerState::Follower | ServerState::Candidate => Role::Voter,
                ServerState::Learner => Role::Forwarder,
                ServerState::Shutdown => Role::Stopped,
            },
            term: metrics.current_term,
            leader: metrics.current_leader.as_ref().and_then(name),
            leader_changes,
            has_majority: metrics.current_leader.is_some()
                && silence < self.settings.election.1 * 2,
            last_log: metrics.last_log_index.unwrap_or(0),
            committed,
            applied,
            lag: committed.saturating_sub(applied),
            members: membership
                .nodes()
                .map(|(number, member)| (member.clone(), voters.contains(number)))
                .collect(),
            silent: silent
                .filter(|(number, _)| **number != self.me.number)
                .filter_map(|(number, at)| {
                    let silent = at.map_or(Duration::MAX, |at| at.into_inner().elapsed());
                    Some((name(number)?, silent))
                })
                .collect(),
            generation,
            refused,
            barred,
        }
    }

    /// Answers another node. `from`: the name that its connection proved.
    pub(crate) async fn handle(&self, from: &NodeId, request: &[u8]) -> Reply {
        let Ok(envelope) = Envelope::from_bytes(request) else {
            return Reply::Refused;
        };
        let known = self.name_of(envelope.from);
        if known.is_some_and(|known| known != *from) {
            return Reply::Refused;
        }
        let mine = self.dial.generation.load(SeqCst);
        if mine == 0 && envelope.generation != 0 {
            if let Err(error) = self.adopt(envelope.generation).await {
                return Reply::Failed(error.to_string());
            }
        } else if envelope.generation != mine {
            return Reply::Generation(mine);
        }
        let Some(raft) = self.raft() else {
            return Reply::Stopped;
        };
        let within = match envelope.request {
            Request::End { .. } => INSTALL_WITHIN,
            Request::Add(_) | Request::Remove(_) | Request::Reads { .. } => MEMBERS_WITHIN,
            Request::Append(_)
            | Request::Vote(_)
            | Request::PreVote(_)
            | Request::Transfer { .. }
            | Request::Begin { .. }
            | Request::Part { .. }
            | Request::Propose(_)
            | Request::Space
            | Request::Hears
            | Request::ReadPoint => self.settings.deadline.max(MEMBERS_WITHIN / 3),
        };
        match timeout(within, self.serve(&raft, envelope.request)).await {
            Ok(Ok(answer)) => Reply::Done(answer),
            Ok(Err(reply)) => reply,
            Err(_) => Reply::Failed("it took too long".to_owned()),
        }
    }

    /// A node that joins belongs to the generation that first speaks to it.
    async fn adopt(&self, generation: u64) -> Result<(), StoreError> {
        work(&self.store, Until::Flushed, move |space| {
            space.set_note(GENERATION, &generation.to_be_bytes())
        })
        .await?;
        self.dial.generation.store(generation, SeqCst);
        Ok(())
    }

    async fn serve(&self, raft: &Raft, request: Request) -> Result<Vec<u8>, Reply> {
        let stopped = |_| Reply::Stopped;
        match request {
            Request::Append(append) => {
                let answer = raft.append_entries(append.into()).await;
                let answer = answer.map_err(|_| Reply::Stopped)?;
                use openraft::raft::AppendEntriesResponse::HigherVote;
                if !matches!(answer, HigherVote(_)) {
                    *lock(&self.heard) = Moment::now();
                }
                Ok(wire::append_answer(&answer))
            }
            Request::Vote(ballot) => {
                let answer = raft.vote(ballot.into()).await;
                let answer = answer.map_err(|_| Reply::Stopped)?;
                if answer.vote_granted {
                    // An election is in progress, and may be won.
                    *lock(&self.heard) = Moment::now();
                }
                Ok(wire::vote_answer(&answer))
            }
            Request::PreVote(ballot) => {
                let answer = raft.pre_vote(ballot.into()).await;
                Ok(wire::vote_answer(&answer.map_err(|_| Reply::Stopped)?))
            }
            Request::Transfer { from, to, last } => {
                let request = TransferLeaderRequest::new(from, to, last);
                let answer = raft
                    .handle_transfer_leader(request)
                    .await
                    .map_err(stopped)?;
                match answer {
                    Ok(()) => Ok(Vec::new()),
                    Err(error) => Err(Reply::Failed(error.to_string())),
                }
            }
            Request::Begin { transfer } => {
                let mut staging = self.staging.lock().await;
                *staging = None;
                let staged = work(&self.store, Until::Written, |space| space.stage()).await;
                staged.map_err(|error| Reply::Failed(error.to_string()))?;
                *staging = Some(Staging {
                    transfer,
                    parts: 0,
                    notes: Vec::new(),
                });
                Ok(Vec::new())
            }
            Request::Part {
                transfer,
                number,
                rows,
                notes,
            } => self.stage(transfer, number, rows, notes).await,
            Request::End {
                transfer,
                parts,
                vote,
                meta,
                version,
            } => {
                let ended = self.end(raft, transfer, parts, vote, meta, version).await?;
                Ok(written(|to| to.vote(&ended)))
            }
            Request::Propose(bytes) => {
                let proposed = self.propose_here(raft, bytes);
                let (index, applied) = proposed.await?;
                // Room for the form around it.
                let fits = applied.len() + 64 < crate::MAX_MESSAGE;
                Ok(wire::proposed_answer(index, fits.then_some(&*applied)))
            }
            Request::ReadPoint => {
                let index = self.point_here(raft).await?;
                Ok(index.to_be_bytes().to_vec())
            }
            Request::Add(member) => self.add_here(raft, &member).await.map(|()| Vec::new()),
            Request::Remove(name) => self.remove_here(raft, &name).await.map(|()| Vec::new()),
            Request::Reads { number, format } => {
                self.reads_here(raft, number, format).await?;
                Ok(Vec::new())
            }
            Request::Space => Ok(vec![u8::from(!self.store.is_full())]),
            Request::Hears => {
                let mut hears = Vec::new();
                for number in self.other_voters(raft) {
                    let said = self.says(number, Request::Space, SAYS_WITHIN).await;
                    hears.extend(said.map(|_| number));
                }
                Ok(wire::numbers_answer(&hears))
            }
        }
    }

    async fn stage(
        &self,
        transfer: u64,
        number: u64,
        rows: Vec<RawRow>,
        mut notes: Vec<Note>,
    ) -> Result<Vec<u8>, Reply> {
        let mut staging = self.staging.lock().await;
        let staging = staging
            .as_mut()
            .filter(|staging| staging.transfer == transfer);
        let staging = staging.ok_or_else(|| Reply::Failed("no such transfer".to_owned()))?;
        if number == staging.parts {
            // It was sent twice.
            return Ok(Vec::new());
        }
        if number != staging.parts + 1 {
            return Err(Reply::Failed(
                "a part of the transfer is missing".to_owned(),
            ));
        }
        work(&self.store, Until::Written, move |space| {
            rows.iter().try_for_each(|row| space.stage_row(row))
        })
        .await
        .map_err(|error| Reply::Failed(error.to_string()))?;
        staging.parts = number;
        staging.notes.append(&mut notes);
        Ok(Vec::new())
    }

    async fn end(
        &self,
        raft: &Raft,
        transfer: u64,
        parts: u64,
        vote: Vote,
        meta: SnapshotMeta,
        version: u64,
    ) -> Result<Vote, Reply> {
        let mut staging = self.staging.lock().await;
        let whole = staging
            .take_if(|staging| staging.transfer == transfer && staging.parts == parts)
            .ok_or_else(|| Reply::Failed("the transfer is not whole".to_owned()))?;
        let snapshot = Snapshot {
            meta,
            snapshot: Transfer::Staged {
                version,
                notes: whole.notes,
            },
        };
        // The rows are staged until they are installed: no other transfer may begin before.
        let answer = raft.install_full_snapshot(vote, snapshot).await;
        *lock(&self.heard) = Moment::now();
        Ok(answer.map_err(|_| Reply::Stopped)?.vote)
    }

    /// Ends this node's part. What was answered stays where it is.
    pub(crate) fn close(&self) {
        self.closed.send_replace(true);
    }

    /// The other voter that has most of the log, as far as a leader knows.
    fn heir(&self, raft: &Raft) -> Option<u64> {
        let metrics = raft.metrics();
        let metrics = metrics.borrow_watched();
        let voters: BTreeSet<u64> = metrics.membership_config.voter_ids().collect();
        let replication = metrics.replication.iter().flatten();
        replication
            .filter(|(number, _)| **number != self.me.number && voters.contains(number))
            .max_by_key(|(_, at)| at.map(|at| at.index))
            .map(|(number, _)| *number)
    }

    /// The same in order: leadership goes to another voter first, so that nobody waits for an
    /// election.
    pub(crate) async fn shut_down(&self) {
        let Some(raft) = self.raft() else {
            self.close();
            return;
        };
        if let Some(heir) = self.heir(&raft)
            && raft.trigger().transfer_leader(heir).await.is_ok()
        {
            let mut view = self.view.subscribe();
            let moved = view.wait_for(|view| view.leader != Some(self.me.number));
            let _ = timeout(self.settings.election.1, moved).await;
        }
        self.close();
        let _ = timeout(self.settings.deadline, raft.shutdown()).await;
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.close();
    }
}

fn leads(raft: &Raft) -> bool {
    raft.metrics().borrow_watched().state == ServerState::Leader
}

fn changed(error: RaftError<Types, ClientWriteError<Types>>) -> Reply {
    match error {
        RaftError::APIError(
            ClientWriteError::ForwardToLeader(to) | ClientWriteError::LogEntryDiscarded(to),
        ) => Reply::NotLeader(to.leader_id),
        error => Reply::Failed(error.to_string()),
    }
}

impl From<Malformed> for ConsensusError {
    fn from(_: Malformed) -> ConsensusError {
        ConsensusError::Store(StoreError::Corrupt("the notes of the consensus".to_owned()))
    }
}
