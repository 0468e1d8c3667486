use crate::support::*;
use signet_verify::{Policy, Presented, Refusal, Verifier};
use std::sync::{
    Barrier,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// What could make throughput collapse when connections grow is something that they share and wait
/// for, or that grows with them. There is neither: a thousand users in turns of a few on many
/// threads, idle ones between, get right answers of one verifier, at the same time, and what it
/// keeps stays within its bound. (How fast is the load bench's matter.)
#[test]
fn v04_a_thousand_users_at_once_get_right_answers_of_one_verifier_within_its_bounds() {
    const THREADS: usize = 16;
    const USERS: usize = 64; // of each thread: 1024 together
    const CACHE_BYTES: usize = 200_000;
    let v = Verifier::builder()
        .issuer(issuer())
        .policy(Policy::access_token(AUDIENCE))
        .cache(256, CACHE_BYTES)
        .build()
        .unwrap();
    let wrong = AtomicUsize::new(0);
    let together = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (v, wrong, together) = (&v, &wrong, &together);
            scope.spawn(move || {
                let users: Vec<(String, String, String)> = (0..USERS)
                    .map(|user| {
                        let sub = format!("user-{thread}-{user}");
                        let made = access().with("alice", &sub).with("t-1", &sub);
                        let token = made.signed();
                        let (header, _, signature) = parts(&token);
                        let body = encode(&made.with(&sub, "admin").payload);
                        (sub, token, format!("{header}.{body}.{signature}"))
                    })
                    .collect();
                together.wait();
                for round in 0..8 {
                    for (index, (sub, token, forged)) in users.iter().enumerate() {
                        // Most are idle at a time, and come again later.
                        if !(index + round).is_multiple_of(3) {
                            continue;
                        }
                        let verified = v.verify(&Presented::token(token), NOW);
                        let right = verified.is_ok_and(|v| v.claims().sub() == Some(sub));
                        let forged = v.verify(&Presented::token(forged), NOW);
                        let refused = forged.is_err_and(|r| r == Refusal::Signature);
                        wrong.fetch_add(usize::from(!right) + usize::from(!refused), Relaxed);
                    }
                }
            });
        }
    });
    assert_eq!(wrong.load(Relaxed), 0);
    let decided = v.counters().accepted() + v.counters().refused(Refusal::Signature);
    assert!(decided > 2 * 1024 * 2, "{decided}");
    assert!(v.cached_bytes() <= CACHE_BYTES, "{}", v.cached_bytes());
}
