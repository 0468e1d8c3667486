//! Threads around the engine.
use super::believe::Routed;
use crate::{
    NodeId,
    batch::{Batch, BatchId, Keys, Signed, Verdict},
    gossip::{COMPACT_BYTES, Engine, Now, Output, Parts, Status, Ticket},
    journal::Journal,
    member::Members,
    transport::{Hear, NotSent, Transport},
};
use signet_crypto::{clock::Clock, random};
use signet_merge::{
    entry::Entry,
    hlc::{Hlc, Stamp},
    tell::{Believe, BoxFuture, Receipt, Tell},
};
use signet_store::StoreError;
use std::{
    collections::{HashMap, VecDeque},
    io,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};
use tokio::sync::{Notify, mpsc, oneshot};

/// Threads that sign and verify.
const WORKERS: usize = 2;
const TICK: Duration = Duration::from_millis(100);
/// How long a journal that does not take a write is left alone.
const JOURNAL_RETRY: Duration = Duration::from_millis(500);
/// Writes that share a flush.
const JOURNAL_AT_ONCE: usize = 256;
/// How long a write to the journal waits for others to share its flush. Nobody waits for it: what
/// is announced is durable in the store.
const JOURNAL_GATHERS: Duration = Duration::from_millis(10);
/// A batch that is not longer is verified where it was received, if no thread has anything to do:
/// handing it over would take as long.
const VERIFIED_AT_ONCE: usize = 16 * 1024;

/// What spreading needs.
pub struct SpreadParts {
    /// The node's name.
    pub node: NodeId,
    /// Whose signatures count.
    pub keys: Arc<dyn Keys>,
    /// The table of members: its entries are believed here, its changes followed.
    pub members: Arc<Members>,
    /// What is done with all other entries.
    pub believe: Arc<dyn Believe>,
    /// Where batches are kept over restarts; None: nowhere, and an acknowledgement says only that
    /// the entries are believed.
    pub journal: Option<Journal>,
    /// The wall clock.
    pub clock: Arc<dyn Clock>,
}

enum Job {
    /// Something is in the inbox.
    Tell,
    Sign(Batch),
    Verify(Signed),
}

enum Write {
    Keep(Vec<Signed>),
    Forget(Vec<BatchId>),
}

struct Told {
    entries: Vec<Entry>,
    at: Instant,
    receipt: oneshot::Sender<Receipt>,
}

struct Shared {
    engine: Mutex<Engine>,
    hlc: Arc<Hlc>,
    keys: Arc<dyn Keys>,
    members: Arc<Members>,
    clock: Arc<dyn Clock>,
    began: Instant,
    transport: OnceLock<Arc<dyn Transport>>,
    inbox: Mutex<Vec<Told>>,
    receipts: Mutex<HashMap<Ticket, oneshot::Sender<Receipt>>>,
    jobs: Mutex<VecDeque<Job>>,
    /// Threads that are doing one.
    working: AtomicUsize,
    wake: Condvar,
    /// None without a journal.
    writes: Option<mpsc::UnboundedSender<Write>>,
    stopped: AtomicBool,
    /// Wakes what waits on the runtime once `stopped`.
    stopping: Notify,
}

/// Spreads what this node tells, and hears what others tell. Dropping it stops it.
pub struct Spread {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Spread {
    /// Loads the journal, believes what is in it, and begins. Nothing is announced before
    /// [`connect`](Self::connect).
    ///
    /// # Errors
    /// If the journal's store does not answer, or a thread cannot be started.
    pub async fn start(parts: SpreadParts) -> Result<Arc<Spread>, StoreError> {
        let kept = match &parts.journal {
            Some(journal) => journal.load().await?,
            None => Vec::new(),
        };
        let mut number = [0; 8];
        random::fill(&mut number);
        let hlc = Arc::new(Hlc::new(parts.node.clone()));
        let began = Instant::now();
        let now = Now {
            us: 0,
            wall_ms: parts.clock.now_ms(),
        };
        let engine = Parts {
            node: parts.node,
            stream: u64::from_be_bytes(number),
            hlc: hlc.clone(),
            keys: parts.keys.clone(),
            believe: Arc::new(Routed {
                members: parts.members.clone(),
                above: parts.believe,
            }),
            compact_bytes: COMPACT_BYTES,
        };
        let (writes, written) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            engine: Mutex::new(Engine::new(engine, kept, now)),
            hlc,
            keys: parts.keys,
            members: parts.members,
            clock: parts.clock,
            began,
            transport: OnceLock::new(),
            inbox: Mutex::default(),
            receipts: Mutex::default(),
            jobs: Mutex::default(),
            working: AtomicUsize::new(0),
            wake: Condvar::new(),
            writes: parts.journal.is_some().then_some(writes),
            stopped: AtomicBool::new(false),
            stopping: Notify::new(),
        });
        let spread = Arc::new(Spread {
            shared: shared.clone(),
            threads: Mutex::default(),
        });
        shared.follow_members();
        for index in 0..WORKERS {
            let shared = shared.clone();
            spread.spawn(&format!("signet-gossip-{index}"), move || shared.work())?;
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .map_err(unavailable)?;
        spread.spawn("signet-gossip", move || {
            runtime.block_on(async {
                tokio::join!(
                    shared.clone().pass_time(),
                    shared.clone().write(parts.journal, written)
                );
            });
        })?;
        Ok(spread)
    }

    fn spawn(&self, name: &str, run: impl FnOnce() + Send + 'static) -> Result<(), StoreError> {
        let thread = thread::Builder::new().name(name.to_owned()).spawn(run);
        lock(&self.threads).push(thread.map_err(unavailable)?);
        Ok(())
    }

    /// The streams that frames go out by, which call this as their [`Hear`]. Only the first counts.
    pub fn connect(&self, transport: Arc<dyn Transport>) {
        if self.shared.transport.set(transport).is_ok() {
            self.shared.act(|_, _| ());
        }
    }

    /// The node's hybrid clock, to be given what is known from before a restart
    /// ([`Hlc::resume`]).
    pub fn hlc(&self) -> &Arc<Hlc> {
        &self.shared.hlc
    }

    /// Where this node stands.
    pub fn status(&self) -> Status {
        let now = self.shared.now();
        lock(&self.shared.engine).status(now)
    }

    /// How long the node has not been in contact with enough members for a majority; None: it was
    /// not since it started. Zero for a node without other members.
    pub fn staleness(&self) -> Option<Duration> {
        let now = self.shared.now();
        lock(&self.shared.engine).staleness(now)
    }

    /// Over all batches that are held: equal on nodes that hold the same.
    pub fn digest(&self) -> u128 {
        lock(&self.shared.engine).digest()
    }

    /// Ends its threads and waits for them. What is believed is written to the journal before.
    pub fn stop(&self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        self.shared.stopping.notify_waiters();
        // Under the lock: no worker is between looking at the flag and beginning to wait.
        drop(lock(&self.shared.jobs));
        self.shared.wake.notify_all();
        for thread in std::mem::take(&mut *lock(&self.threads)) {
            // One that panicked has said so.
            let _ = thread.join();
        }
    }
}

impl Drop for Spread {
    fn drop(&mut self) {
        self.stop();
    }
}

fn unavailable(error: io::Error) -> StoreError {
    StoreError::Unavailable(error.to_string())
}

impl Shared {
    fn now(&self) -> Now {
        self.at(Instant::now())
    }

    fn at(&self, moment: Instant) -> Now {
        let since = moment.saturating_duration_since(self.began);
        Now {
            us: u64::try_from(since.as_micros()).unwrap_or(u64::MAX),
            wall_ms: self.clock.now_ms(),
        }
    }

    /// Tells the engine something and does what it wants done.
    fn act<T>(&self, input: impl FnOnce(&mut Engine, Now) -> T) -> T {
        self.act_and_leave(&mut |job| Some(job), input)
    }

    /// The same, for a thread that can do a job itself: `take` is offered each and gives back what
    /// it does not take.
    fn act_and_leave<T>(
        &self,
        take: &mut dyn FnMut(Job) -> Option<Job>,
        input: impl FnOnce(&mut Engine, Now) -> T,
    ) -> T {
        let mut input = Some(input);
        let mut answer = None;
        let mut kept: Vec<BatchId> = Vec::new();
        let mut slow: Vec<NodeId> = Vec::new();
        loop {
            let mut outputs = Vec::new();
            {
                let now = self.now();
                let mut engine = lock(&self.engine);
                if let Some(input) = input.take() {
                    answer = Some(input(&mut engine, now));
                }
                for peer in slow.drain(..) {
                    engine.slow(&peer);
                }
                if !kept.is_empty() {
                    engine.kept(&std::mem::take(&mut kept), now);
                }
                while let Some(output) = engine.poll() {
                    outputs.push(output);
                }
            }
            for output in outputs {
                let job = self.perform(output, &mut kept, &mut slow);
                if let Some(job) = job.and_then(&mut *take) {
                    self.queue(job);
                }
            }
            if kept.is_empty() && slow.is_empty() {
                break;
            }
        }
        match answer {
            Some(answer) => answer,
            None => unreachable!("the first round takes the input"),
        }
    }

    /// Does it, or says what is to be done by whoever has time.
    fn perform(
        &self,
        output: Output,
        kept: &mut Vec<BatchId>,
        slow: &mut Vec<NodeId>,
    ) -> Option<Job> {
        match output {
            Output::Send { to, frame } => {
                let transport = self.transport.get()?;
                match transport.send(&to, frame) {
                    // What was not sent is fetched by whoever lacks it.
                    Ok(()) | Err(NotSent::NotConnected) => {}
                    Err(NotSent::Full) => slow.push(to),
                    Err(NotSent::TooLong) => {
                        tracing::error!(peer = %to, "dropped a gossip frame: too long");
                    }
                }
            }
            Output::Sign(batch) => return Some(Job::Sign(batch)),
            Output::Verify(signed) => return Some(Job::Verify(signed)),
            Output::Keep(batches) => match &self.writes {
                Some(writes) => self.write_soon(writes, Write::Keep(batches)),
                None => kept.extend(batches.iter().map(|signed| signed.batch().id.clone())),
            },
            Output::Forget(ids) => {
                if let Some(writes) = &self.writes {
                    self.write_soon(writes, Write::Forget(ids));
                }
            }
            Output::Receipt(ticket, receipt) => {
                if let Some(waits) = lock(&self.receipts).remove(&ticket) {
                    // Whoever told may have stopped waiting.
                    let _ = waits.send(receipt);
                }
            }
        }
        None
    }

    fn write_soon(&self, writes: &mpsc::UnboundedSender<Write>, write: Write) {
        // Only a node that is being stopped has no writer any more.
        let _ = writes.send(write);
    }

    fn queue(&self, job: Job) {
        let mut jobs = lock(&self.jobs);
        match job {
            // Signing is what a whole cluster waits for.
            Job::Tell | Job::Sign(_) => jobs.push_front(job),
            Job::Verify(_) => jobs.push_back(job),
        }
        drop(jobs);
        self.wake.notify_one();
    }

    fn work(&self) {
        let mut next = None;
        loop {
            let job = next.take().or_else(|| self.next_job());
            let Some(job) = job else {
                return;
            };
            self.working.fetch_add(1, Ordering::SeqCst);
            next = self.do_job(job);
            self.working.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Whether no thread has anything to do.
    fn is_idle(&self) -> bool {
        self.working.load(Ordering::SeqCst) == 0 && lock(&self.jobs).is_empty()
    }

    /// Waits for one; none once the node is stopped.
    fn next_job(&self) -> Option<Job> {
        let mut jobs = lock(&self.jobs);
        loop {
            if self.stopped.load(Ordering::SeqCst) {
                return None;
            }
            if let Some(job) = jobs.pop_front() {
                return Some(job);
            }
            jobs = self.wake.wait(jobs).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Does it; gives the one that the same thread does next, if there is one.
    fn do_job(&self, job: Job) -> Option<Job> {
        let mut next = None;
        let mut take = |job| match &next {
            // What was announced is signed where it was taken: nobody has to be woken for it.
            None if !self.stopped.load(Ordering::SeqCst) => {
                next = Some(job);
                None
            }
            None | Some(_) => Some(job),
        };
        match job {
            Job::Tell => self.take_told(&mut take),
            Job::Sign(batch) => {
                let signed = Signed::sign(batch, &*self.keys);
                if let Err(error) = &signed {
                    tracing::error!(%error, "failed to sign a gossip batch");
                }
                self.act_and_leave(&mut take, |engine, now| engine.signed(signed.ok(), now));
            }
            Job::Verify(signed) => self.verify(&signed, &mut take),
        }
        next
    }

    fn verify(&self, signed: &Signed, take: &mut dyn FnMut(Job) -> Option<Job>) {
        let verdict = signed.verify(&*self.keys);
        let id = &signed.batch().id;
        if verdict == Verdict::Forged {
            tracing::warn!(origin = %id.stream.origin, "rejected a gossip batch: invalid signature");
        }
        self.act_and_leave(take, |engine, now| engine.verified(id, verdict, now));
    }

    fn take_told(&self, take: &mut dyn FnMut(Job) -> Option<Job>) {
        let told = std::mem::take(&mut *lock(&self.inbox));
        self.act_and_leave(take, |engine, _| {
            for told in told {
                let ticket = engine.tell(told.entries, self.at(told.at));
                lock(&self.receipts).insert(ticket, told.receipt);
            }
        });
    }

    fn follow_members(&self) {
        let names = self.members.names();
        self.act(|engine, now| engine.members(names, now));
    }

    async fn pass_time(self: Arc<Self>) {
        let mut members = self.members.changes();
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut epochs = 0;
        while !self.stopped.load(Ordering::SeqCst) {
            tokio::select! {
                _ = ticks.tick() => {
                    self.act(|engine, now| engine.tick(now));
                    if self.hlc.epochs() != epochs {
                        epochs = self.hlc.epochs();
                        tracing::error!(
                            epochs,
                            "began a new epoch of the hybrid clock: it was more than ten minutes ahead of the wall clock"
                        );
                    }
                }
                changed = members.changed() => match changed {
                    Ok(()) => self.follow_members(),
                    // The table is gone with the process.
                    Err(_) => return,
                },
            }
        }
    }

    /// Writes what is to be kept, in order, as much as has queued up with one flush; at the end
    /// what is left.
    async fn write(
        self: Arc<Self>,
        journal: Option<Journal>,
        mut writes: mpsc::UnboundedReceiver<Write>,
    ) {
        let Some(journal) = journal else {
            return;
        };
        let mut queued = Vec::new();
        loop {
            let stopping = self.stopping.notified();
            tokio::pin!(stopping);
            // From now on it is not missed.
            stopping.as_mut().enable();
            if self.stopped.load(Ordering::SeqCst) {
                break;
            }
            tokio::select! {
                _ = writes.recv_many(&mut queued, JOURNAL_AT_ONCE) => {}
                () = &mut stopping => break,
            }
            tokio::select! {
                () = tokio::time::sleep(JOURNAL_GATHERS) => {}
                () = &mut stopping => {}
            }
            take(&mut writes, &mut queued, JOURNAL_AT_ONCE);
            self.write_all(&journal, &mut queued).await;
        }
        take(&mut writes, &mut queued, usize::MAX);
        self.write_all(&journal, &mut queued).await;
    }

    async fn write_all(&self, journal: &Journal, queued: &mut Vec<Write>) {
        let (mut keep, mut forget) = (Vec::new(), Vec::new());
        for write in queued.drain(..) {
            match write {
                Write::Keep(batches) => keep.extend(batches),
                Write::Forget(ids) => forget.extend(ids),
            }
        }
        // A batch is forgotten only after it was kept: the deletions come last.
        if !keep.is_empty() {
            while let Err(error) = journal.keep(&keep).await {
                tracing::warn!(%error, "failed to write received gossip to the journal");
                if self.stopped.load(Ordering::SeqCst) {
                    return;
                }
                tokio::time::sleep(JOURNAL_RETRY).await;
            }
            let ids: Vec<BatchId> = keep.iter().map(|s| s.batch().id.clone()).collect();
            self.act(|engine, now| engine.kept(&ids, now));
        }
        if !forget.is_empty()
            && let Err(error) = journal.forget(&forget).await
        {
            // They are read again at the next start, and forgotten again.
            tracing::warn!(%error, "failed to delete obsolete journal entries");
        }
    }
}

/// What else is there already, so many in all.
fn take(writes: &mut mpsc::UnboundedReceiver<Write>, queued: &mut Vec<Write>, most: usize) {
    while queued.len() < most
        && let Ok(write) = writes.try_recv()
    {
        queued.push(write);
    }
}

impl Tell for Spread {
    fn stamp(&self) -> Stamp {
        self.shared.hlc.now(self.shared.clock.now_ms())
    }

    fn tell(&self, entries: Vec<Entry>) -> BoxFuture<'static, Receipt> {
        let (receipt, waits) = oneshot::channel();
        let mut inbox = lock(&self.shared.inbox);
        let is_first = inbox.is_empty();
        inbox.push(Told {
            entries,
            at: Instant::now(),
            receipt,
        });
        drop(inbox);
        if is_first {
            self.shared.queue(Job::Tell);
        }
        let members = self.shared.members.clone();
        Box::pin(async move {
            waits.await.unwrap_or_else(|_| Receipt {
                acknowledged: Vec::new(),
                unreachable: members.names(),
            })
        })
    }
}

impl Hear for Spread {
    fn up(&self, peer: &NodeId) {
        self.shared.act(|engine, now| engine.up(peer, now));
    }

    fn down(&self, peer: &NodeId) {
        self.shared.act(|engine, now| engine.down(peer, now));
    }

    fn received(&self, from: &NodeId, frame: &[u8]) {
        let mut own = None;
        let mut take = |job| match job {
            Job::Verify(signed)
                if own.is_none()
                    && signed.bytes().len() <= VERIFIED_AT_ONCE
                    && self.shared.is_idle() =>
            {
                own = Some(signed);
                None
            }
            Job::Tell | Job::Sign(_) | Job::Verify(_) => Some(job),
        };
        let heard = self
            .shared
            .act_and_leave(&mut take, |engine, now| engine.received(from, frame, now));
        if let Some(signed) = own {
            self.shared.verify(&signed, &mut |job| Some(job));
        }
        if let Err(error) = heard {
            tracing::warn!(peer = %from, %error, "failed to parse a gossip frame");
        }
    }
}
