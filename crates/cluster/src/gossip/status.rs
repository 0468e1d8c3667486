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
    /// Batches from further ahead than the hybrid clock follows. They are believed.
    pub ahead: u64,
    /// How often this node's hybrid clock was so far ahead of its wall clock that it began again.
    pub clock_epochs: u64,
    /// Frames that are none.
    pub malformed: u64,
    /// Batches that were left out because too much was pending; they are fetched later.
    pub overflows: u64,
    /// Manifests that this node made.
    pub manifests: u64,
    /// Each other member.
    pub peers: Vec<PeerStatus>,
}

impl Status {
    /// By how much this node's wall clock is ahead of the majority's, in milliseconds; negative
    /// where it is behind. The median of the members' clocks, this node's among them. Zero where no
    /// majority is heard: nobody knows better then.
    pub fn clock_ahead_ms(&self) -> i64 {
        let heard = self.peers.iter().filter(|peer| peer.connected);
        let mut ahead: Vec<i64> = heard.filter_map(|peer| peer.clock_skew_ms).collect();
        ahead.push(0);
        if 2 * ahead.len() <= self.peers.len() + 1 {
            return 0;
        }
        ahead.sort_unstable();
        // Of two in the middle the one that is nearer to this node's own.
        let middle = [ahead[(ahead.len() - 1) / 2], ahead[ahead.len() / 2]];
        let nearer = middle.into_iter().min_by_key(|skew| skew.unsigned_abs());
        nearer.unwrap_or(0).saturating_neg()
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn ahead(skews: &[Option<i64>]) -> i64 {
        let peer = |(index, skew): (usize, &Option<i64>)| PeerStatus {
            node: NodeId::parse(&format!("node-{index}")).expect("a name"),
            connected: skew.is_some(),
            relayed: false,
            lag_batches: 0,
            lag: Duration::ZERO,
            believed_after: None,
            last_contact: None,
            clock_skew_ms: *skew,
            in_sync: true,
            last_in_sync: None,
            last_anti_entropy: None,
            bytes_sent: 0,
            bytes_received: 0,
        };
        let peers = skews.iter().enumerate().map(peer).collect();
        let status = Status {
            peers,
            ..Status::default()
        };
        status.clock_ahead_ms()
    }

    #[test]
    fn the_majority_s_time_is_the_median_of_the_clocks_that_are_heard() {
        // This node's own clock is wrong, or another one's.
        assert_eq!(ahead(&[Some(-3_600_000), Some(-3_599_000)]), 3_599_000);
        assert_eq!(ahead(&[Some(50_000), Some(50_010)]), -50_000);
        assert_eq!(ahead(&[Some(7_200_000), Some(3)]), -3);
        // Four: the half that this node is in is believed.
        assert_eq!(ahead(&[Some(0), Some(9_000), Some(9_000)]), 0);
        // Of two nobody knows which one is right; nor where no majority is heard.
        assert_eq!(ahead(&[Some(9_000)]), 0);
        assert_eq!(ahead(&[Some(9_000), None]), 0);
        assert_eq!(ahead(&[Some(9_000), None, None]), 0);
        assert_eq!(ahead(&[]), 0);
    }
}
