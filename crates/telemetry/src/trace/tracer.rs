//! Which requests are recorded, and where what was recorded waits.
use super::{
    context::{TraceContext, TraceId},
    kept::Kept,
    recorded::{Finished, Kind, Span},
    recording::{Handle, Trace},
    sinks::Sinks,
};
use crate::queue::Queue;
use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Instant,
};

/// Whose `traceparent` is continued. The trace of anybody else's begins here, by this server's own
/// choice, and names the caller's as a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Parents {
    /// Of the reverse proxies that are trusted.
    #[default]
    Proxies,
    /// Of everybody: anybody may have requests recorded.
    Everybody,
    /// Of nobody.
    Nobody,
}

/// What is recorded.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Options {
    /// Of requests that nobody else has decided about, this part: 0 to 1.
    pub sample: f64,
    /// The first ones of each second, as many as this, whatever the part: a server with little to
    /// do is seen whole.
    pub per_second: u32,
    /// Whose word counts.
    pub parents: Parents,
    /// Whether requests to other servers say which trace they belong to.
    pub propagates: bool,
}

/// See the module. Clones are one; the default one records nothing.
#[derive(Clone, Default)]
pub struct Tracer(Arc<Inner>);

/// Requests of a second that are kept: a development server that is measured does what any other
/// does.
const KEPT_PER_SECOND: u32 = 100;

/// Admits the first ones of each second.
struct FirstOfSecond {
    most: u64,
    /// A second, and below it, in 32 bits, how many were admitted in it.
    known: AtomicU64,
}

impl FirstOfSecond {
    fn new(most: u32) -> FirstOfSecond {
        FirstOfSecond {
            most: most.into(),
            known: AtomicU64::new(0),
        }
    }

    /// Of two at once both may be the last: nobody relies on the limit.
    fn admits(&self, second: u64) -> bool {
        let known = self.known.load(Relaxed);
        let is_same = known >> 32 == second & 0xffff_ffff;
        let count = if is_same { known & 0xffff_ffff } else { 0 };
        if count >= self.most {
            return false;
        }
        self.known.store(second << 32 | (count + 1), Relaxed);
        true
    }
}

struct Inner {
    /// What each request asks first.
    on: AtomicBool,
    exports: bool,
    /// Of numbers of 60 bits, those below are recorded.
    below: u64,
    early: FirstOfSecond,
    early_kept: FirstOfSecond,
    parents: Parents,
    propagates: bool,
    sinks: Arc<Sinks>,
}

impl Default for Inner {
    fn default() -> Inner {
        Inner {
            on: AtomicBool::new(false),
            exports: false,
            below: 0,
            early: FirstOfSecond::new(0),
            early_kept: FirstOfSecond::new(KEPT_PER_SECOND),
            parents: Parents::Nobody,
            propagates: false,
            sinks: Arc::default(),
        }
    }
}

impl fmt::Debug for Tracer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tracer")
            .field("on", &self.0.on)
            .finish_non_exhaustive()
    }
}

/// A request that has come in.
#[derive(Debug)]
pub struct Arrived {
    /// The request's id: 16 characters that are random.
    pub request_id: [u8; 16],
    /// What its headers say.
    pub context: Option<TraceContext>,
    /// Whether it came by a proxy that is trusted.
    pub by_proxy: bool,
    /// When, by the monotonic clock.
    pub at: Instant,
    /// When, Unix milliseconds.
    pub now_ms: u64,
}

/// What a process does by itself.
#[derive(Clone, Copy, Debug)]
pub struct Own {
    /// What it does.
    pub name: &'static str,
    /// When it begins, Unix milliseconds.
    pub now_ms: u64,
}

impl Tracer {
    /// Records, for export.
    pub fn new(options: Options) -> Tracer {
        let share = options.sample.clamp(0.0, 1.0) * (1u64 << 60) as f64;
        Tracer(Arc::new(Inner {
            on: AtomicBool::new(true),
            exports: true,
            // A float converts to the nearest number that there is.
            below: share as u64,
            early: FirstOfSecond::new(options.per_second),
            parents: options.parents,
            propagates: options.propagates,
            ..Inner::default()
        }))
    }

    /// Also keeps the last requests in memory, the first 100 of each second: a development server.
    pub fn keep(&self) {
        self.0.sinks.kept.get_or_init(Kept::default);
        self.0.on.store(true, Relaxed);
    }

    /// Whether the last requests are kept.
    pub fn keeps(&self) -> bool {
        self.0.sinks.kept.get().is_some()
    }

    /// A request of the last ones, by its id or its trace's.
    pub fn find(&self, id: &str) -> Option<Arc<Finished>> {
        self.0.sinks.kept.get()?.find(id)
    }

    /// What waits for its export.
    pub fn finished(&self) -> &Queue<Arc<Finished>> {
        &self.0.sinks.finished
    }

    /// Whether anything is recorded at all.
    pub fn is_on(&self) -> bool {
        self.0.on.load(Relaxed)
    }

    /// Begins the trace of a request, where it has one. `random`: 24 bytes that nobody can guess,
    /// asked for where they are needed.
    pub fn begin(&self, arrived: Arrived, random: impl FnOnce() -> [u8; 24]) -> Option<Handle> {
        let inner = &*self.0;
        let counts = match inner.parents {
            Parents::Proxies => arrived.by_proxy,
            Parents::Everybody => true,
            Parents::Nobody => false,
        };
        let (parent, link) = match arrived.context {
            Some(context) if counts => (Some(context), None),
            stranger => (None, stranger),
        };
        let exported = inner.exports
            && match &parent {
                Some(parent) => parent.sampled,
                None => {
                    number_of(&arrived.request_id) < inner.below
                        || inner.early.admits(arrived.now_ms / 1000)
                }
            };
        let records = exported
            || (inner.sinks.kept.get().is_some() && inner.early_kept.admits(arrived.now_ms / 1000));
        // What is not recorded here may go on elsewhere under the trace that it came with.
        if !records && parent.is_none() {
            return None;
        }
        let began = (arrived.at, arrived.now_ms);
        let request_id = String::from_utf8_lossy(&arrived.request_id).into_owned();
        Some(self.start(Start {
            name: "request",
            kind: Kind::Server,
            parent,
            link,
            request_id,
            began,
            exported,
            records,
            random: random(),
        }))
    }

    /// Begins a trace of what the process does by itself, where it is recorded.
    pub fn begin_own(&self, own: Own, random: impl FnOnce() -> [u8; 24]) -> Option<Handle> {
        if !self.is_on() {
            return None;
        }
        let random = random();
        let mut number = [0; 8];
        number.copy_from_slice(&random[16..]);
        let chosen = u64::from_be_bytes(number) >> 4 < self.0.below;
        let exported = self.0.exports && (chosen || self.0.early.admits(own.now_ms / 1000));
        let kept = self.0.sinks.kept.get().is_some();
        let records = exported || (kept && self.0.early_kept.admits(own.now_ms / 1000));
        records.then(|| {
            self.start(Start {
                name: own.name,
                kind: Kind::Internal,
                parent: None,
                link: None,
                request_id: String::new(),
                began: (Instant::now(), own.now_ms),
                exported,
                records,
                random,
            })
        })
    }

    fn start(&self, start: Start) -> Handle {
        let (mut trace, mut seed) = ([0; 16], [0; 8]);
        trace.copy_from_slice(&start.random[..16]);
        seed.copy_from_slice(&start.random[16..]);
        let (id, parent, state) = match start.parent {
            Some(parent) => (parent.trace, Some(parent.span), parent.state),
            None => (TraceId::of(trace), None, String::new()),
        };
        let (at, now_ms) = start.began;
        let whole = Span {
            name: start.name,
            parent: None,
            kind: start.kind,
            begin: 0,
            end: 0,
            attributes: Vec::new(),
            failed: false,
        };
        Handle {
            trace: Arc::new(Trace {
                sinks: Arc::clone(&self.0.sinks),
                records: start.records,
                exported: start.exported,
                propagates: self.0.propagates,
                id,
                parent,
                link: start.link,
                state,
                request_id: start.request_id,
                at,
                began: now_ms.saturating_mul(1_000_000),
                seed: u64::from_be_bytes(seed),
                spans: Mutex::new((vec![whole], 0)),
            }),
            span: 0,
        }
    }
}

struct Start {
    name: &'static str,
    kind: Kind,
    parent: Option<TraceContext>,
    link: Option<TraceContext>,
    request_id: String,
    began: (Instant, u64),
    exported: bool,
    records: bool,
    random: [u8; 24],
}

/// 60 bits of a request's id, which is random: six of each of the last ten characters.
fn number_of(request_id: &[u8; 16]) -> u64 {
    let digit = |byte: &u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'-' => 62,
        _ => 63,
    };
    let last = request_id[6..].iter();
    last.fold(0, |number, byte| number << 6 | u64::from(digit(byte)))
}

#[cfg(test)]
mod tests;
