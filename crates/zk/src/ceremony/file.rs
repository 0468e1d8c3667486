//! The transcript as a file.

use super::contribution::Contribution;
use super::state::{Ceremony, Second};
use crate::Error;
use crate::domain::Domain;
use crate::parameters::{Powers, Queries};
use crate::points::{Reader, checked, checked_two, put_one, put_two};
use crate::statement::Statement;

/// Most contributions to one phase.
const MAX_CONTRIBUTIONS: usize = 4096;

const MAGIC: &[u8] = b"signet ceremony transcript 2\n";

impl Ceremony {
    /// The transcript as a file: contributions, the last powers, and in phase 2 the outcome of
    /// them.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.push(self.statement.number());
        let count = |out: &mut Vec<u8>, number: usize| {
            out.extend_from_slice(&(number as u32).to_le_bytes());
        };
        count(&mut out, self.first.len());
        self.first.iter().for_each(|c| c.put(&mut out));
        let powers = &self.powers;
        for list in [&powers.tau, &powers.alpha, &powers.beta] {
            list.iter().for_each(|point| put_one(&mut out, point));
        }
        powers
            .tau_two
            .iter()
            .for_each(|point| put_two(&mut out, point));
        put_two(&mut out, &self.beta_two);
        if let Some(second) = &self.second {
            count(&mut out, second.contributions.len());
            second.contributions.iter().for_each(|c| c.put(&mut out));
            put_one(&mut out, &second.delta);
            put_two(&mut out, &second.delta_two);
            let queries = &second.queries;
            for list in [
                &queries.a,
                &queries.b,
                &queries.inputs,
                &queries.wires,
                &queries.quotient,
            ] {
                list.iter().for_each(|point| put_one(&mut out, point));
            }
            let twos = queries.b_two.iter();
            twos.for_each(|point| put_two(&mut out, point));
        }
        out
    }

    /// Reads a transcript. Its points are on their curves and in their groups; [`Ceremony::verify`]
    /// says whether it holds.
    ///
    /// # Errors
    /// [`Error::Encoding`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Ceremony, Error> {
        let mut reader = Reader(bytes);
        if reader.take(MAGIC.len())? != MAGIC {
            return Err(Error::Encoding("transcript"));
        }
        let statement = Statement::from_number(reader.take(1)?[0])?;
        let system = statement.system();
        let size = Domain::new(system.rows.len()).size();
        let contributions = |reader: &mut Reader<'_>, steps: usize| {
            let count = reader.number()?;
            if count > MAX_CONTRIBUTIONS {
                return Err(Error::Encoding("transcript"));
            }
            (0..count)
                .map(|_| Contribution::read(reader, steps))
                .collect::<Result<Vec<_>, Error>>()
        };
        let ones = |reader: &mut Reader<'_>, count: usize| {
            (0..count)
                .map(|_| checked(reader.one()?))
                .collect::<Result<Vec<_>, Error>>()
        };
        let twos = |reader: &mut Reader<'_>, count: usize| {
            (0..count)
                .map(|_| checked_two(reader.two()?))
                .collect::<Result<Vec<_>, Error>>()
        };
        let first = contributions(&mut reader, 3)?;
        let powers = Powers {
            tau: ones(&mut reader, 2 * size - 1)?,
            alpha: ones(&mut reader, size)?,
            beta: ones(&mut reader, size)?,
            tau_two: twos(&mut reader, size)?,
        };
        let beta_two = checked_two(reader.two()?)?;
        let second = if reader.0.is_empty() {
            None
        } else {
            Some(Second {
                contributions: contributions(&mut reader, 1)?,
                delta: checked(reader.one()?)?,
                delta_two: checked_two(reader.two()?)?,
                queries: Queries {
                    a: ones(&mut reader, system.wires)?,
                    b: ones(&mut reader, system.wires)?,
                    inputs: ones(&mut reader, system.publics)?,
                    wires: ones(&mut reader, system.wires)?,
                    quotient: ones(&mut reader, size)?,
                    b_two: twos(&mut reader, system.wires)?,
                },
            })
        };
        if !reader.0.is_empty() {
            return Err(Error::Encoding("transcript"));
        }
        Ok(Ceremony {
            statement,
            first,
            powers,
            beta_two,
            second,
        })
    }
}
