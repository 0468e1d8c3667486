//! The commands: what they take, and how they speak with a server.

pub(crate) mod accounts;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod opening;
pub(crate) mod send;
