//! What a kind of thing that goes out says of itself.
use std::sync::Arc;

use signet_store::{Store, StoreFuture};
use signet_telemetry::trace::Tracer;
use tokio::sync::Notify;

use crate::item::{Item, Payload};
use crate::queue::Queue;

/// What kinds send by: whoever has a store and a clock.
pub trait Context: Send + Sync + 'static {
    /// Where the outbox is.
    fn store(&self) -> &Arc<dyn Store>;

    /// Unix seconds.
    fn now(&self) -> u64;

    /// Told by whoever has put an item there that is due at once.
    fn outgoing(&self) -> &Notify;

    /// Which attempts' steps are recorded.
    fn tracer(&self) -> Option<&Tracer> {
        None
    }
}

/// What one node does of a kind at most. Times are seconds.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Items that it holds: claimed, and waiting for their turn.
    pub held: usize,
    /// Of these, items of one receiver.
    pub held_of_receiver: usize,
    /// Items that it sends at once.
    pub at_once: usize,
    /// Of these, to one receiver.
    pub at_once_of_receiver: usize,
    /// For how long a claimed item is another node's to leave alone.
    pub lease: u64,
    /// What is left of a claim when an attempt begins: more than an attempt may take.
    pub takes: u64,
    /// Attempts to send one item, by all nodes.
    pub attempts: u32,
    /// The longest time between two attempts: 5, 10, 20 ... up to this.
    pub longest_pause: u64,
    /// For how long an item is put off, since it was made, because its receiver cannot be reached.
    pub put_off: u64,
    /// Why it is put off, as it is shown.
    pub put_off_because: &'static str,
    /// Why it is given up then, as it is shown.
    pub given_up_because: &'static str,
}

/// The result of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The receiver has taken it.
    Delivered,
    /// The receiver, or something on the way, did not take it; why, as it is shown. It is sent
    /// again.
    Refused(String),
    /// The receiver cannot be reached; why, as it is shown. It is sent again, and the receiver is
    /// left alone for a while.
    Unreachable(String),
    /// No attempt can succeed; why, as it is shown.
    Hopeless(String),
    /// Nothing is to be sent, and the item goes.
    Dropped,
    /// A watch: looked at again then, Unix seconds.
    Again(u64),
}

/// One kind of thing that goes out. What depends on nothing but the kind is a constant of its file.
pub trait Kind: Send + Sync + 'static {
    /// What it is sent by.
    type Context: Context;
    /// What an item says.
    type What: Payload;

    /// Names it in the log.
    fn name(&self) -> &'static str;

    /// Where its items lie.
    fn queue(&self) -> &'static Queue<Self::What>;

    /// What one node does of it at most.
    fn bounds(&self) -> Bounds;

    /// Whose bounds an item counts among. None: nothing is sent of it.
    fn receiver<'a>(&self, item: &'a Item<Self::What>) -> Option<&'a str>;

    /// When it is given up whatever is left of its attempts, Unix seconds: what it says is good for
    /// nothing any more.
    fn expires_at(&self, item: &Item<Self::What>) -> Option<u64> {
        let _ = item;
        None
    }

    /// Sends it, or does what is due. It ends within [`Bounds::takes`].
    ///
    /// # Errors
    /// The store's: then it is done again when the claim is over.
    fn send<'a>(
        &'a self,
        context: &'a Self::Context,
        item: &'a Item<Self::What>,
    ) -> StoreFuture<'a, Sent>;

    /// It is given up, for the reason in [`Item::last`]: makes the change that says so, and records
    /// it. Whether the change was made.
    ///
    /// # Errors
    /// Those of the change.
    fn give_up<'a>(
        &'a self,
        context: &'a Self::Context,
        item: &'a Item<Self::What>,
        change: StoreFuture<'a, bool>,
    ) -> StoreFuture<'a, bool>;
}
