//! Which table of the database a row lies in, and the statements over all of them.
//!
//! A row of a [`Table`] that must end lies in a *bucket* by its end. Buckets come in three widths,
//! and a row takes the narrowest in which its end is at most one width away: so at every width only
//! the bucket of now and the next are written, and a row outlives its end by at most one width.
//! Three tables a width take turns: two are written, the expired one is emptied whole.
//! A table belongs to one bucket at a time, which `signet_bucket` says; a writer reads that within
//! its transaction, after it has touched the table, and emptying takes the table exclusively. So
//! no row can be in a table that is emptied but such as have ended, whatever the clocks say.
//!
//! What ends beyond the widest lies in `signet_far`, what has no end to have in `signet_kept`.
//!
//! Statements are what PostgreSQL 13, CockroachDB and YugabyteDB share: arrays as parameters and
//! `unnest` of several, `LATERAL`, `ON CONFLICT DO UPDATE`, row comparison, `FOR UPDATE` with and
//! without `SKIP LOCKED`. No sequences, advisory locks, notifications, stored procedures, triggers.
//! `LOCK TABLE`, `TRUNCATE` and the planner's settings are used on PostgreSQL alone.
use crate::Table;

/// Seconds that the narrowest bucket of the distributed engine takes in; rows that end within this
/// time are removed at most this long after they ended
pub const NARROW_BUCKET: u64 = 7200;
/// Seconds that the middle bucket takes in
pub const MIDDLE_BUCKET: u64 = 172_800;
/// Seconds that the widest bucket takes in; what ends later is removed row by row
pub const WIDE_BUCKET: u64 = 3_456_000;

pub(super) const WIDTHS: [u64; 3] = [NARROW_BUCKET, MIDDLE_BUCKET, WIDE_BUCKET];

/// Tables that take turns at each width.
pub(super) const TURNS: u64 = 3;

/// Rows that writers lock, by a hash of the key, before they look at what they write.
pub(super) const LOCKS: u64 = 1 << 16;

/// One table of the database.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(super) enum Place {
    Kept,
    Far,
    /// The width's number and the turn.
    Bucket(usize, u64),
}

impl Place {
    /// All of them, by number.
    pub(super) fn all() -> impl Iterator<Item = Place> {
        [Place::Kept, Place::Far]
            .into_iter()
            .chain(Place::buckets())
    }

    pub(super) fn buckets() -> impl Iterator<Item = Place> {
        (0..WIDTHS.len()).flat_map(|width| (0..TURNS).map(move |turn| Place::Bucket(width, turn)))
    }

    /// Where rows of a table can be.
    pub(super) fn of(ends: bool) -> Vec<Place> {
        match ends {
            false => vec![Place::Kept],
            true => Place::all().filter(|p| *p != Place::Kept).collect(),
        }
    }

    pub(super) fn number(self) -> i16 {
        match self {
            Place::Kept => 0,
            Place::Far => 1,
            // Invariant: at most three widths of three.
            Place::Bucket(width, turn) => 2 + (width as i16) * TURNS as i16 + turn as i16,
        }
    }

    pub(super) fn from_number(number: i16) -> Option<Place> {
        Place::all().find(|place| place.number() == number)
    }

    pub(super) fn name(self) -> String {
        match self {
            Place::Kept => "signet_kept".to_owned(),
            Place::Far => "signet_far".to_owned(),
            Place::Bucket(width, turn) => format!("signet_bucket_{width}_{turn}"),
        }
    }
}

/// The bucket that each table belongs to; None: none yet.
#[derive(Clone, Default, Debug)]
pub(super) struct Buckets([[Option<u64>; TURNS as usize]; WIDTHS.len()]);

impl Buckets {
    pub(super) fn set(&mut self, place: Place, bucket: Option<u64>) {
        if let Place::Bucket(width, turn) = place {
            self.0[width][turn as usize] = bucket;
        }
    }

    /// Whether a row with this end may lie there.
    pub(super) fn admits(&self, place: Place, end: u64) -> bool {
        match place {
            Place::Kept | Place::Far => true,
            Place::Bucket(width, turn) => self.0[width][turn as usize] == Some(end / WIDTHS[width]),
        }
    }

    /// Where a row goes. With an `end` that lies after `now`.
    pub(super) fn place(&self, table: Table, end: Option<u64>, now: u64) -> Place {
        let Some(end) = end.filter(|_| table.must_end()) else {
            return Place::Kept;
        };
        let near = |width: &usize| end.saturating_sub(now) <= WIDTHS[*width];
        (0..WIDTHS.len())
            .filter(near)
            .map(|width| Place::Bucket(width, (end / WIDTHS[width]) % TURNS))
            .find(|place| self.admits(*place, end))
            .unwrap_or(Place::Far)
    }

    /// The buckets that tables without one should belong to.
    pub(super) fn missing(&self, now: u64) -> Vec<(Place, u64)> {
        Place::buckets()
            .filter_map(|place| match place {
                Place::Bucket(width, turn) if self.0[width][turn as usize].is_none() => {
                    Some((place, next_bucket(width, turn, now)))
                }
                Place::Kept | Place::Far | Place::Bucket(..) => None,
            })
            .collect()
    }
}

/// The first bucket of a turn that has not ended at `now`.
pub(super) fn next_bucket(width: usize, turn: u64, now: u64) -> u64 {
    let current = now / WIDTHS[width];
    current + (turn + TURNS - current % TURNS) % TURNS
}

/// FNV-1a. Part of the protocol between nodes of different versions: it never changes.
pub(super) fn lock_of(key: &crate::Key) -> i32 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let length = (key.partition.len() as u64).to_le_bytes();
    for byte in std::iter::once(&key.table.number())
        .chain(&length)
        .chain(&key.partition)
        .chain(&key.sort)
    {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    // The low bits alone would leave out what the high ones know. Invariant: below 2^16.
    ((hash ^ (hash >> 32)) % LOCKS) as i32
}

/// What every statement over several keys begins with.
const KEYS: &str = "unnest($1::int4[], $2::int2[], $3::bytea[], $4::bytea[], $5::int8[])
    AS q (n, kind, part, sort, extra)";

fn union(places: &[Place], one: impl Fn(Place) -> String) -> String {
    let each: Vec<String> = places.iter().map(|place| one(*place)).collect();
    each.join("\nUNION ALL ")
}

fn at_key(place: Place) -> String {
    let (number, name) = (place.number(), place.name());
    format!(
        "(SELECT {number}::int2 AS place, x.value, x.version, x.ends_at FROM {name} x
          WHERE x.kind = q.kind AND x.part = q.part AND x.sort = q.sort)"
    )
}

/// Rows at several keys that live at a time, `extra`.
pub(super) fn get(ends: bool) -> String {
    let rows = union(&Place::of(ends), at_key);
    format!(
        "SELECT q.n, e.value, e.version, e.ends_at FROM {KEYS}
         CROSS JOIN LATERAL ({rows}) e WHERE e.ends_at IS NULL OR e.ends_at > q.extra"
    )
}

/// Whatever lies at several keys, ended or not; values only where `extra` is not 0.
pub(super) fn look(ends: bool) -> String {
    let rows = union(&Place::of(ends), at_key);
    format!(
        "SELECT q.n, e.place, CASE WHEN q.extra <> 0 THEN e.value END, e.version, e.ends_at
         FROM {KEYS} CROSS JOIN LATERAL ({rows}) e"
    )
}

pub(super) const BUCKETS: &str = "SELECT place, bucket FROM signet_bucket";

pub(super) const LOCK: &str =
    "SELECT id FROM signet_lock WHERE id = ANY($1::int4[]) ORDER BY id FOR UPDATE";

/// $1 whose, $2 the mark. When is the database's own time: no caller's clock matters here.
pub(super) const MARK: &str = "INSERT INTO signet_writer (id, mark, touched)
    VALUES ($1, $2, extract(epoch from now())::int8)
    ON CONFLICT (id) DO UPDATE SET mark = excluded.mark, touched = excluded.touched";

/// Marks of connections that are gone, after a day: longer than any commit is looked for.
pub(super) const OLD_MARKS: &str =
    "DELETE FROM signet_writer WHERE touched < extract(epoch from now())::int8 - 86400";

/// Waits for the transaction that wrote the mark, if that is still under way.
pub(super) const READ_MARK: &str = "SELECT mark FROM signet_writer WHERE id = $1 FOR UPDATE";

pub(super) fn upsert(place: Place) -> String {
    let name = place.name();
    format!(
        "INSERT INTO {name} (kind, part, sort, value, version, ends_at)
         SELECT * FROM unnest($1::int2[], $2::bytea[], $3::bytea[], $4::bytea[], $5::int8[], $6::int8[])
         ON CONFLICT (kind, part, sort) DO UPDATE SET value = excluded.value,
         version = excluded.version, ends_at = excluded.ends_at"
    )
}

pub(super) fn delete(place: Place) -> String {
    let name = place.name();
    format!(
        "DELETE FROM {name} WHERE (kind, part, sort) IN
         (SELECT * FROM unnest($1::int2[], $2::bytea[], $3::bytea[]))"
    )
}

/// $1 kind, $2 partition, $3 after, $4 now, $5 limit.
pub(super) fn partition(ends: bool) -> String {
    let rows = union(&Place::of(ends), |place| {
        let name = place.name();
        format!(
            "(SELECT part, sort, value, version, ends_at FROM {name}
              WHERE kind = $1 AND part = $2 AND sort > $3 AND (ends_at IS NULL OR ends_at > $4)
              ORDER BY sort LIMIT $5)"
        )
    });
    format!("SELECT * FROM ({rows}) e ORDER BY sort LIMIT $5")
}

/// $1 kind, $2 now, $3 limit; and $4, $5: the partition and sort that it begins after.
pub(super) fn page(ends: bool, first: bool) -> String {
    let after = if first {
        ""
    } else {
        "AND (part, sort) > ($4, $5)"
    };
    let rows = union(&Place::of(ends), |place| {
        let name = place.name();
        format!(
            "(SELECT part, sort, value, version, ends_at FROM {name}
              WHERE kind = $1 AND (ends_at IS NULL OR ends_at > $2) {after}
              ORDER BY part, sort LIMIT $3)"
        )
    });
    format!("SELECT * FROM ({rows}) e ORDER BY part, sort LIMIT $3")
}

/// Ended rows, row by row: $1 now, $2 limit. Rows that another node is removing are left to it.
pub(super) fn sweep(place: Place) -> String {
    let name = place.name();
    format!(
        "DELETE FROM {name} WHERE ends_at <= $1 AND (kind, part, sort) IN
         (SELECT kind, part, sort FROM {name} WHERE ends_at <= $1
          ORDER BY ends_at LIMIT $2 FOR UPDATE SKIP LOCKED)"
    )
}

/// The number of rows in a table, counted up to $1.
pub(super) fn count(place: Place) -> String {
    let name = place.name();
    format!("SELECT count(*) FROM (SELECT 1 FROM {name} LIMIT $1) x")
}

/// SQL's integers are signed: what lies beyond them is as good as for ever.
pub(super) fn seconds(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;

    fn arranged(now: u64) -> Buckets {
        let mut buckets = Buckets::default();
        for (place, bucket) in buckets.missing(now) {
            buckets.set(place, Some(bucket));
        }
        buckets
    }

    #[test]
    fn a_row_outlives_its_end_by_at_most_the_width_of_its_bucket_and_that_is_near_its_life() {
        for now in [0, 1_000, 1_763_000_000, 1_763_006_399] {
            let buckets = arranged(now);
            for life in [1, 60, 7_200, 7_201, 172_800, 172_801, 3_456_000] {
                let place = buckets.place(Table::Once, Some(now + life), now);
                let Place::Bucket(width, _) = place else {
                    panic!("{now} {life} {place:?}");
                };
                assert!(buckets.admits(place, now + life));
                assert!(width == 0 || life > WIDTHS[width - 1]);
            }
            let far = buckets.place(Table::Once, Some(now + WIDE_BUCKET + 1), now);
            assert_eq!(far, Place::Far);
            assert_eq!(buckets.place(Table::Client, None, now), Place::Kept);
        }
    }

    #[test]
    fn while_a_table_is_not_yet_emptied_rows_go_to_the_next_width() {
        let buckets = arranged(0);
        let now = 2 * NARROW_BUCKET;
        // The next bucket's table still belongs to the first one.
        let place = buckets.place(Table::Once, Some(now + NARROW_BUCKET), now);
        assert_eq!(place, Place::Bucket(1, 0));
    }

    #[test]
    fn every_place_has_a_number_and_a_lock_is_one_of_those_that_exist() {
        for place in Place::all() {
            assert_eq!(Place::from_number(place.number()), Some(place));
        }
        assert_eq!(Place::all().count(), 11);
        let mut seen = std::collections::BTreeSet::new();
        for n in 0..1000u32 {
            let lock = lock_of(&Key::new(Table::Once, n.to_be_bytes()));
            assert!((0..LOCKS as i32).contains(&lock));
            seen.insert(lock);
        }
        assert!(seen.len() > 980, "{}", seen.len());
        // Nodes of all versions agree on this one.
        assert_eq!(lock_of(&Key::new(Table::Once, "a")), LOCK_OF_A);
    }

    const LOCK_OF_A: i32 = 19_195;
}
