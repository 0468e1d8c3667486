//! Socket activation (sd_listen_fds(3)): listening sockets that were open before this process
//! began.
//!
//! The one place of the house where a descriptor is taken by its number.
#![allow(unsafe_code)]

use std::{
    net::TcpListener,
    os::fd::{FromRawFd, OwnedFd, RawFd},
    sync::atomic::{AtomicBool, Ordering},
};

/// The first descriptor that a manager passes.
const FIRST: RawFd = 3;
/// More than this is no manager's doing.
const MAX: RawFd = 64;

static TAKEN: AtomicBool = AtomicBool::new(false);

/// The sockets handed over, in order. Empty without a manager, if they are meant for another
/// process, or the second time.
pub fn inherited_listeners() -> Vec<TcpListener> {
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .and_then(|v| v.parse::<RawFd>().ok())
    };
    let for_us =
        number("LISTEN_PID").is_some_and(|pid| u32::try_from(pid) == Ok(std::process::id()));
    let count = number("LISTEN_FDS").unwrap_or(0).clamp(0, MAX);
    if !for_us || TAKEN.swap(true, Ordering::SeqCst) {
        return Vec::new();
    }
    (FIRST..FIRST + count)
        .map(|fd| {
            // SAFETY: the manager's contract gives this process (LISTEN_PID is ours) the
            // descriptors 3 .. 3 + LISTEN_FDS, open and owned by nobody else here; `TAKEN` lets
            // each be taken once. A descriptor that is closed after all makes every later call on
            // it fail with EBADF, and nothing worse.
            let owned = unsafe { OwnedFd::from_raw_fd(fd) };
            TcpListener::from(owned)
        })
        .collect()
}
