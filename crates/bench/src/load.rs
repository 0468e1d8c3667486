//! A load on kept connections, in a thread that is not the server's: prepared requests, whole
//! answers, and how long each took.
//!
//! Closed: every connection sends its next request when the last was answered; this finds the
//! greatest throughput. Open: requests are due at a fixed rate whether or not the server keeps up,
//! and the time of each counts from when it was due, so that a stall is seen by all that it
//! delayed.

pub mod arrivals;
pub mod flow;
pub mod operation;
pub mod rotate;
pub mod scenario;

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

use rustls::pki_types::ServerName;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
    sync::Semaphore,
    task::LocalSet,
};

use crate::client::Failure;

/// Handshakes that are under way at once while the connections are opened.
const OPENING: usize = 32;

/// Where to, over how many connections, and what to send.
#[derive(Clone)]
pub struct Load {
    /// Port on 127.0.0.1.
    pub port: u16,
    /// TLS, or plain.
    pub tls: Option<Arc<rustls::ClientConfig>>,
    /// Connections, all open before the first request.
    pub connections: usize,
    /// Whole HTTP/1.1 requests, sent in turns.
    pub requests: Arc<Vec<Vec<u8>>>,
    /// The request that is sent first: a later run continues where an earlier one ended.
    pub from: usize,
    /// How long.
    pub time: Duration,
}

/// The outcome.
#[derive(Default)]
pub struct Measured {
    /// Answers by the first digit of their status.
    pub statuses: [u64; 6],
    /// Answers a second.
    pub rate: f64,
    /// Microseconds of each answer whose status was 2xx, ascending.
    pub accepted_us: Vec<u32>,
    /// Where a next run continues.
    pub next: usize,
}

impl Measured {
    /// The time that so many of a thousand accepted requests did not exceed, in microseconds.
    #[must_use]
    pub fn per_mille(&self, per_mille: usize) -> u32 {
        let count = self.accepted_us.len();
        let at = (count * per_mille / 1000).min(count.saturating_sub(1));
        self.accepted_us.get(at).copied().unwrap_or(0)
    }

    /// Puts the figures of threads that ran beside each other together.
    #[must_use]
    pub fn join(all: Vec<Measured>) -> Measured {
        let mut sum = Measured::default();
        for one in all {
            sum.rate += one.rate;
            sum.next = sum.next.max(one.next);
            for (sum, one) in sum.statuses.iter_mut().zip(one.statuses) {
                *sum += one;
            }
            sum.accepted_us.extend(one.accepted_us);
        }
        sum.accepted_us.sort_unstable();
        sum
    }
}

/// When a request is sent.
enum Due {
    /// When the last was answered.
    Free,
    /// At its time: permits are given when one is due, and the n-th is due n times this after the
    /// begin.
    Every(Duration, Arc<Semaphore>),
}

struct Shared {
    load: Load,
    due: Due,
    next: Cell<usize>,
    sent: Cell<u32>,
    begun: Cell<Option<Instant>>,
    measured: RefCell<Measured>,
}

impl Load {
    /// As many requests as the server takes.
    ///
    /// # Errors
    /// A connection that could not be opened or broke, an answer that is not HTTP/1.1 with a
    /// length.
    pub fn closed(&self) -> Result<Measured, Failure> {
        self.run(Due::Free)
    }

    /// `rate` requests a second, whatever the server does.
    ///
    /// # Errors
    /// As [`Load::closed`].
    pub fn open(&self, rate: u32) -> Result<Measured, Failure> {
        let permits = Arc::new(Semaphore::new(0));
        self.run(Due::Every(Duration::from_secs(1) / rate, permits))
    }

    /// The same load from `threads` threads, each with its share of the connections.
    ///
    /// # Errors
    /// As [`Load::closed`].
    pub fn closed_from(&self, threads: usize) -> Result<Measured, Failure> {
        let shares: Vec<_> = (0..threads)
            .map(|thread| {
                let mut share = self.clone();
                share.connections = self.connections / threads;
                share.from = self.from + thread * (self.requests.len() / threads);
                std::thread::spawn(move || share.closed())
            })
            .collect();
        let mut all = Vec::with_capacity(threads);
        for share in shares {
            all.push(share.join().map_err(|_| "a thread of the load ended")??);
        }
        Ok(Measured::join(all))
    }

    fn run(&self, due: Due) -> Result<Measured, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let shared = Rc::new(Shared {
            load: self.clone(),
            due,
            next: Cell::new(self.from),
            sent: Cell::new(0),
            begun: Cell::new(None),
            measured: RefCell::default(),
        });
        let local = LocalSet::new();
        let seconds = local.block_on(&runtime, all(shared.clone()))?;
        let mut measured = shared.measured.take();
        measured.accepted_us.sort_unstable();
        measured.rate = measured.statuses.iter().sum::<u64>() as f64 / seconds;
        measured.next = shared.next.get();
        Ok(measured)
    }
}

/// Opens everything, lets it run, and says how many seconds it ran.
async fn all(shared: Rc<Shared>) -> Result<f64, Failure> {
    let opening = Rc::new(Semaphore::new(OPENING));
    let opened = Rc::new(Semaphore::new(0));
    let start = Rc::new(Semaphore::new(0));
    let count = shared.load.connections;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..count {
        let (shared, opening) = (shared.clone(), opening.clone());
        let (opened, start) = (opened.clone(), start.clone());
        tasks.spawn_local(async move {
            let permit = opening.acquire().await?;
            let stream = TcpStream::connect(("127.0.0.1", shared.load.port)).await?;
            stream.set_nodelay(true)?;
            match &shared.load.tls {
                None => {
                    drop(permit);
                    opened.add_permits(1);
                    start.acquire().await?.forget();
                    connection(stream, &shared).await
                }
                Some(tls) => {
                    let name = ServerName::try_from("localhost")?;
                    let connector = tokio_rustls::TlsConnector::from(tls.clone());
                    let stream = connector.connect(name, stream).await?;
                    drop(permit);
                    opened.add_permits(1);
                    start.acquire().await?.forget();
                    connection(stream, &shared).await
                }
            }
        });
    }
    let ready = opened.acquire_many(u32::try_from(count)?);
    tokio::select! {
        ready = ready => ready?.forget(),
        Some(failed) = tasks.join_next() => failed??,
    }
    let begun = Instant::now();
    shared.begun.set(Some(begun));
    if let Due::Every(step, permits) = &shared.due {
        pace(begun, *step, &shared.load, permits.clone());
    }
    start.add_permits(count);
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    Ok(begun.elapsed().as_secs_f64())
}

/// A thread that lets requests go at their time. The system's sleep is finer than the runtime's
/// timer. At the end every connection gets one more permit, so that it sees that the time is over.
fn pace(begun: Instant, step: Duration, load: &Load, permits: Arc<Semaphore>) {
    let (time, connections) = (load.time, load.connections);
    std::thread::spawn(move || {
        let mut due = step;
        while due < time {
            let elapsed = begun.elapsed();
            if due > elapsed {
                std::thread::sleep(due - elapsed);
            }
            permits.add_permits(1);
            due += step;
        }
        permits.add_permits(connections);
    });
}

async fn connection(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    shared: &Shared,
) -> Result<(), Failure> {
    let begun = shared.begun.get().ok_or("begun before the start")?;
    let end = begun + shared.load.time;
    let mut read = Vec::with_capacity(4096);
    loop {
        let due = match &shared.due {
            Due::Free => Instant::now(),
            Due::Every(step, permits) => {
                permits.acquire().await?.forget();
                let sent = shared.sent.get() + 1;
                shared.sent.set(sent);
                begun + *step * sent
            }
        };
        if due >= end {
            return Ok(());
        }
        let next = shared.next.get();
        shared.next.set(next + 1);
        let requests = &shared.load.requests;
        stream.write_all(&requests[next % requests.len()]).await?;
        stream.flush().await?;
        read.clear();
        let status = answer(&mut stream, &mut read).await?;
        let took = u32::try_from(due.elapsed().as_micros()).unwrap_or(u32::MAX);
        let mut measured = shared.measured.borrow_mut();
        let class = usize::from(status / 100);
        *measured.statuses.get_mut(class).ok_or("no such status")? += 1;
        if class == 2 {
            measured.accepted_us.push(took);
        }
    }
}

/// Reads one answer whole and gives its status.
pub(crate) async fn answer(
    stream: &mut (impl AsyncRead + Unpin),
    read: &mut Vec<u8>,
) -> Result<u16, Failure> {
    let mut whole = usize::MAX;
    let mut status = 0;
    while read.len() < whole {
        if stream.read_buf(read).await? == 0 {
            return Err("the server closed a connection".into());
        }
        if whole == usize::MAX
            && let Some(at) = read.windows(4).position(|four| four == b"\r\n\r\n")
        {
            let head = std::str::from_utf8(&read[..at])?;
            status = head.get(9..12).ok_or("no status")?.parse()?;
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length")
                    .then(|| value.trim().parse::<usize>())
            });
            whole = at + 4 + length.ok_or("an answer without a length")??;
        }
    }
    if read.len() == whole {
        Ok(status)
    } else {
        Err("more than one answer".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    /// Answers `200` to requests that begin with `G`, `401` to others, one connection a thread.
    fn server() -> u16 {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("bound").port();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.expect("accepted");
                std::thread::spawn(move || {
                    let mut buffer = [0; 256];
                    while let Ok(count) = stream.read(&mut buffer) {
                        let status = match buffer[..count].first() {
                            Some(b'G') => "200 OK",
                            Some(_) => "401 Unauthorized",
                            None => return,
                        };
                        let text = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\n\r\nok");
                        stream.write_all(text.as_bytes()).expect("written");
                    }
                });
            }
        });
        port
    }

    fn load() -> Load {
        let requests = [&b"GET / HTTP/1.1\r\n\r\n"[..], b"PUT / HTTP/1.1\r\n\r\n"];
        Load {
            port: server(),
            tls: None,
            connections: 4,
            requests: Arc::new(requests.map(<[u8]>::to_vec).into()),
            from: 0,
            time: Duration::from_millis(200),
        }
    }

    #[test]
    fn a_closed_load_counts_every_answer_by_its_status() {
        let measured = load().closed().expect("a load");
        let [_, _, accepted, _, refused, _] = measured.statuses;
        assert!(
            accepted > 0 && accepted.abs_diff(refused) <= 4,
            "{accepted} {refused}"
        );
        assert_eq!(measured.accepted_us.len() as u64, accepted);
        assert_eq!(measured.next as u64, accepted + refused);
        assert!(measured.per_mille(500) <= measured.per_mille(999));
    }

    #[test]
    fn an_open_load_sends_what_is_due_and_no_more() {
        let measured = load().open(100).expect("a load");
        let answered: u64 = measured.statuses.iter().sum();
        assert_eq!(
            answered, 19,
            "due every 10 ms of 200, the first after one step"
        );
    }

    #[test]
    fn threads_share_the_connections_and_their_figures_are_joined() {
        let measured = load().closed_from(2).expect("a load");
        assert!(measured.accepted_us.is_sorted());
        assert_eq!(measured.accepted_us.len() as u64, measured.statuses[2]);
    }
}
