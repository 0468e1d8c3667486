//! What a realm keeps at hand for persons: their records, the way to reach them by mail, and the limits of guessing.

use std::sync::Arc;

use signet_store::Store;

use crate::attempts::Limits;
use crate::mail::Mailer;
use signet_directory::Users;

/// From the configuration; fixed for the life of the realm. By default without mail.
#[derive(Default)]
pub struct PeopleOptions {
    /// None: no e-mailed codes and no recovery are offered.
    pub mailer: Option<Mailer>,
    /// How often somebody may guess.
    pub limits: Limits,
}

/// See the module.
pub struct People {
    /// User records.
    pub users: Users,
    /// The way to reach people, if there is one.
    pub mailer: Option<Mailer>,
    /// How often somebody may guess.
    pub limits: Limits,
}

impl People {
    /// Puts the parts together.
    pub fn new(store: Arc<dyn Store>, options: PeopleOptions) -> People {
        People {
            users: Users::new(store),
            mailer: options.mailer,
            limits: options.limits,
        }
    }
}
