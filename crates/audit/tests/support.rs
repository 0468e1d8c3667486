//! What the tests stand on: a clock that goes with the system's, and a runtime for one future.
use signet_crypto::Clock;
use std::time::{SystemTime, UNIX_EPOCH};

/// The system's time.
#[derive(Default)]
pub struct TestClock;

impl Clock for TestClock {
    fn now_ms(&self) -> u64 {
        let system = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        u64::try_from(system.as_millis()).unwrap()
    }
}

pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}
