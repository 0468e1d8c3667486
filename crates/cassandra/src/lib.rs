//! A store on Cassandra's protocol: any number of nodes over one cluster, without a primary.
//!
//! Each row of the store is one row of one table, and every write of it is a lightweight
//! transaction: of racing writers one is told that it was first, on whatever nodes they are. A
//! change of one row is one such transaction. A change of several rows is decided by one, at the
//! row of its first operation, behind locks on the others (`settle` says why nobody sees a half,
//! whoever dies when). A try whose answer is lost is looked up by its version, and asked for again
//! only where two tries can be applied once; else the caller is told that it is not known.
//!
//! Rows carry a time to live, which only collects what ended an hour ago: whether a row has ended
//! is decided by the caller's clock, as everywhere.
//!
//! Calls are worked on by a runtime of the store's own. Their number is bounded, and while the
//! cluster does not answer they are refused at once.
#![forbid(unsafe_code)]

mod address;
mod commit;
mod error;
mod fault;
mod intent;
mod read;
pub mod schema;
mod session;
mod settle;
mod shared;
mod stamp;
mod store;
mod sweep;
mod tls;

pub use address::{Address, InvalidUrl, MAX_HOSTS, TlsMode};
pub use commit::MAX_CHANGE_BYTES;
pub use error::CassandraError;
#[doc(hidden)]
pub use fault::{Fault, Point};
pub use intent::KEEP_SECONDS;
pub use session::STATEMENT_SECONDS;
pub use shared::{CALL_SECONDS, MAX_IN_FLIGHT, MAX_WAITING};
pub use store::{CassandraStore, Options};
pub use sweep::SWEEP_ROWS;
