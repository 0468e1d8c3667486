//! How signed batches reach every member, as a state machine without I/O.
//!
//! [`Engine`] receives what happens (something is to be announced, a frame came, a peer is there or
//! gone, time passed) and answers with [`Output`]s: frames to send, batches to sign, to verify, to
//! keep. It reads no clock, draws no randomness and waits for nothing, so a simulation drives it
//! through any order of events.
//!
//! - **Push.** A batch goes to every connected peer as soon as it is signed. Who hears it from its
//!   origin sends it on to those of its own peers that are not connected with the origin: that is
//!   all that a hub does, and what heals a connection that is down between two nodes.
//! - **Acknowledgement.** Who believes a batch, and has it in the journal, says so to the origin,
//!   directly or through whoever it heard it from. An acknowledgement is not signed: a relay is a
//!   member, and could say it falsely of a node that only it can reach.
//! - **Anti-entropy.** Peers compare digests regularly. Where they differ, each lists the ranges of
//!   the batches that it holds, and the other one asks for those that it lacks, for as many bytes
//!   at a time as it takes. So a node that was away fetches what it missed, a newcomer everything
//!   that still matters, and a push that was lost is made good.
//! - **Forgetting.** Batches whose entries have expired go by themselves. Of its own streams a node
//!   tells what still matters of half-outdated batches again, in fewer and larger ones with the
//!   same stamps inside, and a manifest then lets everybody forget the old ones. What a removed
//!   member announced is announced again by one of those that hold it, because its signatures no
//!   longer count for newcomers.
//! - **Slow peers.** Nothing is queued for a peer here: what it has not taken within
//!   [`MAX_PUSHED_BYTES`] is left to anti-entropy.
//!
//! When nothing is announced any more and everybody hears everybody, directly or through others,
//! all members hold the same batches, and their digests are equal.
mod engine;
mod frame;
mod held;
mod receipts;
mod status;

pub use engine::{
    COMPACT_BYTES, Engine, MAX_CREDIT_BYTES, MAX_PENDING_BYTES, MAX_PUSHED_BYTES,
    MAX_WAITING_BYTES, Now, Output, Parts, Ticket,
};
pub use frame::Frame;
pub use status::{PeerStatus, Status};
