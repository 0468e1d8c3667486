//! A process and its realms: what requests share, and what changes it.
//!
//! - [`state`]: the process (`Host`), the issuer that a request is for (`Realm`), and the immutable
//!   view that a request works with (`Snapshot`).
//! - [`realms`]: the realms of a process: which there are, and when one is opened and closed.
//! - [`records`]: who may change which records, and how a change is committed and comes into
//!   effect.
//! - [`single_use`]: what may happen once, as changes of the store.
//! - [`terminate`]: what ends with a session, a grant, an account or an agent, and in which order.
//! - [`agents`]: identities that people bound, the delegations that were issued under them, and how
//!   both end.
//! - [`budgets`], [`attempts`]: what a caller may cause, and how often somebody may guess.
//! - [`outbound`]: the only place that opens connections on a client's word.
//! - [`outbox`]: what is sent, a file for each kind.
//! - [`metrics`], [`activity`]: what the process counts, and what of it the last day had.
//! - [`nodes`], [`streams`]: the other nodes, and who follows this one.
//!
//! It knows no request, no page and no protocol endpoint: the caller that serves the realm says who
//! asks. Sealed values in rows that upper crates write are sealed again by a list that is handed in
//! ([`rewrap`]).
#![forbid(unsafe_code)]

pub mod activity;
pub mod agents;
pub mod deletion;
mod directories;
pub mod letters;
mod logos;
pub mod mailed_link;
pub mod metrics;
mod new_password;
pub mod nodes;
pub mod outbound;
pub mod outbox;
pub mod realms;
pub mod records;
pub mod revoked;
pub mod rewrap;
pub mod single_use;
pub mod state;
pub mod streams;
pub mod tasks;
pub mod terminate;
pub mod time;
pub mod user_services;
pub mod verified_tokens;

pub use directories::MAX_COUNTED_DIRECTORIES;
pub use signet_budgets::{attempts, budgets};
