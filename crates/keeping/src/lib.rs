//! Keeping a server: one encrypted file with everything of it, putting that back, looking whether
//! everything around it is right, and whether another version can take it over.
//!
//! - [`Backup`] writes the file while the server serves, reads it back, and says what it has.
//! - [`Restore`] makes a data directory of it, or nothing.
//! - [`Doctor`] looks at what a server depends on, one row for each.
//! - [`UpgradeCommand`] says which version wrote a directory, and what this one would do with it.
//!
//! A backup is a file as `age` encrypts it, and within it an archive as `tar` reads it
//! ([`signet_archive`]). The order of what is read makes it one server: the rows of one moment
//! first, then the keys that open them, then the trail, which is never shorter than the rows say.
#![forbid(unsafe_code)]

mod backup;
mod check;
mod doctor;
mod given;
pub mod manifest;
mod moment;
mod place;
mod restore;
mod scratch;
mod sources;
mod trail;
mod unpack;
mod upgrade;
mod written_by;

pub use backup::Backup;
pub use doctor::Doctor;
pub use place::Which;
pub use restore::Restore;
pub use upgrade::UpgradeCommand;
pub use written_by::note as note_version;
