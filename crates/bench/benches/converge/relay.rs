//! A relay between nodes that holds back everything for a while, each way: a network with delay,
//! where the kernel has none to give.
//!
//! Threads and not tasks: a timer of the runtime is only good to the millisecond.
use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

/// Bytes that are on their way in one direction may be so many pieces; a sender waits beyond.
const ON_THE_WAY: usize = 4096;

/// Takes connections for `to` on a port of its own, until the process ends; that port.
pub(crate) fn start(to: SocketAddr, delay: Duration) -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(near) = stream else { continue };
            // Dropping what came ends it, as a refused connection would.
            let Ok(far) = TcpStream::connect(to) else {
                continue;
            };
            if let Err(error) = join(near, far, delay) {
                eprintln!("a relay: {error}");
            }
        }
    });
    Ok(address)
}

fn join(near: TcpStream, far: TcpStream, delay: Duration) -> std::io::Result<()> {
    for stream in [&near, &far] {
        stream.set_nodelay(true)?;
    }
    carry(near.try_clone()?, far.try_clone()?, delay);
    carry(far, near, delay);
    Ok(())
}

fn carry(mut from: TcpStream, mut to: TcpStream, delay: Duration) {
    let (pieces, arriving) = mpsc::sync_channel::<(Instant, Vec<u8>)>(ON_THE_WAY);
    thread::spawn(move || {
        let mut bytes = [0; 64 * 1024];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            let piece = (Instant::now() + delay, bytes[..count].to_vec());
            if pieces.send(piece).is_err() {
                break;
            }
        }
    });
    thread::spawn(move || {
        for (due, piece) in arriving {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&piece).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
}
