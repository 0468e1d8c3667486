//! Memory that is given back.
//!
//! A password hash needs 19 MiB for some milliseconds. glibc learns from the first such block to
//! keep the next ones on its heap, and an idle server would hold them for good. With a fixed
//! threshold every large block is mapped by itself and unmapped when it is freed.
#![allow(unsafe_code)]

/// Blocks from this size on are mapped by themselves, in bytes.
#[cfg(target_env = "gnu")]
const LARGE: i32 = 1024 * 1024;
/// `M_MMAP_THRESHOLD` of malloc.h.
#[cfg(target_env = "gnu")]
const M_MMAP_THRESHOLD: i32 = -3;

#[cfg(target_env = "gnu")]
unsafe extern "C" {
    /// mallopt(3) of glibc.
    safe fn mallopt(parameter: i32, value: i32) -> i32;
}

/// To be called once, before there are other threads.
pub fn give_back_large_blocks() {
    // `safe`: mallopt takes two numbers, keeps no pointer, locks the allocator's state itself, and
    // answers 0 for what it does not know. Failing only means more memory.
    #[cfg(target_env = "gnu")]
    mallopt(M_MMAP_THRESHOLD, LARGE);
}
