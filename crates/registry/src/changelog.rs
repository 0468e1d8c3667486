//! The change log: what changed of registry, keys and revocations, in rows of the store that were
//! written in the same change. For nodes that did not hear it from each other.
//!
//! The log is followed by its own order, and no clock has a part in it: a clock that is an hour
//! wrong for a moment must not hide a line from a reader, or a reader from the lines. Each start of
//! a node writes a stream of its own, whose lines are counted. A reader lists the streams that
//! exist, and reads each from where it stopped. A number that is missing is a change that was
//! refused, or one that is not durable yet: the reader looks for it for [`MISSING_LOOKS`] looks
//! more.
//!
//! The version before this one placed its lines by the time, in spans of minutes; they are read,
//! too. A reader that has not read for as long as rows are kept ([`KEPT`]) loads everything again.
use signet_cbor::{Decoder, Encoder};
use signet_merge::entry::Entry;
use signet_store::NodeId;
use signet_store::{Key, Op, Row, Store, StoreError, Table};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::{AtomicU64, Ordering::SeqCst},
};

/// Seconds for which a reader looks at least for a line whose number is missing: a change may take
/// so long until it is durable.
pub const IN_FLIGHT: u64 = 10;
/// Looks, beside that time: a clock that steps does not make them fewer.
pub const MISSING_LOOKS: u32 = 30;
/// Seconds after which the writer of a change that took so long writes its line once more.
pub const LATE: u64 = 5;
/// Seconds that a line is kept.
pub const KEPT: u64 = 3600;
/// Lines that are read at once.
pub const PAGE: usize = 256;
/// Most entries of a line of the change log
pub(crate) const MAX_ENTRIES: usize = 256;
/// Most numbers below a line that are looked for: changes of one writer that are under way at once.
const MAX_IN_FLIGHT: u64 = 4096;
/// Begins the partition of a stream; a span of the version before has eight bytes.
const STREAM: u8 = b's';
/// Behind every sort of a partition.
const BEHIND_ALL: [u8; 9] = [0xff; 9];

/// Counts the lines that a node writes, from its start on.
#[derive(Debug)]
pub struct Writer {
    stream: [u8; 8],
    last: AtomicU64,
}

impl Default for Writer {
    fn default() -> Writer {
        Writer {
            stream: signet_crypto::random::bytes(),
            last: AtomicU64::new(0),
        }
    }
}

impl Writer {
    /// A line of the log. `now`: Unix seconds; only its end is counted from there.
    pub fn row(&self, node: &NodeId, entries: &[Entry], now: u64) -> Op {
        let number = self.last.fetch_add(1, SeqCst).wrapping_add(1);
        let partition = [&[STREAM], &self.stream[..], node.as_str().as_bytes()].concat();
        Op::Put {
            key: Key::with_sort(Table::ChangeLog, partition, number.to_be_bytes()),
            value: encode(entries),
            end: Some(now.saturating_add(KEPT)),
        }
    }

    fn wrote(&self, partition: &[u8]) -> bool {
        let stream = partition.split_first().map(|(_, rest)| rest);
        stream.is_some_and(|stream| partition[0] == STREAM && stream.starts_with(&self.stream))
    }
}

/// Whose stream a partition is; none where it is none.
fn writer_of(partition: &[u8]) -> Option<NodeId> {
    let node = partition.strip_prefix(&[STREAM])?.get(8..)?;
    NodeId::parse(std::str::from_utf8(node).ok()?).ok()
}

/// Whose line it is, in a span of the version before: the sort is eight bytes of time, eight random
/// ones, and the name.
fn writer_in_span(sort: &[u8]) -> Option<NodeId> {
    NodeId::parse(std::str::from_utf8(sort.get(16..)?).ok()?).ok()
}

/// The realm is the reader's: its view of the store has only its own lines.
fn encode(entries: &[Entry]) -> Vec<u8> {
    let mut out = Encoder::with_capacity(64 * entries.len());
    out.array(entries.len());
    for entry in entries {
        out.array(4)
            .uint(entry.kind.into())
            .bytes(&entry.name)
            .bytes(&entry.fragment);
        match entry.end {
            Some(end) => out.uint(end),
            None => out.null(),
        };
    }
    out.finish()
}

fn decode(bytes: &[u8], realm: &str) -> Result<Vec<Entry>, signet_cbor::Error> {
    Decoder::whole(bytes, |d| {
        d.list(MAX_ENTRIES, |d| {
            d.tuple(4, |d| {
                let kind = u8::try_from(d.uint()?).unwrap_or(u8::MAX);
                let (name, fragment) = (d.bytes()?.to_vec(), d.bytes()?.to_vec());
                /// The major type of null (RFC 8949 section 3.3).
                const SIMPLE: u8 = 7;
                let end = match d.peek()? {
                    SIMPLE => d.null().map(|()| None)?,
                    _ => Some(d.uint()?),
                };
                Ok(Entry {
                    realm: realm.to_owned(),
                    kind,
                    name,
                    fragment,
                    end,
                })
            })
        })
    })
}

/// What a look into the log found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Look {
    /// Lines of other nodes since the last look, in the order of each writer, with the writer.
    Lines(Vec<(NodeId, Vec<Entry>)>),
    /// The last look was too long ago, so that lines may be gone, or a line cannot be read (another
    /// version's, perhaps). Load everything again.
    TooLate,
}

/// How far a partition of the log was read.
#[derive(Clone, Debug)]
enum Followed {
    /// A stream, whose lines are counted.
    Stream {
        /// The highest number that was read.
        last: u64,
        /// Lower ones that were not there, since when (Unix seconds), and for how many looks.
        missing: BTreeMap<u64, (u64, u32)>,
    },
    /// A span of the version before, or something of a later one: the sorts that were read.
    Span(BTreeSet<Vec<u8>>),
}

impl Followed {
    fn new(partition: &[u8]) -> Followed {
        match writer_of(partition) {
            Some(_) => Followed::Stream {
                last: 0,
                missing: BTreeMap::new(),
            },
            None => Followed::Span(BTreeSet::new()),
        }
    }

    /// The sort behind which a new line may lie.
    fn after(&self) -> Vec<u8> {
        match self {
            Followed::Stream { last, missing } => {
                let lowest = missing.keys().next().map_or(*last, |lowest| lowest - 1);
                lowest.to_be_bytes().to_vec()
            }
            // A line may come before one that was read: it is placed by the writer's clock.
            Followed::Span(_) => Vec::new(),
        }
    }

    /// Takes note of a line: whether it is a new one.
    fn read(&mut self, sort: &[u8], now: u64) -> bool {
        match self {
            Followed::Stream { last, missing } => {
                let number = <[u8; 8]>::try_from(sort).map_or(u64::MAX, u64::from_be_bytes);
                if number <= *last {
                    return missing.remove(&number).is_some();
                }
                // The first line that is there need not be the first that was written.
                let lowest = number.saturating_sub(MAX_IN_FLIGHT).max(*last + 1);
                missing.extend((lowest..number).map(|number| (number, (now, 0))));
                *last = number;
                true
            }
            Followed::Span(read) => read.insert(sort.to_vec()),
        }
    }

    /// A look is over: what was looked for long enough was never written.
    fn end_look(&mut self, now: u64) {
        if let Followed::Stream { missing, .. } = self {
            missing.retain(|_, (since, looks)| {
                *looks += 1;
                *looks <= MISSING_LOOKS || now.abs_diff(*since) < IN_FLIGHT
            });
        }
    }
}

/// One reader of the log.
#[derive(Default, Debug)]
pub struct Reader {
    /// When the last look began, Unix seconds; 0: there was none.
    looked_at: u64,
    /// How far each partition was read.
    followed: BTreeMap<Vec<u8>, Followed>,
}

impl Reader {
    /// Begins at `now` (Unix seconds), before everything is loaded: what becomes durable while it
    /// is being loaded is read afterwards.
    ///
    /// # Errors
    /// The store's; then the next look says that everything is to be loaded.
    pub async fn begin(&mut self, store: &dyn Store, now: u64) -> Result<(), StoreError> {
        *self = Reader::default();
        self.followed = follow(store, &self.followed, now, |_, _, _| {}).await?;
        self.looked_at = now;
        Ok(())
    }

    /// Looks for new lines. `own`: this node's writer, whose lines say nothing new. `now`: Unix
    /// seconds.
    ///
    /// # Errors
    /// The store's; then the next look finds what this one did not.
    pub async fn look(
        &mut self,
        store: &dyn Store,
        realm: &str,
        own: &Writer,
        now: u64,
    ) -> Result<Look, StoreError> {
        if now.saturating_sub(self.looked_at) > KEPT / 2 {
            return Ok(Look::TooLate);
        }
        let (mut lines, mut unreadable) = (Vec::new(), false);
        let followed = follow(store, &self.followed, now, |partition, sort, row| {
            if own.wrote(partition) {
                return;
            }
            let node = writer_of(partition).or_else(|| writer_in_span(sort));
            match (node, decode(&row.value, realm)) {
                (Some(node), Ok(entries)) => lines.push((node, entries)),
                (None, _) | (Some(_), Err(_)) => unreadable = true,
            }
        });
        let followed = followed.await?;
        if unreadable {
            return Ok(Look::TooLate);
        }
        (self.followed, self.looked_at) = (followed, now);
        Ok(Look::Lines(lines))
    }
}

/// Reads what is new in every partition that there is; how far they are read then. Whether a line
/// has ended is not asked: that is by its writer's clock, and it is there until it is removed.
async fn follow(
    store: &dyn Store,
    before: &BTreeMap<Vec<u8>, Followed>,
    now: u64,
    mut line: impl FnMut(&[u8], &[u8], &Row),
) -> Result<BTreeMap<Vec<u8>, Followed>, StoreError> {
    /// No row has ended by this time.
    const EVER: u64 = 0;
    let mut read = BTreeMap::new();
    let mut behind: Option<Key> = None;
    loop {
        // One row tells the next partition.
        let next = store
            .page(Table::ChangeLog, behind.as_ref(), 1, EVER)
            .await?;
        let Some((Key { partition, .. }, _)) = next.into_iter().next() else {
            return Ok(read);
        };
        let known = before.get(&partition).cloned();
        let mut followed = known.unwrap_or_else(|| Followed::new(&partition));
        let mut after = followed.after();
        loop {
            let page = store
                .partition(Table::ChangeLog, &partition, &after, PAGE, EVER)
                .await?;
            let is_last = page.len() < PAGE;
            for (key, row) in page {
                if followed.read(&key.sort, now) {
                    line(&partition, &key.sort, &row);
                }
                after = key.sort;
            }
            if is_last {
                break;
            }
        }
        followed.end_look(now);
        behind = Some(Key::with_sort(
            Table::ChangeLog,
            partition.clone(),
            BEHIND_ALL,
        ));
        read.insert(partition, followed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_store::{Change, MemoryStore};

    const NOW: u64 = 1_800_000_000;
    const HOUR: u64 = 3600;

    fn node(name: &str) -> NodeId {
        NodeId::parse(name).expect("a name")
    }

    fn entry(name: &str) -> Entry {
        Entry {
            realm: String::new(),
            kind: 16,
            name: name.into(),
            fragment: vec![1, 2],
            end: (name.len() > 1).then_some(7),
        }
    }

    struct Node {
        id: NodeId,
        writer: Writer,
        reader: Reader,
    }

    impl Node {
        async fn new(store: &MemoryStore, name: &str, now: u64) -> Node {
            let mut reader = Reader::default();
            reader.begin(store, now).await.expect("reads");
            let (id, writer) = (node(name), Writer::default());
            Node { id, writer, reader }
        }

        fn row(&self, name: &str, now: u64) -> Op {
            self.writer.row(&self.id, &[entry(name)], now)
        }

        async fn look(&mut self, store: &MemoryStore, now: u64) -> Vec<String> {
            let look = self.reader.look(store, "", &self.writer, now);
            let Look::Lines(lines) = look.await.expect("reads") else {
                panic!("too late");
            };
            let entries = lines.into_iter().flat_map(|(_, entries)| entries);
            let name = |entry: Entry| String::from_utf8(entry.name).expect("text");
            entries.map(name).collect()
        }
    }

    async fn commit(store: &MemoryStore, op: Op, now: u64) {
        store.commit(Change::new(op), now).await.expect("commits");
    }

    #[tokio::test]
    async fn a_line_is_read_once_and_one_that_became_durable_late_is_not_missed() {
        let store = MemoryStore::new();
        let mut a = Node::new(&store, "a", NOW).await;
        let b = Node::new(&store, "b", NOW).await;
        let late = b.row("late", NOW);
        commit(&store, b.row("one", NOW + 1), NOW + 1).await;
        commit(&store, b.row("two", NOW + 8), NOW + 8).await;
        assert_eq!(a.look(&store, NOW + 8).await, ["one", "two"]);
        commit(&store, late, NOW + 8).await;
        assert_eq!(a.look(&store, NOW + 9).await, ["late"]);
        assert_eq!(a.look(&store, NOW + 9).await, [""; 0]);
        // Its own lines are no news to a node.
        commit(&store, a.row("own", NOW + 9), NOW + 9).await;
        assert_eq!(a.look(&store, NOW + 9).await, [""; 0]);
    }

    #[tokio::test]
    async fn no_clock_hides_a_line() {
        let store = MemoryStore::new();
        let mut reader = Node::new(&store, "reader", NOW).await;
        let mut writer = Node::new(&store, "writer", NOW).await;
        // The writer's clock is wrong by hours for a moment, and right again: what it writes then
        // and afterwards is read.
        let clocks = [
            NOW,
            NOW + HOUR,
            NOW + 2,
            NOW - 3 * HOUR,
            NOW + 4,
            NOW + 24 * HOUR,
        ];
        for (second, clock) in (0..).zip(clocks) {
            commit(&store, writer.row("x", clock), NOW + second).await;
            assert_eq!(reader.look(&store, NOW + second).await, ["x"], "{clock}");
        }
        // So it is with the reader's own.
        commit(&store, reader.row("y", NOW + 10), NOW + 10).await;
        assert_eq!(writer.look(&store, NOW - HOUR).await, ["y"]);
        commit(&store, reader.row("z", NOW + 11), NOW + 11).await;
        assert_eq!(writer.look(&store, NOW - 3 * HOUR).await, ["z"]);
    }

    #[tokio::test]
    async fn what_is_under_way_when_a_reader_begins_is_read() {
        let store = MemoryStore::new();
        let writer = Node::new(&store, "writer", NOW).await;
        let under_way = [writer.row("first", NOW), writer.row("second", NOW)];
        commit(&store, writer.row("third", NOW), NOW).await;
        let mut reader = Node::new(&store, "reader", NOW).await;
        for op in under_way {
            commit(&store, op, NOW).await;
        }
        assert_eq!(reader.look(&store, NOW + 1).await, ["first", "second"]);
    }

    #[tokio::test]
    async fn a_line_that_was_never_written_is_not_looked_for_for_ever() {
        let store = MemoryStore::new();
        let mut reader = Node::new(&store, "reader", NOW).await;
        let writer = Node::new(&store, "writer", NOW).await;
        drop(writer.row("refused", NOW));
        commit(&store, writer.row("x", NOW), NOW).await;
        assert_eq!(reader.look(&store, NOW).await, ["x"]);
        for second in 0..2 * u64::from(MISSING_LOOKS) {
            assert_eq!(reader.look(&store, NOW + second).await, [""; 0]);
        }
        let missing = reader
            .reader
            .followed
            .values()
            .map(|followed| match followed {
                Followed::Stream { missing, .. } => missing.len(),
                Followed::Span(_) => panic!("no span"),
            });
        assert_eq!(missing.collect::<Vec<_>>(), [0]);
    }

    #[tokio::test]
    async fn lines_of_the_version_before_are_read() {
        let store = MemoryStore::new();
        let mut reader = Node::new(&store, "reader", NOW).await;
        let line = |name: &str, at: u64| {
            let mut sort = (at * 1000).to_be_bytes().to_vec();
            sort.extend_from_slice(&[7; 8]);
            sort.extend_from_slice(b"old");
            Op::Put {
                key: Key::with_sort(Table::ChangeLog, (at / 600).to_be_bytes(), sort),
                value: encode(&[entry(name)]),
                end: Some(at + KEPT),
            }
        };
        commit(&store, line("ahead", NOW + HOUR), NOW).await;
        commit(&store, line("now", NOW), NOW).await;
        assert_eq!(reader.look(&store, NOW).await, ["now", "ahead"]);
        commit(&store, line("before", NOW - 1), NOW).await;
        assert_eq!(reader.look(&store, NOW).await, ["before"]);
        assert_eq!(reader.look(&store, NOW).await, [""; 0]);
    }

    #[tokio::test]
    async fn who_was_away_for_twenty_minutes_reads_all_of_them() {
        let store = MemoryStore::new();
        let mut a = Node::new(&store, "a", NOW).await;
        let b = Node::new(&store, "b", NOW).await;
        assert_eq!(a.look(&store, NOW).await, [""; 0]);
        for (minute, name) in [(1, "x"), (5, "y"), (19, "z")] {
            let now = NOW + 60 * minute;
            commit(&store, b.row(name, now), now).await;
        }
        assert_eq!(a.look(&store, NOW + 1200).await, ["x", "y", "z"]);
    }

    #[tokio::test]
    async fn many_lines_are_read_page_by_page_and_of_every_writer() {
        let store = MemoryStore::new();
        let mut a = Node::new(&store, "a", NOW).await;
        for name in ["b", "c", "d"] {
            let writer = Node::new(&store, name, NOW).await;
            for n in 0..(2 * PAGE as u64 + 3) {
                let now = NOW + n;
                commit(&store, writer.row("x", now), now).await;
            }
        }
        let seen = a.look(&store, NOW + 515).await;
        assert_eq!(seen.len(), 3 * (2 * PAGE + 3));
    }

    #[tokio::test]
    async fn who_was_away_for_long_is_told_to_load_everything() {
        let store = MemoryStore::new();
        let mut a = Node::new(&store, "a", NOW).await;
        let look = a.reader.look(&store, "", &a.writer, NOW + KEPT / 2);
        assert_eq!(look.await.expect("reads"), Look::Lines(Vec::new()));
        let look = a.reader.look(&store, "", &a.writer, NOW + 2 * KEPT);
        assert_eq!(look.await.expect("reads"), Look::TooLate);
    }

    #[tokio::test]
    async fn a_line_that_cannot_be_read_has_everything_loaded_anew() {
        let store = MemoryStore::new();
        let mut a = Node::new(&store, "a", NOW).await;
        let line = Op::Put {
            key: Key::with_sort(Table::ChangeLog, *b"later", *b"x"),
            value: vec![0xff],
            end: Some(NOW + KEPT),
        };
        commit(&store, line, NOW).await;
        let look = a.reader.look(&store, "", &a.writer, NOW);
        assert_eq!(look.await.expect("reads"), Look::TooLate);
        a.reader.begin(&store, NOW).await.expect("reads");
        assert_eq!(a.look(&store, NOW).await, [""; 0]);
    }
}
