//! A real Apache Cassandra, from its jars (scripts/setup-cassandra.sh), for the tests of this
//! program.
//!
//! It listens on loopback addresses of its own and ends with the test program, however that ends:
//! a shell holds a pipe to it, and stops the server when the pipe closes.
use scylla::client::{session::Session, session_builder::SessionBuilder};
use signet_cassandra::{Address, CassandraStore, Options};
use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    thread::sleep,
    time::{Duration, Instant},
};

/// Runs what is in `"$@"`, says its process id, and stops it when standard input ends; removes the
/// directory $ROOT then, unless told that only the node ends.
const GUARD: &str = r#""$@" </dev/null >>"$DIRECTORY/log" 2>&1 & server=$!
echo $server
read -r last
kill -KILL $server 2>/dev/null
wait $server
[ "$last" = end ] || rm -rf "$ROOT""#;

/// What the server's own scripts open and export to it on Java 17.
const OPENS: &[&str] = &[
    "java.base/java.io",
    "java.base/java.lang",
    "java.base/java.lang.module",
    "java.base/java.lang.reflect",
    "java.base/java.math",
    "java.base/java.net",
    "java.base/java.nio",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.loader",
    "java.base/jdk.internal.math",
    "java.base/jdk.internal.module",
    "java.base/jdk.internal.ref",
    "java.base/jdk.internal.reflect",
    "java.base/jdk.internal.util.jar",
    "java.base/jdk.internal.vm",
    "java.base/sun.nio.ch",
    "jdk.management/com.sun.management.internal",
];
const EXPORTS: &[&str] = &[
    "java.base/jdk.internal.misc",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.ch",
    "java.management.rmi/com.sun.jmx.remote.internal.rmi",
    "java.rmi/sun.rmi.registry",
    "java.rmi/sun.rmi.server",
    "java.rmi/sun.rmi.transport.tcp",
    "java.sql/java.sql",
    "jdk.unsupported/sun.misc",
];

const LOG: &str = r#"<configuration>
<appender name="out" class="ch.qos.logback.core.ConsoleAppender"><encoder><pattern>%d %-5level %logger{20} %msg%n</pattern></encoder></appender>
<root level="WARN"><appender-ref ref="out"/></root>
</configuration>
"#;

/// How long a node may take to start: the machine may be busy.
const START: Duration = Duration::from_secs(120);

struct Running {
    guard: Child,
    _said: BufReader<ChildStdout>,
    server: u32,
}

/// One node.
struct Node {
    ip: String,
    directory: PathBuf,
    running: Mutex<Option<Running>>,
}

/// A cluster of one node or more.
pub(crate) struct Server {
    directory: PathBuf,
    nodes: Vec<Node>,
    port: u16,
    keyspaces: AtomicU32,
}

fn jars() -> PathBuf {
    let jars = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cassandra/.jars");
    assert!(
        jars.join(".stamp").exists(),
        "these tests need Apache Cassandra: scripts/setup-cassandra.sh downloads it"
    );
    jars
}

fn free_port(ip: &str) -> u16 {
    let socket = TcpListener::bind((ip, 0)).expect("binds");
    socket.local_addr().expect("an address").port()
}

/// The node that all tests share; each takes a keyspace of its own.
pub(crate) fn shared() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| Server::start_new(1))
}

impl Server {
    /// Starts a cluster of some nodes.
    pub(crate) fn start_new(nodes: usize) -> Server {
        let directory = tempfile::Builder::new()
            .prefix("signet-cassandra-")
            .tempdir()
            .expect("a directory")
            .keep();
        // Other programs' tests may run beside these: a network of this process' own.
        let [a, b]: [u8; 2] = signet_crypto::random::bytes();
        let ip = |n: usize| format!("127.{}.{b}.{}", a.max(1), n + 1);
        let (port, storage) = (free_port(&ip(0)), free_port(&ip(0)));
        let server = Server {
            nodes: (0..nodes)
                .map(|n| Node {
                    ip: ip(n),
                    directory: directory.join(format!("node{n}")),
                    running: Mutex::new(None),
                })
                .collect(),
            directory,
            port,
            keyspaces: AtomicU32::new(0),
        };
        for (n, node) in server.nodes.iter().enumerate() {
            node.configure(&server, n, storage);
        }
        for n in 0..nodes {
            server.start(n);
        }
        server
    }

    /// Starts a node that does not run, and waits until it takes clients.
    pub(crate) fn start(&self, n: usize) {
        let node = &self.nodes[n];
        node.start();
        let begun = Instant::now();
        let address: SocketAddr = format!("{}:{}", node.ip, self.port).parse().expect("one");
        while TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_err() {
            let log = || fs::read_to_string(node.directory.join("log")).unwrap_or_default();
            assert!(begun.elapsed() < START, "it does not start: {}", log());
            assert!(!node.has_ended(), "it ended: {}", log());
            sleep(Duration::from_millis(100));
        }
    }

    /// Ends a node as a power failure does.
    pub(crate) fn kill(&self, n: usize) {
        self.nodes[n].stop();
    }

    /// Asks the first node, over a connection that ends with the answer.
    pub(crate) fn ask(&self, text: &str) {
        let host = format!("{}:{}", self.nodes[0].ip, self.port);
        block(async move || {
            let session: Session = SessionBuilder::new()
                .known_node(&host)
                .build()
                .await
                .expect("connects");
            session.query_unpaged(text, ()).await.expect("is done");
        });
    }

    /// Makes a keyspace, on all nodes, with its tables; where it is.
    pub(crate) fn keyspace(&self) -> Options {
        let options = self.empty_keyspace();
        CassandraStore::migrate(&options).expect("is made");
        options
    }

    /// Makes a keyspace without tables.
    pub(crate) fn empty_keyspace(&self) -> Options {
        let number = self.keyspaces.fetch_add(1, Relaxed);
        let replicas = self.nodes.len();
        let text = format!(
            "CREATE KEYSPACE k{number} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': {replicas}}}"
        );
        self.ask(&text);
        let hosts: Vec<String> = self
            .nodes
            .iter()
            .map(|node| format!("{}:{}", node.ip, self.port))
            .collect();
        let url = format!("cassandra://{}/k{number}", hosts.join(","));
        Options::new(Address::parse(&url).expect("a URL"))
    }
}

/// Runs on a thread and a runtime of its own: the tests have a runtime already.
pub(crate) fn block<T: Send, F: Future<Output = T>>(work: impl FnOnce() -> F + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime")
                .block_on(work())
        });
        thread.join().expect("ends")
    })
}

impl Node {
    fn configure(&self, server: &Server, n: usize, storage: u16) {
        let data = self.directory.join("data");
        fs::create_dir_all(&data).expect("is made");
        let (ip, seed, port) = (&self.ip, &server.nodes[0].ip, server.port);
        let data = data.display();
        let step = (u64::MAX / server.nodes.len() as u64) as i128;
        let token = i128::from(i64::MIN) + step / 2 + step * n as i128;
        let text = format!(
            r#"cluster_name: signet
num_tokens: 1
initial_token: "{token}"
auto_bootstrap: false
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: SimpleSnitch
seed_provider: [{{class_name: org.apache.cassandra.locator.SimpleSeedProvider, parameters: [{{seeds: "{seed}:{storage}"}}]}}]
listen_address: {ip}
rpc_address: {ip}
storage_port: {storage}
native_transport_port: {port}
start_native_transport: true
data_file_directories: ["{data}/data"]
commitlog_directory: "{data}/commitlog"
saved_caches_directory: "{data}/caches"
hints_directory: "{data}/hints"
cdc_raw_directory: "{data}/cdc"
commitlog_sync: batch
commitlog_segment_size: 8MiB
disk_failure_policy: stop
commit_failure_policy: stop
auto_snapshot: false
memtable_heap_space: 64MiB
memtable_offheap_space: 64MiB
file_cache_size: 32MiB
key_cache_size: 4MiB
concurrent_reads: 8
concurrent_writes: 8
"#
        );
        fs::write(self.directory.join("cassandra.yaml"), text).expect("is written");
        fs::write(self.directory.join("logback.xml"), LOG).expect("is written");
    }

    fn start(&self) {
        let directory = self.directory.display();
        let mut guard = Command::new("/bin/sh");
        guard.args(["-c", GUARD, "guard", "java"]);
        guard.args([
            "-Xms256m",
            "-Xmx512m",
            "-XX:MaxDirectMemorySize=256m",
            "-XX:+UseSerialGC",
            // It runs for seconds: it is not worth compiling well.
            "-XX:TieredStopAtLevel=1",
            "-Djdk.attach.allowAttachSelf=true",
            "-Dcassandra-foreground=yes",
            "-Dcassandra.skip_wait_for_gossip_to_settle=0",
            "-Dcassandra.ring_delay_ms=0",
        ]);
        for open in OPENS {
            guard.arg("--add-opens").arg(format!("{open}=ALL-UNNAMED"));
        }
        for export in EXPORTS {
            guard
                .arg("--add-exports")
                .arg(format!("{export}=ALL-UNNAMED"));
        }
        for (name, value) in [
            (
                "cassandra.config",
                format!("file://{directory}/cassandra.yaml"),
            ),
            (
                "logback.configurationFile",
                format!("{directory}/logback.xml"),
            ),
            ("cassandra.storagedir", format!("{directory}/data")),
            ("java.io.tmpdir", format!("{directory}/data")),
            ("jna.tmpdir", format!("{directory}/data")),
        ] {
            guard.arg(format!("-D{name}={value}"));
        }
        guard.arg("-cp").arg(format!("{}/*", jars().display()));
        guard.arg("org.apache.cassandra.service.CassandraDaemon");
        guard.env("DIRECTORY", &self.directory);
        guard.env("ROOT", self.directory.parent().unwrap_or(&self.directory));
        let mut guard = guard
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut said = BufReader::new(guard.stdout.take().expect("a pipe"));
        let mut line = String::new();
        said.read_line(&mut line).expect("says its id");
        let server = line.trim().parse().expect("a process id");
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(Running {
            guard,
            _said: said,
            server,
        });
    }

    fn has_ended(&self) -> bool {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running
            .as_ref()
            .is_none_or(|running| !Path::new(&format!("/proc/{}", running.server)).exists())
    }

    fn stop(&self) {
        let running = self.running.lock();
        let taken = running.unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut running) = taken {
            if let Some(mut pipe) = running.guard.stdin.take() {
                // The guard may have ended already.
                drop(pipe.write_all(b"end\n"));
            }
            drop(running.guard.wait());
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.nodes.iter().for_each(Node::stop);
        drop(fs::remove_dir_all(&self.directory));
    }
}
