//! What can go wrong below the rules.

/// A failure of the engine, or of the caller's use of it. A condition that did not hold is no
/// error: see `Outcome`.
///
/// For the caller every variant means the same: nothing may be answered as if the question had been
/// decided.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// The engine cannot answer now: the queue is full, the disk is full or broken, the store was
    /// closed. A change may or may not have been done.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// What is stored is not what was written.
    #[error("a stored row cannot be read: {0}")]
    Corrupt(String),
    /// A key, a value or a change above its bound. Nothing was done.
    #[error("the value is too large")]
    TooLarge,
    /// The caller broke a rule of the trait. Nothing was done.
    #[error("invalid use of the store: {0}")]
    Invalid(&'static str),
}
