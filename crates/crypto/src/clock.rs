//! Time, which is handed in as randomness is: no room above reads a clock of its own.

/// Where the time comes from. Only the binary's wiring reads the system's clock; tests move their
/// own.
pub trait Clock: Send + Sync + 'static {
    /// Milliseconds since the Unix epoch.
    fn now_ms(&self) -> u64;
    /// Seconds since the Unix epoch.
    fn now(&self) -> u64 {
        self.now_ms() / 1000
    }
}
