//! What a realm sends: the kinds, one file each.
//!
//! A kind says whom it goes to, within which bounds, how it is sent, and what is done when it was
//! given up; what they share is [`signet_outbox`].

mod account_watch;
mod back_channel_logout;
pub(crate) mod mail;
mod session_watch;

pub use back_channel_logout::{MAX_HELD, MAX_HELD_PER_CLIENT, MAX_SENT};
pub use mail::{WaitingMail, waiting as waiting_mails};

use std::sync::Arc;

pub use signet_outbox::Waits;
use signet_outbox::{Bounds, Context, Row, Sender};
use signet_store::{Store, StoreError};
use signet_telemetry::trace::Tracer;
use tokio::sync::Notify;

use crate::state::Realm;

/// Everything that goes out. Watches first: what they find is sent in the same round.
const KINDS: &[&dyn Row<Realm>] = &[
    &account_watch::AccountWatch,
    &session_watch::SessionWatch,
    &back_channel_logout::BackChannelLogout,
    &mail::Mails,
];

/// Of kinds that send nothing: what is looked at when it is due.
const WATCHES: Bounds = Bounds {
    held: 8_192,
    held_of_receiver: 8_192,
    at_once: 48,
    at_once_of_receiver: 48,
    lease: 60,
    takes: 10,
    // They make none, and have no receiver.
    attempts: 1,
    longest_pause: 0,
    put_off: 0,
    put_off_because: "",
    given_up_because: "",
};

impl Context for Realm {
    fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    fn now(&self) -> u64 {
        Realm::now(self)
    }

    fn outgoing(&self) -> &Notify {
        &self.outgoing
    }

    fn tracer(&self) -> Option<&Tracer> {
        Some(&self.host.policy.tracer)
    }
}

/// A node's part for one realm, a round at a time.
pub fn sender() -> Sender<Realm> {
    Sender::new(KINDS)
}

/// Whether a realm that is not open has anything to send, or to look at later, in its rows.
///
/// # Errors
/// The store's.
pub async fn waits(store: &dyn Store, now: u64) -> Result<bool, StoreError> {
    for kind in KINDS {
        if kind.waits(store, now).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What is due, by kind.
///
/// # Errors
/// The store's.
pub async fn due(
    store: &Arc<dyn Store>,
    now: u64,
) -> Result<Vec<(&'static str, Waits)>, StoreError> {
    let mut all = Vec::with_capacity(KINDS.len());
    for kind in KINDS {
        all.push(kind.due(&**store, now).await?);
    }
    Ok(all)
}

/// Sends, as long as the process lives. To be spawned once per realm; it ends with its runtime.
pub async fn deliver(realm: Arc<Realm>) {
    signet_outbox::deliver(realm, KINDS).await;
}
