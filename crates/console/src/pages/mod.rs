//! The pages, one file each.
pub(crate) mod audit;
pub(crate) mod first;
pub(crate) mod keys;
pub(crate) mod leave;
pub(crate) mod list;
pub(crate) mod operation;
pub(crate) mod operations;
pub(crate) mod overview;
mod parts;
pub(crate) mod record;
pub(crate) mod settings;
pub(crate) mod token;
