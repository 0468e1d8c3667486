//! A node's disk: the engine's real file, written at the moments that the simulation says.
//!
//! A crash leaves the file as it was at some moment since the last flush: the write-ahead log up to
//! the end of one of its transactions, and a piece of the next one.
use crate::{executor::Clock, random::Random};
use signet_registry::keys::SEALING_FILE;
use signet_store::{
    SqliteStore,
    sqlite::{DATABASE_FILE, Driver, LOCK_FILE, Options, Surroundings, ends_of_transactions},
};
use std::{
    path::{Path, PathBuf},
    sync::{Arc, LazyLock, Mutex},
    time::{Duration, Instant},
};

static BEGINNING: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Bytes of a log that the engine has begun to fold into its file: 2048 pages and their heads.
const FOLDED: u64 = 2048 * (4096 + 24);

#[derive(Default)]
struct State {
    /// A flush takes so long more, in microseconds, at most.
    slow_us: u64,
    /// Pages of 4 KiB that there is still room for.
    room: Option<u64>,
    room_changed: bool,
    /// Transactions since the last flush.
    unflushed: u64,
    /// It says that it flushed, and did not: no disk that Signet promises anything for.
    lies: bool,
}

pub(crate) struct Disk {
    directory: PathBuf,
    clock: Clock,
    random: Random,
    state: Mutex<State>,
}

/// The folder of what is a node's own, in the directory of its store.
const OWN: &str = "cluster";

/// Copies what a node keeps beside its store. Its journal of announcements is not among that: no
/// simulated node has one.
fn copy_all(from: &Path, to: &Path) {
    if from.is_file() {
        std::fs::copy(from, to).expect("copies");
    }
    let Ok(entries) = std::fs::read_dir(from) else {
        return;
    };
    std::fs::create_dir(to).expect("makes");
    for entry in entries {
        let name = entry.expect("reads").file_name();
        copy_all(&from.join(&name), &to.join(&name));
    }
}

fn log_of(directory: &Path) -> PathBuf {
    directory.join(format!("{DATABASE_FILE}-wal"))
}

impl Disk {
    /// Opens the store on a disk, with who writes it.
    pub(crate) fn open(
        directory: PathBuf,
        clock: &Clock,
        random: &Random,
    ) -> (Arc<Disk>, SqliteStore, Driver) {
        let disk = Arc::new(Disk {
            directory,
            clock: clock.clone(),
            random: random.fork(),
            state: Mutex::default(),
        });
        let (now, free) = (clock.clone(), disk.clone());
        let surroundings = Surroundings {
            now: Box::new(move || *BEGINNING + Duration::from_micros(now.now_us())),
            free: Box::new(move || free.lock().room.map_or(1 << 40, |pages| pages * 4096)),
        };
        let opened = SqliteStore::open_driven(&disk.directory, Options::default(), surroundings);
        let (store, driver) = opened.expect("a disk that is not full opens");
        (disk, store, driver)
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics with it")
    }

    pub(crate) fn slow_down(&self, slow_us: u64) {
        self.lock().slow_us = slow_us;
    }

    pub(crate) fn fill(&self, room: Option<u64>) {
        let mut state = self.lock();
        (state.room, state.room_changed) = (room, true);
    }

    pub(crate) fn is_well(&self) -> bool {
        let state = self.lock();
        state.slow_us == 0 && state.room.is_none()
    }

    pub(crate) fn lie(&self) {
        self.lock().lies = true;
    }

    /// Writes what is queued, for as long as the node lives.
    pub(crate) async fn drive(self: Arc<Disk>, mut driver: Driver) {
        let told = driver.told();
        let mut due = None;
        loop {
            driver.read();
            let room = {
                let mut state = self.lock();
                std::mem::take(&mut state.room_changed).then_some(state.room)
            };
            if let Some(room) = room {
                driver.limit(room).expect("the file is read");
            }
            if driver.has_changes() {
                let now = self.clock.now_us();
                let slow_us = self.lock().slow_us;
                let at = *due.get_or_insert_with(|| {
                    let slow = if slow_us > 0 {
                        self.random.below(slow_us)
                    } else {
                        0
                    };
                    now + self.random.between(50, 2_000) + slow
                });
                if now >= at {
                    due = None;
                    let committed = driver.commit();
                    // A log of that size was folded into the file, and flushed before that.
                    let log = std::fs::metadata(log_of(&self.directory));
                    let folded = log.is_ok_and(|log| log.len() >= FOLDED);
                    let mut state = self.lock();
                    if folded || committed.done && committed.flushed && !state.lies {
                        state.unflushed = 0;
                    } else if committed.done {
                        state.unflushed += 1;
                    }
                    continue;
                }
            }
            match due {
                Some(at) => tokio::select! {
                    biased;
                    () = told.notified() => {}
                    () = self.clock.sleep_until(at) => {}
                },
                None => told.notified().await,
            }
        }
    }

    /// What a crash in this moment leaves behind, in another directory.
    pub(crate) fn crash(&self, to: &Path) {
        std::fs::create_dir(to).expect("makes");
        for file in [DATABASE_FILE, LOCK_FILE] {
            std::fs::copy(self.directory.join(file), to.join(file)).expect("copies");
        }
        // Files of the node's own are written whole, flushed and put in place before anything else
        // happens: a crash leaves them as they are.
        copy_all(&self.directory.join(SEALING_FILE), &to.join(SEALING_FILE));
        copy_all(&self.directory.join(OWN), &to.join(OWN));
        let log = std::fs::read(log_of(&self.directory)).unwrap_or_default();
        let ends = ends_of_transactions(&log);
        let may_go = ends.len().min(self.lock().unflushed as usize);
        let gone = self.random.below(may_go as u64 + 1) as usize;
        let kept = ends.len() - gone;
        let end = if kept > 0 {
            ends[kept - 1]
        } else {
            log.len().min(32)
        };
        // Less than a page: never a whole transaction.
        let torn = self.random.below(4_000) as usize;
        let end = if gone > 0 { end + torn } else { log.len() };
        std::fs::write(log_of(to), &log[..end.min(log.len())]).expect("writes");
    }
}
