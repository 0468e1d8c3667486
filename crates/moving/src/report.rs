//! What comes over, and what does not: the rows of a source's table, and what of a file was found
//! under them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Most names that a line of the report has; the others are counted.
const MAX_NAMED: usize = 5;

/// What happens to a thing of another server.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fate {
    /// It comes over as it is.
    Comes,
    /// It comes over in part, or as something else.
    InPart,
    /// It has no counterpart, or cannot be taken along.
    Stays,
}

impl Fate {
    /// Every one.
    pub const ALL: [Fate; 3] = [Fate::Comes, Fate::InPart, Fate::Stays];

    /// As the manual and the report say it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Fate::Comes => "comes over",
            Fate::InPart => "in part",
            Fate::Stays => "stays behind",
        }
    }

    /// Names it in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Fate::Comes => "comes",
            Fate::InPart => "in_part",
            Fate::Stays => "stays",
        }
    }
}

/// One row of a source's table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// What it is called there.
    pub what: &'static str,
    /// What happens to it.
    pub fate: Fate,
    /// What it becomes, or what to do instead.
    pub note: &'static str,
}

/// The rows of a source's table: a constant each, and `ROWS`, which has them in the order of the
/// manual.
macro_rules! rows {
    ($($name:ident: $fate:ident, $what:literal, $note:literal;)*) => {
        $(pub(super) const $name: $crate::report::Row = $crate::report::Row {
            what: $what,
            fate: $crate::report::Fate::$fate,
            note: $note,
        };)*
        /// In the order of the manual.
        pub(super) const ROWS: &[$crate::report::Row] = &[$($name),*];
    };
}
pub(crate) use rows;

/// What was found under a row.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Finding {
    /// How many.
    pub count: u64,
    /// Which, the first ones.
    pub names: Vec<String>,
}

/// What a file has that does not come over as it is.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Report {
    findings: BTreeMap<(Fate, &'static str, String), Finding>,
}

impl Report {
    /// Adds a thing of this name; `detail`: what the row does not say, or nothing.
    pub fn add(&mut self, row: &Row, name: impl Into<String>, detail: impl Into<String>) {
        let key = (row.fate, row.what, detail.into());
        let finding = self.findings.entry(key).or_default();
        finding.count += 1;
        if finding.names.len() < MAX_NAMED {
            finding.names.push(shown(&name.into()));
        }
    }

    /// Whether everything comes over as it is.
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    /// The findings: the row's fate and name, the detail, what was found.
    pub fn iter(&self) -> impl Iterator<Item = (Fate, &'static str, &str, &Finding)> {
        self.findings
            .iter()
            .map(|((fate, what, detail), finding)| (*fate, *what, &**detail, finding))
    }

    /// For scripts.
    pub fn to_json(&self) -> Value {
        self.iter()
            .map(|(fate, what, detail, finding)| {
                json!({
                    "fate": fate.name(),
                    "what": what,
                    "detail": detail,
                    "count": finding.count,
                    "names": finding.names,
                })
            })
            .collect()
    }

    /// For people; `rows` have what is to be done.
    pub fn to_text(&self, rows: &[Row]) -> String {
        let mut text = String::new();
        for fate in Fate::ALL {
            let mut of_fate = self.iter().filter(|(own, ..)| *own == fate).peekable();
            if of_fate.peek().is_none() {
                continue;
            }
            text.push_str(&format!("\n{}:\n", fate.as_str()));
            for (_, what, detail, finding) in of_fate {
                let note = rows.iter().find(|row| row.what == what);
                let note = note.map_or("", |row| row.note);
                let said = if detail.is_empty() { note } else { detail };
                let names = finding.names.join(", ");
                let more = finding.count - finding.names.len() as u64;
                let more = match more {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                text.push_str(&format!("  {what} ({}): {said}\n", finding.count));
                if !names.is_empty() {
                    text.push_str(&format!("    {names}{more}\n"));
                }
            }
        }
        text
    }
}

/// A name as it is printed: a file's text moves no cursor.
fn shown(name: &str) -> String {
    let plain = name
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c });
    plain.take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: Row = Row {
        what: "SAML clients",
        fate: Fate::Stays,
        note: "Signet speaks no SAML.",
    };

    #[test]
    fn what_is_found_often_is_one_line_with_its_number() {
        let mut report = Report::default();
        for n in 0..7 {
            report.add(&ROW, format!("client {n}\u{1b}[2J"), "");
        }
        let text = report.to_text(&[ROW]);
        assert!(text.contains("stays behind:\n  SAML clients (7): Signet speaks no SAML.\n"));
        assert!(text.contains("and 2 more"), "{text}");
        assert!(!text.contains('\u{1b}'));
        assert_eq!(report.to_json()[0]["count"], 7);
    }
}
