//! What requests share: the process ([`Host`]), the issuer that they are for ([`Realm`]), and the
//! immutable [`Snapshot`] that one request reads.
//!
//! A realm is an issuer with keys, seals, a view of the store, people and an audit trail of its
//! own; a process holds one or many. It is built whole: what it is made of is there when it is
//! there. A request is routed to its realm once, and nothing below can name another.
//!
//! The hot path takes no lock: it loads one `Arc<Snapshot>` and reads. Writers (registration, the
//! admin API, key rotation, a configuration reload) hand a `Delta` to the [`Replica`], which swaps
//! the next snapshot in; a request that is under way keeps the one it started with.
mod host;
mod partition;
mod realm;
mod replica;
mod sharing;
mod snapshot;
mod speaking;

pub use host::{ForwardedHeader, Host, HostParts, Paths, Policy};
pub use partition::Partition;
pub use realm::{Parts, Realm};
pub use replica::Replica;
pub use sharing::{FollowError, TOLD_WITHIN};
pub use signet_store::RealmId;
pub use snapshot::{Documents, Snapshot};
pub use speaking::{Claim, Mute};
