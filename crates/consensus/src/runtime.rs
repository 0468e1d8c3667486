//! What the consensus library runs on: Tokio or a simulation, with the randomness that was handed
//! in, and with waiting tasks that continue in their order.
use crate::{
    moment::{self, Moment},
    watch::InOrder,
};
use openraft::{AsyncRuntime, OptionalSend, impls::TokioRuntime};
use rand::rand_core::TryRng;
use std::{
    convert::Infallible,
    fmt,
    future::Future,
    hash::{BuildHasher, RandomState},
    sync::Arc,
    time::Duration,
};

type Numbers = Arc<dyn Fn() -> u64 + Send + Sync>;

tokio::task_local! {
    static NUMBERS: Numbers;
}

/// Does something of the library with random numbers from here. Tasks that it begins inherit them.
pub(crate) async fn with_random<F: Future>(numbers: Numbers, work: F) -> F::Output {
    NUMBERS.scope(numbers, work).await
}

/// Random numbers for the library: when it begins an election.
pub(crate) struct Random(Option<Numbers>);

impl Random {
    fn next(&self) -> u64 {
        match &self.0 {
            Some(numbers) => numbers(),
            // Outside of what it was begun with; nothing secret depends on it.
            None => RandomState::new().hash_one(0),
        }
    }
}

impl TryRng for Random {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.next() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.next())
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        for part in out.chunks_mut(8) {
            let number = self.next().to_le_bytes();
            part.copy_from_slice(&number[..part.len()]);
        }
        Ok(())
    }
}

/// See the module. There is no object of it: it is asked by its type.
pub(crate) struct Runtime(TokioRuntime);

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Runtime")
    }
}

impl AsyncRuntime for Runtime {
    type JoinError = signet_surroundings::JoinError;
    type JoinHandle<T: OptionalSend + 'static> = signet_surroundings::Join<T>;
    type Sleep = signet_surroundings::Sleep;
    type Instant = Moment;
    type TimeoutError = signet_surroundings::Late;
    type Timeout<R, T: Future<Output = R> + OptionalSend> = signet_surroundings::Timeout<T>;
    type ThreadLocalRng = Random;
    type Mpsc = <TokioRuntime as AsyncRuntime>::Mpsc;
    type Watch = InOrder;
    type Oneshot = <TokioRuntime as AsyncRuntime>::Oneshot;
    type Mutex<T: OptionalSend + 'static> = <TokioRuntime as AsyncRuntime>::Mutex<T>;

    fn spawn<T>(future: T) -> Self::JoinHandle<T::Output>
    where
        T: Future + OptionalSend + 'static,
        T::Output: OptionalSend + 'static,
    {
        match NUMBERS.try_with(Numbers::clone) {
            Ok(numbers) => signet_surroundings::spawn(NUMBERS.scope(numbers, future)),
            Err(_) => signet_surroundings::spawn(future),
        }
    }

    fn sleep(duration: Duration) -> Self::Sleep {
        signet_surroundings::sleep(duration)
    }

    fn sleep_until(deadline: Moment) -> Self::Sleep {
        moment::sleep_until(deadline)
    }

    fn timeout<R, F: Future<Output = R> + OptionalSend>(
        duration: Duration,
        future: F,
    ) -> Self::Timeout<R, F> {
        signet_surroundings::timeout(duration, future)
    }

    fn timeout_at<R, F: Future<Output = R> + OptionalSend>(
        deadline: Moment,
        future: F,
    ) -> Self::Timeout<R, F> {
        moment::timeout_at(deadline, future)
    }

    fn is_panic(join_error: &Self::JoinError) -> bool {
        join_error.is_panic()
    }

    fn thread_rng() -> Random {
        Random(NUMBERS.try_with(Numbers::clone).ok())
    }

    fn new(threads: usize) -> Runtime {
        Runtime(TokioRuntime::new(threads))
    }

    fn block_on<F, T>(&mut self, future: F) -> T
    where
        F: Future<Output = T>,
    {
        self.0.block_on(future)
    }
}
