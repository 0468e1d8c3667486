//! What a node is about to send, of all kinds.
use std::{sync::Arc, time::Duration};

use signet_store::StoreError;
use tokio::sync::Notify;

use crate::kind::Context;
use crate::lane::{Lane, Row};

/// Between two looks into the outbox.
pub const EVERY: Duration = Duration::from_secs(1);

/// See the module.
pub struct Sender<C: Context> {
    lanes: Vec<Box<dyn Lane<C>>>,
    freed: Arc<Notify>,
}

impl<C: Context> Sender<C> {
    /// Of these kinds.
    pub fn new(kinds: &[&'static dyn Row<C>]) -> Sender<C> {
        let freed = Arc::<Notify>::default();
        let lanes = kinds.iter().map(|kind| kind.lane(Arc::clone(&freed)));
        Sender {
            lanes: lanes.collect(),
            freed,
        }
    }

    /// Claims some of what is due and begins to send it. Whether to look again at once.
    ///
    /// # Errors
    /// The store's: of one kind. The others were looked at, too.
    pub async fn round(&mut self, context: &Arc<C>) -> Result<bool, StoreError> {
        let mut outcome = Ok(false);
        for lane in &mut self.lanes {
            match (lane.round(context).await, &mut outcome) {
                (Ok(again), Ok(more)) => *more |= again,
                (Ok(_), Err(_)) => {}
                (Err(error), _) => outcome = Err(error),
            }
        }
        outcome
    }

    /// Waits until nothing is being sent.
    pub async fn settle(&self) {
        for lane in &self.lanes {
            // It has nothing to fail with.
            let _ = lane.settle().await;
        }
    }
}

/// Sends, as long as the process lives. To be spawned once per realm; it ends with its runtime.
pub async fn deliver<C: Context>(context: Arc<C>, kinds: &[&'static dyn Row<C>]) {
    let mut sender = Sender::new(kinds);
    let mut failing = false;
    loop {
        let round = sender.round(&context).await;
        match (&round, failing) {
            (Err(error), false) => {
                tracing::warn!(%error, "failed to read the outbox; retrying");
            }
            (Ok(_), true) => tracing::info!("resumed reading the outbox"),
            (Err(_), true) | (Ok(_), false) => {}
        }
        failing = round.is_err();
        match round {
            Ok(true) => {}
            Ok(false) => {
                tokio::select! {
                    // A receiver has room again, and more may wait for it.
                    () = sender.freed.notified() => {}
                    () = context.outgoing().notified() => {}
                    () = tokio::time::sleep(EVERY) => {}
                }
            }
            Err(_) => tokio::time::sleep(EVERY).await,
        }
    }
}
