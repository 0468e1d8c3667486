//! The load: clients that go through every flow, each step at any node, some of them twice at once
//! and some again afterwards.

use std::{cell::Cell, rc::Rc, time::Duration};

use tokio::{task::JoinHandle, time::sleep};

use crate::{
    cluster::Cluster,
    flows::{self, Flow},
    history::Recorder,
    worker::{Shared, Worker},
};

/// Between two rounds of one flow at one node.
const AT_EACH_EVERY: Duration = Duration::from_millis(100);
/// How many tokens are looked at once more, on every node, at the end.
const LOOKED_AT_AGAIN: usize = 400;

/// A running load.
pub struct Load {
    /// What the workers share.
    pub shared: Rc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

impl Load {
    /// Logs people in, then starts the workers. Within a `LocalSet`.
    pub async fn start(
        cluster: Rc<Cluster>,
        recorder: Rc<Recorder>,
        pause: Duration,
    ) -> Result<Load, String> {
        let shared = Shared::new(cluster, recorder);
        flows::log_in_everybody(&mut Worker::new(&shared, 0, 0)).await?;
        let mut workers = Vec::new();
        let probes = (flows::PROBE, shared.cluster.size());
        for (flow, count) in [probes].into_iter().chain(flows::FLOWS) {
            for number in 0..count {
                let worker = Worker::new(&shared, number, workers.len() as u64 + 1);
                workers.push(tokio::task::spawn_local(rounds(worker, flow, pause)));
            }
        }
        Ok(Load { shared, workers })
    }

    /// Ends it, and looks at tokens once more, on every node.
    pub async fn end(self) {
        self.shared.stop();
        for worker in self.workers {
            let _ended = worker.await;
        }
        let mut worker = Worker::new(&self.shared, 0, u64::MAX);
        let tokens = self.shared.tokens.take();
        let step = tokens.len().div_ceil(LOOKED_AT_AGAIN).max(1);
        for (token, text) in tokens.iter().step_by(step) {
            for node in 0..self.shared.cluster.size() {
                worker.introspect(*token, text, node).await;
            }
        }
    }
}

/// Clients of some nodes, each of which goes through one flow at one node alone: how soon every
/// flow continues there is seen by them.
pub struct AtEach {
    over: Rc<Cell<bool>>,
    workers: Vec<JoinHandle<()>>,
}

impl AtEach {
    /// Starts them. Within a `LocalSet`.
    pub fn of(shared: &Rc<Shared>, nodes: impl Iterator<Item = usize>) -> AtEach {
        let over = Rc::new(Cell::new(false));
        let mut workers = Vec::new();
        for node in nodes {
            for (number, (flow, count)) in flows::FLOWS.into_iter().enumerate() {
                let seed = 1000 + (node * flows::FLOWS.len() + number) as u64;
                // Beside the numbers that the load has.
                let mut worker = Worker::new(shared, count + node, seed);
                worker.home = Some(node);
                let over = over.clone();
                workers.push(tokio::task::spawn_local(async move {
                    while !over.get() && !worker.shared.is_over() {
                        flow(&mut worker).await;
                        sleep(AT_EACH_EVERY).await;
                    }
                }));
            }
        }
        AtEach { over, workers }
    }

    /// Ends them.
    pub async fn end(self) {
        self.over.set(true);
        for worker in self.workers {
            let _ended = worker.await;
        }
    }
}

/// Goes through a flow again and again, with a pause between.
async fn rounds(mut worker: Worker, flow: Flow, pause: Duration) {
    while !worker.shared.is_over() {
        flow(&mut worker).await;
        let some = worker.below(1000) as f64 / 1000.0;
        sleep(pause / 2 + pause.mul_f64(some)).await;
    }
}
