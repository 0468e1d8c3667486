//! What a node believes: clients, resource servers, scopes, settings and signing keys, as values
//! that can be stored, sent and replayed.
//!
//! - [`delta`]: a change of any of it.
//! - [`kinds`]: the table of what nodes tell each other of, and how two changes come together.
//! - [`fields`]: a record as a state that merges; [`merged`]: what was heard of each.
//! - [`scribe`]: what a change notes for other nodes; [`changelog`]: where they read it.
//! - [`records`]: the records as bytes, at rest and in a delta.
//! - [`scopes`]: the rows of scopes that were added to the standard ones.
//! - [`people`], [`providers`]: the rows of groups, roles and attributes, and of identity
//!   providers.
//! - [`keys`]: the signing keys' life, and what signs and verifies with them.
//!
//! Knows no HTTP and no realm: the server holds one of each for every realm, and applies deltas to
//! it.
#![forbid(unsafe_code)]

pub mod changelog;
pub mod delta;
pub mod fields;
pub mod keys;
pub mod kinds;
pub mod merged;
pub mod people;
pub mod providers;
pub mod records;
pub mod rules;
pub mod scopes;
pub mod scribe;
