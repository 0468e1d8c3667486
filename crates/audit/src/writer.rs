//! The one thread that appends to the log.
//!
//! It sleeps until somebody has something to say, waits for a fraction of a second for others, and
//! writes all of it as one batch: lines, then a checkpoint over them, in one `write` and one flush.
//! Then it removes from the store the rows of lines that came that way, and writes there where the
//! log ends, so that a log that was cut while the server was down is noticed at the next start.
//!
//! Where the disk refuses, the batch waits; decisions queue up, and those that find the queue full
//! are counted. Lines of state changes rest in the store meanwhile. Nothing is lost silently.

use std::collections::{HashSet, VecDeque};
use std::fs;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::mpsc::Receiver;
use std::thread::{JoinHandle, park_timeout};
use std::time::{Duration, Instant};

use signet_agent::log::{Checkpoint, Frontier};
use signet_agent::object::Object;
use signet_agent::{Hash, Refusal};
use signet_cbor::{Decoder, Encoder};
use signet_crypto::Clock;
use signet_store::{COLLECTED, Change, Key, Op, Store, StoreError, Table};

use crate::error::AuditError;
use crate::event::{Action, Entry, Event};
use crate::identity::AuditIdentity;
use crate::keeper::{self, Departure};
use crate::line::{self, Frame, Head};
use crate::node;
use crate::outbox;
use crate::read;
use crate::segment::{self, Appending, Form, Found, Segment};
use crate::shared::Shared;
use crate::verify::{Broken, Left, Signatures, State, Verifier};
use signet_store::NodeId;

/// Most lines of the audit trail that share a signature
const MAX_BATCH: usize = 16384;

/// Rows of the store that are read at once.
const PAGE: usize = 512;

/// How often counts become lines, and rows of changes whose request went away are looked for.
const COUNT_EVERY: Duration = Duration::from_secs(60);

/// How often the log's end is written to the store, where nothing else writes it.
const HEAD_EVERY: Duration = Duration::from_secs(1);

/// How long a disk or store that failed is left alone.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// What was found when the trail was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The disk is full: nothing was written, and records wait.
    pub full: bool,
    /// Lines that were there.
    pub lines: u64,
    /// Why some are missing, if they are: each is a line of the trail now.
    pub gaps: Vec<&'static str>,
    /// Where the last segment does not verify.
    pub broken: Option<Broken>,
}

pub(crate) struct Parts {
    pub(crate) shared: Arc<Shared>,
    pub(crate) receiver: Receiver<Box<Entry>>,
    pub(crate) leaving: Receiver<Departure>,
    pub(crate) identity: AuditIdentity,
    pub(crate) interval: Duration,
    pub(crate) segment_bytes: u64,
    pub(crate) segment_age: Duration,
}

/// Where an entry came from, and with it what is to be done once it is in the log.
enum Origin {
    /// The queue: nothing.
    Queue,
    /// A row of the store, to be removed.
    Row(Key),
    /// The keeper: a segment's file, to be removed.
    Segment(Departure),
}

pub(crate) struct Writer {
    shared: Arc<Shared>,
    receiver: Receiver<Box<Entry>>,
    leaving: Receiver<Departure>,
    identity: AuditIdentity,
    interval: Duration,
    segment_bytes: u64,
    segment_age: Duration,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    appending: Option<Appending>,
    state: State,
    /// Not yet written.
    waiting: VecDeque<(Entry, Origin)>,
    /// Rows that are waiting here, or written and not yet removed.
    taken: HashSet<Vec<u8>>,
    written_rows: Vec<Key>,
    /// Segments whose leaving is in the log, and whose files are still there.
    departed: Vec<Departure>,
    /// A record says that the segments before this record left.
    gone: u64,
    counted_at_ms: u64,
    next_count: Instant,
    next_head: Instant,
    head_size: u64,
}

/// What the store remembers of the log's end.
#[derive(Clone, Debug, Default)]
struct Remembered {
    state: State,
    gone: u64,
}

/// The name of the row; each node has its own.
const HEAD: &str = "head";

impl Remembered {
    fn encode(state: &State, gone: u64) -> Vec<u8> {
        let mut out = Encoder::new();
        out.array(6).uint(state.frontier.len());
        match &state.previous {
            Some(previous) => out.bytes(&previous.0),
            None => out.null(),
        };
        out.array(state.frontier.peaks().len());
        for peak in state.frontier.peaks() {
            out.bytes(&peak.0);
        }
        out.uint(state.at_ms).uint(state.signed_at).uint(gone);
        out.finish()
    }

    fn decode(data: &[u8]) -> Result<Remembered, Refusal> {
        Decoder::whole(data, |d| {
            d.tuple(6, |d| {
                let size = d.uint()?;
                let mut ahead = d.clone();
                let previous = if ahead.null().is_ok() {
                    *d = ahead;
                    None
                } else {
                    Some(Hash(d.fixed()?))
                };
                let peaks = d.list(64, |d| d.fixed().map(Hash))?;
                Ok(Remembered {
                    state: State {
                        frontier: Frontier::from_parts(size, peaks)?,
                        previous,
                        at_ms: d.uint()?,
                        signed_at: d.uint()?,
                    },
                    gone: d.uint()?,
                })
            })
        })
    }

    async fn load(
        store: &dyn Store,
        node: &NodeId,
        now: u64,
    ) -> Result<Option<Remembered>, StoreError> {
        let corrupt = |_| StoreError::Corrupt("the end of the audit trail".to_owned());
        let row = store.get(&node::row(node, HEAD), now).await?;
        row.map(|row| Remembered::decode(&row.value).map_err(corrupt))
            .transpose()
    }
}

/// How many records a node's log has at least, as the store knows it; none of a node that has no
/// log.
///
/// # Errors
/// The store's.
pub async fn known_records(
    store: &dyn Store,
    node: &NodeId,
    now: u64,
) -> Result<Option<u64>, StoreError> {
    let remembered = Remembered::load(store, node, now).await?;
    Ok(remembered.map(|remembered| remembered.state.frontier.len()))
}

/// What is in the last segment.
struct LastSegment {
    /// Up to the last checkpoint.
    state: State,
    bytes: u64,
    /// Rows of the store whose lines are there, from the line on that the store remembers.
    carried: Vec<[u8; 16]>,
    /// The last line says that the trail ended in order.
    stopped: bool,
    /// When its first record was made.
    began_ms: Option<u64>,
    /// It says that the segments before this record left.
    gone: u64,
    /// The root when the log was as long as the store remembers it.
    root_then: Option<Hash>,
    broken: Option<Broken>,
    foreign: bool,
}

impl LastSegment {
    fn read(data: &[u8], identity: &AuditIdentity, remembered: u64) -> LastSegment {
        let mut verifier = Verifier::new(None, None, Signatures::Last);
        let mut found = LastSegment {
            state: State::default(),
            bytes: 0,
            carried: Vec::new(),
            stopped: false,
            began_ms: None,
            gone: 0,
            root_then: None,
            broken: None,
            foreign: false,
        };
        let (mut unsigned_rows, mut stops, mut gone) = (Vec::new(), false, 0);
        for frame in segment::frames(data) {
            let (frame, end) = match frame {
                Found::Frame(frame, end) => (frame, end),
                // A batch that was being written when everything stopped.
                Found::Torn => break,
                Found::Broken(reason) => {
                    let next = verifier.next_line();
                    let place = format!("what follows line {} is no line", next.saturating_sub(1));
                    found.broken = Some(Broken::at(next, reason, place));
                    break;
                }
            };
            if let Err(broken) = verifier.frame(&frame) {
                found.broken = Some(broken);
                break;
            }
            match &*frame {
                Frame::Head(head) => {
                    found.foreign = head.document.id() != identity.document.id();
                    if found.foreign {
                        return found;
                    }
                }
                Frame::Line(line) => {
                    stops = line.receipt.action == Action::STOP.0;
                    found.began_ms.get_or_insert(line.receipt.at_ms);
                    gone = line.content.segment.map_or(gone, |segment| segment.next);
                    if line.receipt.index >= remembered {
                        unsigned_rows.extend(line.content.carried);
                    }
                }
                Frame::Checkpoint(_) => {
                    found.state = verifier.state().clone();
                    found.bytes = end as u64;
                    found.stopped = stops;
                    found.gone = gone;
                    found.carried.append(&mut unsigned_rows);
                }
            }
            if verifier.next_line() == remembered {
                found.root_then = Some(verifier.state().frontier.root());
            }
        }
        if found.broken.is_none() && found.bytes > 0 {
            // Everything up to the last checkpoint hangs on its signature.
            let mut whole = Verifier::new(None, None, Signatures::Last);
            let signed = usize::try_from(found.bytes).unwrap_or(data.len());
            let checked = segment::frames(&data[..signed]).try_for_each(|frame| match frame {
                Found::Frame(frame, _) => whole.frame(&frame),
                Found::Torn | Found::Broken(_) => Ok(()),
            });
            found.broken = checked.and_then(|()| whole.finish().map(drop)).err();
        }
        found
    }
}

/// The newest segment.
enum Last {
    /// The segment is absent; whether there were bytes of one that was being begun.
    None { cut: bool },
    /// Its bytes, and what is in them.
    Found(Segment, Vec<u8>, Box<LastSegment>),
}

/// Whether the disk, a quota or a limit of the file's size refuses further bytes.
fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

/// Keeps bytes that are no part of the log; a full disk is no reason to stop over them.
fn keep_cut(
    directory: &std::path::Path,
    node: &NodeId,
    (first, at): (u64, u64),
    bytes: &[u8],
) -> io::Result<()> {
    match segment::set_aside(directory, node, first, at, bytes) {
        Err(error) if is_full(&error) => {
            tracing::warn!(
                bytes = bytes.len(),
                "dropped unsigned bytes after the audit trail: disk full"
            );
            Ok(())
        }
        kept => kept.map(drop),
    }
}

impl Writer {
    pub(crate) async fn open(
        parts: Parts,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
    ) -> Result<(Writer, Opened), AuditError> {
        let Parts {
            shared,
            receiver,
            leaving,
            identity,
            interval,
            segment_bytes,
            segment_age,
        } = parts;
        let (node, directory) = (shared.node.clone(), shared.places.directory.clone());
        let io_error = |source| AuditError::Io {
            path: directory.clone(),
            source,
        };
        make_directory(&directory).map_err(io_error)?;
        let document = write_document(&directory, &identity).map_err(io_error)?;
        let (now, now_ms) = (clock.now(), clock.now_ms());
        let remembered = Remembered::load(&*store, &node, now).await?;
        let known = remembered.as_ref().map_or(0, |r| r.state.frontier.len());
        let mut writer = Writer {
            shared,
            receiver,
            leaving,
            interval,
            segment_bytes,
            segment_age,
            store,
            appending: None,
            state: State::default(),
            waiting: VecDeque::new(),
            taken: HashSet::new(),
            written_rows: Vec::new(),
            departed: Vec::new(),
            gone: remembered.as_ref().map_or(0, |r| r.gone),
            counted_at_ms: now_ms,
            next_count: Instant::now() + COUNT_EVERY,
            next_head: Instant::now(),
            head_size: known,
            clock,
            identity,
        };
        let mut opened = Opened {
            lines: 0,
            gaps: Vec::new(),
            broken: None,
            full: false,
        };
        let last = writer.last_segment(known).map_err(io_error)?;
        let mut since = 0;
        match (last, remembered) {
            (Last::None { cut: false }, None) => {}
            // The first batch ever was being written.
            (Last::None { cut: true }, None) => opened.gaps.push("crash"),
            (Last::None { .. }, Some(remembered)) => {
                // The store knows of a log, and the directory has none.
                writer.state = remembered.state;
                opened.gaps.push("truncated");
                since = writer.state.at_ms;
            }
            (Last::Found(segment, data, found), remembered) => {
                if found.foreign {
                    return Err(AuditError::Foreign(directory));
                }
                since = found.state.at_ms;
                let holds_it = remembered.as_ref().is_none_or(|r| {
                    known <= segment.first || found.root_then == Some(r.state.frontier.root())
                });
                let goes_on = found.broken.is_none()
                    && found.bytes > 0
                    && found.state.frontier.len() >= known
                    && holds_it;
                if goes_on {
                    writer.go_on(&segment, &data, &found).map_err(io_error)?;
                    if !found.stopped {
                        opened.gaps.push("crash");
                    }
                    for id in &found.carried {
                        let key = outbox::pending_key(&node, id);
                        writer.taken.insert(key.sort.clone());
                        writer.written_rows.push(key);
                    }
                    writer.gone = writer.gone.max(found.gone);
                    writer.state = found.state;
                } else if let Some(remembered) = remembered {
                    // The trail continues from where the store knows that it was; what is wrong
                    // stays where it is, to be found.
                    let truncated = found.broken.is_none() && found.state.frontier.len() < known;
                    opened
                        .gaps
                        .push(if truncated { "truncated" } else { "unreadable" });
                    opened.broken = found.broken;
                    writer.state = remembered.state;
                    since = writer.state.at_ms;
                } else {
                    return Err(AuditError::Foreign(directory));
                }
            }
        }
        writer.shared.gone.store(writer.gone, SeqCst);
        opened.lines = writer.state.frontier.len();
        for gap in &opened.gaps {
            let event = Event::new(Action::GAP, now_ms)
                .because(gap)
                .counted(None, since);
            writer.queue(&event);
        }
        let version = env!("CARGO_PKG_VERSION");
        let start = Event::new(Action::START, now_ms).happened().target(version);
        writer.queue(&start);
        // What cannot be written now will not be written later either: the operator hears it at the
        // start. A full disk is another matter: what can be read is served, and records wait.
        writer.collect().await;
        match writer.append() {
            Err(error) if is_full(&error) => opened.full = true,
            written => written.map_err(io_error)?,
        }
        match writer.settle(true).await {
            Err(StoreError::Unavailable(_)) if opened.full || writer.store.is_full() => {
                opened.full = true;
            }
            // Of several nodes this one may start without a majority that takes a change. What is
            // in the log is durable there; the store is updated later.
            Err(error @ StoreError::Unavailable(_))
                if known > 0 && writer.shared.lock.get().is_some() =>
            {
                tracing::warn!(%error, "postponed recording the end of the audit trail in the store");
            }
            settled => settled?,
        }
        if opened.full {
            writer.shared.failing.store(true, SeqCst);
        }
        if let Some(document) = document {
            let written = document.join();
            written
                .unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))
                .map_err(io_error)?;
        }
        Ok((writer, opened))
    }

    /// The newest segment in which something was signed. One that was being begun when everything
    /// stopped has nothing: what is in it is kept beside the log, and the one before it is the
    /// newest.
    fn last_segment(&self, known: u64) -> io::Result<Last> {
        let (places, node) = (&self.shared.places, &self.shared.node);
        let mut segments = segment::list(&places.directory)?;
        segments.retain(|segment| segment.node == *node);
        segments.dedup_by(|later, kept| later.first == kept.first);
        let mut cut = false;
        while let Some(last) = segments.pop() {
            let mut data = Vec::new();
            last.open()?.read_to_end(&mut data)?;
            let found = LastSegment::read(&data, &self.identity, known);
            let unsigned = found.bytes == 0 && found.broken.is_none() && !found.foreign;
            if !unsigned {
                return Ok(Last::Found(last, data, Box::new(found)));
            }
            if !data.is_empty() {
                keep_cut(&places.directory, node, (last.first, 0), &data)?;
                cut = true;
            }
            keeper::remove(&last.path)?;
        }
        Ok(Last::None { cut })
    }

    /// Continues behind the last checkpoint of this segment.
    fn go_on(&mut self, last: &Segment, data: &[u8], found: &LastSegment) -> io::Result<()> {
        match last.form {
            Form::Plain => {
                let signed = usize::try_from(found.bytes).unwrap_or(data.len());
                if signed < data.len() {
                    // No checkpoint covers it, so anybody may have written it: it is kept, and is
                    // no part of the log.
                    let at = (last.first, found.bytes);
                    let directory = &self.shared.places.directory;
                    keep_cut(directory, &self.shared.node, at, &data[signed..])?;
                }
                let began = found.began_ms.unwrap_or_default();
                self.appending = Some(Appending::open(&last.path, found.bytes, began)?);
            }
            // The one behind it is lost; the next batch begins a new one.
            Form::Compressed => {}
        }
        Ok(())
    }

    fn queue(&mut self, event: &Event<'_>) {
        self.waiting.push_back((event.entry(None), Origin::Queue));
    }

    /// Works until the trail is closed and everything is written.
    pub(crate) fn run(mut self, runtime: &tokio::runtime::Runtime) {
        let mut failed = false;
        loop {
            let closing = self.shared.closing.load(SeqCst);
            runtime.block_on(self.collect());
            // What waits may be more than one batch: it ends when nothing is left.
            let last = closing && self.waiting.len() < MAX_BATCH;
            if last {
                let stop = Event::new(Action::STOP, self.clock.now_ms()).happened();
                self.queue(&stop);
            }
            let written = self.append();
            let settled = runtime.block_on(self.settle(last));
            self.disk_is_full(written.as_ref().err());
            let error = match (written, settled) {
                (Err(error), _) => Some(error.to_string()),
                (_, Err(error)) => Some(error.to_string()),
                (Ok(()), Ok(())) => None,
            };
            match (&error, failed) {
                (Some(error), false) => {
                    tracing::error!(error, "failed to write the audit trail; records are queued");
                }
                (None, true) => tracing::info!("resumed writing the audit trail"),
                _ => {}
            }
            failed = error.is_some();
            self.shared.failing.store(failed, SeqCst);
            if last || (closing && failed) {
                return;
            }
            if closing {
                continue;
            }
            if failed {
                park_timeout(RETRY_AFTER);
            } else {
                self.sleep();
            }
        }
    }

    /// Until there is something to write, and then a little longer, for more of it.
    fn sleep(&mut self) {
        self.shared.asleep.store(true, SeqCst);
        if !self.only_changes()
            && let Ok(entry) = self.receiver.try_recv()
        {
            self.shared.asleep.store(false, SeqCst);
            self.waiting.push_back((*entry, Origin::Queue));
        }
        let idle = self.waiting.is_empty()
            && !self.shared.pending.load(SeqCst)
            && !self.shared.closing.load(SeqCst);
        if idle {
            // Woken by the next one; counts have their own time.
            let mut wake_at = self.next_count;
            if self.head_size < self.state.frontier.len() {
                wake_at = wake_at.min(self.next_head);
            }
            if self.shared.full.load(SeqCst) {
                wake_at = wake_at.min(Instant::now() + RETRY_AFTER);
            }
            park_timeout(wake_at.saturating_duration_since(Instant::now()));
        }
        self.shared.asleep.store(false, SeqCst);
        let until = Instant::now() + self.interval;
        while !self.shared.closing.load(SeqCst) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            park_timeout(left);
        }
    }

    /// What the store's reserve is for are its own changes, and the records of them: decisions
    /// wait.
    fn only_changes(&self) -> bool {
        self.store.is_full() && !self.shared.closing.load(SeqCst)
    }

    /// Takes what has queued up, here and in the store.
    async fn collect(&mut self) {
        let now_ms = self.clock.now_ms();
        let closing = self.shared.closing.load(SeqCst);
        if Instant::now() >= self.next_count || closing {
            let mut counts = self.shared.refusals.take(now_ms);
            // While the disk is full they are counted on: a line of each minute would wait in
            // memory.
            if closing || !self.shared.full.load(Relaxed) {
                counts.extend(self.shared.counters.take(self.counted_at_ms, now_ms));
                counts.extend(self.shared.repeated.take(now_ms));
                self.counted_at_ms = now_ms;
            }
            let counts = counts.into_iter().map(|entry| (entry, Origin::Queue));
            self.waiting.extend(counts);
            self.next_count = Instant::now() + COUNT_EVERY;
            self.shared.pending.store(true, SeqCst);
        }
        while !self.only_changes() && self.waiting.len() < MAX_BATCH {
            match self.receiver.try_recv() {
                Ok(entry) => self.waiting.push_back((*entry, Origin::Queue)),
                Err(_) => break,
            }
        }
        while let Ok(departure) = self.leaving.try_recv() {
            let action = match departure.how {
                Left::Archived => Action::ARCHIVE,
                Left::Removed => Action::REMOVE,
            };
            let event = Event::new(action, now_ms)
                .happened()
                .segment(&departure.facts);
            let entry = event.entry(None);
            self.waiting.push_back((entry, Origin::Segment(departure)));
        }
        let dropped = self.shared.dropped.swap(0, SeqCst);
        if dropped > 0 {
            let since = self.shared.dropped_since.swap(0, Relaxed);
            let gap = Event::new(Action::GAP, now_ms)
                .because("queue_full")
                .counted(Some(dropped), since);
            self.queue(&gap);
        }
        if !self.shared.full.load(Relaxed) {
            let shed = self.shared.shed.swap(0, SeqCst);
            if shed > 0 {
                let since = self.shared.shed_since.swap(0, Relaxed);
                let gap = Event::new(Action::GAP, now_ms)
                    .because("disk_full")
                    .counted(Some(shed), since);
                self.queue(&gap);
            }
        }
        if self.waiting.len() < MAX_BATCH
            && self.shared.pending.swap(false, SeqCst)
            && let Err(error) = self.collect_rows().await
        {
            tracing::warn!(%error, "failed to read audit records of changes from the store; they are kept there");
            self.shared.pending.store(true, SeqCst);
        }
        let entries = self.waiting.make_contiguous();
        // A change comes before what else was said of it at the same moment.
        entries.sort_by_key(|(entry, from)| (entry.at_ms, !matches!(from, Origin::Row(_))));
    }

    /// Where the disk is full, refusals are the first to go: they are counted, and the count is a
    /// record when there is space again.
    fn disk_is_full(&mut self, error: Option<&io::Error>) {
        let full = error.is_some_and(is_full) || self.store.is_full();
        let was_full = self.shared.full.swap(full, SeqCst);
        if !full {
            if was_full {
                // Once more at once: what waited, and the count of what did not.
                self.shared.pending.store(true, SeqCst);
            }
            return;
        }
        let (had, now_ms) = (self.waiting.len(), self.clock.now_ms());
        self.waiting.retain(|(entry, from)| {
            let is_refusal = entry.outcome == signet_agent::receipt::Outcome::Failure;
            !is_refusal || !matches!(from, Origin::Queue)
        });
        let shed = had - self.waiting.len();
        if shed > 0 {
            self.shared.shed(shed as u64, now_ms);
        }
    }

    async fn collect_rows(&mut self) -> Result<(), StoreError> {
        let now = self.clock.now();
        let pending = node::pending(&self.shared.node);
        let mut after = Vec::new();
        loop {
            let rows = self
                .store
                .partition(Table::Audit, &pending, &after, PAGE, now)
                .await?;
            let full = rows.len() == PAGE;
            for (key, row) in rows {
                after.clone_from(&key.sort);
                if !self.taken.insert(key.sort.clone()) {
                    continue;
                }
                match outbox::read(&row) {
                    Ok(entry) => self.waiting.push_back((entry, Origin::Row(key))),
                    Err(reason) => {
                        tracing::error!(%reason, "failed to read the audit record of a change");
                        let gap = Event::new(Action::GAP, self.clock.now_ms())
                            .because("unreadable")
                            .counted(Some(1), 0);
                        self.waiting.push_back((gap.entry(None), Origin::Row(key)));
                    }
                }
            }
            if !full {
                return Ok(());
            }
            if self.waiting.len() >= MAX_BATCH {
                self.shared.pending.store(true, SeqCst);
                return Ok(());
            }
        }
    }

    /// Writes what waits as one batch; all of it, or none.
    fn append(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let library = |_| io::Error::other("the cryptography library failed");
        let mut state = self.state.clone();
        let mut bytes = Vec::with_capacity(self.waiting.len() * 320 + 512);
        let now_ms = self.clock.now_ms();
        let age_ms = u64::try_from(self.segment_age.as_millis()).unwrap_or(u64::MAX);
        let fits = self.appending.as_ref().is_some_and(|a| {
            let is_young = now_ms < a.began_ms.saturating_add(age_ms);
            a.is_empty() || (a.length() < self.segment_bytes && is_young)
        });
        let closes = !fits && self.appending.is_some();
        if !fits {
            let (directory, first) = (&self.shared.places.directory, state.frontier.len());
            let path = segment::path(directory, &self.shared.node, first, Form::Plain);
            self.appending = Some(Appending::create(&path, now_ms)?);
        }
        let Some(appending) = &mut self.appending else {
            return Ok(());
        };
        if appending.is_empty() {
            let head = Head {
                node: self.shared.node.clone(),
                document: self.identity.document.clone(),
                previous: state.previous,
                frontier: state.frontier.clone(),
            };
            head.write(&mut bytes);
        }
        let signer = self.identity.signer();
        for (entry, _) in &self.waiting {
            let index = state.frontier.len();
            let receipt = line::receipt(entry, signer.by, index, state.previous, state.at_ms);
            let payload = receipt.payload();
            line::write_line(&payload, &entry.content, &mut bytes);
            state.frontier.append(&payload);
            state.previous = Some(Hash::of(&payload));
            state.at_ms = receipt.at_ms;
        }
        state.signed_at = self.clock.now().max(state.signed_at);
        let (size, root) = (state.frontier.len(), state.frontier.root());
        let checkpoint =
            Checkpoint::sign_root(size, root, &signer, state.signed_at).map_err(library)?;
        line::write_checkpoint(&checkpoint, &mut bytes);
        appending.append(&bytes)?;
        self.state = state;
        self.shared.lines.store(size, Relaxed);
        for (_, from) in self.waiting.drain(..) {
            match from {
                Origin::Queue => {}
                Origin::Row(key) => self.written_rows.push(key),
                Origin::Segment(departure) => {
                    self.gone = self.gone.max(departure.facts.next);
                    self.departed.push(departure);
                }
            }
        }
        if closes {
            self.shared.closed_a_segment();
        }
        Ok(())
    }

    /// Tells the store where the log ends, and removes rows whose lines are in it. `now`: also
    /// where it is not due.
    async fn settle(&mut self, now: bool) -> Result<(), StoreError> {
        let grew = self.state.frontier.len() != self.head_size;
        let due = now || Instant::now() >= self.next_head;
        if self.written_rows.is_empty() && self.departed.is_empty() && !(grew && due) {
            return Ok(());
        }
        let head = Op::Put {
            key: node::row(&self.shared.node, HEAD),
            value: Remembered::encode(&self.state, self.gone),
            end: None,
        };
        let mut changes = vec![Change::new(head)];
        for rows in self.written_rows.chunks(COLLECTED + 1) {
            let mut ops = rows.iter().map(|key| Op::Delete { key: key.clone() });
            if let Some(first) = ops.next() {
                changes.push(Change {
                    first,
                    then: ops.collect(),
                });
            }
        }
        self.store.commit_each(changes, self.clock.now()).await?;
        for row in self.written_rows.drain(..) {
            self.taken.remove(&row.sort);
        }
        // The log says that they left, and the store knows it: only now may they go.
        self.shared.gone.store(self.gone, SeqCst);
        for departure in self.departed.drain(..) {
            if let Err(error) = keeper::remove(&departure.path) {
                let path = departure.path.display();
                tracing::warn!(%error, %path, "failed to remove an audit segment");
            }
            // A keeper that has stopped waiting finds out for itself.
            let _ = departure.done.send(());
        }
        self.head_size = self.state.frontier.len();
        self.next_head = Instant::now() + HEAD_EVERY;
        Ok(())
    }
}

fn make_directory(path: &std::path::Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(path)
}

/// The public document, for auditors who want to know beforehand whose signatures they will see.
/// Where it is new, it is flushed and gets its name beside the first record, which has a flush of
/// its own: to be waited for.
fn write_document(
    directory: &std::path::Path,
    identity: &AuditIdentity,
) -> io::Result<Option<JoinHandle<io::Result<()>>>> {
    let file = signet_agent::json::File::of(identity.document.signed());
    let text = file
        .write()
        .map_err(|reason| io::Error::other(reason.to_string()))?;
    let path = directory.join(read::DOCUMENT_FILE);
    if fs::read_to_string(&path).is_ok_and(|there| there == text) {
        return segment::make_private(&path).map(|()| None);
    }
    // Whatever the umask: who could write it could have others verify the trail by a key of
    // theirs. The name is exchanged, so that a start that fails half way leaves a whole one.
    let beside = directory.join(format!("{}.new", read::DOCUMENT_FILE));
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = segment::private()
        .create_new(true)
        .write(true)
        .open(&beside)?;
    file.write_all(text.as_bytes())?;
    let flush = move || {
        file.sync_all()?;
        fs::rename(beside, path)
    };
    let started = std::thread::Builder::new().name("audit-document".to_owned());
    started.spawn(flush).map(Some)
}
