//! A real PostgreSQL, from Debian's packages, on loopback: the engine under several nodes, and
//! `pgbench`, which says what it does without them.

use std::{
    fs,
    net::TcpListener,
    os::unix::{fs::chown, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use crate::client::Failure;

/// A server of its own; ends with the benchmark.
pub struct Postgres {
    bin: PathBuf,
    child: Child,
    directory: tempfile::TempDir,
    port: u16,
}

fn bin() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let bins = versions.flatten().map(|version| version.path().join("bin"));
    bins.filter(|bin| bin.join("initdb").exists()).max()
}

/// The ids of a user, where this is root: PostgreSQL refuses to be.
fn other_user() -> Option<(u32, u32)> {
    use std::os::unix::fs::MetadataExt;
    if fs::metadata("/proc/self").ok()?.uid() != 0 {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let ids = |name: &str| {
        let mut fields = users
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?
            .split(':')
            .skip(1);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    ids("postgres").or_else(|| ids("nobody"))
}

fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    if let Some((user, group)) = other_user() {
        command.uid(user).gid(group);
    }
    command.current_dir("/").stdin(Stdio::null());
    command
}

fn run(command: &mut Command) -> Result<String, Failure> {
    let output = command.output()?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("{command:?}: {text}").into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

impl Postgres {
    /// Starts one, with `fsync` on; `None` where the packages are not installed.
    ///
    /// # Errors
    /// It does not start.
    pub fn start() -> Result<Option<Postgres>, Failure> {
        let Some(bin) = bin() else { return Ok(None) };
        let directory = tempfile::tempdir()?;
        if let Some((user, group)) = other_user() {
            chown(directory.path(), Some(user), Some(group))?;
        }
        let data = directory.path().join("data");
        let mut initdb = command(&bin.join("initdb"));
        initdb.args(["--username=signet", "--auth=trust", "--no-sync"]);
        initdb.args(["--encoding=UTF8", "--locale=C", "--pgdata"]);
        run(initdb.arg(&data))?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut server = command(&bin.join("postgres"));
        server.arg("-D").arg(&data);
        let place = directory.path().display();
        for setting in [
            &*format!("port={port}"),
            &*format!("unix_socket_directories={place}"),
            "listen_addresses=127.0.0.1",
            "fsync=on",
            "max_connections=200",
            "shared_buffers=256MB",
            "max_wal_size=1GB",
        ] {
            server.arg("-c").arg(setting);
        }
        let log = fs::File::create(directory.path().join("log"))?;
        server.stdout(log.try_clone()?).stderr(log);
        let child = server.spawn()?;
        let postgres = Postgres {
            bin,
            child,
            directory,
            port,
        };
        let begun = Instant::now();
        while postgres.sql("postgres", "SELECT 1").is_err() {
            if begun.elapsed() > Duration::from_secs(60) {
                return Err("PostgreSQL does not answer".into());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(Some(postgres))
    }

    /// A new, empty database; its URL.
    ///
    /// # Errors
    /// The server's.
    pub fn database(&self, name: &str) -> Result<String, Failure> {
        self.sql("postgres", &format!("CREATE DATABASE {name}"))?;
        Ok(format!("postgres://signet@127.0.0.1:{}/{name}", self.port))
    }

    /// What a statement answers, as text.
    ///
    /// # Errors
    /// The server's.
    pub fn sql(&self, database: &str, statement: &str) -> Result<String, Failure> {
        let mut psql = command(&self.bin.join("psql"));
        psql.args(["-X", "-q", "-A", "-t", "-U", "signet", "-d", database, "-h"]);
        psql.arg(self.directory.path());
        psql.args(["-p", &self.port.to_string(), "-c", statement]);
        run(&mut psql)
    }

    /// Transactions a second of `pgbench`: one row updated in each, by its key, as many rows and
    /// connections as given.
    ///
    /// # Errors
    /// `pgbench`'s.
    pub fn updates_per_second(&self, in_flight: usize, seconds: u64) -> Result<f64, Failure> {
        self.sql("postgres", "DROP DATABASE IF EXISTS floor")?;
        self.database("floor")?;
        self.sql(
            "floor",
            "CREATE TABLE rows (id int PRIMARY KEY, version bigint, value bytea); \
             INSERT INTO rows SELECT i, 1, decode(repeat('07', 200), 'hex') \
             FROM generate_series(1, 1000) i",
        )?;
        let script = self.directory.path().join("script");
        fs::write(
            &script,
            "\\set id random(1, 1000)\nUPDATE rows SET version = version + 1 WHERE id = :id;\n",
        )?;
        let mut pgbench = command(&self.bin.join("pgbench"));
        pgbench.args(["-n", "-M", "prepared", "-U", "signet", "-h"]);
        pgbench.arg(self.directory.path());
        pgbench.args(["-p", &self.port.to_string()]);
        pgbench.args(["-c", &in_flight.to_string(), "-T", &seconds.to_string()]);
        let said = run(pgbench.arg("-f").arg(script).arg("floor"))?;
        let rate = said
            .lines()
            .find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
        rate.ok_or_else(|| format!("pgbench said: {said}").into())
    }

    /// Bytes of its write-ahead log so far.
    ///
    /// # Errors
    /// The server's.
    pub fn wal_bytes(&self) -> Result<u64, Failure> {
        let said = self.sql(
            "postgres",
            "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn",
        )?;
        Ok(said.trim().parse()?)
    }

    /// User and system time of all its processes, microseconds; those that have exited count, too.
    ///
    /// # Errors
    /// The kernel's account cannot be read.
    pub fn cpu_us(&self) -> Result<u64, Failure> {
        let own = self.child.id();
        let mut ticks = 0;
        for entry in fs::read_dir("/proc")?.flatten() {
            let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else {
                continue;
            };
            let rest = stat.rsplit(')').next().unwrap_or_default();
            let fields: Vec<&str> = rest.split_whitespace().collect();
            let field = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok());
            let is_server = entry.file_name().to_string_lossy() == own.to_string();
            if is_server || field(1) == Some(u64::from(own)) {
                ticks += field(11).unwrap_or(0) + field(12).unwrap_or(0);
            }
            if is_server {
                // Its children that ended.
                ticks += field(13).unwrap_or(0) + field(14).unwrap_or(0);
            }
        }
        Ok(ticks * 10_000)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // An immediate shutdown: its children end with it.
        let _ = Command::new("/bin/kill")
            .args(["-QUIT", &self.child.id().to_string()])
            .status();
        let _ = self.child.wait();
    }
}
