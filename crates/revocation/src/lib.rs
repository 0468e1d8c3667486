//! What is revoked: whom or what a revocation concerns, the index that answers about a token, and
//! the line that travels.
//!
//! One definition for both ends of the stream of revocations. The server keeps revocations in its
//! store and tells them; a resource server hears them and keeps them in memory. Ids are bytes at
//! the one end and text at the other, so they are type parameters here; what a revocation means is
//! decided once, in [`Index::is_revoked`]. A further kind is one row of [`KINDS`], one variant of
//! [`Subject`], and what the compiler then asks for.
//!
//! Knows no store, no network, no JSON and no clock.
#![forbid(unsafe_code)]

mod id;
mod index;
mod line;
mod query;
mod subject;

pub use id::{GrantId, Jti};
pub use index::{Facts, Index};
pub use line::{Line, Member};
pub use query::RevocationQuery;
pub use subject::{KINDS, Kind, KindRow, Subject};
