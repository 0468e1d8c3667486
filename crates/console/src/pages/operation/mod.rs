//! `/console/do/{operation}`: the form of an operation, whichever it is.
//!
//! Its fields are what the operation reads: names of the path (`p.`), members of the query (`q.`)
//! and of the body (`b.`). What replaces a record is filled with it, names the revision that was
//! read, and settles with whoever was faster ([`conflict`]). What ends something shows what it
//! ends, wants the name typed, and asks for two factors of the last minutes.
mod draft;
mod handle;
mod page;

pub(crate) use handle::{show, submit};
