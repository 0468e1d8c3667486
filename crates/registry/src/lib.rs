//! What a node believes: clients, resource servers, scopes, settings and signing keys, as values
//! that can be stored, sent and replayed.
//!
//! - [`kinds`]: the table of what nodes tell each other of: how a record of each kind is written,
//!   where its rows are, and how two changes come together.
//! - [`load`]: what the store has of them; [`census`]: how many.
//! - [`delta`]: a change of any of it.
//! - [`fields`]: a record as a state that merges; [`merged`]: what was heard of each.
//! - [`change_writer`]: what a change notes for other nodes; [`changelog`]: where they read it.
//! - [`rules`], [`claim_tables`], [`providers`]: access rules, tables of claims and identity
//!   providers as they are written.
//! - [`staged`]: records of a change that is tried before it is made.
//! - [`keys`]: the signing keys' life, and what signs and verifies with them.
//!
//! Knows no HTTP and no realm: the server holds one of each for every realm, and applies deltas to
//! it.
#![forbid(unsafe_code)]

pub mod census;
pub mod change_writer;
pub mod changelog;
pub mod claim_tables;
pub mod delta;
pub mod fields;
pub mod forest;
pub mod keys;
pub mod kinds;
pub mod load;
pub mod merged;
pub mod provider_document;
pub mod providers;
mod record_kind;
pub mod rules;
pub mod staged;
