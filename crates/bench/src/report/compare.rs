//! What changed between two records, beyond the noise.
//!
//! A row that has a floor is compared by its ratio to the floor, for the floor ran in the same
//! turns and carries the machine's mood away. A change counts where it is greater than three
//! standard errors of both medians together, and greater than what two runs of the same code differ
//! by on a machine that others use too ([`LEAST`]); exact figures (sizes, counts) have no noise. A
//! scenario of the load is compared by its knee, which is known to a step.

use std::fmt;

use crate::report::record::{Record, Row, Unit};

/// Changes of times and rates below this are never told: two per cent.
pub const LEAST: f64 = 0.02;
/// Standard errors that a change must exceed.
const ERRORS: f64 = 3.0;
/// Rates of the load are steps of this ratio: a knee that moved by one step or less did not move.
pub const KNEE: f64 = 0.25;

/// A row of two records.
#[derive(Clone, Debug)]
pub struct Change {
    /// Part and name.
    pub row: String,
    /// What was compared: the ratio to the floor, or the figure in its unit.
    pub of: &'static str,
    /// The old median.
    pub old: f64,
    /// The new one.
    pub new: f64,
    /// What it had to exceed, as a part of the old.
    pub noise: f64,
    /// What it is.
    pub verdict: Verdict,
}

/// What a change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Within the noise.
    Same,
    /// Beyond it, and good.
    Better,
    /// Beyond it, and not good.
    Worse,
}

/// The outcome of two records' rows.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Rows of both.
    pub changes: Vec<Change>,
    /// Rows of the old one alone.
    pub gone: Vec<String>,
    /// Rows of the new one alone.
    pub added: Vec<String>,
}

impl Comparison {
    /// Compares the rows of the same part and name.
    #[must_use]
    pub fn of(old: &Record, new: &Record) -> Comparison {
        let mut comparison = Comparison::default();
        for row in &new.rows {
            match old.row(&row.part, &row.name) {
                Some(before) => comparison.changes.push(change(before, row)),
                None => comparison.added.push(title(row)),
            }
        }
        for curve in &new.curves {
            let before = old.curves.iter().find(|before| before.name == curve.name);
            let knee =
                |curve: &crate::report::record::Curve| curve.knee.as_ref().map(|knee| knee.rate);
            let Some(before) = before else {
                comparison.added.push(format!("load: {}", curve.name));
                continue;
            };
            if let (Some(old), Some(new)) = (knee(before), knee(curve)) {
                let row = format!("load: the knee of {}", curve.name);
                let of = Unit::PerSecond;
                let verdict = verdict(old, new, KNEE, of.more_is_better());
                comparison.changes.push(Change {
                    row,
                    of: of.symbol(),
                    old,
                    new,
                    noise: KNEE,
                    verdict,
                });
            }
        }
        let gone = old
            .rows
            .iter()
            .filter(|row| new.row(&row.part, &row.name).is_none());
        comparison.gone = gone.map(title).collect();
        comparison
    }

    /// The changes of this verdict.
    pub fn with(&self, verdict: Verdict) -> impl Iterator<Item = &Change> {
        let changes = self.changes.iter();
        changes.filter(move |change| change.verdict == verdict)
    }
}

fn title(row: &Row) -> String {
    format!("{}: {}", row.part, row.name)
}

fn change(old: &Row, new: &Row) -> Change {
    let by_floor = old.floor.is_some() && new.floor.is_some();
    let (before, after) = match by_floor {
        true => (old.comparable(), new.comparable()),
        false => (old.ours.clone(), new.ours.clone()),
    };
    let noise = match new.unit {
        Unit::Bytes => 0.0,
        Unit::Microseconds
        | Unit::Milliseconds
        | Unit::PerSecond
        | Unit::Megabytes
        | Unit::Instructions
        | Unit::Number => (ERRORS * before.error().hypot(after.error())).max(LEAST),
    };
    Change {
        row: title(new),
        of: if by_floor {
            "times its floor"
        } else {
            new.unit.symbol()
        },
        old: before.median,
        new: after.median,
        noise,
        verdict: verdict(
            before.median,
            after.median,
            noise,
            new.unit.more_is_better(),
        ),
    }
}

fn verdict(old: f64, new: f64, noise: f64, more_is_better: bool) -> Verdict {
    // As many per cent up as down: a halving and a doubling are the same distance.
    let distance = (new / old).ln().abs();
    if old == new || distance <= noise.ln_1p() {
        return Verdict::Same;
    }
    match (new > old) == more_is_better {
        true => Verdict::Better,
        false => Verdict::Worse,
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (verdict, title) in [(Verdict::Worse, "Worse"), (Verdict::Better, "Better")] {
            let mut changes: Vec<&Change> = self.with(verdict).collect();
            changes.sort_by(|a, b| {
                (b.new / b.old)
                    .ln()
                    .abs()
                    .total_cmp(&(a.new / a.old).ln().abs())
            });
            writeln!(f, "{title}: {}", changes.len())?;
            for change in changes {
                let Change {
                    row,
                    of,
                    old,
                    new,
                    noise,
                    ..
                } = change;
                let percent = (new / old - 1.0) * 100.0;
                let (old, new) = (
                    crate::report::text::number(*old),
                    crate::report::text::number(*new),
                );
                let noise = noise * 100.0;
                writeln!(
                    f,
                    "  {row}: {old} -> {new} {of} ({percent:+.1} %, noise {noise:.1} %)"
                )?;
            }
        }
        writeln!(f, "Within the noise: {}", self.with(Verdict::Same).count())?;
        for (title, rows) in [
            ("Only in the new", &self.added),
            ("Only in the old", &self.gone),
        ] {
            if !rows.is_empty() {
                writeln!(f, "{title}: {}", rows.join(", "))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use crate::report::summary::Summary;

    /// Samples around a middle, from a small generator: the same each time.
    fn noisy(middle: f64, spread: f64, seed: u64, count: usize) -> Summary {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut uniform = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        // A sum of twelve uniforms is normal enough, with a deviation of one.
        let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        Summary::of(
            (0..count)
                .map(|_| middle * (1.0 + spread * normal()))
                .collect(),
        )
    }

    fn record(rows: Vec<Row>) -> Record {
        Record {
            machine: Machine::default(),
            subset: "quick".into(),
            began_at: 0,
            seconds: 1.0,
            rows,
            curves: Vec::new(),
            profiles: Vec::new(),
            skipped: Vec::new(),
            failed: Vec::new(),
        }
    }

    fn row(name: &str, ours: Summary) -> Row {
        Row::new("grid", name, Unit::Microseconds, ours)
    }

    #[test]
    fn compare_finds_a_planted_change_and_nothing_else() {
        let rows = |seed: u64, planted: f64| {
            let rows = (0..200_u64).map(|n| {
                let middle = 100.0 * if n == 17 { planted } else { 1.0 };
                row(&n.to_string(), noisy(middle, 0.05, seed + n, 60))
            });
            record(rows.collect())
        };
        let comparison = Comparison::of(&rows(1000, 1.0), &rows(5000, 1.10));
        let worse: Vec<&str> = comparison
            .with(Verdict::Worse)
            .map(|c| c.row.as_str())
            .collect();
        assert!(worse.contains(&"grid: 17"), "{worse:?}");
        // Three standard errors: one row of several hundred may cross them by chance.
        let others = comparison.changes.len() - comparison.with(Verdict::Same).count() - 1;
        assert!(others <= 2, "{comparison}");
        let back = Comparison::of(&rows(5000, 1.10), &rows(1000, 1.0));
        assert!(
            back.with(Verdict::Better)
                .any(|change| change.row == "grid: 17")
        );
    }

    #[test]
    fn a_slower_machine_is_no_change_where_the_floor_slowed_with_it() {
        let slower = |factor: f64| {
            let ours = noisy(150.0 * factor, 0.02, 3, 40);
            let floor = noisy(100.0 * factor, 0.02, 3, 40);
            record(vec![row("token", ours).floor("an echo", floor)])
        };
        let comparison = Comparison::of(&slower(1.0), &slower(1.8));
        assert_eq!(comparison.with(Verdict::Same).count(), 1, "{comparison}");
    }

    #[test]
    fn a_byte_more_is_a_change_and_a_rate_is_better_when_it_is_greater() {
        let sized = |bytes: f64, rate: f64| {
            record(vec![
                Row::new("sizes", "token", Unit::Bytes, Summary::exact(bytes)),
                Row::new("gate", "health", Unit::PerSecond, noisy(rate, 0.01, 9, 20)),
            ])
        };
        let comparison = Comparison::of(&sized(500.0, 1000.0), &sized(501.0, 2000.0));
        let verdicts: Vec<Verdict> = comparison
            .changes
            .iter()
            .map(|change| change.verdict)
            .collect();
        assert_eq!(verdicts, [Verdict::Worse, Verdict::Better]);
    }

    #[test]
    fn rows_that_only_one_record_has_are_named() {
        let old = record(vec![row("old", Summary::exact(1.0))]);
        let new = record(vec![row("new", Summary::exact(1.0))]);
        let comparison = Comparison::of(&old, &new);
        assert_eq!(
            (comparison.gone, comparison.added),
            (vec!["grid: old".to_owned()], vec!["grid: new".to_owned()])
        );
    }
}
