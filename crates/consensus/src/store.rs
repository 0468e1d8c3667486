//! The store.
use crate::{
    Acknowledged, ConsensusError, Member, Network, NodeId, Role, Settings, Status, acknowledged,
    acknowledged::GENERATION,
    codec::{Reader, Writer},
    entered::Entered,
    log::{PURGED, VOTE},
    machine::{APPLIED, MEMBERSHIP},
    node::{ME, Node},
    proposal::{Answer, Call},
    propose::Proposer,
    reading::Reading,
    task::{Until, work},
    types::{LeaderId, LogId, Membership, StoredMembership, Vote, read, written},
    wire::Reply,
};
use signet_store::{
    Change, Key, OpenError, Outcome, Reads, Row, SqliteStore, Store, StoreError, StoreFuture,
    Table, sqlite,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
    time::Duration,
};
use tokio::sync::RwLock;

/// Bytes of changes of one `commit_each` that are one call of the log.
const EACH_BYTES: usize = 1 << 20;

/// How long a node that begins waits to lead itself.
const BEGIN_WITHIN: Duration = Duration::from_secs(5);

struct Part {
    node: Arc<Node>,
    proposer: Proposer,
    reading: Reading,
    /// Where all of it runs.
    runtime: Option<tokio::runtime::Handle>,
}

#[derive(Clone)]
enum Mode {
    /// The store is this node's alone.
    Alone,
    /// It is replicated, and this node's part has not begun since the start.
    Waiting,
    Part(Arc<Part>),
}

/// The embedded store, of one node alone or replicated. See the crate.
pub struct ReplicatedStore {
    store: Arc<SqliteStore>,
    settings: Settings,
    mode: RwLock<Mode>,
    /// The same, for callers that cannot wait.
    part: std::sync::RwLock<Option<Arc<Part>>>,
}

fn wrong(answer: &Answer) -> StoreError {
    let _: &Answer = answer;
    StoreError::Corrupt("the answer is another call's".to_owned())
}

/// The first entry of a log that begins where rows are already: it stands for all of them, so that
/// a node without them is sent a snapshot.
fn origin(number: u64) -> LogId {
    LogId {
        leader_id: LeaderId {
            term: 1,
            node_id: number,
        },
        index: 1,
    }
}

/// A note of this crate.
type OwnNote = (&'static [u8], Vec<u8>);

/// The state of a cluster of which this node is the only voter, as of `at`.
pub(crate) fn sole(me: &Member, at: LogId) -> Result<Vec<OwnNote>, StoreError> {
    let membership = Membership::new(
        vec![BTreeSet::from([me.number])],
        BTreeMap::from([(me.number, me.clone())]),
    )
    .map_err(|_| StoreError::Invalid("a node's number"))?;
    let vote = Vote {
        leader_id: LeaderId {
            term: at.leader_id.term,
            node_id: me.number,
        },
        committed: false,
    };
    let membership = StoredMembership::new(Some(at), membership);
    Ok(vec![
        (APPLIED, written(|to| to.log_id(&at))),
        (MEMBERSHIP, written(|to| to.stored_membership(&membership))),
        (PURGED, written(|to| to.log_id(&at))),
        (VOTE, written(|to| to.vote(&vote))),
        (ME, written(|to| to.member(me))),
    ])
}

impl ReplicatedStore {
    /// Opens the store of a data directory, or makes it. One that is replicated answers
    /// `Unavailable` until [`ReplicatedStore::resume`].
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(
        directory: &Path,
        options: sqlite::Options,
        settings: Settings,
    ) -> Result<ReplicatedStore, OpenError> {
        let store = SqliteStore::open(directory, options)?;
        ReplicatedStore::over(Arc::new(store), settings).map_err(|error| OpenError::Engine {
            path: directory.to_owned(),
            reason: error.to_string(),
        })
    }

    /// The same over an engine that is open. From here on it is written to through this store
    /// alone.
    ///
    /// # Errors
    /// [`StoreError`]: the engine cannot be read.
    pub fn over(
        store: Arc<SqliteStore>,
        settings: Settings,
    ) -> Result<ReplicatedStore, StoreError> {
        let mode = match store.is_replicated()? {
            true => Mode::Waiting,
            false => Mode::Alone,
        };
        Ok(ReplicatedStore {
            store,
            settings,
            mode: RwLock::new(mode),
            part: std::sync::RwLock::default(),
        })
    }

    /// Whether its own copy holds no row: what a node that joins must begin with.
    ///
    /// # Errors
    /// [`StoreError`]: the engine cannot be read.
    pub async fn is_empty(&self) -> Result<bool, StoreError> {
        self.store.look(|look| look.is_empty()).await
    }

    /// The engine below, for what it knows of itself.
    pub fn engine(&self) -> &SqliteStore {
        &self.store
    }

    /// Who this node is, where the store is replicated.
    ///
    /// # Errors
    /// [`StoreError`]: the engine cannot be read.
    pub fn me(&self) -> Result<Option<Member>, StoreError> {
        let me = self.store.look_now(|look| look.note(ME))?;
        let me = me.map(|bytes| read(&bytes, Reader::member)).transpose();
        me.map_err(|_| StoreError::Corrupt("this node's own record".to_owned()))
    }

    fn set_part(&self, part: Option<Arc<Part>>) {
        *self
            .part
            .write()
            .unwrap_or_else(|poisoned| poisoned.into_inner()) = part;
    }

    fn part(&self) -> Option<Arc<Part>> {
        let part = self.part.read();
        part.unwrap_or_else(|poisoned| poisoned.into_inner())
            .clone()
    }

    async fn run(
        &self,
        mode: &mut Mode,
        me: Member,
        network: Arc<dyn Network>,
        generation: u64,
    ) -> Result<Arc<Part>, ConsensusError> {
        *mode = Mode::Waiting;
        let store = self.store.clone();
        let node = Node::start(me, self.settings.clone(), store, network, generation).await?;
        let part = Arc::new(Part {
            proposer: Proposer::start(node.clone()),
            reading: Reading::start(node.clone()),
            runtime: signet_surroundings::around(),
            node,
        });
        self.set_part(Some(part.clone()));
        *mode = Mode::Part(part.clone());
        Ok(part)
    }

    /// From one node's store to a replicated one of which `me` is the first member: what it holds
    /// becomes the state that all others are sent. Changes wait for the time that this takes, a few
    /// milliseconds. Further nodes come by [`ReplicatedStore::add`].
    ///
    /// # Errors
    /// [`ConsensusError::Replicated`] where it is already.
    pub async fn begin(
        &self,
        mut me: Member,
        network: Arc<dyn Network>,
    ) -> Result<(), ConsensusError> {
        me.format = self.settings.format;
        let mut mode = self.mode.write().await;
        if !matches!(*mode, Mode::Alone) {
            return Err(ConsensusError::Replicated);
        }
        let generation = self.random();
        self.mark(&me, generation, true).await?;
        let part = self.run(&mut mode, me, network, generation).await?;
        part.node.wait_leader(BEGIN_WITHIN).await
    }

    /// A new node of a replicated store: what its own store holds is replaced by the others' when
    /// one of them has [added](ReplicatedStore::add) it. `me`: as the membership gave it out.
    ///
    /// # Errors
    /// [`ConsensusError::Replicated`] where the store is, [`ConsensusError::NotEmpty`] where it has
    /// rows and `discard` is not set.
    pub async fn join(
        &self,
        me: Member,
        network: Arc<dyn Network>,
        discard: bool,
    ) -> Result<(), ConsensusError> {
        let mut mode = self.mode.write().await;
        if !matches!(*mode, Mode::Alone) {
            return Err(ConsensusError::Replicated);
        }
        if !discard && !self.store.look(|look| look.is_empty()).await? {
            return Err(ConsensusError::NotEmpty);
        }
        self.mark(&me, 0, false).await?;
        self.run(&mut mode, me, network, 0).await.map(drop)
    }

    /// The store becomes replicated, with rows that count (`first`) or not.
    async fn mark(&self, me: &Member, generation: u64, first: bool) -> Result<(), ConsensusError> {
        let notes = match first {
            true => sole(me, origin(me.number))?,
            false => vec![(ME, written(|to| to.member(me)))],
        };
        work(&self.store, Until::Flushed, move |space| {
            space.set_replicated(true)?;
            space.set_note(GENERATION, &generation.to_be_bytes())?;
            notes
                .iter()
                .try_for_each(|(name, value)| space.set_note(name, value))
        })
        .await?;
        Ok(())
    }

    /// Resumes this node's part after a restart.
    ///
    /// # Errors
    /// [`ConsensusError::Alone`] where the store is not replicated, [`ConsensusError::Replicated`]
    /// where its part has begun.
    pub async fn resume(&self, network: Arc<dyn Network>) -> Result<(), ConsensusError> {
        let mut mode = self.mode.write().await;
        match *mode {
            Mode::Alone => return Err(ConsensusError::Alone),
            Mode::Part(_) => return Err(ConsensusError::Replicated),
            Mode::Waiting => {}
        }
        let me = self.me()?.ok_or(ConsensusError::Alone)?;
        let generation = self.store.look_now(|look| look.note(GENERATION))?;
        let generation = read(&generation.unwrap_or_default(), |from| from.u64())?;
        self.run(&mut mode, me, network, generation).await.map(drop)
    }

    fn random(&self) -> u64 {
        // Zero stands for none.
        (self.settings.random)().max(1)
    }

    /// Adds a node, or changes the zone of one. Any node may be asked. It is sent the state, and
    /// votes when the leader chooses it.
    ///
    /// # Errors
    /// [`ConsensusError::Members`], with the reason; [`ConsensusError::Alone`].
    pub async fn add(&self, member: &Member) -> Result<(), ConsensusError> {
        self.part()
            .ok_or(ConsensusError::Alone)?
            .node
            .add(member)
            .await
    }

    /// Removes a node; one that is none already is as good as removed. Any node may be asked.
    ///
    /// # Errors
    /// [`ConsensusError::Members`], with the reason; [`ConsensusError::Alone`].
    pub async fn remove(&self, name: &NodeId) -> Result<(), ConsensusError> {
        self.part()
            .ok_or(ConsensusError::Alone)?
            .node
            .remove(name)
            .await
    }

    /// Where this node stands.
    pub fn status(&self) -> Status {
        if let Some(part) = self.part() {
            return part.node.status();
        }
        let waits = self.store.is_replicated().unwrap_or(true);
        Status {
            role: if waits { Role::Stopped } else { Role::Alone },
            term: 0,
            leader: None,
            leader_changes: 0,
            has_majority: !waits,
            last_log: 0,
            committed: 0,
            applied: 0,
            lag: 0,
            members: Vec::new(),
            silent: Vec::new(),
            generation: 0,
            refused: None,
            barred: None,
        }
    }

    /// What this node has acknowledged for good; none where the store is not replicated, or its
    /// part has not begun.
    pub fn acknowledged(&self) -> Option<Acknowledged> {
        self.part().map(|part| part.node.acknowledged())
    }

    /// What its rows have: of the part that runs, or on the disk before it has begun.
    ///
    /// # Errors
    /// [`ConsensusError::Store`]: the engine cannot be read.
    pub fn holds(&self) -> Result<Acknowledged, ConsensusError> {
        match self.part() {
            Some(part) => Ok(part.node.holds()),
            None => acknowledged::on_disk(&self.store),
        }
    }

    /// The generations that its rows come from. Reads the disk; only a recovery changes them.
    ///
    /// # Errors
    /// [`StoreError`]: the engine cannot be read.
    pub fn ancestors(&self) -> Result<Vec<u64>, StoreError> {
        acknowledged::ancestors(&self.store)
    }

    /// Ends this node's part in the consensus, because the others would be wronged by it; the
    /// reason is in its [status](ReplicatedStore::status) from then on.
    pub fn refuse(&self, why: String) {
        if let Some(part) = self.part() {
            part.node.refuse(why);
        }
    }

    /// While there is a reason, only what ends or revokes something is decided at this node, and
    /// records of that.
    pub fn bar(&self, why: Option<String>) {
        if let Some(part) = self.part() {
            part.node.bar(why);
        }
    }

    /// Answers a request of another node. `from`: the name that its connection proved.
    pub async fn handle(&self, from: &NodeId, request: Vec<u8>) -> Vec<u8> {
        match self.part() {
            Some(part) => part.node.handle(from, &request).await.to_bytes(),
            None => Reply::Stopped.to_bytes(),
        }
    }

    /// Ends in order: the leader hands its place to another voter first, so that nobody waits for
    /// an election. Then as [`Store::close`].
    pub async fn shut_down(&self) {
        if let Some(part) = self.part() {
            part.node.shut_down().await;
        }
        self.close();
    }

    async fn call(part: &Part, call: Call) -> Result<Answer, StoreError> {
        Entered::new(&part.runtime, part.proposer.call(call)).await
    }

    /// The part to ask, or nothing and a lock that keeps the store as it is: this node's alone.
    async fn mode(
        &self,
    ) -> Result<Result<Arc<Part>, tokio::sync::RwLockReadGuard<'_, Mode>>, StoreError> {
        let mode = self.mode.read().await;
        match &*mode {
            Mode::Alone => Ok(Err(mode)),
            Mode::Waiting => Err(StoreError::Unavailable(
                "the store is replicated, and its part has not begun".to_owned(),
            )),
            Mode::Part(part) => Ok(Ok(part.clone())),
        }
    }

    /// Waits until this node's rows may answer.
    async fn ready(&self, reads: Reads) -> Result<(), StoreError> {
        match self.mode().await? {
            Err(_alone) => Ok(()),
            Ok(part) => {
                let ready = async {
                    match reads {
                        Reads::Latest => part.reading.latest().await,
                        Reads::Followed => match part.reading.latest().await {
                            Err(StoreError::Unavailable(_)) => part.reading.own().await,
                            latest => latest,
                        },
                        Reads::Local => part.reading.own().await,
                    }
                };
                Entered::new(&part.runtime, ready).await
            }
        }
    }
}

/// The first changes whose bytes are within the bound, one at least.
fn some(changes: &mut std::vec::IntoIter<Change>) -> Vec<Change> {
    let (mut some, mut size) = (Vec::new(), 0);
    while size < EACH_BYTES
        && let Some(change) = changes.next()
    {
        let mut bytes = Writer::new();
        bytes.change(&change);
        size += bytes.len();
        some.push(change);
    }
    some
}

impl Store for ReplicatedStore {
    fn get<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>> {
        Box::pin(async move {
            self.ready(key.table.reads()).await?;
            self.store.get(key, now).await
        })
    }

    fn commit(&self, change: Change, now: u64) -> StoreFuture<'_, Outcome> {
        Box::pin(async move {
            match self.mode().await? {
                Err(_alone) => self.store.commit(change, now).await,
                Ok(part) => {
                    change.check()?;
                    match Self::call(&part, Call::Commit(change, now)).await? {
                        Answer::Commit(outcome) => Ok(outcome),
                        other => Err(wrong(&other)),
                    }
                }
            }
        })
    }

    fn commit_each(&self, changes: Vec<Change>, now: u64) -> StoreFuture<'_, Vec<Outcome>> {
        Box::pin(async move {
            let part = match self.mode().await? {
                Err(_alone) => return self.store.commit_each(changes, now).await,
                Ok(part) => part,
            };
            changes.iter().try_for_each(Change::check)?;
            let count = changes.len();
            let mut changes = changes.into_iter();
            let mut outcomes: Vec<Outcome> = Vec::with_capacity(count);
            while outcomes.last().is_none_or(Outcome::is_done) {
                let some = some(&mut changes);
                if some.is_empty() {
                    break;
                }
                match Self::call(&part, Call::CommitEach(some, now)).await? {
                    Answer::CommitEach(mut more) => outcomes.append(&mut more),
                    other => return Err(wrong(&other)),
                }
            }
            Ok(outcomes)
        })
    }

    fn take<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>> {
        Box::pin(async move {
            match self.mode().await? {
                Err(_alone) => self.store.take(key, now).await,
                Ok(part) => match Self::call(&part, Call::Take(key.clone(), now)).await? {
                    Answer::Take(row) => Ok(row),
                    other => Err(wrong(&other)),
                },
            }
        })
    }

    fn partition<'a>(
        &'a self,
        table: Table,
        partition: &'a [u8],
        after: &'a [u8],
        limit: usize,
        now: u64,
    ) -> StoreFuture<'a, Vec<(Key, Row)>> {
        Box::pin(async move {
            self.ready(table.reads()).await?;
            self.store
                .partition(table, partition, after, limit, now)
                .await
        })
    }

    fn page<'a>(
        &'a self,
        table: Table,
        after: Option<&'a Key>,
        limit: usize,
        now: u64,
    ) -> StoreFuture<'a, Vec<(Key, Row)>> {
        Box::pin(async move {
            self.ready(Reads::Local).await?;
            self.store.page(table, after, limit, now).await
        })
    }

    fn sweep(&self, now: u64, limit: usize) -> StoreFuture<'_, usize> {
        Box::pin(async move {
            match self.mode().await? {
                Err(_alone) => self.store.sweep(now, limit).await,
                Ok(part) => match Self::call(&part, Call::Sweep(now, limit)).await? {
                    Answer::Sweep(count) => Ok(count),
                    other => Err(wrong(&other)),
                },
            }
        })
    }

    // Also whether a majority takes a change.
    fn check(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            if let Ok(part) = self.mode().await? {
                match Self::call(&part, Call::Check).await? {
                    Answer::Check => {}
                    other => return Err(wrong(&other)),
                }
            }
            self.store.check().await
        })
    }

    fn is_full(&self) -> bool {
        self.store.is_full()
    }

    // Of this node's own copy.
    fn bytes(&self) -> StoreFuture<'_, Option<u64>> {
        self.store.bytes()
    }

    fn close(&self) {
        if let Some(part) = self.part() {
            part.node.close();
        }
        self.store.close();
    }
}

impl Drop for ReplicatedStore {
    fn drop(&mut self) {
        self.close();
    }
}
