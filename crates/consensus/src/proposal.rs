//! What stands in the log: proposals, each a batch of one node's calls.
//!
//! A proposal is applied once, however often it was sent. Its node has a session, which was opened
//! through the log, and numbers its proposals in it. The state keeps the answers of those that the
//! node may still ask for: `floor` says that it has done with every number below. A proposal below
//! the floor, or of a session that is not the node's, is not applied. So what a node keeps in the
//! state is bounded by what it has under way, and there is no clock in it.
//!
//! A proposal begins with its format. A change that adds a call, an operation or a table raises
//! [`FORMAT`], and keeps writing the one before while a member reads no other: what all members
//! read stands in their membership. Nodes that apply one entry differently would hold different
//! rows from there on, so a node that meets a format which it does not read stops itself.
use crate::codec::{Malformed, Reader, Writer};
use signet_store::{Change, Key, Outcome, Row};

/// The newest format that this version reads and writes.
pub(crate) const FORMAT: u8 = 1;

/// Why a proposal cannot be applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unread {
    /// It is of no form.
    Malformed,
    /// A later version wrote it, in this format.
    Later(u8),
}

impl From<Malformed> for Unread {
    fn from(_: Malformed) -> Unread {
        Unread::Malformed
    }
}

/// The format of a proposal.
pub(crate) fn format(bytes: &[u8]) -> Option<u8> {
    bytes.first().copied().filter(|format| *format > 0)
}

/// One call of the store that changes it. `now` is its caller's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Call {
    Commit(Change, u64),
    CommitEach(Vec<Change>, u64),
    Take(Key, u64),
    Sweep(u64, usize),
    /// Changes nothing: shows that changes are possible.
    Check,
}

/// What it was answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    Commit(Outcome),
    CommitEach(Vec<Outcome>),
    Take(Option<Row>),
    Sweep(usize),
    Check,
}

/// What a node asks the log for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Proposal {
    /// Opens a session, and ends the one before it.
    Open { origin: u64, session: u64 },
    /// Calls, in order.
    Batch {
        origin: u64,
        session: u64,
        number: u64,
        floor: u64,
        calls: Vec<Call>,
    },
}

/// The outcome of a proposal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Applied {
    /// The session is open.
    Opened,
    /// Its answers, one a call.
    Answers(Vec<Answer>),
    /// Its session is not open: nothing was done now.
    NoSession,
    /// Its node had done with it: nothing was done now.
    Late,
}

impl Call {
    pub(crate) fn write(&self, to: &mut Writer) {
        match self {
            Call::Commit(change, now) => {
                to.u8(0).u64(*now).change(change);
            }
            Call::CommitEach(changes, now) => {
                to.u8(1).u64(*now).count(changes.len());
                for change in changes {
                    to.change(change);
                }
            }
            Call::Take(key, now) => {
                to.u8(2).u64(*now).key(key);
            }
            Call::Sweep(now, limit) => {
                to.u8(3).u64(*now).u64(*limit as u64);
            }
            Call::Check => {
                to.u8(4);
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Call, Malformed> {
        Ok(match from.u8()? {
            0 => {
                let now = from.u64()?;
                Call::Commit(from.change()?, now)
            }
            1 => {
                let now = from.u64()?;
                Call::CommitEach(from.list(Reader::change)?, now)
            }
            2 => {
                let now = from.u64()?;
                Call::Take(from.key()?, now)
            }
            3 => Call::Sweep(
                from.u64()?,
                usize::try_from(from.u64()?).unwrap_or(usize::MAX),
            ),
            4 => Call::Check,
            _ => return Err(Malformed),
        })
    }
}

impl Answer {
    fn write(&self, to: &mut Writer) {
        match self {
            Answer::Commit(outcome) => {
                to.u8(0).outcome(outcome);
            }
            Answer::CommitEach(outcomes) => {
                to.u8(1).count(outcomes.len());
                for outcome in outcomes {
                    to.outcome(outcome);
                }
            }
            Answer::Take(row) => {
                to.u8(2).option(row.as_ref(), |to, row| {
                    to.row(row);
                });
            }
            Answer::Sweep(count) => {
                to.u8(3).u64(*count as u64);
            }
            Answer::Check => {
                to.u8(4);
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Answer, Malformed> {
        Ok(match from.u8()? {
            0 => Answer::Commit(from.outcome()?),
            1 => Answer::CommitEach(from.list(Reader::outcome)?),
            2 => Answer::Take(from.option(Reader::row)?),
            3 => Answer::Sweep(usize::try_from(from.u64()?).map_err(|_| Malformed)?),
            4 => Answer::Check,
            _ => return Err(Malformed),
        })
    }
}

/// The head of a batch, before calls that are written already.
pub(crate) fn batch(
    format: u8,
    (origin, session, number, floor): (u64, u64, u64, u64),
    calls: &[Vec<u8>],
) -> Vec<u8> {
    let mut to = Writer::new();
    to.u8(format);
    to.u8(1).u64(origin).u64(session).u64(number).u64(floor);
    to.count(calls.len());
    let mut bytes = to.finish();
    calls.iter().for_each(|call| bytes.extend_from_slice(call));
    bytes
}

impl Proposal {
    pub(crate) fn open(format: u8, origin: u64, session: u64) -> Vec<u8> {
        let mut to = Writer::new();
        to.u8(format).u8(0).u64(origin).u64(session);
        to.finish()
    }

    /// `known`: the newest format that this node reads.
    pub(crate) fn from_bytes(bytes: &[u8], known: u8) -> Result<Proposal, Unread> {
        match format(bytes) {
            None => return Err(Unread::Malformed),
            Some(later) if later > known => return Err(Unread::Later(later)),
            // All formats so far are written alike.
            Some(_) => {}
        }
        let mut from = Reader::new(&bytes[1..]);
        let proposal = match from.u8()? {
            0 => Proposal::Open {
                origin: from.u64()?,
                session: from.u64()?,
            },
            1 => Proposal::Batch {
                origin: from.u64()?,
                session: from.u64()?,
                number: from.u64()?,
                floor: from.u64()?,
                calls: from.list(Call::read)?,
            },
            _ => return Err(Unread::Malformed),
        };
        from.end()?;
        Ok(proposal)
    }
}

impl Applied {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut to = Writer::new();
        match self {
            Applied::Opened => {
                to.u8(0);
            }
            Applied::Answers(answers) => {
                to.u8(1).count(answers.len());
                answers.iter().for_each(|answer| answer.write(&mut to));
            }
            Applied::NoSession => {
                to.u8(2);
            }
            Applied::Late => {
                to.u8(3);
            }
        }
        to.finish()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Applied, Malformed> {
        let mut from = Reader::new(bytes);
        let applied = match from.u8()? {
            0 => Applied::Opened,
            1 => Applied::Answers(from.list(Answer::read)?),
            2 => Applied::NoSession,
            3 => Applied::Late,
            _ => return Err(Malformed),
        };
        from.end()?;
        Ok(applied)
    }
}

/// What the state knows of a node's session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Session {
    pub(crate) id: u64,
    pub(crate) floor: u64,
}

impl Session {
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let mut to = Writer::new();
        to.u64(self.id).u64(self.floor);
        to.finish()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Session, Malformed> {
        let mut from = Reader::new(bytes);
        let session = Session {
            id: from.u64()?,
            floor: from.u64()?,
        };
        from.end()?;
        Ok(session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_store::{Op, Table};

    #[test]
    fn proposals_and_answers_are_read_as_they_were_written() {
        let key = Key::new(Table::Once, "a");
        let change = Change::new(Op::Delete { key: key.clone() });
        let calls = vec![
            Call::Commit(change.clone(), 1),
            Call::CommitEach(vec![change.clone(), change], 2),
            Call::Take(key, 3),
            Call::Sweep(4, 5),
            Call::Check,
        ];
        let written: Vec<Vec<u8>> = calls
            .iter()
            .map(|call| {
                let mut to = Writer::new();
                call.write(&mut to);
                to.finish()
            })
            .collect();
        let bytes = batch(FORMAT, (1, 2, 3, 4), &written);
        let read = Proposal::Batch {
            origin: 1,
            session: 2,
            number: 3,
            floor: 4,
            calls,
        };
        assert_eq!(Proposal::from_bytes(&bytes, FORMAT), Ok(read));
        assert_eq!(
            Proposal::from_bytes(&[&*bytes, b"x"].concat(), FORMAT),
            Err(Unread::Malformed)
        );
        let later = Proposal::open(FORMAT + 1, 1, 2);
        assert_eq!(
            Proposal::from_bytes(&later, FORMAT),
            Err(Unread::Later(FORMAT + 1))
        );
        let opened = Ok(Proposal::Open {
            origin: 1,
            session: 2,
        });
        assert_eq!(Proposal::from_bytes(&later, FORMAT + 1), opened);
        for nothing in [&[][..], &[0, 0]] {
            let read = Proposal::from_bytes(nothing, FORMAT);
            assert_eq!(read, Err(Unread::Malformed));
        }
        let row = Row {
            value: b"x".to_vec(),
            version: 1,
            end: Some(2),
        };
        for applied in [
            Applied::Opened,
            Applied::NoSession,
            Applied::Late,
            Applied::Answers(vec![
                Answer::Commit(Outcome::Done { version: 3 }),
                Answer::CommitEach(vec![Outcome::Refused(Some(row.clone()))]),
                Answer::Take(Some(row)),
                Answer::Sweep(7),
                Answer::Check,
            ]),
        ] {
            assert_eq!(Applied::from_bytes(&applied.to_bytes()), Ok(applied));
        }
    }
}
