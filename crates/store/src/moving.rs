//! Moving a store's rows to another engine while they are used.
//!
//! Rows are copied page by page while changes go on. The key of each change is noted when the
//! change is done, and what was noted is copied again, until little is left. All rows are then
//! compared, versions included, and what differs is noted, too. At last changes are held up: those
//! under way complete, the few keys that are noted by now are copied and compared, and the other
//! store takes over. A row was so compared after its last change, or not changed since it was
//! compared.
//!
//! A key is not noted before its change: its row could be copied while the change is under way, and
//! would not be copied again.
//!
//! Versions are copied as they are. Whoever read a row before and replaces it after the switch is
//! answered as if there had been none.
//!
//! One of the two stores counts, whenever a process dies over it. The destination has a row that
//! says that rows are still to come ([`arriving_key`]) from before its first one until the move is
//! done. The store that is left says where its rows went from the moment of the switch on. A
//! process that dies between the two leaves a destination that has everything and does not say so:
//! see [`finish`].
//!
//! This sees the changes of one process only. Where several write a store, the others have to leave
//! first; see [`MovableStore::move_to`] for who makes sure of that.
use crate::{Change, Key, Outcome, Row, Store, StoreError, StoreFuture, Table};
use futures_util::future::try_join_all;
use signet_surroundings::{now as moment, timeout};
use signet_telemetry::{metrics::counted, trace};
use std::{
    collections::HashSet,
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

/// Rows that are read, written and compared at once.
const PAGE: usize = 250;

/// Noted keys that are few enough to copy and compare while changes wait.
const FEW: usize = 200;

/// Most keys that are changed while a store is copied, between two rounds in which they are copied
/// again
const MAX_CHANGED: usize = 1048576;

/// How long changes wait for a switch; one that takes longer is given up, and tried again later.
const HOLD: Duration = Duration::from_millis(800);

/// How often a switch is tried.
const SWITCHES: u32 = 10;

/// Rounds in which what was changed meanwhile is copied: each should be shorter than the last.
const ROUNDS: u32 = 50;

/// Where a store says that its rows are another store's now: which one.
pub fn moved_key() -> Key {
    Key::new(Table::Setting, "store.moved")
}

/// Where a store says that rows of another one are still to come.
pub fn arriving_key() -> Key {
    Key::new(Table::Setting, "store.arriving")
}

/// The destination holds all there is.
async fn arrived(to: &dyn Destination, now: u64) -> Result<(), StoreError> {
    to.restore(vec![(arriving_key(), None)], now).await
}

/// Ends a move whose process died after the switch, before the destination said so. Nobody else may
/// use the two.
///
/// # Errors
/// [`MoveError::NotMoved`]: there was no switch, and the first one counts.
pub async fn finish(from: &dyn Store, to: &dyn Destination, now: u64) -> Result<(), MoveError> {
    match from.get(&moved_key(), now).await? {
        Some(_) => Ok(arrived(to, now).await?),
        None => Err(MoveError::NotMoved),
    }
}

/// A store that takes rows as another one had them.
pub trait Destination: Store {
    /// Writes each row as it is, its version included, or removes what is at the key. Durable
    /// before it answers, and all or nothing.
    fn restore(&self, rows: Vec<(Key, Option<Row>)>, now: u64) -> StoreFuture<'_, ()>;

    /// The same store, as its users see it.
    fn as_store(self: Arc<Self>) -> Arc<dyn Store>;
}

/// What [`Seal::seal`] returns.
pub type SealFuture<'a> = Pin<Box<dyn Future<Output = Result<(), MoveError>> + Send + 'a>>;

/// Who decides that a switch is done.
pub trait Seal: Send + Sync {
    /// Makes sure that nobody else changes the store that is left, and has it say where its rows
    /// went. Where it fails the store goes on as before.
    fn seal<'a>(&'a self, left: &'a dyn Store) -> SealFuture<'a>;
}

/// Why rows were not moved. The store that there was goes on.
#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    /// One of the stores failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The destination has rows.
    #[error("the destination has rows already; nothing was copied")]
    NotEmpty,
    /// A move was begun, and never came to its switch.
    #[error(
        "the rows were not moved: the store that they were read from goes on, and the other one is of no use"
    )]
    NotMoved,
    /// Another move is under way.
    #[error("the store is being moved already")]
    Moving,
    /// What was written is not what is there.
    #[error("a row of {0:?} is not in the destination as it was read")]
    Differs(Table),
    /// More was changed than could be followed.
    #[error("changes come faster than they can be copied; nothing was switched")]
    Busy,
    /// The caller of the move had a reason.
    #[error("{0}")]
    Refused(String),
}

/// What a move is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// All rows are copied.
    Copying,
    /// What was changed meanwhile is copied again.
    Following,
    /// All rows are compared.
    Comparing,
    /// Changes wait.
    Switching,
}

/// How far it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MoveProgress {
    /// what it does
    pub phase: Phase,
    /// rows that were copied or compared
    pub done: u64,
    /// how many that will be
    pub total: u64,
}

/// How it went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moved {
    /// rows that were copied and compared
    pub rows: u64,
    /// keys that were changed meanwhile, and copied again
    pub changed: u64,
    /// for how long changes waited
    pub held: Duration,
    /// how often a switch was begun
    pub switches: u32,
    /// Whether the new store says that it has everything. Where that could not be written there,
    /// [`finish`] has to be called before it is opened again.
    pub is_told: bool,
}

/// A store that can be exchanged for another one that has the same rows.
pub struct MovableStore {
    current: RwLock<Arc<dyn Store>>,
    /// Held by each change for as long as it is under way, and by the switch.
    gate: tokio::sync::RwLock<()>,
    /// Keys that are changed while a copy is made.
    changed: Mutex<Changed>,
    following: AtomicBool,
    moving: AtomicBool,
    /// Stores that had the rows before: open, for what they hold beside them.
    retired: Mutex<Vec<Arc<dyn Store>>>,
}

#[derive(Default)]
struct Changed {
    keys: HashSet<Key>,
    /// There were too many.
    overflown: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind these locks is whole after each statement.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ops(change: &Change) -> impl Iterator<Item = &Key> {
    std::iter::once(change.first.key()).chain(change.then.iter().map(|op| op.key()))
}

/// A change that is under way: no switch happens meanwhile. What it may have changed is noted when
/// it is answered, or given up by its caller.
struct UnderWay<'a> {
    store: &'a MovableStore,
    keys: Vec<Key>,
    _open: tokio::sync::RwLockReadGuard<'a, ()>,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        // The gate is held until the fields are dropped, which is after this.
        self.store.note(std::mem::take(&mut self.keys));
    }
}

/// Ends what a move began, however it ends.
struct Moving<'a>(&'a MovableStore);

impl Drop for Moving<'_> {
    fn drop(&mut self) {
        self.0.following.store(false, SeqCst);
        *lock(&self.0.changed) = Changed::default();
        self.0.moving.store(false, SeqCst);
    }
}

/// Every row of a table, page by page, as of one time.
struct Pages<'a> {
    store: &'a dyn Store,
    table: Table,
    after: Option<Key>,
    ended: bool,
    now: u64,
}

impl<'a> Pages<'a> {
    fn of(store: &'a dyn Store, table: Table, now: u64) -> Pages<'a> {
        Pages {
            store,
            table,
            after: None,
            ended: false,
            now,
        }
    }

    /// Empty after the last.
    async fn next(&mut self) -> Result<Vec<(Key, Row)>, StoreError> {
        if self.ended {
            return Ok(Vec::new());
        }
        let after = self.after.as_ref();
        let page = self.store.page(self.table, after, PAGE, self.now).await?;
        self.ended = page.len() < PAGE;
        if let Some((last, _)) = page.last() {
            self.after = Some(last.clone());
        }
        Ok(page)
    }
}

/// The keys at which two stores differ, in one table. Both pages begin behind the same key, and the
/// one that reaches less far is read on first.
async fn differing(
    one: &dyn Store,
    other: &dyn Store,
    table: Table,
    now: u64,
    told: &mut (dyn FnMut(u64) + Send),
) -> Result<Vec<Key>, StoreError> {
    let (mut ones, mut others) = (Pages::of(one, table, now), Pages::of(other, table, now));
    let (mut left, mut right) = (Vec::new().into_iter(), Vec::new().into_iter());
    let (mut a, mut b) = (None::<(Key, Row)>, None::<(Key, Row)>);
    let mut differ = Vec::new();
    loop {
        if a.is_none() {
            a = left.next();
            if a.is_none() {
                left = ones.next().await?.into_iter();
                told(left.len() as u64);
                a = left.next();
            }
        }
        if b.is_none() {
            b = right.next();
            if b.is_none() {
                right = others.next().await?.into_iter();
                b = right.next();
            }
        }
        let order = match (&a, &b) {
            (None, None) => return Ok(differ),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some((key, _)), Some((theirs, _))) => key.cmp(theirs),
        };
        match order {
            std::cmp::Ordering::Less => differ.extend(a.take().map(|(key, _)| key)),
            std::cmp::Ordering::Greater => {
                let key = b.take().map(|(key, _)| key);
                differ.extend(key.filter(|key| *key != arriving_key()));
            }
            std::cmp::Ordering::Equal => {
                if let (Some((key, row)), Some((_, theirs))) = (a.take(), b.take())
                    && row != theirs
                {
                    differ.push(key);
                }
            }
        }
    }
}

/// What is at some keys. All are asked for at once: an engine answers them by one statement.
async fn all(
    store: &(impl Store + ?Sized),
    keys: &[Key],
    now: u64,
) -> Result<Vec<Option<Row>>, StoreError> {
    let mut reads = Vec::with_capacity(keys.len());
    for key in keys {
        reads.push(store.get(key, now));
    }
    try_join_all(reads).await
}

/// Copies what is at some keys now, and reads it back.
async fn copy_keys(
    from: &dyn Store,
    to: &dyn Destination,
    keys: &[Key],
    now: u64,
) -> Result<(), MoveError> {
    for some in keys.chunks(PAGE) {
        let read = all(from, some, now).await?;
        let rows = some.iter().cloned().zip(read).collect::<Vec<_>>();
        to.restore(rows.clone(), now).await?;
        let copies = all(to, some, now).await?;
        for ((key, row), copy) in rows.into_iter().zip(copies) {
            if copy != row {
                return Err(MoveError::Differs(key.table));
            }
        }
    }
    Ok(())
}

/// Copies every row of one store, which nobody changes meanwhile, into an empty one, and compares
/// them. The number of rows.
///
/// # Errors
/// See [`MoveError`].
pub async fn copy(
    from: &dyn Store,
    to: &dyn Destination,
    now: u64,
    told: &mut (dyn FnMut(MoveProgress) + Send),
) -> Result<u64, MoveError> {
    let total = copy_all(from, to, now, told).await?;
    let mut done = total;
    for table in Table::ALL {
        let phase = Phase::Comparing;
        let mut count = |rows| {
            done += rows;
            let total = 2 * total;
            told(MoveProgress { phase, done, total });
        };
        let differ = differing(from, to, *table, now, &mut count).await?;
        if !differ.is_empty() {
            return Err(MoveError::Differs(*table));
        }
    }
    arrived(to, now).await?;
    Ok(total)
}

/// The number of rows. Half of the work, where they are compared afterwards.
async fn copy_all(
    from: &dyn Store,
    to: &dyn Destination,
    now: u64,
    told: &mut (dyn FnMut(MoveProgress) + Send),
) -> Result<u64, MoveError> {
    let mut total = 0;
    for table in Table::ALL {
        // Ended ones count, too: what is there is not ours to mix with.
        if !to.page(*table, None, 1, 0).await?.is_empty() {
            return Err(MoveError::NotEmpty);
        }
        let mut pages = Pages::of(from, *table, now);
        loop {
            match pages.next().await?.len() as u64 {
                0 => break,
                rows => total += rows,
            }
        }
    }
    let row = Row {
        value: Vec::new(),
        version: 1,
        end: None,
    };
    to.restore(vec![(arriving_key(), Some(row))], now).await?;
    let (mut done, phase) = (0, Phase::Copying);
    for table in Table::ALL {
        let mut pages = Pages::of(from, *table, now);
        loop {
            let page = pages.next().await?;
            if page.is_empty() {
                break;
            }
            done += page.len() as u64;
            let rows = page.into_iter().map(|(key, row)| (key, Some(row)));
            to.restore(rows.collect(), now).await?;
            // Rows that came after they were counted are copied, too.
            let total = (2 * total).max(done);
            told(MoveProgress { phase, done, total });
        }
    }
    Ok(done)
}

impl MovableStore {
    /// Over a store that is open. From here on it is written to through this one alone.
    pub fn new(store: Arc<dyn Store>) -> MovableStore {
        MovableStore {
            current: RwLock::new(store),
            gate: tokio::sync::RwLock::default(),
            changed: Mutex::default(),
            following: AtomicBool::new(false),
            moving: AtomicBool::new(false),
            retired: Mutex::default(),
        }
    }

    /// The store that has the rows now.
    pub fn current(&self) -> Arc<dyn Store> {
        let current = self.current.read();
        current.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Begins a change of these keys. One that begins before a move does is waited for by it, so
    /// only those that begin later are noted.
    async fn begin<'a>(&self, keys: impl Iterator<Item = &'a Key>) -> UnderWay<'_> {
        let open = self.gate.read().await;
        let keys = match self.following.load(SeqCst) {
            true => keys.cloned().collect(),
            false => Vec::new(),
        };
        UnderWay {
            store: self,
            keys,
            _open: open,
        }
    }

    fn note(&self, keys: Vec<Key>) {
        if keys.is_empty() || !self.following.load(SeqCst) {
            return;
        }
        let mut changed = lock(&self.changed);
        if changed.keys.len() > MAX_CHANGED {
            changed.overflown = true;
        }
        if !changed.overflown {
            changed.keys.extend(keys);
        }
    }

    fn noted(&self) -> Result<Vec<Key>, MoveError> {
        let changed = std::mem::take(&mut *lock(&self.changed));
        match changed.overflown {
            true => Err(MoveError::Busy),
            false => Ok(changed.keys.into_iter().collect()),
        }
    }

    /// Copies what was changed, until little is left to copy; how much that was.
    async fn follow(
        &self,
        from: &dyn Store,
        to: &dyn Destination,
        now: &(dyn Fn() -> u64 + Send + Sync),
    ) -> Result<u64, MoveError> {
        let mut copied = 0;
        for _ in 0..ROUNDS {
            if lock(&self.changed).keys.len() <= FEW {
                return Ok(copied);
            }
            let keys = self.noted()?;
            copied += keys.len() as u64;
            copy_keys(from, to, &keys, now()).await?;
        }
        Err(MoveError::Busy)
    }

    /// Moves the rows, and goes on over the other store. `seal` is called while changes wait and
    /// all rows are there. Once it returns well, the switch is done.
    ///
    /// # Errors
    /// See [`MoveError`]: then this store goes on as before, and what was copied is of no use.
    pub async fn move_to(
        &self,
        to: Arc<dyn Destination>,
        now: &(dyn Fn() -> u64 + Send + Sync),
        told: &mut (dyn FnMut(MoveProgress) + Send),
        seal: &dyn Seal,
    ) -> Result<Moved, MoveError> {
        if self.moving.swap(true, SeqCst) {
            return Err(MoveError::Moving);
        }
        let _moving = Moving(self);
        self.following.store(true, SeqCst);
        // What began before is over now, and what begins from here on is noted.
        drop(self.gate.write().await);
        let from = self.current();
        let rows = copy_all(&*from, &*to, now(), told).await?;
        let total = 2 * rows;
        let following = MoveProgress {
            phase: Phase::Following,
            done: rows,
            total,
        };
        told(following);
        let mut changed = self.follow(&*from, &*to, now).await?;
        let mut done = rows;
        for table in Table::ALL {
            let phase = Phase::Comparing;
            let mut count = |rows| {
                done += rows;
                let total = total.max(done);
                told(MoveProgress { phase, done, total });
            };
            let differ = differing(&*from, &*to, *table, now(), &mut count).await?;
            // Changed between the two reads, or a row that was not copied right: it is copied
            // again and compared.
            lock(&self.changed).keys.extend(differ);
        }
        let phase = Phase::Switching;
        for switches in 1..=SWITCHES {
            changed += self.follow(&*from, &*to, now).await?;
            let total = done;
            told(MoveProgress { phase, done, total });
            let begun = moment();
            let Ok(held) = timeout(HOLD, self.gate.write()).await else {
                continue;
            };
            let keys = self.noted()?;
            let left = HOLD.saturating_sub(moment().saturating_duration_since(begun));
            let last = timeout(left, copy_keys(&*from, &*to, &keys, now())).await;
            let Ok(last) = last else {
                lock(&self.changed).keys.extend(keys);
                continue;
            };
            last?;
            seal.seal(&*from).await?;
            {
                let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
                let next = to.clone().as_store();
                lock(&self.retired).push(std::mem::replace(&mut *current, next));
            }
            drop(held);
            let held = moment().saturating_duration_since(begun);
            return Ok(Moved {
                rows,
                changed: changed + keys.len() as u64,
                held,
                switches,
                is_told: arrived(&*to, now()).await.is_ok(),
            });
        }
        Err(MoveError::Busy)
    }
}

impl Store for MovableStore {
    fn get<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>> {
        Box::pin(async move {
            let current = self.current();
            trace::step("read row", current.get(key, now).as_mut()).await
        })
    }

    fn commit(&self, change: Change, now: u64) -> StoreFuture<'_, Outcome> {
        Box::pin(async move {
            let begun = std::time::Instant::now();
            let _under_way = self.begin(ops(&change)).await;
            let current = self.current();
            let outcome = trace::step("commit", current.commit(change, now).as_mut()).await;
            counted::STORE_COMMIT.took(begun.elapsed());
            outcome
        })
    }

    fn commit_each(&self, changes: Vec<Change>, now: u64) -> StoreFuture<'_, Vec<Outcome>> {
        Box::pin(async move {
            let begun = std::time::Instant::now();
            let _under_way = self.begin(changes.iter().flat_map(ops)).await;
            let current = self.current();
            let outcomes = trace::step("commit", current.commit_each(changes, now).as_mut()).await;
            counted::STORE_COMMIT.took(begun.elapsed());
            outcomes
        })
    }

    fn take<'a>(&'a self, key: &'a Key, now: u64) -> StoreFuture<'a, Option<Row>> {
        Box::pin(async move {
            let _under_way = self.begin(std::iter::once(key)).await;
            let current = self.current();
            trace::step("commit", current.take(key, now).as_mut()).await
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
            let current = self.current();
            let mut rows = current.partition(table, partition, after, limit, now);
            trace::step("read rows", rows.as_mut()).await
        })
    }

    fn page<'a>(
        &'a self,
        table: Table,
        after: Option<&'a Key>,
        limit: usize,
        now: u64,
    ) -> StoreFuture<'a, Vec<(Key, Row)>> {
        Box::pin(async move { self.current().page(table, after, limit, now).await })
    }

    // Removes only what does not exist any more: nothing of it is to be copied.
    fn sweep(&self, now: u64, limit: usize) -> StoreFuture<'_, usize> {
        Box::pin(async move { self.current().sweep(now, limit).await })
    }

    fn check(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move { self.current().check().await })
    }

    fn is_full(&self) -> bool {
        self.current().is_full()
    }

    fn bytes(&self) -> StoreFuture<'_, Option<u64>> {
        Box::pin(async move { self.current().bytes().await })
    }

    fn write_while(&self, key: Key, value: Vec<u8>) {
        self.current().write_while(key, value);
    }

    fn close(&self) {
        self.current().close();
        for store in lock(&self.retired).drain(..) {
            store.close();
        }
    }
}
