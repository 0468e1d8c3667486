//! Where a node stands, as plain numbers.
use crate::NodeId;
use std::time::Duration;

/// What an operator sees of the gossip.
#[derive(Clone, Default, Debug)]
pub struct Status {
    /// Over all batches that are held; equal on nodes that hold the same.
    pub digest: u128,
    /// How many batches are held.
    pub batches: usize,
    /// Their bytes.
    pub bytes: usize,
    /// Batches that are being verified or written to the journal.
    pub pending: usize,
    /// Bytes of entries that wait to be signed.
    pub waiting_bytes: usize,
    /// Since when this node has not been in contact with enough members for a majority, itself
    /// counted; None: it never was since it started. Zero for a node alone.
    pub staleness: Option<Duration>,
    /// Batches that this node signed since it started.
    pub signed: u64,
    /// Batches of others whose signatures held.
    pub verified: u64,
    /// Batches with a signature that does not hold.
    pub forged: u64,
    /// Batches of identities that do not count.
    pub unknown: u64,
    /// Batches from further ahead than the hybrid clock follows.
    pub ahead: u64,
    /// Frames that are none.
    pub malformed: u64,
    /// Batches that were left out because too much was pending; they are fetched later.
    pub overflows: u64,
    /// Manifests that this node made.
    pub manifests: u64,
    /// Each other member.
    pub peers: Vec<PeerStatus>,
}

/// Another member, as this node sees it.
#[derive(Clone, Debug)]
pub struct PeerStatus {
    /// Its name.
    pub node: NodeId,
    /// Whether there is a connection.
    pub connected: bool,
    /// Whether it can be reached through a peer.
    pub relayed: bool,
    /// Batches of this node that it has not acknowledged.
    pub lag_batches: usize,
    /// How long the oldest of them has waited.
    pub lag: Duration,
    /// How long it took until it believed what was last told here, as far as that was waited for.
    pub believed_after: Option<Duration>,
    /// When it last said, or another one said of it, that it is there; None: not yet.
    pub last_contact: Option<Duration>,
    /// Its wall clock minus this node's, in milliseconds, the way between them included.
    pub clock_skew_ms: Option<i64>,
    /// Whether its digest was equal when it last said it.
    pub in_sync: bool,
    /// When the digests were last equal.
    pub last_in_sync: Option<Duration>,
    /// When it last answered with batches that this node lacked.
    pub last_anti_entropy: Option<Duration>,
    /// Bytes of frames to it.
    pub bytes_sent: u64,
    /// Bytes of frames from it.
    pub bytes_received: u64,
}
