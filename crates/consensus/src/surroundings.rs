//! Time and tasks: Tokio's, or a simulation's.
//!
//! The consensus library asks its runtime through functions that have no object, so what is handed
//! in is handed to a thread: [`simulate`]. Everything of this crate on that thread then takes its
//! time from there and begins its tasks there. A simulation that hands in the same random numbers,
//! and runs its tasks in the same order, gets the same run.
use std::{
    cell::RefCell,
    fmt,
    future::Future,
    marker::PhantomData,
    ops::{Add, AddAssign, Sub, SubAssign},
    pin::Pin,
    sync::{Arc, LazyLock},
    task::{Context, Poll, Waker},
    time::Duration,
};
use tokio::sync::oneshot;

/// A task to run.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Where a simulated thread's time comes from, and where its tasks go.
pub trait Surroundings: Send + Sync {
    /// Time since the simulation began.
    fn now(&self) -> Duration;

    /// Wakes it at that time, or later. Asked for again, with another waker perhaps, whenever who
    /// waits is looked at; a waker that nobody needs any more may be woken all the same.
    fn wake_at(&self, at: Duration, waker: &Waker);

    /// Runs a task beside the others.
    fn spawn(&self, task: Task);
}

thread_local! {
    static SIMULATED: RefCell<Option<Arc<dyn Surroundings>>> = const { RefCell::new(None) };
}

/// Until this is dropped, the thread is simulated.
pub struct Simulated(PhantomData<*const ()>);

/// This thread's time and tasks are these from now on.
pub fn simulate(surroundings: Arc<dyn Surroundings>) -> Simulated {
    SIMULATED.set(Some(surroundings));
    Simulated(PhantomData)
}

impl Drop for Simulated {
    fn drop(&mut self) {
        SIMULATED.set(None);
    }
}

fn simulated() -> Option<Arc<dyn Surroundings>> {
    SIMULATED.with_borrow(Option::clone)
}

/// What a simulation's time counts from, on this process's clock: only differences are looked at.
static BEGINNING: LazyLock<std::time::Instant> = LazyLock::new(std::time::Instant::now);

/// A moment of the time that is handed in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Moment(std::time::Instant);

impl Moment {
    pub(crate) fn now() -> Moment {
        match simulated() {
            Some(simulated) => Moment(*BEGINNING + simulated.now()),
            None => Moment(std::time::Instant::now()),
        }
    }

    pub(crate) fn saturating_since(self, earlier: Moment) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }

    pub(crate) fn elapsed(self) -> Duration {
        Moment::now().saturating_since(self)
    }
}

impl Add<Duration> for Moment {
    type Output = Moment;

    fn add(self, more: Duration) -> Moment {
        Moment(self.0 + more)
    }
}

impl AddAssign<Duration> for Moment {
    fn add_assign(&mut self, more: Duration) {
        self.0 += more;
    }
}

impl Sub<Duration> for Moment {
    type Output = Moment;

    fn sub(self, less: Duration) -> Moment {
        Moment(self.0 - less)
    }
}

impl SubAssign<Duration> for Moment {
    fn sub_assign(&mut self, less: Duration) {
        self.0 -= less;
    }
}

impl Sub<Moment> for Moment {
    type Output = Duration;

    fn sub(self, earlier: Moment) -> Duration {
        self.0 - earlier.0
    }
}

impl openraft::Instant for Moment {
    fn now() -> Moment {
        Moment::now()
    }
}

/// Ends at a moment.
pub(crate) enum Sleep {
    Real(Pin<Box<tokio::time::Sleep>>),
    Simulated(Arc<dyn Surroundings>, Duration),
}

pub(crate) fn sleep_until(until: Moment) -> Sleep {
    match simulated() {
        Some(simulated) => {
            let at = until.0.saturating_duration_since(*BEGINNING);
            Sleep::Simulated(simulated, at)
        }
        None => Sleep::Real(Box::pin(tokio::time::sleep_until(until.0.into()))),
    }
}

pub(crate) fn sleep(duration: Duration) -> Sleep {
    match simulated() {
        Some(simulated) => {
            let at = simulated.now() + duration;
            Sleep::Simulated(simulated, at)
        }
        None => Sleep::Real(Box::pin(tokio::time::sleep(duration))),
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match &mut *self {
            Sleep::Real(sleep) => sleep.as_mut().poll(context),
            Sleep::Simulated(simulated, at) => {
                if simulated.now() >= *at {
                    return Poll::Ready(());
                }
                simulated.wake_at(*at, context.waker());
                Poll::Pending
            }
        }
    }
}

/// It took too long.
#[derive(Debug)]
pub(crate) struct Late;

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it took too long")
    }
}

/// Work that may not take longer.
pub(crate) struct Timeout<F> {
    work: Pin<Box<F>>,
    end: Sleep,
}

pub(crate) fn timeout<F: Future>(within: Duration, work: F) -> Timeout<F> {
    Timeout {
        work: Box::pin(work),
        end: sleep(within),
    }
}

pub(crate) fn timeout_at<F: Future>(until: Moment, work: F) -> Timeout<F> {
    Timeout {
        work: Box::pin(work),
        end: sleep_until(until),
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Late>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Poll::Ready(done) = self.work.as_mut().poll(context) {
            return Poll::Ready(Ok(done));
        }
        Pin::new(&mut self.end).poll(context).map(|()| Err(Late))
    }
}

/// A task that was begun.
pub(crate) enum Join<T> {
    Real(tokio::task::JoinHandle<T>),
    Simulated(oneshot::Receiver<T>),
}

/// A task ended without its result.
#[derive(Debug)]
pub(crate) struct JoinError(Option<tokio::task::JoinError>);

impl JoinError {
    pub(crate) fn is_panic(&self) -> bool {
        self.0.as_ref().is_none_or(tokio::task::JoinError::is_panic)
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(error) => error.fmt(f),
            None => f.write_str("the task ended"),
        }
    }
}

impl<T> Future for Join<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Join::Real(task) => {
                let joined = Pin::new(task).poll(context);
                joined.map_err(|error| JoinError(Some(error)))
            }
            Join::Simulated(ended) => Pin::new(ended).poll(context).map_err(|_| JoinError(None)),
        }
    }
}

/// Runs something beside what runs.
pub(crate) fn spawn<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Join<T> {
    let Some(simulated) = simulated() else {
        return Join::Real(tokio::spawn(work));
    };
    let (reply, ended) = oneshot::channel();
    simulated.spawn(Box::pin(async move {
        // The caller that began it may not wait for it.
        drop(reply.send(work.await));
    }));
    Join::Simulated(ended)
}

/// The runtime that timers of later work need around them; none where time is handed in.
pub(crate) fn around() -> Option<tokio::runtime::Handle> {
    match simulated() {
        Some(_) => None,
        None => Some(tokio::runtime::Handle::current()),
    }
}
