//! The consensus library's time, of what is handed in to the thread.
use signet_surroundings::{Sleep, Timeout};
use std::{
    future::Future,
    ops::{Add, AddAssign, Sub, SubAssign},
    time::Duration,
};

/// A moment of the time that is handed in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Moment(std::time::Instant);

impl Moment {
    pub(crate) fn now() -> Moment {
        Moment(signet_surroundings::now())
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

pub(crate) fn sleep_until(until: Moment) -> Sleep {
    signet_surroundings::sleep_until(until.0)
}

pub(crate) fn timeout_at<F: Future>(until: Moment, work: F) -> Timeout<F> {
    signet_surroundings::timeout_at(until.0, work)
}
