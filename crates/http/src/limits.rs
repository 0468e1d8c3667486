//! Every bound that a connection or a request meets.
use std::time::Duration;

/// Bounds; the defaults suit an authorization server on the open internet.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Open connections of the process; further ones are closed at once.
    pub connections: u64,
    /// Open connections of one address (one /64 of IPv6); further ones are closed at once. 0: no
    /// bound. Loopback and trusted proxies, who speak for many, are not counted.
    pub connections_per_address: u32,
    /// Time for a TLS handshake.
    pub handshake: Duration,
    /// Time for a request's head, counted from the end of the last answer: also how long an idle
    /// connection is kept.
    pub head: Duration,
    /// Time for a request's body.
    pub body: Duration,
    /// Bytes of a request's body.
    pub body_bytes: usize,
    /// Bytes of a request's head (431 beyond).
    pub head_bytes: usize,
    /// Header fields of a request (431 beyond).
    pub header_fields: usize,
    /// Bytes of path and query (414 beyond).
    pub url_bytes: usize,
    /// Requests at once on an HTTP/2 connection.
    pub streams: u32,
    /// How long requests under way may take after `stop`.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 20_000,
            connections_per_address: 1_000,
            handshake: Duration::from_secs(10),
            head: Duration::from_secs(30),
            body: Duration::from_secs(15),
            body_bytes: 128 * 1024,
            head_bytes: 32 * 1024,
            header_fields: 64,
            url_bytes: 12 * 1024,
            streams: 128,
            grace: Duration::from_secs(20),
        }
    }
}
