//! What goes out: durable before it is answered for, sent by one node, sent again until it is
//! taken or given up.
//!
//! - [`Item`]: one thing to send, with an id that is the same at every attempt.
//! - [`Queue`]: the rows of one kind in the store. An item is put there by the change that causes
//!   it ([`Queue::put`]), so no node's death loses it.
//! - [`Kind`]: what a kind says of itself: its receiver, its bounds, how it is sent, what is done
//!   when it was given up.
//! - [`Sender`]: a node's part. It claims what is due, sends it, and writes the result.
//!
//! A claim is one conditional change of the store: the row is taken away and put back some time
//! later. Of several nodes one sends an item, and when that node dies another one does, a little
//! later: at least once, with one id. Every receiver has its share of what a node holds and of what
//! it has open. One that hangs holds up no other; one that cannot be reached is left alone for a
//! while, and what is due for it is put off.
//!
//! What an item says, to whom it goes and what it means lies with its kind. This crate reads no
//! clock and opens no connection.
#![forbid(unsafe_code)]

mod item;
mod kind;
mod lane;
mod queue;
mod receiver;
mod sender;

pub use item::{Item, Payload, State};
pub use kind::{Bounds, Context, Kind, Sent};
pub use lane::{Row, attempt};
pub use queue::{Claimed, Due, Look, Queue, Waits};
pub use sender::{EVERY, Sender, deliver};

#[cfg(test)]
mod tests;
