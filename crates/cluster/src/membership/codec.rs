//! How failure detection's messages are written: one encoding each, read strictly.
use bytes::{Buf, BufMut};
use foca::{Header, Member, Message, State};
use signet_store::NodeId;

/// A start of a node. A later one takes the place of an earlier one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Run {
    pub(super) node: NodeId,
    /// Unix milliseconds of its start; more, where others believed that it was down.
    pub(super) boot: u64,
}

impl foca::Identity for Run {
    type Addr = NodeId;

    fn renew(&self) -> Option<Run> {
        Some(Run {
            node: self.node.clone(),
            boot: self.boot.saturating_add(1),
        })
    }

    fn addr(&self) -> NodeId {
        self.node.clone()
    }

    fn win_addr_conflict(&self, adversary: &Run) -> bool {
        self.boot > adversary.boot
    }
}

/// A member sent what is no message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a malformed message of failure detection")]
pub(super) struct Malformed;

pub(super) struct Codec;

fn put_run(run: &Run, buf: &mut impl BufMut) -> Result<(), Malformed> {
    let name = run.node.as_str().as_bytes();
    // The buffer is as long as a message may be.
    if buf.remaining_mut() < 1 + name.len() + 8 {
        return Err(Malformed);
    }
    // A name has at most 32 bytes.
    buf.put_u8(name.len() as u8);
    buf.put_slice(name);
    buf.put_u64(run.boot);
    Ok(())
}

fn get_run(buf: &mut impl Buf) -> Result<Run, Malformed> {
    let len = usize::from(buf.try_get_u8().map_err(|_| Malformed)?);
    if buf.remaining() < len {
        return Err(Malformed);
    }
    let mut name = vec![0; len];
    buf.copy_to_slice(&mut name);
    let name = std::str::from_utf8(&name).map_err(|_| Malformed)?;
    Ok(Run {
        node: NodeId::parse(name).map_err(|_| Malformed)?,
        boot: buf.try_get_u64().map_err(|_| Malformed)?,
    })
}

/// The number of a kind of message, who it is about besides its sender and receiver, and its probe.
fn parts(message: &Message<Run>) -> (u8, Option<&Run>, Option<u8>) {
    match message {
        Message::Ping(probe) => (0, None, Some(*probe)),
        Message::Ack(probe) => (1, None, Some(*probe)),
        Message::PingReq {
            target,
            probe_number,
        } => (2, Some(target), Some(*probe_number)),
        Message::IndirectPing {
            origin,
            probe_number,
        } => (3, Some(origin), Some(*probe_number)),
        Message::IndirectAck {
            target,
            probe_number,
        } => (4, Some(target), Some(*probe_number)),
        Message::ForwardedAck {
            origin,
            probe_number,
        } => (5, Some(origin), Some(*probe_number)),
        Message::Announce => (6, None, None),
        Message::Feed => (7, None, None),
        Message::Gossip => (8, None, None),
        Message::Broadcast => (9, None, None),
        Message::TurnUndead => (10, None, None),
    }
}

fn get_message(buf: &mut impl Buf) -> Result<Message<Run>, Malformed> {
    let kind = buf.try_get_u8().map_err(|_| Malformed)?;
    let probe = |buf: &mut dyn Buf| buf.try_get_u8().map_err(|_| Malformed);
    Ok(match kind {
        0 => Message::Ping(probe(buf)?),
        1 => Message::Ack(probe(buf)?),
        2 => Message::PingReq {
            target: get_run(buf)?,
            probe_number: probe(buf)?,
        },
        3 => Message::IndirectPing {
            origin: get_run(buf)?,
            probe_number: probe(buf)?,
        },
        4 => Message::IndirectAck {
            target: get_run(buf)?,
            probe_number: probe(buf)?,
        },
        5 => Message::ForwardedAck {
            origin: get_run(buf)?,
            probe_number: probe(buf)?,
        },
        6 => Message::Announce,
        7 => Message::Feed,
        8 => Message::Gossip,
        9 => Message::Broadcast,
        10 => Message::TurnUndead,
        _ => return Err(Malformed),
    })
}

impl foca::Codec<Run> for Codec {
    type Error = Malformed;

    fn encode_header(
        &mut self,
        header: &Header<Run>,
        mut buf: impl BufMut,
    ) -> Result<(), Malformed> {
        put_run(&header.src, &mut buf)?;
        put_run(&header.dst, &mut buf)?;
        let (kind, about, probe) = parts(&header.message);
        if buf.remaining_mut() < 4 {
            return Err(Malformed);
        }
        buf.put_u16(header.src_incarnation);
        buf.put_u8(kind);
        if let Some(run) = about {
            put_run(run, &mut buf)?;
        }
        if let Some(probe) = probe {
            if buf.remaining_mut() < 1 {
                return Err(Malformed);
            }
            buf.put_u8(probe);
        }
        Ok(())
    }

    fn decode_header(&mut self, mut buf: impl Buf) -> Result<Header<Run>, Malformed> {
        Ok(Header {
            src: get_run(&mut buf)?,
            dst: get_run(&mut buf)?,
            src_incarnation: buf.try_get_u16().map_err(|_| Malformed)?,
            message: get_message(&mut buf)?,
        })
    }

    fn encode_member(
        &mut self,
        member: &Member<Run>,
        mut buf: impl BufMut,
    ) -> Result<(), Malformed> {
        put_run(member.id(), &mut buf)?;
        if buf.remaining_mut() < 3 {
            return Err(Malformed);
        }
        buf.put_u16(member.incarnation());
        buf.put_u8(match member.state() {
            State::Alive => 0,
            State::Suspect => 1,
            State::Down => 2,
        });
        Ok(())
    }

    fn decode_member(&mut self, mut buf: impl Buf) -> Result<Member<Run>, Malformed> {
        let run = get_run(&mut buf)?;
        let incarnation = buf.try_get_u16().map_err(|_| Malformed)?;
        let state = match buf.try_get_u8().map_err(|_| Malformed)? {
            0 => State::Alive,
            1 => State::Suspect,
            2 => State::Down,
            _ => return Err(Malformed),
        };
        Ok(Member::new(run, incarnation, state))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foca::Codec as _;

    fn run(name: &str) -> Run {
        Run {
            node: NodeId::parse(name).expect(name),
            boot: 1 << 40,
        }
    }

    #[test]
    fn every_message_reads_back_and_no_part_of_it_does() {
        let (target, origin) = (run("c"), run("d"));
        let probe_number = 7;
        let messages = [
            Message::Ping(1),
            Message::Ack(2),
            Message::PingReq {
                target: target.clone(),
                probe_number,
            },
            Message::IndirectPing {
                origin: origin.clone(),
                probe_number,
            },
            Message::IndirectAck {
                target,
                probe_number,
            },
            Message::ForwardedAck {
                origin,
                probe_number,
            },
            Message::Announce,
            Message::Feed,
            Message::Gossip,
            Message::Broadcast,
            Message::TurnUndead,
        ];
        for message in messages {
            let header = Header {
                src: run("a"),
                src_incarnation: 3,
                dst: run("node-2"),
                message,
            };
            let mut bytes = Vec::new();
            Codec.encode_header(&header, &mut bytes).expect("written");
            assert_eq!(Codec.decode_header(bytes.as_slice()), Ok(header));
            for cut in 0..bytes.len() {
                assert_eq!(Codec.decode_header(&bytes[..cut]), Err(Malformed));
            }
        }
        for state in [State::Alive, State::Suspect, State::Down] {
            let member = Member::new(run("a"), 5, state);
            let mut bytes = Vec::new();
            Codec.encode_member(&member, &mut bytes).expect("written");
            assert_eq!(Codec.decode_member(bytes.as_slice()), Ok(member));
            for cut in 0..bytes.len() {
                assert_eq!(Codec.decode_member(&bytes[..cut]), Err(Malformed));
            }
        }
    }

    #[test]
    fn what_no_node_writes_is_refused() {
        for name in [&b""[..], b"A", b"\xff"] {
            let mut bytes = vec![name.len() as u8];
            bytes.extend_from_slice(name);
            bytes.extend_from_slice(&[0; 30]);
            assert_eq!(Codec.decode_member(bytes.as_slice()), Err(Malformed));
        }
        let mut bytes = Vec::new();
        let member = Member::new(run("a"), 5, State::Alive);
        Codec.encode_member(&member, &mut bytes).expect("written");
        *bytes.last_mut().expect("a state") = 3;
        assert_eq!(Codec.decode_member(bytes.as_slice()), Err(Malformed));
        // Where there is no room nothing is written beyond it.
        let mut room = [0; 5];
        let full = Codec.encode_member(&member, &mut room[..]);
        assert_eq!(full, Err(Malformed));
    }
}
