//! Latency by scenario, client authentication, algorithm and number of nodes: one request at a time
//! over loopback HTTPS with keep-alive, over the nodes in turns, each node a process of the release
//! binary. After every operation comes its floor.

use std::time::Instant;

use signet_crypto::Algorithm;
use tokio::{runtime::Runtime, task::LocalSet};

use crate::client::{Failure, Target};
use crate::floor::{Bare, Floor};
use crate::load::flow::{METHODS, Provider};
use crate::load::operation::{CodeFlow, Introspect, Operation, Refresh, TokenRequest};
use crate::process::Server;
use crate::profile::Recording;
use crate::report::published;
use crate::report::record::{Cpu, Measure, Row, Unit};
use crate::report::summary::Summary;
use crate::run::{Options, Part, Run};

/// Latency by scenario, algorithm and nodes.
pub const PART: Part = Part {
    name: "grid",
    title: "Latency: one request at a time, by algorithm and nodes",
    plan,
    run,
};

/// In the order of the published table, and the one that it has not.
pub const ALGORITHMS: [Algorithm; 8] = [
    Algorithm::Es256,
    Algorithm::Es384,
    Algorithm::Es512,
    Algorithm::EdDsa,
    Algorithm::MlDsa44,
    Algorithm::MlDsa65,
    Algorithm::MlDsa87,
    Algorithm::Rs256,
];

/// Turns of a cell, and of the floor beside it.
const TURNS: u32 = 20;
/// Seconds that a profile takes.
const PROFILED: f64 = 0.6;
/// A client's redirect, which nobody listens at.
const REDIRECT: &str = "http://127.0.0.1:47999/callback";

/// What one cell measures.
#[derive(Clone, Copy)]
enum Cell {
    /// `client_credentials` with this method; compact tokens where true.
    Token(&'static str, Algorithm, bool),
    Introspection(Algorithm),
    /// Authorization code with PKCE of somebody who is logged in, then rotation of its refresh
    /// token.
    Code(Algorithm),
}

fn nodes(options: &Options) -> &'static [usize] {
    options.choose(&[1, 3], &[1, 2, 3, 5, 7, 10])
}

/// Seconds of a cell.
fn seconds(options: &Options) -> f64 {
    options.choose(1.5, 3.0)
}

impl Cell {
    /// The first part of its rows' names.
    fn name(self) -> String {
        match self {
            Cell::Token(method, algorithm, compact) => {
                let format = if compact { "compact-" } else { "" };
                format!("client_credentials/{method}/{format}{}", algorithm.name())
            }
            Cell::Introspection(algorithm) => {
                format!("introspection/client_secret_basic/{}", algorithm.name())
            }
            Cell::Code(algorithm) => {
                format!(
                    "authorization_code/client_secret_basic/{}",
                    algorithm.name()
                )
            }
        }
    }
}

fn cells(options: &Options, nodes: usize) -> Vec<Cell> {
    let mut cells = all_cells(options, nodes);
    if let Some(only) = &options.only {
        cells.retain(|cell| format!("{}/{nodes}", cell.name()).contains(only));
    }
    cells
}

fn all_cells(options: &Options, nodes: usize) -> Vec<Cell> {
    const BASIC: &str = "client_secret_basic";
    let mut cells = Vec::new();
    for algorithm in ALGORITHMS {
        let first = algorithm == Algorithm::Es256;
        for method in METHODS {
            let several = options.full || nodes == 1;
            if options.full || method == BASIC || (first && several) {
                cells.push(Cell::Token(method, algorithm, false));
            }
        }
        if options.full || first || (algorithm == Algorithm::MlDsa44 && nodes == 1) {
            cells.push(Cell::Introspection(algorithm));
            cells.push(Cell::Code(algorithm));
        }
    }
    if nodes == 1 {
        cells.push(Cell::Token(BASIC, Algorithm::EdDsa, true));
    }
    cells
}

fn plan(options: &Options) -> f64 {
    let counts = nodes(options).iter();
    let counts = counts.map(|&nodes| {
        let cells = cells(options, nodes).len() as f64;
        // A start and its rest, and a registration.
        nodes as f64 * 2.0 + 4.0 + cells * (seconds(options) * options.pace + 0.2)
    });
    counts.sum::<f64>() + growth_seconds(options)
}

fn growth_seconds(options: &Options) -> f64 {
    options.choose(0.0, 30.0 + 6.0 * options.pace)
}

struct Grid<'r> {
    run: &'r mut Run,
    runtime: Runtime,
    local: LocalSet,
    echo: Server,
    echo_target: Target,
}

fn run(run: &mut Run) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let echo = Server::echo()?;
    let echo_target = Target::new(echo.port()?, &echo.file("ca.pem")?, None)?;
    let mut grid = Grid {
        run,
        runtime,
        local: LocalSet::new(),
        echo,
        echo_target,
    };
    for &nodes in nodes(&grid.run.options) {
        if cells(&grid.run.options, nodes).is_empty() {
            continue;
        }
        let begun = grid.run.options.pace;
        grid.run
            .progress
            .says(&format!("grid: {nodes} nodes start"));
        let provider = grid.block_on(Provider::start(nodes, None))?;
        grid.block_on(provider.settled())?;
        // Several nodes need every core.
        let servers = [grid.echo.id(), provider.server.id()];
        let _together = match nodes {
            1 => grid.run.together(&servers),
            _ => None,
        };
        for cell in cells(&grid.run.options, nodes) {
            grid.cell(&provider, cell)?;
            let took = seconds(&grid.run.options) * begun + 0.2;
            grid.run.progress.done(took);
        }
        grid.run.progress.done(nodes as f64 * 2.0 + 4.0);
    }
    if grid.run.options.full && grid.run.options.only.is_none() {
        grid.growth()?;
        let took = growth_seconds(&grid.run.options);
        grid.run.progress.done(took);
    }
    Ok(())
}

impl Grid<'_> {
    fn block_on<T>(&self, future: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        self.local.block_on(&self.runtime, future)
    }

    fn cell(&mut self, provider: &Provider, cell: Cell) -> Result<(), Failure> {
        match cell {
            Cell::Token(method, algorithm, compact) => {
                self.token(provider, method, algorithm, compact)
            }
            Cell::Introspection(algorithm) => self.introspection(provider, algorithm),
            Cell::Code(algorithm) => self.code(provider, algorithm),
        }
    }

    fn token(
        &mut self,
        provider: &Provider,
        method: &'static str,
        algorithm: Algorithm,
        compact: bool,
    ) -> Result<(), Failure> {
        let nodes = provider.count();
        // The format is the client's, and so is the key's algorithm, which compact tokens have of
        // their own.
        let (record, more, label) = match compact {
            false => (
                algorithm,
                serde_json::json!({}),
                algorithm.name().to_owned(),
            ),
            true => (
                Algorithm::Es256,
                serde_json::json!({"access_token_format": "compact"}),
                format!("compact-{}", algorithm.name()),
            ),
        };
        let client = self.block_on(provider.register(method, record, more))?;
        let mut operation = self.block_on(TokenRequest::new(provider, &client))?;
        let mut signatures = vec![(algorithm, false)];
        if method == "private_key_jwt" {
            signatures.push((Algorithm::Es256, true));
        }
        // An assertion is used once, and that must be durable (RFC 7523 section 3).
        let assertion = matches!(method, "client_secret_jwt" | "private_key_jwt");
        let floor = Floor {
            trips: 1,
            body: operation.body()?,
            signatures,
            flushes: usize::from(assertion),
        };
        let name = format!("client_credentials/{method}/{label}/{nodes}");
        let mut row = self.measure(provider, &name, &floor, &mut operation)?;
        if !compact {
            let published = published::latency_us("client_credentials", method, &label, nodes);
            row = row.published(published, published::LATENCY);
        }
        if nodes == 1 {
            let (wall, cpu) = match method {
                "client_secret_jwt" | "private_key_jwt" => (1.25, None),
                _ => (1.15, Some(1.2)),
            };
            row = row.goal(Measure::OverFloor, wall);
            if let Some(cpu) = cpu {
                row = row.goal(Measure::CpuOverFloor, cpu);
            }
            row = row.goal(Measure::OverPublished, 1.0);
        }
        self.add(provider, row, &mut operation)
    }

    fn introspection(&mut self, provider: &Provider, algorithm: Algorithm) -> Result<(), Failure> {
        let (nodes, method) = (provider.count(), "client_secret_basic");
        let client = provider.register(method, algorithm, serde_json::json!({}));
        let client = self.block_on(client)?;
        let mut operation = self.block_on(Introspect::new(provider, &client))?;
        let floor = Floor {
            trips: 1,
            body: operation.body(),
            signatures: Vec::new(),
            flushes: 0,
        };
        let algorithm = algorithm.name();
        let name = format!("introspection/{method}/{algorithm}/{nodes}");
        let row = self.measure(provider, &name, &floor, &mut operation)?;
        let published = published::latency_us("introspection", method, algorithm, nodes);
        let row = row.published(published, published::LATENCY);
        let row = match nodes {
            1 => row
                .goal(Measure::OverFloor, 1.1)
                .goal(Measure::CpuOverFloor, 1.25)
                .goal(Measure::OverPublished, 1.0),
            _ => row,
        };
        self.add(provider, row, &mut operation)
    }

    fn code(&mut self, provider: &Provider, algorithm: Algorithm) -> Result<(), Failure> {
        let nodes = provider.count();
        // The ID token may be signed with what registration lets a client name.
        let metadata = serde_json::json!({
            "application_type": "native", "redirect_uris": [REDIRECT], "response_types": ["code"],
            "grant_types": ["authorization_code", "refresh_token"],
            "scope": "openid profile offline_access",
            "id_token_signed_response_alg": algorithm.name(),
        });
        let client = provider.register("client_secret_basic", algorithm, metadata);
        let client = self.block_on(client)?;
        let mut operation = self.block_on(CodeFlow::new(provider, &client, REDIRECT))?;
        // Access token and ID token; the code's use must be durable, and what was given for it.
        let signatures = vec![(algorithm, false), (algorithm, false)];
        let floor = Floor {
            trips: 2,
            body: 300,
            signatures,
            flushes: 1,
        };
        let label = algorithm.name();
        let name = format!("authorization_code/client_secret_basic/{label}/{nodes}");
        let row = self.measure(provider, &name, &floor, &mut operation)?;
        let published = published::latency_us("authorization_code", "-", label, nodes);
        let row = row.published(published, published::LATENCY);
        let row = match nodes {
            1 => row
                .goal(Measure::OverFloor, 1.4)
                .goal(Measure::OverPublished, 1.0),
            _ => row,
        };
        self.add(provider, row, &mut operation)?;

        let mut operation = self.block_on(Refresh::new(&mut operation, &client))?;
        let floor = Floor {
            trips: 1,
            body: 600,
            ..floor
        };
        let name = format!("refresh_token/client_secret_basic/{label}/{nodes}");
        let row = self.measure(provider, &name, &floor, &mut operation)?;
        let row = match nodes {
            1 => row.goal(Measure::OverFloor, 1.4),
            _ => row,
        };
        self.add(provider, row, &mut operation)
    }

    /// Keeps a row, and where its time goes if it missed a goal.
    fn add(
        &mut self,
        provider: &Provider,
        row: Row,
        operation: &mut impl Operation,
    ) -> Result<(), Failure> {
        let missed = row.has_missed().then(|| row.name.clone());
        self.run.add(row);
        match missed {
            Some(name) => self.profile(provider, &name, operation),
            None => Ok(()),
        }
    }

    /// Keeps what part of the servers' time each group has while the operation is repeated.
    fn profile(
        &mut self,
        provider: &Provider,
        name: &str,
        operation: &mut impl Operation,
    ) -> Result<(), Failure> {
        const BATCH: usize = 64;
        let servers: Vec<u32> = provider.nodes().map(Server::id).collect();
        let time = self.run.options.time(PROFILED);
        let shares = match Recording::begin(&servers, time) {
            Ok(mut recording) => {
                while recording.goes_on()? {
                    operation.prepare(BATCH)?;
                    self.block_on(async {
                        for _ in 0..BATCH {
                            operation.once().await?;
                        }
                        Ok(())
                    })?;
                }
                recording.shares()
            }
            Err(missing) => Err(missing),
        };
        self.run.add_profile(PART.name, name, shares);
        Ok(())
    }

    /// Measures an operation and its floor in turns: after every operation comes the floor's, so
    /// that neither finds the cores more awake than the other.
    fn measure(
        &mut self,
        provider: &Provider,
        name: &str,
        floor: &Floor,
        operation: &mut impl Operation,
    ) -> Result<Row, Failure> {
        self.run.progress.says(name);
        let time = self.run.options.time(seconds(&self.run.options));
        let directory = provider.server.directory();
        let mut bare = self.block_on(Bare::new(floor, &self.echo_target, directory))?;
        // A first round warms connections, caches and the branch predictor, and says how many
        // operations a turn has.
        const WARM: usize = 16;
        operation.prepare(WARM)?;
        let begun = Instant::now();
        self.block_on(async {
            for _ in 0..WARM {
                operation.once().await?;
                bare.once().await?;
            }
            Ok(())
        })?;
        let each = begun.elapsed() / WARM as u32;
        let count = (time / TURNS).as_secs_f64() / each.as_secs_f64();
        let count = (count as usize).max(2);

        let (mut values, mut floors) = (Vec::new(), Vec::new());
        let (mut cpu, mut floor_cpu) = (0, 0);
        for _ in 0..TURNS {
            operation.prepare(count)?;
            let before = (provider.cpu_us()?, self.echo.ran_ns()?);
            let (value, round) = self.block_on(async {
                let (mut value, mut round) = (0.0, 0.0);
                for _ in 0..count {
                    let start = Instant::now();
                    operation.once().await?;
                    value += start.elapsed().as_secs_f64();
                    round += bare.once().await?.as_secs_f64();
                }
                Ok((value, round))
            })?;
            cpu += provider.cpu_us()? - before.0;
            floor_cpu += self.echo.ran_ns()? - before.1;
            values.push(value * 1e6 / count as f64);
            floors.push(round * 1e6 / count as f64);
        }
        let operations = f64::from(TURNS) * count as f64;
        let ours = Summary::of(values);
        let mut row = Row::new("grid", name, Unit::Microseconds, ours);
        row = row.floor(floor.words(), Summary::of(floors));
        row.cpu = Some(Cpu {
            ours: cpu as f64 / operations,
            floor: Some(floor_cpu as f64 / 1000.0 / operations),
        });
        Ok(row)
    }

    /// One node of ten beside one alone, in turns: what the nine idle ones cost a request.
    fn growth(&mut self) -> Result<(), Failure> {
        self.run
            .progress
            .says("grid: one node of ten beside one alone");
        let alone = self.block_on(Provider::start(1, None))?;
        let many = self.block_on(Provider::start(10, None))?;
        let method = "client_secret_basic";
        let none = serde_json::json!({});
        let one = self.block_on(alone.register(method, Algorithm::Es256, none.clone()))?;
        let mut ten = self.block_on(many.register(method, Algorithm::Es256, none))?;
        ten.targets.truncate(1);
        let mut one = self.block_on(TokenRequest::new(&alone, &one))?;
        let mut ten = self.block_on(TokenRequest::new(&many, &ten))?;
        let (mut ones, mut tens) = (Vec::new(), Vec::new());
        let count = (self.run.options.time(6.0).as_secs_f64() * 100.0).max(4.0) as usize;
        for _ in 0..TURNS {
            one.prepare(count)?;
            ten.prepare(count)?;
            let (first, second) = self.block_on(async {
                let (mut first, mut second) = (0.0, 0.0);
                for _ in 0..count {
                    let start = Instant::now();
                    one.once().await?;
                    first += start.elapsed().as_secs_f64();
                    let start = Instant::now();
                    ten.once().await?;
                    second += start.elapsed().as_secs_f64();
                }
                Ok((first, second))
            })?;
            ones.push(first * 1e6 / count as f64);
            tens.push(second * 1e6 / count as f64);
        }
        let name = "client_credentials/client_secret_basic/ES256/10, nine of them idle";
        let row = Row::new("grid", name, Unit::Microseconds, Summary::of(tens));
        let row = row.floor("the same at one node alone", Summary::of(ones));
        self.run.add(row.goal(Measure::OverFloor, 1.1));
        Ok(())
    }
}
