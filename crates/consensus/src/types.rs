//! The types that the consensus library is used with, and their bytes.
use crate::{
    Member, NodeId,
    codec::{Malformed, Reader, Writer},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

openraft::declare_raft_types!(
    /// Members are numbers; a log id is a term, its leader and an index.
    pub(crate) Types:
        D = Proposed,
        R = Response,
        NodeId = u64,
        Node = Member,
        AsyncRuntime = crate::runtime::Runtime,
);

pub(crate) type LeaderId = openraft::impls::leader_id_adv::LeaderId<u64, u64>;
pub(crate) type LogId = openraft::LogId<LeaderId>;
pub(crate) type Vote = openraft::impls::Vote<LeaderId>;
pub(crate) type Membership = openraft::Membership<u64, Member>;
pub(crate) type StoredMembership = openraft::StoredMembership<LeaderId, u64, Member>;
pub(crate) type Payload = openraft::EntryPayload<Proposed, u64, Member>;
pub(crate) type Entry = openraft::Entry<LeaderId, Payload>;
pub(crate) type SnapshotMeta = openraft::storage::SnapshotMeta<LeaderId, u64, Member>;

/// A proposal as it stands in the log: its bytes are written once and shared from there on.
#[derive(Clone)]
pub(crate) struct Proposed(pub(crate) Arc<[u8]>);

// What is proposed may hold secrets.
impl fmt::Debug for Proposed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proposed({} bytes)", self.0.len())
    }
}

impl fmt::Display for Proposed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// The outcome of an entry: the bytes of `Applied`; none for entries that are no proposals.
#[derive(Clone)]
pub(crate) struct Response(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn vote(&mut self, vote: &Vote) -> &mut Writer {
        self.u64(vote.leader_id.term)
            .u64(vote.leader_id.node_id)
            .u8(vote.committed.into())
    }

    pub(crate) fn log_id(&mut self, id: &LogId) -> &mut Writer {
        self.u64(id.leader_id.term)
            .u64(id.leader_id.node_id)
            .u64(id.index)
    }

    pub(crate) fn log_id_option(&mut self, id: Option<&LogId>) -> &mut Writer {
        self.option(id, |to, id| {
            to.log_id(id);
        })
    }

    pub(crate) fn member(&mut self, member: &Member) -> &mut Writer {
        self.u64(member.number)
            .bytes(member.name.as_str().as_bytes())
            .option(member.zone.as_ref(), |to, zone| {
                to.bytes(zone.as_bytes());
            })
            .u8(member.format)
    }

    pub(crate) fn membership(&mut self, membership: &Membership) -> &mut Writer {
        let configs = membership.get_joint_config();
        self.count(configs.len());
        for config in configs {
            self.count(config.len());
            for number in config {
                self.u64(*number);
            }
        }
        let nodes: Vec<_> = membership.nodes().collect();
        self.count(nodes.len());
        for (_, member) in nodes {
            self.member(member);
        }
        self
    }

    pub(crate) fn stored_membership(&mut self, stored: &StoredMembership) -> &mut Writer {
        self.log_id_option(stored.log_id().as_ref())
            .membership(stored.membership())
    }

    pub(crate) fn entry(&mut self, entry: &Entry) -> &mut Writer {
        self.log_id(&entry.log_id);
        match &entry.payload {
            Payload::Blank => self.u8(0),
            Payload::Normal(proposed) => self.u8(1).bytes(&proposed.0),
            Payload::Membership(membership) => self.u8(2).membership(membership),
        }
    }

    pub(crate) fn snapshot_meta(&mut self, meta: &SnapshotMeta) -> &mut Writer {
        self.log_id_option(meta.last_log_id.as_ref())
            .stored_membership(&meta.last_membership)
    }
}

impl Reader<'_> {
    pub(crate) fn vote(&mut self) -> Result<Vote, Malformed> {
        Ok(Vote {
            leader_id: LeaderId {
                term: self.u64()?,
                node_id: self.u64()?,
            },
            committed: self.bool()?,
        })
    }

    pub(crate) fn log_id(&mut self) -> Result<LogId, Malformed> {
        let leader_id = LeaderId {
            term: self.u64()?,
            node_id: self.u64()?,
        };
        Ok(LogId {
            leader_id,
            index: self.u64()?,
        })
    }

    pub(crate) fn log_id_option(&mut self) -> Result<Option<LogId>, Malformed> {
        self.option(Reader::log_id)
    }

    pub(crate) fn member(&mut self) -> Result<Member, Malformed> {
        Ok(Member {
            number: self.u64()?,
            name: NodeId::parse(self.text()?).map_err(|_| Malformed)?,
            zone: self.option(|from| from.text().map(str::to_owned))?,
            format: self.u8()?,
        })
    }

    pub(crate) fn membership(&mut self) -> Result<Membership, Malformed> {
        let configs = self.list(|from| {
            let numbers = from.list(Reader::u64)?;
            Ok(numbers.into_iter().collect::<BTreeSet<u64>>())
        })?;
        let nodes: BTreeMap<u64, Member> = self
            .list(|from| from.member().map(|member| (member.number, member)))?
            .into_iter()
            .collect();
        if configs.is_empty() && nodes.is_empty() {
            return Ok(Membership::default());
        }
        Membership::new(configs, nodes).map_err(|_| Malformed)
    }

    pub(crate) fn stored_membership(&mut self) -> Result<StoredMembership, Malformed> {
        let id = self.log_id_option()?;
        Ok(StoredMembership::new(id, self.membership()?))
    }

    pub(crate) fn entry(&mut self) -> Result<Entry, Malformed> {
        let log_id = self.log_id()?;
        let payload = match self.u8()? {
            0 => Payload::Blank,
            1 => Payload::Normal(Proposed(self.bytes()?.into())),
            2 => Payload::Membership(self.membership()?),
            _ => return Err(Malformed),
        };
        Ok(Entry { log_id, payload })
    }

    pub(crate) fn snapshot_meta(&mut self) -> Result<SnapshotMeta, Malformed> {
        Ok(SnapshotMeta {
            last_log_id: self.log_id_option()?,
            last_membership: self.stored_membership()?,
        })
    }
}

/// The bytes of one thing.
pub(crate) fn written(write: impl FnOnce(&mut Writer) -> &mut Writer) -> Vec<u8> {
    let mut to = Writer::new();
    write(&mut to);
    to.finish()
}

/// One thing from all of its bytes.
pub(crate) fn read<'a, T>(
    bytes: &'a [u8],
    read: impl FnOnce(&mut Reader<'a>) -> Result<T, Malformed>,
) -> Result<T, Malformed> {
    let mut from = Reader::new(bytes);
    let value = read(&mut from)?;
    from.end()?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_log_holds_is_read_as_it_was_written() {
        let log_id = LogId {
            leader_id: LeaderId {
                term: 3,
                node_id: 2,
            },
            index: 9,
        };
        let member = |number, zone: Option<&str>| Member {
            number,
            name: NodeId::parse(&format!("n{number}")).expect("a name"),
            zone: zone.map(str::to_owned),
            format: 1,
        };
        let nodes = BTreeMap::from([(1, member(1, None)), (2, member(2, Some("a")))]);
        let joint = vec![BTreeSet::from([1]), BTreeSet::from([1, 2])];
        let membership = Membership::new(joint, nodes).expect("is valid");
        for payload in [
            Payload::Blank,
            Payload::Normal(Proposed(b"abc"[..].into())),
            Payload::Membership(membership.clone()),
        ] {
            let entry = Entry { log_id, payload };
            let bytes = written(|to| to.entry(&entry));
            let back = read(&bytes, Reader::entry).expect("is read");
            assert_eq!(written(|to| to.entry(&back)), bytes);
            assert!(read(&bytes[..bytes.len() - 1], Reader::entry).is_err());
        }
        let meta = SnapshotMeta {
            last_log_id: Some(log_id),
            last_membership: StoredMembership::new(Some(log_id), membership),
        };
        let bytes = written(|to| to.snapshot_meta(&meta));
        assert_eq!(read(&bytes, Reader::snapshot_meta), Ok(meta));
        let empty = written(|to| to.stored_membership(&StoredMembership::default()));
        let read = read(&empty, Reader::stored_membership);
        assert_eq!(read, Ok(StoredMembership::default()));
    }
}
