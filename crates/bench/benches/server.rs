//! The server over loopback HTTPS with keep-alive, beside what it cannot do without: the same
//! client against a bare hyper echo over TLS, the bare signatures, and, where a request must be
//! durable, one flush of the disk. Server, echo and client are three processes.
//!
//! `SIGNET_BIN` names the server's binary; without it the release build of the same target
//! directory. Figures go to `target/bench/server.json`.

use std::cell::RefCell;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use criterion::Criterion;
use http::{Method, StatusCode};
use signet_bench::client::{Connection, Failure, Target};
use signet_bench::flow::{self, METHODS, Prepared, Provider};
use signet_bench::process::Server;
use signet_bench::report::{Line, Report};
use signet_crypto::{Algorithm, SigningKey};

const ALGORITHMS: [Algorithm; 8] = [
    Algorithm::Es256,
    Algorithm::Es384,
    Algorithm::Es512,
    Algorithm::EdDsa,
    Algorithm::Rs256,
    Algorithm::MlDsa44,
    Algorithm::MlDsa65,
    Algorithm::MlDsa87,
];

struct Bench {
    criterion: Criterion,
    report: Report,
    runtime: Rc<tokio::runtime::Runtime>,
    local: Rc<tokio::task::LocalSet>,
    provider: Rc<Provider>,
    echo: Server,
    echo_target: Target,
}

/// One side of a comparison: what is sent, again and again.
trait Operation {
    /// Does it once.
    fn once(&mut self) -> impl Future<Output = Result<(), Failure>>;
    /// Makes `count` requests ahead of the clock.
    fn prepare(&mut self, _count: usize) -> Result<(), Failure> {
        Ok(())
    }
}

struct Echo {
    connection: Connection,
    body: Bytes,
    trips: usize,
}

impl Operation for Echo {
    async fn once(&mut self) -> Result<(), Failure> {
        for _ in 0..self.trips {
            let answer = self.connection.form("/", None, self.body.clone()).await?;
            debug_assert_eq!(answer.status, StatusCode::OK);
        }
        Ok(())
    }
}

struct TokenRequest<'a> {
    provider: &'a Provider,
    client: &'a flow::RegisteredClient,
    connection: Connection,
    form: &'static str,
    ready: Vec<Prepared>,
}

impl Operation for TokenRequest<'_> {
    async fn once(&mut self) -> Result<(), Failure> {
        let request = self.ready.pop().ok_or("no request was prepared")?;
        let answer = self
            .connection
            .form("/token", request.authorization.as_deref(), request.body)
            .await?;
        expect(&answer, StatusCode::OK)
    }

    fn prepare(&mut self, count: usize) -> Result<(), Failure> {
        self.ready = self.provider.requests(self.client, self.form, count)?;
        Ok(())
    }
}

struct Introspect {
    connection: Connection,
    authorization: String,
    body: Bytes,
}

impl Operation for Introspect {
    async fn once(&mut self) -> Result<(), Failure> {
        let answer = self
            .connection
            .form("/introspect", Some(&self.authorization), self.body.clone())
            .await?;
        if !answer.body.starts_with(b"{\"active\":true") {
            return Err(format!("not active: {}", String::from_utf8_lossy(&answer.body)).into());
        }
        Ok(())
    }
}

/// The authorization code flow of somebody who is logged in and has consented, PKCE and all: two
/// round trips.
struct CodeFlow {
    connection: Connection,
    path: String,
    cookie: String,
    authorization: String,
    redirect_uri: String,
}

impl CodeFlow {
    async fn run(&mut self) -> Result<serde_json::Value, Failure> {
        let headers = [("cookie", self.cookie.as_str())];
        let answer = self
            .connection
            .send(Method::GET, &self.path, &headers, Bytes::new())
            .await?;
        let location = flow::location(&answer)
            .ok_or_else(|| format!("no redirect: {}", String::from_utf8_lossy(&answer.body)))?;
        let code = location
            .split(['?', '&'])
            .find_map(|pair| pair.strip_prefix("code="))
            .ok_or("no code")?;
        let body = format!(
            "grant_type=authorization_code&code={code}&redirect_uri={}&code_verifier={}",
            self.redirect_uri,
            flow::VERIFIER,
        );
        let answer = self
            .connection
            .form("/token", Some(&self.authorization), body.into())
            .await?;
        expect(&answer, StatusCode::OK)?;
        answer.json()
    }
}

impl Operation for CodeFlow {
    async fn once(&mut self) -> Result<(), Failure> {
        self.run().await.map(|_| ())
    }
}

struct Refresh {
    connection: Connection,
    authorization: String,
    refresh_token: String,
}

impl Operation for Refresh {
    async fn once(&mut self) -> Result<(), Failure> {
        let body = format!(
            "grant_type=refresh_token&refresh_token={}",
            self.refresh_token
        );
        let answer = self
            .connection
            .form("/token", Some(&self.authorization), body.into())
            .await?;
        expect(&answer, StatusCode::OK)?;
        self.refresh_token = answer.json()?["refresh_token"]
            .as_str()
            .ok_or("no refresh_token")?
            .to_owned();
        Ok(())
    }
}

fn expect(answer: &signet_bench::client::Answer, status: StatusCode) -> Result<(), Failure> {
    if answer.status == status {
        Ok(())
    } else {
        Err(format!(
            "{} {}",
            answer.status,
            String::from_utf8_lossy(&answer.body)
        )
        .into())
    }
}

/// What the floor consists of besides the round trips.
struct Floor {
    trips: usize,
    body: usize,
    signatures: Vec<(Algorithm, bool)>,
    flushes: usize,
}

impl Bench {
    fn block_on<T>(&self, future: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        self.local.block_on(&self.runtime, future)
    }

    /// Measures `operation` and its floor (echo and flush) in turns, adds the bare signatures to
    /// the floor, and reports both.
    fn compare(
        &mut self,
        name: &str,
        aim: f64,
        floor: &Floor,
        operation: &mut impl Operation,
    ) -> Result<(), Failure> {
        let mut echo = Echo {
            connection: self.block_on(self.echo_target.connect())?,
            body: Bytes::from(vec![b'x'; floor.body]),
            trips: floor.trips,
        };
        let mut flush = Flush::new(self.provider.server.directory())?;
        let samples = Rc::new(RefCell::new(Samples::default()));
        let (runtime, local, shared) = (self.runtime.clone(), self.local.clone(), samples.clone());
        let (provider, echo_server) = (self.provider.clone(), &self.echo);
        self.criterion.bench_function(name, |b| {
            b.iter_custom(|iterations| {
                let mut samples = shared.borrow_mut();
                // A failure stops the benchmark: a figure over errors is worth nothing.
                let taken = (|| -> Result<Duration, Failure> {
                    operation.prepare(iterations as usize)?;
                    let (cpu, echo_cpu) = (provider.server.cpu_us()?, echo_server.cpu_us()?);
                    let (mut value, mut round) = (Duration::ZERO, Duration::ZERO);
                    local.block_on(&runtime, async {
                        for _ in 0..iterations {
                            let start = Instant::now();
                            operation.once().await?;
                            value += start.elapsed();
                            let start = Instant::now();
                            echo.once().await?;
                            for _ in 0..floor.flushes {
                                flush.once()?;
                            }
                            round += start.elapsed();
                        }
                        Ok::<_, Failure>(())
                    })?;
                    samples.add(
                        iterations,
                        value,
                        round,
                        provider.server.cpu_us()? - cpu,
                        echo_server.cpu_us()? - echo_cpu,
                    );
                    Ok(value)
                })();
                match taken {
                    Ok(value) => value,
                    Err(failure) => {
                        eprintln!("{name}: {failure}");
                        std::process::exit(1);
                    }
                }
            });
        });
        let samples = samples.borrow();
        if samples.values.is_empty() {
            return Ok(()); // filtered out on the command line
        }
        let signatures = bare_us(floor)?;
        let mut parts = vec![format!("{} echo", floor.trips)];
        parts.extend(
            floor.signatures.iter().map(|(a, verify)| {
                format!("{} {}", if *verify { "check" } else { "sign" }, a.name())
            }),
        );
        if floor.flushes > 0 {
            parts.push(format!("{} flush", floor.flushes));
        }
        self.report.add(Line {
            name: name.to_owned(),
            value_us: median(&samples.values),
            floor_us: median(&samples.echoes) + signatures,
            floor: parts.join(" + "),
            cpu: Some((
                samples.cpu_us / samples.count,
                samples.echo_cpu_us / samples.count + signatures,
            )),
            aim: Some(aim),
        });
        Ok(())
    }
}

#[derive(Default)]
struct Samples {
    values: Vec<f64>,
    echoes: Vec<f64>,
    count: f64,
    cpu_us: f64,
    echo_cpu_us: f64,
}

impl Samples {
    fn add(&mut self, count: u64, value: Duration, echo: Duration, cpu_us: u64, echo_cpu_us: u64) {
        let n = count as f64;
        self.values.push(value.as_secs_f64() * 1e6 / n);
        self.echoes.push(echo.as_secs_f64() * 1e6 / n);
        self.count += n;
        self.cpu_us += cpu_us as f64;
        self.echo_cpu_us += echo_cpu_us as f64;
    }
}

/// The bare signatures and their checks, in this run; microseconds.
fn bare_us(floor: &Floor) -> Result<f64, Failure> {
    let mut total = 0.0;
    for (algorithm, verify) in &floor.signatures {
        let key = SigningKey::generate(*algorithm)?;
        let check = key.verifying_key()?;
        let mut times = Vec::new();
        for n in 0_u64..300 {
            let mut message = vec![b'm'; 400];
            message[..8].copy_from_slice(&n.to_le_bytes());
            let mut signature = Vec::new();
            let start = Instant::now();
            key.sign_into(&message, &mut signature)?;
            let signed = start.elapsed();
            let start = Instant::now();
            check.verify(&message, &signature)?;
            let taken = if *verify { start.elapsed() } else { signed };
            times.push(taken.as_secs_f64() * 1e6);
        }
        total += median(&times);
    }
    Ok(total)
}

/// A write of one page that is forced to the disk, over what was there: a file that grows would pay
/// for its metadata too.
struct Flush {
    file: std::fs::File,
    page: u64,
}

impl Flush {
    const PAGES: u64 = 256;

    fn new(directory: &Path) -> Result<Flush, Failure> {
        let file = std::fs::File::create(directory.join("flush"))?;
        file.write_all_at(&[0; 4096 * Flush::PAGES as usize], 0)?;
        file.sync_all()?;
        Ok(Flush { file, page: 0 })
    }

    fn once(&mut self) -> Result<(), Failure> {
        self.page = (self.page + 1) % Flush::PAGES;
        self.file.write_all_at(&[b'p'; 4096], self.page * 4096)?;
        Ok(self.file.sync_data()?)
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, argument, directory] = &arguments[..]
        && argument == signet_bench::echo::ARGUMENT
    {
        return signet_bench::echo::serve(Path::new(directory))
            .map_err(|error| error.to_string().into());
    }
    let runtime = Rc::new(
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?,
    );
    let local = Rc::new(tokio::task::LocalSet::new());
    let echo = Server::echo()?;
    let echo_target = Target::new(echo.port()?, &echo.file("ca.pem")?, None)?;
    let starting = Instant::now();
    let provider = Rc::new(local.block_on(&runtime, Provider::start())?);
    eprintln!(
        "first start, keys and all: {:.0} ms; idle {:.1} MB resident",
        starting.elapsed().as_secs_f64() * 1e3,
        provider.server.resident_bytes()? as f64 / 1e6
    );
    let criterion = Criterion::default()
        .sample_size(20)
        .measurement_time(Duration::from_secs(4))
        .configure_from_args();
    let mut bench = Bench {
        criterion,
        report: Report::default(),
        runtime,
        local,
        provider,
        echo,
        echo_target,
    };

    for method in METHODS {
        client_credentials(&mut bench, method, Token::Jwt(Algorithm::Es256))?;
    }
    for algorithm in ALGORITHMS.into_iter().skip(1) {
        client_credentials(&mut bench, "client_secret_basic", Token::Jwt(algorithm))?;
    }
    client_credentials(&mut bench, "client_secret_basic", Token::CompactEd25519)?;
    introspect(&mut bench)?;
    code_flow(&mut bench)?;
    eprintln!(
        "after the run: {:.1} MB resident",
        bench.provider.server.resident_bytes()? as f64 / 1e6
    );
    bench.criterion.final_summary();
    bench.report.write(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/bench"),
        "server",
    )?;
    Ok(())
}

/// What a client's access tokens are.
#[derive(Clone, Copy)]
enum Token {
    Jwt(Algorithm),
    /// with the key that the server has for them unless it is told otherwise
    CompactEd25519,
}

fn client_credentials(
    bench: &mut Bench,
    method: &'static str,
    token: Token,
) -> Result<(), Failure> {
    let (name, algorithm, signed_with, metadata) = match token {
        Token::Jwt(algorithm) => (algorithm.name(), algorithm, algorithm, "{}"),
        Token::CompactEd25519 => (
            "compact-ed25519",
            Algorithm::Es256,
            Algorithm::EdDsa,
            r#"{"access_token_format":"compact"}"#,
        ),
    };
    let metadata = serde_json::from_str(metadata)?;
    let client = bench.block_on(bench.provider.register(method, algorithm, metadata))?;
    let connection = bench.block_on(client.target.connect())?;
    let form = "grant_type=client_credentials";
    let body = bench
        .provider
        .requests(&client, form, 1)?
        .first()
        .map_or(0, |request| request.body.len());
    let assertion = matches!(method, "client_secret_jwt" | "private_key_jwt");
    let mut signatures = vec![(signed_with, false)];
    if method == "private_key_jwt" {
        signatures.push((Algorithm::Es256, true));
    }
    let floor = Floor {
        trips: 1,
        body,
        signatures,
        flushes: usize::from(assertion),
    };
    let name = format!("client_credentials/{method}/{name}");
    let provider = bench.provider.clone();
    bench.compare(
        &name,
        1.25,
        &floor,
        &mut TokenRequest {
            provider: &provider,
            client: &client,
            connection,
            form,
            ready: Vec::new(),
        },
    )
}

fn introspect(bench: &mut Bench) -> Result<(), Failure> {
    let client = bench.block_on(bench.provider.register(
        "client_secret_basic",
        Algorithm::Es256,
        serde_json::json!({}),
    ))?;
    let request = bench
        .provider
        .requests(&client, "grant_type=client_credentials", 1)?
        .pop()
        .ok_or("no request")?;
    let mut connection = bench.block_on(client.target.connect())?;
    let authorization = request.authorization.ok_or("basic")?;
    let answer = bench.block_on(connection.form("/token", Some(&authorization), request.body))?;
    let token = answer.json()?["access_token"]
        .as_str()
        .ok_or("no access_token")?
        .to_owned();
    let body = Bytes::from(format!("token={token}"));
    let floor = Floor {
        trips: 1,
        body: body.len(),
        signatures: Vec::new(),
        flushes: 0,
    };
    bench.compare(
        "introspect",
        1.15,
        &floor,
        &mut Introspect {
            connection,
            authorization,
            body,
        },
    )
}

fn code_flow(bench: &mut Bench) -> Result<(), Failure> {
    let redirect_uri = "http://127.0.0.1:47999/callback";
    let metadata = serde_json::json!({
        "application_type": "native", "redirect_uris": [redirect_uri], "response_types": ["code"],
        "grant_types": ["authorization_code", "refresh_token"],
        "scope": "openid profile offline_access",
        "id_token_signed_response_alg": "ES256",
    });
    let method = "client_secret_basic";
    let client = bench.block_on(bench.provider.register(method, Algorithm::Es256, metadata))?;
    let request = bench
        .provider
        .requests(&client, "", 1)?
        .pop()
        .ok_or("no request")?;
    let authorization = request.authorization.ok_or("basic")?;
    let client_id = client.client_id().to_owned();
    let mut connection = bench.block_on(client.target.connect())?;
    let cookie = bench.block_on(bench.provider.log_in(
        &mut connection,
        &client_id,
        redirect_uri,
    ))?;
    let mut operation = CodeFlow {
        connection,
        path: flow::authorization_path(&client_id, redirect_uri, ""),
        cookie,
        authorization: authorization.clone(),
        redirect_uri: redirect_uri.replace(':', "%3A").replace('/', "%2F"),
    };
    let tokens = bench.block_on(operation.run())?;
    let signatures = vec![(Algorithm::Es256, false), (Algorithm::Es256, false)];
    let floor = Floor {
        trips: 2,
        body: 300,
        signatures: signatures.clone(),
        flushes: 1,
    };
    bench.compare(
        "authorization_code/client_secret_basic/ES256",
        1.4,
        &floor,
        &mut operation,
    )?;

    let refresh_token = tokens["refresh_token"]
        .as_str()
        .ok_or("no refresh_token")?
        .to_owned();
    let connection = bench.block_on(client.target.connect())?;
    let floor = Floor {
        trips: 1,
        body: 600,
        signatures,
        flushes: 1,
    };
    let mut operation = Refresh {
        connection,
        authorization,
        refresh_token,
    };
    bench.compare(
        "refresh_token/client_secret_basic/ES256",
        1.4,
        &floor,
        &mut operation,
    )
}
