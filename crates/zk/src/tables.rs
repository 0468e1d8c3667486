//! What a prover reads: its points, the verifier's among them, and tables of the fixed bases. One
//! image, in memory or in a file that is mapped.

use ark_bn254::{G1Affine, G2Affine, g1, g2};
use signet_crypto::hash::sha256;

use crate::Error;
use crate::fixed::{Image, Query, Shared, Source, WideBases};
use crate::parameters::Parameters;
use crate::points::{Reader, put_one, put_two};
use crate::statement::Statement;
use crate::threads::join;
use crate::verifying_key::VerifyingKey;

/// Whether a wire is always zero or one.
pub(crate) fn is_narrow(statement: Statement, wire: u32) -> bool {
    // Poseidon's wires are numbers; so are public inputs.
    wire == 0 || (statement == Statement::Sha256 && wire as usize > statement.inputs())
}

/// The tables of one set of parameters.
pub(crate) struct Tables {
    /// SHA-256 of the parameters' file.
    pub(crate) parameters: [u8; 32],
    pub(crate) verifying_key: VerifyingKey,
    pub(crate) alpha: G1Affine,
    pub(crate) beta: G1Affine,
    pub(crate) delta: G1Affine,
    pub(crate) a: Query<g1::Config>,
    pub(crate) b: Query<g1::Config>,
    pub(crate) b_two: Query<g2::Config>,
    pub(crate) wires: Query<g1::Config>,
    pub(crate) quotient: WideBases<g1::Config>,
}

const MAGIC: &[u8] = b"signet groth16 tables 1\n";

impl Tables {
    /// The image: a head as in the parameters' file, and each query's tables.
    pub(crate) fn prepare(parameters: &Parameters) -> Vec<u8> {
        let p = parameters;
        let statement = p.statement;
        let narrow = |wire| is_narrow(statement, wire);
        std::thread::scope(|scope| {
            let quotient = scope.spawn(|| {
                let mut image = Image::default();
                WideBases::<g1::Config>::prepare(&p.quotient, &mut image);
                image
            });
            let mut image = Image(MAGIC.to_vec());
            image.0.push(statement.number());
            image.0.extend_from_slice(&sha256(&p.to_bytes()));
            for point in [&p.alpha, &p.beta, &p.delta] {
                put_one(&mut image.0, point);
            }
            for point in [&p.beta_two, &p.delta_two] {
                put_two(&mut image.0, point);
            }
            for point in &p.inputs {
                put_one(&mut image.0, point);
            }
            for points in [&p.a, &p.b, &p.wires] {
                Query::<g1::Config>::prepare(points, narrow, &mut image);
            }
            Query::<g2::Config>::prepare(&p.b_two, narrow, &mut image);
            image.append(&join(quotient));
            image.0
        })
    }

    /// Reads an image whose hash was compared with the expected one: its points are not checked
    /// again.
    pub(crate) fn read(bytes: Shared) -> Result<Tables, Error> {
        let mut source = Source::new(bytes);
        if source.take(MAGIC.len())? != MAGIC {
            return Err(Error::Encoding("tables"));
        }
        let statement = Statement::from_number(source.take(1)?[0])?;
        let mut parameters = [0; 32];
        parameters.copy_from_slice(source.take(32)?);
        let mut one = || -> Result<G1Affine, Error> { Reader(source.take(64)?).one() };
        let (alpha, beta, delta) = (one()?, one()?, one()?);
        let mut two = || -> Result<G2Affine, Error> { Reader(source.take(128)?).two() };
        let (beta_two, delta_two) = (two()?, two()?);
        let inputs = (0..=statement.inputs())
            .map(|_| Reader(source.take(64)?).one())
            .collect::<Result<Vec<_>, Error>>()?;
        let mut query = || Query::read(&mut source);
        let (a, b, wires) = (query()?, query()?, query()?);
        let b_two = Query::read(&mut source)?;
        source.align();
        let quotient = WideBases::read(&mut source)?;
        if !source.is_empty() {
            return Err(Error::Encoding("tables"));
        }
        Ok(Tables {
            parameters,
            verifying_key: VerifyingKey {
                statement,
                alpha,
                beta: beta_two,
                delta: delta_two,
                inputs,
            }
            .checked()?,
            alpha,
            beta,
            delta,
            a,
            b,
            b_two,
            wires,
            quotient,
        })
    }

    /// Whether they are of a circuit with this many wires over a domain of this size.
    pub(crate) fn fit(&self, wires: usize, domain: usize) -> bool {
        [&self.a, &self.b, &self.wires]
            .iter()
            .all(|query| query.fits(wires))
            && self.b_two.fits(wires)
            && self.quotient.count() == domain
    }
}
