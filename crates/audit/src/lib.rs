//! The audit trail: every decision of the server, in a log of receipts that nobody can rewrite
//! unseen.
//!
//! A line is a receipt ([`signet_agent::receipt`]) by the server's own audit identity, and the
//! content that it names by hash ([`event`]). Receipts name the one before them and are the leaves
//! of a Merkle tree, whose root is signed once for each batch ([`signet_agent::log`]). What was
//! changed, taken out, put in or moved shows, and by the chain at which line; what was cut off
//! shows against a checkpoint that somebody kept.
//!
//! - A **decision** ([`Audit::record`]) costs the request a hash and a place in a queue. A writer
//!   beside the requests appends what has queued up, every fraction of a second. On a crash the
//!   last moments are lost, and the next start says so in a line. The queue is bounded: what finds
//!   it full is counted, and the count is a line.
//! - A **state change** ([`Audit::act`]) carries its line: [`outbox`] puts it into the same
//!   transaction of the store, from where the writer takes it into the log. Neither is ever there
//!   without the other.
//! - **Frequent questions** ([`Audit::count`]: introspection, userinfo, reads of the admin API) are
//!   counted for each caller, and the count is a line every minute. So are **refusals** that say
//!   the same as one before them, and **repetitions** ([`Audit::record_counted`],
//!   [`Audit::act_counted`]): what is allowed without a secret and changes nothing. A caller that
//!   can send requests can cause both, and what they write is bounded.
//!
//! The log is kept in segments, append-only files ([`segment`]). Closed ones are compressed,
//! archived and removed by rule ([`keeper`]); [`verify`] needs nothing but them and the public
//! document. Each node has a log of its own ([`node`]). No line holds a secret, a token or what
//! somebody typed. A line of a request has the address that it came from: the trail has to answer
//! "who did what to whom, from where, when" without the log.
#![forbid(unsafe_code)]

mod counters;
mod error;
pub mod event;
mod identity;
mod keeper;
pub mod line;
mod node;
pub mod outbox;
pub mod read;
mod refusals;
mod repeated;
pub mod segment;
mod shared;
mod trail;
pub mod verify;
mod writer;

pub use counters::Counted;
pub use error::AuditError;
pub use event::{Action, Event};
pub use identity::AuditIdentity;
pub use keeper::Keep;
pub use node::stored as stored_node;
pub use node::{NODE_FILE, of_directory as node_of_directory, release as release_node};
pub use outbox::{
    RecordedStore, carrying, leave_record, name_changes, name_target, outside_act, with_record,
};
pub use segment::Places;
pub use signet_store::{InvalidNodeId, NodeId};
pub use trail::{Audit, AuditOptions, Opening};
pub use writer::{Opened, known_records};
