//! Answers: text for people, JSON for scripts; a refusal says why on standard error, and in the
//! JSON.

use std::{
    io::{self, IsTerminal, Write},
    process::ExitCode,
};

use serde_json::{Value, json};

/// How this invocation prints.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// `--json`
    pub json: bool,
}

/// Why a command did not end with "done" or "yes".
#[derive(Debug)]
pub struct Failure {
    /// 1: the answer is no. 2: wrong usage, or out of reach.
    exit: u8,
    error: String,
    description: String,
    /// Further members of the JSON answer.
    members: Value,
}

impl Failure {
    /// Exit 1: the question was answered with no.
    pub fn no(error: &str, description: impl Into<String>) -> Failure {
        Failure {
            exit: 1,
            error: error.into(),
            description: description.into(),
            members: Value::Null,
        }
    }
    /// Exit 2: the command was used wrongly, or what it needs could not be reached.
    pub fn unusable(description: impl Into<String>) -> Failure {
        Failure {
            exit: 2,
            error: "unusable".into(),
            description: description.into(),
            members: Value::Null,
        }
    }
    /// The answer has been printed already; the exit code is the rest of it.
    pub fn answered(exit: u8) -> Failure {
        Failure {
            exit,
            error: String::new(),
            description: String::new(),
            members: Value::Null,
        }
    }
    /// The same, for a command that cannot even begin: exit 2.
    pub fn fatal(mut self) -> Failure {
        self.exit = 2;
        self
    }
    /// The stable name.
    pub fn error(&self) -> &str {
        &self.error
    }
    /// The sentence.
    pub fn description(&self) -> &str {
        &self.description
    }
    /// Adds members to the JSON answer.
    pub fn with(mut self, members: Value) -> Failure {
        self.members = members;
        self
    }
}

impl Output {
    /// Prints one JSON value (`--json`), or what `text` makes for people.
    pub fn print(&self, value: &Value, text: impl FnOnce() -> String) -> Result<(), Failure> {
        let line = if self.json { pretty(value) } else { text() };
        write_line(&line)
    }

    /// Prints the reason and gives the exit code.
    pub fn fail(&self, failure: &Failure) -> ExitCode {
        if failure.error.is_empty() {
            return ExitCode::from(failure.exit);
        }
        // Nobody may be listening on standard error either; the exit code still answers.
        let _ = writeln!(io::stderr(), "signet: {}", failure.description);
        if self.json {
            let mut answer =
                json!({ "error": failure.error, "error_description": failure.description });
            if let (Some(answer), Some(more)) =
                (answer.as_object_mut(), failure.members.as_object())
            {
                answer.extend(more.clone());
            }
            let _ = write_line(&pretty(&answer));
        }
        ExitCode::from(failure.exit)
    }
}

/// What clap answered instead of the arguments: help and version, or what is wrong with the usage.
/// With `--json` the latter is a refusal like any other, and the usage stays on standard error.
pub fn usage(answered: &clap::Error) -> ExitCode {
    let exit = u8::try_from(answered.exit_code()).unwrap_or(2);
    if answered.use_stderr() {
        let _ = answered.print();
        // What clap could not parse cannot say it.
        let mut given = std::env::args_os().skip(1).take_while(|a| *a != "--");
        if given.any(|argument| argument == "--json") {
            let refusal = json!({ "error": "unusable", "error_description": said(answered) });
            let _ = write_line(&pretty(&refusal));
        }
    } else if answered.print().is_err() {
        return ExitCode::from(2);
    }
    ExitCode::from(exit)
}

/// The sentence of a refusal, without the usage and the tips below it.
fn said(answered: &clap::Error) -> String {
    if answered.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return "a command is missing; --help lists them".into();
    }
    let text = answered.render().to_string();
    let lines = text.lines().take_while(|line| !line.is_empty());
    let lines: Vec<&str> = lines.map(str::trim).collect();
    lines.join(" ").trim_start_matches("error: ").to_owned()
}

/// Says something beside the answer: what was not checked, what comes next.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Indented JSON.
pub fn pretty(value: &Value) -> String {
    // Invariant: a Value always serializes.
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// One text and a line end; a reader that has seen enough is no failure.
pub fn write_line(line: &str) -> Result<(), Failure> {
    match writeln!(io::stdout(), "{line}").and_then(|()| io::stdout().flush()) {
        // The reader (`head`, say) has seen enough.
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(e) => Err(Failure::unusable(format!("cannot write the answer: {e}"))),
        Ok(()) => Ok(()),
    }
}

/// Between two columns of a table.
const GAP: usize = 2;
/// No column of a table that is cut is narrower, in characters, unless it needs no more.
const NARROW: usize = 4;

/// A table for people: columns as wide as their widest cell, the last one free. On a terminal the
/// table is as wide as that: the widest columns are cut, the first one last, and a cell that is cut
/// ends with an ellipsis. What is piped is whole. Control characters are not passed on to the
/// terminal.
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    table_within(head, rows, terminal_width())
}

/// The width of the terminal that standard output is, in columns.
fn terminal_width() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    // A terminal that does not say has none.
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

/// Takes width from the widest columns until the row fits, or none is wide.
fn shrink(widths: &mut [usize], within: usize) {
    loop {
        let whole = widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
        let Some(excess) = whole.checked_sub(within).filter(|excess| *excess > 0) else {
            return;
        };
        let Some(widest) = widths.iter().copied().max().filter(|w| *w > NARROW) else {
            return;
        };
        let next = widths.iter().copied().filter(|w| *w < widest).max();
        let floor = next.unwrap_or(0).max(NARROW);
        let mut wide: Vec<&mut usize> = widths.iter_mut().filter(|w| **w == widest).collect();
        let take = excess.div_ceil(wide.len()).min(widest - floor);
        let mut left = excess;
        for width in &mut wide {
            let take = take.min(left);
            **width -= take;
            left -= take;
        }
    }
}

/// The cell, cut to this many characters.
fn cut(cell: &str, width: usize) -> String {
    if cell.chars().count() <= width {
        return cell.to_owned();
    }
    let kept = cell.chars().take(width.saturating_sub(1));
    kept.chain(['\u{2026}']).collect()
}

fn table_within(head: &[&str], rows: &[Vec<String>], within: Option<usize>) -> String {
    let clean = |cell: &str| -> String {
        cell.chars()
            .map(|c| if c.is_control() { '\u{fffd}' } else { c })
            .collect()
    };
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|r| r.iter().map(|c| clean(c)).collect())
        .collect();
    let width = |column: usize| {
        let cells = rows
            .iter()
            .filter_map(|r| r.get(column))
            .map(|c| c.chars().count());
        cells.max().unwrap_or(0).max(head[column].chars().count())
    };
    let mut widths: Vec<usize> = (0..head.len()).map(width).collect();
    if let Some(within) = within {
        // The first column says which record a row is: it gives way last.
        if let [first, others @ ..] = &mut widths[..] {
            shrink(others, within.saturating_sub(*first + GAP));
        }
        shrink(&mut widths, within);
    }
    let mut out = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut text = String::new();
        for (cell, width) in cells.zip(&widths) {
            let cell = cut(cell, *width);
            let padding = width + GAP - cell.chars().count();
            text.push_str(&cell);
            text.extend(std::iter::repeat_n(' ', padding));
        }
        out.push_str(text.trim_end());
        out.push('\n');
    };
    let upper: Vec<String> = head.iter().map(|h| h.to_uppercase()).collect();
    line(&mut upper.iter().map(String::as_str));
    for row in &rows {
        line(&mut row.iter().map(String::as_str));
    }
    out.pop();
    out
}

/// Unix seconds as RFC 3339 in UTC. Civil calendar from days, by eras of 400 years.
pub fn date(at: u64) -> String {
    let (days, second) = (at / 86_400, at % 86_400);
    // Days since 0000-03-01, so that a leap day is the last of its year.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_shifted + 2) / 5 + 1;
    let month = if month_shifted < 10 {
        month_shifted + 3
    } else {
        month_shifted - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        second / 3_600,
        second / 60 % 60,
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_aligns_its_columns_and_passes_no_control_characters_on() {
        let rows = [
            vec!["a".to_owned(), "long cell".to_owned()],
            vec!["b\u{1b}[31m".to_owned(), "c".to_owned()],
        ];
        assert_eq!(
            table(&["id", "name"], &rows),
            "ID      NAME\na       long cell\nb\u{fffd}[31m  c"
        );
    }

    #[test]
    fn a_refusal_of_the_usage_is_one_sentence() {
        let command =
            || clap::Command::new("c").arg(clap::Arg::new("n").long("needed").required(true));
        let refused = command().try_get_matches_from(["c"]).unwrap_err();
        let told = said(&refused);
        assert!(told.contains("--needed"), "{told}");
        assert!(!told.contains("Usage") && !told.contains('\n') && !told.contains("error:"));
        let refused = command()
            .try_get_matches_from(["c", "--other"])
            .unwrap_err();
        assert!(said(&refused).contains("--other"));
        let missing = clap::Command::new("c").arg_required_else_help(true);
        let missing = missing.subcommand(clap::Command::new("s"));
        let refused = missing.try_get_matches_from(["c"]).unwrap_err();
        assert!(said(&refused).contains("--help"));
    }

    #[test]
    fn a_table_is_as_wide_as_the_terminal_and_the_widest_columns_give_way() {
        let rows = [vec![
            "short".to_owned(),
            "a".repeat(40),
            "b".repeat(30),
            "end".to_owned(),
        ]];
        let within = |columns| table_within(&["id", "one", "two", "at"], &rows, Some(columns));
        for columns in [40, 50, 60, 79] {
            let text = within(columns);
            let lines = text.lines().map(|line| line.chars().count());
            assert!(lines.max() <= Some(columns), "{columns}:\n{text}");
            assert!(text.contains("short") && text.contains("end"), "{text}");
            assert!(text.contains('\u{2026}'), "{text}");
        }
        let whole = table_within(&["id", "one", "two", "at"], &rows, None);
        assert_eq!(within(200), whole);
        assert!(!whole.contains('\u{2026}'));
        // Too narrow for anything: what is left can still be distinguished.
        assert!(within(3).contains("aaa\u{2026}"));
    }

    #[test]
    fn a_date_is_rfc_3339() {
        assert_eq!(date(0), "1970-01-01T00:00:00Z");
        assert_eq!(date(951_826_154), "2000-02-29T12:09:14Z");
        assert_eq!(date(1_735_689_599), "2024-12-31T23:59:59Z");
    }
}
