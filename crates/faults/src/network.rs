//! Where the nodes of a cluster are, and how what one sends to another is cut off.
//!
//! Each node has a network namespace of its own, joined to the others by a bridge, where the system
//! allows that (this program then runs in namespaces of its own, and everything in them ends with
//! it); a direction is cut by a route into nothing. Elsewhere all are on loopback, and find each
//! other through relays of this process, which hold back what is cut.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener},
    os::unix::process::CommandExt,
    process::{Command, ExitStatus, Stdio},
};

use crate::relay::Relays;

/// Set for the process that runs within namespaces.
const WITHIN: &str = "SIGNET_FAULTS_WITHIN";
/// Most nodes of a cluster.
pub const MAX_NODES: usize = 8;

/// Whether namespaces can be made, tried with all that is needed of them.
const PROBE: &str = "mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns && ip netns add probe \
    && ip link add bridge0 type bridge && ip link add v0 type veth peer name eth0 netns probe \
    && ip link set v0 master bridge0 && ip -n probe route add blackhole 192.0.2.1/32";

fn unshared() -> Command {
    let mut command = Command::new("unshare");
    command.args(["--net", "--mount", "--propagation", "private", "--pid"]);
    command.args(["--fork", "--kill-child", "--mount-proc"]);
    command
}

/// Continues as another process within namespaces of its own, where that is possible.
pub fn enter_namespaces() {
    if std::env::var_os(WITHIN).is_some() {
        return;
    }
    let mut probe = unshared();
    probe.args(["sh", "-c", PROBE]);
    probe
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if !probe.status().is_ok_and(|status| status.success()) {
        return;
    }
    let Ok(own) = std::env::current_exe() else {
        return;
    };
    let mut again = unshared();
    again
        .arg(own)
        .args(std::env::args_os().skip(1))
        .env(WITHIN, "1");
    // Only comes back where it failed: then there are none.
    let _failed = again.exec();
}

/// The nodes' network.
pub enum Network {
    /// A namespace for each node.
    Namespaces,
    /// Loopback, with relays between the nodes.
    Loopback(Relays),
}

fn run(arguments: &str) -> Result<(), String> {
    let words: Vec<&str> = arguments.split(' ').collect();
    let done = Command::new(words[0]).args(&words[1..]).output();
    let done = done.map_err(|e| format!("{arguments}: {e}"))?;
    match done.status {
        status if ExitStatus::success(&status) => Ok(()),
        _ => Err(format!(
            "{arguments}: {}",
            String::from_utf8_lossy(&done.stderr)
        )),
    }
}

impl Network {
    /// What this process can make. Within a runtime.
    pub fn new() -> Result<Network, String> {
        if std::env::var_os(WITHIN).is_none() {
            return Ok(Network::Loopback(Relays::default()));
        }
        run("ip link set lo up")?;
        run("mkdir -p /run/netns")?;
        run("mount -t tmpfs tmpfs /run/netns")?;
        run("ip link add bridge0 type bridge")?;
        run("ip addr add 10.77.0.254/24 dev bridge0")?;
        run("ip link set bridge0 up")?;
        for node in 0..MAX_NODES {
            run(&format!("ip netns add n{node}"))?;
            run(&format!(
                "ip link add v{node} type veth peer name eth0 netns n{node}"
            ))?;
            run(&format!("ip link set v{node} master bridge0"))?;
            run(&format!("ip link set v{node} up"))?;
            let address = Network::inside(node);
            run(&format!("ip -n n{node} addr add {address}/24 dev eth0"))?;
            run(&format!("ip -n n{node} link set eth0 up"))?;
            run(&format!("ip -n n{node} link set lo up"))?;
        }
        Ok(Network::Namespaces)
    }

    /// As a report says it.
    pub fn name(&self) -> &'static str {
        match self {
            Network::Namespaces => {
                "each node in a network namespace of its own, joined by a bridge"
            }
            Network::Loopback(_) => "loopback, with relays between the nodes",
        }
    }

    /// Where a node is within its namespace.
    pub fn address(&self, node: usize) -> IpAddr {
        match self {
            Network::Namespaces => Network::inside(node),
            Network::Loopback(_) => self.host(),
        }
    }

    fn inside(node: usize) -> IpAddr {
        let last = u8::try_from(node + 1).unwrap_or(u8::MAX);
        IpAddr::V4(Ipv4Addr::new(10, 77, 0, last))
    }

    /// Where this process listens for nodes: a database, say.
    pub fn host(&self) -> IpAddr {
        match self {
            Network::Namespaces => IpAddr::V4(Ipv4Addr::new(10, 77, 0, 254)),
            Network::Loopback(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
        }
    }

    /// Gives a node an address for its clients and one for the other nodes: where it listens, and
    /// where the others find it.
    pub fn place(&self, node: usize) -> Result<Place, String> {
        match self {
            Network::Namespaces => {
                let address = |port| SocketAddr::new(Network::inside(node), port);
                Ok(Place {
                    public: address(8443),
                    cluster: address(7443),
                    advertised: address(7443),
                })
            }
            Network::Loopback(relays) => {
                let free = || -> std::io::Result<SocketAddr> {
                    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()
                };
                let found = || -> std::io::Result<Place> {
                    let cluster = free()?;
                    Ok(Place {
                        public: free()?,
                        cluster,
                        advertised: relays.to(node, cluster)?,
                    })
                };
                found().map_err(|e| format!("no free port: {e}"))
            }
        }
    }

    /// Starts a program as this node.
    pub fn command(&self, node: usize, program: &std::path::Path) -> Command {
        match self {
            Network::Namespaces => {
                let mut command = Command::new("ip");
                command.args(["netns", "exec", &format!("n{node}")]);
                command.arg(program);
                command
            }
            Network::Loopback(_) => Command::new(program),
        }
    }

    /// A node's process has this id now.
    pub fn runs(&self, node: usize, process: u32) {
        match self {
            Network::Namespaces => {}
            Network::Loopback(relays) => relays.runs(node, process),
        }
    }

    /// What one node sends to another is lost from now on, until [`Network::heal`].
    pub fn cut(&self, from: usize, to: usize) -> Result<(), String> {
        match self {
            Network::Namespaces => {
                let to = Network::inside(to);
                run(&format!("ip -n n{from} route replace blackhole {to}/32"))
            }
            Network::Loopback(relays) => {
                relays.cut(from, to);
                Ok(())
            }
        }
    }

    /// Nothing is cut off any more.
    pub fn heal(&self) -> Result<(), String> {
        match self {
            Network::Namespaces => {
                for node in 0..MAX_NODES {
                    run(&format!("ip -n n{node} route flush type blackhole"))?;
                }
                Ok(())
            }
            Network::Loopback(relays) => {
                relays.heal();
                Ok(())
            }
        }
    }
}

/// Where a node is.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// For its clients.
    pub public: SocketAddr,
    /// Where it listens for other nodes.
    pub cluster: SocketAddr,
    /// Where other nodes find it.
    pub advertised: SocketAddr,
}
