//! ML-DSA's hints have one encoding (FIPS 204 algorithm 21): a decoder that is lax gives one
//! signature several spellings.
//!
//! That secrets take no variable-time division is the library's own property (aws-lc divides by
//! constants, checked there with constant-time tooling); no test here could show it.

use std::collections::BTreeSet;

use signet_crypto::{Algorithm, SigningKey};

/// Number of polynomials and the most hints (FIPS 204 table 1: k and omega).
const SETS: [(Algorithm, usize, usize); 3] = [
    (Algorithm::MlDsa44, 4, 80),
    (Algorithm::MlDsa65, 6, 55),
    (Algorithm::MlDsa87, 8, 75),
];

/// What a lax decoder reads: the set of positions of each polynomial.
fn lax(hints: &[u8], k: usize, omega: usize) -> Vec<BTreeSet<u8>> {
    let mut from = 0;
    (0..k)
        .map(|i| {
            let to = usize::from(hints[omega + i]);
            let set = hints[from..to].iter().copied().collect();
            from = to;
            set
        })
        .collect()
}

#[test]
fn c05_repeated_unordered_and_padded_hints_are_refused() {
    for (algorithm, k, omega) in SETS {
        let key = SigningKey::generate(algorithm).expect("a key");
        let verifying = key.verifying_key().expect("its own key");
        let (mut repeated, mut swapped, mut padded) = (0, 0, 0);
        for round in 0_u32..200 {
            let message = round.to_le_bytes();
            let mut signature = Vec::new();
            key.sign_into(&message, &mut signature).expect("signed");
            assert!(verifying.verify(&message, &signature).is_ok());
            let at = signature.len() - omega - k;
            let hints = signature[at..].to_vec();
            let used = usize::from(hints[omega + k - 1]);
            let refused = |changed: &[u8]| {
                let forged = [&signature[..at], changed].concat();
                assert_eq!(forged.len(), signature.len());
                assert!(
                    verifying.verify(&message, &forged).is_err(),
                    "{algorithm:?}"
                );
            };
            let mut from = 0;
            for polynomial in 0..k {
                let to = usize::from(hints[omega + polynomial]);
                if used < omega && from < to {
                    // Each position once more behind itself: the same hints for who collects them.
                    for place in from..to {
                        let mut changed = hints.clone();
                        changed[place + 1..=used].copy_from_slice(&hints[place..used]);
                        changed[omega + polynomial..]
                            .iter_mut()
                            .for_each(|end| *end += 1);
                        assert_eq!(lax(&changed, k, omega), lax(&hints, k, omega));
                        refused(&changed);
                        repeated += 1;
                    }
                }
                if to - from > 1 {
                    let mut changed = hints.clone();
                    changed.swap(from, from + 1);
                    assert_eq!(lax(&changed, k, omega), lax(&hints, k, omega));
                    refused(&changed);
                    // One in place of another: another set, and a repetition.
                    changed[from] = hints[from];
                    changed[from + 1] = hints[from];
                    refused(&changed);
                    swapped += 1;
                }
                from = to;
            }
            for place in used..omega {
                let mut changed = hints.clone();
                changed[place] = 1;
                assert_eq!(lax(&changed, k, omega), lax(&hints, k, omega));
                refused(&changed);
                padded += 1;
            }
            // Ends that fall, and an end beyond the room.
            let mut changed = hints.clone();
            changed[omega + 1] = changed[omega].saturating_sub(1);
            changed[omega] = changed[omega].max(1);
            refused(&changed);
            changed = hints.clone();
            changed[omega + k - 1] = omega as u8 + 1;
            refused(&changed);
            if repeated > 50 && swapped > 20 && padded > 20 {
                break;
            }
        }
        assert!(
            repeated > 50 && swapped > 20 && padded > 20,
            "{algorithm:?}: {repeated} {swapped} {padded}"
        );
    }
}
