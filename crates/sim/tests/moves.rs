//! A store's rows move to another disk while they are used, and the process may end over it.
//!
//! A world is one process with two disks. Its callers use single-use values over the store that
//! moves; the process crashes at any moment, which takes what neither disk has flushed. After each
//! crash an operator does what the server says: the store of the configuration says that its rows
//! were moved, then the other one is set; that one says that rows are still to come, then
//! `signet store finish` decides. Exactly one of the two counts, and what was answered is in it.
use crate::{
    clients::{Clients, Counts},
    disk::Disk,
    executor::{Clock, NOBODY},
    planted::Planted,
    random::Random,
    runs::{each_seed, is_found_by},
    world::{World, lock},
};
use signet_node::{leave, left_or_arriving};
use signet_store::{
    Destination, Key, MovableStore, MoveError, MoveProgress, Row, Seal, SealFuture, SqliteStore,
    Store, Table, finish_move,
};
use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

const RUNS: u64 = 60;

/// Where the rows go to, as the settings call it.
const TO: &str = "sqlite:other";

/// The result of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Outcome {
    counts: Counts,
    moved: u64,
    crashed: u64,
    trace: u64,
}

/// The process of a world, over one of its disks or both.
struct Process {
    store: Arc<MovableStore>,
    group: u64,
    disks: Vec<Arc<Disk>>,
}

/// One process at a time.
pub(crate) struct Mover {
    world: Arc<World>,
    planted: Planted,
    random: Random,
    process: Mutex<Option<Process>>,
    /// The directory of the store that the configuration names, and of the other one.
    from: Mutex<PathBuf>,
    to: Mutex<Option<PathBuf>>,
    lives: AtomicU64,
}

/// Decides as the server does; the planted fault decides nothing.
struct Decides<'a>(&'a Mover);

impl Seal for Decides<'_> {
    fn seal<'a>(&'a self, left: &'a dyn Store) -> SealFuture<'a> {
        Box::pin(async move {
            if self.0.planted == Planted::TwoStores {
                return Ok(());
            }
            let now = self.0.world.unix(1);
            // A directory is one process's: nobody else uses the store.
            leave(left, TO, now, async || Ok(())).await
        })
    }
}

impl Mover {
    pub(crate) fn new(world: &Arc<World>, random: &Random, planted: Planted) -> Arc<Mover> {
        Arc::new(Mover {
            world: world.clone(),
            planted,
            random: random.fork(),
            process: Mutex::default(),
            from: Mutex::new(world.fresh(1)),
            to: Mutex::default(),
            lives: AtomicU64::new(1_000),
        })
    }

    pub(crate) fn store(&self) -> Option<(Arc<dyn Store>, u64)> {
        let process = lock(&self.process);
        let process = process.as_ref()?;
        let store: Arc<dyn Store> = process.store.clone();
        Some((store, process.group))
    }

    /// A store on a disk, in a life of the process.
    fn open(&self, directory: PathBuf, group: u64) -> (Arc<Disk>, Arc<SqliteStore>) {
        let (disk, store, driver) = Disk::open(directory, &self.world.clock, &self.random);
        let driving = disk.clone().drive(driver);
        self.world.clock.spawn_in(group, Box::pin(driving));
        (disk, Arc::new(store))
    }

    /// The same for a question, by a process of its own.
    async fn look<T: Send + 'static>(
        &self,
        ask: impl AsyncFnOnce(Vec<Arc<SqliteStore>>) -> T + Send + 'static,
        directories: Vec<PathBuf>,
    ) -> T {
        let group = self.lives.fetch_add(1, Relaxed);
        let opened: Vec<_> = directories
            .into_iter()
            .map(|directory| self.open(directory, group).1)
            .collect();
        let answer = ask(opened.clone()).await;
        self.world.clock.kill(group);
        // Its tasks are gone before the directory is another one's.
        self.world.clock.sleep_us(1).await;
        for store in opened {
            store.close();
        }
        answer
    }

    /// Starts the process over the store that counts. What cannot be started is an error.
    async fn start(self: &Arc<Self>) -> Result<(), String> {
        let now = self.world.unix(1);
        let says = async |directory: PathBuf| {
            let asked = async move |stores: Vec<Arc<SqliteStore>>| {
                let said = left_or_arriving(&*stores[0], now).await;
                said.expect("a disk that is well answers")
            };
            self.look(asked, vec![directory]).await
        };
        let (from, to) = (lock(&self.from).clone(), lock(&self.to).clone());
        if let Some(why) = says(from.clone()).await {
            // What it names is set from now on.
            let to = to.ok_or("the rows were moved to where nothing is")?;
            assert!(why.contains(TO), "{why}");
            if says(to.clone()).await.is_some() {
                let finished = async move |stores: Vec<Arc<SqliteStore>>| {
                    let (from, to) = (stores[0].clone(), stores[1].clone());
                    finish_move(&*from, &*to, now).await
                };
                let finished = self.look(finished, vec![from, to.clone()]).await;
                finished.map_err(|e| format!("neither store counts: {e}"))?;
            }
            if let Some(why) = says(to.clone()).await {
                return Err(format!("neither store counts: {why}"));
            }
            *lock(&self.from) = to;
            *lock(&self.to) = None;
        } else if let Some(to) = to {
            // The first one goes on. Then the other one must not: it is emptied before the next
            // move, and until then a start with it is refused.
            let begun = to.join(signet_store::sqlite::DATABASE_FILE).exists();
            let asked = async move |stores: Vec<Arc<SqliteStore>>| {
                let any = rows(&*stores[0]).await;
                let said = left_or_arriving(&*stores[0], now).await;
                (any, said.expect("a disk that is well answers"))
            };
            if begun {
                let (rows, said) = self.look(asked, vec![to]).await;
                if !rows.is_empty() && said.is_none() {
                    return Err("both stores count".to_owned());
                }
            }
            *lock(&self.to) = None;
        }
        let directory = lock(&self.from).clone();
        let group = self.lives.fetch_add(1, Relaxed);
        let (disk, store) = self.open(directory, group);
        let process = Process {
            store: Arc::new(MovableStore::new(store)),
            group,
            disks: vec![disk],
        };
        *lock(&self.process) = Some(process);
        Ok(())
    }

    /// Moves the rows to a new disk; whether they were.
    async fn move_rows(self: Arc<Self>) -> bool {
        let (store, group) = {
            let process = lock(&self.process);
            let Some(process) = process.as_ref() else {
                return false;
            };
            (process.store.clone(), process.group)
        };
        let directory = self.world.fresh(2);
        std::fs::create_dir(&directory).expect("makes");
        *lock(&self.to) = Some(directory.clone());
        let (disk, to) = self.open(directory, group);
        if let Some(process) = &mut *lock(&self.process) {
            process.disks.push(disk);
        }
        let mover = self.clone();
        let moving = async move {
            let now = || mover.world.unix(1);
            let told = &mut |progress: MoveProgress| {
                let step = progress.phase as u64;
                mover
                    .world
                    .trace
                    .note(&[mover.world.clock.now_us(), 11, step]);
            };
            let to: Arc<dyn Destination> = to;
            store.move_to(to, &now, told, &Decides(&mover)).await
        };
        match self.world.clock.within(group, moving).await {
            Some(Ok(moved)) => moved.is_told,
            Some(Err(MoveError::Store(_) | MoveError::Busy)) | None => false,
            Some(Err(error)) => panic!("{error}"),
        }
    }

    /// The process ends in the middle of whatever it does.
    fn crash(&self) {
        let Some(process) = lock(&self.process).take() else {
            return;
        };
        for (place, disk) in process.disks.iter().enumerate() {
            let left = self.world.fresh(1 + place as u64);
            disk.crash(&left);
            match place {
                0 => *lock(&self.from) = left,
                _ => *lock(&self.to) = Some(left),
            }
        }
        self.world.clock.kill(process.group);
    }
}

async fn rows(store: &dyn Store) -> Vec<(Key, Row)> {
    let mut all = Vec::new();
    for table in Table::ALL {
        let page = store.page(*table, None, 500, 0).await;
        all.extend(page.expect("a disk that is well answers"));
    }
    all
}

fn run(seed: u64, planted: Planted) -> Result<Outcome, String> {
    let clock = Clock::default();
    let inner = clock.clone();
    clock.run(async move { live(inner, seed, planted).await })
}

async fn live(clock: Clock, seed: u64, planted: Planted) -> Result<Outcome, String> {
    let random = Random::new(seed ^ 0x6d6f_7665);
    let world = World::new(&clock, seed);
    let mover = Mover::new(&world, &random, planted);
    mover.start().await?;
    let clients = Clients::of_process(&world, &mover, planted);
    let until_us = clock.now_us() + random.between(2_000_000, 5_000_000);
    let mut calls = Vec::new();
    for _ in 0..random.between(3, 6) {
        let call = clients.clone().call(random.fork(), until_us, 60_000);
        calls.push(clock.within(NOBODY, call));
    }
    let (mut moved, mut crashed) = (0, 0);
    while clock.now_us() < until_us {
        clock.sleep_us(random.below(500_000)).await;
        let slow = random.permille(300);
        for disk in lock(&mover.process)
            .iter()
            .flat_map(|process| &process.disks)
        {
            disk.slow_down(if slow { 100_000 } else { 0 });
        }
        let moving = clock.within(NOBODY, mover.clone().move_rows());
        if random.permille(750) {
            // At any moment of it, and soon after.
            let scale = *random.one_of(&[5_000, 50_000, 500_000]);
            clock.sleep_us(random.below(scale)).await;
            crashed += 1;
            mover.crash();
            moved += u64::from(moving.await.expect("nobody ends it"));
        } else {
            moved += u64::from(moving.await.expect("nobody ends it"));
            // A process moves its store once; what it goes on with is kept by the next one.
            clock.sleep_us(random.below(300_000)).await;
            mover.crash();
        }
        clock.sleep_us(random.below(100_000)).await;
        mover.start().await?;
    }
    for call in calls {
        call.await.expect("nobody ends it");
    }
    clients.ask_all_again(&random).await;
    Ok(Outcome {
        counts: clients.judge()?,
        moved,
        crashed,
        trace: world.trace.value(),
    })
}

#[test]
fn a_move_that_ends_at_any_moment_leaves_one_store_that_counts_with_all_that_was_answered() {
    let [done, moved, crashed] = [const { AtomicU64::new(0) }; 3];
    let runs = each_seed("moves", RUNS, |seed| {
        let outcome = run(seed, Planted::Nothing).expect("what an operator and callers saw");
        done.fetch_add(outcome.counts.done, Relaxed);
        moved.fetch_add(outcome.moved, Relaxed);
        crashed.fetch_add(outcome.crashed, Relaxed);
        format!("{outcome:?}")
    });
    let [done, moved, crashed] = [done, moved, crashed].map(AtomicU64::into_inner);
    eprintln!("{done} calls done, {moved} moved, {crashed} crashed");
    let Some(runs) = runs else {
        return;
    };
    // Worlds in which nothing moves show nothing.
    assert!(done > runs * 5 && moved > runs && crashed > runs);
}

#[test]
fn a_seed_is_a_run_of_moves() {
    for seed in 0..4 {
        let first = run(seed, Planted::Nothing).expect("what an operator and callers saw");
        assert_eq!(run(seed, Planted::Nothing), Ok(first), "seed {seed}");
    }
}

#[test]
fn a_store_that_is_left_and_does_not_say_so_is_found() {
    is_found_by("moves", 20, |seed| run(seed, Planted::TwoStores).map(drop));
}
