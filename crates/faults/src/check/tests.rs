//! The checker is checked: against every order that a small history allows, and with faults that
//! are planted in a history without any.

use super::*;
use crate::history::{Cut, Grant};

const BOUNDS: Bounds = Bounds {
    told: Duration::from_millis(2000),
    staleness: Duration::from_millis(5000),
};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn operation(node: usize, invoked: u64, returned: u64, outcome: Outcome) -> Operation {
    Operation {
        node,
        invoked: ms(invoked),
        returned: ms(returned),
        outcome,
    }
}

use Outcome::{Done, Refused, Unknown};

/// Tries every order: the definition itself.
fn some_order_explains(uses: &[Operation], used: bool, placed: u32) -> bool {
    let left = |at: &usize| placed & (1 << at) == 0;
    let open = |at: &usize| uses[*at].outcome == Unknown;
    // What is open may never be done.
    if (0..uses.len()).filter(left).all(|at| open(&at)) {
        return true;
    }
    (0..uses.len()).filter(left).any(|at| {
        // Nothing that is left was over before this one began.
        let first = (0..uses.len())
            .filter(|other| left(other) && !open(other) && *other != at)
            .all(|other| uses[other].returned >= uses[at].invoked);
        let fits = match uses[at].outcome {
            Done => !used,
            Refused => used,
            Unknown => true,
        };
        let after = used || uses[at].outcome != Refused;
        first && fits && some_order_explains(uses, after, placed | 1 << at)
    })
}

#[test]
fn the_rule_is_linearizability_of_a_register_that_is_used_once() {
    // Small numbers from a seed (splitmix64): many histories, of which both answers occur often.
    let mut state = 7u64;
    let mut below = |bound: u64| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    };
    let mut explained = 0;
    for _ in 0..20_000 {
        let uses: Vec<Operation> = (0..=below(5))
            .map(|_| {
                let invoked = below(12);
                let outcome = [Done, Refused, Refused, Unknown][below(4) as usize];
                operation(0, invoked, invoked + below(6), outcome)
            })
            .collect();
        let holds = some_order_explains(&uses, false, 0);
        assert_eq!(single_use(&uses, None).is_ok(), holds, "{uses:?}");
        explained += u32::from(holds);
    }
    assert!((2_000..18_000).contains(&explained), "{explained}");
}

/// A history as it should be: a code raced at two nodes, a rotation, a validation, a revocation.
fn sound() -> History {
    let value = |kind, uses: &[Operation]| Value {
        kind,
        grant: Some(0),
        uses: uses.to_vec(),
    };
    History {
        values: vec![
            value(Kind::Code, &[operation(0, 0, 10, Done)]),
            value(Kind::RefreshToken, &[operation(1, 20, 30, Done)]),
            value(Kind::RefreshToken, &[operation(2, 40, 50, Done)]),
            value(Kind::RefreshToken, &[operation(2, 210, 220, Refused)]),
        ],
        tokens: vec![Token {
            grant: Some(0),
            ends: Vec::new(),
            checks: vec![
                operation(2, 60, 70, Done),
                operation(1, 205, 215, Refused),
                operation(0, 9000, 9010, Refused),
            ],
        }],
        grants: vec![Grant {
            ends: vec![operation(0, 100, 200, Done)],
        }],
        ..History::default()
    }
}

fn found(history: &History) -> [usize; 4] {
    let Findings {
        double,
        lost,
        forgotten,
        invalid,
        ..
    } = check(history, &BOUNDS);
    [double.len(), lost.len(), forgotten.len(), invalid.len()]
}

#[test]
fn a_sound_history_has_no_findings() {
    let findings = check(&sound(), &BOUNDS);
    assert!(findings.all().next().is_none(), "{findings:?}");
}

#[test]
fn a_planted_double_use_is_found() {
    let mut history = sound();
    history.values[0].uses.push(operation(1, 5, 12, Done));
    assert_eq!(found(&history), [1, 0, 0, 0]);
    // A replay that is refused is as it should be, also where it overlaps.
    history.values[0].uses[1].outcome = Refused;
    assert_eq!(found(&history), [0, 0, 0, 0]);
}

#[test]
fn a_planted_lost_answer_is_found() {
    // A code that was given out, and that no node knows.
    let mut history = sound();
    history.values[0].uses[0].outcome = Refused;
    assert_eq!(found(&history), [0, 1, 0, 0]);
    // An answer that never came may have used it; one that was sent later has not.
    history.values[0].uses.push(operation(1, 0, 5000, Unknown));
    assert_eq!(found(&history), [0, 0, 0, 0]);
    history.values[0].uses[1].invoked = ms(11);
    assert_eq!(found(&history), [0, 1, 0, 0]);
    // A rotation that was answered and that another node has not heard of.
    let mut history = sound();
    history.values[2].uses = vec![operation(2, 40, 50, Refused)];
    assert_eq!(found(&history), [0, 1, 0, 0]);
    // Refused first, and accepted later.
    history.values[2].uses.push(operation(0, 60, 70, Done));
    assert_eq!(found(&history), [0, 1, 0, 0]);
    // A session that is gone.
    history = sound();
    history.gone.push("the session of u1".to_owned());
    assert_eq!(found(&history), [0, 1, 0, 0]);
}

#[test]
fn a_planted_forgotten_revocation_is_found() {
    let mut history = sound();
    history.tokens[0].checks[2].outcome = Done;
    assert_eq!(found(&history), [0, 0, 1, 0]);
    // A node that was cut off may not know it, for as long as it may be stale.
    history.cuts.push(Cut {
        node: 0,
        from: ms(150),
        healed: ms(20_000),
        until: ms(21_000),
    });
    assert_eq!(found(&history), [0, 0, 1, 0], "it was stale for too long");
    history.tokens[0].checks[2].invoked = ms(5000);
    assert_eq!(found(&history), [0, 0, 0, 0]);
    history.cuts[0].node = 1;
    assert_eq!(found(&history), [0, 0, 1, 0], "another one was cut off");
    // A rotation after the end.
    let mut history = sound();
    history.values[3].uses = vec![operation(2, 2300, 2310, Done)];
    assert_eq!(found(&history), [0, 0, 1, 0]);
    // Within the time that telling may take it is only measured.
    history.values[3].uses = vec![operation(2, 300, 310, Done)];
    assert_eq!(found(&history), [0, 0, 0, 0]);
    assert_eq!(check(&history, &BOUNDS).longest_unheard, ms(100));
    // The replay of a code ends what was issued for it.
    let mut history = sound();
    history.grants[0].ends.clear();
    history.values[0].uses.push(operation(1, 80, 90, Refused));
    assert_eq!(found(&history), [0, 0, 0, 0]);
    history.tokens[0].checks[2].outcome = Done;
    assert_eq!(found(&history), [0, 0, 1, 0]);
}

#[test]
fn a_planted_failed_validation_is_found() {
    let mut history = sound();
    history.tokens[0].checks[0].outcome = Refused;
    assert_eq!(found(&history), [0, 0, 0, 1]);
    history.tokens[0].ends.push(operation(2, 55, 58, Unknown));
    assert_eq!(found(&history), [0, 0, 0, 0]);
    // A relying party that does not know the key.
    history
        .refused
        .push("a key that was not published".to_owned());
    assert_eq!(found(&history), [0, 0, 0, 1]);
}
