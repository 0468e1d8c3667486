//! One connection between two members, from its greeting to its end.
use super::{
    frame::{CALL_HEAD, Channel, FrameError, Frames},
    metrics::Counters,
    queue::Queue,
};
use crate::{
    NodeId,
    member::Fingerprint,
    transport::{CallError, Hear, MAX_CALL_BYTES, Services, Urgency},
};
use signet_crypto::clock::Clock;
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::{oneshot, watch},
    time::{Instant, timeout},
};

/// Most calls of one member that are answered at once.
pub const MAX_CALLS_SERVED: usize = 512;
/// Most bytes of requests of one member that are answered at once.
pub const MAX_BYTES_SERVED: usize = 64 << 20;

/// The version of what is spoken; a node speaks with every version that it knows of.
const VERSION: u8 = 1;

const HELLO: u8 = 0;
const PING: u8 = 1;
const PONG: u8 = 2;

const REQUEST: u8 = 0;
const ANSWER: u8 = 1;
const REFUSED: u8 = 2;
const NO_SERVICE: u8 = 3;
const BUSY: u8 = 4;
const TOO_LONG: u8 = 5;

/// Why a connection ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Ended {
    #[error("the peer closed it")]
    Closed,
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("the peer sent {0}")]
    Frame(#[from] FrameError),
    #[error("the peer sent a malformed message on channel {0:?}")]
    Message(Channel),
    #[error("nothing was heard for {0:?}")]
    Silent(Duration),
    #[error("another connection took its place")]
    Replaced,
    #[error("this node stops")]
    Stopped,
    #[error("it is no member any more")]
    Removed,
    #[error("it names no protocol")]
    NoProtocol,
    #[error("it did not greet in time")]
    NoGreeting,
    #[error("it greets as {0}, which is not the member whose key it has")]
    OtherName(String),
}

/// What each side says first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Hello {
    pub(crate) node: String,
    /// Random for each start of a process: a connection of an earlier one is no rival.
    pub(crate) boot: u64,
}

impl Hello {
    pub(crate) fn to_message(&self) -> Vec<u8> {
        let mut out = vec![HELLO, VERSION];
        out.extend_from_slice(&self.boot.to_be_bytes());
        out.extend_from_slice(self.node.as_bytes());
        out
    }

    fn read(message: &[u8]) -> Option<Hello> {
        let (&[HELLO, version], rest) = message.split_first_chunk::<2>()? else {
            return None;
        };
        let (boot, name) = rest.split_first_chunk::<8>()?;
        // A later version may say more behind a zero byte.
        let name = name.split(|c| *c == 0).next()?;
        (version >= VERSION).then_some(Hello {
            boot: u64::from_be_bytes(*boot),
            node: String::from_utf8(name.to_vec()).ok()?,
        })
    }
}

type Answer = oneshot::Sender<Result<Vec<u8>, CallError>>;

/// What the rest of the process sees of a connection.
pub(crate) struct Link {
    pub(crate) node: NodeId,
    /// The identity that it has proven.
    pub(crate) fingerprint: Fingerprint,
    pub(crate) dialled: bool,
    pub(crate) boot: u64,
    pub(crate) counters: Counters,
    queue: Queue,
    next_call: AtomicU64,
    /// `None` once the connection is gone: no call waits for it any more.
    pending: Mutex<Option<HashMap<u64, Answer>>>,
    /// Why it is to end.
    end: watch::Sender<Option<Arc<Ended>>>,
    serving: AtomicUsize,
    serving_bytes: AtomicUsize,
}

/// What a connection needs of the node.
pub(crate) struct Around {
    pub(crate) services: Arc<Services>,
    pub(crate) gossip: Arc<dyn Hear>,
    pub(crate) membership: Option<Arc<dyn Hear>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) heartbeat: Duration,
    pub(crate) silence: Duration,
}

/// Takes itself out of the calls that wait, however the future ends.
struct Pending<'a> {
    link: &'a Link,
    id: u64,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if let Some(pending) = self.link.pending().as_mut() {
            pending.remove(&self.id);
        }
    }
}

/// Counts a call that is being answered.
struct Serving {
    link: Arc<Link>,
    bytes: usize,
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.link.serving.fetch_sub(1, Relaxed);
        self.link.serving_bytes.fetch_sub(self.bytes, Relaxed);
    }
}

const fn channel_of(urgency: Urgency) -> Channel {
    match urgency {
        Urgency::Consensus => Channel::Consensus,
        Urgency::Call => Channel::Call,
        Urgency::Bulk => Channel::Bulk,
    }
}

fn message(kind: u8, id: u64, service: u8, deadline_ms: u32, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(CALL_HEAD + body.len());
    out.push(kind);
    out.extend_from_slice(&id.to_be_bytes());
    out.push(service);
    out.extend_from_slice(&deadline_ms.to_be_bytes());
    out.extend_from_slice(body);
    out
}

struct Head {
    kind: u8,
    id: u64,
    service: u8,
    deadline_ms: u32,
}

impl Head {
    /// The head, and where the body begins.
    fn read(message: &[u8]) -> Option<Head> {
        let head: [u8; CALL_HEAD] = *message.first_chunk()?;
        let [kind, rest @ ..] = head;
        let (id, rest) = rest.split_first_chunk::<8>()?;
        let (&[service], deadline) = rest.split_first_chunk::<1>()?;
        Some(Head {
            kind,
            id: u64::from_be_bytes(*id),
            service,
            deadline_ms: u32::from_be_bytes(*deadline.first_chunk()?),
        })
    }
}

impl Link {
    pub(crate) fn new(
        node: NodeId,
        fingerprint: Fingerprint,
        dialled: bool,
        boot: u64,
        now_ms: u64,
    ) -> Link {
        Link {
            node,
            fingerprint,
            dialled,
            boot,
            counters: Counters::new(now_ms),
            queue: Queue::default(),
            next_call: AtomicU64::new(0),
            pending: Mutex::new(Some(HashMap::new())),
            end: watch::Sender::new(None),
            serving: AtomicUsize::new(0),
            serving_bytes: AtomicUsize::new(0),
        }
    }

    fn pending(&self) -> std::sync::MutexGuard<'_, Option<HashMap<u64, Answer>>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there was room.
    pub(crate) fn push(&self, channel: Channel, message: Vec<u8>) -> bool {
        self.queue.push(channel, message)
    }

    /// Ends the connection; the first reason stays.
    pub(crate) fn end(&self, why: Ended) {
        self.end.send_if_modified(|end| {
            let first = end.is_none();
            if first {
                *end = Some(Arc::new(why));
            }
            first
        });
    }

    pub(crate) async fn call(
        &self,
        service: u8,
        request: Vec<u8>,
        deadline: Duration,
    ) -> Result<Vec<u8>, CallError> {
        if request.len() > MAX_CALL_BYTES {
            return Err(CallError::TooLong);
        }
        let id = self.next_call.fetch_add(1, Relaxed);
        let (answer, answered) = oneshot::channel();
        match self.pending().as_mut() {
            Some(pending) => pending.insert(id, answer),
            None => return Err(CallError::NotConnected),
        };
        let _pending = Pending { link: self, id };
        let deadline_ms = u32::try_from(deadline.as_millis()).unwrap_or(u32::MAX);
        let framed = message(REQUEST, id, service, deadline_ms, &request);
        drop(request);
        if !self.push(channel_of(Urgency::of(service)), framed) {
            return Err(CallError::Busy);
        }
        match timeout(deadline, answered).await {
            Ok(Ok(answer)) => answer,
            // The sender was dropped with the connection.
            Ok(Err(_)) => Err(CallError::Lost),
            Err(_) => Err(CallError::Late),
        }
    }

    /// Runs the connection to its end. `frames` may hold what came behind the greeting.
    pub(crate) async fn run<IO>(self: &Arc<Link>, io: IO, frames: Frames, around: &Around) -> Ended
    where
        IO: AsyncRead + AsyncWrite,
    {
        let (read, write) = tokio::io::split(io);
        let begun = Instant::now();
        let heard = AtomicU64::new(0);
        let mut end = self.end.subscribe();
        tokio::select! {
            ended = end.wait_for(Option::is_some) => match ended {
                Ok(why) => match why.as_deref() {
                    Some(Ended::Replaced) => Ended::Replaced,
                    Some(Ended::Removed) => Ended::Removed,
                    Some(_) | None => Ended::Stopped,
                },
                Err(_) => Ended::Stopped,
            },
            ended = self.read(read, frames, around, begun, &heard) => ended,
            ended = self.write(write) => ended,
            ended = self.beat(around, begun, &heard) => ended,
        }
    }

    /// Tells whoever waits for an answer that none will come, and ends what is being answered.
    pub(crate) fn close(&self) {
        self.pending().take();
        self.end(Ended::Stopped);
    }

    async fn write(&self, mut io: impl AsyncWrite + Unpin) -> Ended {
        let mut out = Vec::new();
        loop {
            out.clear();
            self.queue.take(&mut out).await;
            self.counters.sent(out.len());
            let written = match io.write_all(&out).await {
                Ok(()) => io.flush().await,
                Err(error) => Err(error),
            };
            if let Err(error) = written {
                return error.into();
            }
        }
    }

    async fn beat(&self, around: &Around, begun: Instant, heard: &AtomicU64) -> Ended {
        let mut ticks = tokio::time::interval(around.heartbeat);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let since = micros(begun).saturating_sub(heard.load(Relaxed));
            if u128::from(since) > around.silence.as_micros() {
                return Ended::Silent(around.silence);
            }
            let mut ping = vec![PING];
            ping.extend_from_slice(&micros(begun).to_be_bytes());
            ping.extend_from_slice(&around.clock.now_ms().to_be_bytes());
            // A full lane means that the peer takes nothing: silence will end this connection.
            self.push(Channel::Control, ping);
        }
    }

    async fn read(
        self: &Arc<Link>,
        mut io: impl AsyncRead + Unpin,
        mut frames: Frames,
        around: &Around,
        begun: Instant,
        heard: &AtomicU64,
    ) -> Ended {
        let mut bytes = vec![0; 64 * 1024];
        loop {
            loop {
                match frames.message() {
                    Ok(Some((channel, message))) => {
                        self.counters.received_frame();
                        if let Err(ended) = self.received(channel, message, around, begun) {
                            return ended;
                        }
                    }
                    Ok(None) => break,
                    Err(error) => return error.into(),
                }
            }
            match io.read(&mut bytes).await {
                Ok(0) => return Ended::Closed,
                Ok(n) => {
                    heard.store(micros(begun), Relaxed);
                    self.counters.received(n);
                    frames.feed(&bytes[..n]);
                }
                Err(error) => return error.into(),
            }
        }
    }

    fn received(
        self: &Arc<Link>,
        channel: Channel,
        message: Vec<u8>,
        around: &Around,
        begun: Instant,
    ) -> Result<(), Ended> {
        match channel {
            Channel::Control => self
                .control(&message, around, begun)
                .ok_or(Ended::Message(channel)),
            Channel::Gossip => {
                around.gossip.received(&self.node, &message);
                Ok(())
            }
            Channel::Membership => {
                if let Some(membership) = &around.membership {
                    membership.received(&self.node, &message);
                }
                Ok(())
            }
            Channel::Consensus | Channel::Call | Channel::Bulk => self
                .called(channel, message, around)
                .ok_or(Ended::Message(channel)),
        }
    }

    fn control(&self, message: &[u8], around: &Around, begun: Instant) -> Option<()> {
        let (kind, rest) = message.split_first()?;
        match *kind {
            PING => {
                let (sent, _) = rest.split_first_chunk::<8>()?;
                let mut pong = vec![PONG];
                pong.extend_from_slice(sent);
                pong.extend_from_slice(&around.clock.now_ms().to_be_bytes());
                self.push(Channel::Control, pong);
            }
            PONG => {
                let (sent, rest) = rest.split_first_chunk::<8>()?;
                let (theirs, _) = rest.split_first_chunk::<8>()?;
                let rtt = micros(begun).checked_sub(u64::from_be_bytes(*sent))?;
                let theirs = u64::from_be_bytes(*theirs);
                self.counters.measured(rtt, theirs, around.clock.now_ms());
            }
            // What later versions say of themselves is theirs.
            _ => {}
        }
        Some(())
    }

    fn called(
        self: &Arc<Link>,
        channel: Channel,
        mut message: Vec<u8>,
        around: &Around,
    ) -> Option<()> {
        let head = Head::read(&message)?;
        if head.kind == REQUEST {
            if channel_of(Urgency::of(head.service)) != channel {
                return None;
            }
            message.drain(..CALL_HEAD);
            self.serve(channel, &head, message, around);
            return Some(());
        }
        let answer = match head.kind {
            ANSWER => Ok(message.split_off(CALL_HEAD)),
            REFUSED => Err(CallError::Refused(
                String::from_utf8_lossy(&message[CALL_HEAD..]).into_owned(),
            )),
            NO_SERVICE => Err(CallError::NoService),
            BUSY => Err(CallError::Busy),
            TOO_LONG => Err(CallError::TooLong),
            _ => return None,
        };
        // Nobody waits any more for an answer that is late.
        let waiting = self.pending().as_mut().and_then(|p| p.remove(&head.id));
        if let Some(waiting) = waiting {
            let _ = waiting.send(answer);
        }
        Some(())
    }

    fn serve(self: &Arc<Link>, channel: Channel, head: &Head, request: Vec<u8>, around: &Around) {
        let (id, service) = (head.id, head.service);
        let answer = move |link: &Link, kind: u8, body: &[u8]| {
            if !link.push(channel, message(kind, id, service, 0, body)) {
                tracing::debug!(node = %link.node, service, "closed a service: the peer does not read its responses");
            }
        };
        let Some(handler) = around.services.find(service) else {
            return answer(self, NO_SERVICE, &[]);
        };
        let serving = Serving {
            link: self.clone(),
            bytes: request.len(),
        };
        let calls = self.serving.fetch_add(1, Relaxed);
        let bytes = self.serving_bytes.fetch_add(request.len(), Relaxed);
        if calls >= MAX_CALLS_SERVED || bytes + request.len() > MAX_BYTES_SERVED {
            return answer(self, BUSY, &[]);
        }
        let deadline = Duration::from_millis(u64::from(head.deadline_ms));
        let mut end = self.end.subscribe();
        tokio::spawn(async move {
            let link = &serving.link;
            let served = timeout(deadline, handler.serve(&link.node, request));
            tokio::select! {
                biased;
                _ = end.wait_for(Option::is_some) => {}
                served = served => match served {
                    Ok(Ok(body)) if body.len() > MAX_CALL_BYTES => answer(link, TOO_LONG, &[]),
                    Ok(Ok(body)) => answer(link, ANSWER, &body),
                    Ok(Err(why)) => {
                        let text = why.as_bytes();
                        answer(link, REFUSED, &text[..text.len().min(1024)]);
                    }
                    // The caller has given up at the same time.
                    Err(_) => {}
                },
            }
        });
    }
}

fn micros(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX)
}

/// Greets, and reads the greeting of the other side.
pub(crate) async fn greet<IO>(io: &mut IO, own: &Hello, frames: &mut Frames) -> Result<Hello, Ended>
where
    IO: AsyncRead + AsyncWrite + Unpin,
{
    let mut out = Vec::new();
    super::frame::write_fragment(Channel::Control, true, &own.to_message(), &mut out);
    io.write_all(&out).await?;
    io.flush().await?;
    let mut bytes = [0; 4096];
    loop {
        if let Some((channel, message)) = frames.message()? {
            let hello = (channel == Channel::Control).then(|| Hello::read(&message));
            return hello.flatten().ok_or(Ended::Message(channel));
        }
        match io.read(&mut bytes).await? {
            0 => return Err(Ended::Closed),
            n => frames.feed(&bytes[..n]),
        }
    }
}
