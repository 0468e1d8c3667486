//! What is counted and measured of a connection.
use crate::NodeId;
use std::{
    sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// A connection to a member, or its absence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkState {
    /// The member.
    pub node: NodeId,
    /// Of the connection that stands; `None`: no connection stands.
    pub connection: Option<Connection>,
}

/// What is known of a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Connection {
    /// Since when it stands, Unix milliseconds.
    pub since_ms: u64,
    /// Whether this node connected to the other one.
    pub dialled: bool,
    /// Bytes sent over it, before encryption.
    pub sent_bytes: u64,
    /// Bytes received over it.
    pub received_bytes: u64,
    /// Records written to it; each has one or several messages, or a part of one.
    pub sent_records: u64,
    /// Whole messages received over it.
    pub received_messages: u64,
    /// From a heartbeat to its answer; `None` before the first.
    pub rtt: Option<Duration>,
    /// By how much the other node's clock is ahead of this one's, in milliseconds, as the last
    /// heartbeat showed it: exact to half the round trip.
    pub clock_offset_ms: Option<i64>,
}

pub(crate) struct Counters {
    since_ms: u64,
    sent_bytes: AtomicU64,
    received_bytes: AtomicU64,
    sent_records: AtomicU64,
    received_messages: AtomicU64,
    /// Microseconds and 1; 0: not measured.
    rtt: AtomicU64,
    offset_ms: AtomicI64,
}

impl Counters {
    pub(crate) fn new(since_ms: u64) -> Counters {
        Counters {
            since_ms,
            sent_bytes: AtomicU64::new(0),
            received_bytes: AtomicU64::new(0),
            sent_records: AtomicU64::new(0),
            received_messages: AtomicU64::new(0),
            rtt: AtomicU64::new(0),
            offset_ms: AtomicI64::new(0),
        }
    }

    pub(crate) fn sent(&self, bytes: usize) {
        self.sent_bytes.fetch_add(bytes as u64, Relaxed);
        self.sent_records.fetch_add(1, Relaxed);
    }

    pub(crate) fn received(&self, bytes: usize) {
        self.received_bytes.fetch_add(bytes as u64, Relaxed);
    }

    pub(crate) fn received_frame(&self) {
        self.received_messages.fetch_add(1, Relaxed);
    }

    /// `rtt` in microseconds; the clocks at the peer's answer and at its arrival.
    pub(crate) fn measured(&self, rtt: u64, theirs_ms: u64, ours_ms: u64) {
        // The answer was on its way for half of the time (RFC 5905 section 8).
        let then = i128::from(ours_ms) - i128::from(rtt / 2000);
        let offset = i128::from(theirs_ms) - then;
        let bound = |offset: i128| offset.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        self.offset_ms.store(bound(offset), Relaxed);
        self.rtt.store(rtt.saturating_add(1), Relaxed);
    }

    pub(crate) fn connection(&self, dialled: bool) -> Connection {
        let rtt = self.rtt.load(Relaxed).checked_sub(1);
        Connection {
            since_ms: self.since_ms,
            dialled,
            sent_bytes: self.sent_bytes.load(Relaxed),
            received_bytes: self.received_bytes.load(Relaxed),
            sent_records: self.sent_records.load(Relaxed),
            received_messages: self.received_messages.load(Relaxed),
            rtt: rtt.map(Duration::from_micros),
            clock_offset_ms: rtt.map(|_| self.offset_ms.load(Relaxed)),
        }
    }
}
