//! A node's part in one kind: what it has claimed, what it has open, and whom it leaves alone.
use std::{
    collections::HashMap,
    sync::{Arc, atomic::Ordering::Relaxed},
};

use signet_store::{Store, StoreError, StoreFuture};
use signet_telemetry::trace::{self, Attribute, Own};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use crate::item::{Item, State};
use crate::kind::{Bounds, Context, Kind, Sent};
use crate::queue::{Claimed, Due, Then, Waits};
use crate::receiver::{Receiver, Share};

/// Items that are looked at, and claimed, at once.
const ROUND: usize = 256;
/// Looks that bring nothing after which there is a pause: the rows of receivers that have their
/// share are passed over, but not for ever.
const FRUITLESS: u32 = 32;

/// A row of the table of kinds: a [`Kind`].
pub trait Row<C: Context>: Send + Sync + 'static {
    /// What a node needs for it. `freed` is notified when a receiver that had its share has room
    /// again.
    fn lane(&'static self, freed: Arc<Notify>) -> Box<dyn Lane<C>>;

    /// Whether anything of it waits in this store, due or not.
    fn waits<'a>(&'static self, store: &'a dyn Store, now: u64) -> StoreFuture<'a, bool>;

    /// What it is called, and what of it is due in this store.
    fn due<'a>(
        &'static self,
        store: &'a dyn Store,
        now: u64,
    ) -> StoreFuture<'a, (&'static str, Waits)>;
}

impl<C: Context, K: Kind<Context = C>> Row<C> for K {
    fn lane(&'static self, freed: Arc<Notify>) -> Box<dyn Lane<C>> {
        let bounds = self.bounds();
        Box::new(KindLane {
            kind: self,
            bounds,
            held: Arc::new(Semaphore::new(bounds.held)),
            at_once: Arc::new(Semaphore::new(bounds.at_once)),
            receivers: HashMap::new(),
            after: Vec::new(),
            fruitless: 0,
            freed,
        })
    }

    fn waits<'a>(&'static self, store: &'a dyn Store, now: u64) -> StoreFuture<'a, bool> {
        Box::pin(self.queue().waits(store, now))
    }

    fn due<'a>(
        &'static self,
        store: &'a dyn Store,
        now: u64,
    ) -> StoreFuture<'a, (&'static str, Waits)> {
        Box::pin(async move { Ok((self.name(), self.queue().due(store, now).await?)) })
    }
}

/// See the module.
pub trait Lane<C: Context>: Send + Sync {
    /// Claims some of what is due and begins to send it. Whether to look again at once.
    fn round<'a>(&'a mut self, context: &'a Arc<C>) -> StoreFuture<'a, bool>;

    /// Waits until nothing is being sent.
    fn settle(&self) -> StoreFuture<'_, ()>;
}

/// What is done with an item that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// It is claimed.
    Claim,
    /// It stays as it is.
    Leave,
    /// Its receiver is left alone until then, Unix seconds, and the item is due again.
    PutOff(u64),
    /// It is given up; why, as it is shown.
    GiveUp(&'static str),
}

/// What is done with an item of a receiver. `taken`: what was claimed of it in the same look.
pub(crate) fn choose(
    receiver: &Receiver,
    bounds: &Bounds,
    made_at: u64,
    taken: &mut usize,
    now: u64,
) -> Choice {
    if let Some(until) = receiver.alone(now) {
        return match now.saturating_sub(made_at) < bounds.put_off {
            true => Choice::PutOff(until),
            false => Choice::GiveUp(bounds.given_up_because),
        };
    }
    if receiver.held.load(Relaxed) + *taken >= bounds.held_of_receiver {
        return Choice::Leave;
    }
    *taken += 1;
    Choice::Claim
}

struct KindLane<K: Kind> {
    kind: &'static K,
    bounds: Bounds,
    held: Arc<Semaphore>,
    at_once: Arc<Semaphore>,
    receivers: HashMap<String, Arc<Receiver>>,
    /// After which row the next look begins.
    after: Vec<u8>,
    fruitless: u32,
    freed: Arc<Notify>,
}

impl<C: Context, K: Kind<Context = C>> Lane<C> for KindLane<K> {
    fn round<'a>(&'a mut self, context: &'a Arc<C>) -> StoreFuture<'a, bool> {
        Box::pin(self.look(context))
    }

    fn settle(&self) -> StoreFuture<'_, ()> {
        Box::pin(async {
            // The semaphore is never closed.
            let all = u32::try_from(self.bounds.held).unwrap_or(u32::MAX);
            drop(self.held.acquire_many(all).await);
            Ok(())
        })
    }
}

impl<K: Kind> KindLane<K> {
    async fn look(&mut self, context: &Arc<K::Context>) -> Result<bool, StoreError> {
        let room = self.held.available_permits().min(ROUND);
        if room == 0 {
            return Ok(false);
        }
        let now = context.now();
        // Of receivers that nothing waits for nothing is remembered, but that they were silent.
        self.receivers
            .retain(|_, receiver| Arc::strong_count(receiver) > 1 || receiver.was_silent(now));
        let queue = self.kind.queue();
        let look = queue.look(&**context.store(), &self.after, room, now);
        let look = look.await?;
        let is_last = look.next.is_none();
        self.after = look.next.unwrap_or_default();
        let (claimed, moved) = self.take(context, look.due, now).await?;
        let idle = claimed.is_empty() && moved == 0;
        for claimed in claimed {
            self.begin(context, claimed);
        }
        self.fruitless = match idle {
            true => self.fruitless + 1,
            false => 0,
        };
        let more = !is_last && self.fruitless < FRUITLESS;
        if !more {
            self.fruitless = 0;
        }
        Ok(more)
    }

    fn choose(
        &mut self,
        item: &Item<K::What>,
        taken: &mut HashMap<String, usize>,
        now: u64,
    ) -> Choice {
        if self.kind.expires_at(item).is_some_and(|end| end <= now) {
            return Choice::GiveUp("it has expired");
        }
        let Some(name) = self.kind.receiver(item) else {
            return Choice::Claim;
        };
        let taken = taken.entry(name.to_owned()).or_default();
        let receiver = self.receivers.entry(name.to_owned());
        let receiver = receiver.or_insert_with(|| Arc::new(Receiver::new(&self.bounds)));
        choose(receiver, &self.bounds, item.made_at, taken, now)
    }

    /// Does with each item what is chosen, all at once, so that the changes share a flush. Another
    /// node may be first with some. What is claimed, and how many were put off or given up.
    async fn take(
        &mut self,
        context: &Arc<K::Context>,
        due: Vec<Due<K::What>>,
        now: u64,
    ) -> Result<(Vec<Claimed<K::What>>, usize), StoreError> {
        let mut taken = HashMap::new();
        let mut writes = JoinSet::new();
        for due in due {
            let choice = self.choose(&due.item, &mut taken, now);
            let (kind, context) = (self.kind, Arc::clone(context));
            let bounds = self.bounds;
            if choice != Choice::Leave {
                writes.spawn(async move {
                    let (store, queue) = (&**context.store(), kind.queue());
                    match choice {
                        Choice::Leave => Ok((None, false)),
                        Choice::Claim => {
                            let claimed = queue.claim(store, due, bounds.lease, now).await?;
                            Ok((claimed, false))
                        }
                        Choice::PutOff(until) => {
                            let item = put_off(&due.item, &bounds);
                            let moved = queue.move_due(store, &due, &item, Then::Again(until), now);
                            moved.await.map(|moved| (None, moved))
                        }
                        Choice::GiveUp(why) => {
                            let item = given_up(&due.item, why);
                            let change = queue.move_due(store, &due, &item, Then::Done, now);
                            let moved = kind.give_up(&context, &item, Box::pin(change));
                            moved.await.map(|moved| (None, moved))
                        }
                    }
                });
            }
        }
        let (mut all, mut count) = (Vec::new(), 0);
        while let Some(written) = writes.join_next().await {
            // A task that panicked claimed nothing that anybody here knows of: its lease ends.
            let Ok(written) = written else { continue };
            let (claimed, moved) = written?;
            all.extend(claimed);
            count += usize::from(moved);
        }
        Ok((all, count))
    }

    /// Sends it as soon as it is its turn.
    fn begin(&mut self, context: &Arc<K::Context>, claimed: Claimed<K::What>) {
        let Ok(held) = Arc::clone(&self.held).try_acquire_owned() else {
            // Its claim ends, and it is due again.
            return;
        };
        let name = self.kind.receiver(&claimed.item);
        let share = name.map(|name| {
            let receiver = self.receivers.entry(name.to_owned());
            let receiver = receiver.or_insert_with(|| Arc::new(Receiver::new(&self.bounds)));
            Share::new(Arc::clone(receiver), Arc::clone(&self.freed), &self.bounds)
        });
        let turn = Turn {
            kind: self.kind,
            bounds: self.bounds,
            at_once: Arc::clone(&self.at_once),
            share,
            _held: held,
        };
        let context = Arc::clone(context);
        tokio::spawn(async move {
            if let Err(error) = turn.send(&context, claimed).await {
                let kind = turn.kind.name();
                tracing::warn!(%error, kind, "failed to record a delivery; resending");
            }
        });
    }
}

fn put_off<P: Clone>(item: &Item<P>, bounds: &Bounds) -> Item<P> {
    Item {
        last: Some(bounds.put_off_because.to_owned()),
        ..item.clone()
    }
}

fn given_up<P: Clone>(item: &Item<P>, why: &str) -> Item<P> {
    Item {
        last: Some(why.to_owned()),
        state: State::Failed,
        ..item.clone()
    }
}

/// An item that waits for its turn.
struct Turn<K: Kind> {
    kind: &'static K,
    bounds: Bounds,
    at_once: Arc<Semaphore>,
    share: Option<Share>,
    _held: OwnedSemaphorePermit,
}

impl<K: Kind> Turn<K> {
    async fn send(
        &self,
        context: &K::Context,
        claimed: Claimed<K::What>,
    ) -> Result<(), StoreError> {
        let receiver = self.share.as_ref().map(|share| &*share.receiver);
        // Neither semaphore is ever closed.
        let _turn = match receiver {
            Some(receiver) => Some(receiver.turns.acquire().await),
            None => None,
        };
        let _begun = self.at_once.acquire().await;
        let now = context.now();
        if let Some(until) = receiver.and_then(|receiver| receiver.alone(now)) {
            let (store, item) = (&**context.store(), put_off(&claimed.item, &self.bounds));
            let queue = self.kind.queue();
            let moved = queue.move_claimed(store, &claimed, &item, Then::Again(until), now);
            return moved.await.map(drop);
        }
        if now.saturating_add(self.bounds.takes) > claimed.until {
            // It has waited for too long, and may be another node's in a moment.
            return Ok(());
        }
        let sent = self.traced(context, &claimed.item, now).await?;
        if let Some(receiver) = receiver {
            match sent {
                Sent::Unreachable(_) => receiver.heard(false, context.now()),
                Sent::Delivered | Sent::Refused(_) => receiver.heard(true, context.now()),
                Sent::Hopeless(_) | Sent::Dropped | Sent::Again(_) => {}
            }
        }
        finish(self.kind, context, &claimed, sent).await.map(drop)
    }
}

impl<K: Kind> Turn<K> {
    /// One attempt, with a trace of its own: nobody's request waits for it.
    async fn traced(
        &self,
        context: &K::Context,
        item: &Item<K::What>,
        now: u64,
    ) -> Result<Sent, StoreError> {
        let own = Own {
            name: "send",
            now_ms: now.saturating_mul(1000),
        };
        let trace = context.tracer();
        let trace = trace.and_then(|tracer| tracer.begin_own(own, signet_crypto::random::bytes));
        let mut work = self.kind.send(context, item);
        let sent = trace::during([0; 16], trace.as_ref(), work.as_mut()).await;
        if let Some(trace) = trace {
            trace.note(Attribute::OutboxKind, self.kind.name());
            trace.finish(sent.is_err());
        }
        sent
    }
}

/// Sends an item that is claimed, beside everything else: the first attempt of whoever put it
/// there ([`Queue::put_claimed`](crate::Queue::put_claimed)). Where it stands then.
///
/// # Errors
/// The store's: then it is sent again when the claim is over.
pub async fn attempt<K: Kind>(
    kind: &K,
    context: &K::Context,
    claimed: &Claimed<K::What>,
) -> Result<State, StoreError> {
    let sent = trace::step("send", kind.send(context, &claimed.item).as_mut()).await?;
    finish(kind, context, claimed, sent).await
}

/// Writes the result of an attempt. Where the item stands then.
async fn finish<K: Kind>(
    kind: &K,
    context: &K::Context,
    claimed: &Claimed<K::What>,
    sent: Sent,
) -> Result<State, StoreError> {
    let (queue, store, now) = (kind.queue(), &**context.store(), context.now());
    let mut item = claimed.item.clone();
    let (outcome, is_hopeless) = match sent {
        Sent::Dropped => {
            let gone = queue.move_claimed(store, claimed, &item, Then::Gone, now);
            return gone.await.map(|_| item.state);
        }
        Sent::Again(at) => {
            let again = queue.move_claimed(store, claimed, &item, Then::Again(at), now);
            return again.await.map(|_| item.state);
        }
        Sent::Delivered => (Ok(()), false),
        Sent::Refused(why) | Sent::Unreachable(why) => (Err(why), false),
        Sent::Hopeless(why) => (Err(why), true),
    };
    let bounds = kind.bounds();
    item.attempts += 1;
    item.last_at = Some(now);
    item.state = match &outcome {
        Ok(()) => State::Delivered,
        Err(_) if is_hopeless || item.attempts >= bounds.attempts => State::Failed,
        Err(_) => State::Waiting,
    };
    if let Err(why) = &outcome {
        let (kind, id, attempts) = (kind.name(), &item.id, item.attempts);
        tracing::info!(kind, id, attempts, why, "failed to deliver");
    }
    item.last = Some(outcome.err().unwrap_or_else(|| "delivered".to_owned()));
    let then = match item.state {
        State::Waiting | State::Watching => {
            let pause = 5u64 << (item.attempts - 1).min(32);
            Then::Again(now.saturating_add(pause.min(bounds.longest_pause)))
        }
        State::Delivered | State::Failed => Then::Done,
    };
    let change = queue.move_claimed(store, claimed, &item, then, now);
    match item.state {
        State::Failed => {
            kind.give_up(context, &item, Box::pin(change)).await?;
        }
        State::Watching | State::Waiting | State::Delivered => {
            change.await?;
        }
    }
    Ok(item.state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::receiver::pause;

    const BOUNDS: Bounds = Bounds {
        held: 100,
        held_of_receiver: 8,
        at_once: 4,
        at_once_of_receiver: 2,
        lease: 60,
        takes: 10,
        attempts: 8,
        longest_pause: 320,
        put_off: 3_600,
        put_off_because: "put off",
        given_up_because: "given up",
    };

    #[test]
    fn one_receiver_has_but_its_share_of_what_a_node_holds() {
        let (receiver, mut taken) = (Receiver::new(&BOUNDS), 0);
        let choices = (0..2 * BOUNDS.held_of_receiver)
            .filter(|_| choose(&receiver, &BOUNDS, 1, &mut taken, 2) == Choice::Claim);
        assert_eq!(choices.count(), BOUNDS.held_of_receiver);
        receiver.held.store(BOUNDS.held_of_receiver, Relaxed);
        assert_eq!(choose(&receiver, &BOUNDS, 1, &mut 0, 2), Choice::Leave);
    }

    #[test]
    fn who_cannot_be_reached_is_left_alone_for_longer_each_time() {
        let receiver = Receiver::new(&BOUNDS);
        let mut now = 10_000;
        for expected in [5, 10, 20, 40, 60, 60, 60] {
            receiver.heard(false, now);
            // Four attempts were open: one silence.
            receiver.heard(false, now);
            assert_eq!(receiver.alone(now), Some(now + expected));
            assert_eq!(
                choose(&receiver, &BOUNDS, now, &mut 0, now),
                Choice::PutOff(now + expected)
            );
            now += expected;
            assert_eq!(receiver.alone(now), None);
        }
        receiver.heard(false, now);
        let long_ago = now - BOUNDS.put_off;
        let given_up = choose(&receiver, &BOUNDS, long_ago, &mut 0, now);
        assert!(matches!(given_up, Choice::GiveUp(_)), "{given_up:?}");
        receiver.heard(true, now);
        assert_eq!(receiver.alone(now), None);
        assert_eq!(pause(u32::MAX), 60);
    }
}
