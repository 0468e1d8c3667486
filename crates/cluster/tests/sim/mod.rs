//! The real engine in a simulated world: every run follows from its seed.
//!
//! `SIGNET_SIM_SEED=n` runs one seed alone, `SIGNET_SIM_RUNS=n` as many as wanted.
mod model;
mod random;
mod world;

use random::Random;
use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::atomic::{AtomicU64, Ordering},
};
use world::{Plan, World};

const RUNS: u64 = 2_000;

fn plan(random: &mut Random) -> Plan {
    // Most worlds are small: what goes wrong between two nodes goes wrong with three.
    let nodes = match random.below(10) {
        0..7 => random.between(2, 4),
        7..9 => random.between(5, 6),
        _ => random.between(7, 10),
    };
    let hubs = if nodes > 2 && random.permille(400) {
        random.between(1, 2)
    } else {
        0
    };
    let calm = random.permille(100);
    let least_delay_us = random.between(20, 20_000);
    Plan {
        nodes: nodes as usize,
        hubs: hubs as usize,
        least_delay_us,
        most_delay_us: least_delay_us + random.between(10, 100_000),
        loss: if calm { 0 } else { random.below(150) },
        duplicates: random.below(100),
        skew_ms: random.below(290_000),
        slow_disk: random.permille(200),
        faults: !calm,
        forger: random.permille(200).then(|| random.index(nodes as usize)),
        removal: nodes > 2 && random.permille(150),
        real_keys: random.permille(5),
        active_us: random.between(500_000, 5_000_000),
        tells: random.between(1, 60),
        leap: random.permille(300),
        compact_bytes: random.between(300, 6_000) as usize,
        wild_clocks: random.permille(300),
    }
}

/// One world from its beginning to its end.
fn run(seed: u64) {
    let plan = plan(&mut Random::new(seed));
    let leap = plan.leap;
    let mut world = World::new(plan, seed);
    world.run_until(world.plan.active_us);
    world.end_faults();
    settle(&mut world);
    check_the_end(&world);
    if leap {
        // Everything short-lived expires, on every clock.
        world.leap(8);
        settle(&mut world);
        check_the_end(&world);
        for index in world.living() {
            let (_, revocations) = world.knows(index);
            assert!(revocations.is_empty());
        }
    }
    assert!(world.most_pending < 10_000);
}

fn settle(world: &mut World) {
    // Long enough for each of ten members to wait for the others before it tells again what a
    // removed one told.
    let patience = world.us + 90_000_000;
    world.run_until(world.us + 1_500_000);
    while !world.is_settled() {
        if world.us >= patience {
            for index in world.living() {
                eprintln!("{index}: {:?}", world.status(index));
            }
            panic!("the members do not hold the same batches");
        }
        world.run_until(world.us + 500_000);
    }
}

fn check_the_end(world: &World) {
    let living = world.living();
    let Some(first) = living.first() else {
        return;
    };
    let known = world.knows(*first);
    for index in &living {
        assert!(
            world.knows(*index) == known,
            "equal digests, unequal memories"
        );
        let memory = world.nodes[*index].model.memory.lock().expect("whole");
        // What anybody acknowledged is known to all.
        for node in &world.nodes {
            for id in node.acknowledged.iter().filter(|_| !node.removed) {
                for entry in &world.signed[id] {
                    let expired = entry.end.is_some_and(|end| end <= world.secs() + 600);
                    assert!(expired || memory.includes(entry), "forgotten: {entry:?}");
                }
            }
        }
    }
}

/// Nothing goes wrong: how long does it take until everybody believes?
fn converges_within(nodes: usize, hubs: usize, hops: u64) {
    let delay_us = 20_000;
    let mut world = World::new(
        Plan {
            nodes,
            hubs,
            least_delay_us: delay_us,
            most_delay_us: delay_us,
            loss: 0,
            duplicates: 0,
            skew_ms: 200_000,
            slow_disk: true,
            faults: false,
            forger: None,
            removal: false,
            real_keys: false,
            active_us: 3_000_000,
            tells: 100,
            leap: false,
            compact_bytes: 1 << 20,
            wild_clocks: false,
        },
        7,
    );
    world.watched = Some(Default::default());
    world.run_until(4_000_000);
    let watched = world.watched.take().expect("watched");
    for (at, (_, told_us, entry)) in world.told.iter().enumerate() {
        for index in 0..nodes {
            // A signature that is under way, this one's own, and one verification for each hop, of
            // at most 300 microseconds each.
            let known = watched.get(&(index, at));
            let bound = told_us + hops * (delay_us + 300) + 2 * 300;
            let own = world.told[at].0 == index;
            assert!(
                own || known.is_some_and(|us| *us <= bound),
                "{index}: {entry:?}"
            );
        }
    }
}

#[test]
fn a_mesh_believes_within_one_delay_however_slow_its_disks_are() {
    converges_within(10, 0, 1);
}

#[test]
fn hubs_take_one_delay_more() {
    converges_within(10, 2, 2);
}

#[test]
fn a_clock_that_was_an_hour_ahead_mutes_nobody() {
    let mut plan = plan(&mut Random::new(2));
    plan.nodes = 3;
    plan.hubs = 0;
    plan.loss = 0;
    plan.skew_ms = 0;
    plan.slow_disk = false;
    plan.faults = false;
    plan.forger = None;
    plan.removal = false;
    plan.real_keys = false;
    plan.active_us = 3_000_000;
    plan.tells = 60;
    let mut world = World::new(plan, 2);
    world.watched = Some(Default::default());
    world.set_clock(1, 3_600_000);
    world.run_until(1_500_000);
    world.set_clock(1, 0);
    // What it tells then is believed as soon as what it told before.
    world.run_until(5_000_000);
    let watched = world.watched.take().expect("watched");
    for (at, (teller, told_us, entry)) in world.told.iter().enumerate() {
        for index in (0..3).filter(|index| index != teller) {
            let known = watched.get(&(index, at));
            let soon = known.is_some_and(|us| *us <= told_us + 1_000_000);
            assert!(soon, "{teller} at {told_us}, {index}: {entry:?}");
        }
    }
    assert!(world.status(0).ahead > 0 && world.status(2).ahead > 0);
    assert!(world.status(1).clock_epochs > 0);
    world.end_faults();
    settle(&mut world);
    check_the_end(&world);
}

#[test]
fn what_was_superseded_is_not_kept() {
    let mut plan = plan(&mut Random::new(1));
    plan.nodes = 3;
    plan.hubs = 0;
    plan.removal = false;
    plan.faults = false;
    plan.forger = None;
    plan.real_keys = false;
    plan.tells = 4_000;
    plan.active_us = 60_000_000;
    plan.compact_bytes = 4_000;
    let mut world = World::new(plan, 1);
    world.run_until(world.plan.active_us);
    world.end_faults();
    settle(&mut world);
    check_the_end(&world);
    for index in world.living() {
        let status = world.status(index);
        // Some kilobytes of state, told about ten thousand times.
        assert!(status.bytes < 200_000, "{status:?}");
    }
}

#[test]
fn in_every_world_all_members_end_with_the_same_and_nothing_acknowledged_is_forgotten() {
    let number = |name| {
        std::env::var(name)
            .ok()
            .map(|n| n.parse().expect("a number"))
    };
    if let Some(seed) = number("SIGNET_SIM_SEED") {
        return run(seed);
    }
    let runs = number("SIGNET_SIM_RUNS").unwrap_or(RUNS);
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, |n| n.get()) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= runs {
                        break;
                    }
                    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| run(seed))) {
                        eprintln!("this run again: SIGNET_SIM_SEED={seed}");
                        next.store(runs, Ordering::Relaxed);
                        resume_unwind(panic);
                    }
                }
            });
        }
    });
}
