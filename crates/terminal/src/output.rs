//! Answers: text for people, JSON for scripts; a refusal says why on standard error, and in the
//! JSON.

use std::{
    io::{self, Write},
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

/// A table for people: columns as wide as their widest cell, the last one free. Control characters
/// are not passed on to the terminal.
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
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
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut out = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut text = String::new();
        for (cell, width) in cells.zip(&widths) {
            text.push_str(cell);
            text.extend(std::iter::repeat_n(' ', width + 2 - cell.chars().count()));
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
    fn a_date_is_rfc_3339() {
        assert_eq!(date(0), "1970-01-01T00:00:00Z");
        assert_eq!(date(951_826_154), "2000-02-29T12:09:14Z");
        assert_eq!(date(1_735_689_599), "2024-12-31T23:59:59Z");
    }
}
