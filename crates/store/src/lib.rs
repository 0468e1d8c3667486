//! State that outlives a request.
//!
//! [`Store`] is one trait for an embedded engine and for distributed ones: keys and values, one
//! atomic call on one key, no scan on a request's way, and an end on everything short-lived. What
//! may happen once (a code, a refresh rotation, an assertion id) is decided here, by one
//! conditional write, and is durable before it is answered.
//!
//! [`SqliteStore`] is the embedded default, [`PostgresStore`] is for several nodes over one
//! database, and [`MemoryStore`] serves the unit tests of the rooms above. All pass
//! `tests/contract.rs`, which every further engine must pass unchanged.
//! [`revocation`] keeps the revocations of the whole server in memory, beside their durable rows.
#![forbid(unsafe_code)]

mod change;
mod error;
mod feed;
mod key;
mod lock;
mod memory;
pub mod moment;
mod moving;
mod need;
mod node;
mod open;
pub mod postgres;
mod realm;
pub mod revocation;
mod revoked;
pub mod schema;
pub mod sqlite;
mod staging;
mod store;
mod table;
mod url;

pub use change::{COLLECTED, Change, MAX_THEN, MAX_VALUE_BYTES, Op, Outcome};
pub use error::StoreError;
pub use feed::{Behind, Feed, MAX_BEHIND};
pub use key::{Key, MAX_KEY_BYTES, Row};
pub use lock::lock_file;
pub use memory::MemoryStore;
pub use moving::{
    Destination, MovableStore, MoveError, MoveProgress, Moved, Phase, Seal, SealFuture,
    arriving_key, copy, finish as finish_move, moved_key,
};
pub use need::Need;
pub use node::{InvalidNodeId, NodeId};
pub use open::{Engine, EngineError, open, open_destination};
pub use postgres::PostgresStore;
pub use realm::{InvalidRealmId, RealmId, RealmStore};
pub use revocation::{Announce, RevocationIndex};
pub use revoked::{Revoked, Subject};
pub use sqlite::{OpenError, SqliteStore};
pub use staging::{Staged, Staging};
pub use store::{Layer, Store, StoreFuture};
pub use table::{Reads, Table};
pub use url::StoreUrl;
