//! What a panic does.
//!
//! A panic is a fault of the program. Where a request causes it, that request is answered with 500
//! and the process continues, for otherwise one request of anybody's would end everybody else's.
//! What a handler shares is whole at every step: once-only state is one statement in the store, and
//! what is in memory is swapped as a whole, so nothing is left half done. A panic anywhere else (a
//! background task, a store's writer, a connection's own code) ends the process: nobody would
//! notice that its work is no longer done, and a supervisor starts it again.

use std::{
    cell::Cell,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::Poll,
};

thread_local!(static CAUGHT: Cell<bool> = const { Cell::new(false) });

/// A handler panicked. What it said is the panic hook's to tell.
pub(crate) struct Panicked;

/// Says for as long as it lives that a panic of this thread is caught.
struct Catching {
    before: bool,
}

impl Catching {
    fn begin() -> Catching {
        Catching {
            before: CAUGHT.replace(true),
        }
    }
}

impl Drop for Catching {
    fn drop(&mut self) {
        CAUGHT.set(self.before);
    }
}

/// Runs a handler to its end, which may be a panic.
pub(crate) async fn caught<T>(
    mut handler: Pin<&mut impl Future<Output = T>>,
) -> Result<T, Panicked> {
    poll_fn(|context| {
        let _catching = Catching::begin();
        // What the handler borrows is shared with others and whole at every step; itself it is not
        // polled again.
        match catch_unwind(AssertUnwindSafe(|| handler.as_mut().poll(context))) {
            Ok(Poll::Ready(answer)) => Poll::Ready(Ok(answer)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(_) => Poll::Ready(Err(Panicked)),
        }
    })
    .await
}

/// Lets every panic that is no handler's end the process, after the present hook has reported it.
/// To be called once, by a program's `main`.
pub fn end_the_process_elsewhere() {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        tell(info);
        if !CAUGHT.try_with(Cell::get).unwrap_or(false) {
            std::process::abort();
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        pin::pin,
        task::{Context, Waker},
    };

    fn run<T>(future: impl Future<Output = T>) -> T {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => done,
            Poll::Pending => panic!("it waits"),
        }
    }

    #[test]
    fn a_panic_is_caught_within_a_handler_and_nowhere_else() {
        assert!(!CAUGHT.get());
        let done = run(caught(pin!(async { CAUGHT.get() })));
        assert!(matches!(done, Ok(true)));
        let panicked = run(caught(pin!(async { panic!("a fault of the program") })));
        assert!(matches!(panicked, Err::<(), _>(Panicked)));
        assert!(!CAUGHT.get());
    }
}
