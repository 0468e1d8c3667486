//! Passwords: Argon2id on a few threads of its own, with a bounded queue.
//!
//! A hash takes tens of milliseconds and 19 MiB. On the runtimes' threads it would hold up every
//! other request; on unbounded threads a flood of logins would take all memory. Beyond the queue
//! the answer is "later" (503).
//!
//! An unknown user, a user without a password and a wrong password cost the same: where there is
//! nothing to compare with, a stand-in of the same cost is hashed (known fault A22).
//!
//! Any sender of requests can fill the queue. So browsers that an account's owner has logged in
//! from wait in a line of their own, and the threads take from both in turn: a flood of guesses
//! makes neither wait for more than its own.
//!
//! Each realm of a process has lines of its own ([`PasswordPool::lines_of_their_own`]), and the
//! threads take one job of each realm in turn: a flood in one makes the others wait for one hash
//! more, however many wait there.

use std::collections::{BTreeMap, VecDeque};
use std::pin::pin;
use std::sync::{
    Arc, Condvar, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use signet_crypto::password::{Cost, MAX_PASSWORD_BYTES};
use signet_crypto::{Secret, foreign};
use signet_telemetry::trace;
use tokio::sync::oneshot;

type Job = Box<dyn FnOnce() + Send>;

/// From the configuration; fixed for the life of the process.
#[derive(Clone, Debug)]
pub struct PasswordOptions {
    /// What a hash costs.
    pub cost: Cost,
    /// Threads that hash at once.
    pub threads: usize,
    /// Logins that may wait for a thread; beyond that the answer is 503 with `Retry-After`. Known
    /// browsers have a quarter as many places beside these.
    pub queue: usize,
}

impl Default for PasswordOptions {
    /// Argon2id as OWASP advises, on half of the cores.
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        PasswordOptions {
            cost: Cost::default(),
            threads: cores.div_ceil(2),
            queue: 64,
        }
    }
}

/// Who waits for a password to be hashed or compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiter {
    /// Somebody who has been there: a browser that the account's owner has logged in from, a
    /// session, a mailed link.
    Known,
    /// Anybody.
    Anyone,
    /// Nobody: it is done if nothing else waits, or not at all.
    Spare,
}

/// How many times the places of one realm all realms have together. Beyond, a realm has a place
/// where nothing of it waits.
const MAX_FULL_REALMS: usize = 16;

/// What waits for a thread, of one realm.
#[derive(Default)]
struct OfRealm {
    known: VecDeque<Job>,
    anyone: VecDeque<Job>,
    /// Whose turn it is where both wait.
    known_next: bool,
}

impl OfRealm {
    /// The next job: from both lines in turn.
    fn next(&mut self) -> Option<Job> {
        let (first, second) = match self.known_next {
            true => (&mut self.known, &mut self.anyone),
            false => (&mut self.anyone, &mut self.known),
        };
        let next = first.pop_front().or_else(|| second.pop_front());
        self.known_next = !self.known_next;
        next
    }

    fn is_empty(&self) -> bool {
        self.known.is_empty() && self.anyone.is_empty()
    }
}

/// What waits for a thread.
#[derive(Default)]
struct Waiting {
    /// Of realms of which something waits.
    realms: BTreeMap<u64, OfRealm>,
    /// Their turns.
    turns: VecDeque<u64>,
    /// How many jobs wait in all.
    count: usize,
    closed: bool,
}

impl Waiting {
    /// The next job: one of each realm in turn.
    fn next(&mut self) -> Option<Job> {
        let turn = self.turns.pop_front()?;
        let realm = self.realms.get_mut(&turn)?;
        let job = realm.next();
        match realm.is_empty() {
            true => drop(self.realms.remove(&turn)),
            false => self.turns.push_back(turn),
        }
        self.count -= usize::from(job.is_some());
        job
    }
}

#[derive(Default)]
struct Lines {
    waiting: Mutex<Waiting>,
    work: Condvar,
}

impl Lines {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Nothing panics while the lock is held; a poisoned lock still guards whole lines.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The threads, as those see them who have work: they end when nobody does any more.
struct Threads {
    lines: Arc<Lines>,
    realms: AtomicU64,
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.lines.lock().closed = true;
        self.lines.work.notify_all();
    }
}

/// The threads that hash, and the lines of one realm before them. Dropping the last of the lines
/// ends them after what waits.
pub struct PasswordPool {
    threads: Arc<Threads>,
    realm: u64,
    queue: usize,
    cost: Cost,
    stand_in: Arc<str>,
}

/// Why a password was not hashed or compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PoolError {
    /// The queue is full: the person tries again in a moment (503 with `Retry-After`).
    #[error("too many logins at once")]
    Busy,
    /// The password is longer than what is hashed.
    #[error("the password is too long")]
    TooLong,
    /// The operator's: the cost parameters cannot be used.
    #[error("the password parameters are out of bounds")]
    Parameters,
}

impl PasswordPool {
    /// Starts the threads.
    pub fn new(options: PasswordOptions) -> PasswordPool {
        let PasswordOptions {
            cost,
            threads,
            queue,
        } = options;
        let lines = Arc::new(Lines::default());
        for index in 0..threads.max(1) {
            let lines = Arc::clone(&lines);
            let started = std::thread::Builder::new()
                .name(format!("password-{index}"))
                .stack_size(512 * 1024)
                .spawn(move || work(&lines));
            if let Err(error) = started {
                tracing::error!(%error, "failed to start a password thread");
            }
        }
        PasswordPool {
            threads: Arc::new(Threads {
                lines,
                realms: AtomicU64::new(1),
            }),
            realm: 0,
            queue: queue.max(1),
            cost,
            stand_in: stand_in(cost).into(),
        }
    }

    /// The same threads, with lines of their own: for another realm.
    #[must_use]
    pub fn lines_of_their_own(&self) -> PasswordPool {
        PasswordPool {
            threads: Arc::clone(&self.threads),
            realm: self.threads.realms.fetch_add(1, Relaxed),
            queue: self.queue,
            cost: self.cost,
            stand_in: Arc::clone(&self.stand_in),
        }
    }

    /// Hashes a new password to a PHC string.
    pub async fn hash(
        &self,
        password: Secret<String>,
        waiter: Waiter,
    ) -> Result<String, PoolError> {
        if password.expose().len() > MAX_PASSWORD_BYTES {
            return Err(PoolError::TooLong);
        }
        let cost = self.cost;
        let hash = move || signet_crypto::password::hash(password.expose().as_bytes(), cost);
        let hashed = self.run(waiter, hash).await?;
        hashed.map_err(|_| PoolError::Parameters)
    }

    /// Whether `password` is the one that `stored` was made from. `None` takes as long and is
    /// false. A password over the limit is false before it is hashed: its length is no secret, and
    /// it depends on no account.
    pub async fn verify(
        &self,
        password: Secret<String>,
        stored: Option<&str>,
        waiter: Waiter,
    ) -> Result<bool, PoolError> {
        if password.expose().len() > MAX_PASSWORD_BYTES {
            return Ok(false);
        }
        let known = stored.is_some();
        let stored: Arc<str> = stored.map_or_else(|| Arc::clone(&self.stand_in), Arc::from);
        let stand_in = Arc::clone(&self.stand_in);
        let compare = move || {
            let typed = password.expose().as_bytes();
            if foreign::is_own(&stored) {
                return signet_crypto::password::verify(typed, &stored);
            }
            // What came with an import may be cheaper than what nobody's password costs: a guess at
            // it costs both, so that it is not told apart by being fast. A right one is hashed
            // again.
            let right = foreign::verify(typed, &stored);
            if !right {
                signet_crypto::password::verify(typed, &stand_in);
            }
            right
        };
        Ok(self.run(waiter, compare).await? & known)
    }

    /// Whether a stored password was hashed at another cost than today's, or by somebody else.
    pub fn needs_rehash(&self, stored: &str) -> bool {
        !foreign::is_own(stored) || signet_crypto::password::needs_rehash(stored, self.cost)
    }

    /// How many passwords of all realms wait for a thread.
    pub fn waiting(&self) -> usize {
        self.threads.lines.lock().count
    }

    async fn run<T: Send + 'static>(
        &self,
        waiter: Waiter,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, PoolError> {
        let (answer, wait) = oneshot::channel();
        let job: Job = Box::new(move || {
            // The browser may have gone: then nobody waits, and nothing is hashed.
            if !answer.is_closed() {
                let _ = answer.send(work());
            }
        });
        self.put(waiter, job)?;
        let done = trace::step("hash the password", pin!(wait)).await;
        done.map_err(|_| PoolError::Busy)
    }

    fn put(&self, waiter: Waiter, job: Job) -> Result<(), PoolError> {
        let lines = &self.threads.lines;
        let mut all = lines.lock();
        let all = &mut *all;
        let reserved = self.queue.div_ceil(4);
        // Nothing of this realm waits: there is a place, whatever others have.
        let is_first = !all.realms.contains_key(&self.realm);
        if !is_first && all.count >= self.queue.saturating_mul(MAX_FULL_REALMS) {
            return Err(PoolError::Busy);
        }
        if waiter == Waiter::Spare && all.count > 0 {
            return Err(PoolError::Busy);
        }
        let waiting = all.realms.entry(self.realm).or_default();
        let line = match waiter {
            Waiter::Known if waiting.known.len() < reserved => &mut waiting.known,
            Waiter::Known | Waiter::Anyone | Waiter::Spare if waiting.anyone.len() < self.queue => {
                &mut waiting.anyone
            }
            Waiter::Known | Waiter::Anyone | Waiter::Spare => return Err(PoolError::Busy),
        };
        line.push_back(job);
        all.count += 1;
        if is_first {
            all.turns.push_back(self.realm);
        }
        lines.work.notify_one();
        Ok(())
    }
}

fn work(lines: &Lines) {
    let mut waiting = lines.lock();
    loop {
        if let Some(job) = waiting.next() {
            drop(waiting);
            // A panic in one job must not cost a thread.
            drop(std::panic::catch_unwind(std::panic::AssertUnwindSafe(job)));
            waiting = lines.lock();
        } else if waiting.closed {
            return;
        } else {
            let woken = lines.work.wait(waiting);
            waiting = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A PHC string of this cost that no password is known for: salt and hash are random, so it need
/// not be computed.
fn stand_in(cost: Cost) -> String {
    format!(
        "$argon2id$v=19$m={},t={},p={}${}${}",
        cost.memory_kib,
        cost.passes,
        cost.lanes,
        phc_base64(&signet_crypto::random::bytes::<16>()),
        phc_base64(&signet_crypto::random::bytes::<32>()),
    )
}

/// PHC strings use the standard alphabet without padding.
fn phc_base64(bytes: &[u8]) -> String {
    signet_encoding::base64url::encode(bytes)
        .replace('-', "+")
        .replace('_', "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(threads: usize, queue: usize) -> PasswordPool {
        PasswordPool::new(PasswordOptions {
            cost: CHEAP,
            threads,
            queue,
        })
    }

    const CHEAP: Cost = Cost {
        memory_kib: 64,
        passes: 1,
        lanes: 1,
    };

    fn secret(text: &str) -> Secret<String> {
        Secret::new(text.to_owned())
    }

    #[tokio::test]
    async fn the_right_password_verifies_and_no_other() {
        let pool = pool(1, 4);
        let stored = pool
            .hash(secret("correct horse"), Waiter::Anyone)
            .await
            .unwrap();
        let verify =
            async |text: &str, stored| pool.verify(secret(text), stored, Waiter::Anyone).await;
        assert_eq!(verify("correct horse", Some(&*stored)).await, Ok(true));
        assert_eq!(verify("wrong", Some(&*stored)).await, Ok(false));
        assert_eq!(verify("correct horse", None).await, Ok(false));
        assert_eq!(verify("correct horse", Some("not a hash")).await, Ok(false));
    }

    #[tokio::test]
    async fn a_long_password_is_refused_before_it_is_hashed() {
        let pool = pool(1, 4);
        let long = "x".repeat(MAX_PASSWORD_BYTES + 1);
        let hashed = pool.hash(secret(&long), Waiter::Known).await;
        assert_eq!(hashed, Err(PoolError::TooLong));
        let verified = pool.verify(secret(&long), None, Waiter::Known).await;
        assert_eq!(verified, Ok(false));
    }

    #[test]
    fn the_stand_in_costs_what_a_real_hash_costs() {
        let real = signet_crypto::password::hash(b"password", CHEAP).unwrap();
        let parts = |phc: &str| {
            let parts: Vec<String> = phc.split('$').map(str::to_owned).collect();
            (parts[..4].to_vec(), parts[4].len(), parts[5].len())
        };
        assert_eq!(parts(&real), parts(&stand_in(CHEAP)));
    }

    /// A pool whose one thread is busy until the sender is dropped.
    fn held(queue: usize) -> (PasswordPool, std::sync::mpsc::Sender<()>) {
        let pool = pool(1, queue);
        let (release, held) = std::sync::mpsc::channel::<()>();
        let (started, running) = std::sync::mpsc::channel::<()>();
        let blocker = Box::new(move || {
            let _ = started.send(());
            let _ = held.recv();
        });
        pool.put(Waiter::Anyone, blocker).unwrap();
        running.recv().unwrap();
        (pool, release)
    }

    #[tokio::test]
    async fn a_full_queue_answers_busy() {
        let (pool, release) = held(1);
        pool.put(Waiter::Anyone, Box::new(|| {})).unwrap();
        let verified = pool.verify(secret("p"), None, Waiter::Anyone).await;
        assert_eq!(verified, Err(PoolError::Busy));
        drop(release);
    }

    #[test]
    fn a_flood_of_guesses_leaves_a_place_and_a_turn_to_a_known_browser() {
        let (pool, release) = held(8);
        let (done, order) = std::sync::mpsc::channel::<&str>();
        let put = |waiter, name: &'static str| {
            let done = done.clone();
            pool.put(waiter, Box::new(move || done.send(name).unwrap()))
        };
        while put(Waiter::Anyone, "flood").is_ok() {}
        // Nothing that nobody waits for takes a place.
        assert_eq!(put(Waiter::Spare, "spare"), Err(PoolError::Busy));
        for name in ["owner", "other owner"] {
            assert_eq!(put(Waiter::Known, name), Ok(()));
        }
        // The reserved share has an end, too.
        assert_eq!(put(Waiter::Known, "third"), Err(PoolError::Busy));
        drop(release);
        let first: Vec<&str> = order.iter().take(4).collect();
        assert_eq!(
            first.iter().filter(|name| name.ends_with("owner")).count(),
            2,
            "{first:?}"
        );
    }

    #[test]
    fn a_flood_in_one_realm_makes_another_wait_for_one_hash_more() {
        let (flooded, release) = held(8);
        let quiet = flooded.lines_of_their_own();
        let (done, order) = std::sync::mpsc::channel::<&str>();
        let put = |pool: &PasswordPool, name: &'static str| {
            let done = done.clone();
            pool.put(Waiter::Anyone, Box::new(move || done.send(name).unwrap()))
        };
        while put(&flooded, "flood").is_ok() {}
        assert_eq!(put(&quiet, "quiet"), Ok(()));
        assert_eq!(put(&quiet, "quiet"), Ok(()));
        drop(release);
        let first: Vec<&str> = order.iter().take(4).collect();
        assert_eq!(first, ["flood", "quiet", "flood", "quiet"]);
    }

    #[test]
    fn all_realms_together_have_a_bound_and_none_is_shut_out() {
        let (first, release) = held(2);
        let realms: Vec<PasswordPool> = (0..2 * MAX_FULL_REALMS)
            .map(|_| first.lines_of_their_own())
            .collect();
        let put = |pool: &PasswordPool| pool.put(Waiter::Anyone, Box::new(|| {}));
        for realm in &realms[..MAX_FULL_REALMS] {
            assert_eq!((put(realm), put(realm)), (Ok(()), Ok(())));
        }
        for realm in &realms[MAX_FULL_REALMS..] {
            assert_eq!((put(realm), put(realm)), (Ok(()), Err(PoolError::Busy)));
        }
        drop(release);
    }
}
