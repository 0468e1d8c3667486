//! Resident memory of the server: idle, under load, and after many connections have come and gone.

use std::time::Duration;

use crate::{
    arrivals::{Actor, Answer, Hold, Verdict},
    client::Failure,
    record::{Measure, Row, Unit},
    run::{Options, Part, Run},
    scenario::Site,
    summary::Summary,
};

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
    NODES.len() as f64 * (14.0 + 4.0 * options.pace)
}

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
