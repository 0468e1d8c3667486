//! What time it is: a command's own clock.

use std::time::SystemTime;

/// Unix seconds.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
