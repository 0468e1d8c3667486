//! People: their records, the names they log in with, and the claims a record can give.
//!
//! A user is one row of [`Table::User`] under a random id that never changes and is the `sub` of every token.
//! What a person types is looked up in [`Table::UserLookup`], one row for the user name and one for the e-mail
//! address, both folded by [`fold`]. A name belongs to whoever wrote its lookup row first: that insert is the one
//! atomic step that decides a race between two registrations.
//!
//! The module needs a store and a time, no server: `signet user add` uses it as it is.

mod directory;
mod name;
mod record;

pub use directory::{NewUser, UserError, Users, list, replacement};
pub use name::{MAX_EMAIL_BYTES, MAX_USERNAME_CHARS, fold, folded_email, folded_username};
pub use record::{Profile, User};
