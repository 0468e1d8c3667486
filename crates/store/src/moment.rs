//! The moment that a request's reads are of.
//!
//! Where several nodes hold the rows, a read of [`Reads::Latest`](crate::Reads::Latest) first asks
//! how far those must be, which takes a round of messages between the nodes. A request that reads
//! five rows needs to ask once: its reads then see everything that was answered before the first of
//! them, so before the request could be answered, and everything that this node was answered since.
//! What decides, a conditional change, is never of an earlier moment than its own.
use std::{
    cell::Cell,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

tokio::task_local! {
    static POINT: Cell<Option<(Rows, u64)>>;
}

/// Which rows a point is of: an engine that took another's place has others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rows(u64);

impl Rows {
    /// Of an engine that begins; each has its own.
    #[must_use]
    pub fn unique() -> Rows {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Rows(NEXT.fetch_add(1, Relaxed))
    }
}

/// Does `work`, one request's: its reads may all be of the moment of the first. Not for what waits
/// for something to happen.
pub async fn at_one_moment<T>(work: impl Future<Output = T>) -> T {
    POINT.scope(Cell::new(None), work).await
}

/// The point in these rows that the work's reads are of, where one is known. For engines.
#[must_use]
pub fn known(rows: Rows) -> Option<u64> {
    let point = POINT.try_with(Cell::get).ok().flatten()?;
    (point.0 == rows).then_some(point.1)
}

/// Keeps the point for the work's further reads. For engines.
pub fn keep(rows: Rows, point: u64) {
    // Outside of such work every read asks for itself.
    let _ = POINT.try_with(|kept| kept.set(Some((rows, point))));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_point_is_known_within_one_work_and_of_its_own_rows() {
        let (rows, others) = (Rows::unique(), Rows::unique());
        keep(rows, 1);
        assert_eq!(known(rows), None);
        at_one_moment(async {
            assert_eq!(known(rows), None);
            keep(rows, 7);
            assert_eq!((known(rows), known(others)), (Some(7), None));
            at_one_moment(async { assert_eq!(known(rows), None) }).await;
            assert_eq!(known(rows), Some(7));
        })
        .await;
        assert_eq!(known(rows), None);
    }
}
