//! A real PostgreSQL primary and its synchronous standby, from Debian's packages.
//!
//! As root, which PostgreSQL refuses to be, they run as another user. Both end with this value.

use std::{
    cell::RefCell,
    fs,
    net::{IpAddr, TcpListener},
    os::unix::{fs::PermissionsExt, fs::chown, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use tokio::time::sleep;

/// A start, or a promotion, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Between the primary's death and the standby's promotion.
const NOTICED_AFTER: Duration = Duration::from_secs(1);
const PASSWORD: &str = "not a secret";

/// Both.
pub struct Servers {
    primary: Server,
    standby: Server,
    /// Password file, and a configuration to migrate with.
    home: PathBuf,
}

struct Server {
    bin: PathBuf,
    directory: tempfile::TempDir,
    address: IpAddr,
    port: u16,
    child: RefCell<Option<Child>>,
}

fn bin() -> Result<PathBuf, String> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let found = versions
        .filter_map(Result::ok)
        .map(|version| version.path().join("bin"))
        .filter(|bin| bin.join("initdb").exists());
    let found = found.max();
    found.ok_or_else(|| "there is no PostgreSQL server: apt-get install postgresql".to_owned())
}

/// User and group that the servers run as, where this is root.
fn other_user() -> Option<(u32, u32)> {
    let users = fs::read_to_string("/etc/passwd")
        .ok()
        .filter(|_| geteuid().is_root())?;
    let of = |name: &str| {
        let line = users
            .lines()
            .find(|line| line.split(':').next() == Some(name))?;
        let mut ids = line.split(':').skip(2);
        Some((ids.next()?.parse().ok()?, ids.next()?.parse().ok()?))
    };
    of("postgres").or_else(|| of("nobody"))
}

fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    if let Some((user, group)) = other_user() {
        command.uid(user).gid(group);
    }
    command.current_dir("/").env_remove("PGPASSWORD");
    command
}

fn run(command: &mut Command) -> Result<String, String> {
    let done = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    match done.status.success() {
        true => Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned()),
        false => Err(format!(
            "{command:?}: {}",
            String::from_utf8_lossy(&done.stderr)
        )),
    }
}

impl Server {
    fn empty(address: IpAddr) -> Result<Server, String> {
        let failed = |e: std::io::Error| format!("a directory for PostgreSQL: {e}");
        let directory = tempfile::Builder::new().prefix("signet-faults-").tempdir();
        let directory = directory.map_err(failed)?;
        if let Some((user, group)) = other_user() {
            chown(directory.path(), Some(user), Some(group)).map_err(failed)?;
        }
        let free = TcpListener::bind((address, 0)).and_then(|socket| socket.local_addr());
        Ok(Server {
            bin: bin()?,
            directory,
            address,
            port: free.map_err(failed)?.port(),
            child: RefCell::default(),
        })
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    async fn start(&self) -> Result<(), String> {
        let log = fs::File::create(self.directory.path().join("log")).map_err(|e| e.to_string())?;
        let mut server = command(&self.bin.join("postgres"));
        server.arg("-D").arg(self.data());
        let sockets = format!(
            "unix_socket_directories={}",
            self.directory.path().display()
        );
        for setting in [
            &*format!("port={}", self.port),
            &*sockets,
            &*format!("listen_addresses={}", self.address),
            "fsync=on",
            "max_connections=200",
            "shared_buffers=64MB",
        ] {
            server.arg("-c").arg(setting);
        }
        server.stdin(Stdio::null());
        server
            .stdout(log.try_clone().map_err(|e| e.to_string())?)
            .stderr(log);
        *self.child.borrow_mut() = Some(server.spawn().map_err(|e| e.to_string())?);
        self.until("SELECT 1", "1").await
    }

    /// Waits until a query has this answer.
    async fn until(&self, query: &str, answer: &str) -> Result<(), String> {
        let begun = Instant::now();
        loop {
            let said = self.sql("postgres", query);
            if said.as_deref() == Ok(answer) {
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("{query}: {said:?}"));
            }
            sleep(LOOK_EVERY).await;
        }
    }

    fn psql(&self, database: &str, statement: &str) -> Command {
        let mut psql = command(&self.bin.join("psql"));
        psql.args(["--username=signet", "--no-psqlrc"]);
        psql.args(["--tuples-only", "--no-align"]);
        psql.arg("--host").arg(self.directory.path());
        psql.arg(format!("--port={}", self.port));
        psql.arg(format!("--dbname={database}"));
        psql.args(["--command", statement]);
        psql
    }

    fn sql(&self, database: &str, statement: &str) -> Result<String, String> {
        run(&mut self.psql(database, statement))
    }

    /// Kills every process of it, at once and without warning, as a power cut would.
    fn kill(&self) {
        let Some(mut child) = self.child.borrow_mut().take() else {
            return;
        };
        let own = child.id();
        let mut processes = vec![own];
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let status = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            // The parent follows the name, which is in parentheses, and the state.
            let parent: Option<u32> = status
                .rsplit_once(')')
                .and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
            if parent == Some(own) {
                processes.extend(entry.file_name().to_string_lossy().parse::<u32>());
            }
        }
        for process in processes {
            if let Some(process) = i32::try_from(process).ok().and_then(Pid::from_raw) {
                let _gone_already = kill_process(process, Signal::KILL);
            }
        }
        let _status = child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Servers {
    /// A primary and a standby that confirms every commit, with an empty database. `home`: where
    /// the nodes' files are.
    pub async fn start(home: &Path, address: IpAddr) -> Result<Servers, String> {
        let primary = Server::empty(address)?;
        let password = primary.directory.path().join("password");
        fs::write(&password, PASSWORD).map_err(|e| e.to_string())?;
        let mut initdb = command(&primary.bin.join("initdb"));
        initdb.args(["--username=signet", "--auth-local=trust", "--no-sync"]);
        initdb.args(["--auth-host=scram-sha-256", "--encoding=UTF8", "--locale=C"]);
        initdb.arg("--pwfile").arg(&password);
        initdb.arg("--pgdata").arg(primary.data());
        run(&mut initdb)?;
        let rules = primary.data().join("pg_hba.conf");
        let mut text = fs::read_to_string(&rules).map_err(|e| e.to_string())?;
        text.push_str("host all all samenet scram-sha-256\n");
        fs::write(&rules, text).map_err(|e| e.to_string())?;
        primary.start().await?;
        primary.sql("postgres", "CREATE DATABASE faults")?;

        let standby = Server::empty(address)?;
        let mut backup = command(&primary.bin.join("pg_basebackup"));
        backup.args([
            "--username=signet",
            "--checkpoint=fast",
            "--write-recovery-conf",
        ]);
        let (host, port) = (primary.directory.path().display(), primary.port);
        backup
            .arg("--dbname")
            .arg(format!("host={host} port={port} application_name=standby"));
        backup.arg("--pgdata").arg(standby.data());
        run(&mut backup)?;
        standby.start().await?;
        primary.sql(
            "postgres",
            "ALTER SYSTEM SET synchronous_standby_names = 'standby'",
        )?;
        primary.sql("postgres", "SELECT pg_reload_conf()")?;
        let synchronous = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
        primary.until(synchronous, "1").await?;

        let file = home.join("pgpass");
        fs::write(&file, format!("*:*:*:*:{PASSWORD}\n")).map_err(|e| e.to_string())?;
        let private = fs::Permissions::from_mode(0o600);
        fs::set_permissions(&file, private).map_err(|e| e.to_string())?;
        Ok(Servers {
            primary,
            standby,
            home: home.to_owned(),
        })
    }

    fn url(&self) -> String {
        let Servers {
            primary,
            standby,
            home,
        } = self;
        let hosts = format!(
            "{0}:{1},{0}:{2}",
            primary.address, primary.port, standby.port
        );
        format!(
            "postgres://signet@{hosts}/faults?sslmode=disable&target_session_attrs=read-write&passfile={}",
            home.join("pgpass").display()
        )
    }

    /// `[store]` of a node's configuration.
    pub fn settings(&self) -> String {
        format!("[store]\nengine = \"postgres\"\nurl = \"{}\"", self.url())
    }

    /// Makes the schema.
    pub fn migrate(&self, binary: &Path) -> Result<(), String> {
        let mut migrate = Command::new(binary);
        migrate.args(["store", "migrate", "--store", &self.url()]);
        run(&mut migrate).map(drop)
    }

    /// The primary dies, and the standby takes its place, after the time that a supervisor of
    /// them needs at least. The clients continue meanwhile.
    pub async fn fail_over(&self) -> Result<(), String> {
        self.primary.kill();
        sleep(NOTICED_AFTER).await;
        let statement = "SELECT pg_promote(true, 60)";
        let mut promote = self.standby.psql("postgres", statement);
        let promoted = tokio::task::spawn_blocking(move || run(&mut promote));
        promoted.await.map_err(|e| e.to_string())??;
        self.standby.until("SELECT pg_is_in_recovery()", "f").await
    }
}
