//! Documents that several operations show or read.
pub(crate) mod agents;
pub(crate) mod people;
pub(crate) mod providers;
mod trace;

pub(crate) use trace::Trace;
