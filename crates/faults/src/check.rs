//! Whether a history is one that the rules allow.
//!
//! A single-use value is a register with two states, unused and used. A use that was done found it
//! unused and left it used; one that was refused found it used; one whose answer is open did
//! either, at any time after it was sent. Such a history is linearizable exactly if
//!
//! - at most one use was done,
//! - no use was refused before the one that was done was sent, and
//! - where none was done, something that may have used the value was sent before each refusal came.
//!
//! A value also ends with its grant: by a revocation, or by a replay of another value of it (RFC
//! 9700 section 4.14.2). That explains a refusal; and once it was answered, nothing of the grant is
//! done any more, on any node that can be reached, after a stated time.

use std::time::Duration;

use crate::history::{History, Kind, Operation, Outcome, Token, Value};

/// What is promised.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// How long after its answer a revocation may be unknown to a node that can be reached.
    pub told: Duration,
    /// After how long a node that hears no majority calls no token active.
    pub staleness: Duration,
}

/// What the rules do not allow, each in words.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Findings {
    /// Single-use values that were used twice.
    pub double: Vec<String>,
    /// What was answered, and was not there afterwards.
    pub lost: Vec<String>,
    /// What was revoked, and counted again or still.
    pub forgotten: Vec<String>,
    /// Tokens that were called inactive without having ended, or whose signature did not hold.
    pub invalid: Vec<String>,
    /// The longest that an answered revocation was unknown to a node that could be reached.
    pub longest_unheard: Duration,
}

impl Findings {
    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &String)> {
        let named = |name: &'static str, list| std::iter::repeat(name).zip(list);
        named("double", self.double.iter())
            .chain(named("lost", self.lost.iter()))
            .chain(named("forgotten", self.forgotten.iter()))
            .chain(named("invalid", self.invalid.iter()))
    }
}

/// Why a single-use value's history is not linearizable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Several uses were done.
    Double,
    /// It was refused, and accepted by a later use.
    Reversed,
    /// It was refused, and nothing had used it.
    Lost,
}

/// Whether a single-use value's history is linearizable. `ended`: when something else may first
/// have invalidated it.
///
/// # Errors
/// What is wrong with it, and the operation that shows it.
pub fn single_use(uses: &[Operation], ended: Option<Duration>) -> Result<(), (Fault, Operation)> {
    let mut done = uses.iter().filter(|o| o.outcome == Outcome::Done);
    let first = done.next();
    if let Some(second) = done.next() {
        return Err((Fault::Double, *second));
    }
    let open = uses.iter().filter(|o| o.outcome == Outcome::Unknown);
    let used = open.map(|o| o.invoked).chain(ended).min();
    for refused in uses.iter().filter(|o| o.outcome == Outcome::Refused) {
        match first {
            Some(done) if refused.returned < done.invoked => {
                return Err((Fault::Reversed, *refused));
            }
            Some(_) => {}
            None if used.is_none_or(|used| refused.returned < used) => {
                return Err((Fault::Lost, *refused));
            }
            None => {}
        }
    }
    Ok(())
}

/// When a replay of this value may first have been noticed: its second use at the earliest.
fn replayed(value: &Value) -> Option<Duration> {
    let mut sent: Vec<Duration> = value.uses.iter().map(|o| o.invoked).collect();
    sent.sort_unstable();
    sent.get(1).copied()
}

/// When a replay was answered as one, which ends the grant.
fn replay_answered(value: &Value) -> Option<Duration> {
    let ends = matches!(value.kind, Kind::Code | Kind::RefreshToken);
    let done = value.uses.iter().find(|o| o.outcome == Outcome::Done)?;
    let refused = value.uses.iter().filter(|o| o.outcome == Outcome::Refused);
    // A refusal that overlaps may have been decided before; one sent afterwards is a replay.
    let replays = refused.filter(|o| o.invoked > done.returned);
    replays.map(|o| o.returned).min().filter(|_| ends)
}

/// When a revocation may first have had effect, and when one was first answered.
fn revoked<'a>(
    ends: impl Iterator<Item = &'a Operation> + Clone,
) -> (Option<Duration>, Option<Duration>) {
    let sent = ends.clone().map(|o| o.invoked).min();
    let answered = ends.filter(|o| o.outcome == Outcome::Done);
    (sent, answered.map(|o| o.returned).min())
}

/// Of one grant: when it may first have become invalid, and when its end was first answered.
struct Ends<'a> {
    history: &'a History,
    values: Vec<Vec<usize>>,
}

impl Ends<'_> {
    fn new(history: &History) -> Ends<'_> {
        let mut values = vec![Vec::new(); history.grants.len()];
        for (at, value) in history.values.iter().enumerate() {
            if let Some(list) = value.grant.and_then(|grant| values.get_mut(grant)) {
                list.push(at);
            }
        }
        Ends { history, values }
    }

    /// Leaves out the replays of one value.
    fn of(&self, grant: Option<usize>, but: Option<usize>) -> (Option<Duration>, Option<Duration>) {
        let Some(grant) = grant else {
            return (None, None);
        };
        let (sent, answered) = revoked(self.history.grants[grant].ends.iter());
        let others = self.values[grant].iter().filter(|at| Some(**at) != but);
        let others = others.map(|at| &self.history.values[*at]);
        (
            others.clone().filter_map(replayed).chain(sent).min(),
            others.filter_map(replay_answered).chain(answered).min(),
        )
    }
}

/// Whether this node may not know yet, at this moment, of an end that was answered before.
fn may_not_know(
    history: &History,
    bounds: &Bounds,
    node: usize,
    end: Duration,
    at: Duration,
) -> bool {
    let late = bounds.told;
    history.cuts.iter().any(|cut| {
        let apart = cut.node == node && cut.from <= at && end <= cut.until;
        let since = cut.from.max(end);
        apart
            && at <= cut.until.saturating_add(late)
            && (at >= cut.healed || at <= since + bounds.staleness + late)
    })
}

/// Checks all of it.
pub fn check(history: &History, bounds: &Bounds) -> Findings {
    let mut findings = Findings {
        lost: history.gone.clone(),
        forgotten: history.unkept.clone(),
        invalid: history.refused.clone(),
        ..Findings::default()
    };
    let ends = Ends::new(history);
    for (at, value) in history.values.iter().enumerate() {
        let (may, answered) = ends.of(value.grant, Some(at));
        if let Err((fault, shown)) = single_use(&value.uses, may) {
            let said = format!("{} {at}: {}", value.kind.name(), of(&shown, &value.uses));
            match fault {
                Fault::Double => findings.double.push(said),
                Fault::Reversed | Fault::Lost => findings.lost.push(said),
            }
        }
        let Some(end) = answered else { continue };
        for done in value.uses.iter().filter(|o| o.outcome == Outcome::Done) {
            heard(history, bounds, &mut findings, done, end, || {
                format!("{} {at}: {}", value.kind.name(), of(done, &value.uses))
            });
        }
    }
    for (at, token) in history.tokens.iter().enumerate() {
        check_token(history, bounds, &ends, at, token, &mut findings);
    }
    findings
}

fn check_token(
    history: &History,
    bounds: &Bounds,
    ends: &Ends<'_>,
    at: usize,
    token: &Token,
    findings: &mut Findings,
) {
    let (may, answered) = ends.of(token.grant, None);
    let (own_may, own_answered) = revoked(token.ends.iter());
    let may = may.into_iter().chain(own_may).min();
    let answered = answered.into_iter().chain(own_answered).min();
    for check in &token.checks {
        match (check.outcome, answered) {
            (Outcome::Refused, _) if may.is_none_or(|may| check.returned < may) => {
                let said = format!("access token {at}: {}", of(check, &token.checks));
                findings.invalid.push(said);
            }
            (Outcome::Done, Some(end)) => {
                heard(history, bounds, findings, check, end, || {
                    format!(
                        "access token {at}, ended {end:?}: {}",
                        of(check, &token.checks)
                    )
                });
            }
            (Outcome::Refused | Outcome::Unknown, _) | (Outcome::Done, None) => {}
        }
    }
}

/// Something was done that an answered end forbids, if its node may know of that.
fn heard(
    history: &History,
    bounds: &Bounds,
    findings: &mut Findings,
    done: &Operation,
    end: Duration,
    said: impl FnOnce() -> String,
) {
    if done.invoked <= end || may_not_know(history, bounds, done.node, end, done.invoked) {
        return;
    }
    let unheard = done.invoked.saturating_sub(end);
    findings.longest_unheard = findings.longest_unheard.max(unheard);
    if unheard > bounds.told {
        findings.forgotten.push(said());
    }
}

/// An operation among the others of its value, for a person to read.
fn of(shown: &Operation, all: &[Operation]) -> String {
    let one = |o: &Operation| {
        let word = match o.outcome {
            Outcome::Done => "done",
            Outcome::Refused => "refused",
            Outcome::Unknown => "open",
        };
        let (from, to) = (o.invoked.as_secs_f64(), o.returned.as_secs_f64());
        format!("node {} {from:.3}..{to:.3} s {word}", o.node + 1)
    };
    let mut sorted: Vec<&Operation> = all.iter().collect();
    sorted.sort_by_key(|o| o.invoked);
    let listed: Vec<String> = sorted.into_iter().map(one).collect();
    format!("{} [all: {}]", one(shown), listed.join("; "))
}

#[cfg(test)]
mod tests;
