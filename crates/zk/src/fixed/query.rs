//! One query of the proving key over all wires: bits and wide wires in their own tables, points at
//! infinity left out.

use ark_bn254::Fr;
use ark_ec::AffineRepr;
use ark_ec::short_weierstrass::{Affine, Projective};
use zeroize::Zeroizing;

use super::bits::BitBases;
use super::image::{Image, Source, Stored};
use super::wide::WideBases;
use crate::Error;

pub(crate) struct Query<P: Stored> {
    bits: BitBases<P>,
    wide_wires: Vec<u32>,
    wide: WideBases<P>,
}

impl<P: Stored> Query<P> {
    /// Writes the tables of a query, a point for each wire.
    pub(crate) fn prepare(points: &[Affine<P>], narrow: impl Fn(u32) -> bool, image: &mut Image) {
        let (bits, wide): (Vec<_>, Vec<_>) = (0..)
            .zip(points.iter().copied())
            .filter(|(_, point)| !point.is_zero())
            .partition(|(wire, _)| narrow(*wire));
        let bases: Vec<Affine<P>> = wide.iter().map(|base| base.1).collect();
        BitBases::prepare(&bits, image);
        image.numbers(wide.iter().map(|base| base.0));
        WideBases::prepare(&bases, image);
    }

    pub(crate) fn read(source: &mut Source) -> Result<Query<P>, Error> {
        let query = Query {
            bits: BitBases::read(source)?,
            wide_wires: source.numbers()?,
            wide: WideBases::read(source)?,
        };
        if query.wide.count() == query.wide_wires.len() {
            Ok(query)
        } else {
            Err(Error::Encoding("tables"))
        }
    }

    /// Whether it asks for no wire beyond this many.
    pub(crate) fn fits(&self, wires: usize) -> bool {
        self.bits
            .wires()
            .iter()
            .chain(&self.wide_wires)
            .all(|wire| (*wire as usize) < wires)
    }

    /// The sum over all wires: `bits` has every wire, `values` at least the wide ones, both by
    /// wire.
    pub(crate) fn sum(&self, bits: &[u8], values: &[Fr]) -> Projective<P> {
        let factors = self.wide_wires.iter().map(|&wire| values[wire as usize]);
        let factors: Zeroizing<Vec<Fr>> = Zeroizing::new(factors.collect());
        self.bits.sum(bits) + self.wide.sum(&factors)
    }
}
