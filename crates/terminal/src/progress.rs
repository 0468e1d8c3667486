//! Progress of long work: a line on a terminal that is redrawn, and gone when the work is done.
//! Scripts see nothing of it.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How often the line is drawn while nothing is reported.
const TICK: Duration = Duration::from_millis(250);

/// Shows that work goes on until it is dropped.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    /// Begins; `what` is what is being done.
    pub fn of(what: &'static str) -> Progress {
        // Hidden where standard error is no terminal.
        Progress::on(ProgressDrawTarget::stderr(), what)
    }

    fn on(target: ProgressDrawTarget, what: &'static str) -> Progress {
        let bar = ProgressBar::with_draw_target(None, target).with_message(what);
        if !bar.is_hidden() {
            bar.set_style(style("{spinner} {msg} ... {elapsed}"));
            bar.enable_steady_tick(TICK);
        }
        Progress(bar)
    }

    /// So many steps of so many are done.
    pub fn at(&self, done: u64, total: u64) {
        if self.0.length() != Some(total) {
            self.0.set_length(total);
            self.0
                .set_style(style("{msg} [{bar:30}] {percent} % {elapsed}"));
        }
        self.0.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    // The templates of this file are well formed: a test draws both.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use indicatif::TermLike;

    use super::*;

    /// A terminal that remembers what was written to it, and whether its last line was cleared.
    #[derive(Clone, Debug, Default)]
    struct Recorder(Arc<Mutex<(String, bool)>>);

    impl Recorder {
        fn write(&self, text: &str) -> io::Result<()> {
            let mut written = self.0.lock().unwrap();
            written.0.push_str(text);
            written.1 = false;
            Ok(())
        }
    }

    impl TermLike for Recorder {
        fn width(&self) -> u16 {
            80
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write(text)
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.write(text)
        }
        fn clear_line(&self) -> io::Result<()> {
            self.0.lock().unwrap().1 = true;
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn work_and_its_steps_are_shown_on_a_terminal_and_taken_away_after_it() {
        let terminal = Recorder::default();
        let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
        let progress = Progress::on(target, "counting");
        // A terminal is drawn to a few times a second at most: the test does not wait for that.
        progress.0.force_draw();
        progress.at(1, 4);
        progress.0.force_draw();
        drop(progress);
        let (text, cleared) = terminal.0.lock().unwrap().clone();
        assert!(text.contains("counting ... "), "{text}");
        assert!(text.contains("25 %"), "{text}");
        assert!(cleared, "{text}");
    }

    #[test]
    fn nothing_is_shown_where_there_is_no_terminal() {
        let progress = Progress::on(ProgressDrawTarget::hidden(), "counting");
        assert!(progress.0.is_hidden());
        progress.at(1, 4);
    }
}
