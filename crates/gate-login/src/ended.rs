//! Sessions that ended here: by a logout, or because the issuer said so over the back channel.
//!
//! In memory, as what a stream of revocations tells is. Where an issuer has no such stream, nobody
//! would tell a gate that starts what ended before: so there the sessions of before its start are
//! over, and are renewed by the issuer's own.

use signet_verify::{Claims, MemoryRevocations, OnStreamLoss, Revocation, Revocations, Subject};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Ends between two sweeps of those that are over.
const SWEEP_AFTER: u32 = 1024;

/// What ended. One for the process: a reload keeps it.
pub struct Ended {
    revocations: MemoryRevocations,
    since_sweep: AtomicU32,
}

impl Default for Ended {
    fn default() -> Ended {
        Ended {
            revocations: MemoryRevocations::new(OnStreamLoss::FailOpen),
            since_sweep: AtomicU32::new(0),
        }
    }
}

impl Ended {
    /// Every session of this issuer that was begun up to this moment (Unix milliseconds) is over.
    pub fn before(&self, issuer: &str, moment_ms: u64) {
        let everything = Subject::Issuer(issuer, moment_ms);
        self.revocations.revoke(everything, u64::MAX);
    }

    /// `until`: Unix seconds at which the longest session concerned is over anyway.
    pub(crate) fn end(&self, subject: Subject<'_>, now: u64, until: u64) {
        self.revocations.revoke(subject, until);
        if self.since_sweep.fetch_add(1, Relaxed) >= SWEEP_AFTER {
            self.since_sweep.store(0, Relaxed);
            self.revocations.sweep(now);
        }
    }

    pub(crate) fn has_ended(&self, claims: &Claims, now: u64) -> bool {
        self.revocations.check(claims, now) != Revocation::Live
    }
}
