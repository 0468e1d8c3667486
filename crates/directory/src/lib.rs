//! Where people come from: their accounts, the names they log in with, their credentials.
//!
//! A user is one row of [`signet_store::Table::User`] under a random id that never changes and is the `sub` of every token.
//! What a person types is looked up in [`signet_store::Table::UserLookup`], one row for the user name and one for the e-mail
//! address, both folded by [`fold`]. A name belongs to whoever wrote its lookup row first: that insert is the one
//! atomic step that decides a race between two registrations.
//!
//! The crate needs a store and a time, no server: `signet user add` uses it as it is.
#![forbid(unsafe_code)]

mod error;
mod local;
mod name;
pub mod passwords;
mod record;

pub use error::UserError;
pub use local::{NewUser, Users, list, replacement};
pub use name::{MAX_EMAIL_BYTES, MAX_USERNAME_CHARS, fold, folded_email, folded_username};
pub use record::{Profile, User};
