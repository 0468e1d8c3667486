//! Fetching what a configuration, an issuer or a client points to.
//!
//! Every fetch is treated as hostile: https only, no redirects, no credentials in the URL, bounded
//! in time and size, and never to an address that is not public unless that was allowed. The name
//! is resolved once and the connection goes to the address that was checked, so that a second
//! answer of the name server changes nothing (known fault V18).
mod address;
mod client;
pub(crate) mod credentials;
mod kept;
mod lifetime;
pub(crate) mod metadata;

pub use address::is_public;
pub(crate) use client::Outgoing;
pub use client::{Call, FetchError, Outbound, OutboundOptions, Reply};
pub use credentials::Credentials;
pub(crate) use kept::Kept;
