//! Relays between nodes on loopback: one before each node's cluster listener, which holds back what
//! is cut in one direction or both. Who connects is found out by whose socket it is (/proc), so the
//! nodes need to know nothing of it.

use std::{
    cell::RefCell,
    collections::{HashMap, HashSet},
    net::{Ipv4Addr, SocketAddr},
    rc::Rc,
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
};

/// Between two looks whose socket one is.
const LOOK_EVERY: Duration = Duration::from_millis(5);

type Cuts = HashSet<(usize, usize)>;

/// The relays of a cluster.
#[derive(Clone)]
pub struct Relays {
    cuts: Rc<watch::Sender<Cuts>>,
    processes: Rc<RefCell<HashMap<usize, u32>>>,
}

impl Default for Relays {
    fn default() -> Relays {
        Relays {
            cuts: Rc::new(watch::Sender::new(Cuts::new())),
            processes: Rc::default(),
        }
    }
}

impl Relays {
    /// A relay to a node that listens there; where others find it. Within a `LocalSet`.
    pub fn to(&self, node: usize, listens: SocketAddr) -> std::io::Result<SocketAddr> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let listener = TcpListener::from_std(listener)?;
        let relays = self.clone();
        tokio::task::spawn_local(async move {
            while let Ok((stream, peer)) = listener.accept().await {
                let relays = relays.clone();
                tokio::task::spawn_local(async move {
                    let _ended = relays.carry(stream, peer, address, node, listens).await;
                });
            }
        });
        Ok(address)
    }

    /// A node's process has this id now.
    pub fn runs(&self, node: usize, process: u32) {
        self.processes.borrow_mut().insert(node, process);
    }

    /// Holds back what one sends to another.
    pub fn cut(&self, from: usize, to: usize) {
        self.cuts.send_modify(|cuts| {
            cuts.insert((from, to));
        });
    }

    /// Holds nothing back.
    pub fn heal(&self) {
        self.cuts.send_modify(Cuts::clear);
    }

    async fn carry(
        &self,
        inward: TcpStream,
        peer: SocketAddr,
        address: SocketAddr,
        to: usize,
        listens: SocketAddr,
    ) -> std::io::Result<()> {
        let from = loop {
            let processes: Vec<(usize, u32)> = self
                .processes
                .borrow()
                .iter()
                .map(|(n, p)| (*n, *p))
                .collect();
            if let Some(from) = whose(peer, address, &processes) {
                break from;
            }
            tokio::time::sleep(LOOK_EVERY).await;
            if inward.peer_addr().is_err() {
                return Ok(());
            }
        };
        // A connection needs both directions.
        let mut cuts = self.cuts.subscribe();
        let apart = |cuts: &Cuts| cuts.contains(&(from, to)) || cuts.contains(&(to, from));
        // What it gives back locks the value: nobody could cut or heal meanwhile.
        drop(cuts.wait_for(|cuts| !apart(cuts)).await);
        let outward = TcpStream::connect(listens).await?;
        inward.set_nodelay(true)?;
        outward.set_nodelay(true)?;
        let (in_read, in_write) = inward.into_split();
        let (out_read, out_write) = outward.into_split();
        tokio::try_join!(
            pump(in_read, out_write, (from, to), self.cuts.subscribe()),
            pump(out_read, in_write, (to, from), self.cuts.subscribe()),
        )?;
        Ok(())
    }
}

/// Copies one direction, but not while it is cut; what was read meanwhile is passed on afterwards,
/// as TCP would send it again.
async fn pump(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    direction: (usize, usize),
    mut cuts: watch::Receiver<Cuts>,
) -> std::io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let count = from.read(&mut buffer).await?;
        drop(cuts.wait_for(|cuts| !cuts.contains(&direction)).await);
        if count == 0 {
            // One end is the end of both: nodes close whole connections.
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        to.write_all(&buffer[..count]).await?;
    }
}

/// The node whose process has the socket that is `peer` here and speaks to `address`.
fn whose(peer: SocketAddr, address: SocketAddr, processes: &[(usize, u32)]) -> Option<usize> {
    let table = std::fs::read_to_string("/proc/net/tcp").ok()?;
    let inode = inode_of(&table, peer, address)?;
    let wanted = format!("socket:[{inode}]");
    let has = |process: u32| {
        let files = std::fs::read_dir(format!("/proc/{process}/fd"));
        let mut files = files.into_iter().flatten().flatten();
        files.any(|file| {
            std::fs::read_link(file.path()).is_ok_and(|link| link.as_os_str() == &*wanted)
        })
    };
    let found = processes.iter().find(|(_, process)| has(*process));
    found.map(|(node, _)| *node)
}

/// The inode of the socket from `local` to `remote` in the kernel's table of connections.
fn inode_of(table: &str, local: SocketAddr, remote: SocketAddr) -> Option<&str> {
    let written = |address: SocketAddr| match address {
        // The address in the machine's byte order, the port in hexadecimal.
        SocketAddr::V4(v4) => {
            let ip = u32::from_ne_bytes(v4.ip().octets());
            format!("{ip:08X}:{:04X}", v4.port())
        }
        SocketAddr::V6(_) => String::new(),
    };
    let (local, remote) = (written(local), written(remote));
    table.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let fits = *fields.get(1)? == local && *fields.get(2)? == remote;
        fields.get(9).copied().filter(|_| fits)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn echo() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
        let address = listener.local_addr().expect("bound");
        tokio::task::spawn_local(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::task::spawn_local(async move {
                    let (mut read, mut write) = stream.split();
                    let _ended = tokio::io::copy(&mut read, &mut write).await;
                });
            }
        });
        address
    }

    #[test]
    fn a_direction_that_is_cut_carries_nothing_until_it_is_healed() {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().expect("a runtime");
        tokio::task::LocalSet::new().block_on(&runtime, async {
            let relays = Relays::default();
            // This process is the first node, and the one that listens the second.
            relays.runs(0, std::process::id());
            let address = relays.to(1, echo().await).expect("a relay");
            let mut stream = TcpStream::connect(address).await.expect("connects");
            let mut got = [0; 1];
            let wait = Duration::from_millis(100);
            for (from, to) in [(0, 1), (1, 0)] {
                stream.write_all(b"a").await.expect("sent");
                stream.read_exact(&mut got).await.expect("is carried");
                relays.cut(from, to);
                stream.write_all(b"b").await.expect("sent");
                let held = tokio::time::timeout(wait, stream.read_exact(&mut got)).await;
                assert!(held.is_err(), "{got:?}");
                relays.heal();
                stream.read_exact(&mut got).await.expect("goes on");
                assert_eq!(&got, b"b");
                relays.cut(2, 1);
            }
        });
    }
}
