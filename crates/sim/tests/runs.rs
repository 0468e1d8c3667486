//! Runs, many of them.
use crate::{
    clients::{self, Clients, Counts},
    executor::{Clock, NOBODY},
    planted::Planted,
    random::Random,
    revocations, trouble,
    world::World,
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

const RUNS: u64 = 2_000;

/// The result of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Outcome {
    counts: Counts,
    messages: u64,
    revocations: u64,
    trace: u64,
}

/// One world from its beginning to its end.
fn run(seed: u64, planted: Planted) -> Result<Outcome, String> {
    let clock = Clock::default();
    let inner = clock.clone();
    clock.run(async move { live(inner, seed, planted).await })
}

async fn live(clock: Clock, seed: u64, planted: Planted) -> Result<Outcome, String> {
    let random = Random::new(seed ^ 0x5167_6e65_7400);
    let nodes = if random.permille(200) { 5 } else { 3 };
    // A few worlds begin with one node, and see the others join.
    let world = match random.permille(40) {
        true => World::grown(&clock, 3, seed).await,
        false => World::of(&clock, nodes, seed).await,
    };
    for node in world.numbers() {
        world.set_skew(node, random.below(580) as i64 - 290);
    }
    let clients = Clients::of(&world, planted);
    let begun_us = clock.now_us();
    let until_us = begun_us + random.between(2_500_000, 6_000_000);
    let mut calls = Vec::new();
    for _ in 0..random.between(3, 6) {
        let call = clients.clone().call(random.fork(), until_us, 400_000);
        calls.push(clock.within(NOBODY, call));
    }
    let revocations = revocations::begin(&world);
    let revoke = revocations.clone().call(random.fork(), until_us, 500_000);
    let revoke = clock.within(NOBODY, revoke);
    let trouble = trouble::make(world.clone(), random.fork(), until_us, planted);
    let trouble = clock.within(NOBODY, trouble);
    // Both at once: what is waited for first does not hold up the other.
    let calls = async {
        for call in calls {
            call.await.expect("nobody ends it");
        }
        revoke.await.expect("nobody ends it");
    };
    tokio::join!(trouble, calls).0.expect("nobody ends it");
    world.settle("all is well again").await;
    if world.is_full() {
        // That a disk has space again is seen within five seconds.
        clock.sleep_us(5_100_000).await;
    }
    let again = random.permille(200);
    revocations
        .end(again.then_some(*random.one_of(&world.numbers())))
        .await;
    if random.permille(300) {
        // Whatever lives for minutes has expired, and is swept. Nothing is in progress: a call that
        // takes two hours is not among what can happen.
        world.leap(7_200);
        for node in world.numbers() {
            clients::sweep(&world, node);
        }
        clock.sleep_us(100_000).await;
    }
    clients.ask_all_again(&random).await;
    world.settle("all is well, and all have the same").await;
    let counts = clients.judge()?;
    let numbers = world.numbers();
    let rows = world.rows(numbers[0]).await;
    for other in &numbers[1..] {
        if world.rows(*other).await != rows {
            return Err(format!("the rows of {} and {other} differ", numbers[0]));
        }
    }
    Ok(Outcome {
        counts,
        messages: world.messages.load(Relaxed),
        revocations: revocations.count(),
        trace: world.trace.value(),
    })
}

fn number(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().expect("a number"))
}

/// Runs so many seeds of a kind, or as many as `SIGNET_SIM_RUNS` says for a test of 2,000; how
/// many. None: one alone, which `SIGNET_SIM_SEED` names. `run` panics where something is wrong.
pub(crate) fn each_seed(kind: &str, runs: u64, run: impl Fn(u64) -> String + Sync) -> Option<u64> {
    if let Some(seed) = number("SIGNET_SIM_SEED") {
        eprintln!("{kind}: {}", run(seed));
        return None;
    }
    let runs = number("SIGNET_SIM_RUNS").map_or(runs, |wanted| (wanted * runs).div_ceil(RUNS));
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, |n| n.get()) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Relaxed);
                    if seed >= runs {
                        break;
                    }
                    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| run(seed))) {
                        eprintln!("this run of {kind} again: SIGNET_SIM_SEED={seed}");
                        next.store(runs, Relaxed);
                        resume_unwind(panic);
                    }
                }
            });
        }
    });
    Some(runs)
}

#[test]
fn in_every_world_what_may_happen_once_happens_once_and_nothing_answered_is_lost() {
    let [calls, done, unknown, revoked] = [const { AtomicU64::new(0) }; 4];
    let runs = each_seed("runs", RUNS, |seed| {
        let outcome = run(seed, Planted::Nothing).expect("what callers received");
        calls.fetch_add(outcome.counts.calls, Relaxed);
        done.fetch_add(outcome.counts.done, Relaxed);
        unknown.fetch_add(outcome.counts.unknown, Relaxed);
        revoked.fetch_add(outcome.revocations, Relaxed);
        format!("{outcome:?}")
    });
    let Some(runs) = runs else {
        return;
    };
    let [calls, done, unknown, revoked] =
        [calls, done, unknown, revoked].map(AtomicU64::into_inner);
    eprintln!(
        "{runs} runs: {calls} calls, {done} done, {unknown} of unknown end; {revoked} revocations"
    );
    // Worlds in which nothing can be done show nothing.
    assert!(
        done > runs * 5 && revoked > runs,
        "{done} of {calls}, {revoked}"
    );
}

#[test]
fn a_seed_is_a_run() {
    for seed in 0..12 {
        let first = run(seed, Planted::Nothing).expect("what callers received");
        assert_eq!(run(seed, Planted::Nothing), Ok(first), "seed {seed}");
        let other = run(seed + 1_000, Planted::Nothing).expect("what callers received");
        assert_ne!(first.trace, other.trace);
    }
}

/// The planted fault is found within so many runs.
fn is_found(planted: Planted) {
    is_found_by("runs", 60, |seed| run(seed, planted).map(drop));
}

/// The same, of other runs.
pub(crate) fn is_found_by(kind: &str, seeds: u64, run: impl Fn(u64) -> Result<(), String>) {
    let found = (0..seeds).any(|seed| {
        let ended = catch_unwind(AssertUnwindSafe(|| run(seed)));
        !matches!(ended, Ok(Ok(())))
    });
    assert!(found, "in no {kind} was it found");
}

#[test]
fn a_double_redemption_is_found() {
    is_found(Planted::DoubleRedemption);
}

#[test]
fn a_lost_write_is_found() {
    is_found(Planted::LostWrite);
}

#[test]
fn a_stale_read_is_found() {
    is_found(Planted::StaleRead);
}

#[test]
fn realms_that_share_their_rows_are_found() {
    is_found(Planted::OneRealm);
}

#[test]
fn disks_that_do_not_flush_are_found() {
    is_found(Planted::LyingDisks);
}
