//! A line on standard error that says what runs and how long it will yet take.

use std::{
    io::{IsTerminal, Write},
    time::{Duration, Instant},
};

/// How far a run is. Units are expected seconds; that a machine is slower than expected is learnt
/// from what is done.
#[derive(Debug)]
pub struct Progress {
    began: Instant,
    planned: f64,
    done: f64,
    terminal: bool,
}

impl Progress {
    /// Of a run that is expected to take so many seconds in all.
    #[must_use]
    pub fn new(planned: f64) -> Progress {
        Progress {
            began: Instant::now(),
            planned,
            done: 0.0,
            terminal: std::io::stderr().is_terminal(),
        }
    }

    /// Says what begins now.
    pub fn says(&self, what: &str) {
        let line = format!("[{}] {what}", self.head());
        let mut out = std::io::stderr().lock();
        // A line that cannot be written is not worth the run.
        let _ = match self.terminal {
            true => write!(out, "\r\x1b[K{line}"),
            false => writeln!(out, "{line}"),
        };
        let _ = out.flush();
    }

    /// A line that stays.
    pub fn tells(&self, line: &str) {
        let clear = if self.terminal { "\r\x1b[K" } else { "" };
        let _ = writeln!(std::io::stderr().lock(), "{clear}{line}");
    }

    /// So many of the planned seconds are done, however long they took.
    pub fn done(&mut self, seconds: f64) {
        self.done += seconds;
    }

    fn head(&self) -> String {
        let elapsed = self.began.elapsed();
        let part = (self.done / self.planned.max(1e-9)).min(1.0);
        let left = left(elapsed, self.planned, self.done);
        format!("{:>3.0} %, {} left", part * 100.0, words(left))
    }
}

/// What is left advances at the rate of what is done; before anything is done, as planned.
fn left(elapsed: Duration, planned: f64, done: f64) -> Duration {
    let pace = match done >= 1.0 {
        true => elapsed.as_secs_f64() / done,
        false => 1.0,
    };
    Duration::from_secs_f64((planned - done).max(0.0) * pace)
}

fn words(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        _ => format!("{} min {:02} s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_follows_the_pace_of_what_is_done() {
        let minute = Duration::from_secs(60);
        assert_eq!(left(Duration::ZERO, 100.0, 0.0).as_secs(), 100);
        // Thirty planned seconds took sixty: the other seventy will take a hundred and forty.
        assert_eq!(left(minute, 100.0, 30.0).as_secs(), 140);
        assert_eq!(left(minute, 100.0, 120.0), Duration::ZERO);
        assert_eq!(words(Duration::from_secs(61)), "1 min 01 s");
    }
}
