//! Work for callers who may be anywhere, with the timers of the store's own runtime.
use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};
use tokio::runtime::Handle;

/// A future that finds the runtime of the consensus around it, whatever polls it: a thread that
/// writes a log has none, or one without timers.
pub(crate) struct Entered<F> {
    runtime: Option<Handle>,
    work: Pin<Box<F>>,
}

impl<F: Future> Entered<F> {
    pub(crate) fn new(runtime: &Option<Handle>, work: F) -> Entered<F> {
        Entered {
            runtime: runtime.clone(),
            work: Box::pin(work),
        }
    }
}

impl<F: Future> Future for Entered<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let runtime = self.runtime.clone();
        let _inside = runtime.as_ref().map(Handle::enter);
        self.work.as_mut().poll(context)
    }
}
