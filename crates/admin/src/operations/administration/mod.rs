//! Administration of administrators.
pub(crate) mod keys;
pub(crate) mod roles;
