//! Moving the rows of a running server to another engine.
//!
//! The server goes on over the new store without a restart. In the old one a row says where the
//! rows went, so that no later start takes it up again by mistake: that row is also what decides.
//! Other processes would change the old store without this one seeing it. They are asked for after
//! the row is there: one that came before is seen, and one that comes later reads the row.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use signet_crypto::Clock;
use signet_realm::nodes::{MoveState, NodesError, StoreMove};
use signet_realm::state::Realm;
use signet_realm::tasks;
use signet_store::{
    Change, Destination, Engine, MovableStore, MoveError, MoveProgress, Op, Phase, PostgresStore,
    Seal, SealFuture, SqliteStore, Store, StoreError, arriving_key, moved_key, postgres::Behind,
};
use tokio::runtime::Handle;

use super::OpenedStore;
use signet_store::StoreUrl;

/// Why a server must not go on over this store: its rows are elsewhere, or were never all here.
pub async fn left_or_arriving(store: &dyn Store, now: u64) -> Result<Option<String>, StoreError> {
    if let Some(row) = store.get(&moved_key(), now).await? {
        let to = String::from_utf8_lossy(&row.value);
        return Ok(Some(format!(
            "the rows of this store were moved to {to}: set [store] (or --store) to that"
        )));
    }
    let arriving = store.get(&arriving_key(), now).await?;
    Ok(arriving.map(|_| {
        "a move or copy of rows into this store was not finished: `signet store finish` says whether they are all here. Otherwise empty it, and go on over the store that they came from"
            .to_owned()
    }))
}

/// See the module.
pub(crate) struct Moving {
    store: Arc<MovableStore>,
    from: Engine,
    data_dir: PathBuf,
    clock: Arc<dyn Clock>,
    last: Mutex<Option<StoreMove>>,
}

impl Moving {
    /// Of a store that was just opened.
    pub(crate) fn new(opened: &OpenedStore, data_dir: &Path, clock: Arc<dyn Clock>) -> Moving {
        Moving {
            store: opened.store.clone(),
            from: opened.engine.clone(),
            data_dir: data_dir.to_owned(),
            clock,
            last: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, Option<StoreMove>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last one that was begun.
    pub(crate) fn last(&self) -> Option<StoreMove> {
        self.state().clone()
    }

    /// Whether the rows are elsewhere than at the start.
    pub(crate) fn has_moved(&self) -> bool {
        self.state()
            .as_ref()
            .is_some_and(|m| m.state == MoveState::Done)
    }

    /// Begins one, on this runtime.
    pub(crate) fn begin(
        self: &Arc<Self>,
        runtime: &Handle,
        realm: Arc<Realm>,
        to: &str,
    ) -> Result<StoreMove, NodesError> {
        let not_possible = |why: &str| NodesError::NotPossible(why.to_owned());
        let url = StoreUrl::parse(to).map_err(|e| not_possible(&e))?;
        if matches!(url, StoreUrl::Sqlite(None)) {
            return Err(not_possible("which directory? sqlite:DIR"));
        }
        let mut last = self.state();
        match last.as_ref().map(|last| last.state) {
            None | Some(MoveState::Failed) => {}
            Some(MoveState::Done) => {
                return Err(not_possible(
                    "the store was moved already: restart this server over the new one first",
                ));
            }
            Some(
                MoveState::Copying
                | MoveState::Following
                | MoveState::Comparing
                | MoveState::Switching,
            ) => return Err(not_possible("the store is being moved already")),
        }
        let begun = StoreMove {
            to: url.to_string(),
            state: MoveState::Copying,
            done: 0,
            total: 0,
            rows: None,
            changed: None,
            held_ms: None,
            error: None,
        };
        *last = Some(begun.clone());
        drop(last);
        let moving = self.clone();
        runtime.spawn(async move {
            if let Err(error) = moving.run(&url, &realm).await {
                tracing::error!(%error, to = %url, "failed to move the store; continuing with the previous one");
                if let Some(last) = &mut *moving.state() {
                    last.state = MoveState::Failed;
                    last.error = Some(error.to_string());
                }
            }
        });
        Ok(begun)
    }

    fn told(&self, progress: MoveProgress) {
        if let Some(last) = &mut *self.state() {
            last.state = match progress.phase {
                Phase::Copying => MoveState::Copying,
                Phase::Following => MoveState::Following,
                Phase::Comparing => MoveState::Comparing,
                Phase::Switching => MoveState::Switching,
            };
            (last.done, last.total) = (progress.done, progress.total);
        }
    }

    /// Other processes that use the store which is left.
    async fn others(&self) -> Result<u64, MoveError> {
        let Engine::Postgres { options, .. } = &self.from else {
            // A directory is one process's.
            return Ok(0);
        };
        let options = options.clone();
        let asked = tokio::task::spawn_blocking(move || PostgresStore::others(&options)).await;
        let refused = |why: String| MoveError::Refused(why);
        asked
            .map_err(|e| refused(e.to_string()))?
            .map_err(|e| refused(e.to_string()))
    }

    async fn alone(&self) -> Result<(), MoveError> {
        match self.others().await? {
            0 => Ok(()),
            _ => Err(MoveError::Refused(
                "other processes use the database: stop them first".to_owned(),
            )),
        }
    }

    async fn run(&self, url: &StoreUrl, realm: &Arc<Realm>) -> Result<(), MoveError> {
        self.alone().await?;
        let engine = url.engine(&self.data_dir);
        let data_dir = self.data_dir.clone();
        let opening = tokio::task::spawn_blocking(move || open(&engine, &data_dir));
        let to = opening
            .await
            .map_err(|e| MoveError::Refused(e.to_string()))?
            .map_err(MoveError::Refused)?;
        let now = || self.clock.now();
        let moved = self
            .store
            .move_to(
                to.clone(),
                &now,
                &mut |progress| self.told(progress),
                &Sealing { moving: self, url },
            )
            .await;
        let moved = match moved {
            Ok(moved) => moved,
            Err(error) => {
                let _ = tokio::task::spawn_blocking(move || to.close()).await;
                return Err(error);
            }
        };
        let held_ms = u64::try_from(moved.held.as_millis()).unwrap_or(u64::MAX);
        tracing::info!(
            to = %url,
            rows = moved.rows,
            changed = moved.changed,
            held_ms,
            switches = moved.switches,
            "moved the store: set [store] to the new one before the next start"
        );
        if !moved.is_told {
            tracing::warn!(
                "failed to finish the new store: run `signet store finish` before the next start"
            );
        }
        if let Some(last) = &mut *self.state() {
            last.state = MoveState::Done;
            last.done = last.total;
            last.rows = Some(moved.rows);
            last.changed = Some(moved.changed);
            last.held_ms = Some(held_ms);
        }
        if url.is_database() && !realm.is_shared() {
            // Others may write it from now on, and read what this node changed.
            match realm.share().await {
                Ok(()) => drop(tokio::spawn(tasks::follow_nodes(realm.clone()))),
                Err(error) => {
                    tracing::error!(%error, "failed to finish the move: restart this server before another one is started");
                }
            }
        }
        Ok(())
    }
}

/// Decides that the rows of a store are another one's, while changes wait and all rows are there.
/// `to`: what the store says from then on. `alone`: whether nobody else uses the store.
///
/// # Errors
/// The store goes on as before: it failed, or is not alone.
pub async fn leave(
    old: &dyn Store,
    to: &str,
    now: u64,
    alone: impl AsyncFnOnce() -> Result<(), MoveError>,
) -> Result<(), MoveError> {
    let change = |op| old.commit(Change::new(op), now);
    change(Op::Put {
        key: moved_key(),
        value: to.as_bytes().to_vec(),
        end: None,
    })
    .await?;
    let Err(error) = alone().await else {
        return Ok(());
    };
    // It goes on over the old store, which must not say otherwise.
    change(Op::Delete { key: moved_key() }).await?;
    Err(error)
}

struct Sealing<'a> {
    moving: &'a Moving,
    url: &'a StoreUrl,
}

impl Seal for Sealing<'_> {
    fn seal<'a>(&'a self, left: &'a dyn Store) -> SealFuture<'a> {
        Box::pin(async move {
            let (moving, to) = (self.moving, self.url.to_string());
            leave(left, &to, moving.clock.now(), || moving.alone()).await
        })
    }
}

/// Opens the store that the rows go to; makes its schema where it has none.
fn open(engine: &Engine, data_dir: &Path) -> Result<Arc<dyn Destination>, String> {
    match engine {
        Engine::Sqlite { directory, options } if same(directory, data_dir) => {
            // This process has its lock.
            let store = SqliteStore::open_locked(directory, *options);
            store
                .map(|store| Arc::new(store) as Arc<dyn Destination>)
                .map_err(|e| e.to_string())
        }
        Engine::Sqlite { .. } => signet_store::open_destination(engine).map_err(|e| e.to_string()),
        Engine::Postgres { options, .. } => {
            PostgresStore::migrate(options, Behind::Refuse).map_err(|e| e.to_string())?;
            signet_store::open_destination(engine).map_err(|e| e.to_string())
        }
    }
}

fn same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}
