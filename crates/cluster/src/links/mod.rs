//! Connections between nodes: one for each pair, TLS 1.3, kept for as long as both are members.
//!
//! All of it runs on one thread with a runtime of its own; whoever sends or calls may be on any
//! other. Who exchanges many small messages may run there, too ([`Links::run`]): waking another
//! thread costs more than most of them. Both nodes of a pair connect; where two connections meet,
//! the one that the node with the smaller name made stays, unless the other one is of a later start
//! of that node. A connection that is lost is made again, with a backoff that is drawn by lot;
//! addresses are tried in turn, and names are resolved again each time, so that one name may stand
//! for several nodes: the key decides which of them is the right one.
//!
//! Messages are cut into fragments and sent by urgency ([`frame`]), from queues that are bounded:
//! a node that takes less than it is sent has its frames refused at the sender, and after a while
//! of silence its connection ended.
//!
//! Who has no member's key gets an alert of TLS and nothing else. A member that breaks the rules of
//! the frames is disconnected, and the reason logged.
mod dial;
pub mod frame;
mod handshakes;
mod link;
mod metrics;
mod queue;
mod resolve;

pub use handshakes::{MAX_HANDSHAKES, MAX_HANDSHAKES_OF_ADDRESS};
pub use link::{MAX_BYTES_SERVED, MAX_CALLS_SERVED};
pub use metrics::{Connection, LinkState};
pub use resolve::Resolver;

use crate::{
    identity::Identity,
    member::{Living, Members},
    tls,
    transport::{CallError, Caller, Hear, NotSent, Services, Transport},
};
use frame::{Channel, Frames};
use handshakes::Handshakes;
use link::{Around, Ended, Hello, Link, greet};
use rustls::ServerConfig;
use signet_crypto::{clock::Clock, random};
use signet_merge::tell::BoxFuture;
use signet_store::NodeId;
use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    net::{IpAddr, SocketAddr, TcpListener},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock},
    thread::JoinHandle,
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
    sync::watch,
    time::timeout,
};
use tokio_rustls::LazyConfigAcceptor;

/// Longest message of a newcomer, in bytes.
pub const MAX_JOIN_BYTES: usize = 32 * 1024;

/// Data that the kernel holds and has not sent: what is urgent does not stand behind more.
#[cfg(target_os = "linux")]
const UNSENT: u32 = 32 * 1024;

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 256;

/// Who connects to whom.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Topology {
    /// Each to each.
    #[default]
    Mesh,
    /// Hubs to each other and to everybody, the others to hubs only. Without any hub: as
    /// [`Topology::Mesh`].
    Hubs,
}

/// How long things may take.
#[derive(Clone, Debug)]
pub struct LinkOptions {
    /// Who connects to whom.
    pub topology: Topology,
    /// Where a member may be found that is at none of its own addresses, `host:port`: the name of a
    /// headless service, say, behind which all of them are. The keys decide who is who.
    pub peers: Vec<String>,
    /// What names stand for.
    pub resolver: Resolver,
    /// From one heartbeat to the next.
    pub heartbeat: Duration,
    /// A connection over which nothing was heard for so long ends.
    pub silence: Duration,
    /// From the first byte to the end of the greeting.
    pub handshake: Duration,
    /// Before the second attempt to connect; each further one waits up to twice as long, and by lot
    /// not less than half.
    pub backoff: Duration,
    /// No attempt waits longer.
    pub backoff_max: Duration,
}

impl Default for LinkOptions {
    fn default() -> LinkOptions {
        LinkOptions {
            topology: Topology::Mesh,
            peers: Vec::new(),
            resolver: Resolver::default(),
            heartbeat: Duration::from_secs(1),
            silence: Duration::from_secs(3),
            handshake: Duration::from_secs(5),
            backoff: Duration::from_millis(50),
            backoff_max: Duration::from_secs(3),
        }
    }
}

/// Who lets newcomers in; their connection speaks another protocol than members do.
pub trait Door: Send + Sync + 'static {
    /// Whether there is an invitation of this id. Asked before the handshake goes on.
    fn expects(&self, invitation: &str) -> BoxFuture<'static, bool>;

    /// The answer to a newcomer who has proven to hold the key of this certificate (SHA-256 of its
    /// SubjectPublicKeyInfo), and nothing else.
    fn welcome(
        &self,
        invitation: &str,
        spki_sha256: [u8; 32],
        request: Vec<u8>,
    ) -> BoxFuture<'static, Vec<u8>>;
}

/// What the connections of a node are made of.
pub struct Parts {
    /// Its name.
    pub node: NodeId,
    /// Its keys.
    pub identity: Arc<Identity>,
    /// Who may connect.
    pub members: Arc<Members>,
    /// What it answers.
    pub services: Arc<Services>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// How long things may take.
    pub options: LinkOptions,
}

/// Who hears what comes.
pub struct Ears {
    /// Frames of [`Transport`].
    pub gossip: Arc<dyn Hear>,
    /// Frames of [`Links::membership`].
    pub membership: Option<Arc<dyn Hear>>,
    /// Newcomers; `None`: nobody is let in.
    pub door: Option<Arc<dyn Door>>,
}

/// A socket for the cluster's listener, with `SO_REUSEADDR`. Port 0 takes a free one.
///
/// # Errors
/// If the address cannot be bound.
pub fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    use socket2::{Domain, Protocol, Socket, Type};
    let domain = Domain::for_address(address);
    let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Small messages leave at once, and no more than a little waits in the kernel.
fn tune(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    #[cfg(target_os = "linux")]
    socket2::SockRef::from(stream).set_tcp_notsent_lowat(UNSENT)?;
    Ok(())
}

/// The connections have not begun, or are stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the connections to other nodes do not run")]
pub struct NotRunning;

/// The connections of a node. Dropping it ends them.
pub struct Links {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Of that thread, from the start on.
    runtime: OnceLock<tokio::runtime::Handle>,
}

struct Shared {
    node: NodeId,
    boot: u64,
    identity: Arc<Identity>,
    members: Arc<Members>,
    services: Arc<Services>,
    clock: Arc<dyn Clock>,
    options: LinkOptions,
    /// Connections that stand. Only the links' own thread changes it.
    up: RwLock<BTreeMap<NodeId, Arc<Link>>>,
    /// Counts changes of `up`.
    changed: watch::Sender<u64>,
    /// Also connected to, whatever the topology.
    wanted: watch::Sender<BTreeSet<NodeId>>,
    stop: watch::Sender<bool>,
    handshakes: Mutex<Handshakes>,
}

impl Links {
    /// Nothing is connected before [`start`](Self::start).
    pub fn new(parts: Parts) -> Links {
        Links {
            shared: Arc::new(Shared {
                node: parts.node,
                boot: u64::from_be_bytes(random::bytes()),
                identity: parts.identity,
                members: parts.members,
                services: parts.services,
                clock: parts.clock,
                options: parts.options,
                up: RwLock::default(),
                changed: watch::Sender::new(0),
                wanted: watch::Sender::default(),
                stop: watch::Sender::new(false),
                handshakes: Mutex::default(),
            }),
            thread: Mutex::new(None),
            runtime: OnceLock::new(),
        }
    }

    /// Accepts and connects from now on. `listener` is bound already ([`bind`]).
    ///
    /// # Errors
    /// If the socket or a thread cannot be had, or TLS refuses the node's certificate.
    pub fn start(&self, listener: TcpListener, ears: Ears) -> io::Result<()> {
        let shared = self.shared.clone();
        let around = Arc::new(Around {
            services: shared.services.clone(),
            gossip: ears.gossip,
            membership: ears.membership,
            clock: shared.clock.clone(),
            heartbeat: shared.options.heartbeat,
            silence: shared.options.silence,
        });
        let member = tls::Peer::Member(shared.members.clone());
        let config = tls::server(shared.identity.tls(), member, tls::MEMBER_ALPN);
        let config = config.map_err(io::Error::other)?;
        listener.set_nonblocking(true)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let handle = runtime.handle().clone();
        let listener = {
            let _inside = runtime.enter();
            tokio::net::TcpListener::from_std(listener)?
        };
        let thread = std::thread::Builder::new()
            .name("cluster-links".to_owned())
            .spawn(move || {
                let mut stop = shared.stop.subscribe();
                let accept = accept(shared.clone(), around.clone(), listener, config, ears.door);
                let dial = dial::dial(shared.clone(), around.clone());
                runtime.block_on(async {
                    tokio::select! {
                        // The sender lives in `shared`.
                        _ = stop.wait_for(|stop| *stop) => {}
                        () = accept => {}
                        () = dial => {}
                    }
                });
                // Connections end as their tasks are dropped. A name that is being resolved is not
                // waited for.
                runtime.shutdown_timeout(Duration::ZERO);
            })?;
        *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
        // Started once: a second start would not have got the listener's address.
        let _ = self.runtime.set(handle);
        Ok(())
    }

    /// Does `work` on the thread of the connections, and waits for it here. What it spawns runs
    /// there, too, until [`stop`](Self::stop). It must never block: nothing is sent or heard
    /// meanwhile.
    ///
    /// # Errors
    /// [`NotRunning`] before the start and after the stop.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, NotRunning> {
        let runtime = self.runtime.get().ok_or(NotRunning)?;
        runtime.spawn(work).await.map_err(|_| NotRunning)
    }

    /// Ends all connections and waits for the thread. Doing it twice does nothing.
    pub fn stop(&self) {
        self.shared.stop.send_replace(true);
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        // Where a service held the last of these, its own thread drops it: that one ends by itself.
        if let Some(thread) = thread
            && thread.thread().id() != std::thread::current().id()
        {
            // A thread that panicked is over, too.
            let _ = thread.join();
        }
    }

    /// Connects to these members whatever the topology: those, say, that a store's consensus needs.
    pub fn want(&self, nodes: BTreeSet<NodeId>) {
        self.shared.wanted.send_replace(nodes);
    }

    /// All other members, and how the connection to each is.
    pub fn states(&self) -> Vec<LinkState> {
        let names = self.shared.members.names();
        let others = names.into_iter().filter(|node| *node != self.shared.node);
        others
            .map(|node| LinkState {
                connection: self
                    .shared
                    .link(&node)
                    .map(|link| link.counters.connection(link.dialled)),
                node,
            })
            .collect()
    }

    /// Counts connections made and lost: wakes whoever waits for one.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.changed.subscribe()
    }

    /// Sends frames of failure detection, which [`Ears::membership`] hears.
    pub fn membership(&self) -> impl Transport + use<> {
        Lane {
            shared: self.shared.clone(),
            channel: Channel::Membership,
        }
    }
}

impl Drop for Links {
    fn drop(&mut self) {
        self.stop();
    }
}

struct Lane {
    shared: Arc<Shared>,
    channel: Channel,
}

impl Transport for Lane {
    fn send(&self, to: &NodeId, frame: Vec<u8>) -> Result<(), NotSent> {
        self.shared.send(to, self.channel, frame)
    }

    fn connected(&self) -> Vec<NodeId> {
        self.shared.connected()
    }
}

impl Transport for Links {
    fn send(&self, to: &NodeId, frame: Vec<u8>) -> Result<(), NotSent> {
        self.shared.send(to, Channel::Gossip, frame)
    }

    fn connected(&self) -> Vec<NodeId> {
        self.shared.connected()
    }
}

impl Caller for Links {
    fn call(
        &self,
        to: &NodeId,
        service: u8,
        request: Vec<u8>,
        deadline: Duration,
    ) -> BoxFuture<'static, Result<Vec<u8>, CallError>> {
        let link = self.shared.link(to);
        Box::pin(async move {
            match link {
                Some(link) => link.call(service, request, deadline).await,
                None => Err(CallError::NotConnected),
            }
        })
    }
}

impl Shared {
    fn link(&self, node: &NodeId) -> Option<Arc<Link>> {
        let up = self.up.read().unwrap_or_else(PoisonError::into_inner);
        up.get(node).cloned()
    }

    fn connected(&self) -> Vec<NodeId> {
        let up = self.up.read().unwrap_or_else(PoisonError::into_inner);
        up.keys().cloned().collect()
    }

    fn send(&self, to: &NodeId, channel: Channel, frame: Vec<u8>) -> Result<(), NotSent> {
        if frame.len() > channel.most() {
            return Err(NotSent::TooLong);
        }
        let link = self.link(to).ok_or(NotSent::NotConnected)?;
        link.push(channel, frame).then_some(()).ok_or(NotSent::Full)
    }

    /// Whether this node connects to that member of its own accord.
    fn connects_to(&self, other: &Living, members: &[Living]) -> bool {
        let is_hub = |node: &NodeId| {
            members
                .iter()
                .any(|m| m.member.node == *node && m.member.hub)
        };
        match self.options.topology {
            Topology::Mesh => true,
            Topology::Hubs => {
                other.member.hub
                    || is_hub(&self.node)
                    || !members.iter().any(|m| m.member.hub)
                    || self.wanted.borrow().contains(&other.member.node)
            }
        }
    }

    /// Puts a connection in its place; false: the one that stands is to stay.
    fn register(&self, around: &Around, link: &Arc<Link>) -> bool {
        let standing = self.link(&link.node);
        if let Some(standing) = &standing {
            let by_smaller = (self.node < link.node) == link.dialled;
            let stays =
                standing.boot == link.boot && standing.dialled != link.dialled && !by_smaller;
            if stays {
                return false;
            }
            standing.end(Ended::Replaced);
            self.heard_of_end(around, standing);
        }
        let mut up = self.up.write().unwrap_or_else(PoisonError::into_inner);
        up.insert(link.node.clone(), link.clone());
        drop(up);
        tracing::debug!(node = %link.node, dialled = link.dialled, "connected");
        around.gossip.up(&link.node);
        if let Some(membership) = &around.membership {
            membership.up(&link.node);
        }
        self.changed.send_modify(|n| *n += 1);
        true
    }

    fn unregister(&self, around: &Around, link: &Arc<Link>) {
        let mut up = self.up.write().unwrap_or_else(PoisonError::into_inner);
        let stands = up.get(&link.node).is_some_and(|l| Arc::ptr_eq(l, link));
        if stands {
            up.remove(&link.node);
        }
        drop(up);
        if stands {
            self.heard_of_end(around, link);
        }
    }

    fn heard_of_end(&self, around: &Around, link: &Link) {
        around.gossip.down(&link.node);
        if let Some(membership) = &around.membership {
            membership.down(&link.node);
        }
        self.changed.send_modify(|n| *n += 1);
    }

    fn hello(&self) -> Hello {
        Hello {
            node: self.node.as_str().to_owned(),
            boot: self.boot,
        }
    }

    /// Greets, and runs the connection to its end. `spki`: the key that the peer has proven.
    async fn converse<IO>(
        &self,
        around: &Around,
        mut io: IO,
        spki: Option<[u8; 32]>,
        dialled: bool,
    ) -> Result<(), Ended>
    where
        IO: AsyncRead + AsyncWrite + Unpin,
    {
        let mut frames = Frames::new();
        let own = self.hello();
        let greeting = greet(&mut io, &own, &mut frames);
        let hello = match timeout(self.options.handshake, greeting).await {
            Ok(hello) => hello?,
            Err(_) => return Err(Ended::NoGreeting),
        };
        // Looked up only now: a member that was removed during the handshake is none.
        let node = spki.and_then(|spki| self.members.by_spki(&spki));
        let node = node.ok_or(Ended::Removed)?;
        let living = self.members.find(&node).ok_or(Ended::Removed)?;
        if node.as_str() != hello.node || node == self.node {
            return Err(Ended::OtherName(hello.node));
        }
        let now_ms = self.clock.now_ms();
        let link = Arc::new(Link::new(
            node,
            living.fingerprint,
            dialled,
            hello.boot,
            now_ms,
        ));
        if !self.register(around, &link) {
            return Err(Ended::Replaced);
        }
        let standing = Standing {
            shared: self,
            around,
            link: &link,
        };
        let ended = link.run(io, frames, around).await;
        drop(standing);
        match &ended {
            Ended::Frame(_) | Ended::Message(_) => {
                tracing::warn!(node = %link.node, reason = %ended, "disconnected a member");
            }
            Ended::Closed
            | Ended::Io(_)
            | Ended::Silent(_)
            | Ended::Replaced
            | Ended::Stopped
            | Ended::Removed
            | Ended::NoGreeting
            | Ended::NoProtocol
            | Ended::OtherName(_) => {
                tracing::info!(node = %link.node, reason = %ended, "closed a connection");
            }
        }
        Ok(())
    }
}

/// A connection that stands, until this is dropped: its task may be, too.
struct Standing<'a> {
    shared: &'a Shared,
    around: &'a Around,
    link: &'a Arc<Link>,
}

impl Drop for Standing<'_> {
    fn drop(&mut self) {
        self.link.close();
        self.shared.unregister(self.around, self.link);
    }
}

/// Counts a handshake in progress.
struct Handshake {
    shared: Arc<Shared>,
    from: IpAddr,
}

impl Handshake {
    fn begin(shared: &Arc<Shared>, from: IpAddr) -> Option<Handshake> {
        let begun = shared.in_progress().begin(from);
        let shared = shared.clone();
        begun.then_some(Handshake { shared, from })
    }
}

impl Drop for Handshake {
    fn drop(&mut self) {
        self.shared.in_progress().end(self.from);
    }
}

impl Shared {
    fn in_progress(&self) -> MutexGuard<'_, Handshakes> {
        self.handshakes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

async fn accept(
    shared: Arc<Shared>,
    around: Arc<Around>,
    listener: tokio::net::TcpListener,
    config: Arc<ServerConfig>,
    door: Option<Arc<dyn Door>>,
) {
    loop {
        let (stream, from) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, say: trying again at once would spin.
                tracing::warn!(%error, "failed to accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let Some(handshake) = Handshake::begin(&shared, from.ip()) else {
            tracing::debug!(%from, "refused a connection: too many handshakes in progress");
            continue;
        };
        let (shared, around) = (shared.clone(), around.clone());
        let (config, door) = (config.clone(), door.clone());
        tokio::spawn(async move {
            if let Err(error) = arrived(&shared, &around, stream, handshake, config, door).await {
                tracing::debug!(%from, %error, "refused a connection");
            }
        });
    }
}

async fn arrived(
    shared: &Shared,
    around: &Around,
    stream: TcpStream,
    handshake: Handshake,
    config: Arc<ServerConfig>,
    door: Option<Arc<dyn Door>>,
) -> Result<(), Ended> {
    tune(&stream)?;
    let shaking = async {
        let started = LazyConfigAcceptor::new(rustls::server::Acceptor::default(), stream).await?;
        let invitation = match &door {
            Some(door) => expected(&started.client_hello(), door.as_ref()).await,
            None => None,
        };
        let Some(invitation) = invitation else {
            // A peer that speaks neither protocol is refused by this one.
            let tls = started.into_stream(config).await?;
            return Ok((tls, None));
        };
        let alpn = [tls::JOIN_ALPN, invitation.as_bytes()].concat();
        let config = tls::server(shared.identity.tls(), tls::Peer::Anybody, &alpn);
        let config = config.map_err(io::Error::other)?;
        let tls = started.into_stream(config).await?;
        Ok::<_, io::Error>((tls, Some(invitation)))
    };
    let shaken = timeout(shared.options.handshake, shaking).await;
    let (mut tls, invitation) = shaken.map_err(|_| Ended::NoGreeting)??;
    let session = tls.get_ref().1;
    let spki = tls::peer_spki(session.peer_certificates());
    // Who offers no protocol at all is not refused by TLS (RFC 7301 section 3.2).
    if session.alpn_protocol().is_none() {
        return Err(Ended::NoProtocol);
    }
    match (invitation, door, spki) {
        (Some(invitation), Some(door), Some(spki)) => {
            let _counted = handshake;
            // Writing to a store takes longer than a handshake.
            let welcome = async {
                let request = read_message(&mut tls, MAX_JOIN_BYTES).await?;
                let answer = door.welcome(&invitation, spki, request).await;
                write_message(&mut tls, &answer).await?;
                tls.shutdown().await
            };
            let welcomed = timeout(4 * shared.options.handshake, welcome).await;
            Ok(welcomed.map_err(|_| Ended::NoGreeting)??)
        }
        (_, _, spki) => {
            drop(handshake);
            shared.converse(around, tls, spki, false).await
        }
    }
}

/// The invitation that a newcomer names, if there is such a one.
async fn expected(hello: &rustls::server::ClientHello<'_>, door: &dyn Door) -> Option<String> {
    let invitation = hello
        .alpn()?
        .find_map(|name| name.strip_prefix(tls::JOIN_ALPN).map(<[u8]>::to_vec))?;
    let invitation = String::from_utf8(invitation).ok()?;
    door.expects(&invitation).await.then_some(invitation)
}

/// One message of a newcomer's conversation: four bytes of length, and the bytes.
pub(crate) async fn read_message(
    io: &mut (impl AsyncRead + Unpin),
    most: usize,
) -> io::Result<Vec<u8>> {
    let len = io.read_u32().await?;
    let len = usize::try_from(len).ok().filter(|len| *len <= most);
    let len = len.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "too long"))?;
    let mut bytes = vec![0; len];
    io.read_exact(&mut bytes).await?;
    Ok(bytes)
}

/// What [`read_message`] reads.
pub(crate) async fn write_message(
    io: &mut (impl AsyncWrite + Unpin),
    bytes: &[u8],
) -> io::Result<()> {
    let len = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    io.write_u32(len).await?;
    io.write_all(bytes).await?;
    io.flush().await
}
