//! Reads that must see everything that was answered before them, on whatever node.
//!
//! The leader says how far the log is committed, after a majority has confirmed that it still
//! leads: no clock decides. Reads that come at the same time share that question; each then waits
//! for this node's own rows to be as far, and reads those.
use crate::{moment::Moment, node::Node};
use signet_store::{
    StoreError,
    moment::{self, Rows},
};
use signet_surroundings::spawn;
use std::sync::{Arc, atomic::Ordering::SeqCst};
use tokio::sync::{mpsc, oneshot};

/// Reads that wait for the leader's answer; beyond it they are refused
const MAX_READS: usize = 8192;

struct Waiting {
    until: Moment,
    reply: oneshot::Sender<Result<u64, StoreError>>,
}

/// Where this node's reads go.
pub(crate) struct Reading {
    node: Arc<Node>,
    rows: Rows,
    queue: mpsc::Sender<Waiting>,
}

fn unavailable(why: &str) -> StoreError {
    StoreError::Unavailable(why.to_owned())
}

impl Reading {
    pub(crate) fn start(node: Arc<Node>) -> Reading {
        let (queue, waiting) = mpsc::channel(MAX_READS);
        spawn(ask(node.clone(), waiting));
        Reading {
            node,
            rows: Rows::unique(),
            queue,
        }
    }

    /// Waits until this node's rows show everything that anybody was answered before now; before
    /// the first read, where several are [of one moment](moment).
    pub(crate) async fn latest(&self) -> Result<(), StoreError> {
        self.node.has_hope()?;
        let until = Moment::now() + self.node.settings.deadline;
        if let Some(index) = moment::known(self.rows) {
            // What this node was answered since is what the same work may have changed: a look
            // after an own change sees whatever was changed before that.
            let seen = self.node.seen.load(SeqCst);
            return self.node.wait_applied(seen.max(index + 1), until).await;
        }
        let (reply, answer) = oneshot::channel();
        let waiting = Waiting { until, reply };
        self.queue.try_send(waiting).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => unavailable("its queue is full"),
            mpsc::error::TrySendError::Closed(_) => unavailable("it was closed"),
        })?;
        let index = answer.await.map_err(|_| unavailable("it was closed"))??;
        moment::keep(self.rows, index);
        self.node.wait_applied(index + 1, until).await
    }

    /// Waits until this node's rows show everything that this node was answered.
    pub(crate) async fn own(&self) -> Result<(), StoreError> {
        let seen = self.node.seen.load(SeqCst);
        let until = Moment::now() + self.node.settings.deadline;
        self.node.wait_applied(seen, until).await
    }
}

async fn ask(node: Arc<Node>, mut waiting: mpsc::Receiver<Waiting>) {
    while let Some(first) = waiting.recv().await {
        let until = first.until;
        let mut shared = vec![first];
        while let Ok(next) = waiting.try_recv() {
            shared.push(next);
        }
        let point = node.read_point(until).await;
        for waiting in shared {
            drop(waiting.reply.send(point.clone()));
        }
    }
}
