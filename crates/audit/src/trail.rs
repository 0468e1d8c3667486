//! The handle that the application has: recording, counting, acts.

use std::path::PathBuf;
use std::sync::atomic::{Ordering::Relaxed, Ordering::SeqCst};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, PoisonError};
use std::thread::Thread;
use std::time::Duration;

use signet_agent::identity::VerifiedDocument;
use signet_crypto::Clock;
use signet_crypto::seal::Keyring;
use signet_store::Store;
use tokio::sync::oneshot;

use crate::counters::Counted;
use crate::error::AuditError;
use crate::event::{Event, Target};
use crate::identity::{self, AuditIdentity};
use crate::keeper::{Departure, Keep, Keeper};
use crate::node;
use crate::outbox::{RecordedStore, with_target};
use crate::segment::Places;
use crate::shared::{MAX_QUEUED, Shared};
use crate::writer::{self, Opened, Writer};
use signet_store::NodeId;

/// Where the trail rests, and how often it is written.
#[derive(Clone, Debug)]
pub struct AuditOptions {
    /// The node's name; none: the name of the first start, which is [`NodeId::default`] where none
    /// was given then.
    pub node: Option<NodeId>,
    /// Several nodes write the store: the name is the directory's, and no other directory's node
    /// may have it.
    pub shared_store: bool,
    /// Where the segments are, and where closed ones go. The directory is made where it is missing;
    /// the archive is not.
    pub places: Places,
    /// How long decisions wait for others to share a signature and a flush with.
    pub interval: Duration,
    /// A segment of this many bytes is closed, and followed by another.
    pub segment_bytes: u64,
    /// A segment whose first record is this old is closed by the next one.
    pub segment_age: Duration,
    /// When closed segments leave the directory.
    pub keep: Keep,
    /// Most lines a second of refusals that nothing like was refused before in the same minute;
    /// further ones are counted.
    pub refusals_per_second: u32,
}

impl AuditOptions {
    /// The usual: ten batches a second at most, segments of 32 MiB or a day, all of which stay.
    pub fn new(directory: impl Into<PathBuf>) -> AuditOptions {
        AuditOptions::at(Places::new(directory))
    }

    /// The same, with an archive.
    pub fn at(places: Places) -> AuditOptions {
        AuditOptions {
            node: None,
            shared_store: false,
            places,
            interval: Duration::from_millis(100),
            segment_bytes: 32 * 1024 * 1024,
            segment_age: Duration::from_secs(86_400),
            keep: Keep::default(),
            refusals_per_second: 20,
        }
    }
}

/// A trail that is being opened.
pub struct Opening {
    shared: Arc<Shared>,
    said: oneshot::Receiver<Result<Opened, AuditError>>,
    keep: Keep,
    departures: SyncSender<Departure>,
}

impl Opening {
    /// Waits until the trail is open: its first record is durable.
    ///
    /// # Errors
    /// See [`Audit::open`].
    pub async fn opened(self) -> Result<Opened, AuditError> {
        let Opening {
            shared,
            said,
            keep,
            departures,
        } = self;
        // The writer says something, unless it panicked.
        let opened = said.await.map_err(|_| AuditError::Io {
            path: shared.places.directory.clone(),
            source: std::io::Error::other("the writer of the audit trail stopped"),
        })??;
        let keeper = Keeper {
            shared: Arc::clone(&shared),
            keep,
            departures,
        };
        let thread = start(&shared, "audit-keeper", move || keeper.run())?;
        let _ = shared.keeper.set(thread);
        Ok(opened)
    }
}

/// Starts a thread of a trail, which its end waits for.
fn start(
    shared: &Shared,
    name: &str,
    work: impl FnOnce() + Send + 'static,
) -> Result<Thread, AuditError> {
    let started = std::thread::Builder::new().name(name.to_owned());
    let handle = started.spawn(work).map_err(|source| AuditError::Io {
        path: shared.places.directory.clone(),
        source,
    })?;
    let thread = handle.thread().clone();
    let handles = shared.handles.lock();
    handles.unwrap_or_else(PoisonError::into_inner).push(handle);
    Ok(thread)
}

/// The audit trail. Without one ([`Audit::off`]) every call does nothing.
#[derive(Clone, Default)]
pub struct Audit(Option<Arc<Shared>>);

impl Audit {
    /// No trail.
    pub const fn off() -> Audit {
        Audit(None)
    }

    /// Opens the trail, or begins one, and starts its writer. What is in the log is verified from
    /// its last segment's beginning; lines of changes that were committed and not logged are logged
    /// now. `store` is the one beneath [`Audit::recorded`].
    ///
    /// # Errors
    /// See [`AuditError`]. A trail that does not verify is none: it continues behind a line that
    /// says so, because the server must, and `signet audit verify` finds the place.
    pub async fn open(
        options: AuditOptions,
        store: Arc<dyn Store>,
        keyring: &Keyring,
        clock: Arc<dyn Clock>,
    ) -> Result<(Audit, Opened), AuditError> {
        let (audit, opening) = Audit::begin(options, store, keyring, clock).await?;
        Ok((audit, opening.opened().await?))
    }

    /// Begins to open the trail, as [`Audit::open`] does: its writer verifies the log and writes
    /// its first record while the caller goes on. Changes of [`Audit::recorded`] carry their lines
    /// already. Nothing is to be answered before [`Opening::opened`].
    ///
    /// # Errors
    /// See [`AuditError`].
    pub async fn begin(
        options: AuditOptions,
        store: Arc<dyn Store>,
        keyring: &Keyring,
        clock: Arc<dyn Clock>,
    ) -> Result<(Audit, Opening), AuditError> {
        let now = clock.now();
        let wanted = options.node.as_ref();
        let (node, lock) = if options.shared_store {
            let directory = &options.places.directory;
            let claimed = node::claim_shared(&*store, directory, wanted, now).await?;
            (claimed.0, Some(claimed.1))
        } else {
            (node::claim(&*store, wanted, now).await?, None)
        };
        // Records that wait in the store under its first name would never be written.
        if let Some(wanted) = options.node.filter(|wanted| *wanted != node) {
            return Err(AuditError::OtherNode {
                stored: node,
                wanted,
            });
        }
        let identity = AuditIdentity::load_or_create(&*store, &node, keyring, now).await?;
        let (sender, receiver) = sync_channel(MAX_QUEUED);
        let (departures, leaving) = sync_channel(1);
        let directory = options.places.directory.clone();
        let shared = Arc::new(Shared::new(
            sender,
            node,
            options.places,
            identity.document.clone(),
            Arc::clone(&store),
            Arc::clone(&clock),
            options.refusals_per_second,
        ));
        if let Some(lock) = lock {
            let _ = shared.lock.set(lock);
        }
        let parts = writer::Parts {
            shared: Arc::clone(&shared),
            receiver,
            leaving,
            identity,
            interval: options.interval,
            segment_bytes: options.segment_bytes,
            segment_age: options.segment_age,
        };
        let (say, said) = oneshot::channel();
        let work = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build();
            let runtime = match runtime.map_err(|source| AuditError::Io {
                path: directory,
                source,
            }) {
                Ok(runtime) => runtime,
                Err(error) => return drop(say.send(Err(error))),
            };
            match runtime.block_on(Writer::open(parts, store, clock)) {
                Ok((writer, opened)) => {
                    // Where nobody waits any more, the trail is closed as any other is.
                    let _ = say.send(Ok(opened));
                    writer.run(&runtime);
                }
                Err(error) => drop(say.send(Err(error))),
            }
        };
        let thread = start(&shared, "audit-writer", work)?;
        let _ = shared.thread.set(thread);
        let opening = Opening {
            shared: Arc::clone(&shared),
            said,
            keep: options.keep,
            departures,
        };
        Ok((Audit(Some(shared)), opening))
    }

    /// From now on several nodes write the store: claims the name that this trail has in it, so
    /// that no other directory's node can have it. As a start over such a store does
    /// ([`AuditOptions::shared_store`]), which then finds it done and writes nothing.
    ///
    /// # Errors
    /// See [`AuditError`].
    pub async fn share_store(&self) -> Result<(), AuditError> {
        let Some(shared) = self.0.as_ref().filter(|shared| shared.lock.get().is_none()) else {
            return Ok(());
        };
        let directory = &shared.places.directory;
        let (wanted, now) = (Some(&shared.node), shared.clock.now());
        let (node, lock) = node::claim_shared(&*shared.store, directory, wanted, now).await?;
        if node != shared.node {
            return Err(AuditError::OtherNode {
                stored: node,
                wanted: shared.node.clone(),
            });
        }
        let _ = shared.lock.set(lock);
        Ok(())
    }

    /// The store whose changes carry lines. The application uses no other.
    pub fn recorded(&self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        match &self.0 {
            Some(shared) => Arc::new(RecordedStore::new(store, Arc::clone(shared))),
            None => store,
        }
    }

    /// Records a decision: a hash and a place in the queue. Never waits. A refusal is counted in
    /// place of a line where the same was refused before in the same minute, or where refusals are
    /// more than the trail takes.
    pub fn record(&self, event: Event<'_>) {
        let Some(shared) = &self.0 else { return };
        if event.is_refusal() {
            if shared.full.load(Relaxed) {
                return shared.shed(1, event.at_ms());
            }
            if !shared.refusals.admit(&event) {
                return;
            }
        }
        shared.push(event.entry(None));
    }

    /// Counts what its caller may repeat at will without a secret, in place of a record for each: a
    /// line a minute for all that say the same.
    pub fn record_counted(&self, event: Event<'_>) {
        if let Some(shared) = &self.0 {
            shared.repeated.add(&event);
        }
    }

    /// Counts what is asked too often for a line each. `yes`: see [`Counted`].
    pub fn count(&self, what: Counted, caller: &str, yes: bool) {
        if let Some(shared) = &self.0 {
            shared.counters.add(what, caller, yes);
        }
    }

    /// Does `work`, which changes something: the first change carries the event's line. A failure
    /// is recorded with its `code`; where a change had been made before it, as a second line. Where
    /// nothing had to be changed, the event is a decision like others.
    ///
    /// # Errors
    /// Those of `work`.
    pub async fn act<T, E>(
        &self,
        event: Event<'_>,
        work: impl Future<Output = Result<T, E>>,
        code: impl FnOnce(&E) -> &'static str,
    ) -> Result<T, E> {
        let (done, was_carried, target) = self.carried(event, work, code).await;
        if done.is_ok() && !was_carried {
            let event = target
                .as_ref()
                .map_or(event, |target| event.with_target(target));
            self.record(event);
        }
        done
    }

    /// As [`Audit::act`], of what its caller may repeat at will without a secret: where nothing had
    /// to be changed, because it was done before, the event is counted
    /// ([`Audit::record_counted`]).
    ///
    /// # Errors
    /// Those of `work`.
    pub async fn act_counted<T, E>(
        &self,
        event: Event<'_>,
        work: impl Future<Output = Result<T, E>>,
        code: impl FnOnce(&E) -> &'static str,
    ) -> Result<T, E> {
        let (done, was_carried, _) = self.carried(event, work, code).await;
        if done.is_ok() && !was_carried {
            self.record_counted(event);
        }
        done
    }

    /// Whether a change carried the line, and what the work said that it is about; a failure is
    /// recorded.
    async fn carried<T, E>(
        &self,
        event: Event<'_>,
        work: impl Future<Output = Result<T, E>>,
        code: impl FnOnce(&E) -> &'static str,
    ) -> (Result<T, E>, bool, Option<Target>) {
        if self.0.is_none() {
            return (work.await, false, None);
        }
        let (done, was_carried, target) = with_target(event, work).await;
        if let Err(error) = &done {
            let event = target
                .as_ref()
                .map_or(event, |target| event.with_target(target));
            self.record(event.refused(code(error)));
        }
        (done, was_carried, target)
    }

    /// The time that events are stamped with, Unix milliseconds; 0 without a trail.
    pub fn now_ms(&self) -> u64 {
        self.0.as_ref().map_or(0, |shared| shared.clock.now_ms())
    }

    /// Whether lines are written: `false` while the disk refuses them.
    pub fn is_writing(&self) -> bool {
        self.0
            .as_ref()
            .is_none_or(|shared| !shared.failing.load(Relaxed))
    }

    /// Lines in the log, and decisions that found the queue full since the start.
    pub fn figures(&self) -> (u64, u64) {
        self.0.as_ref().map_or((0, 0), |shared| {
            (
                shared.lines.load(Relaxed),
                shared.dropped_in_all.load(Relaxed),
            )
        })
    }

    /// Whether the disk is full: refusals are counted in place of being recorded, and decisions
    /// wait.
    pub fn is_full(&self) -> bool {
        self.0
            .as_ref()
            .is_some_and(|shared| shared.full.load(Relaxed))
    }

    /// Where the log is; none without a trail.
    pub fn places(&self) -> Option<&Places> {
        self.0.as_ref().map(|shared| &shared.places)
    }

    /// Which node writes it; none without a trail.
    pub fn node(&self) -> Option<&NodeId> {
        self.0.as_ref().map(|shared| &shared.node)
    }

    /// Whose log it is.
    pub fn document(&self) -> Option<&VerifiedDocument> {
        self.0.as_ref().map(|shared| &shared.document)
    }

    /// Seals the trail's key under the ring's current key; whether another had sealed it.
    ///
    /// # Errors
    /// The older sealing key must stay until this has succeeded.
    pub async fn rewrap(&self, ring: &Keyring) -> Result<bool, AuditError> {
        match &self.0 {
            Some(shared) => {
                let now = shared.clock.now();
                identity::rewrap(&*shared.store, &shared.node, ring, now).await
            }
            None => Ok(false),
        }
    }

    /// Writes what waits, says that the trail ends in order, and waits for it. Blocks; further
    /// events are lost.
    pub fn close(&self) {
        let Some(shared) = &self.0 else { return };
        shared.closing.store(true, SeqCst);
        shared.unpark();
        // The keeper waits for nothing else any more.
        shared.closed_a_segment();
        let handles = std::mem::take(
            &mut *shared
                .handles
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        );
        // The writer first: the keeper may wait for it.
        for handle in handles {
            if handle.join().is_err() {
                tracing::error!("stopped an audit thread after a panic");
            }
        }
    }
}
