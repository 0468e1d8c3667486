//! The servers under test, each a process of its own: CPU time is read from the kernel's account of
//! it.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::{
    client::{Failure, Target},
    engine::Engine,
};

/// In a server's directory: authorities that it trusts where it is the client.
const TRUSTED: &str = "trusted.pem";

/// A child that ends with the benchmark.
pub struct Server {
    child: Child,
    directory: tempfile::TempDir,
    ran: Mutex<Ran>,
}

/// What each thread of a process had run when it was last looked at, in nanoseconds. A thread that
/// ends takes its account with it: what it ran before stays part of the sum.
#[derive(Default)]
struct Ran {
    last: HashMap<String, u64>,
    /// Of threads whose number another has now.
    earlier: u64,
}

impl Ran {
    /// A thread has run so long.
    fn see(&mut self, thread: String, ns: u64) {
        let last = self.last.entry(thread).or_default();
        if ns < *last {
            self.earlier += *last;
        }
        *last = ns;
    }

    fn sum(&self) -> u64 {
        self.earlier + self.last.values().sum::<u64>()
    }
}

impl Server {
    fn of(child: Child, directory: tempfile::TempDir) -> Server {
        Server {
            child,
            directory,
            ran: Mutex::default(),
        }
    }

    /// The echo floor: this executable, started again.
    pub fn echo() -> Result<Server, Failure> {
        let directory = tempfile::tempdir()?;
        let child = Command::new(std::env::current_exe()?)
            .arg(crate::echo::ARGUMENT)
            .arg(directory.path())
            .stdin(Stdio::null())
            .spawn()?;
        let server = Server::of(child, directory);
        wait_for(&server.directory.path().join("port"))?;
        Ok(server)
    }

    /// `signet serve --dev` on a free port. The binary is SIGNET_BIN or the release build beside
    /// the benchmark's target directory.
    pub fn signet() -> Result<Server, Failure> {
        Server::node(Engine::Embedded, None)
    }

    /// As [`Server::signet`], over an engine, and with the token of a cluster that it joins.
    pub fn node(engine: Engine<'_>, join: Option<&str>) -> Result<Server, Failure> {
        Server::with(engine, join, &[], None)
    }

    /// As [`Server::signet`], with these variables in its environment.
    pub fn with_environment(variables: &[(&str, &Path)]) -> Result<Server, Failure> {
        Server::with(Engine::Embedded, None, variables, None)
    }

    /// As [`Server::signet`], and this authority is trusted where the server is the client.
    pub fn trusting(authority: &str) -> Result<Server, Failure> {
        Server::with(Engine::Embedded, None, &[], Some(authority))
    }

    fn with(
        engine: Engine<'_>,
        join: Option<&str>,
        variables: &[(&str, &Path)],
        authority: Option<&str>,
    ) -> Result<Server, Failure> {
        let directory = tempfile::tempdir()?;
        if let Some(authority) = authority {
            std::fs::write(directory.path().join(TRUSTED), authority)?;
        }
        let port = std::net::TcpListener::bind(("127.0.0.1", 0))?
            .local_addr()?
            .port();
        std::fs::write(directory.path().join("port"), port.to_string())?;
        let child = serve(directory.path(), port, engine, join, variables)?;
        let server = Server::of(child, directory);
        server.wait_for("dev.json")?;
        Ok(server)
    }

    /// Stops the process with SIGTERM and gives its directory and port for a later start.
    pub fn stop(mut self) -> Result<Stopped, Failure> {
        let port = self.port()?;
        Command::new("/bin/kill")
            .args(["-TERM", &self.child.id().to_string()])
            .status()?;
        self.child.wait()?;
        // What ends with the server is put in place of what stays.
        let directory = std::mem::replace(&mut self.directory, tempfile::tempdir()?);
        Ok(Stopped { directory, port })
    }

    /// The id of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    fn wait_for(&self, name: &str) -> Result<(), Failure> {
        wait_for(&self.directory.path().join(name)).map_err(|error| {
            let log = self.file("log").unwrap_or_default();
            format!("{error}: {}", String::from_utf8_lossy(&log)).into()
        })
    }

    /// `signet gate` on a free port, with the configuration that `config` writes for its directory
    /// and address. Gives, beside the server, the time from its start to its first answer that it
    /// is ready.
    pub fn gate(
        config: impl FnOnce(&Path, SocketAddr) -> Result<String, Failure>,
        scheme: Scheme,
    ) -> Result<(Server, Duration), Failure> {
        let directory = tempfile::tempdir()?;
        let address = std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?;
        let file = directory.path().join("gate.toml");
        std::fs::write(&file, config(directory.path(), address)?)?;
        std::fs::write(directory.path().join("port"), address.port().to_string())?;
        let log = std::fs::File::create(directory.path().join("log"))?;
        let begun = Instant::now();
        let child = Command::new(binary()?)
            .args(["gate", "--config"])
            .arg(file)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        let server = Server::of(child, directory);
        while !ready(address, scheme) {
            if begun.elapsed() > Duration::from_secs(10) {
                let log = String::from_utf8_lossy(&server.file("log")?).into_owned();
                return Err(format!("the gate is not ready: {log}").into());
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        Ok((server, begun.elapsed()))
    }

    /// `signet client set`, over the admin API.
    pub fn set_client(&self, client_id: &str, member: &str) -> Result<(), Failure> {
        let output = Command::new(binary()?)
            .args(["client", "set", client_id, member, "--data-dir"])
            .arg(self.directory.path())
            .output()?;
        if output.status.success() {
            Ok(())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned().into())
        }
    }

    /// A file the server wrote.
    pub fn file(&self, name: &str) -> Result<Vec<u8>, Failure> {
        Ok(std::fs::read(self.directory.path().join(name))?)
    }

    /// The directory it lives in; removed with the server.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The port on 127.0.0.1.
    pub fn port(&self) -> Result<u16, Failure> {
        Ok(String::from_utf8(self.file("port")?)?.trim().parse()?)
    }

    /// User and system time of the process and its threads, in microseconds. The kernel counts in
    /// ticks of 10 ms.
    pub fn cpu_us(&self) -> Result<u64, Failure> {
        cpu_us(self.child.id())
    }

    /// Its ordinary listener, with the certificate authority that it made.
    pub fn target(&self) -> Result<Target, Failure> {
        Target::new(self.port()?, &self.file("ca.pem")?, None)
    }

    /// Bytes that it had written to the disk, by the kernel's account.
    pub fn written_bytes(&self) -> Result<u64, Failure> {
        let io = std::fs::read_to_string(format!("/proc/{}/io", self.child.id()))?;
        let line = io
            .lines()
            .find_map(|line| line.strip_prefix("write_bytes: "))
            .ok_or("no write_bytes")?;
        Ok(line.trim().parse()?)
    }

    /// The time that its threads ran, in nanoseconds: finer than [`Server::cpu_us`]. Of threads
    /// that have exited it has what they had run at the call before.
    pub fn ran_ns(&self) -> Result<u64, Failure> {
        let mut ran = self.ran.lock().unwrap_or_else(PoisonError::into_inner);
        for task in std::fs::read_dir(format!("/proc/{}/task", self.child.id()))?.flatten() {
            let said = std::fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
            let first = said.split_whitespace().next();
            let Some(ns) = first.and_then(|ns| ns.parse::<u64>().ok()) else {
                // It ended between the listing and the look.
                continue;
            };
            ran.see(task.file_name().to_string_lossy().into_owned(), ns);
        }
        Ok(ran.sum())
    }

    /// Resident memory, in bytes.
    pub fn resident_bytes(&self) -> Result<u64, Failure> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status
            .lines()
            .find(|line| line.starts_with("VmRSS:"))
            .ok_or("no VmRSS")?;
        let kib: u64 = line.split_whitespace().nth(1).ok_or("no VmRSS")?.parse()?;
        Ok(kib * 1024)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server that was stopped.
pub struct Stopped {
    /// Where its state is.
    pub directory: tempfile::TempDir,
    port: u16,
}

impl Stopped {
    /// Starts it again, and gives the time to its first answer.
    pub fn start(self, engine: Engine<'_>) -> Result<(Server, Duration), Failure> {
        let Stopped { directory, port } = self;
        let begun = Instant::now();
        let child = serve(directory.path(), port, engine, None, &[])?;
        let mut server = Server::of(child, directory);
        // The last thing that it says of its start.
        while !String::from_utf8_lossy(&server.file("log")?).contains("Signet is ready") {
            if begun.elapsed() > Duration::from_secs(600) || server.child.try_wait()?.is_some() {
                return Err(String::from_utf8(server.file("log")?)?.into());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok((server, begun.elapsed()))
    }
}

fn serve(
    directory: &Path,
    port: u16,
    engine: Engine<'_>,
    join: Option<&str>,
    variables: &[(&str, &Path)],
) -> Result<Child, Failure> {
    let log = std::fs::File::create(directory.join("log"))?;
    let mut command = Command::new(binary()?);
    command
        .envs(variables.iter().copied())
        .args(["serve", "--dev", "--listen"])
        .arg(format!("127.0.0.1:{port}"))
        .arg("--data-dir")
        .arg(directory)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log);
    if let Engine::Postgres(url) = engine {
        command.args(["--store", url]);
    }
    let trusted = directory.join(TRUSTED);
    if trusted.exists() {
        command.arg("--trust").arg(trusted);
    }
    if let Some(token) = join {
        // A secret for as long as it can be used: not an argument.
        command.env("SIGNET_JOIN", token);
    }
    Ok(command.spawn()?)
}

impl Server {
    /// Another program, which writes its `port` into its directory: `command` makes it for that.
    pub fn program(
        command: impl FnOnce(&Path) -> Result<Command, Failure>,
    ) -> Result<Server, Failure> {
        let directory = tempfile::tempdir()?;
        let mut command = command(directory.path())?;
        let log = std::fs::File::create(directory.path().join("log"))?;
        let child = command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        let server = Server::of(child, directory);
        server.wait_for("port")?;
        Ok(server)
    }

    /// The greatest resident memory so far, in bytes.
    pub fn peak_bytes(&self) -> Result<u64, Failure> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find(|line| line.starts_with("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().nth(1));
        Ok(kib.ok_or("no VmHWM")?.parse::<u64>()? * 1024)
    }
}

/// The release binary: SIGNET_BIN, or `target/release/signet` of the directory this benchmark was
/// built into.
pub fn binary() -> Result<PathBuf, Failure> {
    if let Some(path) = std::env::var_os("SIGNET_BIN") {
        return Ok(path.into());
    }
    // A program lies beside it, a benchmark one directory below.
    let own = std::env::current_exe()?;
    let near = own.ancestors().skip(1).take(2);
    let mut near = near.map(|directory| directory.join("signet"));
    near.find(|binary| binary.is_file()).ok_or_else(|| {
        let own = own.display();
        format!("no signet beside {own}: run `make build` first, or set SIGNET_BIN").into()
    })
}

/// User and system time of a process and its threads, in microseconds. The kernel counts in ticks
/// of 10 ms.
pub fn cpu_us(process: u32) -> Result<u64, Failure> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let ticks: u64 = [11, 12]
        .iter()
        .filter_map(|&i| fields.get(i)?.parse::<u64>().ok())
        .sum();
    Ok(ticks * 10_000)
}

/// What a gate speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scheme {
    /// Plain HTTP.
    Http,
    /// TLS; readiness is then no more than that it listens.
    Https,
}

fn ready(address: SocketAddr, scheme: Scheme) -> bool {
    let ask = || -> std::io::Result<bool> {
        let mut stream = TcpStream::connect(address)?;
        if scheme == Scheme::Https {
            return Ok(true);
        }
        stream
            .write_all(b"GET /health/ready HTTP/1.1\r\nhost: gate\r\nconnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer.starts_with("HTTP/1.1 200"))
    };
    ask().unwrap_or(false)
}

fn wait_for(path: &Path) -> Result<(), Failure> {
    // A peer makes its database first.
    const LONGEST: Duration = Duration::from_secs(120);
    let start = Instant::now();
    while !path.exists() {
        if start.elapsed() > LONGEST {
            let seconds = LONGEST.as_secs();
            let path = path.display();
            return Err(format!("{path} did not appear within {seconds} seconds").into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ended_threads_ran_stays_part_of_the_sum() {
        let mut ran = Ran::default();
        ran.see("1".into(), 100);
        ran.see("2".into(), 900);
        assert_eq!(ran.sum(), 1_000);
        // The second has exited.
        ran.see("1".into(), 150);
        assert_eq!(ran.sum(), 1_050);
        // Another thread has its number.
        ran.see("2".into(), 10);
        assert_eq!(ran.sum(), 1_060);
    }
}
