//! Memory of the server: what is resident idle, under load, and after many connections have come
//! and gone; and what it asks its allocator for, by the request.

use std::time::Duration;

use signet_crypto::Algorithm;
use tokio::task::LocalSet;

use crate::client::Failure;
use crate::heap::Counter;
use crate::load::arrivals::{Actor, Answer, Hold, Verdict};
use crate::load::flow::Provider;
use crate::load::operation::{CodeFlow, Introspect, Operation, Refresh, TokenRequest};
use crate::load::scenario::Site;
use crate::report::record::{Measure, Row, Unit};
use crate::report::summary::Summary;
use crate::run::{Options, Part, Run};

/// Memory.
pub const PART: Part = Part {
    name: "memory",
    title: "Memory of the server",
    plan,
    run,
};

/// Connections that come and go.
const CONNECTIONS: usize = 2000;
const NODES: [usize; 2] = [1, 3];

fn plan(options: &Options) -> f64 {
    NODES.len() as f64 * (14.0 + 4.0 * options.pace) + HEAP_SECONDS
}

/// Of the heap's figures, most of it a server that comes to rest.
const HEAP_SECONDS: f64 = 8.0;
/// Requests of each kind whose allocations are counted.
const COUNTED: usize = 500;
/// A client's redirect, which nobody listens at.
const REDIRECT: &str = "http://127.0.0.1:47999/callback";

fn run(run: &mut Run) -> Result<(), Failure> {
    for nodes in NODES {
        run.progress.says(&format!("memory: {nodes} nodes"));
        let site = Site::start(nodes, None)?;
        // Keys are made and written in the first moments.
        std::thread::sleep(Duration::from_secs(2));
        let resident = || {
            let bytes = site.provider.server.resident_bytes();
            bytes.map(|bytes| bytes as f64 / 1e6)
        };
        let idle = resident()?;
        let ready = |_| Ready;
        let hold = |connections, seconds: f64| Hold {
            rate: 2000.0,
            time: Duration::from_secs_f64(seconds),
            patience: Duration::from_secs(10),
            threads: 2,
            connections,
        };
        let first = &site.targets()?[..1];
        let time = run.options.time(2.0).as_secs_f64();
        hold(64, time).run(first, &ready)?.all_right()?;
        let ordinary = resident()?;
        hold(CONNECTIONS, time).run(first, &ready)?.all_right()?;
        let open = resident()?;
        // Sockets close, and the allocator gives back what it gives back.
        std::thread::sleep(Duration::from_secs(5));
        let after = resident()?;
        let mut add = |what: &str, megabytes: f64, goal: Option<f64>| {
            let name = format!("{what}/{nodes}");
            let mut row = Row::new("memory", name, Unit::Megabytes, Summary::exact(megabytes));
            if let Some(goal) = goal {
                row = row.goal(Measure::Value, goal);
            }
            run.add(row);
        };
        add("idle", idle, None);
        add("after 64 connections", ordinary, None);
        add("at the end of 2,000 connections", open, None);
        add("5 s after 2,000 connections", after, Some(idle + 10.0));
        let peak = site.provider.server.peak_bytes()? as f64 / 1e6;
        add("peak", peak, None);
        run.progress.done(14.0 + 4.0 * run.options.pace);
    }
    run.progress.says("memory: the heap");
    if let Err(failure) = heap(run) {
        run.skip("allocations of a request", failure.to_string());
    }
    run.progress.done(HEAP_SECONDS);
    Ok(())
}

/// What the server asks its allocator for, counted in the release binary by a library that is
/// loaded before glibc's.
fn heap(run: &mut Run) -> Result<(), Failure> {
    let (server, counter) = Counter::start()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    LocalSet::new().block_on(&runtime, async {
        let provider = Provider::of(server).await?;
        provider.settled().await?;
        let megabytes = |bytes: u64| Summary::exact(bytes as f64 / 1e6);
        let idle = counter.counts()?;
        let row = |what, value| Row::new("memory", what, Unit::Megabytes, value);
        run.add(row("live heap, idle/1", megabytes(idle.live)));

        let none = serde_json::json!({});
        let method = "client_secret_basic";
        let service = provider.register(method, Algorithm::Es256, none).await?;
        let mut token = TokenRequest::new(&provider, &service).await?;
        allocations(run, &counter, "client_credentials", &mut token).await?;
        let mut introspect = Introspect::new(&provider, &service).await?;
        allocations(run, &counter, "introspection", &mut introspect).await?;
        let metadata = serde_json::json!({
            "application_type": "native", "redirect_uris": [REDIRECT], "response_types": ["code"],
            "grant_types": ["authorization_code", "refresh_token"],
            "scope": "openid profile offline_access",
        });
        let web = provider
            .register(method, Algorithm::Es256, metadata)
            .await?;
        let mut flow = CodeFlow::new(&provider, &web, REDIRECT).await?;
        allocations(run, &counter, "authorization_code", &mut flow).await?;
        let mut refresh = Refresh::new(&mut flow, &web).await?;
        allocations(run, &counter, "refresh_token", &mut refresh).await?;

        let after = counter.counts()?;
        let grown = format!("live heap, after {COUNTED} requests of each kind/1");
        run.add(row(&grown, megabytes(after.live)));
        // Of the start, where a key is made, or of what came after.
        run.add(row("live heap, peak/1", megabytes(after.peak)));
        Ok(())
    })
}

/// Allocations of one operation, and the bytes that they asked for.
async fn allocations(
    run: &mut Run,
    counter: &Counter,
    name: &str,
    operation: &mut impl Operation,
) -> Result<(), Failure> {
    // What a first request makes and keeps is no request's.
    const WARM: usize = 50;
    operation.prepare(WARM + COUNTED)?;
    for _ in 0..WARM {
        operation.once().await?;
    }
    let before = counter.counts()?;
    for _ in 0..COUNTED {
        operation.once().await?;
    }
    let after = counter.counts()?;
    let each = |after: u64, before: u64| (after - before) as f64 / COUNTED as f64;
    let name = format!("allocations of one {name}/1");
    let value = Summary::exact(each(after.allocations, before.allocations));
    let row = Row::new("memory", name, Unit::Number, value);
    run.add(row.with("bytes", each(after.asked, before.asked)));
    Ok(())
}

/// Asks whether the server is ready.
struct Ready;

impl Actor for Ready {
    fn begin(&mut self) -> Vec<u8> {
        b"GET /health/ready HTTP/1.1\r\nhost: localhost\r\n\r\n".to_vec()
    }

    fn answered(&mut self, answer: &Answer<'_>) -> Verdict {
        match answer.status {
            200 => Verdict::Right,
            _ if answer.is_shed() => Verdict::Shed,
            _ => Verdict::Wrong(answer.shown()),
        }
    }
}
