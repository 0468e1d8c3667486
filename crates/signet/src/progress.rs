//! That long work goes on: a line on a terminal that is rewritten, and gone when the work is done. Scripts see nothing of it.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Work that takes less is not spoken of.
const QUIET: Duration = Duration::from_millis(500);
const TICK: Duration = Duration::from_secs(1);

/// Shows that work goes on until it is dropped.
#[derive(Debug)]
pub struct Progress {
    shown: Option<(mpsc::Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Begins; `what` is what is being done.
    pub fn of(what: &'static str) -> Progress {
        if !io::stderr().is_terminal() {
            return Progress { shown: None };
        }
        let (done, wait) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            show(what, &mut io::stderr(), |time| wait.recv_timeout(time));
        });
        Progress {
            shown: Some((done, thread)),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((done, thread)) = self.shown.take() {
            drop(done);
            // It only writes to a terminal that may be gone; nothing depends on it.
            let _ = thread.join();
        }
    }
}

/// Rewrites the line until `wait` says that the work is done, and takes it away.
fn show(
    what: &str,
    terminal: &mut impl Write,
    mut wait: impl FnMut(Duration) -> Result<(), RecvTimeoutError>,
) {
    let start = Instant::now();
    let mut time = QUIET;
    let mut written = false;
    while wait(time) == Err(RecvTimeoutError::Timeout) {
        let line = format!("\r{what} ... {} s", start.elapsed().as_secs());
        written = terminal
            .write_all(line.as_bytes())
            .and_then(|()| terminal.flush())
            .is_ok();
        time = TICK;
    }
    if written {
        let _ = terminal
            .write_all(b"\r\x1b[K")
            .and_then(|()| terminal.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_shown_while_work_goes_on_and_taken_away_after_it() {
        let mut turns = 0;
        let mut terminal = Vec::new();
        show("counting", &mut terminal, |_| {
            turns += 1;
            if turns <= 2 {
                Err(RecvTimeoutError::Timeout)
            } else {
                Err(RecvTimeoutError::Disconnected)
            }
        });
        let text = String::from_utf8(terminal).unwrap();
        assert_eq!(text.matches("\rcounting ... ").count(), 2);
        assert!(text.ends_with("\r\u{1b}[K"));
    }

    #[test]
    fn short_work_is_not_spoken_of() {
        let mut terminal = Vec::new();
        show("counting", &mut terminal, |_| {
            Err(RecvTimeoutError::Disconnected)
        });
        assert!(terminal.is_empty());
    }
}
