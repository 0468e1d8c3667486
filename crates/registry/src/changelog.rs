//! The change log: what changed of registry, keys and revocations, in rows of the store that were
//! written in the same change. For nodes that did not hear it from each other.
//!
//! A row's place is a moment: Unix milliseconds by its writer, but never before a place that the
//! writer has seen. A writer whose clock is behind follows the others only from its next look on,
//! so a line may lie minutes before one that was read already: a reader looks back from its last
//! look by as much as clocks may differ ([`AHEAD`]) and a change may take ([`OVERLAP`]), and knows
//! again what it has read. Rows are in spans of [`SPAN`] seconds; a reader also looks into the
//! spans ahead of its own clock, as far as [`AHEAD`].
//!
//! A reader that has not read for as long as rows are kept ([`KEPT`]) loads everything anew.
use signet_cbor::{Decoder, Encoder};
use signet_cluster::{NodeId, entry::Entry};
use signet_store::{Key, Op, Store, StoreError, Table};
use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
};

/// Seconds that a span of the log covers.
pub const SPAN: u64 = 600;
/// Seconds by which the clocks of two nodes may differ.
pub const AHEAD: u64 = 600;
/// Seconds by which a reader looks back, beside what clocks may differ by: how late a change may
/// become durable after its place was taken.
pub const OVERLAP: u64 = 10;
/// Seconds after which the writer of a change that took so long writes its line once more.
pub const LATE: u64 = 5;
/// Seconds that a line is kept.
pub const KEPT: u64 = 3600;
/// Lines that are read at once.
pub const PAGE: usize = 256;
/// Most entries of a line of the change log
const MAX_ENTRIES: usize = 256;

/// The highest place that a node has seen: its own lines come after it.
#[derive(Default, Debug)]
pub struct Places(AtomicU64);

impl Places {
    /// A line was seen at this place, Unix milliseconds.
    pub fn seen(&self, place_ms: u64) {
        self.0.fetch_max(place_ms, SeqCst);
    }

    /// A line of the log. `now`: Unix seconds.
    pub fn row(&self, node: &NodeId, entries: &[Entry], now: u64) -> Op {
        let now_ms = now.saturating_mul(1000);
        let next = |seen: u64| Some(seen.saturating_add(1).max(now_ms));
        // Invariant: `next` always gives one.
        let seen = self.0.fetch_update(SeqCst, SeqCst, next).unwrap_or(now_ms);
        let place_ms = seen.saturating_add(1).max(now_ms);
        let mut sort = place_ms.to_be_bytes().to_vec();
        // Two nodes may take one place.
        sort.extend_from_slice(&signet_crypto::random::bytes::<8>());
        sort.extend_from_slice(node.as_str().as_bytes());
        Op::Put {
            key: Key::with_sort(Table::ChangeLog, partition(place_ms), sort),
            value: encode(entries),
            end: Some((place_ms / 1000).max(now).saturating_add(KEPT)),
        }
    }
}

fn partition(place_ms: u64) -> Vec<u8> {
    (place_ms / 1000 / SPAN).to_be_bytes().to_vec()
}

/// Where a sort stands, and whose line it is.
fn place_of(sort: &[u8]) -> Option<(u64, NodeId)> {
    let (place, rest) = sort.split_first_chunk::<8>()?;
    let (_, node) = rest.split_first_chunk::<8>()?;
    let node = NodeId::parse(std::str::from_utf8(node).ok()?).ok()?;
    Some((u64::from_be_bytes(*place), node))
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
    /// Lines of other nodes since the last look, in their order, each with its writer.
    Lines(Vec<(NodeId, Vec<Entry>)>),
    /// The last look was too long ago, so that lines may be gone, or a line cannot be read (another
    /// version's, perhaps). Load everything anew.
    TooLate,
}

/// One reader of the log.
#[derive(Default, Debug)]
pub struct Reader {
    /// The highest place that was read, Unix milliseconds.
    last_ms: u64,
    /// When the last look began, Unix seconds; 0: there was none.
    looked_at: u64,
    /// The sorts that were read, no further back than the next look may find new ones.
    read: BTreeSet<Vec<u8>>,
}

impl Reader {
    /// Begins at `now` (Unix seconds), before everything is loaded: what is written while it is
    /// being loaded is read afterwards.
    pub fn begin(&mut self, now: u64) {
        self.last_ms = now.saturating_mul(1000);
        self.looked_at = now;
        self.read.clear();
    }

    /// Looks for new lines. `own`: this node, whose lines say nothing new. `now`: Unix seconds.
    ///
    /// # Errors
    /// The store's; then the next look finds what this one did not.
    pub async fn look(
        &mut self,
        store: &dyn Store,
        realm: &str,
        own: &NodeId,
        places: &Places,
        now: u64,
    ) -> Result<Look, StoreError> {
        if now.saturating_sub(self.looked_at) > KEPT / 2 {
            return Ok(Look::TooLate);
        }
        // What became durable since the last look has no place before this: no writer's clock is
        // further behind. Not since now: what was written while this node was away counts, too.
        let from_ms = self.looked_at.saturating_sub(AHEAD + OVERLAP) * 1000;
        let until = (self.last_ms / 1000).max(now).saturating_add(AHEAD);
        let mut lines = Vec::new();
        let mut last_ms = self.last_ms;
        let mut read = BTreeSet::new();
        for span in from_ms / 1000 / SPAN..=until / SPAN {
            let partition = span.to_be_bytes();
            let mut after = from_ms.to_be_bytes().to_vec();
            loop {
                let page = store
                    .partition(Table::ChangeLog, &partition, &after, PAGE, now)
                    .await?;
                let is_last = page.len() < PAGE;
                for (key, row) in page {
                    let Some((place_ms, node)) = place_of(&key.sort) else {
                        return Ok(Look::TooLate);
                    };
                    places.seen(place_ms);
                    last_ms = last_ms.max(place_ms);
                    if !self.read.contains(&key.sort) && node != *own {
                        let Ok(entries) = decode(&row.value, realm) else {
                            return Ok(Look::TooLate);
                        };
                        lines.push((node, entries));
                    }
                    after.clone_from(&key.sort);
                    read.insert(key.sort);
                }
                if is_last {
                    break;
                }
            }
        }
        self.last_ms = last_ms;
        self.looked_at = now;
        self.read = read;
        Ok(Look::Lines(lines))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_store::{Change, MemoryStore};

    /// Shortly before a span ends.
    const NOW: u64 = 1_800_000_000 - 200;

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
        places: Places,
        reader: Reader,
    }

    impl Node {
        fn new(name: &str, now: u64) -> Node {
            let mut reader = Reader::default();
            reader.begin(now);
            let (id, places) = (node(name), Places::default());
            Node { id, places, reader }
        }

        fn row(&self, name: &str, now: u64) -> Op {
            self.places.row(&self.id, &[entry(name)], now)
        }

        async fn look(&mut self, store: &MemoryStore, now: u64) -> Vec<String> {
            let look = self.reader.look(store, "", &self.id, &self.places, now);
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
        let (mut a, b) = (Node::new("a", NOW), Node::new("b", NOW));
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
    async fn clocks_that_differ_by_minutes_hide_no_line() {
        let store = MemoryStore::new();
        // A reader in the middle, a writer that is ahead and one that is behind.
        let mut reader = Node::new("reader", NOW);
        let mut ahead = Node::new("ahead", NOW + 250);
        let mut behind = Node::new("behind", NOW - 250);
        for second in 0..40 {
            commit(&store, ahead.row("f", NOW + 250 + second), NOW).await;
            // Who writes reads, too; so it is not left behind by more than a look.
            behind.look(&store, NOW - 250 + second).await;
            commit(&store, behind.row("s", NOW - 250 + second), NOW).await;
            let mut seen = reader.look(&store, NOW + second).await;
            seen.sort();
            assert_eq!(seen, ["f", "s"], "{second}");
            assert_eq!(ahead.look(&store, NOW + 250 + second).await, ["s"]);
        }
    }

    #[tokio::test]
    async fn a_writer_that_is_behind_and_has_not_looked_hides_no_line() {
        let store = MemoryStore::new();
        let mut reader = Node::new("reader", NOW);
        let (ahead, behind) = (
            Node::new("ahead", NOW + 250),
            Node::new("behind", NOW - 250),
        );
        commit(&store, ahead.row("f", NOW + 250), NOW).await;
        assert_eq!(reader.look(&store, NOW).await, ["f"]);
        // It writes in the same second, and knows nothing of the other one's line.
        commit(&store, behind.row("s", NOW - 250), NOW).await;
        assert_eq!(reader.look(&store, NOW + 1).await, ["s"]);
        assert_eq!(reader.look(&store, NOW + 2).await, [""; 0]);
    }

    #[tokio::test]
    async fn who_was_away_for_twenty_minutes_reads_all_of_them() {
        let store = MemoryStore::new();
        let (mut a, b) = (Node::new("a", NOW), Node::new("b", NOW));
        assert_eq!(a.look(&store, NOW).await, [""; 0]);
        for (minute, name) in [(1, "x"), (5, "y"), (19, "z")] {
            let now = NOW + 60 * minute;
            commit(&store, b.row(name, now), now).await;
        }
        assert_eq!(a.look(&store, NOW + 1200).await, ["x", "y", "z"]);
    }

    #[tokio::test]
    async fn many_lines_are_read_page_by_page_and_across_spans() {
        let store = MemoryStore::new();
        let (mut a, b) = (Node::new("a", NOW), Node::new("b", NOW));
        for n in 0..(2 * PAGE as u64 + 3) {
            let now = NOW + n;
            commit(&store, b.row("x", now), now).await;
        }
        let seen = a.look(&store, NOW + 515).await;
        assert_eq!(seen.len(), 2 * PAGE + 3);
    }

    #[tokio::test]
    async fn who_was_away_for_long_is_told_to_load_everything() {
        let store = MemoryStore::new();
        let mut a = Node::new("a", NOW);
        let look = |a: &mut Node, now| {
            let (id, places) = (a.id.clone(), &a.places);
            futures(a.reader.look(&store, "", &id, places, now))
        };
        assert_eq!(look(&mut a, NOW + KEPT / 2), Look::Lines(Vec::new()));
        assert_eq!(look(&mut a, NOW + 2 * KEPT), Look::TooLate);
    }

    /// A store in memory never waits.
    fn futures<T>(future: impl Future<Output = Result<T, StoreError>>) -> T {
        let waker = std::task::Waker::noop();
        let mut context = std::task::Context::from_waker(waker);
        match std::pin::pin!(future).poll(&mut context) {
            std::task::Poll::Ready(done) => done.expect("reads"),
            std::task::Poll::Pending => panic!("it waits"),
        }
    }
}
