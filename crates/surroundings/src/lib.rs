//! Time and tasks: Tokio's, or a simulation's.
//!
//! Libraries below ask their runtime through functions that have no object, so what is handed in is
//! handed to a thread: [`simulate`]. Whatever on that thread asks here then takes its time from
//! there and begins its tasks there. A simulation that hands in the same random numbers, and runs
//! its tasks in the same order, gets the same run.
#![forbid(unsafe_code)]

use std::{
    cell::RefCell,
    fmt,
    future::Future,
    marker::PhantomData,
    pin::Pin,
    sync::{Arc, LazyLock},
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
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
static BEGINNING: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The time that is handed in: the system's, or a simulation's.
pub fn now() -> Instant {
    match simulated() {
        Some(simulated) => *BEGINNING + simulated.now(),
        None => Instant::now(),
    }
}

/// Ends at a moment.
pub struct Sleep(Sleeps);

enum Sleeps {
    Real(Pin<Box<tokio::time::Sleep>>),
    Simulated(Arc<dyn Surroundings>, Duration),
}

/// Waits until a moment of [`now`]'s.
pub fn sleep_until(until: Instant) -> Sleep {
    match simulated() {
        Some(simulated) => {
            let at = until.saturating_duration_since(*BEGINNING);
            Sleep(Sleeps::Simulated(simulated, at))
        }
        None => Sleep(Sleeps::Real(Box::pin(tokio::time::sleep_until(
            until.into(),
        )))),
    }
}

/// Waits for so long.
pub fn sleep(duration: Duration) -> Sleep {
    match simulated() {
        Some(simulated) => {
            let at = simulated.now() + duration;
            Sleep(Sleeps::Simulated(simulated, at))
        }
        None => Sleep(Sleeps::Real(Box::pin(tokio::time::sleep(duration)))),
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match &mut self.0 {
            Sleeps::Real(sleep) => sleep.as_mut().poll(context),
            Sleeps::Simulated(simulated, at) => {
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
pub struct Late;

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it took too long")
    }
}

/// Work that may not take longer.
pub struct Timeout<F> {
    work: Pin<Box<F>>,
    end: Sleep,
}

/// Ends the work with [`Late`] when it takes longer than that.
pub fn timeout<F: Future>(within: Duration, work: F) -> Timeout<F> {
    Timeout {
        work: Box::pin(work),
        end: sleep(within),
    }
}

/// The same, by a moment of [`now`]'s.
pub fn timeout_at<F: Future>(until: Instant, work: F) -> Timeout<F> {
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
pub struct Join<T>(Joins<T>);

enum Joins<T> {
    Real(tokio::task::JoinHandle<T>),
    Simulated(oneshot::Receiver<T>),
}

/// A task ended without its result.
#[derive(Debug)]
pub struct JoinError(Option<tokio::task::JoinError>);

impl JoinError {
    /// It panicked; in a simulation any end without a result counts as that.
    pub fn is_panic(&self) -> bool {
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
        match &mut self.0 {
            Joins::Real(task) => {
                let joined = Pin::new(task).poll(context);
                joined.map_err(|error| JoinError(Some(error)))
            }
            Joins::Simulated(ended) => Pin::new(ended).poll(context).map_err(|_| JoinError(None)),
        }
    }
}

/// Runs something beside what runs.
pub fn spawn<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Join<T> {
    let Some(simulated) = simulated() else {
        return Join(Joins::Real(tokio::spawn(work)));
    };
    let (reply, ended) = oneshot::channel();
    simulated.spawn(Box::pin(async move {
        // The caller that began it may not wait for it.
        drop(reply.send(work.await));
    }));
    Join(Joins::Simulated(ended))
}

/// The runtime that timers of later work need around them; none where time is handed in.
pub fn around() -> Option<tokio::runtime::Handle> {
    match simulated() {
        Some(_) => None,
        None => Some(tokio::runtime::Handle::current()),
    }
}

/// Runs work that takes a thread for a while, off the runtime's threads. A simulation has one
/// thread, and no time passes meanwhile.
///
/// # Errors
/// The work panicked, or the runtime is stopping.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    match simulated() {
        Some(_) => Ok(work()),
        None => {
            let done = tokio::task::spawn_blocking(work).await;
            done.map_err(|error| JoinError(Some(error)))
        }
    }
}
