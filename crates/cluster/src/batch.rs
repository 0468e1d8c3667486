//! Entries with the signatures of the node that told them.
//!
//! A batch is one of a *stream*: what a node told since it was started, numbered from 1. The name
//! of a stream is random, so a node that lost the last moments before a crash never gives a number
//! twice. A batch is signed with Ed25519 and ML-DSA-65 over the same bytes, and counts only where
//! both hold: a node that relays it cannot change it, and forging it takes both algorithms broken.
//!
//! A *manifest* says which batches of its stream still matter, and which ones of others the node
//! has told again. Whoever has everything that it names may forget the rest.
mod keys;
mod ranges;
mod signed;

pub use keys::{Keys, MemberKeys, SIGNATURE_LEN, Standing, Verdict};
pub use ranges::Ranges;
pub use signed::{MAX_BATCH_BYTES, Signed};

use crate::{NodeId, member::Fingerprint};
use signet_cbor::{Decoder, Encoder, Error, Result};
use signet_merge::{
    crdt::{read_stamp, write_stamp},
    entry::Entry,
    hlc::Stamp,
};

/// Entries of a batch at most.
pub const MAX_ENTRIES: usize = 1024;

/// Bytes of entries that share a batch; one that is larger has a batch of its own.
pub const MAX_SHARED_BYTES: usize = 128 * 1024;

/// Streams that a manifest names beside its own.
pub const MAX_COVERED: usize = 256;

/// What one node told since it was started.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StreamId {
    /// Who told it.
    pub origin: NodeId,
    /// Random, chosen at the start.
    pub number: u64,
}

/// One batch of a stream.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BatchId {
    /// The stream.
    pub stream: StreamId,
    /// From 1.
    pub seq: u64,
}

/// Which batches matter, up to the batch that carries this.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Manifest {
    /// Of the same stream.
    pub keep: Ranges,
    /// Those of them that expire, with the Unix second: after it nobody needs to have them.
    pub fleeting: Vec<(u64, u64)>,
    /// Batches of other streams whose entries, as far as they matter, were announced again in those
    /// that are kept.
    pub covers: Vec<(StreamId, Ranges)>,
}

/// What is signed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Batch {
    /// Its place.
    pub id: BatchId,
    /// Which identity of the origin signs.
    pub signer: Fingerprint,
    /// When; later than every stamp in the entries that the origin itself wrote.
    pub stamp: Stamp,
    /// What is announced.
    pub entries: Vec<Entry>,
    /// What may be forgotten.
    pub manifest: Option<Manifest>,
}

/// Appends a stream's name.
pub(crate) fn write_stream(out: &mut Encoder, stream: &StreamId) {
    out.array(2)
        .text(stream.origin.as_str())
        .uint(stream.number);
}

/// Reads a stream's name.
pub(crate) fn read_stream(d: &mut Decoder<'_>) -> Result<StreamId> {
    d.tuple(2, |d| {
        Ok(StreamId {
            origin: NodeId::parse(d.text()?).map_err(|_| Error::Malformed)?,
            number: d.uint()?,
        })
    })
}

/// Appends streams with ranges of each.
pub(crate) fn write_streams<'a>(
    out: &mut Encoder,
    streams: impl ExactSizeIterator<Item = (&'a StreamId, &'a Ranges)>,
) {
    out.array(streams.len());
    for (stream, ranges) in streams {
        write_stream(out.array(2), stream);
        ranges.write(out);
    }
}

/// Reads streams with ranges of each.
pub(crate) fn read_streams(d: &mut Decoder<'_>, most: usize) -> Result<Vec<(StreamId, Ranges)>> {
    d.list(most, |d| {
        d.tuple(2, |d| Ok((read_stream(d)?, Ranges::read(d)?)))
    })
}

impl Batch {
    /// The bytes that are signed, without what separates them from other signed things.
    fn body(&self) -> Vec<u8> {
        let entries: usize = self.entries.iter().map(Entry::len).sum();
        let mut out = Encoder::with_capacity(256 + entries);
        out.array(6);
        write_stream(&mut out, &self.id.stream);
        out.uint(self.id.seq).bytes(&self.signer.0);
        write_stamp(&mut out, &self.stamp);
        out.array(self.entries.len());
        for entry in &self.entries {
            entry.write(&mut out);
        }
        match &self.manifest {
            None => {
                out.null();
            }
            Some(manifest) => {
                out.array(3);
                manifest.keep.write(&mut out);
                out.array(manifest.fleeting.len());
                for (seq, end) in &manifest.fleeting {
                    out.array(2).uint(*seq).uint(*end);
                }
                write_streams(&mut out, manifest.covers.iter().map(|(s, r)| (s, r)));
            }
        }
        out.finish()
    }

    fn read(d: &mut Decoder<'_>) -> Result<Batch> {
        d.tuple(6, |d| {
            let stream = read_stream(d)?;
            let seq = d.uint()?;
            // The greatest number is nobody's: ranges count one beyond their end.
            if seq == 0 || seq == u64::MAX {
                return Err(Error::Malformed);
            }
            Ok(Batch {
                id: BatchId { stream, seq },
                signer: Fingerprint(d.fixed()?),
                stamp: read_stamp(d)?,
                entries: d.list(MAX_ENTRIES, Entry::read)?,
                manifest: match d.peek()? {
                    4 => Some(d.tuple(3, |d| {
                        Ok::<_, Error>(Manifest {
                            keep: Ranges::read(d)?,
                            fleeting: d.list(usize::MAX, |d| {
                                d.tuple(2, |d| Ok::<_, Error>((d.uint()?, d.uint()?)))
                            })?,
                            covers: read_streams(d, MAX_COVERED)?,
                        })
                    })?),
                    _ => {
                        d.null()?;
                        None
                    }
                },
            })
        })
    }
}
