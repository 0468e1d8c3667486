//! The operations of the admin API, one file a kind of record, with its models beside it.

pub(crate) mod administration;
pub(crate) mod agents;
pub(crate) mod audit;
pub(crate) mod clients;
pub(crate) mod credentials;
pub(crate) mod declarations;
pub(crate) mod export;
pub(crate) mod grants;
pub(crate) mod import;
pub(crate) mod keys;
pub(crate) mod logouts;
pub(crate) mod model;
pub(crate) mod models;
pub(crate) mod nodes;
pub(crate) mod people;

pub(crate) mod providers;
pub(crate) mod realms;
pub(crate) mod resources;
pub(crate) mod revocations;
pub(crate) mod rules;
pub mod sealing;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod tokens;
pub(crate) mod users;
