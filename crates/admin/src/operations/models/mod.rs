//! Documents that several operations show or read.
pub(crate) mod agents;
pub(crate) mod people;
