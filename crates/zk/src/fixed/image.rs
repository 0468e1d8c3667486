//! Tables as bytes: what a file of them holds is what the sums read, so a mapped file needs no
//! copy.
//!
//! Numbers are little-endian. Points are uncompressed, as the limbs that the field arithmetic works
//! on, zeros for the point at infinity; each list of points begins at a multiple of 64 bytes, so
//! that a point of the first group is one line of the processor's cache.

use std::marker::PhantomData;
use std::sync::Arc;

use ark_bn254::{Fq, Fq2, g1, g2};
use ark_ec::short_weierstrass::{Affine, SWCurveConfig};
use ark_ff::{BigInt, Zero};

use crate::points::{put_one, put_two};
use crate::{Error, lanes};

const LINE: usize = 64;

/// A curve whose points are stored in a fixed number of bytes.
pub(crate) trait Stored: SWCurveConfig {
    /// Bytes of a point.
    const BYTES: usize;

    /// Reads [`Self::BYTES`] bytes, which are trusted to be a point.
    fn load(bytes: &[u8]) -> Affine<Self>;

    fn store(point: &Affine<Self>, out: &mut Vec<u8>);

    /// As [`lanes::bucket_sums`].
    fn bucket_sums(
        _table: &[u8],
        _entries: &[u32],
        _lengths: &[u32],
        _width: usize,
    ) -> Option<[Vec<Affine<Self>>; 2]> {
        None
    }

    /// As [`lanes::sum`].
    fn sum(_table: &[u8], _entries: &[u32]) -> Option<Affine<Self>> {
        None
    }
}

/// Four limbs as they are stored.
#[inline(always)]
fn field(bytes: &[u8]) -> Fq {
    let mut limbs = [0; 4];
    for (limb, bytes) in limbs.iter_mut().zip(bytes.chunks_exact(8)) {
        let mut own = [0; 8];
        own.copy_from_slice(bytes);
        *limb = u64::from_le_bytes(own);
    }
    Fq::new_unchecked(BigInt(limbs))
}

impl Stored for g1::Config {
    const BYTES: usize = 64;

    #[inline(always)]
    fn load(bytes: &[u8]) -> Affine<Self> {
        let (x, y) = (field(&bytes[..32]), field(&bytes[32..64]));
        if x.is_zero() && y.is_zero() {
            Affine::identity()
        } else {
            Affine::new_unchecked(x, y)
        }
    }

    fn store(point: &Affine<Self>, out: &mut Vec<u8>) {
        put_one(out, point);
    }

    fn bucket_sums(
        table: &[u8],
        entries: &[u32],
        lengths: &[u32],
        width: usize,
    ) -> Option<[Vec<Affine<Self>>; 2]> {
        lanes::bucket_sums(table, entries, lengths, width)
    }

    fn sum(table: &[u8], entries: &[u32]) -> Option<Affine<Self>> {
        lanes::sum(table, entries)
    }
}

impl Stored for g2::Config {
    const BYTES: usize = 128;

    #[inline(always)]
    fn load(bytes: &[u8]) -> Affine<Self> {
        let x = Fq2::new(field(&bytes[..32]), field(&bytes[32..64]));
        let y = Fq2::new(field(&bytes[64..96]), field(&bytes[96..128]));
        if x.is_zero() && y.is_zero() {
            Affine::identity()
        } else {
            Affine::new_unchecked(x, y)
        }
    }

    fn store(point: &Affine<Self>, out: &mut Vec<u8>) {
        put_two(out, point);
    }
}

/// Tables while they are written.
#[derive(Default)]
pub(crate) struct Image(pub(crate) Vec<u8>);

impl Image {
    pub(crate) fn number(&mut self, number: usize) {
        self.0.extend_from_slice(&(number as u32).to_le_bytes());
    }

    pub(crate) fn numbers(&mut self, numbers: impl ExactSizeIterator<Item = u32>) {
        self.number(numbers.len());
        numbers.for_each(|number| self.0.extend_from_slice(&number.to_le_bytes()));
    }

    fn align(&mut self) {
        self.0.resize(self.0.len().next_multiple_of(LINE), 0);
    }

    /// Begins a list of points; its length is known to the reader.
    pub(crate) fn points<P: Stored>(&mut self, points: &[Affine<P>]) {
        self.align();
        self.more_points(points);
    }

    /// Goes on with the list.
    pub(crate) fn more_points<P: Stored>(&mut self, points: &[Affine<P>]) {
        self.0.reserve(points.len() * P::BYTES);
        points.iter().for_each(|point| P::store(point, &mut self.0));
    }

    /// What another thread has written, which began at an aligned place.
    pub(crate) fn append(&mut self, other: &Image) {
        self.align();
        self.0.extend_from_slice(&other.0);
    }
}

/// Bytes that all lists of a prover share: a vector, or a mapped file.
pub(crate) type Shared = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Reads what an [`Image`] holds, in order.
pub(crate) struct Source {
    bytes: Shared,
    at: usize,
}

impl Source {
    pub(crate) fn new(bytes: Shared) -> Source {
        Source { bytes, at: 0 }
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&[u8], Error> {
        let from = self.at;
        self.at = from.saturating_add(count);
        self.bytes
            .as_ref()
            .as_ref()
            .get(from..self.at)
            .ok_or(Error::Encoding("tables"))
    }

    pub(crate) fn number(&mut self) -> Result<usize, Error> {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(self.take(4)?);
        Ok(u32::from_le_bytes(bytes) as usize)
    }

    pub(crate) fn numbers(&mut self) -> Result<Vec<u32>, Error> {
        let count = self.number()?;
        let bytes = self.take(count.saturating_mul(4))?;
        Ok(bytes
            .chunks_exact(4)
            .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            .collect())
    }

    pub(crate) fn align(&mut self) {
        self.at = self.at.next_multiple_of(LINE);
    }

    pub(crate) fn points<P: Stored>(&mut self, count: usize) -> Result<Points<P>, Error> {
        self.align();
        let from = self.at;
        self.take(count.saturating_mul(P::BYTES))?;
        Ok(Points {
            bytes: self.bytes.clone(),
            from,
            to: self.at,
            curve: PhantomData,
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.at == self.bytes.as_ref().as_ref().len()
    }
}

/// A list of points within shared bytes.
pub(crate) struct Points<P> {
    bytes: Shared,
    from: usize,
    to: usize,
    curve: PhantomData<P>,
}

impl<P: Stored> Points<P> {
    /// The list's bytes, [`Stored::BYTES`] for each point.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        // Within the bytes: it was when the list was read, and shared bytes keep their length.
        self.bytes
            .as_ref()
            .as_ref()
            .get(self.from..self.to)
            .unwrap_or_default()
    }
}

/// Point `index` of a list's bytes.
#[inline(always)]
pub(crate) fn point<P: Stored>(bytes: &[u8], index: usize) -> Affine<P> {
    P::load(&bytes[index * P::BYTES..(index + 1) * P::BYTES])
}
