//! Rank-one constraint systems: rows `<a, w> * <b, w> = <c, w>` over the scalar field of BN254.
//!
//! Wire 0 is the constant one, then come the public inputs, then the secret wires.

use ark_bn254::Fr;
use ark_ff::{One, PrimeField, Zero};

/// A linear combination of wires.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum(pub(crate) Vec<(u32, Fr)>);

impl Sum {
    pub(crate) fn constant(value: Fr) -> Sum {
        let mut sum = Sum::default();
        sum.add(0, value);
        sum
    }

    pub(crate) fn wire(wire: u32) -> Sum {
        Sum(vec![(wire, Fr::one())])
    }

    pub(crate) fn add(&mut self, wire: u32, factor: Fr) {
        match self.0.binary_search_by_key(&wire, |term| term.0) {
            Ok(at) => {
                self.0[at].1 += factor;
                if self.0[at].1.is_zero() {
                    self.0.remove(at);
                }
            }
            Err(_) if factor.is_zero() => {}
            Err(at) => self.0.insert(at, (wire, factor)),
        }
    }

    pub(crate) fn add_sum(&mut self, other: &Sum, factor: Fr) {
        for &(wire, own) in &other.0 {
            self.add(wire, own * factor);
        }
    }

    pub(crate) fn scaled(&self, factor: Fr) -> Sum {
        Sum(self.0.iter().map(|&(w, f)| (w, f * factor)).collect())
    }

    #[cfg(test)]
    pub(crate) fn value(&self, wires: &[Fr]) -> Fr {
        self.0
            .iter()
            .map(|&(wire, factor)| wires[wire as usize] * factor)
            .sum()
    }
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) a: Sum,
    pub(crate) b: Sum,
    pub(crate) c: Sum,
}

/// A whole system.
#[derive(Clone, Debug)]
pub(crate) struct ConstraintSystem {
    /// Wires that a verifier knows, with the constant one.
    pub(crate) publics: usize,
    /// All wires.
    pub(crate) wires: usize,
    pub(crate) rows: Vec<Row>,
}

impl ConstraintSystem {
    /// A system with `inputs` public inputs and no row.
    pub(crate) fn new(inputs: usize) -> ConstraintSystem {
        ConstraintSystem {
            publics: inputs + 1,
            wires: inputs + 1,
            rows: Vec::new(),
        }
    }

    pub(crate) fn wire(&mut self) -> u32 {
        self.wires += 1;
        (self.wires - 1) as u32
    }

    pub(crate) fn require(&mut self, a: Sum, b: Sum, c: Sum) {
        self.rows.push(Row { a, b, c });
    }

    /// Gives each public wire a row of its own, `x * 0 = 0`. It demands nothing, and makes the
    /// polynomials of the public wires linearly independent of all others: an input that stood in
    /// no row would have a zero point in the verifying key and bind nothing.
    pub(crate) fn anchor_publics(&mut self) {
        for wire in 0..self.publics {
            self.require(Sum::wire(wire as u32), Sum::default(), Sum::default());
        }
    }

    /// Whether every row holds.
    #[cfg(test)]
    pub(crate) fn holds(&self, wires: &[Fr]) -> bool {
        self.rows
            .iter()
            .all(|row| row.a.value(wires) * row.b.value(wires) == row.c.value(wires))
    }
}

/// One matrix, made for multiplication by a vector of bits (and a few wide wires): small integer
/// factors where a row has no others.
#[derive(Debug)]
pub(crate) struct Matrix {
    starts: Vec<u32>,
    wires: Vec<u32>,
    factors: Vec<i64>,
    /// Rows with a factor or a wire beyond small integers.
    wide: Vec<(u32, Sum)>,
}

impl Matrix {
    /// `narrow` says whether a wire is always zero or one.
    pub(crate) fn new<'a>(
        rows: impl Iterator<Item = &'a Sum>,
        narrow: impl Fn(u32) -> bool,
    ) -> Matrix {
        let mut matrix = Matrix {
            starts: vec![0],
            wires: Vec::new(),
            factors: Vec::new(),
            wide: Vec::new(),
        };
        for (at, sum) in rows.enumerate() {
            let small: Option<Vec<i64>> = sum
                .0
                .iter()
                .map(|&(wire, factor)| narrow(wire).then(|| small(factor)).flatten())
                .collect();
            match small {
                Some(small) => {
                    matrix.wires.extend(sum.0.iter().map(|term| term.0));
                    matrix.factors.extend(small);
                }
                None => matrix.wide.push((at as u32, sum.clone())),
            }
            matrix.starts.push(matrix.wires.len() as u32);
        }
        matrix
    }

    /// The product, padded with zeros to `out`'s length. `bits` and `values` are the same wires, as
    /// far as they are narrow.
    pub(crate) fn apply(&self, bits: &[u8], values: impl Fn(u32) -> Fr, out: &mut [Fr]) {
        const KNOWN: i64 = 64;
        let known: Vec<Fr> = (-KNOWN..=KNOWN).map(Fr::from).collect();
        out.fill(Fr::zero());
        for (row, out) in out.iter_mut().enumerate().take(self.starts.len() - 1) {
            let range = self.starts[row] as usize..self.starts[row + 1] as usize;
            let sum: i64 = self.wires[range.clone()]
                .iter()
                .zip(&self.factors[range])
                .map(|(&wire, &factor)| i64::from(bits[wire as usize]) * factor)
                .sum();
            *out = match known.get((sum + KNOWN) as usize) {
                Some(known) => *known,
                None => Fr::from(sum),
            };
        }
        for (row, sum) in &self.wide {
            out[*row as usize] = sum
                .0
                .iter()
                .map(|&(wire, factor)| values(wire) * factor)
                .sum();
        }
    }
}

/// A factor as a small signed integer: below 2^40, so that a row's sum cannot overflow.
pub(crate) fn small(factor: Fr) -> Option<i64> {
    let magnitude = |value: Fr| {
        let limbs = value.into_bigint().0;
        (limbs[1..] == [0; 3] && limbs[0] < 1 << 40).then_some(limbs[0] as i64)
    };
    magnitude(factor).or_else(|| magnitude(-factor).map(|value| -value))
}
