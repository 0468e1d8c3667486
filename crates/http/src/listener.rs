//! Sockets, threads, connections, and their end.
use crate::{
    body::Body,
    head,
    panics::{self, Panicked},
    response::{self, Response},
    serves::{Connection, ListenerKind, Serves},
    tls::{PresentedChain, Tls},
};
use http::{HeaderValue, StatusCode, header};
use hyper::body::{Body as _, Incoming};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use std::{
    convert::Infallible,
    io,
    net::{SocketAddr, TcpListener},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread::JoinHandle,
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::{mpsc, watch},
    time::timeout,
};

/// Connections that may wait in a socket's queue.
const BACKLOG: i32 = 1024;
/// How long a peer may leave what was sent unread or unacknowledged before its connection is ended.
#[cfg(target_os = "linux")]
const UNREAD: Duration = Duration::from_secs(30);

/// A bound address: one socket for each worker.
pub struct Listening {
    sockets: Vec<TcpListener>,
    address: SocketAddr,
}

impl Listening {
    /// Binds once per worker with `SO_REUSEPORT`: the kernel spreads connections, and no worker
    /// wakes for another's. Port 0 takes a free port; all workers share it.
    pub fn bind(address: SocketAddr, workers: usize) -> io::Result<Listening> {
        let first = bind_one(address)?;
        let address = first.local_addr()?;
        let mut sockets = vec![first];
        for _ in 1..workers.max(1) {
            sockets.push(bind_one(address)?);
        }
        Ok(Listening { sockets, address })
    }

    /// A socket that somebody else bound (systemd socket activation): the workers share its queue.
    pub fn from_socket(socket: TcpListener, workers: usize) -> io::Result<Listening> {
        socket.set_nonblocking(true)?;
        let address = socket.local_addr()?;
        let mut sockets = Vec::with_capacity(workers.max(1));
        for _ in 1..workers.max(1) {
            sockets.push(socket.try_clone()?);
        }
        sockets.push(socket);
        Ok(Listening { sockets, address })
    }

    /// The same sockets once more: who accepts there has a connection, either or the other.
    ///
    /// # Errors
    /// The process has no file descriptor left.
    pub fn try_clone(&self) -> io::Result<Listening> {
        let sockets = self.sockets.iter().map(TcpListener::try_clone);
        Ok(Listening {
            sockets: sockets.collect::<io::Result<_>>()?,
            address: self.address,
        })
    }

    /// Where it listens, with the port that was chosen.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

fn bind_one(address: SocketAddr) -> io::Result<TcpListener> {
    use socket2::{Domain, Protocol, Socket, Type};
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    socket.set_reuse_address(true)?;
    #[cfg(unix)]
    socket.set_reuse_port(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    // Accepted sockets inherit it: a peer that takes nothing for this long is gone, and so is what
    // waits for it.
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(UNREAD))?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// A bound address with what it is for.
pub struct Listener {
    /// Its sockets.
    pub listening: Listening,
    /// Its TLS; `None`: plain HTTP/1.1, for use behind a reverse proxy.
    pub tls: Option<Tls>,
    /// What it is for.
    pub listener_kind: ListenerKind,
}

/// A running server. Dropping it is `stop` without waiting.
pub struct Running {
    stop: watch::Sender<bool>,
    threads: Vec<JoinHandle<()>>,
}

impl Running {
    /// Accepts no more, lets what is under way finish. Returns at once; `join` waits.
    pub fn stop(&self) {
        // Nobody listening any more means that all workers have finished.
        let _ = self.stop.send(true);
    }

    /// Blocks until every worker has finished: bounded by the grace time once `stop` was called.
    pub fn join(self) {
        for thread in self.threads {
            // A worker that panicked has nothing more to finish.
            let _ = thread.join();
        }
    }
}

/// Starts one thread with one runtime per socket of the listeners, and returns.
pub fn start<S: Serves>(service: Arc<S>, listeners: Vec<Listener>) -> io::Result<Running> {
    let workers = listeners
        .iter()
        .map(|l| l.listening.sockets.len())
        .max()
        .unwrap_or(0);
    let mut sockets: Vec<Vec<Socket>> = (0..workers).map(|_| Vec::new()).collect();
    for listener in listeners {
        for (worker, socket) in listener.listening.sockets.into_iter().enumerate() {
            sockets[worker].push(Socket {
                listener: socket,
                tls: listener.tls.clone(),
                listener_kind: listener.listener_kind,
            });
        }
    }
    let (stop, stopped) = watch::channel(false);
    let mut threads = Vec::with_capacity(workers);
    for (number, sockets) in sockets.into_iter().enumerate() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let service = service.clone();
        let stopped = stopped.clone();
        threads.push(
            std::thread::Builder::new()
                .name(format!("http-{number}"))
                .spawn(move || runtime.block_on(worker(service, sockets, stopped)))?,
        );
    }
    Ok(Running { stop, threads })
}

struct Socket {
    listener: TcpListener,
    tls: Option<Tls>,
    listener_kind: ListenerKind,
}

async fn worker<S: Serves>(service: Arc<S>, sockets: Vec<Socket>, stopped: watch::Receiver<bool>) {
    // Every connection holds a clone of `alive`; when the last is gone, the channel ends.
    let (alive, mut ended) = mpsc::channel::<()>(1);
    let mut accepting = Vec::new();
    for socket in sockets {
        accepting.push(tokio::spawn(accept(
            service.clone(),
            socket,
            stopped.clone(),
            alive.clone(),
        )));
    }
    drop(alive);
    let clock = tokio::spawn(tick(service.limits().head / 2));
    for task in accepting {
        // An accept loop only ends when it was stopped.
        let _ = task.await;
    }
    let _ = timeout(service.limits().grace, ended.recv()).await;
    clock.abort();
}

/// Keeps a timer that is due before those that requests set. One that is due before all others
/// wakes the runtime through the kernel, though it is this thread that sets it: two calls of the
/// system for each request that has waited for the store.
async fn tick(every: Duration) {
    loop {
        tokio::time::sleep(every.max(Duration::from_secs(1))).await;
    }
}

async fn accept<S: Serves>(
    service: Arc<S>,
    socket: Socket,
    mut stopped: watch::Receiver<bool>,
    alive: mpsc::Sender<()>,
) {
    let listener = match tokio::net::TcpListener::from_std(socket.listener) {
        Ok(listener) => listener,
        Err(error) => {
            tracing::error!(%error, "failed to use a listening socket");
            return;
        }
    };
    let connections = service.connections();
    let mut queued = None;
    loop {
        let accepted = match queued {
            None => tokio::select! {
                accepted = listener.accept() => accepted,
                _ = stopped.wait_for(|stop| *stop) => {
                    queued = Some(BACKLOG);
                    continue;
                }
            },
            // A connection that was in the queue at `stop` is still accepted.
            Some(1..) => match timeout(Duration::from_millis(1), listener.accept()).await {
                Ok(accepted) => {
                    queued = queued.map(|n| n - 1);
                    accepted
                }
                Err(_) => return,
            },
            Some(_) => return,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of descriptors, or the peer is gone already: neither may end the loop, nor
                // spin it.
                tracing::warn!(%error, "failed to accept a connection");
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            }
        };
        if connections.open.load(Relaxed) >= service.limits().connections {
            connections.refused.fetch_add(1, Relaxed);
            continue;
        }
        let peer = peer.ip().to_canonical();
        let place = match service.bound_of(peer) {
            None => None,
            Some(addresses) => {
                let place = addresses.enter(peer);
                if place.is_none() {
                    connections.refused.fetch_add(1, Relaxed);
                    continue;
                }
                place
            }
        };
        connections.open.fetch_add(1, Relaxed);
        let connection = Connection {
            peer,
            listener_kind: socket.listener_kind,
            is_tls: socket.tls.is_some(),
            certificate: None,
        };
        let (service, tls) = (service.clone(), socket.tls.clone());
        let (stopped, alive) = (stopped.clone(), alive.clone());
        tokio::spawn(async move {
            let _ = stream.set_nodelay(true);
            converse(&service, stream, tls, connection, stopped).await;
            service.connections().open.fetch_sub(1, Relaxed);
            drop(place);
            drop(alive);
        });
    }
}

async fn converse<S: Serves>(
    service: &Arc<S>,
    stream: tokio::net::TcpStream,
    tls: Option<Tls>,
    connection: Connection,
    stopped: watch::Receiver<bool>,
) {
    let Some(tls) = tls else {
        let peer = Peer {
            connection,
            chain: None,
        };
        return serve(service, stream, false, peer, stopped).await;
    };
    let begun = timeout(service.limits().handshake, is_plain_http(&stream)).await;
    if begun != Ok(false) {
        service
            .connections()
            .handshakes_failed
            .fetch_add(1, Relaxed);
        if begun == Ok(true) {
            say_https(stream).await;
        }
        return;
    }
    let acceptor = tokio_rustls::TlsAcceptor::from(tls.config().clone());
    let stream = match timeout(service.limits().handshake, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(_)) | Err(_) => {
            service
                .connections()
                .handshakes_failed
                .fetch_add(1, Relaxed);
            return;
        }
    };
    let (_, session) = stream.get_ref();
    let h2 = session.alpn_protocol() == Some(b"h2");
    let chain = session
        .peer_certificates()
        .and_then(|chain| PresentedChain::new(&tls, chain, &connection, service.now()));
    serve(service, stream, h2, Peer { connection, chain }, stopped).await;
}

/// Who is at the other end.
struct Peer {
    connection: Connection,
    /// What it presented in the handshake.
    chain: Option<PresentedChain>,
}

/// Whether the connection begins as HTTP without TLS does: with a method, which is an upper-case
/// letter, where TLS has the number of its handshake record (22, RFC 8446 section 5.1). A
/// connection that ends before its first byte is neither.
async fn is_plain_http(stream: &tokio::net::TcpStream) -> bool {
    let mut first = [0];
    matches!(stream.peek(&mut first).await, Ok(1)) && first[0].is_ascii_uppercase()
}

/// What a browser or a client shows that came with `http://` to a port that speaks TLS.
async fn say_https(mut stream: tokio::net::TcpStream) {
    const TEXT: &str = "this port speaks https: begin the address with https://\n";
    let answer = format!(
        "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\n\
         content-length: {}\r\ncache-control: no-store\r\nconnection: close\r\n\r\n{TEXT}",
        TEXT.len()
    );
    let said = async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await?;
        // Closing over unread bytes would reset the connection under the answer.
        let mut rest = [0; 4096];
        for _ in 0..16 {
            if stream.read(&mut rest).await? == 0 {
                break;
            }
        }
        io::Result::Ok(())
    };
    // A peer that is gone or slow is not waited for.
    let _ = timeout(Duration::from_secs(1), said).await;
}

/// How long a connection that has not asked anything yet is kept after `stop`: one that was
/// accepted a moment before does not know that the end was called.
const FIRST_REQUEST: Duration = Duration::from_millis(500);

/// How many requests of a connection are under way, and how many there ever were.
#[derive(Default)]
struct Activity {
    under_way: AtomicU64,
    begun: AtomicU64,
}

impl Activity {
    fn begin(self: Arc<Self>) -> UnderWay {
        self.under_way.fetch_add(1, Relaxed);
        self.begun.fetch_add(1, Relaxed);
        UnderWay(self)
    }

    /// Returns when the first request has begun, or after [`FIRST_REQUEST`].
    async fn first(&self) {
        let begun = async {
            while self.begun.load(Relaxed) == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let _ = timeout(FIRST_REQUEST, begun).await;
    }

    /// Returns when no request was under way, and none began, for this long.
    async fn idle(&self, time: Duration) {
        loop {
            let before = self.begun.load(Relaxed);
            tokio::time::sleep(time).await;
            if self.under_way.load(Relaxed) == 0 && self.begun.load(Relaxed) == before {
                return;
            }
        }
    }
}

struct UnderWay(Arc<Activity>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Relaxed);
    }
}

/// One request, within the limits that hyper does not know.
async fn answer<S: Serves>(
    service: &S,
    connection: &Connection,
    request: http::Request<Incoming>,
) -> Response {
    let limits = service.limits();
    if let Some(refused) = head::refusal(&request) {
        return refused;
    }
    // hyper counts the fields of HTTP/1.1 only; those of HTTP/2 are known when they are decoded.
    if request.headers().len() > limits.header_fields {
        return response::text(
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            "the request has too many header fields\n",
        );
    }
    let method = request.method().clone();
    // A client that waits for "100 Continue" has sent nothing, and sends nothing once it sees a
    // refusal (RFC 9110 section 10.1.1): asking for the body only to drop it would make it come.
    let is_watched =
        !request.body().is_end_stream() && !request.headers().contains_key(header::EXPECT);
    let mut unread = None;
    let request = request.map(|incoming| match is_watched {
        false => Body::from(incoming),
        true => {
            let (body, rest) = Body::watched(incoming);
            unread = Some(rest);
            body
        }
    });
    // Pinned where it is made: a handler is large, and moving it costs more than polling it.
    let handler = pin!(service.respond(connection, request));
    let response = match panics::caught(handler).await {
        Ok(response) => response,
        Err(Panicked) => panicked(service, connection, &method),
    };
    if let Some(unread) = unread {
        unread.drain(limits.body_bytes).await;
    }
    response
}

/// The answer where the handler panicked.
fn panicked<S: Serves>(service: &S, connection: &Connection, method: &http::Method) -> Response {
    service.connections().panicked.fetch_add(1, Relaxed);
    tracing::error!(%method, peer = %connection.peer, "caught a panic in a handler");
    let mut response = response::text(StatusCode::INTERNAL_SERVER_ERROR, "internal server error\n");
    let no_store = HeaderValue::from_static("no-store");
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, no_store);
    response
}

async fn serve<S: Serves, T>(
    service: &Arc<S>,
    stream: T,
    h2: bool,
    peer: Peer,
    mut stopped: watch::Receiver<bool>,
) where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let limits = *service.limits();
    let shared = Arc::new((service.clone(), peer, Arc::new(Activity::default())));
    let handled = shared.clone();
    let handler = hyper::service::service_fn(move |request: http::Request<_>| {
        let shared = handled.clone();
        async move {
            let (service, peer, activity) = &*shared;
            let under_way = activity.clone().begin();
            let judged = peer.chain.as_ref().map(|c| c.connection(service.now()));
            let connection = judged.as_deref().unwrap_or(&peer.connection);
            let mut response = answer(&**service, connection, request).await;
            response.body_mut().hold(under_way);
            Ok::<_, Infallible>(response)
        }
    });
    let io = TokioIo::new(stream);
    // A connection that ends with an error (reset, time-out, broken framing) has been answered by
    // hyper as far as possible.
    if h2 {
        let mut builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .max_concurrent_streams(limits.streams)
            .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX))
            .keep_alive_interval(limits.head)
            .keep_alive_timeout(Duration::from_secs(10));
        let mut conversation = pin!(builder.serve_connection(io, handler));
        tokio::select! {
            _ = conversation.as_mut() => return,
            () = ended(&mut stopped, &shared.2) => {}
            // HTTP/1.1 counts idle time as part of the head's; here nothing else does.
            () = shared.2.idle(limits.head) => {}
        }
        conversation.as_mut().graceful_shutdown();
        let _ = timeout(limits.grace, conversation).await;
    } else {
        let mut builder = hyper::server::conn::http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(limits.head)
            .max_buf_size(limits.head_bytes.max(8192))
            .max_header_size(limits.head_bytes)
            .max_headers(limits.header_fields)
            // Head and body are copied into one buffer: one TLS record, one write.
            .writev(false);
        let mut conversation = pin!(builder.serve_connection(io, handler));
        tokio::select! {
            _ = conversation.as_mut() => return,
            () = ended(&mut stopped, &shared.2) => conversation.as_mut().graceful_shutdown(),
        }
        let _ = conversation.await;
    }
}

/// Returns when `stop` was called and the connection's first request was given its time.
async fn ended(stopped: &mut watch::Receiver<bool>, activity: &Activity) {
    // An error means that the sender is gone: that is an end, too.
    let _ = stopped.wait_for(|stop| *stop).await;
    activity.first().await;
}
