//! The server under load: each scenario at rising rates, each rate held, until it is no longer
//! well; then two rates beyond, where the server must refuse rather than fail.
//!
//! All is well at a rate where the 99th percentile of everything that was due stays under 10 ms (a
//! login of five requests: under 50), nothing is dropped, unanswered or refused, and what was due
//! was done. The greatest such rate is the knee; what was no longer well at the next one, twice,
//! names it. One wrong answer ends the run.

use std::time::Duration;

use crate::client::Failure;
use crate::load::arrivals::{Hold, Outcome};
use crate::load::scenario::{Kind, Scenario, Site, TABLE};
use crate::postgres::Postgres;
use crate::process::Server;
use crate::profile::{Recording, Shares};
use crate::report::published;
use crate::report::record::{Cpu, Curve, Knee, Measure, Row, Step, Unit};
use crate::report::summary::Summary;
use crate::run::{Options, Part, Run};

/// Load.
pub const PART: Part = Part {
    name: "load",
    title: "Load: the greatest rate at which all is well",
    plan,
    run,
};

/// The 99th percentile of a request that is still well, in milliseconds.
const WELL_MS: f64 = 10.0;
/// Rates of a curve, as parts of what a probe found possible.
const QUICK: [f64; 4] = [0.4, 0.6, 0.75, 0.9];
const FULL: [f64; 8] = [0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];
/// So many further rates are tried while all is well, each by so much greater than the one before.
const FURTHER: usize = 5;
const STEP: f64 = 1.1;
/// Beyond what is possible.
const BEYOND: [f64; 2] = [1.3, 2.0];
const CONNECTIONS: usize = 64;
/// Seconds that a profile takes.
const PROFILED: f64 = 1.0;

/// Where the scenarios run.
#[derive(Clone, Copy)]
struct Place {
    store: &'static str,
    nodes: usize,
}

fn places(options: &Options) -> Vec<Place> {
    let place = |store, nodes| Place { store, nodes };
    let mut places = vec![place("embedded", 1)];
    if options.full {
        places.push(place("embedded", 3));
        places.push(place("postgres", 1));
        places.push(place("postgres", 3));
    }
    places
}

fn kinds(options: &Options, place: Place) -> impl Iterator<Item = &'static Kind> + use<> {
    let full = options.full;
    // What asks no store is the same over any.
    let stores = |kind: &Kind| {
        matches!(
            kind.name,
            "refresh_token" | "silent_login" | "email_code_login"
        )
    };
    let only = options.only.clone();
    let named = move |kind: &Kind| {
        let name = format!("{}/{}/{}", kind.name, place.store, place.nodes);
        only.as_ref().is_none_or(|only| name.contains(only))
    };
    let wanted = move |kind: &&Kind| {
        (full || kind.quick) && (place.store == "embedded" || stores(kind)) && named(kind)
    };
    TABLE.iter().filter(wanted)
}

fn seconds(options: &Options) -> f64 {
    options.choose(1.5, 10.0)
}

fn steps(options: &Options) -> usize {
    options.choose(QUICK.len(), FULL.len()) + FURTHER / 2 + BEYOND.len()
}

fn plan(options: &Options) -> f64 {
    let scenario = seconds(options) * options.pace * steps(options) as f64 + 4.0;
    let counts = places(options).into_iter();
    let counts = counts.map(|place| kinds(options, place).count() as f64 * scenario);
    counts.sum()
}

fn run(run: &mut Run) -> Result<(), Failure> {
    for place in places(&run.options) {
        let Place { store, nodes } = place;
        let database = match store {
            "postgres" => Postgres::start()?,
            _ => None,
        };
        if store == "postgres" && database.is_none() {
            let why = "no PostgreSQL server is installed (apt-get install postgresql)";
            run.skip(format!("load over {store}, {nodes} nodes"), why);
            continue;
        }
        for kind in kinds(&run.options, place) {
            let name = format!("{}/{store}/{nodes}", kind.name);
            run.progress.says(&format!("load: {name}"));
            // A server of its own: budgets, caches and rows of another scenario are not this one's.
            let url = match &database {
                Some(database) => Some(database.database(kind.name)?),
                None => None,
            };
            let site = Site::start(nodes, url.as_deref())?;
            if let Err(failure) = curve(run, &site, kind, &name) {
                run.fail(format!("load: {name}"), &failure);
            }
            let scenario = seconds(&run.options) * run.options.pace * steps(&run.options) as f64;
            run.progress.done(scenario + 4.0);
        }
    }
    Ok(())
}

fn curve(run: &mut Run, site: &Site, kind: &Kind, name: &str) -> Result<(), Failure> {
    let time = run.options.time(seconds(&run.options));
    let probe = Duration::from_secs_f64(0.5 * run.options.pace.min(1.0));
    let expected = kind.goal.unwrap_or(kind.probe * 4.0) * time.as_secs_f64() * 3.0;
    let scenario = (kind.prepare)(site, expected as u64)?;
    let mut load = Load {
        site,
        scenario: &*scenario,
        left: scenario.most(),
    };

    // What is possible is what is done of a rate that is too great.
    let mut possible = kind.probe;
    for _ in 0..8 {
        let Some((_, outcome)) = load.hold(possible, probe)? else {
            break;
        };
        let done = outcome.right as f64 / outcome.seconds.max(probe.as_secs_f64());
        if done < possible * 0.9 {
            possible = done.max(1.0);
            break;
        }
        possible *= 2.0;
    }
    let parts = run.options.choose(&QUICK[..], &FULL[..]);
    let mut climb = Climb {
        run,
        load,
        kind,
        name,
        time,
        steps: Vec::new(),
        most: parts.len() + FURTHER + BEYOND.len(),
        ended: false,
    };
    let mut highest = possible;
    for part in parts {
        highest = possible * part;
        climb.to(highest, true)?;
    }
    for _ in 0..FURTHER {
        if !climb.is_well() {
            break;
        }
        // The probe found too little possible.
        highest *= STEP;
        climb.to(highest, true)?;
    }
    for part in BEYOND {
        climb.to(possible.max(highest) * part, false)?;
    }
    let Climb {
        steps, mut load, ..
    } = climb;
    let curve = Curve {
        name: name.to_owned(),
        knee: knee(&steps, kind.trips),
        steps,
    };
    report(run, kind, &curve);
    if let Some(knee) = &curve.knee
        && run.record.row(PART.name, name).is_some_and(Row::has_missed)
    {
        let shares = load.profile(knee.rate, run.options.time(PROFILED))?;
        run.add_profile(PART.name, name, shares);
    }
    run.add_curve(curve);
    Ok(())
}

/// A scenario on its way up.
struct Climb<'a, 'r> {
    run: &'r mut Run,
    load: Load<'a>,
    kind: &'a Kind,
    name: &'a str,
    time: Duration,
    steps: Vec<Step>,
    /// Steps there may be.
    most: usize,
    /// The scenario has no operations left.
    ended: bool,
}

impl Climb<'_, '_> {
    /// Holds a rate. `again`: once more where all is not well.
    fn to(&mut self, rate: f64, again: bool) -> Result<(), Failure> {
        if self.ended {
            return Ok(());
        }
        let name = self.name;
        // Where operations are bounded, what is left is shared out: the hold is shorter.
        let steps = self.most.saturating_sub(self.steps.len()).max(1) as f64;
        let left = self.load.left.map_or(f64::INFINITY, |left| left as f64);
        let share = Duration::try_from_secs_f64(left / steps / rate).unwrap_or(Duration::MAX);
        let time = self.time.min(share);
        self.run
            .progress
            .says(&format!("load: {name} at {rate:.0} /s"));
        let Some((mut step, _)) = self.load.hold(rate, time)? else {
            self.run.skip(
                format!("{name} at {rate:.0} /s and beyond"),
                "the server's own budgets end there",
            );
            self.ended = true;
            return Ok(());
        };
        // Once is a neighbour's doing, twice is the server's.
        let trips = self.kind.trips;
        if again
            && unwell(&step, trips).is_some()
            && let Some((second, _)) = self.load.hold(rate, time)?
            && unwell(&second, trips).is_none()
        {
            step = second;
        }
        self.steps.push(step);
        Ok(())
    }

    /// All has been well so far, and there is more to try with.
    fn is_well(&self) -> bool {
        let trips = self.kind.trips;
        !self.ended && self.steps.iter().all(|step| unwell(step, trips).is_none())
    }
}

/// What one scenario has left.
struct Load<'s> {
    site: &'s Site,
    scenario: &'s dyn Scenario,
    left: Option<u64>,
}

impl Load<'_> {
    /// Holds a rate. None where the scenario has not so many operations left.
    fn hold(&mut self, rate: f64, time: Duration) -> Result<Option<(Step, Outcome)>, Failure> {
        let operations = (rate * time.as_secs_f64()).ceil() as u64;
        if let Some(left) = &mut self.left {
            let Some(rest) = left.checked_sub(operations) else {
                return Ok(None);
            };
            *left = rest;
        }
        let hold = Hold {
            rate,
            time,
            patience: Duration::from_secs(2),
            threads: 2,
            connections: CONNECTIONS,
        };
        let provider = &self.site.provider;
        let before = provider.cpu_us()?;
        let actor = |number| self.scenario.actor(number);
        let outcome = hold.run(&self.scenario.targets(self.site)?, &actor)?;
        outcome.all_right()?;
        self.scenario.settle()?;
        let mut step = outcome.step(&hold);
        let answered = (outcome.right + outcome.shed).max(1);
        step.cpu_us = (provider.cpu_us()? - before) as f64 / answered as f64;
        step.resident_mb = provider.resident_bytes()? as f64 / 1e6;
        Ok(Some((step, outcome)))
    }
}

impl Load<'_> {
    /// What part of the servers' time each group has while a rate is held; within, why there is no
    /// profile.
    fn profile(&mut self, rate: f64, time: Duration) -> Result<Shares, Failure> {
        let nodes = self.site.provider.nodes();
        let servers: Vec<u32> = nodes.map(Server::id).collect();
        let recording = match Recording::begin(&servers, time) {
            Ok(recording) => recording,
            Err(missing) => return Ok(Err(missing)),
        };
        Ok(match self.hold(rate, time)? {
            Some(_) => recording.shares(),
            None => Err("the server's own budgets end there".into()),
        })
    }
}

/// What is not well, if anything.
fn unwell(step: &Step, trips: u32) -> Option<String> {
    let refused = step.dropped + step.unanswered + step.shed;
    if step.p99_ms >= WELL_MS * f64::from(trips) {
        return Some(format!(
            "the 99th percentile is {} ms",
            crate::report::text::number(step.p99_ms)
        ));
    }
    if refused > 0 {
        let Step {
            dropped,
            unanswered,
            shed,
            ..
        } = step;
        return Some(format!(
            "{dropped} dropped, {unanswered} unanswered, {shed} refused"
        ));
    }
    // The last that was due may take as long as any.
    let seconds = step.seconds + WELL_MS * f64::from(trips) / 1000.0;
    (step.achieved < 0.98 * step.offered * step.seconds / seconds).then(|| {
        let part = step.achieved / step.offered * 100.0;
        format!("{part:.0} % of the offered rate are done")
    })
}

/// The greatest rate before the first that is not well.
fn knee(steps: &[Step], trips: u32) -> Option<Knee> {
    let broken = steps.iter().position(|step| unwell(step, trips).is_some());
    let at = broken.unwrap_or(steps.len()).checked_sub(1)?;
    let because = broken.and_then(|broken| unwell(&steps[broken], trips));
    Some(Knee {
        rate: steps[at].offered,
        because: because.unwrap_or_else(|| "nothing was tried".to_owned()),
    })
}

fn report(run: &mut Run, kind: &Kind, curve: &Curve) {
    let best = curve
        .steps
        .iter()
        .map(|step| step.achieved)
        .fold(0.0, f64::max);
    let knee = curve.knee.as_ref().map_or(0.0, |knee| knee.rate);
    let mut row = Row::new(
        "load",
        curve.name.clone(),
        Unit::PerSecond,
        Summary::exact(knee),
    );
    let published = match kind.published {
        "" => None,
        scenario => published::load_rate(scenario),
    };
    row = row.published(published, published::LOAD);
    // The goals are of one node with the store in it.
    if let Some(goal) = kind.goal
        && curve.name.ends_with("/embedded/1")
    {
        row = row.goal(Measure::Value, goal);
    }
    if let Some(step) = curve.steps.iter().find(|step| step.offered == knee) {
        row.cpu = Some(Cpu {
            ours: step.cpu_us,
            floor: None,
        });
        row = row
            .with("p99 ms", step.p99_ms)
            .with("p99.9 ms", step.p999_ms);
    }
    row = row.with("most done /s", best);
    if let Some(last) = curve.steps.last()
        && last.offered > knee
        && best > 0.0
    {
        let beyond = format!(
            "{}, done at {:.1} times the knee, of the best",
            curve.name,
            last.offered / knee.max(1.0)
        );
        let part = Summary::exact(last.achieved / best);
        let mut part = Row::new("load", beyond, Unit::Number, part);
        part = part
            .with("shed", last.shed as f64)
            .with("dropped", last.dropped as f64);
        run.add(row);
        run.add(part);
        return;
    }
    run.add(row);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(offered: f64, p99_ms: f64) -> Step {
        Step {
            offered,
            achieved: offered,
            seconds: 1.0,
            p99_ms,
            ..Step::default()
        }
    }

    #[test]
    fn the_knee_is_the_greatest_rate_at_which_all_was_well_and_says_what_was_not() {
        let found = knee(
            &[
                step(100.0, 1.0),
                step(200.0, 2.0),
                step(400.0, 12.0),
                step(800.0, 1.0),
            ],
            1,
        );
        let found = found.expect("a knee");
        assert_eq!(found.rate, 200.0);
        assert!(
            found.because.contains("99th percentile"),
            "{}",
            found.because
        );

        let dropped = Step {
            dropped: 3,
            ..step(200.0, 1.0)
        };
        let found = knee(&[step(100.0, 1.0), dropped], 1).expect("a knee");
        assert!(found.because.contains("3 dropped"), "{}", found.because);

        let slow = Step {
            achieved: 150.0,
            ..step(200.0, 1.0)
        };
        let found = knee(&[step(100.0, 1.0), slow], 1).expect("a knee");
        assert!(found.because.contains("75 %"), "{}", found.because);
    }

    #[test]
    fn the_last_operations_of_a_short_hold_may_take_their_time_too() {
        // Half a second, and the last of it took 30 ms.
        let short = Step {
            seconds: 0.5,
            achieved: 950.0,
            ..step(1000.0, 30.0)
        };
        assert_eq!(unwell(&short, 5), None);
        let behind = Step {
            achieved: 880.0,
            ..short
        };
        assert!(unwell(&behind, 5).is_some());
    }

    #[test]
    fn where_the_first_rate_is_not_well_there_is_no_knee() {
        assert!(knee(&[step(100.0, 50.0)], 1).is_none());
    }
}
