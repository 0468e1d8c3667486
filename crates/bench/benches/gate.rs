//! The validation service under load from outside, beside its own health endpoint in the same run.
//!
//! `make build && cargo bench -p signet-bench --bench gate`. Over plain HTTP and over TLS, 20 to
//! 2,000 connections, in turns with `/health/live`: few tokens that come again, tokens that were
//! never seen, and an attack mix. Ratios count, for both sides share the machine with the load.
//! SECONDS sets the length of each run (3). Then: the tail of good requests in an attack at a fixed
//! rate, the tail of the health endpoint beside validation, memory, and the time of a start. `--
//! http` or `-- https` runs one of the two.
#![allow(clippy::print_stdout, reason = "a report is its output")]

use std::{
    fs,
    hint::black_box,
    path::Path,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use rustls::ClientConfig;
use serde_json::{Value, json};
use signet_bench::{
    client::{Failure, Target},
    load::{Load, Measured},
    process::{Scheme, Server},
};
use signet_crypto::{Algorithm, SigningKey, certificate::DevelopmentCa};
use signet_jose::{
    jwk::{Jwk, JwkSet},
    jwt::{JwtSigner, Typ},
};

const ISSUER: &str = "https://id.example.com";
const AUDIENCE: &str = "https://orders.example.com";
const FEW: usize = 500;
const MANY: usize = 400_000;
const THREADS: usize = 2;
const CONNECTIONS: [usize; 5] = [20, 64, 200, 640, 2000];
/// Requests a second of the open load; nine in ten are the attack.
const RATE: u32 = 4_000;

type Requests = Arc<Vec<Vec<u8>>>;

/// What is sent, and the key it was signed with.
struct Traffic {
    key: SigningKey,
    health: Requests,
    few: Requests,
    few_json: Requests,
    many: Requests,
    attack: Requests,
}

fn main() -> Result<(), Failure> {
    // `cargo test` runs benches with --test, and without the release binary there is nothing to
    // measure.
    if std::env::args().any(|argument| argument == "--test") {
        return Ok(());
    }
    let seconds = std::env::var("SECONDS").map_or(Ok(3.0), |text| text.parse())?;
    let time = Duration::from_secs_f64(seconds);
    let traffic = Traffic::new()?;
    let check = bare_check(&traffic)?;
    println!("bare ES256 check, every core busy: {check:.1} us");
    let mut report = json!({ "bare_check_us": check });
    for scheme in [Scheme::Http, Scheme::Https] {
        let name = match scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        let mut asked = std::env::args().filter(|argument| argument.starts_with("http"));
        if asked.next().is_some_and(|asked| asked != name) {
            continue;
        }
        println!("\n{name}");
        report[name] = run(&traffic, scheme, time, check)?;
    }
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/bench");
    fs::create_dir_all(&directory)?;
    fs::write(
        directory.join("gate.json"),
        serde_json::to_vec_pretty(&report)?,
    )?;
    Ok(())
}

fn run(traffic: &Traffic, scheme: Scheme, time: Duration, check: f64) -> Result<Value, Failure> {
    let ca = DevelopmentCa::generate()?;
    let starts: Vec<f64> = (0..5)
        .map(|_| Ok(start(traffic, scheme, &ca)?.1.as_secs_f64() * 1e3))
        .collect::<Result<_, Failure>>()?;
    println!("start to ready, five times: {starts:.1?} ms");
    let (gate, _) = start(traffic, scheme, &ca)?;
    let tls = tls_of(scheme, &gate, &ca)?;
    let load = |requests: &Requests, connections, from| {
        let (requests, tls) = (requests.clone(), tls.clone());
        Ok::<_, Failure>(Load {
            port: gate.port()?,
            tls,
            connections,
            requests,
            from,
            time,
        })
    };
    println!(
        "{:>11} {:>9} {:>9} {:>6} {:>9} {:>9} {:>6} {:>8} {:>8} {:>8} {:>7}",
        "connections",
        "health/s",
        "few/s",
        "ratio",
        "many/s",
        "allowed",
        "ratio",
        "health",
        "few",
        "many",
        "p99.9"
    );
    let (mut rows, mut seen) = (Vec::new(), 0);
    for connections in CONNECTIONS {
        // The server's CPU time for one answer.
        let measure = |requests: &Requests, from| {
            let before = gate.cpu_us()?;
            let measured = load(requests, connections, from)?.closed_from(THREADS)?;
            let answers: u64 = measured.statuses.iter().sum();
            let cpu = (gate.cpu_us()? - before) as f64 / answers as f64;
            Ok::<_, Failure>((measured, cpu))
        };
        let (before, _) = measure(&traffic.health, 0)?;
        let (few, few_cpu) = measure(&traffic.few, 0)?;
        let (few_json, few_json_cpu) = measure(&traffic.few_json, 0)?;
        let (after, health_cpu) = measure(&traffic.health, 0)?;
        let (many, many_cpu) = measure(&traffic.many, seen)?;
        all_accepted(&[&before, &few, &few_json, &after, &many])?;
        // The cache holds fewer tokens than lie between two uses of one.
        seen = many.next % (MANY / THREADS);
        // The floor is measured on both sides of the case, for the machine is never alone.
        let health = (before.rate + after.rate) / 2.0;
        // What the health endpoint and the bare check together allow: both cores are busy in both
        // runs, and the check is made on either.
        let allowed = 1.0 / (1.0 / health + check / 1e6 / cores());
        println!(
            "{connections:>11} {health:>9.0} {:>9.0} {:>6.2} {:>6.2} {:>9.0} {allowed:>9.0} {:>6.2} {health_cpu:>5.1} us {few_cpu:>5.1} us {many_cpu:>5.1} us {:>4} us",
            few.rate,
            few.rate / health,
            few_json.rate / health,
            many.rate,
            many.rate / allowed,
            few.per_mille(999),
        );
        rows.push(json!({
            "connections": connections, "health_per_s": health, "few_per_s": few.rate, "few_ratio": few.rate / health, "few_json_per_s": few_json.rate, "few_json_ratio": few_json.rate / health,
            "many_per_s": many.rate, "many_allowed_per_s": allowed, "many_ratio": many.rate / allowed,
            "cpu_us": { "health": health_cpu, "few": few_cpu, "few_json": few_json_cpu, "many": many_cpu },
            "p99_us": { "health": after.per_mille(990), "few": few.per_mille(990), "many": many.per_mille(990) },
            "p999_us": { "health": after.per_mille(999), "few": few.per_mille(999), "many": many.per_mille(999) },
        }));
    }
    let attack = in_an_attack(traffic, &load)?;
    let beside = health_beside_validation(traffic, &load)?;
    let after_connections = gate.resident_bytes()?;
    let resident = after_a_million(traffic, scheme, &ca)?;
    println!(
        "resident after a million validations: {:.1} MB; after {} connections have come and gone: {:.1} MB",
        resident as f64 / 1e6,
        CONNECTIONS[4],
        after_connections as f64 / 1e6
    );
    Ok(json!({
        "start_ms": starts, "throughput": rows, "attack": attack, "health_beside_validation": beside,
        "resident_bytes": { "after_a_million": resident, "after_connections": after_connections },
    }))
}

/// A gate of its own on 64 connections: a tenth of the tokens never seen before, the rest again and
/// again.
fn after_a_million(traffic: &Traffic, scheme: Scheme, ca: &DevelopmentCa) -> Result<u64, Failure> {
    let (gate, _) = start(traffic, scheme, ca)?;
    let (mut validations, mut from) = (0, 0);
    while validations < 1_000_000 {
        let requests = match validations {
            ..100_000 => &traffic.many,
            _ => &traffic.few,
        };
        let tls = tls_of(scheme, &gate, ca)?;
        let load = Load {
            port: gate.port()?,
            tls,
            connections: 64,
            requests: requests.clone(),
            from,
            time: Duration::from_secs(1),
        };
        let measured = load.closed_from(THREADS)?;
        all_accepted(&[&measured])?;
        from = measured.next % (MANY / THREADS);
        validations += measured.statuses[2];
    }
    gate.resident_bytes()
}

fn tls_of(
    scheme: Scheme,
    gate: &Server,
    ca: &DevelopmentCa,
) -> Result<Option<Arc<ClientConfig>>, Failure> {
    match scheme {
        Scheme::Http => Ok(None),
        Scheme::Https => {
            let target = Target::new(gate.port()?, ca.cert_pem().as_bytes(), None)?;
            Ok(Some(target.tls()))
        }
    }
}

/// Nine in ten requests are refused; the tenth must not suffer.
fn in_an_attack(
    traffic: &Traffic,
    load: &dyn Fn(&Requests, usize, usize) -> Result<Load, Failure>,
) -> Result<Value, Failure> {
    // Three turns of each, and the middle one: a neighbour's burst is not the attack's doing.
    let (mut alone, mut within) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let good = load(&traffic.few, 64, 0)?.open(RATE / 10)?;
        let mixed = load(&traffic.attack, 64, 0)?.open(RATE)?;
        all_accepted(&[&good])?;
        if mixed.statuses[4] < 8 * mixed.statuses[2] {
            return Err("the attack was not refused".into());
        }
        alone.push(good.per_mille(990));
        within.push(mixed.per_mille(990));
    }
    alone.sort_unstable();
    within.sort_unstable();
    let ratio = f64::from(within[1]) / f64::from(alone[1]);
    println!(
        "p99 of the valid tenth at {RATE} requests a second: {} us, {} us without the attack, ratio {ratio:.2}",
        within[1], alone[1]
    );
    Ok(json!({ "rate": RATE, "p99_us": within, "p99_alone_us": alone, "ratio": ratio }))
}

/// The health endpoint's tail at a fixed rate, alone and while tokens that were never seen are
/// checked.
fn health_beside_validation(
    traffic: &Traffic,
    load: &dyn Fn(&Requests, usize, usize) -> Result<Load, Failure>,
) -> Result<Value, Failure> {
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    for turn in 0..3 {
        alone.push(load(&traffic.health, 16, 0)?.open(1000)?.per_mille(990));
        let many = load(&traffic.many, 16, turn * 20_000)?;
        let validation = std::thread::spawn(move || many.open(2000));
        beside.push(load(&traffic.health, 16, 0)?.open(1000)?.per_mille(990));
        all_accepted(&[&validation.join().map_err(|_| "the load ended")??])?;
    }
    alone.sort_unstable();
    beside.sort_unstable();
    println!(
        "p99 of the health endpoint: {} us, {} us while 2000 new tokens a second are checked",
        alone[1], beside[1]
    );
    Ok(json!({ "p99_alone_us": alone, "p99_us": beside }))
}

fn all_accepted(runs: &[&Measured]) -> Result<(), Failure> {
    for run in runs {
        let all: u64 = run.statuses.iter().sum();
        if run.statuses[2] != all || all == 0 {
            return Err(format!("not all were accepted: {:?}", run.statuses).into());
        }
    }
    Ok(())
}

fn cores() -> f64 {
    std::thread::available_parallelism().map_or(1.0, |n| n.get() as f64)
}

fn start(
    traffic: &Traffic,
    scheme: Scheme,
    ca: &DevelopmentCa,
) -> Result<(Server, Duration), Failure> {
    let public = traffic.key.public().ok_or("an asymmetric key")?;
    let jwk = Jwk::for_signatures(public.clone(), Algorithm::Es256, "k1");
    let mut keys = Vec::new();
    JwkSet { keys: vec![jwk] }.write(&mut keys);
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    let (chain, key) = ca.issue_server(&names)?;
    Server::gate(
        |directory, address| {
            fs::write(directory.join("keys.json"), keys)?;
            let mut config = format!("listen = \"{address}\"\n");
            if scheme == Scheme::Https {
                fs::write(directory.join("chain.pem"), chain)?;
                fs::write(directory.join("key.pem"), key.expose())?;
                config += "[tls]\ncertificate = \"chain.pem\"\nkey = \"key.pem\"\n";
            }
            config += &format!(
                "[[issuers]]\nissuer = \"{ISSUER}\"\njwks_file = \"keys.json\"\n[[policies]]\naudiences = [\"{AUDIENCE}\"]\n"
            );
            Ok(config)
        },
        scheme,
    )
}

/// Microseconds of one signature check, averaged over many messages, while every core makes such
/// checks: two cores that share parts are not twice as fast as one, and under load the service has
/// both.
fn bare_check(traffic: &Traffic) -> Result<f64, Failure> {
    const COUNT: u32 = 10_000;
    let verifying = traffic.key.verifying_key()?;
    let signed = (0..COUNT)
        .map(|n| {
            let message = n.to_be_bytes().repeat(80);
            let mut signature = Vec::new();
            traffic.key.sign_into(&message, &mut signature)?;
            Ok((message, signature))
        })
        .collect::<Result<Vec<_>, Failure>>()?;
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..cores() as usize {
            scope.spawn(|| {
                for (message, signature) in &signed {
                    black_box(verifying.verify(message, signature)).expect("it verifies");
                }
            });
        }
    });
    Ok(begun.elapsed().as_secs_f64() * 1e6 / f64::from(COUNT))
}

impl Traffic {
    fn new() -> Result<Traffic, Failure> {
        let key = SigningKey::generate(Algorithm::Es256)?;
        let private = key.to_private()?;
        let again = SigningKey::from_private(Algorithm::Es256, private.expose())?;
        let signer = JwtSigner::new(again, "k1");
        let now = SystemTime::UNIX_EPOCH.elapsed()?.as_secs();
        let token = |n: usize| {
            signer.sign(Typ::AccessToken, |w| {
                w.member("iss").string(ISSUER);
                w.member("sub").string("248289761001");
                w.member("aud").string(AUDIENCE);
                w.member("exp").number(now + 3600);
                w.member("iat").number(now);
                w.member("jti").string(&format!("AaH8mfJ1qzIdsTgm{n:06}"));
                w.member("client_id").string("web");
                w.member("scope").string("openid orders:read orders:write");
            })
        };
        let good = (0..MANY).map(token).collect::<Result<Vec<String>, _>>()?;
        // A quarter each: a forged signature, a header that is no JSON, another length of
        // signature, padding.
        let junk = |n: usize| match n % 4 {
            0 => {
                let (head, signature) = good[n].rsplit_once('.').expect("a JWT");
                let swapped = good[n + 1].rsplit_once('.').expect("a JWT").1;
                assert_ne!(signature, swapped);
                format!("{head}.{swapped}")
            }
            1 => good[n].replacen("eyJ", "eyI", 1),
            2 => format!("{}.{}", good[n], "AA"),
            _ => format!("{}=", good[n]),
        };
        let attack = (0..10_000).map(|n| match n % 10 {
            0 => good[n % FEW].clone(),
            _ => junk(n),
        });
        Ok(Traffic {
            key,
            health: Arc::new(vec![
                b"GET /health/live HTTP/1.1\r\nhost: gate\r\n\r\n".to_vec(),
            ]),
            few: Arc::new(good[..FEW].iter().map(|token| request(token)).collect()),
            few_json: Arc::new(
                good[..FEW]
                    .iter()
                    .map(|token| json_request(token))
                    .collect(),
            ),
            attack: Arc::new(attack.map(|token| request(&token)).collect()),
            many: Arc::new(good.iter().map(|token| request(token)).collect()),
        })
    }
}

/// The token where clients of an API put it.
fn request(token: &str) -> Vec<u8> {
    format!(
        "POST /validate HTTP/1.1\r\nhost: gate\r\nauthorization: Bearer {token}\r\ncontent-length: 0\r\n\r\n"
    )
    .into_bytes()
}

/// The token in a body of JSON, as an application may ask.
fn json_request(token: &str) -> Vec<u8> {
    let body = format!(r#"{{"token":"{token}"}}"#);
    format!(
        "POST /validate HTTP/1.1\r\nhost: gate\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
