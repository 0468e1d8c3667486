//! Nodes join and leave an installation while everything goes wrong.
//!
//! A world begins with one node by itself, which is used from the first moment on. Others are
//! invited, join, crash over it and are started again with the same token; some are removed, and
//! come back with an empty disk. However it goes, a join can be begun again and then ends whole, no
//! two nodes have one number, and every call's answer is that of one store.
//!
//! A seed gives the same faults and callers, and not the same run to the last message: identities
//! and keys have names that are drawn, and some choices go by these.
use crate::{
    clients::{Clients, Counts},
    executor::{Clock, NOBODY},
    installation::{FIRST, Installation},
    keys::Keys,
    planted::Planted,
    random::Random,
    runs::{each_seed, is_found_by},
    trouble,
    world::World,
};
use signet_realm::nodes::NodesError;
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

const RUNS: u64 = 50;

/// A join that can be begun again ends within this time, when all is well; microseconds. A name
/// that was claimed and not used is free after two minutes, by clocks that are ten minutes apart.
const JOINED_US: u64 = 720_000_000;

/// The result of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Outcome {
    counts: Counts,
    joined: u64,
    removed: u64,
    issued: u64,
    rotated: u64,
}

fn run(seed: u64, planted: Planted) -> Result<Outcome, String> {
    let clock = Clock::default();
    let inner = clock.clone();
    clock.run(async move { live(inner, seed, planted).await })
}

/// What the operator wants, and how far it is.
struct Operator {
    world: Arc<World>,
    all: Arc<Installation>,
    random: Random,
    /// Machines whose removal was begun, and is to be done.
    leaving: Vec<u64>,
    /// The removal of the first of them was asked for before.
    tried: bool,
    removed: u64,
}

impl Operator {
    /// Invites a machine, and starts it.
    async fn invite(&self, machine: u64) -> bool {
        let serving = self.world.serving();
        if serving.is_empty() {
            return false;
        }
        let by = *self.random.one_of(&serving);
        let invited = self.all.invite(&self.world, by, machine).await;
        if invited {
            self.world.start(machine).await;
        }
        invited
    }

    /// Has the machine removed that is to leave first; whether it was.
    async fn remove(&mut self) -> Result<(), String> {
        let machine = self.leaving[0];
        let mut serving = self.world.serving();
        serving.retain(|by| !self.leaving.contains(by));
        if serving.is_empty() {
            return Err("nobody serves".to_owned());
        }
        let by = *self.random.one_of(&serving);
        match self.all.remove(&self.world, by, machine).await {
            // What failed before was done.
            Err(why) if why == NodesError::NotFound.to_string() && self.tried => {}
            done => {
                self.tried = true;
                done?;
            }
        }
        self.tried = false;
        self.world.crash(machine);
        self.world.take_away(machine);
        self.leaving.remove(0);
        self.removed += 1;
        Ok(())
    }

    /// Grows and shrinks until the end, whatever goes wrong.
    async fn work(mut self, machines: u64, until_us: u64) -> Operator {
        let mut next = FIRST + 1;
        while self.world.clock.now_us() < until_us {
            let pause = self.random.between(50_000, 900_000);
            self.world.clock.sleep_us(pause).await;
            let serving = self.world.serving();
            if next <= machines {
                next += u64::from(self.invite(next).await);
            } else if !self.leaving.is_empty() {
                let machine = self.leaving[0];
                // What is not done yet is asked for again.
                if self.remove().await.is_ok() && self.random.permille(600) {
                    self.invite(machine).await;
                }
            } else if serving.len() > 2 && self.random.permille(300) {
                self.leaving.push(*self.random.one_of(&serving[1..]));
            }
        }
        self
    }

    /// When all is well, everything that was begun is brought to its end.
    async fn finish(&mut self) -> Result<(), String> {
        let end = self.world.clock.now_us() + JOINED_US;
        let mut pause_us = 500_000;
        loop {
            for machine in self.world.all_stopped() {
                self.world.start(machine).await;
            }
            self.world.clock.sleep_us(pause_us).await;
            pause_us = (pause_us * 5 / 4).min(30_000_000);
            let mut why = String::new();
            if !self.leaving.is_empty() {
                match self.remove().await {
                    Ok(()) => continue,
                    Err(error) => why = error,
                }
            }
            let (all, serving) = (self.world.machines(), self.world.serving());
            if self.leaving.is_empty() && all == serving {
                return Ok(());
            }
            if self.world.clock.now_us() > end {
                let waits = all.iter().filter(|one| !serving.contains(one));
                let waits: Vec<_> = waits.map(|one| (one, self.all.error(*one))).collect();
                let leaving = &self.leaving;
                return Err(format!(
                    "not ended: {waits:?}; to leave {leaving:?}: {why}; {:#?}",
                    self.world.statuses()
                ));
            }
        }
    }
}

async fn live(clock: Clock, seed: u64, planted: Planted) -> Result<Outcome, String> {
    let random = Random::new(seed ^ 0x6a6f_696e);
    let world = World::new(&clock, seed);
    for machine in 1..=5 {
        world.set_skew(machine, random.below(580) as i64 - 290);
    }
    let all = Installation::begin(&world, planted).await;
    let keys = Keys::begin(&world, planted);
    let clients = Clients::of(&world, planted);
    let until_us = clock.now_us() + random.between(5_000_000, 12_000_000);
    let mut calls = Vec::new();
    for _ in 0..random.between(2, 4) {
        let call = clients.clone().call(random.fork(), until_us, 500_000);
        calls.push(clock.within(NOBODY, call));
    }
    let operator = Operator {
        world: world.clone(),
        all: all.clone(),
        random: random.fork(),
        leaving: Vec::new(),
        tried: false,
        removed: 0,
    };
    let operating = operator.work(random.between(2, 4), until_us);
    let operating = clock.within(NOBODY, operating);
    // Some joins come into a quiet world.
    clock.sleep_us(random.below(3_000_000)).await;
    let trouble = trouble::make(world.clone(), random.fork(), until_us, planted);
    clock.within(NOBODY, trouble).await.expect("nobody ends it");
    for call in calls {
        call.await.expect("nobody ends it");
    }
    let mut operator = operating.await.expect("nobody ends it");
    if world.is_full() {
        clock.sleep_us(5_100_000).await;
    }
    operator.finish().await?;
    world.settle("all have joined").await;
    // What members know of each other has gone round.
    clock.sleep_us(10_000_000).await;
    all.judge(&world)?;
    let (issued, rotated) = keys.end().await;
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
        joined: numbers.len() as u64 - 1 + operator.removed,
        removed: operator.removed,
        issued,
        rotated,
    })
}

#[test]
fn a_join_under_faults_ends_whole_or_is_begun_again_and_no_number_is_given_twice() {
    let [done, joined, removed, rotated] = [const { AtomicU64::new(0) }; 4];
    let runs = each_seed("joins", RUNS, |seed| {
        let outcome = run(seed, Planted::Nothing).expect("what an operator and callers saw");
        done.fetch_add(outcome.counts.done, Relaxed);
        joined.fetch_add(outcome.joined, Relaxed);
        removed.fetch_add(outcome.removed, Relaxed);
        rotated.fetch_add(outcome.rotated, Relaxed);
        format!("{outcome:?}")
    });
    let [done, joined, removed, rotated] =
        [done, joined, removed, rotated].map(AtomicU64::into_inner);
    eprintln!(
        "{done} calls done, {joined} joined, {removed} removed, {rotated} times the next key"
    );
    let Some(runs) = runs else {
        return;
    };
    // Worlds in which nobody comes and goes show nothing.
    assert!(done > runs * 5 && joined > runs && removed * 3 > runs && rotated > runs);
}

#[test]
fn a_key_that_signs_before_all_know_it_is_found() {
    is_found_by("joins", 80, |seed| run(seed, Planted::KeyAtOnce).map(drop));
}

#[test]
fn a_key_that_is_removed_while_its_tokens_live_is_found() {
    is_found_by("joins", 20, |seed| {
        run(seed, Planted::KeyForgotten).map(drop)
    });
}

#[test]
fn a_number_that_is_given_twice_is_found() {
    is_found_by("joins", 20, |seed| {
        run(seed, Planted::NumberTwice).map(drop)
    });
}
