//! Connections to others: the only place that opens them on a client's word. The bounds are
//! signet-verify's; what was fetched is kept by signet-fetched, and pictures here.
pub use crate::logos::{LOGO_LIFETIME, LOGO_RETRY, Logos, MAX_LOGO_BYTES, MAX_LOGOS};
pub use signet_verify::fetch::{Call, FetchError, Outbound, OutboundOptions, Reply, is_public};
