//! Where people come from: their accounts, the names they log in with, their credentials, and
//! directories that are not ours.
//!
//! [`Accounts`] is what a server sees. It has two halves:
//!
//! - [`Local`], the accounts themselves. A user is one row of [`signet_store::Table::User`] under a
//!   random id that never changes and is the `sub` of every token. What a person types is looked up
//!   in [`signet_store::Table::UserLookup`], one row for the user name and one for the e-mail
//!   address, both folded by [`fold`]. A name belongs to the first writer of its lookup row: that
//!   insert is the one atomic step that decides a race between two registrations. What people show
//!   to log in stands in rows of [`signet_store::Table::Credential`]; the account's record has
//!   their names only.
//! - Outside: each [`Directory`] that knows people of its own. Such a person has an account, too,
//!   linked by one row of [`signet_store::Table::UserLink`] when they are first seen: from then on
//!   their `sub` is that account's.
//!
//! Beside the accounts stands what people began and allowed: their [`session`]s, their
//! [`consent`]s and the [`grants`] that their clients hold.
//!
//! [`Local`] needs a store and a time, no server: `signet user add` uses it as it is.
#![forbid(unsafe_code)]

mod accounts;
mod attributes;
pub mod consent;
mod credential;
mod draft;
mod error;
pub mod grants;
mod group_mark;
mod holdings;
mod import;
mod local;
pub mod logout_notice;
mod name;
mod new_password;
mod outside;
pub mod passwords;
mod people_index;
mod record;
pub mod session;
mod stored_credential;
mod unknown;
mod upstream;

pub use accounts::{Accounts, MAX_REMEMBERED};
pub use attributes::{StoredAttribute, Value};
pub use credential::{CredentialKind, CredentialName, MAX_CREDENTIALS};
pub use draft::{ReservedEmail, StoredUser, UserDraft, replacement};
pub use error::{DirectoryError, UserError};
pub use holdings::MAX_USER_ROLES;
pub use import::{Imported, ImportedUser, Migrated, check_hash, id_of_uuid, is_id, new_user_id};
pub use local::{Local, NewUser};
pub use name::{
    MAX_EMAIL_BYTES, MAX_USERNAME_CHARS, fold, folded_email, folded_username, made_username,
};
pub use new_password::{
    LONGEST_MINIMUM, MIN_ADMINISTRATOR_PASSWORD_CHARS, MIN_PASSWORD_CHARS, PasswordOf,
    PasswordPolicy, PasswordRefused,
};
pub use outside::{Capabilities, Directory, DirectoryFuture, PasswordVerdict, Person};
pub use people_index::{MAX_INDEXED, MAX_NOTED};
pub use record::{
    AcceptedTerms, Deletion, DeletionStage, DirectoryLink, Invitation, MAX_USER_GROUPS, Profile,
    User,
};
pub use stored_credential::{MAX_LABEL_BYTES, StoredCredential};
pub use unknown::Unknown;
pub use upstream::{Linked, UpstreamLink};
