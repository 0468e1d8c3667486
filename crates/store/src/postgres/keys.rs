//! Several keys as the parameters of one statement, and the rows that it answers.
use super::{
    PostgresError,
    layout::Place,
    plan::Found,
    session::{Query, Session},
};
use crate::{Key, Row};
use tokio_postgres::{Row as SqlRow, types::ToSql};

#[derive(Default)]
pub(super) struct Keys<'a> {
    keys: Vec<&'a Key>,
    numbers: Vec<i32>,
    kinds: Vec<i16>,
    parts: Vec<&'a [u8]>,
    sorts: Vec<&'a [u8]>,
    extras: Vec<i64>,
}

impl<'a> Keys<'a> {
    /// Of tables that must end, or of the others.
    pub(super) fn of(named: impl IntoIterator<Item = (&'a Key, i64)>, ends: bool) -> Keys<'a> {
        let mut keys = Keys::default();
        for (key, extra) in named {
            if key.table.must_end() == ends {
                keys.numbers.push(keys.keys.len() as i32);
                keys.keys.push(key);
                keys.kinds.push(i16::from(key.table.number()));
                keys.parts.push(&key.partition);
                keys.sorts.push(&key.sort);
                keys.extras.push(extra);
            }
        }
        keys
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Asks; sends nothing where there are no keys.
    pub(super) async fn ask(
        &self,
        session: &Session,
        query: Query,
    ) -> Result<Vec<SqlRow>, tokio_postgres::Error> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let parameters: [&(dyn ToSql + Sync); 5] = [
            &self.numbers,
            &self.kinds,
            &self.parts,
            &self.sorts,
            &self.extras,
        ];
        let statement = session.statement(query);
        session.client.query(statement, &parameters).await
    }

    /// Which of the keys a row is about.
    fn number(&self, row: &SqlRow) -> Result<usize, PostgresError> {
        let number: i32 = row.try_get(0)?;
        let number = usize::try_from(number)
            .ok()
            .filter(|n| *n < self.keys.len());
        number.ok_or(PostgresError::Corrupt(
            "a row of a key that was not asked for",
        ))
    }

    /// The rows of [`super::layout::look`].
    pub(super) fn found(&self, rows: Vec<SqlRow>) -> Result<Vec<(Key, Found)>, PostgresError> {
        let mut all = Vec::with_capacity(rows.len());
        for row in rows {
            let place = Place::from_number(row.try_get(1)?);
            let place = place.ok_or(PostgresError::Corrupt("an unknown table"))?;
            let value: Option<Vec<u8>> = row.try_get(2)?;
            let row_of = stored(value.unwrap_or_default(), row.try_get(3)?, row.try_get(4)?)?;
            let found = Found { place, row: row_of };
            all.push((self.keys[self.number(&row)?].clone(), found));
        }
        Ok(all)
    }

    /// The rows of [`super::layout::get`], by the keys' numbers.
    pub(super) fn rows(&self, rows: Vec<SqlRow>) -> Result<Vec<Option<Row>>, PostgresError> {
        let mut all = vec![None; self.keys.len()];
        for row in rows {
            let number = self.number(&row)?;
            all[number] = Some(stored(row.try_get(1)?, row.try_get(2)?, row.try_get(3)?)?);
        }
        Ok(all)
    }
}

pub(super) fn stored(value: Vec<u8>, version: i64, end: Option<i64>) -> Result<Row, PostgresError> {
    let negative = |_| PostgresError::Corrupt("a negative number");
    Ok(Row {
        value,
        version: u64::try_from(version).map_err(negative)?,
        end: end.map(u64::try_from).transpose().map_err(negative)?,
    })
}
