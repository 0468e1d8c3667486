//! Others' programs with the same work, on the same cores, in turns with ours: fetched from their
//! package registries, in the versions listed here, only where `--peers` asks for it.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant, SystemTime},
};

use bytes::Bytes;
use http::{Method, StatusCode};
use signet_crypto::{Algorithm, SigningKey, certificate::DevelopmentCa};
use signet_encoding::base64url;
use signet_jose::{
    jwk::{Jwk, JwkSet},
    jwt::{JwtSigner, Typ},
};
use signet_verify::{Issuer, KeySource, Policy, Presented, Verifier};

use crate::client::{Failure, Target};
use crate::load::arrivals::Hold;
use crate::load::scenario::{Kind, Scenario, Site, TABLE, client_credentials_of};
use crate::process::Server;
use crate::report::record::{Cpu, Named, Row, Unit};
use crate::report::summary::Summary;
use crate::run::{Options, Part, Run};

/// Peers.
pub const PART: Part = Part {
    name: "peers",
    title: "Peers: others' programs with the same work, here",
    plan,
    run,
};

/// From npm.
const NODE: [(&str, &str); 3] = [
    ("oidc-provider", "9.13.3"),
    ("jose", "6.2.17"),
    ("jsonwebtoken", "9.0.3"),
];
/// From PyPI; the last is what the first checks signatures with.
const PYTHON: [(&str, &str); 3] = [
    ("PyJWT", "2.15.1"),
    ("joserfc", "1.8.0"),
    ("cryptography", "50.0.2"),
];
/// From Maven Central, with what they need of it: `peers/java/pom.xml` names the same. The
/// framework's version settles those of the others.
const JAVA: [(&str, &str); 3] = [
    ("spring-boot", "3.5.7"),
    ("spring-security-oauth2-authorization-server", "1.5.3"),
    ("nimbus-jose-jwt", "9.47"),
];
/// From Maven Central, too: a distribution, unpacked.
const KEYCLOAK_VERSION: &str = "26.4.5";
/// From the module proxy: `peers/go/go.mod` names the same.
const GO: (&str, &str) = ("golang-jwt", "5.3.0");
/// From crates.io: `peers/rust/Cargo.toml` names the same.
const RUST: (&str, &str) = ("jsonwebtoken (Rust)", "10.2.0");
/// Libraries that verify tokens: language, library, algorithms that it knows.
const LIBRARIES: [(&str, &str, &[Algorithm]); 7] = [
    (
        "Rust",
        "jsonwebtoken (Rust)",
        &[Algorithm::Es256, Algorithm::EdDsa, Algorithm::Rs256],
    ),
    (
        "Go",
        "golang-jwt",
        &[Algorithm::Es256, Algorithm::EdDsa, Algorithm::Rs256],
    ),
    // EdDSA needs a further library there.
    (
        "Java",
        "nimbus-jose-jwt",
        &[Algorithm::Es256, Algorithm::Rs256],
    ),
    (
        "Node.js",
        "jose",
        &[Algorithm::Es256, Algorithm::EdDsa, Algorithm::Rs256],
    ),
    (
        "Node.js",
        "jsonwebtoken",
        &[Algorithm::Es256, Algorithm::Rs256],
    ),
    (
        "Python",
        "PyJWT",
        &[Algorithm::Es256, Algorithm::EdDsa, Algorithm::Rs256],
    ),
    (
        "Python",
        "joserfc",
        &[Algorithm::Es256, Algorithm::EdDsa, Algorithm::Rs256],
    ),
];

const ISSUER: &str = "https://id.example.com";
const AUDIENCE: &str = "https://orders.example.com";
const SECRET: &str = "a secret of sixty-four bytes that nobody but the two of them has";
const TURNS: usize = 3;
const CONNECTIONS: usize = 16;
/// How long an operation waits for its turn and its answer: a program that is still cold, under a
/// rate that is too great for it, answers late but rightly.
const PATIENCE: Duration = Duration::from_secs(4);
/// How long a program may take until it answers.
const START: Duration = Duration::from_secs(120);

fn plan(options: &Options) -> f64 {
    if !options.peers {
        return 0.0;
    }
    let libraries = LIBRARIES.iter().map(|(_, _, known)| known.len() as f64);
    180.0 + (libraries.sum::<f64>() * 3.0 + 120.0) * options.pace
}

fn run(run: &mut Run) -> Result<(), Failure> {
    if !run.options.peers {
        run.skip(
            "peers",
            "they are fetched from package registries, where --peers asks for it",
        );
        return Ok(());
    }
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers");
    std::fs::create_dir_all(&place)?;
    let place = place.canonicalize()?;
    run.progress
        .says("peers: from npm, PyPI, Maven Central, the module proxy and crates.io");
    let fetched = [
        ("Node.js", npm(&place)),
        ("Python", pypi(&place)),
        ("Java", maven(&place)),
        ("Keycloak", keycloak(&place)),
        ("Go", go(&place)),
        ("Rust", cargo(&place)),
    ];
    for (language, result) in &fetched {
        if let Err(failure) = result {
            run.skip(format!("peers: {language}"), failure.to_string());
        }
    }
    let has = |language: &str| {
        let found = fetched.iter().find(|(of, _)| *of == language);
        found.is_some_and(|(_, result)| result.is_ok())
    };
    let versions = NODE.iter().chain(&PYTHON).chain(&JAVA);
    for (name, version) in versions.chain([&("Keycloak", KEYCLOAK_VERSION), &GO, &RUST]) {
        let versions = &mut run.record.machine.versions;
        versions.insert((*name).to_owned(), format!("{name} {version}"));
    }
    for (language, library, known) in LIBRARIES.iter().filter(|row| has(row.0)) {
        for &algorithm in *known {
            verify(run, &place, language, library, algorithm)?;
        }
    }
    if has("Node.js") {
        provider(run, &place, &OIDC_PROVIDER)?;
    }
    if has("Java") {
        provider(run, &place, &SPRING)?;
    }
    if has("Keycloak") {
        provider(run, &place, &KEYCLOAK)?;
    }
    run.progress.done(plan(&run.options));
    Ok(())
}

/// The program that verifies with a language's libraries; its arguments follow.
fn verifying(language: &str, place: &Path) -> Command {
    let script = |interpreter: PathBuf, name: &str| {
        let mut command = Command::new(interpreter);
        command.arg(scripts().join(name));
        command
    };
    match language {
        "Node.js" => script("node".into(), "verify.mjs"),
        "Python" => script(place.join("venv/bin/python"), "verify.py"),
        "Java" => java(place, "Verify.java"),
        "Go" => Command::new(place.join("go-verify")),
        _ => Command::new(place.join("rust/release/verify")),
    }
}

/// A source file of Java, which the virtual machine compiles.
fn java(place: &Path, source: &str) -> Command {
    let mut java = Command::new("java");
    java.arg("-cp").arg(place.join("java/*"));
    java.arg(scripts().join("java").join(source));
    java
}

fn maven(place: &Path) -> Result<(), Failure> {
    let mut maven = Command::new("mvn");
    maven
        .args(["-q", "-B", "-f"])
        .arg(scripts().join("java/pom.xml"))
        .arg("org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies")
        .arg(format!(
            "-DoutputDirectory={}",
            place.join("java").display()
        ));
    done(&mut maven)
}

/// Unpacks the distribution, and fixes what is fixed at its build.
fn keycloak(place: &Path) -> Result<(), Failure> {
    let home = place.join(format!("keycloak-{KEYCLOAK_VERSION}"));
    let import = home.join("data/import");
    if !import.exists() {
        let artifact = format!("org.keycloak:keycloak-quarkus-dist:{KEYCLOAK_VERSION}:zip");
        let mut maven = Command::new("mvn");
        maven
            .args(["-q", "-B"])
            .arg("org.apache.maven.plugins:maven-dependency-plugin:3.8.1:unpack")
            .arg(format!("-Dartifact={artifact}"))
            .arg(format!("-DoutputDirectory={}", place.display()));
        done(&mut maven)?;
        let mut build = Command::new("sh");
        build
            .arg(home.join("bin/kc.sh"))
            .args(["build", "--db=dev-mem"]);
        done(&mut build)?;
        std::fs::create_dir_all(&import)?;
    }
    std::fs::copy(
        scripts().join("keycloak-realm.json"),
        import.join("bench-realm.json"),
    )?;
    Ok(())
}

fn go(place: &Path) -> Result<(), Failure> {
    let mut go = Command::new("go");
    go.args(["build", "-o"]).arg(place.join("go-verify"));
    done(go.arg(".").current_dir(scripts().join("go")))
}

fn cargo(place: &Path) -> Result<(), Failure> {
    let mut cargo = Command::new("cargo");
    cargo
        .args([
            "build",
            "--quiet",
            "--release",
            "--locked",
            "--manifest-path",
        ])
        .arg(scripts().join("rust/Cargo.toml"))
        .arg("--target-dir")
        .arg(place.join("rust"));
    done(&mut cargo)
}

/// A provider that is started here.
struct Peer {
    name: &'static str,
    version: &'static str,
    /// Its issuer's path.
    issuer: &'static str,
    /// Its token endpoint, from the root.
    path: &'static str,
    /// Its keys, from the root.
    keys: &'static str,
    /// Starts it: the place of the peers, and a directory where it finds its keys and where its
    /// port is written.
    command: fn(&Path, &Path) -> Result<Command, Failure>,
}

const OIDC_PROVIDER: Peer = Peer {
    name: NODE[0].0,
    version: NODE[0].1,
    issuer: "",
    path: "/token",
    keys: "/jwks",
    command: |_, directory| {
        let mut node = Command::new("node");
        node.arg(scripts().join("provider.mjs")).arg(directory);
        Ok(node)
    },
};

const SPRING: Peer = Peer {
    name: "Spring Authorization Server",
    version: JAVA[1].1,
    issuer: "",
    path: "/oauth2/token",
    keys: "/oauth2/jwks",
    command: |place, directory| {
        let mut java = java(place, "Provider.java");
        java.arg(directory);
        Ok(java)
    },
};

/// The production mode over a database in memory. It makes its signing key itself.
const KEYCLOAK: Peer = Peer {
    name: "Keycloak",
    version: KEYCLOAK_VERSION,
    issuer: "/realms/bench",
    path: "/realms/bench/protocol/openid-connect/token",
    keys: "/realms/bench/protocol/openid-connect/certs",
    command: |place, directory| {
        let home = place.join(format!("keycloak-{KEYCLOAK_VERSION}"));
        let port = std::net::TcpListener::bind(("127.0.0.1", 0))?
            .local_addr()?
            .port();
        std::fs::write(directory.join("port"), port.to_string())?;
        // As its script starts it, which would outlive a signal to the script's own process.
        let mut java = Command::new("java");
        java.args(["-Xms64m", "-Xmx512m"])
            .arg("-Djava.util.logging.manager=org.jboss.logmanager.LogManager")
            .arg("-Djava.security.egd=file:/dev/urandom")
            .arg("--add-opens=java.base/java.util=ALL-UNNAMED")
            .arg("--add-opens=java.base/java.util.concurrent=ALL-UNNAMED")
            .arg("--add-opens=java.base/java.security=ALL-UNNAMED")
            .arg(format!("-Dkc.home.dir={}", home.display()))
            .arg("-cp")
            .arg(home.join("lib/quarkus-run.jar"))
            .arg("io.quarkus.bootstrap.runner.QuarkusEntryPoint")
            .args(["start", "--optimized", "--import-realm", "--cache=local"])
            .args(["--http-enabled=false", "--https-protocols=TLSv1.3"])
            .args(["--http-host=127.0.0.1", "--log-level=warn"])
            .arg(format!("--https-port={port}"))
            .arg(format!("--hostname=https://localhost:{port}"));
        for (option, file) in [("", "chain.pem"), ("-key", "key.pem")] {
            let file = directory.join(file);
            java.arg(format!(
                "--https-certificate{option}-file={}",
                file.display()
            ));
        }
        Ok(java)
    },
};

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers")
}

fn npm(place: &Path) -> Result<(), Failure> {
    let packages = NODE.map(|(name, version)| format!("{name}@{version}"));
    std::fs::write(place.join("package.json"), "{ \"private\": true }\n")?;
    let mut npm = Command::new("npm");
    npm.args([
        "install",
        "--no-save",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--prefix",
    ]);
    done(npm.arg(place).args(packages))
}

fn pypi(place: &Path) -> Result<(), Failure> {
    let environment = place.join("venv");
    done(
        Command::new("python3")
            .args(["-m", "venv"])
            .arg(&environment),
    )?;
    let packages = PYTHON.map(|(name, version)| format!("{name}=={version}"));
    let mut pip = Command::new(environment.join("bin/pip"));
    pip.args([
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--only-binary",
        ":all:",
    ]);
    done(pip.args(packages))
}

fn done(command: &mut Command) -> Result<(), Failure> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{program}: {said}").into())
}

/// A library beside ours, one thread each, in turns: tokens that were never seen (ours keeps none).
fn verify(
    run: &mut Run,
    place: &Path,
    language: &str,
    library: &str,
    algorithm: Algorithm,
) -> Result<(), Failure> {
    const TOKENS: usize = 64;
    let label = algorithm.name();
    run.progress
        .says(&format!("peers: {library} verifies {label}"));
    let key = SigningKey::generate(algorithm)?;
    let public = key.public().ok_or("an asymmetric key")?.clone();
    let directory = tempfile::tempdir()?;
    let keys = vec![Jwk::for_signatures(public, algorithm, "k1")];
    std::fs::write(directory.path().join("jwk.json"), first_of(keys.clone())?)?;
    let signer = JwtSigner::new(key, "k1");
    let now = SystemTime::UNIX_EPOCH.elapsed()?.as_secs();
    let token = |n: usize| {
        signer.sign(Typ::AccessToken, |w| {
            w.member("iss").string(ISSUER);
            w.member("sub").string("248289761001");
            w.member("aud").string(AUDIENCE);
            w.member("exp").number(now + 3600);
            w.member("iat").number(now);
            w.member("jti").string(&format!("AaH8mfJ1qzIdsTgm0Z{n:04}"));
            w.member("client_id").string("web");
        })
    };
    let tokens: Vec<String> = (0..TOKENS).map(token).collect::<Result<_, _>>()?;
    std::fs::write(directory.path().join("tokens"), tokens.join("\n") + "\n")?;
    let verifier = Verifier::builder()
        .issuer(Issuer::new(ISSUER, KeySource::Memory(JwkSet { keys })))
        .policy(Policy::access_token(AUDIENCE).algorithms(&[algorithm]))
        .cache(0, 1 << 20)
        .build()
        .map_err(|error| format!("{error:?}"))?;

    let time = run.options.time(0.6);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let begun = Instant::now();
        let mut count = 0_u32;
        while begun.elapsed() < time {
            for token in &tokens {
                let verified = verifier.verify(&Presented::token(token), now);
                verified.map_err(|refusal| format!("{refusal:?}"))?;
            }
            count += TOKENS as u32;
        }
        ours.push(begun.elapsed().as_secs_f64() * 1e6 / f64::from(count));
        let output = verifying(language, place)
            .arg(library)
            .arg(directory.path())
            .args([label, &time.as_secs_f64().to_string()])
            .current_dir(place)
            .output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let rate: f64 = said.trim().parse().map_err(|_| {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            format!("{library} {label}: {said}")
        })?;
        theirs.push(1e6 / rate);
    }
    let name = format!("verify a JWT never seen/{label}/{library}");
    let mut row = Row::new("peers", name, Unit::Microseconds, Summary::of(ours));
    row.peer = Some(Named {
        name: format!("{library}, {language}"),
        value: Summary::of(theirs),
    });
    run.add(row);
    Ok(())
}

/// The first of some public keys, as JSON.
fn first_of(keys: Vec<Jwk>) -> Result<Vec<u8>, Failure> {
    let mut set = Vec::new();
    JwkSet { keys }.write(&mut set);
    let set: serde_json::Value = serde_json::from_slice(&set)?;
    Ok(serde_json::to_vec(&set["keys"][0])?)
}

/// `PRIVATE KEY` of RFC 7468 section 10.
fn pem(pkcs8: &[u8]) -> String {
    let text = base64url::encode(pkcs8).replace('-', "+").replace('_', "/");
    let padding = "=".repeat((4 - text.len() % 4) % 4);
    format!("-----BEGIN PRIVATE KEY-----\n{text}{padding}\n-----END PRIVATE KEY-----\n")
}

/// `client_credentials` of another provider beside ours: the most that is answered rightly of a
/// rate that is too great, by the same open load, in turns.
fn provider(run: &mut Run, place: &Path, peer: &Peer) -> Result<(), Failure> {
    let Peer { name, version, .. } = *peer;
    run.progress.says(&format!("peers: {name}"));
    let ca = DevelopmentCa::generate()?;
    let (chain, key) = ca.issue_server(&["localhost".to_owned(), "127.0.0.1".to_owned()])?;
    let signing = SigningKey::generate(Algorithm::Es256)?;
    let public = signing.public().ok_or("an asymmetric key")?.clone();
    let jwk = Jwk::for_signatures(public, Algorithm::Es256, "k1");
    let private = pem(signing.to_private()?.expose());
    let known = first_of(vec![jwk])?;
    let server = Server::program(|directory| {
        std::fs::write(directory.join("chain.pem"), &chain)?;
        std::fs::write(directory.join("key.pem"), key.expose())?;
        std::fs::write(directory.join("signing.pem"), &private)?;
        std::fs::write(directory.join("jwk.json"), &known)?;
        let mut command = (peer.command)(place, directory)?;
        command.current_dir(place);
        Ok(command)
    })?;
    let port = server.port()?;
    let target = Target::new(port, ca.cert_pem().as_bytes(), None)?;
    let keys = keys_of(&target, peer.keys).map_err(|failure| {
        let log = server.file("log").unwrap_or_default();
        format!("{name}: {failure}: {}", String::from_utf8_lossy(&log))
    })?;
    let issuer = format!("https://localhost:{port}{}", peer.issuer);
    // RFC 6749 section 2.3.1: both are form-encoded first.
    let secret = SECRET.replace(' ', "%20");
    let theirs = client_credentials_of(&[port], peer.path, &issuer, "bench", &secret, keys);
    let site = Site::start(1, None)?;
    let kind: &Kind = &TABLE[0];
    let ours = (kind.prepare)(&site, 0)?;
    let targets = site.targets()?;

    let time = run.options.time(2.0);
    let (mut our_rates, mut their_rates) = (Vec::new(), Vec::new());
    let (mut cpu, mut answers) = (0, 0);
    for turn in 0..=TURNS {
        let before = site.provider.cpu_us()?;
        let (rate, done) = most(&*ours, &targets, 60_000.0, time)?;
        let (their_rate, _) = most(&*theirs, std::slice::from_ref(&target), 12_000.0, time)?;
        // The first turn warms both.
        if turn > 0 {
            cpu += site.provider.cpu_us()? - before;
            answers += done;
            our_rates.push(rate);
            their_rates.push(their_rate);
        }
    }
    if their_rates.iter().all(|rate| *rate == 0.0) {
        let why = "none of its answers came in time, at a rate that is too great for it";
        run.skip(name, why);
        return Ok(());
    }
    let row_name = "client_credentials/client_secret_basic/ES256, most answered";
    let mut row = Row::new("peers", row_name, Unit::PerSecond, Summary::of(our_rates));
    row.peer = Some(Named {
        name: format!("{name} {version}, nothing durable"),
        value: Summary::of(their_rates),
    });
    row.cpu = Some(Cpu {
        ours: cpu as f64 / answers.max(1) as f64,
        floor: None,
    });
    run.add(row);
    Ok(())
}

/// The keys of a program that is starting, once it answers.
fn keys_of(target: &Target, path: &str) -> Result<JwkSet, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let begun = Instant::now();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        loop {
            let asked = async {
                let mut connection = target.connect().await?;
                let answer = connection.send(Method::GET, path, &[], Bytes::new());
                let answer = answer.await?;
                if answer.status != StatusCode::OK {
                    return Err(Failure::from(format!("{path}: {}", answer.status)));
                }
                JwkSet::parse(&answer.body).map_err(|error| format!("the keys: {error}").into())
            };
            match asked.await {
                Err(_) if begun.elapsed() < START => {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                result => return result,
            }
        }
    })
}

/// Right answers a second of a rate that is too great, and how many they were.
fn most(
    scenario: &dyn Scenario,
    targets: &[Target],
    rate: f64,
    time: Duration,
) -> Result<(f64, u64), Failure> {
    let hold = Hold {
        rate,
        time,
        patience: PATIENCE,
        threads: 2,
        connections: CONNECTIONS,
    };
    let outcome = hold.run(targets, &|number| scenario.actor(number))?;
    outcome.all_right()?;
    scenario.settle()?;
    Ok((outcome.right as f64 / outcome.seconds, outcome.right))
}
