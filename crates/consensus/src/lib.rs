//! The embedded store, replicated by consensus: three nodes, no database.
//!
//! [`ReplicatedStore`] is a [`Store`](signet_store::Store) over an embedded one. While its node is
//! alone it is that store and nothing else. From [`ReplicatedStore::begin`] on, every change is an
//! entry of a Raft log (the library is openraft; its log, its vote and the rows lie in the engine's
//! own file), and every node that is added holds the same rows.
//!
//! What is promised:
//!
//! - **What was answered is kept** as long as a majority of the voters keeps its disks: a change is
//!   answered when it is flushed in the logs of a majority. Applying it to the rows is not flushed;
//!   after a crash a node's rows say how far they are, and its log has the rest. Applying is the
//!   same on every node and at every restart: the time is the caller's, versions are counted.
//! - **Once is once**, on whatever nodes it is tried: the log decides. A change whose answer was
//!   lost is sent again under its number, and the state knows it (see `proposal`). A caller that
//!   receives `Unavailable` after the change was sent does not know whether it was done, as with
//!   every engine.
//! - **Every node answers.** Changes go to the leader in one hop. A read of a table that is
//!   [`Reads::Latest`](signet_store::Reads) sees all that was answered before it, anywhere: the
//!   leader says how far that is after a majority has confirmed it, and no clock decides. Reads of
//!   other tables, and lists, are of this node's own rows, which hold at least what this node was
//!   answered. So are those of a [`Reads::Followed`](signet_store::Reads) table without a majority.
//! - **Without a majority** changes and such reads are refused as `Unavailable`: within
//!   [`Settings::deadline`], and at once when the majority has been gone for so long. When it is
//!   back, they continue by themselves. When the leader dies, the others elect one in a bit more
//!   than a second, and calls wait for that.
//! - **Who votes** the nodes choose themselves: three, or five of five or more, spread over zones.
//!   With two nodes both vote, and losing either stops changes.
//! - **What a member acknowledged it has**: noted in a second place by who uses this, and compared
//!   (see [`Acknowledged`]). Who comes with less is [refused](ReplicatedStore::refuse).
//! - **A lost majority** is replaced by [`recover`] alone, and the nodes that were left behind
//!   cannot come back by mistake.
//!
//! Time, tasks, randomness and the network are handed in, so a simulation can run it: [`simulate`].
//!
//! What it leaves to others: connections and their authentication ([`Network`]), who is a member
//! and under which number (the membership of the cluster), and backups.
#![forbid(unsafe_code)]

mod acknowledged;
mod codec;
mod dial;
mod entered;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod log;
mod machine;
mod member;
mod moment;
mod network;
mod node;
mod proposal;
mod propose;
mod reading;
mod recover;
mod runtime;
mod settings;
mod store;
mod task;
mod types;
mod voters;
mod watch;
mod wire;

pub use acknowledged::{Acknowledged, Lineage};
pub use error::ConsensusError;
pub use member::{Member, Role, Status};
pub use moment::Moment;
pub use network::{CallFuture, MAX_MESSAGE, Network, NetworkError};
pub use recover::{Recovered, recover};
pub use settings::Settings;
pub use signet_store::NodeId;
pub use store::ReplicatedStore;
