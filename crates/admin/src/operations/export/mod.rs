//! What leaves: everything of one person for themselves, and people for another server.

pub(crate) mod people;
pub(crate) mod person;
