//! What one store would tell its callers, and whether it can have told them this.
use std::collections::HashSet;

/// What a call asks of one value. Times are Unix seconds by the asked node's clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asked {
    /// To use what may be used once, until its end: a code, an assertion, a proof, a pushed
    /// request.
    Once { end: u64 },
    /// A code that begins a refresh family.
    Begin,
    /// To rotate a refresh token of a generation; `by`: who asks, 0 where nobody may try again.
    Rotate { from: u64, by: u8, window: u64 },
    /// Whether a refresh token is of the current generation.
    Current { generation: u64 },
    /// To end the family.
    End,
    /// To write a record where it is missing.
    Insert { value: u64 },
    /// To replace a record that was read.
    Replace { from: u64, to: u64 },
    /// To replace it where a refused caller does not learn what is there.
    Consume { from: u64, to: u64 },
    /// To read it.
    Read,
    /// To type the digits of a mailed code.
    Try { right: bool },
    /// To use an agent's grant, of which there are so many uses.
    Use { most: u64 },
}

/// What was answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Told {
    Done,
    /// No, and what is there.
    There(Option<u64>),
    /// No: it was used, or has expired.
    Used,
    /// No: another generation.
    Replay,
    /// No: the family, or the code, is no more.
    Ended,
    /// No: these are not the digits.
    Wrong,
    /// It may have been done, from the moment it was asked on, or never.
    Unknown,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) asked: Asked,
    pub(crate) told: Told,
    /// Unix seconds by the node's clock.
    pub(crate) now: u64,
    pub(crate) from_us: u64,
    pub(crate) to_us: Option<u64>,
}

/// What a store knows of one value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum State {
    Once {
        used: bool,
    },
    /// Generation, when it was written, and by whom.
    Family(Option<(u64, u64, u8)>),
    Record(Option<u64>),
    /// Attempts that are left; none: it was used.
    Mailed(Option<u8>),
    Uses(u64),
}

impl State {
    /// What may be there after a call with this answer; nothing where it cannot have been.
    fn after(self, event: &Event) -> Vec<State> {
        let Event { asked, now, .. } = *event;
        let mut possible = Vec::new();
        let mut may = |told: Told, next: State| {
            if event.told == told || event.told == Told::Unknown {
                possible.push(next);
            }
        };
        if event.told == Told::Unknown {
            may(Told::Unknown, self);
        }
        match (asked, self) {
            (Asked::Once { end }, State::Once { used }) => match used || now >= end {
                true => may(Told::Used, self),
                false => may(Told::Done, State::Once { used: true }),
            },
            (Asked::Begin, State::Family(_)) => may(Told::Done, State::Family(Some((0, now, 0)))),
            (Asked::End, State::Family(_)) => may(Told::Done, State::Family(None)),
            (Asked::Rotate { .. } | Asked::Current { .. }, State::Family(None)) => {
                may(Told::Ended, self);
            }
            (Asked::Rotate { from, by, window }, State::Family(Some((at, written, rotated)))) => {
                let again = by != 0
                    && by == rotated
                    && at == from + 1
                    && now < written.saturating_add(window);
                if at == from {
                    may(Told::Done, State::Family(Some((at + 1, now, by))));
                } else if again {
                    may(Told::Done, self);
                } else {
                    may(Told::Replay, self);
                }
            }
            (Asked::Current { generation }, State::Family(Some((at, ..)))) => {
                may(
                    if at == generation {
                        Told::Done
                    } else {
                        Told::Replay
                    },
                    self,
                );
            }
            (Asked::Insert { value }, State::Record(None)) => {
                may(Told::Done, State::Record(Some(value)));
            }
            (Asked::Insert { .. } | Asked::Read, State::Record(there)) => {
                may(Told::There(there), self);
            }
            (Asked::Replace { from, to }, State::Record(there)) => match there == Some(from) {
                true => may(Told::Done, State::Record(Some(to))),
                false => may(Told::There(there), self),
            },
            (Asked::Consume { from, to }, State::Record(there)) => match there == Some(from) {
                true => may(Told::Done, State::Record(Some(to))),
                false => may(Told::Used, self),
            },
            (Asked::Try { .. }, State::Mailed(None | Some(0))) => may(Told::Ended, self),
            (Asked::Try { right: true }, State::Mailed(Some(left))) => {
                may(Told::Done, State::Mailed(None));
                // An attempt is counted before it is compared.
                may(Told::Unknown, State::Mailed(Some(left - 1)));
            }
            (Asked::Try { right: false }, State::Mailed(Some(left))) => {
                let told = if left > 1 { Told::Wrong } else { Told::Ended };
                may(told, State::Mailed(Some(left - 1)));
            }
            (Asked::Use { most }, State::Uses(uses)) => match uses < most {
                true => may(Told::Done, State::Uses(uses + 1)),
                false => may(Told::Used, self),
            },
            (asked, state) => panic!("{asked:?} is not asked of {state:?}"),
        }
        possible
    }
}

/// Whether there is an order of the calls, each between its question and its answer, in which one
/// store would have told these answers.
pub(crate) fn is_linearizable(first: State, events: &[Event]) -> bool {
    fn search(events: &[Event], done: u64, state: State, seen: &mut HashSet<(u64, State)>) -> bool {
        let left = |place: &usize| done & (1 << place) == 0;
        let waits = |place: usize| events[place].told != Told::Unknown;
        if !(0..events.len()).filter(left).any(waits) {
            return true;
        }
        if !seen.insert((done, state)) {
            return false;
        }
        // The next one began before any of the others had finished.
        let ends = (0..events.len()).filter(left);
        let first_end = ends.filter_map(|place| events[place].to_us).min();
        (0..events.len()).filter(left).any(|place| {
            let event = &events[place];
            first_end.is_none_or(|end| event.from_us <= end)
                && state
                    .after(event)
                    .into_iter()
                    .any(|next| search(events, done | (1 << place), next, seen))
        })
    }
    assert!(events.len() <= 64, "{}", events.len());
    search(events, 0, first, &mut HashSet::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(asked: Asked, told: Told, from_us: u64, to_us: Option<u64>) -> Event {
        Event {
            asked,
            told,
            now: 100,
            from_us,
            to_us,
        }
    }

    const UNUSED: State = State::Once { used: false };
    const ONCE: Asked = Asked::Once { end: 200 };

    #[test]
    fn two_redemptions_of_one_value_are_told_apart_from_one_and_a_replay() {
        let done = |from, to| event(ONCE, Told::Done, from, Some(to));
        assert!(!is_linearizable(UNUSED, &[done(0, 10), done(5, 15)]));
        let used = |from, to| event(ONCE, Told::Used, from, Some(to));
        assert!(is_linearizable(UNUSED, &[done(0, 10), used(5, 15)]));
        // Refused before anybody had asked for it: something was lost, or doubled.
        assert!(!is_linearizable(UNUSED, &[used(0, 4), done(5, 15)]));
        // A call of unknown end may be what used it, from the moment it was asked on.
        let unknown = |from| event(ONCE, Told::Unknown, from, None);
        assert!(is_linearizable(UNUSED, &[unknown(0), used(2, 4)]));
        assert!(!is_linearizable(UNUSED, &[used(2, 4), unknown(5)]));
        assert!(!is_linearizable(
            UNUSED,
            &[unknown(0), used(2, 4), done(5, 6)]
        ));
        let ended = Event {
            now: 200,
            ..used(2, 4)
        };
        assert!(is_linearizable(UNUSED, &[ended, done(5, 6)]));
    }

    #[test]
    fn a_rotation_that_is_lost_or_doubled_is_told() {
        let none = State::Family(None);
        let begin = event(Asked::Begin, Told::Done, 0, Some(1));
        let rotate = |by, told, from| {
            let asked = Asked::Rotate {
                from: 0,
                by,
                window: 10,
            };
            event(asked, told, from, Some(from + 1))
        };
        let (first, again) = (rotate(1, Told::Done, 2), rotate(1, Told::Done, 4));
        assert!(is_linearizable(none, &[begin, first, again]));
        let other = rotate(2, Told::Done, 4);
        assert!(!is_linearizable(none, &[begin, first, other]));
        let replay = rotate(2, Told::Replay, 4);
        assert!(is_linearizable(none, &[begin, first, replay]));
        assert!(!is_linearizable(none, &[begin, replay]));
        let late = Event { now: 110, ..again };
        assert!(!is_linearizable(none, &[begin, first, late]));
        let end = event(Asked::End, Told::Done, 6, Some(7));
        let current = |told| event(Asked::Current { generation: 1 }, told, 8, Some(9));
        assert!(is_linearizable(
            none,
            &[begin, first, end, current(Told::Ended)]
        ));
        assert!(!is_linearizable(
            none,
            &[begin, first, end, current(Told::Done)]
        ));
    }

    #[test]
    fn a_record_that_goes_back_is_told() {
        let none = State::Record(None);
        let insert = event(Asked::Insert { value: 1 }, Told::Done, 0, Some(1));
        let to = |to, from| {
            event(
                Asked::Replace { from: 1, to },
                Told::Done,
                from,
                Some(from + 1),
            )
        };
        assert!(!is_linearizable(none, &[insert, to(2, 2), to(3, 4)]));
        let read = |value, from| event(Asked::Read, Told::There(value), from, Some(from + 1));
        assert!(is_linearizable(none, &[insert, to(2, 2), read(Some(2), 4)]));
        assert!(!is_linearizable(
            none,
            &[insert, to(2, 2), read(Some(1), 4)]
        ));
        assert!(!is_linearizable(none, &[insert, read(None, 4)]));
    }

    #[test]
    fn uses_and_attempts_beyond_their_bound_are_told() {
        let use_it = |told, from| event(Asked::Use { most: 1 }, told, from, Some(from + 1));
        let none = State::Uses(0);
        assert!(is_linearizable(
            none,
            &[use_it(Told::Done, 0), use_it(Told::Used, 2)]
        ));
        assert!(!is_linearizable(
            none,
            &[use_it(Told::Done, 0), use_it(Told::Done, 2)]
        ));
        let wrong = |told, from| event(Asked::Try { right: false }, told, from, Some(from + 1));
        let right = |told, from| event(Asked::Try { right: true }, told, from, Some(from + 1));
        let two = State::Mailed(Some(2));
        assert!(is_linearizable(
            two,
            &[wrong(Told::Wrong, 0), right(Told::Done, 2)]
        ));
        assert!(!is_linearizable(
            two,
            &[right(Told::Done, 0), right(Told::Done, 2)]
        ));
        let ended = [
            wrong(Told::Wrong, 0),
            wrong(Told::Ended, 2),
            right(Told::Done, 4),
        ];
        assert!(!is_linearizable(two, &ended));
    }
}
