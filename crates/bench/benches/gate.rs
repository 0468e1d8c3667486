//! The validation service under load from outside, beside its own health endpoint in the same run.
//!
//! `cargo build --release -p signet && cargo bench -p signet-bench --bench gate`. Needs `wrk`. Cases: few tokens that come again, many that
//! were never seen, an attack mix of nine in ten, each over growing numbers of connections, in turns with `/health/live`. What counts is the
//! ratio: both share the machine with the load generator. SECONDS sets the length of each run (5).
#![allow(clippy::print_stdout, reason = "a report is its output")]

use signet_bench::process;
use signet_crypto::{Algorithm, SigningKey};
use signet_jose::{
    jwk::{Jwk, JwkSet},
    jwt::{JwtSigner, Typ},
};
use std::{
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant, SystemTime},
};

const ISSUER: &str = "https://id.example.com";
const AUDIENCE: &str = "https://orders.example.com";
const FEW: usize = 500;
const MANY: usize = 100_000;

/// Ended with the bench, whatever happens.
struct Gate(Child);

impl Drop for Gate {
    fn drop(&mut self) {
        // Already gone is as good.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn main() {
    // `cargo test` runs benches with --test, and without the release binary there is nothing to measure.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    if Command::new("wrk")
        .arg("-v")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_err()
    {
        println!("wrk is not installed: nothing was measured");
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    let key = SigningKey::generate(Algorithm::Es256).expect("a key");
    let jwk = Jwk::for_signatures(
        key.public().expect("asymmetric").clone(),
        Algorithm::Es256,
        "k1",
    );
    let mut keys = Vec::new();
    JwkSet { keys: vec![jwk] }.write(&mut keys);
    fs::write(directory.join("keys.json"), keys).expect("written");
    tokens(&JwtSigner::new(key, "k1"), directory);

    let address = free();
    fs::write(
        directory.join("gate.toml"),
        format!(
            "listen = \"{address}\"\n[[issuers]]\nissuer = \"{ISSUER}\"\njwks_file = \"keys.json\"\n[[policies]]\naudiences = [\"{AUDIENCE}\"]\n"
        ),
    )
    .expect("written");
    let begun = Instant::now();
    let gate = Gate(
        Command::new(process::binary().expect("the release binary"))
            .args(["gate", "--config"])
            .arg(directory.join("gate.toml"))
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts"),
    );
    while !ready(address) {
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "the gate does not answer"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
    println!("start to ready: {} ms", begun.elapsed().as_millis());
    println!(
        "{:>8} {:>12} {:>12} {:>7} {:>12} {:>7} {:>12}",
        "connections", "health/s", "few/s", "ratio", "many/s", "ratio", "attack/s"
    );
    for connections in [20, 64, 200, 640, 2000] {
        let run =
            |script: Option<&str>, path: &str| load(directory, address, connections, script, path);
        let health = run(None, "/health/live");
        let few = run(Some("few"), "/validate");
        let again = run(None, "/health/live");
        let many = run(Some("many"), "/validate");
        let attack = run(Some("attack"), "/validate");
        // The floor is measured on both sides of the case, for the machine is never alone.
        let floor = (health + again) / 2.0;
        println!(
            "{connections:>8} {floor:>12.0} {few:>12.0} {:>7.2} {many:>12.0} {:>7.2} {attack:>12.0}",
            few / floor,
            many / floor
        );
    }
    println!("resident: {} KiB", resident(gate.0.id()));
}

/// Token files, and the wrk scripts that send them.
fn tokens(signer: &JwtSigner, directory: &Path) {
    let now = SystemTime::UNIX_EPOCH
        .elapsed()
        .expect("after 1970")
        .as_secs();
    let token = |n: usize| {
        let signed = signer.sign(Typ::AccessToken, |w| {
            w.member("iss").string(ISSUER);
            w.member("sub").string("248289761001");
            w.member("aud").string(AUDIENCE);
            w.member("exp").number(now + 3600);
            w.member("iat").number(now);
            w.member("jti").string(&format!("AaH8mfJ1qzIdsTgm{n:06}"));
            w.member("client_id").string("web");
            w.member("scope").string("openid orders:read orders:write");
        });
        signed.expect("a token")
    };
    let good: Vec<String> = (0..MANY).map(token).collect();
    let junk = |n: usize| match n % 4 {
        0 => format!("{}AAAA", &good[n][..good[n].len() - 4]),
        1 => good[n].replacen("eyJ", "eyI", 1),
        2 => format!("{}.{}", good[n], "AA"),
        _ => format!("{}=", good[n]),
    };
    let attack: Vec<String> = (0..10_000)
        .map(|n| {
            if n % 10 == 0 {
                good[n % FEW].clone()
            } else {
                junk(n)
            }
        })
        .collect();
    for (name, list) in [
        ("few", &good[..FEW]),
        ("many", &good[..]),
        ("attack", &attack[..]),
    ] {
        fs::write(directory.join(format!("{name}.txt")), list.join("\n")).expect("written");
        // Each wrk thread begins elsewhere, so that no token comes twice as long as there are new ones.
        let script = format!(
            r#"local bodies, at, threads = {{}}, 0, 0
for line in io.lines("{}/{name}.txt") do bodies[#bodies + 1] = '{{"token":"' .. line .. '"}}' end
function setup(thread) thread:set("number", threads); threads = threads + 1 end
function init() at = (number or 0) * 50000 end
function request()
  at = at + 1
  return wrk.format("POST", "/validate", {{["content-type"] = "application/json"}}, bodies[at % #bodies + 1])
end
"#,
            directory.display()
        );
        fs::write(directory.join(format!("{name}.lua")), script).expect("written");
    }
}

fn free() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("bound")
}

fn ready(address: SocketAddr) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(address)?;
        stream.write_all(b"GET /health/ready HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    ask().is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
}

/// Requests a second.
fn load(
    directory: &Path,
    address: SocketAddr,
    connections: usize,
    script: Option<&str>,
    path: &str,
) -> f64 {
    let seconds = std::env::var("SECONDS").unwrap_or_else(|_| "5".into());
    let mut wrk = Command::new("wrk");
    wrk.args([
        "-t1",
        "--latency",
        &format!("-c{connections}"),
        &format!("-d{seconds}s"),
    ]);
    if let Some(script) = script {
        wrk.arg("-s").arg(directory.join(format!("{script}.lua")));
    }
    let output = wrk
        .arg(format!("http://{address}{path}"))
        .output()
        .expect("wrk runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let rate = text
        .lines()
        .find_map(|line| line.strip_prefix("Requests/sec:"));
    rate.and_then(|rate| rate.trim().parse().ok())
        .unwrap_or_else(|| panic!("{text}"))
}

/// KiB of memory that the process holds.
fn resident(pid: u32) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.map_or("?".into(), |line| {
        line.trim().trim_end_matches(" kB").to_owned()
    })
}
