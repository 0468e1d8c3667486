//! Archives of regular files, as `tar` reads them: what a backup is inside its encryption.
//!
//! The form is POSIX `ustar` and nothing else of it: regular files with a name, a mode, a time and
//! a size. So `age --decrypt FILE | tar -t` shows a backup without Signet. What is read is compared
//! with what would have been written: a header that is not byte for byte the one of its entry is
//! refused, and with it links, devices, directories, extensions, and every second way to write a
//! name or a number.
//!
//! A name is a relative path whose parts are neither empty nor `.` or `..`. No
//! name comes twice, and none is a directory of another.

#![forbid(unsafe_code)]

mod header;
mod read;
mod write;

pub use header::{Entry, InvalidName, MAX_NAME_BYTES, check_name as is_name};
pub use read::{ArchiveError, Content, MAX_ENTRIES, Reader};
pub use write::Writer;

#[cfg(test)]
mod tests;
