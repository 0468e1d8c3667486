//! Removing what has expired: a table at a time.
//!
//! A table whose bucket has expired is emptied whole, and given the next bucket of its turn. It is
//! locked for that, for the time that the system needs to give its file back; a long read in the
//! way (a backup) postpones it. Several nodes may sweep at once: the row of the table in
//! `signet_bucket` is locked first, and says whether there is anything left to do.
//!
//! Row by row goes only what is no matter: tables with so few rows that nobody waits for their
//! bucket to end, and what lies in `signet_far` and `signet_kept`.
use super::{
    PostgresError,
    layout::{self, Place, WIDTHS, next_bucket, seconds},
    session::{Dialect, Session},
};
use tokio_postgres::error::SqlState;

/// A bucket with fewer rows than this is also swept row by row, before it has ended
const SMALL: i64 = 1000;

/// How long an emptied table may be waited for; every statement that comes after waits with it.
const LOCK_WAIT: &str = "SET LOCAL lock_timeout = '200ms'";

/// Removes what has ended; about how many rows that were, at most `limit`.
pub(super) async fn sweep(
    session: &Session,
    now: u64,
    limit: usize,
) -> Result<usize, PostgresError> {
    let client = &session.client;
    let mut left = seconds(limit as u64);
    for row in client.query(layout::BUCKETS, &[]).await? {
        let place = Place::from_number(row.try_get(0)?);
        let bucket: Option<i64> = row.try_get(1)?;
        let (Some(place), Some(bucket)) = (place, bucket) else {
            continue;
        };
        if has_ended(place, bucket, now) || is_far_ahead(place, bucket, now) {
            left -= empty(session, place, now, left).await?;
        }
    }
    for place in Place::all() {
        let whole = match place {
            Place::Kept | Place::Far => false,
            Place::Bucket(..) => {
                let rows: i64 = client
                    .query_one(&layout::count(place), &[&SMALL])
                    .await?
                    .try_get(0)?;
                rows >= SMALL
            }
        };
        if !whole && left > 0 {
            let removed = client
                .execute(&layout::sweep(place), &[&seconds(now), &left])
                .await?;
            left -= seconds(removed);
        }
    }
    client.batch_execute(layout::OLD_MARKS).await?;
    // Invariant: between 0 and `limit`.
    Ok((seconds(limit as u64) - left.max(0)) as usize)
}

fn has_ended(place: Place, bucket: i64, now: u64) -> bool {
    match place {
        Place::Kept | Place::Far => false,
        Place::Bucket(width, _) => u64::try_from(bucket)
            .is_ok_and(|bucket| (bucket + 1).saturating_mul(WIDTHS[width]) <= now),
    }
}

/// A clock that was years ahead gave the table a bucket that does not come.
fn is_far_ahead(place: Place, bucket: i64, now: u64) -> bool {
    match place {
        Place::Kept | Place::Far => false,
        Place::Bucket(width, _) => u64::try_from(bucket)
            .is_ok_and(|bucket| bucket > now / WIDTHS[width] + 2 * layout::TURNS),
    }
}

/// Empties a table, if it is still due; the number of its rows, counted up to `most`.
async fn empty(session: &Session, place: Place, now: u64, most: i64) -> Result<i64, PostgresError> {
    let client = &session.client;
    client.batch_execute(session.dialect.begin()).await?;
    match try_empty(session, place, now, most).await {
        Ok(rows) => {
            client.batch_execute("COMMIT").await?;
            Ok(rows)
        }
        Err(error) => {
            client.batch_execute("ROLLBACK").await?;
            match error.is_conflict() || error.code() == SqlState::QUERY_CANCELED.code() {
                true => Ok(0),
                false => Err(error),
            }
        }
    }
}

async fn try_empty(
    session: &Session,
    place: Place,
    now: u64,
    most: i64,
) -> Result<i64, PostgresError> {
    let client = &session.client;
    let Place::Bucket(width, turn) = place else {
        return Ok(0);
    };
    let (name, number) = (place.name(), place.number());
    if session.dialect == Dialect::PostgreSql {
        client.batch_execute(LOCK_WAIT).await?;
    }
    let read = "SELECT bucket FROM signet_bucket WHERE place = $1 FOR UPDATE";
    let bucket: Option<i64> = client.query_one(read, &[&number]).await?.try_get(0)?;
    let Some(bucket) = bucket else { return Ok(0) };
    let ahead = is_far_ahead(place, bucket, now);
    if !ahead && !has_ended(place, bucket, now) {
        return Ok(0);
    }
    if session.dialect == Dialect::PostgreSql {
        client
            .batch_execute(&format!("LOCK TABLE {name} IN ACCESS EXCLUSIVE MODE"))
            .await?;
    }
    let rows: i64 = client
        .query_one(&layout::count(place), &[&most.max(1)])
        .await?
        .try_get(0)?;
    if ahead && rows > 0 {
        return Ok(0);
    }
    if rows > 0 {
        let all = match session.dialect {
            Dialect::PostgreSql => format!("TRUNCATE {name}"),
            // Serializable: a writer that still takes this for its bucket fails, or this does.
            Dialect::Distributed => format!("DELETE FROM {name}"),
        };
        client.batch_execute(&all).await?;
    }
    let next = seconds(next_bucket(width, turn, now));
    client
        .execute(
            "UPDATE signet_bucket SET bucket = $1 WHERE place = $2",
            &[&next, &number],
        )
        .await?;
    Ok(rows.min(most.max(0)))
}
