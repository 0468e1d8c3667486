//! What a realm keeps at hand for persons: their records, the way to reach them by mail, and the
//! limits of guessing.

use std::sync::Arc;

use signet_directory::{Accounts, Directory, PasswordPolicy, passwords::PasswordPool};
use signet_store::Store;

use crate::attempts::Limits;
use signet_mail::Mailer;
use signet_pages::Brands;

/// From the configuration; fixed for the life of the realm. By default without mail.
#[derive(Default)]
pub struct UserServiceOptions {
    /// None: no e-mailed codes and no recovery are offered.
    pub mailer: Option<Mailer>,
    /// How often somebody may guess.
    pub limits: Limits,
    /// How pages and mails look.
    pub brands: Arc<Brands>,
    /// What new passwords must be.
    pub passwords: PasswordPolicy,
    /// Directories that people come from, beside the accounts that are kept here; in the order in
    /// which they are asked.
    pub outside: Vec<Arc<dyn Directory>>,
}

/// See the module.
pub struct UserServices {
    /// The accounts, whoever keeps what they say.
    pub users: Accounts,
    /// The way to reach people, if there is one.
    pub mailer: Option<Mailer>,
    /// How often somebody may guess.
    pub limits: Limits,
    /// How pages and mails look.
    pub brands: Arc<Brands>,
    /// What new passwords must be.
    pub passwords: PasswordPolicy,
}

impl UserServices {
    /// Puts the parts together.
    pub fn new(
        store: Arc<dyn Store>,
        passwords: Arc<PasswordPool>,
        options: UserServiceOptions,
    ) -> UserServices {
        UserServices {
            users: Accounts::new(store, passwords, options.outside),
            mailer: options.mailer,
            limits: options.limits,
            brands: options.brands,
            passwords: options.passwords,
        }
    }
}
