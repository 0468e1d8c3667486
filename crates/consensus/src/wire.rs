//! Messages between the nodes of a replicated store.
//!
//! A request says of which generation of the cluster its sender is, and under which number: a node
//! of another generation is refused and told so, because what it holds was left behind by a
//! recovery.
use crate::{
    Member, NodeId,
    codec::{Malformed, Reader, Writer},
    types::{Entry, LogId, SnapshotMeta, Types, Vote, read},
};
use openraft::raft::{AppendEntriesRequest, AppendEntriesResponse, VoteRequest, VoteResponse};
use signet_store::sqlite::replica::{Note, RawRow};
use std::sync::Arc;

/// Version of this form.
const VERSION: u8 = 1;

pub(crate) struct Envelope {
    /// 0: of none yet.
    pub(crate) generation: u64,
    pub(crate) from: u64,
    pub(crate) request: Request,
}

pub(crate) enum Request {
    Append(Append),
    Vote(Ballot),
    PreVote(Ballot),
    /// Leadership is handed to `to`.
    Transfer {
        from: Vote,
        to: u64,
        last: Option<LogId>,
    },
    /// A snapshot begins.
    Begin {
        transfer: u64,
    },
    /// Its part of this number, from 1 on: rows, or notes of the state.
    Part {
        transfer: u64,
        number: u64,
        rows: Vec<RawRow>,
        notes: Vec<Note>,
    },
    /// It is whole with so many parts.
    End {
        transfer: u64,
        parts: u64,
        vote: Vote,
        meta: SnapshotMeta,
        version: u64,
    },
    /// To the leader: the bytes of a proposal.
    Propose(Arc<[u8]>),
    /// To the leader: how far must rows be to show all that was answered before now?
    ReadPoint,
    /// To the leader: a new member.
    Add(Member),
    /// To the leader: a member less.
    Remove(NodeId),
    /// To the leader: the newest format of entries that a member reads.
    Reads {
        number: u64,
        format: u8,
    },
    /// To anybody: is there space on its disk?
    Space,
    /// To anybody: which of the voters answer it?
    Hears,
}

pub(crate) struct Append {
    pub(crate) vote: Vote,
    pub(crate) before: Option<LogId>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) committed: Option<LogId>,
}

pub(crate) struct Ballot {
    pub(crate) vote: Vote,
    pub(crate) last: Option<LogId>,
    pub(crate) transfer: bool,
}

/// What a request is answered.
pub(crate) enum Reply {
    /// The answer of that kind of request.
    Done(Vec<u8>),
    /// The asker is of another generation than this one.
    Generation(u64),
    /// This node has no part in the consensus now.
    Stopped,
    /// The asker is not who it says, or what it sends cannot be read.
    Refused,
    /// It did not work out, in words.
    Failed(String),
    /// Another node is the leader, or none is known.
    NotLeader(Option<u64>),
    /// The leader's disk is full, and something of the proposal would grow it.
    Full,
}

fn rows(to: &mut Writer, rows: &[RawRow]) {
    to.count(rows.len());
    for row in rows {
        to.u8(row.kind).bytes(&row.partition).bytes(&row.sort);
        to.row(&row.row);
    }
}

fn ballot(to: &mut Writer, ballot: &Ballot) {
    to.vote(&ballot.vote)
        .log_id_option(ballot.last.as_ref())
        .u8(ballot.transfer.into());
}

impl Envelope {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut to = Writer::new();
        to.u8(VERSION).u64(self.generation).u64(self.from);
        match &self.request {
            Request::Append(append) => {
                to.u8(1).vote(&append.vote);
                to.log_id_option(append.before.as_ref());
                to.log_id_option(append.committed.as_ref());
                to.count(append.entries.len());
                for entry in &append.entries {
                    to.entry(entry);
                }
            }
            Request::Vote(vote) => ballot(to.u8(2), vote),
            Request::PreVote(vote) => ballot(to.u8(3), vote),
            Request::Transfer {
                from,
                to: target,
                last,
            } => {
                to.u8(4)
                    .vote(from)
                    .u64(*target)
                    .log_id_option(last.as_ref());
            }
            Request::Begin { transfer } => {
                to.u8(5).u64(*transfer);
            }
            Request::Part {
                transfer,
                number,
                rows: some,
                notes,
            } => {
                rows(to.u8(6).u64(*transfer).u64(*number), some);
                to.count(notes.len());
                for (name, value) in notes {
                    to.bytes(name).bytes(value);
                }
            }
            Request::End {
                transfer,
                parts,
                vote,
                meta,
                version,
            } => {
                to.u8(7).u64(*transfer).u64(*parts).vote(vote);
                to.snapshot_meta(meta).u64(*version);
            }
            Request::Propose(bytes) => {
                to.u8(8).bytes(bytes);
            }
            Request::ReadPoint => {
                to.u8(9);
            }
            Request::Add(member) => {
                to.u8(10).member(member);
            }
            Request::Remove(name) => {
                to.u8(11).bytes(name.as_str().as_bytes());
            }
            Request::Reads { number, format } => {
                to.u8(12).u64(*number).u8(*format);
            }
            Request::Space => {
                to.u8(13);
            }
            Request::Hears => {
                to.u8(14);
            }
        }
        to.finish()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Envelope, Malformed> {
        read(bytes, |from| {
            if from.u8()? != VERSION {
                return Err(Malformed);
            }
            Ok(Envelope {
                generation: from.u64()?,
                from: from.u64()?,
                request: Request::read(from)?,
            })
        })
    }
}

impl Request {
    fn read(from: &mut Reader<'_>) -> Result<Request, Malformed> {
        let ballot = |from: &mut Reader<'_>| {
            Ok(Ballot {
                vote: from.vote()?,
                last: from.log_id_option()?,
                transfer: from.bool()?,
            })
        };
        Ok(match from.u8()? {
            1 => Request::Append(Append {
                vote: from.vote()?,
                before: from.log_id_option()?,
                committed: from.log_id_option()?,
                entries: from.list(Reader::entry)?,
            }),
            2 => Request::Vote(ballot(from)?),
            3 => Request::PreVote(ballot(from)?),
            4 => Request::Transfer {
                from: from.vote()?,
                to: from.u64()?,
                last: from.log_id_option()?,
            },
            5 => Request::Begin {
                transfer: from.u64()?,
            },
            6 => Request::Part {
                transfer: from.u64()?,
                number: from.u64()?,
                rows: from.list(|from| {
                    Ok(RawRow {
                        kind: from.u8()?,
                        partition: from.bytes()?.to_vec(),
                        sort: from.bytes()?.to_vec(),
                        row: from.row()?,
                    })
                })?,
                notes: from.list(|from| Ok((from.bytes()?.to_vec(), from.bytes()?.to_vec())))?,
            },
            7 => Request::End {
                transfer: from.u64()?,
                parts: from.u64()?,
                vote: from.vote()?,
                meta: from.snapshot_meta()?,
                version: from.u64()?,
            },
            8 => Request::Propose(from.bytes()?.into()),
            9 => Request::ReadPoint,
            10 => Request::Add(from.member()?),
            11 => Request::Remove(NodeId::parse(from.text()?).map_err(|_| Malformed)?),
            12 => Request::Reads {
                number: from.u64()?,
                format: from.u8()?,
            },
            13 => Request::Space,
            14 => Request::Hears,
            _ => return Err(Malformed),
        })
    }
}

impl Reply {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut to = Writer::new();
        match self {
            Reply::Done(bytes) => {
                to.u8(0).bytes(bytes);
            }
            Reply::Generation(generation) => {
                to.u8(1).u64(*generation);
            }
            Reply::Stopped => {
                to.u8(2);
            }
            Reply::Refused => {
                to.u8(3);
            }
            Reply::Failed(why) => {
                to.u8(4).bytes(why.as_bytes());
            }
            Reply::NotLeader(leader) => {
                to.u8(5).option(*leader, |to, leader| {
                    to.u64(leader);
                });
            }
            Reply::Full => {
                to.u8(6);
            }
        }
        to.finish()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Reply, Malformed> {
        read(bytes, |from| {
            Ok(match from.u8()? {
                0 => Reply::Done(from.bytes()?.to_vec()),
                1 => Reply::Generation(from.u64()?),
                2 => Reply::Stopped,
                3 => Reply::Refused,
                4 => Reply::Failed(from.text()?.to_owned()),
                5 => Reply::NotLeader(from.option(Reader::u64)?),
                6 => Reply::Full,
                _ => return Err(Malformed),
            })
        })
    }
}

impl From<AppendEntriesRequest<Types>> for Append {
    fn from(request: AppendEntriesRequest<Types>) -> Append {
        Append {
            vote: request.vote,
            before: request.prev_log_id,
            entries: request.entries,
            committed: request.leader_commit,
        }
    }
}

impl From<Append> for AppendEntriesRequest<Types> {
    fn from(append: Append) -> AppendEntriesRequest<Types> {
        AppendEntriesRequest {
            vote: append.vote,
            prev_log_id: append.before,
            entries: append.entries,
            leader_commit: append.committed,
        }
    }
}

impl From<VoteRequest<Types>> for Ballot {
    fn from(request: VoteRequest<Types>) -> Ballot {
        Ballot {
            vote: request.vote,
            last: request.last_log_id,
            transfer: request.leadership_transfer,
        }
    }
}

impl From<Ballot> for VoteRequest<Types> {
    fn from(ballot: Ballot) -> VoteRequest<Types> {
        let mut request = VoteRequest::new(ballot.vote, ballot.last);
        request.leadership_transfer = ballot.transfer;
        request
    }
}

/// Numbers of nodes: the answer to [`Request::Hears`].
pub(crate) fn numbers_answer(numbers: &[u64]) -> Vec<u8> {
    let mut to = Writer::new();
    to.count(numbers.len());
    for number in numbers {
        to.u64(*number);
    }
    to.finish()
}

pub(crate) fn read_numbers_answer(bytes: &[u8]) -> Result<Vec<u64>, Malformed> {
    read(bytes, |from| from.list(Reader::u64))
}

pub(crate) fn append_answer(answer: &AppendEntriesResponse<Types>) -> Vec<u8> {
    let mut to = Writer::new();
    match answer {
        AppendEntriesResponse::Success => {
            to.u8(0);
        }
        AppendEntriesResponse::PartialSuccess(upto) => {
            to.u8(1).log_id_option(upto.as_ref());
        }
        AppendEntriesResponse::Conflict => {
            to.u8(2);
        }
        AppendEntriesResponse::HigherVote(vote) => {
            to.u8(3).vote(vote);
        }
    }
    to.finish()
}

pub(crate) fn read_append_answer(bytes: &[u8]) -> Result<AppendEntriesResponse<Types>, Malformed> {
    read(bytes, |from| {
        Ok(match from.u8()? {
            0 => AppendEntriesResponse::Success,
            1 => AppendEntriesResponse::PartialSuccess(from.log_id_option()?),
            2 => AppendEntriesResponse::Conflict,
            3 => AppendEntriesResponse::HigherVote(from.vote()?),
            _ => return Err(Malformed),
        })
    })
}

pub(crate) fn vote_answer(answer: &VoteResponse<Types>) -> Vec<u8> {
    let mut to = Writer::new();
    to.vote(&answer.vote).u8(answer.vote_granted.into());
    to.log_id_option(answer.last_log_id.as_ref());
    to.finish()
}

pub(crate) fn read_vote_answer(bytes: &[u8]) -> Result<VoteResponse<Types>, Malformed> {
    read(bytes, |from| {
        let (vote, granted) = (from.vote()?, from.bool()?);
        Ok(VoteResponse::new(vote, from.log_id_option()?, granted))
    })
}

/// What a proposal was answered: where in the log it stands, and its outcome; nothing, where
/// that is larger than a message.
pub(crate) fn proposed_answer(index: u64, applied: Option<&[u8]>) -> Vec<u8> {
    let mut to = Writer::new();
    to.u64(index).option(applied, |to, applied| {
        to.bytes(applied);
    });
    to.finish()
}

pub(crate) fn read_proposed_answer(bytes: &[u8]) -> Result<(u64, Option<Vec<u8>>), Malformed> {
    read(bytes, |from| {
        Ok((from.u64()?, from.option(|from| Ok(from.bytes()?.to_vec()))?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_store::Row;

    fn vote() -> Vote {
        Vote {
            leader_id: crate::types::LeaderId {
                term: 4,
                node_id: 2,
            },
            committed: true,
        }
    }

    #[test]
    fn messages_are_read_as_they_were_written_and_no_part_of_one_is() {
        let id = LogId {
            leader_id: vote().leader_id,
            index: 5,
        };
        let last = Some(id);
        let name = NodeId::parse("n1").expect("a name");
        let ballot = || Ballot {
            vote: vote(),
            last,
            transfer: true,
        };
        let requests = vec![
            Request::Append(Append {
                vote: vote(),
                before: last,
                entries: vec![Entry {
                    log_id: id,
                    payload: openraft::EntryPayload::Blank,
                }],
                committed: None,
            }),
            Request::Vote(ballot()),
            Request::PreVote(ballot()),
            Request::Transfer {
                from: vote(),
                to: 3,
                last,
            },
            Request::Begin { transfer: 9 },
            Request::Part {
                transfer: 9,
                number: 1,
                rows: vec![RawRow {
                    kind: 200,
                    partition: b"p".to_vec(),
                    sort: Vec::new(),
                    row: Row {
                        value: b"v".to_vec(),
                        version: 1,
                        end: None,
                    },
                }],
                notes: vec![(b"n".to_vec(), b"v".to_vec())],
            },
            Request::End {
                transfer: 9,
                parts: 2,
                vote: vote(),
                meta: SnapshotMeta::default(),
                version: 7,
            },
            Request::Propose(b"x"[..].into()),
            Request::ReadPoint,
            Request::Add(Member {
                number: 1,
                name: name.clone(),
                zone: Some("a".into()),
                format: 1,
            }),
            Request::Remove(name),
            Request::Reads {
                number: 1,
                format: 2,
            },
        ];
        for request in requests {
            let bytes = Envelope {
                generation: 1,
                from: 2,
                request,
            }
            .to_bytes();
            let back = Envelope::from_bytes(&bytes).expect("is read");
            assert_eq!((back.generation, back.from), (1, 2));
            assert_eq!(back.to_bytes(), bytes);
            for length in 0..bytes.len() {
                assert!(Envelope::from_bytes(&bytes[..length]).is_err());
            }
        }
        for reply in [
            Reply::Done(b"x".to_vec()),
            Reply::Generation(1),
            Reply::Stopped,
            Reply::Refused,
            Reply::Failed("why".into()),
            Reply::NotLeader(Some(1)),
            Reply::NotLeader(None),
            Reply::Full,
        ] {
            let bytes = reply.to_bytes();
            assert_eq!(
                Reply::from_bytes(&bytes).expect("is read").to_bytes(),
                bytes
            );
        }
    }

    #[test]
    fn a_message_of_a_later_form_or_of_an_unknown_kind_is_none() {
        let envelope = Envelope {
            generation: 1,
            from: 2,
            request: Request::ReadPoint,
        };
        let bytes = envelope.to_bytes();
        assert!(Envelope::from_bytes(&bytes).is_ok());
        let mut later = bytes.clone();
        later[0] = VERSION + 1;
        assert!(Envelope::from_bytes(&later).is_err());
        // Behind the form, the generation and the number.
        let mut unknown = bytes;
        unknown[17] = 99;
        assert!(Envelope::from_bytes(&unknown).is_err());
        assert!(Reply::from_bytes(&[99]).is_err());
    }
}
