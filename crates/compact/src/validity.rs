//! When a certificate vouches for a key.

/// From when to when, in Unix seconds, both included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Validity {
    /// The first second; 0: from the beginning.
    pub not_before: u64,
    /// The last second; must be set.
    pub expires_at: u64,
}

/// What a verified certificate says about a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Certified {
    pub(crate) id: [u8; 32],
    pub(crate) validity: Validity,
}

impl Certified {
    pub(crate) fn covers(&self, now: u64, leeway: u64) -> bool {
        now.saturating_add(leeway) >= self.validity.not_before
            && now <= self.validity.expires_at.saturating_add(leeway)
    }
}
