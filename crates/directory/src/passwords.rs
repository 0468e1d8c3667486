//! Passwords: Argon2id on a few threads of its own, with a bounded queue.
//!
//! A hash takes tens of milliseconds and 19 MiB. On the runtimes' threads it would hold up every other request; on
//! unbounded threads a flood of logins would take all memory. Beyond the queue the answer is "later" (503).
//!
//! An unknown user, a user without a password and a wrong password cost the same: where there is nothing to compare
//! with, a stand-in of the same cost is hashed (known fault A22).

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};

use signet_crypto::Secret;
use signet_crypto::password::{Cost, MAX_PASSWORD_BYTES};
use tokio::sync::oneshot;

/// Shortest new password in characters (NIST SP 800-63B section 3.1.1.2 asks for eight at least).
pub const MIN_PASSWORD_CHARS: usize = 8;

type Job = Box<dyn FnOnce() + Send>;

/// From the configuration; fixed for the life of the process.
#[derive(Clone, Debug)]
pub struct PasswordOptions {
    /// What a hash costs.
    pub cost: Cost,
    /// Threads that hash at once.
    pub threads: usize,
    /// Logins that may wait for a thread; beyond that the answer is 503 with `Retry-After`.
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

/// The threads that hash. Dropping the pool ends them after their current work.
pub struct PasswordPool {
    queue: SyncSender<Job>,
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
        let (sender, receiver) = sync_channel::<Job>(queue.max(1));
        let receiver = Arc::new(Mutex::new(receiver));
        for index in 0..threads.max(1) {
            let receiver = Arc::clone(&receiver);
            let started = std::thread::Builder::new()
                .name(format!("password-{index}"))
                .stack_size(512 * 1024)
                .spawn(move || work(&receiver));
            if let Err(error) = started {
                tracing::error!(%error, "a password thread could not be started");
            }
        }
        PasswordPool {
            queue: sender,
            cost,
            stand_in: stand_in(cost).into(),
        }
    }

    /// Hashes a new password to a PHC string.
    pub async fn hash(&self, password: Secret<String>) -> Result<String, PoolError> {
        if password.expose().len() > MAX_PASSWORD_BYTES {
            return Err(PoolError::TooLong);
        }
        let cost = self.cost;
        self.run(move || signet_crypto::password::hash(password.expose().as_bytes(), cost))
            .await?
            .map_err(|_| PoolError::Parameters)
    }

    /// Whether `password` is the one that `stored` was made from. `None` takes as long and is false. A password over the
    /// limit is false before it is hashed: its length is no secret, and it depends on no account.
    pub async fn verify(
        &self,
        password: Secret<String>,
        stored: Option<&str>,
    ) -> Result<bool, PoolError> {
        if password.expose().len() > MAX_PASSWORD_BYTES {
            return Ok(false);
        }
        let known = stored.is_some();
        let stored: Arc<str> = stored.map_or_else(|| Arc::clone(&self.stand_in), Arc::from);
        let equal = self
            .run(move || signet_crypto::password::verify(password.expose().as_bytes(), &stored))
            .await?;
        Ok(equal & known)
    }

    /// Whether a stored password was hashed at another cost than today's.
    pub fn needs_rehash(&self, stored: &str) -> bool {
        signet_crypto::password::needs_rehash(stored, self.cost)
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, PoolError> {
        let (answer, wait) = oneshot::channel();
        let job: Job = Box::new(move || {
            // The browser may have gone: then nobody waits, and nothing is hashed.
            if !answer.is_closed() {
                let _ = answer.send(work());
            }
        });
        self.queue.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) | TrySendError::Disconnected(_) => PoolError::Busy,
        })?;
        wait.await.map_err(|_| PoolError::Busy)
    }
}

fn work(receiver: &Mutex<Receiver<Job>>) {
    loop {
        // Nothing panics while the lock is held; a poisoned lock still guards a whole receiver.
        let next = receiver.lock().unwrap_or_else(|e| e.into_inner()).recv();
        match next {
            // A panic in one job must not cost a thread.
            Ok(job) => drop(std::panic::catch_unwind(std::panic::AssertUnwindSafe(job))),
            Err(_) => return,
        }
    }
}

/// A PHC string of this cost that no password is known for: salt and hash are random, so it need not be computed.
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
    signet_jose::base64url::encode(bytes)
        .replace('-', "+")
        .replace('_', "/")
}

/// What a new password must be. `names`: user name and e-mail address, which it must not be.
///
/// The list of rules is short on purpose (NIST SP 800-63B): length, and not the account's own names.
pub fn check_new(password: &str, names: &[&str]) -> Result<(), &'static str> {
    if password.chars().count() < MIN_PASSWORD_CHARS {
        return Err("The new password needs at least 8 characters.");
    }
    if password.len() > MAX_PASSWORD_BYTES {
        return Err("The new password is too long.");
    }
    let first = password.chars().next();
    if password.chars().all(|c| Some(c) == first) {
        return Err("The new password is one character repeated. Choose another.");
    }
    if names.iter().any(|name| name.eq_ignore_ascii_case(password)) {
        return Err("The new password must not be your name or address.");
    }
    Ok(())
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
        let stored = pool.hash(secret("correct horse")).await.unwrap();
        let verify = async |text: &str, stored| pool.verify(secret(text), stored).await;
        assert_eq!(verify("correct horse", Some(&*stored)).await, Ok(true));
        assert_eq!(verify("wrong", Some(&*stored)).await, Ok(false));
        assert_eq!(verify("correct horse", None).await, Ok(false));
        assert_eq!(verify("correct horse", Some("not a hash")).await, Ok(false));
    }

    #[tokio::test]
    async fn a_long_password_is_refused_before_it_is_hashed() {
        let pool = pool(1, 4);
        let long = "x".repeat(MAX_PASSWORD_BYTES + 1);
        assert_eq!(pool.hash(secret(&long)).await, Err(PoolError::TooLong));
        assert_eq!(pool.verify(secret(&long), None).await, Ok(false));
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

    #[tokio::test]
    async fn a_full_queue_answers_busy() {
        let pool = pool(1, 1);
        let (release, held) = std::sync::mpsc::channel::<()>();
        let (started, running) = std::sync::mpsc::channel::<()>();
        let blocker = pool.queue.try_send(Box::new(move || {
            let _ = started.send(());
            let _ = held.recv();
        }));
        assert!(blocker.is_ok());
        running.recv().unwrap();
        assert!(pool.queue.try_send(Box::new(|| {})).is_ok());
        assert_eq!(pool.verify(secret("p"), None).await, Err(PoolError::Busy));
        drop(release);
    }

    #[test]
    fn new_passwords_are_checked() {
        assert!(check_new("short", &[]).is_err());
        assert!(check_new("aaaaaaaaaa", &[]).is_err());
        assert!(check_new("Alice@Example.Test", &["alice@example.test"]).is_err());
        assert!(check_new("four calm words here", &["alice"]).is_ok());
    }
}
