//! A real PostgreSQL server, from Debian's packages, for the tests of this program.
//!
//! It keeps its data on the disk as in production (`fsync` on), listens on loopback, and ends with
//! the test program, however that ends: a shell holds a pipe to it, and stops the server when the
//! pipe closes. As root, which PostgreSQL refuses to be, it runs as another user.
#![allow(dead_code, reason = "other crates' tests use a part")]
use signet_crypto::Secret;
use signet_store::{
    PostgresStore,
    postgres::{Address, Behind, Options},
};
use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    os::unix::{fs::chown, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio_postgres::NoTls;

pub(crate) const PASSWORD: &str = "not a secret";

/// Runs what is in `"$@"`, says its process id, and stops it when standard input ends; removes the
/// directory $DIRECTORY then, unless told to keep it.
const GUARD: &str = r#""$@" </dev/null >"$DIRECTORY/log" 2>&1 & server=$!
echo $server
read -r last
kill -QUIT $server 2>/dev/null
wait $server
[ "$last" = keep ] || rm -rf "$DIRECTORY""#;

struct Running {
    guard: Child,
    _said: BufReader<ChildStdout>,
    server: i32,
}

/// One server.
pub(crate) struct Server {
    bin: PathBuf,
    pub(crate) directory: PathBuf,
    pub(crate) port: u16,
    running: Mutex<Option<Running>>,
    databases: AtomicU32,
}

fn bin() -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let found = versions
        .filter_map(Result::ok)
        .map(|version| version.path().join("bin"))
        .filter(|bin| bin.join("initdb").exists())
        .max();
    found.expect("these tests need a PostgreSQL server: apt-get install postgresql (scripts/setup-tests.sh does)")
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// User and group that the server runs as, where this is root.
fn other_user() -> Option<(u32, u32)> {
    if !is_root() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").expect("the users");
    let of = |name: &str| {
        let line = users
            .lines()
            .find(|line| line.split(':').next() == Some(name))?;
        let mut ids = line.split(':').skip(2);
        Some((ids.next()?.parse().ok()?, ids.next()?.parse().ok()?))
    };
    let found = of("postgres").or_else(|| of("nobody"));
    Some(found.expect("root needs a user postgres or nobody to run the server as"))
}

fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    if let Some((user, group)) = other_user() {
        command.uid(user).gid(group);
    }
    command.current_dir("/").env_remove("PGPASSWORD");
    command
}

fn run(command: &mut Command) {
    let done = command.output().expect("starts");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {said}");
}

pub(crate) fn free_port() -> u16 {
    let socket = TcpListener::bind("127.0.0.1:0").expect("binds");
    socket.local_addr().expect("an address").port()
}

/// The server that all tests share; each takes a database of its own.
pub(crate) fn shared() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let server = Server::new();
        server.start(&[]);
        server
    })
}

impl Server {
    fn empty() -> Server {
        let directory = tempfile::Builder::new()
            .prefix("signet-postgres-")
            .tempdir()
            .expect("a directory")
            .keep();
        if let Some((user, group)) = other_user() {
            chown(&directory, Some(user), Some(group)).expect("changes hands");
        }
        Server {
            bin: bin(),
            directory,
            port: free_port(),
            running: Mutex::new(None),
            databases: AtomicU32::new(0),
        }
    }

    fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    /// A new installation, not started yet.
    pub(crate) fn new() -> Server {
        let server = Server::empty();
        let password = server.directory.join("password");
        fs::write(&password, PASSWORD).expect("is written");
        let mut initdb = command(&server.bin.join("initdb"));
        initdb.args(["--username=signet", "--auth-local=trust", "--no-sync"]);
        initdb.args(["--auth-host=scram-sha-256", "--encoding=UTF8", "--locale=C"]);
        initdb.arg("--pwfile").arg(&password);
        initdb.arg("--pgdata").arg(server.data());
        run(&mut initdb);
        server
    }

    /// A standby of a server that runs; not started yet.
    pub(crate) fn standby_of(primary: &Server, name: &str) -> Server {
        let server = Server::empty();
        let mut backup = command(&server.bin.join("pg_basebackup"));
        backup.args([
            "--username=signet",
            "--checkpoint=fast",
            "--write-recovery-conf",
        ]);
        backup.arg("--dbname").arg(format!(
            "host={} port={} application_name={name}",
            primary.directory.display(),
            primary.port
        ));
        backup.arg("--pgdata").arg(server.data());
        run(&mut backup);
        server
    }

    /// Starts it, with further settings, and waits until it answers.
    pub(crate) fn start(&self, settings: &[&str]) {
        let mut guard = command(Path::new("/bin/sh"));
        guard.arg("-c").arg(GUARD).arg("guard");
        guard
            .arg(self.bin.join("postgres"))
            .arg("-D")
            .arg(self.data());
        let directory = self.directory.display();
        for setting in [
            &*format!("port={}", self.port),
            &*format!("unix_socket_directories={directory}"),
            "listen_addresses=127.0.0.1",
            "fsync=on",
            "max_connections=200",
            "shared_buffers=64MB",
            "max_wal_size=256MB",
        ]
        .into_iter()
        .chain(settings.iter().copied())
        {
            guard.arg("-c").arg(setting);
        }
        guard.env("DIRECTORY", &self.directory);
        guard.stdin(Stdio::piped()).stdout(Stdio::piped());
        guard.stderr(Stdio::null());
        let mut guard = guard.spawn().expect("starts");
        let mut said = BufReader::new(guard.stdout.take().expect("piped"));
        let mut line = String::new();
        said.read_line(&mut line).expect("the process id");
        let server = line.trim().parse().expect("a process id");
        let running = Running {
            guard,
            _said: said,
            server,
        };
        *self.running() = Some(running);
        self.wait();
    }

    fn running(&self) -> std::sync::MutexGuard<'_, Option<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self) {
        for _ in 0..600 {
            let answer = apart(async {
                let connected = self.config("postgres").connect(NoTls).await;
                connected.map(drop)
            });
            if answer.is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let log = fs::read_to_string(self.directory.join("log")).unwrap_or_default();
        panic!("the server does not answer: {log}");
    }

    /// Kills every process of it, at once and without warning, as a power cut would.
    pub(crate) fn kill(&self) {
        let Some(mut running) = self.running().take() else {
            return;
        };
        let mut processes = vec![running.server];
        for entry in fs::read_dir("/proc").expect("processes").flatten() {
            let status = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            // The parent follows the name, which is in parentheses, and the state.
            let parent = status
                .rsplit_once(')')
                .and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse::<i32>().ok());
            if parent == Some(running.server) {
                processes.extend(entry.file_name().to_string_lossy().parse::<i32>());
            }
        }
        for process in processes {
            let process = rustix::process::Pid::from_raw(process).expect("a process id");
            let _gone_already =
                rustix::process::kill_process(process, rustix::process::Signal::KILL);
        }
        let mut stdin = running.guard.stdin.take().expect("piped");
        stdin.write_all(b"keep\n").expect("is written");
        running.guard.wait().expect("ends");
    }

    /// The stopped processes still hold their connections; the network looks just so when it eats
    /// packets.
    pub(crate) fn signal_all(&self, signal: rustix::process::Signal) {
        let running = self.running();
        let Some(running) = running.as_ref() else {
            return;
        };
        for entry in fs::read_dir("/proc").expect("processes").flatten() {
            let status = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            let parent = status
                .rsplit_once(')')
                .and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse::<i32>().ok());
            let own = entry.file_name().to_string_lossy().parse::<i32>();
            let Ok(own) = own else { continue };
            if parent == Some(running.server) || own == running.server {
                let process = rustix::process::Pid::from_raw(own).expect("a process id");
                let _gone_already = rustix::process::kill_process(process, signal);
            }
        }
    }

    /// Makes a standby the primary.
    pub(crate) fn promote(&self) {
        let promoted = self.sql("postgres", "SELECT pg_promote(true, 60)");
        assert_eq!(promoted.as_deref(), Some("t"));
    }

    pub(crate) fn config(&self, database: &str) -> tokio_postgres::Config {
        let mut config = tokio_postgres::Config::new();
        config
            .host_path(&self.directory)
            .port(self.port)
            .user("signet")
            .dbname(database);
        config
    }

    /// Runs a statement over the Unix socket; the first column of its first row as text.
    pub(crate) fn sql(&self, database: &str, statement: &str) -> Option<String> {
        apart(async {
            let (client, connection) = self
                .config(database)
                .connect(NoTls)
                .await
                .expect("connects");
            let driver = tokio::spawn(connection);
            let answers = client.simple_query(statement).await.expect(statement);
            drop(client);
            driver.await.expect("ends").expect("is closed");
            answers.into_iter().find_map(|answer| match answer {
                tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
                _ => None,
            })
        })
    }

    /// A new database without a schema.
    pub(crate) fn database(&self) -> String {
        let number = self.databases.fetch_add(1, Relaxed);
        let name = format!("d{number}");
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        name
    }

    pub(crate) fn options(&self, database: &str) -> Options {
        let url = format!("postgres://signet@127.0.0.1:{}/{database}", self.port);
        with_password(&url)
    }

    /// A store in a new database.
    pub(crate) fn store(&self) -> PostgresStore {
        let options = self.options(&self.database());
        PostgresStore::migrate(&options, Behind::Refuse).expect("a schema");
        PostgresStore::open(&options).expect("opens")
    }
}

pub(crate) fn with_password(url: &str) -> Options {
    let mut options = Options::new(Address::parse(url).expect("a URL"));
    options.password = Some(Secret::new(PASSWORD.to_owned()));
    options
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
        drop(fs::remove_dir_all(&self.directory));
    }
}

/// On a thread and a runtime of its own: tests have one already.
pub(crate) fn apart<T: Send>(work: impl Future<Output = T> + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(work)
        });
        thread.join().expect("ends")
    })
}
