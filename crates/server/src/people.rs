//! What the server keeps at hand for persons: their records, the threads that hash passwords, the way to reach them by
//! mail, and the limits of guessing.

use std::sync::Arc;

use signet_crypto::password::Cost;
use signet_store::Store;

use crate::attempts::Limits;
use crate::mail::Mailer;
use crate::passwords::PasswordPool;
use crate::user::Users;

/// From the configuration; fixed for the life of the process.
pub struct PeopleOptions {
    /// What a password hash costs.
    pub password_cost: Cost,
    /// Threads that hash at once.
    pub password_threads: usize,
    /// Logins that may wait for a thread; beyond that the answer is 503 with `Retry-After`.
    pub password_queue: usize,
    /// None: no e-mailed codes and no recovery are offered.
    pub mailer: Option<Mailer>,
    /// How often somebody may guess.
    pub limits: Limits,
}

impl Default for PeopleOptions {
    /// Argon2id as OWASP advises, on half of the cores, without mail.
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        PeopleOptions {
            password_cost: Cost::default(),
            password_threads: cores.div_ceil(2),
            password_queue: 64,
            mailer: None,
            limits: Limits::default(),
        }
    }
}

/// See the module.
pub struct People {
    /// User records.
    pub users: Users,
    /// The threads that hash.
    pub passwords: PasswordPool,
    /// The way to reach people, if there is one.
    pub mailer: Option<Mailer>,
    /// How often somebody may guess.
    pub limits: Limits,
}

impl People {
    /// Starts the password threads.
    pub fn new(store: Arc<dyn Store>, options: PeopleOptions) -> People {
        People {
            users: Users::new(store),
            passwords: PasswordPool::new(
                options.password_threads,
                options.password_queue,
                options.password_cost,
            ),
            mailer: options.mailer,
            limits: options.limits,
        }
    }
}
