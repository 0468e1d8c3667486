//! Moving in and out: what another server exports becomes documents of the admin API, with a report
//! of what has no counterpart; and people leave with everything that they log in with.
//!
//! Reading is pure: bytes in, documents and a report out. A mistake in the shape of a file is an
//! error that names its place; a value that cannot be kept is a line of the report, under the row
//! of its source's table. The same table is in the manual (docs/moving.md), so the two cannot
//! differ. A dry run is the reading alone.
//!
//! Sending goes through the admin API like everything else. Nothing that is there is changed: an
//! import that was cut off is done again.

#![forbid(unsafe_code)]

mod clients;
mod command;
mod credentials;
pub mod document;
pub mod moved;
mod names;
pub mod out;
mod people;
pub mod read;
pub mod report;
pub mod sources;

pub use command::accounts::run as import_accounts;
pub use command::export::PeopleExport;
pub use command::import::{Import, run as import};
pub use command::send::AT_ONCE;
