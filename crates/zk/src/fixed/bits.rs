//! Bases whose factors are bits: for each group of neighbours, all subset sums.

use ark_ec::AffineRepr;
use ark_ec::short_weierstrass::{Affine, Projective};
use zeroize::Zeroizing;

use super::image::{Image, Points, Source, Stored, point};
use crate::Error;
use crate::affine::{add_all, sum_segments};

/// Neighbours that share a table of 32 sums. One more would save a sixth of a few thousand
/// additions, and make what each process maps and hashes a third larger.
const GROUP: usize = 5;

/// From so many points on it is worth while to add eight at a time.
const FEW: usize = 64;

pub(crate) struct BitBases<P: Stored> {
    /// The wires of the bases, in the order of the table.
    wires: Vec<u32>,
    sums: Points<P>,
}

impl<P: Stored> BitBases<P> {
    /// Writes the table of these bases, each with its wire.
    pub(crate) fn prepare(bases: &[(u32, Affine<P>)], image: &mut Image) {
        let groups = bases.len().div_ceil(GROUP);
        let mut sums = vec![Affine::identity(); groups << GROUP];
        let mut additions = Vec::new();
        for place in 0..GROUP {
            // Entries with this bit as their highest are those without it, plus its base.
            additions.clear();
            for group in 0..groups {
                let Some((_, base)) = bases.get(group * GROUP + place) else {
                    continue;
                };
                for low in 0..1 << place {
                    let at = group << GROUP | 1 << place | low;
                    sums[at] = sums[group << GROUP | low];
                    additions.push((at as u32, *base));
                }
            }
            add_all(&mut sums, &additions);
        }
        image.numbers(bases.iter().map(|base| base.0));
        image.points(&sums);
    }

    pub(crate) fn read(source: &mut Source) -> Result<BitBases<P>, Error> {
        let wires = source.numbers()?;
        let groups = wires.len().div_ceil(GROUP);
        Ok(BitBases {
            wires,
            sums: source.points(groups << GROUP)?,
        })
    }

    pub(crate) fn wires(&self) -> &[u32] {
        &self.wires
    }

    /// The sum of the bases whose wire is one.
    pub(crate) fn sum(&self, bits: &[u8]) -> Projective<P> {
        let table = self.sums.as_bytes();
        let mut chosen = Zeroizing::new(Vec::with_capacity(self.wires.len().div_ceil(GROUP)));
        for (group, wires) in self.wires.chunks(GROUP).enumerate() {
            let subset = wires.iter().enumerate().fold(0, |set, (i, &wire)| {
                set | usize::from(bits[wire as usize]) << i
            });
            // The empty subset's sum is nothing.
            if subset > 0 {
                chosen.push((group << GROUP | subset) as u32);
            }
        }
        if chosen.len() >= FEW
            && let Some(sum) = P::sum(table, &chosen)
        {
            return sum.into_group();
        }
        let points = chosen.iter().map(|at| point(table, *at as usize));
        sum_segments(points, &[chosen.len() as u32])
            .iter()
            .map(|sum| sum.into_group())
            .sum()
    }
}
