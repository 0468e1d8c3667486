//! Memory that is given back.
//!
//! A password hash needs 19 MiB for some milliseconds. glibc learns from the first such block to
//! keep the next ones on its heap, and an idle server would hold them for good. With a fixed
//! threshold every large block is mapped by itself and unmapped when it is freed.
//!
//! Two thousand connections need 28 KB each. What they leave free when they close lies between
//! what stays, so glibc keeps nearly all of it. A thread looks how much is free, and gives it back
//! once nothing has asked for it for a while.
#![allow(unsafe_code)]

use std::time::Duration;

/// Blocks from this size on are mapped by themselves, in bytes.
#[cfg(target_env = "gnu")]
const LARGE: i32 = 1024 * 1024;
/// `M_MMAP_THRESHOLD` of malloc.h.
#[cfg(target_env = "gnu")]
const M_MMAP_THRESHOLD: i32 = -3;
/// From look to look.
const INTERVAL: Duration = Duration::from_secs(2);
/// So much may lie free for good, in bytes: it will soon be asked for again.
const SPARE: u64 = 4 * 1024 * 1024;

/// `struct mallinfo` of malloc.h, for all arenas together. The newer `mallinfo2` has wider members,
/// and is not there before glibc 2.33.
#[cfg(target_env = "gnu")]
#[repr(C)]
#[derive(Clone, Copy)]
struct Mallinfo {
    arena: i32,
    ordblks: i32,
    smblks: i32,
    hblks: i32,
    hblkhd: i32,
    usmblks: i32,
    fsmblks: i32,
    uordblks: i32,
    fordblks: i32,
    keepcost: i32,
}

#[cfg(target_env = "gnu")]
unsafe extern "C" {
    /// mallopt(3) of glibc.
    safe fn mallopt(parameter: i32, value: i32) -> i32;
    /// mallinfo(3) of glibc.
    safe fn mallinfo() -> Mallinfo;
    /// malloc_trim(3) of glibc.
    safe fn malloc_trim(pad: usize) -> i32;
}

/// To be called once, before there are other threads.
pub fn give_back_large_blocks() {
    // `safe`: mallopt takes two numbers, keeps no pointer, locks the allocator's state itself, and
    // answers 0 for what it does not know. Failing only means more memory.
    #[cfg(target_env = "gnu")]
    mallopt(M_MMAP_THRESHOLD, LARGE);
}

/// Begins to give back what load has left. For programs that go on, a server say.
pub fn give_back_what_load_leaves() {
    #[cfg(target_env = "gnu")]
    {
        let looks = || {
            let mut looks = Looks::default();
            loop {
                std::thread::sleep(INTERVAL);
                // `safe`: both take no pointer and lock each arena themselves.
                let Some(resident) = resident() else { return };
                let info = mallinfo();
                // Above 2 GB the members have wrapped around; above 4 GB they say too little.
                let bytes = |member: i32| u64::from(member.cast_unsigned());
                if looks.at(resident, bytes(info.uordblks), bytes(info.fordblks)) {
                    malloc_trim(0);
                    looks.trimmed(self::resident().unwrap_or(resident));
                }
            }
        };
        // Without the thread there is more memory in use, and nothing else is wrong.
        let builder = std::thread::Builder::new().name("memory".into());
        let _ = builder.stack_size(64 * 1024).spawn(looks);
    }
}

/// Resident memory of this process, in bytes. None where the kernel does not say.
#[cfg(target_env = "gnu")]
fn resident() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Decides when to give back. Under load the heap breathes: what is free now is asked for in the
/// next moment, and giving it back would cost a page fault for each 4 KB.
#[derive(Debug, Default)]
struct Looks {
    /// There was much to give back at the last look already, and as much was in use.
    since: Option<u64>,
    /// What was resident after the last time; what is free and has been given back counts as free
    /// for the allocator still.
    after: u64,
}

impl Looks {
    /// What one look sees, in bytes. True: give it back now.
    fn at(&mut self, resident: u64, used: u64, free: u64) -> bool {
        let returned_already = resident <= self.after + SPARE;
        if free < SPARE + used / 2 || returned_already {
            self.since = None;
            // It has shrunk below: from here on growth counts.
            self.after = self.after.min(resident);
            return false;
        }
        // Twice, and without more in use: the load has gone, it does not just pause.
        match self.since.replace(used) {
            Some(before) if used <= before + SPARE => {
                self.since = None;
                true
            }
            Some(_) | None => false,
        }
    }

    fn trimmed(&mut self, resident: u64) {
        self.after = resident;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1 << 20;

    #[test]
    fn what_load_left_is_given_back_at_the_second_look() {
        let mut looks = Looks::default();
        assert!(!looks.at(32 * MB, 18 * MB, MB), "at the start");
        assert!(!looks.at(84 * MB, 70 * MB, 2 * MB), "all is in use");
        assert!(!looks.at(84 * MB, 2 * MB, 70 * MB), "the first look after");
        assert!(looks.at(84 * MB, 2 * MB, 70 * MB), "the second");
        looks.trimmed(32 * MB);
        for _ in 0..4 {
            assert!(!looks.at(32 * MB, 2 * MB, 70 * MB), "given back already");
        }
    }

    #[test]
    fn load_that_comes_again_is_not_slowed_by_giving_back() {
        let mut looks = Looks::default();
        for _ in 0..4 {
            assert!(!looks.at(84 * MB, 2 * MB, 70 * MB), "a pause");
            assert!(!looks.at(84 * MB, 60 * MB, 12 * MB), "and on");
        }
        assert!(!looks.at(84 * MB, 2 * MB, 70 * MB));
        assert!(!looks.at(84 * MB, 20 * MB, 52 * MB), "it grows again");
    }

    #[cfg(target_env = "gnu")]
    #[test]
    fn the_system_says_what_is_resident_and_what_is_free() {
        // Smaller than what is mapped by itself.
        let block = vec![1_u8; 100_000];
        let info = mallinfo();
        assert!(info.uordblks as usize >= block.len());
        assert!(resident().is_some_and(|bytes| bytes > MB));
    }
}
