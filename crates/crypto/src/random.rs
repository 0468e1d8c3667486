//! Randomness.
//!
//! Two sources, one generator behind both (aws-lc-rs's, seeded by the operating system): [`fill`]
//! hands out small values (identifiers, nonces, one-time codes) from a buffer of the calling
//! thread, which is refilled 1024 bytes at a time: a refill costs little more than a single small
//! request. Bytes are wiped as they are handed out, so memory read later does not reveal values
//! given earlier. [`fill_system`] asks the generator itself, for long-lived key material.
//!
//! The process does not fork, which is what a per-thread buffer assumes.

use std::cell::RefCell;

use zeroize::Zeroize;

const BUFFER: usize = 1024;

struct Buffer {
    bytes: [u8; BUFFER],
    /// Where the unused bytes begin.
    next: usize,
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

thread_local! {
    static POOL: RefCell<Buffer> = const { RefCell::new(Buffer { bytes: [0; BUFFER], next: BUFFER }) };
}

/// Fills `out` with random bytes that nobody can predict.
///
/// # Panics
/// If the operating system gives no randomness; nothing safe can be done then.
pub fn fill(out: &mut [u8]) {
    if out.len() > BUFFER / 4 {
        return fill_system(out);
    }
    // A thread that is being torn down has lost its buffer.
    if POOL.try_with(|pool| pool.borrow_mut().take(out)).is_err() {
        fill_system(out);
    }
}

impl Buffer {
    /// `out` is no longer than the buffer.
    fn take(&mut self, out: &mut [u8]) {
        if BUFFER - self.next < out.len() {
            fill_system(&mut self.bytes);
            self.next = 0;
        }
        let end = self.next + out.len();
        let taken = &mut self.bytes[self.next..end];
        out.copy_from_slice(taken);
        taken.zeroize();
        self.next = end;
    }
}

/// Fills `out` from the generator itself: for keys, seeds and salts that live long.
///
/// # Panics
/// If the operating system gives no randomness.
pub fn fill_system(out: &mut [u8]) {
    // Going on without randomness would hand out guessable secrets: stopping is the only answer.
    aws_lc_rs::rand::fill(out).expect("the operating system gives randomness");
}

/// `N` random bytes, as [`fill`].
pub fn bytes<const N: usize>() -> [u8; N] {
    let mut out = [0; N];
    fill(&mut out);
    out
}

/// As [`bytes`], less the first bit, for an id that people hand to commands: as base64url it does
/// not begin with `-`, where an option would.
pub fn id<const N: usize>() -> [u8; N] {
    let mut out = bytes();
    if let Some(first) = out.first_mut() {
        *first &= 0x7f;
    }
    out
}

/// A uniform number below `bound` (six-digit codes), without modulo bias. A bound of 0 gives 0.
pub fn below(bound: u32) -> u32 {
    // Lemire's multiplication: the high word is uniform once the few low words that occur too often
    // are drawn again.
    let threshold = bound.wrapping_neg().checked_rem(bound).unwrap_or(0);
    loop {
        let product = u64::from(u32::from_le_bytes(bytes())) * u64::from(bound);
        let (high, low) = ((product >> 32) as u32, product as u32);
        if low >= threshold {
            return high;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_do_not_repeat_across_refills_and_threads() {
        let draw = || (0..1_000).map(|_| bytes::<16>()).collect::<Vec<_>>();
        let other = std::thread::spawn(draw);
        let mut all = draw();
        all.extend(other.join().expect("the thread ends"));
        let total = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), total);
    }

    #[test]
    fn an_id_as_base64url_does_not_begin_as_an_option_does() {
        // `-` stands for 62, of which the first bit is set.
        let all: Vec<[u8; 16]> = (0..1_000).map(|_| id()).collect();
        assert!(all.iter().all(|id| id[0] < 0x80));
        assert!(all.iter().any(|id| id[0] >= 0x40) && all.iter().any(|id| id[1] >= 0x80));
    }

    #[test]
    fn handed_out_bytes_are_wiped_from_the_buffer() {
        let _ = bytes::<32>();
        POOL.with(|pool| {
            let pool = pool.borrow();
            assert!(pool.bytes[..pool.next].iter().all(|b| *b == 0));
        });
    }

    #[test]
    fn long_requests_are_filled_to_the_end() {
        let mut long = vec![0; 4 * BUFFER];
        fill(&mut long);
        assert!(long.chunks(64).all(|chunk| chunk.iter().any(|b| *b != 0)));
    }

    #[test]
    fn numbers_stay_below_their_bound_and_reach_all_of_it() {
        assert_eq!(below(0), 0);
        assert_eq!(below(1), 0);
        let mut seen = [0_u32; 6];
        for _ in 0..6_000 {
            seen[below(6) as usize] += 1;
        }
        assert!(seen.iter().all(|n| (700..1_300).contains(n)), "{seen:?}");
        assert!((0..1_000).all(|_| below(1_000_000) < 1_000_000));
        assert!((0..1_000).map(|_| below(u32::MAX)).any(|n| n > 1 << 31));
    }
}
