//! What is due in the life of the keys, decided from their records and the time alone.
use super::{
    KeyKind,
    record::{Phase, Record},
};

/// When keys change, in seconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policy {
    /// How long a key signs before the next one takes over.
    pub period: u64,
    /// How long a key must have been published before it signs: longer than clients cache the JWKS.
    pub publish_ahead: u64,
    /// How much longer than its last token a retired key is kept: clocks differ, and requests that
    /// were under way when the key was retired still sign with it.
    pub grace: u64,
}

impl Default for Policy {
    /// 90 days; 10 minutes (the JWKS is cached for five); 5 minutes.
    fn default() -> Self {
        Policy {
            period: 90 * 86_400,
            publish_ahead: 600,
            grace: 300,
        }
    }
}

/// One thing to do. `usize` is the record's place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// Make a standby key.
    Generate(KeyKind),
    /// Make a key and use it at once: no other exists.
    GenerateActive(KeyKind),
    /// The standby key signs from now on; the active one, if any, no longer.
    Succeed { next: usize, active: Option<usize> },
    /// No longer in the settings, or one active key too many.
    Retire(usize),
    /// Nothing needs it any more.
    Remove(usize),
}

/// What is due now, to be done as one change: of each kind and of each key at most one thing, so
/// that none of them needs what another one does. Do them, then ask again.
pub(super) fn due_steps(
    records: &[&Record],
    kinds: &[KeyKind],
    policy: &Policy,
    now: u64,
) -> Vec<Step> {
    let of_records = records.iter().enumerate().filter_map(|(place, record)| {
        let wanted = kinds.iter().any(|a| a.name() == record.alg);
        match record.phase() {
            Phase::Retired if record.ends_at.is_none_or(|end| end <= now) => {
                Some(Step::Remove(place))
            }
            Phase::Active if !wanted => Some(Step::Retire(place)),
            Phase::Standby if !wanted => Some(Step::Remove(place)),
            Phase::Standby | Phase::Active | Phase::Retired => None,
        }
    });
    let of_kinds = kinds.iter();
    let of_kinds = of_kinds.filter_map(|kind| step_for(records, *kind, policy, now));
    // What signs comes first: a start waits for that, and not for the standby keys.
    let (standby, first): (Vec<Step>, Vec<Step>) = of_records
        .chain(of_kinds)
        .partition(|step| matches!(step, Step::Generate(_)));
    match first.is_empty() {
        true => standby,
        false => first,
    }
}

/// From when the next key of a kind signs: it has been published for long enough then, and the one
/// before has had its time. None: no key stands by, or none is needed.
pub(super) fn signs_from(records: &[&Record], alg: &str, policy: &Policy) -> Option<(String, u64)> {
    let of = |phase: Phase| {
        records
            .iter()
            .filter(move |r| r.alg == alg && r.phase() == phase)
    };
    let standby = of(Phase::Standby).min_by_key(|r| (r.created_at, r.kid.clone()))?;
    let from = match of(Phase::Active).max_by_key(|r| (r.active_from, r.kid.clone())) {
        None => standby.created_at,
        Some(active) => {
            let due = match active.rotate_soon {
                true => 0,
                false => active
                    .active_from
                    .unwrap_or_default()
                    .saturating_add(policy.period),
            };
            due.max(standby.created_at.saturating_add(policy.publish_ahead))
        }
    };
    Some((standby.kid.clone(), from))
}

fn step_for(records: &[&Record], kind: KeyKind, policy: &Policy, now: u64) -> Option<Step> {
    let of = |phase: Phase| {
        records
            .iter()
            .enumerate()
            .filter(move |(_, r)| r.alg == kind.name() && r.phase() == phase)
    };
    // Two nodes may have started at one moment: the later key stays, on every node the same one.
    let newest = |(_, r): &(usize, &&Record)| (r.active_from, r.kid.clone());
    let active = of(Phase::Active).max_by_key(newest);
    let standby = of(Phase::Standby).min_by_key(|(_, r)| (r.created_at, r.kid.clone()));

    let Some((place, record)) = active else {
        return Some(match standby {
            Some((next, _)) => Step::Succeed { next, active: None },
            None => Step::GenerateActive(kind),
        });
    };
    if let Some((other, _)) = of(Phase::Active).find(|(other, _)| *other != place) {
        return Some(Step::Retire(other));
    }
    let Some((next, successor)) = standby else {
        return Some(Step::Generate(kind));
    };
    let signed_for = now.saturating_sub(record.active_from.unwrap_or(now));
    let published_for = now.saturating_sub(successor.created_at);
    let due = record.rotate_soon || signed_for >= policy.period;
    (due && published_for >= policy.publish_ahead).then_some(Step::Succeed {
        next,
        active: Some(place),
    })
}
