//! What one node says to another, as bytes.
use crate::{
    NodeId,
    batch::{Ranges, StreamId, read_stream, read_streams, write_stream, write_streams},
};
use signet_cbor::{Decoder, Encoder, Error, Result};
use std::sync::Arc;

/// Streams in one frame; more take several.
pub(super) const MAX_STREAMS: usize = 1024;

/// Ranges of an inventory that share a frame.
pub(super) const MAX_PIECES: usize = 8192;

/// Neighbours that a summary names.
const MAX_NEIGHBOURS: usize = 256;

/// Batches in one frame.
const MAX_BATCHES: usize = 4096;

/// One message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Frame {
    /// Where the sender stands; said regularly, and whenever its neighbours change.
    Summary {
        /// Over all batches that it holds.
        digest: u128,
        /// Its wall clock, Unix milliseconds.
        wall_ms: u64,
        /// Whom it is connected with.
        neighbours: Vec<NodeId>,
    },
    /// Batches that the sender holds, or a part of them.
    Inventory(Vec<(StreamId, Ranges)>),
    /// Batches that the sender lacks.
    Want {
        /// How many bytes of them it takes now.
        credit: u64,
        /// Which.
        streams: Vec<(StreamId, Ranges)>,
    },
    /// Batches, as they were signed.
    Batches {
        /// Told just now, not asked for.
        pushed: bool,
        /// The last frame of an answer.
        last: bool,
        /// The batches.
        batches: Vec<Arc<[u8]>>,
    },
    /// The node `by` believes these batches of a stream, and has them in its journal.
    Ack {
        /// Who believes.
        by: NodeId,
        /// Whose stream.
        stream: StreamId,
        /// Which batches.
        seqs: Ranges,
    },
    /// The node `by` believes these batches of a stream; its journal may not have them yet.
    Believed {
        /// Who believes.
        by: NodeId,
        /// Whose stream.
        stream: StreamId,
        /// Which batches.
        seqs: Ranges,
    },
}

fn read_node(d: &mut Decoder<'_>) -> Result<NodeId> {
    NodeId::parse(d.text()?).map_err(|_| Error::Malformed)
}

impl Frame {
    /// As it travels: an array of a number and what belongs to it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Encoder::with_capacity(256);
        match self {
            Frame::Summary {
                digest,
                wall_ms,
                neighbours,
            } => {
                out.array(4).uint(0).bytes(&digest.to_be_bytes());
                out.uint(*wall_ms).array(neighbours.len());
                for node in neighbours {
                    out.text(node.as_str());
                }
            }
            Frame::Inventory(streams) => {
                out.array(2).uint(1);
                write_streams(&mut out, streams.iter().map(|(s, r)| (s, r)));
            }
            Frame::Want { credit, streams } => {
                out.array(3).uint(2).uint(*credit);
                write_streams(&mut out, streams.iter().map(|(s, r)| (s, r)));
            }
            Frame::Batches {
                pushed,
                last,
                batches,
            } => {
                let bytes: usize = batches.iter().map(|batch| batch.len() + 5).sum();
                out = Encoder::with_capacity(bytes + 16);
                out.array(4).uint(3).bool(*pushed).bool(*last);
                out.array(batches.len());
                for batch in batches {
                    out.bytes(batch);
                }
            }
            Frame::Ack { by, stream, seqs } => {
                out.array(4).uint(4).text(by.as_str());
                write_stream(&mut out, stream);
                seqs.write(&mut out);
            }
            Frame::Believed { by, stream, seqs } => {
                out.array(4).uint(5).text(by.as_str());
                write_stream(&mut out, stream);
                seqs.write(&mut out);
            }
        }
        out.finish()
    }

    /// Reads a frame.
    ///
    /// # Errors
    /// For everything that [`to_bytes`](Self::to_bytes) does not write.
    pub fn from_bytes(bytes: &[u8]) -> Result<Frame> {
        Decoder::whole(bytes, |d| {
            let items = d.array()?;
            d.nested(|d| match (d.uint()?, items) {
                (0, 4) => Ok(Frame::Summary {
                    digest: u128::from_be_bytes(d.fixed()?),
                    wall_ms: d.uint()?,
                    neighbours: d.list(MAX_NEIGHBOURS, read_node)?,
                }),
                (1, 2) => Ok(Frame::Inventory(read_streams(d, MAX_STREAMS)?)),
                (2, 3) => Ok(Frame::Want {
                    credit: d.uint()?,
                    streams: read_streams(d, MAX_STREAMS)?,
                }),
                (3, 4) => Ok(Frame::Batches {
                    pushed: d.bool()?,
                    last: d.bool()?,
                    batches: d.list(MAX_BATCHES, |d| Ok::<_, Error>(d.bytes()?.into()))?,
                }),
                (4, 4) => Ok(Frame::Ack {
                    by: read_node(d)?,
                    stream: read_stream(d)?,
                    seqs: Ranges::read(d)?,
                }),
                (5, 4) => Ok(Frame::Believed {
                    by: read_node(d)?,
                    stream: read_stream(d)?,
                    seqs: Ranges::read(d)?,
                }),
                _ => Err(Error::WrongType),
            })
        })
    }
}
