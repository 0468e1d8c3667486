//! Administration of administrators.
pub(crate) mod roles;
