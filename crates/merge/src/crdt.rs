//! The state of one thing, such that states of several writers merge to the same on every node.
//!
//! A [`Record`] is a state-based CRDT: [`Record::merge`] is associative, commutative and
//! idempotent, so order, repetition and loss of what travels are harmless, and of any part of a
//! record that was lost a later one may carry the whole. A fragment of a record is itself a record:
//! [`Record::difference`] makes the smallest one that carries a change.
//!
//! What wins:
//!
//! - **A register** ([`set`](Record::set)) holds one value or none; the later [`Stamp`] wins.
//! - **A set whose adds win** ([`add`](Record::add), [`remove`](Record::remove)): removing an
//!   element undoes exactly the adds that the remover had seen, so an element that somebody adds at
//!   the same time stays. For what is more often missed than unwanted: a redirect URI, a contact.
//! - **A set whose removes win** ([`allow`](Record::allow), [`deny`](Record::deny)): allowing an
//!   element undoes exactly the denials that the writer had seen, so an element that somebody
//!   denies at the same time goes. For what grants something: a role, a scope.
//! - **Life** ([`create`](Record::create), [`delete`](Record::delete)): a deletion wins over every
//!   edit that is not later than it, and a record lives if its newest creation is later than its
//!   newest deletion. A creation begins again: nothing that was written before it is part of the
//!   record, whoever wrote it and whenever it arrives.
//!
//! "Had seen" is by the record that [`remove`](Record::remove) or [`allow`](Record::allow) is
//! called on. So an edit is made on the state, and its fragment is the difference to what was:
//!
//! ```
//! # use signet_merge::{crdt::Record, hlc::Hlc};
//! # use signet_store::NodeId;
//! let clock = Hlc::new(NodeId::default());
//! let mut state = Record::new();
//! let stamp = clock.now(1);
//! state.create(&stamp);
//! state.add("redirect_uris", b"https://a.example/cb", &stamp);
//! # let mut elsewhere = state.clone();
//!
//! let before = state.clone();
//! let stamp = clock.now(2);
//! state.remove("redirect_uris", b"https://a.example/cb");
//! state.set("client_name", Some(b"Shop".to_vec()), &stamp);
//! let fragment = state.difference(&before);
//!
//! assert!(elsewhere.merge(&fragment));
//! assert_eq!(elsewhere, state);
//! ```
//!
//! What was removed leaves its name and a stamp behind, because a late fragment may still carry it.
//! That is bounded by [`MAX_RECORD_BYTES`]; [`Record::renew`] begins again with the same values.
mod bytes;
mod dots;
mod record;

pub use bytes::{
    MAX_ELEMENT_BYTES, MAX_MEMBER_BYTES, MAX_RECORD_BYTES, MAX_VALUE_BYTES, read_stamp, write_stamp,
};
pub use record::Record;
