//! What a proof was made from does not outlive it on the heap.
#![allow(unsafe_code, reason = "an allocator that looks at what it frees")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::*;

/// What is looked for: four words, as they stand in memory.
type Needle = [u64; 4];

const NEEDLES: usize = 8;
static WATCHED: [[AtomicU64; 4]; NEEDLES] = [const { [const { AtomicU64::new(0) }; 4] }; NEEDLES];
static ON: AtomicBool = AtomicBool::new(false);
/// How often each needle was in memory that was freed.
static FOUND: [AtomicUsize; NEEDLES] = [const { AtomicUsize::new(0) }; NEEDLES];

struct Watching;

// SAFETY: every call is passed on to the system's allocator; what is freed is read before, within
// its own length.
unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's own promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if ON.load(Ordering::Relaxed) && layout.size() >= 32 && pointer.addr().is_multiple_of(8) {
            let words = pointer.cast::<u64>();
            for at in 0..layout.size() / 8 - 3 {
                for (needle, found) in WATCHED.iter().zip(&FOUND) {
                    let here = (0..4).all(|i| {
                        // SAFETY: aligned, and within what is freed: `at + i` is below its number
                        // of words.
                        let word = unsafe { words.add(at + i).read_volatile() };
                        word == needle[i].load(Ordering::Relaxed)
                    });
                    if here && needle[0].load(Ordering::Relaxed) != 0 {
                        found.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        }
        // SAFETY: the caller's own promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Watching = Watching;

/// How often each needle is found in what is freed during `work`.
fn found(needles: &[Needle], work: impl FnOnce()) -> Vec<usize> {
    for (i, watched) in WATCHED.iter().enumerate() {
        for (j, word) in watched.iter().enumerate() {
            word.store(
                needles.get(i).map_or(0, |needle| needle[j]),
                Ordering::Relaxed,
            );
        }
        FOUND[i].store(0, Ordering::Relaxed);
    }
    ON.store(true, Ordering::Relaxed);
    work();
    ON.store(false, Ordering::Relaxed);
    FOUND[..needles.len()]
        .iter()
        .map(|count| count.load(Ordering::Relaxed))
        .collect()
}

fn words(bytes: &[u8]) -> Needle {
    std::array::from_fn(|i| {
        let mut word = [0; 8];
        word.copy_from_slice(&bytes[8 * i..8 * i + 8]);
        u64::from_ne_bytes(word)
    })
}

#[test]
fn what_a_proof_was_made_from_is_wiped_before_it_is_freed() {
    let parameters = Parameters::development(Statement::Poseidon);
    let mut prover = Prover::new(&parameters);
    let (key, message) = (signet_crypto::random::bytes(), [5; 32]);
    // The watch sees what is freed. This needle is no other's: freed memory is used again, and what
    // stood in it may still do.
    let control: Needle =
        std::array::from_fn(|_| u64::from_ne_bytes(signet_crypto::random::bytes()));
    assert_eq!(found(&[control], || drop(control.to_vec())), [1]);
    for portable in [false, true] {
        if portable {
            prover.transform = None;
        }
        let [x, y] = halves(&key);
        let Witness {
            left,
            right,
            values,
            ..
        } = prover.witness(&key, &message);
        let (deep_left, deep_value) = (left[40].0.0, values[100].0.0);
        let products = prover.products(left, right);
        let sorted = prover.tables.quotient.sort(&products);
        let entries = sorted.entries()[..8].iter().flat_map(|e| e.to_ne_bytes());
        let entries: Zeroizing<Vec<u8>> = Zeroizing::new(entries.collect());
        let needles = [
            x.0.0,
            y.0.0,
            x.into_bigint().0,
            deep_left,
            deep_value,
            products[7].0,
            words(&entries),
        ];
        let held = found(&needles, || {
            prover.prove(&key, &message).unwrap();
        });
        assert_eq!(held, [0; 7], "portable: {portable}");
    }
    // The bits of SHA-256 and its words. One test, because there is one watch.
    let circuit = Sha256Circuit::new();
    let bits = circuit.secret_wires(&key);
    let key_words = std::array::from_fn(|i| {
        let mut word = [0; 4];
        word.copy_from_slice(&key[4 * i..4 * i + 4]);
        u64::from(u32::from_be_bytes(word))
    });
    let needles = [words(&bits[8..40]), key_words];
    let held = found(&needles, || drop(circuit.secret_wires(&key)));
    assert_eq!(held, [0, 0]);
}
