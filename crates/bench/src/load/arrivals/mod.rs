//! An open load: operations are due at a constant rate whether or not the server keeps up, and the
//! time of each counts from the moment it was due.
//!
//! A generator that waits for an answer before it sends the next request measures a stalled server
//! once, where its users would have met the stall a thousand times (coordinated omission). Here the
//! n-th operation is due n steps after the begin; one that finds every connection busy waits, and
//! its wait is part of its time. One that waited longer than patience lasts is dropped: never sent,
//! counted, and its wait recorded. How late the generator itself was, with a connection free, is
//! recorded beside.
//!
//! What is sent and whether an answer is right, an [`Actor`] knows: one a connection, told every
//! answer. One wrong answer is a failure of the whole run.

mod answer;
mod connection;

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

use hdrhistogram::Histogram;
use tokio::{sync::Semaphore, task::LocalSet};

pub use self::answer::Answer;
use crate::client::{Failure, Target};
use crate::report::record::Step;

/// Times are recorded to three digits, from a microsecond to ten minutes.
const GREATEST_US: u64 = 600_000_000;
/// Handshakes that are under way at once while the connections are opened.
const OPENING: usize = 32;
/// How many wrong answers are kept to be shown.
const SHOWN: usize = 5;

/// Who uses a connection: what is sent there, and which answers are right.
pub trait Actor {
    /// The first request of an operation.
    fn begin(&mut self) -> Vec<u8>;

    /// Judges an answer.
    fn answered(&mut self, answer: &Answer<'_>) -> Verdict;

    /// What is sent after [`Verdict::Wait`], once it is known.
    fn waited(&mut self) -> Option<Vec<u8>> {
        None
    }
}

/// What an answer was.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The operation is done, and rightly.
    Right,
    /// Rightly so far, and the operation continues with this request.
    Next(Vec<u8>),
    /// Rightly so far; what comes next is not known yet: [`Actor::waited`] is asked again and
    /// again.
    Wait,
    /// The server said that it has too much to do, and when to come again.
    Shed,
    /// Something else than the right answer: why.
    Wrong(String),
}

/// A rate to be held.
#[derive(Clone, Debug)]
pub struct Hold {
    /// Operations a second, over all threads.
    pub rate: f64,
    /// How long.
    pub time: Duration,
    /// How long an operation waits for a connection, and a request for its answer.
    pub patience: Duration,
    /// Threads of the generator.
    pub threads: usize,
    /// Connections, over all threads; all are open before the first operation.
    pub connections: usize,
}

/// The outcome of a held rate.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Operations that were due.
    pub due: u64,
    /// Done, and rightly.
    pub right: u64,
    /// Refused for load, with `Retry-After`.
    pub shed: u64,
    /// Never sent: no connection became free in time.
    pub dropped: u64,
    /// Sent, and the connection broke or patience ended.
    pub unanswered: u64,
    /// Answered wrongly.
    pub wrong: u64,
    /// The first of them.
    pub shown: Vec<String>,
    /// Microseconds from when an operation was due to its last answer; of one that was dropped or
    /// not answered, to when that was clear.
    pub times: Histogram<u64>,
    /// Microseconds by which the generator itself was late where a connection was free.
    pub lateness: Histogram<u64>,
    /// From the first operation that was due to the last answer.
    pub seconds: f64,
}

impl Default for Outcome {
    fn default() -> Outcome {
        let histogram = || Histogram::new_with_max(GREATEST_US, 3).expect("three digits");
        Outcome {
            due: 0,
            right: 0,
            shed: 0,
            dropped: 0,
            unanswered: 0,
            wrong: 0,
            shown: Vec::new(),
            times: histogram(),
            lateness: histogram(),
            seconds: 0.0,
        }
    }
}

impl Outcome {
    fn add(&mut self, other: Outcome) {
        self.due += other.due;
        self.right += other.right;
        self.shed += other.shed;
        self.dropped += other.dropped;
        self.unanswered += other.unanswered;
        self.wrong += other.wrong;
        self.shown.extend(other.shown);
        self.shown.truncate(SHOWN);
        // Both have the same range.
        let _ = self.times.add(other.times);
        let _ = self.lateness.add(other.lateness);
        self.seconds = self.seconds.max(other.seconds);
    }

    /// A failure where one answer was wrong.
    ///
    /// # Errors
    /// How many were, and the first of them.
    pub fn all_right(&self) -> Result<(), Failure> {
        if self.wrong == 0 {
            return Ok(());
        }
        let shown = self.shown.join("; ");
        Err(format!("{} wrong answers of {}: {shown}", self.wrong, self.due).into())
    }

    /// As a step of a curve.
    #[must_use]
    pub fn step(&self, hold: &Hold) -> Step {
        let ms = |percent: f64| self.times.value_at_percentile(percent) as f64 / 1000.0;
        Step {
            offered: hold.rate,
            achieved: self.right as f64 / self.seconds.max(hold.time.as_secs_f64()),
            seconds: hold.time.as_secs_f64(),
            p50_ms: ms(50.0),
            p95_ms: ms(95.0),
            p99_ms: ms(99.0),
            p999_ms: ms(99.9),
            max_ms: self.times.max() as f64 / 1000.0,
            due: self.due,
            dropped: self.dropped,
            unanswered: self.unanswered,
            shed: self.shed,
            own_lateness_p99_ms: self.lateness.value_at_percentile(99.0) as f64 / 1000.0,
            cpu_us: 0.0,
            resident_mb: 0.0,
        }
    }
}

/// One thread's part of a hold.
struct Share {
    begun: Cell<Option<Instant>>,
    /// The first operation is due so long after the begin, and each other a step after it.
    first: Duration,
    step: Duration,
    count: u64,
    patience: Duration,
    /// A permit an operation that is due.
    permits: Arc<Semaphore>,
    taken: Cell<u64>,
    outcome: RefCell<Outcome>,
}

impl Share {
    /// When the n-th operation is due, counted from zero.
    fn due(&self, begun: Instant, n: u64) -> Instant {
        begun + self.first + Duration::from_secs_f64(self.step.as_secs_f64() * n as f64)
    }
}

impl Hold {
    /// Holds the rate. `targets`: where the connections go, in turns. `actor`: makes the user of a
    /// connection, by the connection's number, in the thread that has it.
    ///
    /// # Errors
    /// A connection that could not be opened. Wrong answers are in the outcome.
    pub fn run<A: Actor + 'static>(
        &self,
        targets: &[Target],
        actor: &(impl Fn(usize) -> A + Sync),
    ) -> Result<Outcome, Failure> {
        let threads = self.threads.clamp(1, self.connections.max(1));
        let outcomes = std::thread::scope(|scope| {
            let shares: Vec<_> = (0..threads)
                .map(|thread| scope.spawn(move || self.share(thread, threads, targets, actor)))
                .collect();
            let joined = shares.into_iter().map(|share| share.join());
            joined.collect::<Vec<_>>()
        });
        let mut sum = Outcome::default();
        for outcome in outcomes {
            sum.add(outcome.map_err(|_| "a thread of the load ended")??);
        }
        Ok(sum)
    }

    fn share<A: Actor + 'static>(
        &self,
        thread: usize,
        threads: usize,
        targets: &[Target],
        actor: &impl Fn(usize) -> A,
    ) -> Result<Outcome, Failure> {
        let step = Duration::from_secs_f64(threads as f64 / self.rate);
        // This thread's operations lie between the others'.
        let first = step.mul_f64((thread + 1) as f64 / threads as f64);
        let count = (self.time.as_secs_f64() / step.as_secs_f64())
            .round()
            .max(1.0) as u64;
        let share = Rc::new(Share {
            begun: Cell::new(None),
            first,
            step,
            count,
            patience: self.patience,
            permits: Arc::new(Semaphore::new(0)),
            taken: Cell::new(0),
            outcome: RefCell::default(),
        });
        let own = (0..self.connections).filter(|number| number % threads == thread);
        let own = own.map(|number| (targets[number % targets.len()].clone(), actor(number)));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let local = LocalSet::new();
        let seconds = local.block_on(&runtime, all(share.clone(), own.collect()))?;
        let mut outcome = share.outcome.take();
        outcome.due = count;
        outcome.seconds = seconds;
        Ok(outcome)
    }
}

/// Opens every connection, lets the operations come, and says how many seconds it took.
async fn all<A: Actor + 'static>(
    share: Rc<Share>,
    connections: Vec<(Target, A)>,
) -> Result<f64, Failure> {
    let opening = Rc::new(Semaphore::new(OPENING));
    let opened = Rc::new(Semaphore::new(0));
    let start = Rc::new(Semaphore::new(0));
    let count = connections.len();
    let mut tasks = tokio::task::JoinSet::new();
    for (target, actor) in connections {
        let (share, opening) = (share.clone(), opening.clone());
        let (opened, start) = (opened.clone(), start.clone());
        tasks.spawn_local(async move {
            let permit = opening.acquire().await?;
            let stream = connection::open(&target).await?;
            drop(permit);
            opened.add_permits(1);
            start.acquire().await?.forget();
            connection::serve(target, stream, &share, actor).await
        });
    }
    let ready = opened.acquire_many(u32::try_from(count)?);
    tokio::select! {
        ready = ready => ready?.forget(),
        Some(failed) = tasks.join_next() => failed??,
    }
    let begun = Instant::now();
    share.begun.set(Some(begun));
    let pacer = pace(begun, &share, count);
    start.add_permits(count);
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    let seconds = begun.elapsed().as_secs_f64();
    pacer.join().map_err(|_| "the pace ended early")?;
    Ok(seconds)
}

/// A thread that lets operations go at their time: the system's sleep is finer than the runtime's
/// timer. At the end every connection gets one more permit, and sees that all were taken.
fn pace(begun: Instant, share: &Share, connections: usize) -> std::thread::JoinHandle<()> {
    let (first, step, count) = (share.first, share.step.as_secs_f64(), share.count);
    let permits = share.permits.clone();
    std::thread::spawn(move || {
        let mut given = 0;
        while given < count {
            let elapsed = begun.elapsed();
            // All that are due by now, at once: what the sleep overslept is made up for.
            let due = elapsed.saturating_sub(first).as_secs_f64() / step;
            let due = if elapsed < first { 0 } else { due as u64 + 1 };
            let due = due.min(count);
            if due > given {
                permits.add_permits((due - given) as usize);
                given = due;
                continue;
            }
            let next = first + Duration::from_secs_f64(step * given as f64);
            std::thread::sleep(next.saturating_sub(elapsed).max(Duration::from_micros(1)));
        }
        permits.add_permits(connections);
    })
}

#[cfg(test)]
mod tests;
