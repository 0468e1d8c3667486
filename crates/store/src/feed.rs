//! Revocations for whoever keeps a copy of them: first all that are there, then each as it happens.
//!
//! A feed begins to listen before the first page is read, and a change is reported only when it is
//! durable and visible. So nothing can fall between the two halves; what falls into both is
//! reported twice, which is harmless, because revocations only grow.
use crate::{
    Key, Store, StoreError, Table,
    revoked::{self, PAGE, Revoked, Subject},
};
use std::sync::Arc;
use tokio::sync::broadcast::{
    self,
    error::{RecvError, TryRecvError},
};

/// Changes that a follower may be behind. One that is further behind has missed some, and must
/// begin again.
pub const MAX_BEHIND: usize = 4096;

/// The changes of one index, to all followers.
pub(crate) struct Changes(broadcast::Sender<Arc<Revoked>>);

impl Changes {
    pub(crate) fn new() -> Changes {
        Changes(broadcast::Sender::new(MAX_BEHIND))
    }

    pub(crate) fn tell(&self, subject: Subject, end: u64) {
        if self.0.receiver_count() > 0 {
            // The last follower may have gone this moment: then nobody is left to hear it.
            let _ = self.0.send(Arc::new(Revoked { subject, end }));
        }
    }
}

/// One follower. Dropping it ends it.
pub struct Feed {
    store: Arc<dyn Store>,
    changes: broadcast::Receiver<Arc<Revoked>>,
    after: Option<Key>,
    read: bool,
}

/// The follower was too slow: changes are lost to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the follower is too far behind")]
pub struct Behind;

impl Feed {
    pub(crate) fn new(store: Arc<dyn Store>, changes: &Changes) -> Feed {
        Feed {
            store,
            changes: changes.0.subscribe(),
            after: None,
            read: false,
        }
    }

    /// The next page of what was revoked before; None after the last.
    ///
    /// # Errors
    /// The store's.
    pub async fn page(&mut self, now: u64) -> Result<Option<Vec<Revoked>>, StoreError> {
        if self.read {
            return Ok(None);
        }
        let rows = self
            .store
            .page(Table::Revocation, self.after.as_ref(), PAGE, now)
            .await?;
        self.read = rows.len() < PAGE;
        let mut page = Vec::with_capacity(rows.len());
        for (key, row) in &rows {
            page.push(revoked::read(key, row)?);
        }
        if let Some((last, _)) = rows.into_iter().next_back() {
            self.after = Some(last);
        }
        Ok(Some(page))
    }

    /// The next change; waits for it. Can be dropped while it waits: nothing is lost.
    ///
    /// # Errors
    /// [`Behind`]
    pub async fn change(&mut self) -> Result<Arc<Revoked>, Behind> {
        match self.changes.recv().await {
            Ok(change) => Ok(change),
            Err(RecvError::Lagged(_) | RecvError::Closed) => Err(Behind),
        }
    }

    /// A change that is there already, if there is one.
    ///
    /// # Errors
    /// [`Behind`]
    pub fn change_now(&mut self) -> Result<Option<Arc<Revoked>>, Behind> {
        match self.changes.try_recv() {
            Ok(change) => Ok(Some(change)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Lagged(_) | TryRecvError::Closed) => Err(Behind),
        }
    }
}
