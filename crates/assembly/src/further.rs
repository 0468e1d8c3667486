//! Further realms of a process: how one is made of its record, closed and deleted.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use arc_swap::ArcSwap;
use signet_config::settings::{Owner, TakesEffect};
use signet_config::{Config, check, realms, settings};
use signet_crypto::seal::SealingKey;
use signet_node::Cluster;
use signet_oauth::registry::RealmEntry;
use signet_realm::realms::{OpenRealm, Realms, RealmsFuture, SettingNow, Source};
use signet_realm::state::{Realm, RealmId};
use signet_realm::time::Kept;
use signet_realm::{outbox, tasks};
use signet_registry::keys::{SealingFile, keep_spare_keys};
use signet_store::{Change, Op, RealmStore, Store, Table};

use crate::{
    audit,
    first::{keep_keys, note_realm},
    realm::{Wanted, parts, place},
};

/// Rows that are read and deleted at once.
const AT_ONCE: usize = 200;
/// Between two looks for realms that are to be deleted.
const DELETE_EVERY: Duration = Duration::from_secs(5);
/// Between two rounds of what is done for each realm that is open.
const SWEEP_EVERY: Duration = Duration::from_secs(60);

/// Makes further realms. See the module.
pub struct Further {
    config: ArcSwap<Config>,
    /// As it was at the start: what waits for a restart is still so.
    begun_with: Config,
    base: PathBuf,
    cluster: Arc<Cluster>,
    first: Arc<Realm>,
    sealing: Arc<Mutex<SealingFile>>,
}

impl Further {
    /// In a process with this configuration and first realm, which has the sealing keys.
    ///
    /// # Errors
    /// It has none.
    pub fn new(
        config: &Config,
        base: PathBuf,
        cluster: Arc<Cluster>,
        first: Arc<Realm>,
    ) -> Result<Arc<Further>, String> {
        let sealing = first.sealing_file.clone();
        Ok(Arc::new(Further {
            config: ArcSwap::from_pointee(config.clone()),
            begun_with: config.clone(),
            base,
            cluster,
            sealing: sealing.ok_or("the process has no sealing keys")?,
            first,
        }))
    }

    /// The configuration was read again: realms that it changes are made of it from now on.
    pub fn reload(&self, config: &Config) {
        let before = self.config.swap(Arc::new(config.clone()));
        let made = |config: &Config, entry: &RealmEntry| {
            let made = realms::of_realm(config, entry);
            made.map(|config| settings::values(&config)).ok()
        };
        if let Some(realms) = Realms::of(&self.first) {
            realms.reopen(|entry| made(&before, entry) != made(config, entry));
        }
    }

    fn sealing_keys(&self) -> (SealingKey, Vec<SealingKey>) {
        let file = self.sealing.lock();
        // A panic left the keys as they were before or after a write: both are whole.
        file.unwrap_or_else(PoisonError::into_inner).keys()
    }

    async fn make(&self, entry: &RealmEntry) -> Result<Arc<Realm>, String> {
        let of_process = self.config.load_full();
        let config = realms::of_realm(&of_process, entry).map_err(|faults| faults.join("; "))?;
        let first = &self.first;
        let wanted = Wanted {
            id: RealmId::parse(entry.id()).map_err(|e| e.to_string())?,
            config: &config,
            base: &self.base,
            cluster: &self.cluster,
            clock: first.host.clock.clone(),
            sealing: self.sealing_keys(),
            node: Some(first.change_writer.node().clone()),
        };
        // The sweep is the whole store's, and the first realm keeps its times.
        let kept = Kept::load(&*first.store, first.now()).await;
        let kept = kept.map_err(|e| e.to_string())?;
        let (partition, trail) = place(&wanted).await?;
        let audit = trail.audit.clone();
        let made = async {
            // The first record of the trail is on its way to the disk meanwhile. What is changed
            // until then has its lines in the store, from where they are taken into the trail.
            let parts = parts(&wanted, (partition, audit.clone()), kept).await;
            trail.opened().await?;
            let parts = parts?;
            let realm = Realm::new(first.host.clone(), parts);
            self.cluster.attach_further(&realm).await?;
            if self.cluster.is_whole()
                && let Err(error) = note_realm(&config, &realm).await
            {
                self.cluster.detach_further(&realm);
                return Err(error);
            }
            Ok(realm)
        };
        let made: Result<Arc<Realm>, String> = made.await;
        if made.is_err() {
            // It is not left to hold the trail's directory.
            close_trail(audit).await;
        }
        made
    }

    fn view(&self, entry: &RealmEntry) -> Result<RealmStore, String> {
        let id = RealmId::parse(entry.id()).map_err(|e| e.to_string())?;
        Ok(RealmStore::new(&id, self.cluster.store().clone()))
    }

    /// How many rows it found and deleted.
    async fn delete_rows(&self, entry: &RealmEntry) -> Result<usize, String> {
        let view = self.view(entry)?;
        let now = self.first.now();
        let mut count = 0;
        for table in Table::ALL {
            loop {
                // As of the beginning of time: rows that have expired go, too.
                let page = view.page(*table, None, AT_ONCE, 0).await;
                let page = page.map_err(|e| e.to_string())?;
                let whole = page.len() < AT_ONCE;
                count += page.len();
                let mut ops = page.into_iter().map(|(key, _)| Op::Delete { key });
                if let Some(first) = ops.next() {
                    let change = Change {
                        first,
                        then: ops.collect(),
                    };
                    let done = view.commit(change, now).await;
                    done.map_err(|e| e.to_string())?;
                }
                if whole {
                    break;
                }
            }
        }
        Ok(count)
    }

    async fn delete_trail(&self, entry: &RealmEntry) -> Result<(), String> {
        let id = RealmId::parse(entry.id()).map_err(|e| e.to_string())?;
        let places = audit::places(&self.config.load(), &id);
        let directories = std::iter::once(places.directory).chain(places.archive);
        let directories: Vec<PathBuf> = directories.collect();
        let removed = tokio::task::spawn_blocking(move || {
            directories
                .iter()
                .try_for_each(|directory| match std::fs::remove_dir_all(directory) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                        Err(format!("{}: {error}", directory.display()))
                    }
                    Ok(()) | Err(_) => Ok(()),
                })
        });
        removed.await.map_err(|e| e.to_string())?
    }
}

async fn close_trail(audit: signet_audit::Audit) {
    // It waits for its threads, which write what is not written yet.
    let _ = tokio::task::spawn_blocking(move || audit.close()).await;
}

impl OpenRealm for Further {
    fn settings(&self, entry: Option<&RealmEntry>) -> Vec<SettingNow> {
        let config = self.config.load_full();
        let made = entry.and_then(|entry| realms::of_realm(&config, entry).ok());
        let (now, begun) = (
            settings::values(made.as_ref().unwrap_or(&config)),
            settings::values(&self.begun_with),
        );
        let defaults = settings::defaults();
        let rows = settings::SETTINGS.iter();
        let rows = rows.filter(|row| !realms::is_records(row.path));
        rows.map(|row| {
            // A realm is opened again when its record changes, and the process is not.
            let waits = row.takes_effect == TakesEffect::Restart
                && (entry.is_none() || row.owner == Owner::Process);
            let value = settings::value(if waits { &begun } else { &now }, row.path);
            let is_own = entry.is_some_and(|entry| entry.settings.contains_key(row.path));
            let source = match (is_own, value == settings::value(&defaults, row.path)) {
                (true, _) => Source::Record,
                (false, true) => Source::Default,
                (false, false) => Source::Configuration,
            };
            SettingNow {
                path: row.path.to_owned(),
                value: value.clone(),
                source,
            }
        })
        .collect()
    }

    fn check(&self, entry: &RealmEntry) -> Result<(), Vec<String>> {
        check::of_realm(&self.config.load(), &self.base, entry, true)
    }

    fn open(&self, entry: Arc<RealmEntry>) -> RealmsFuture<'_, Result<Arc<Realm>, String>> {
        Box::pin(async move {
            let realm = self.make(&entry).await?;
            let cluster = &self.cluster;
            cluster.beside(&realm, keep_keys(realm.clone()));
            cluster.beside(&realm, outbox::deliver(realm.clone()));
            tracing::info!(realm = entry.name, issuer = entry.issuer, "opened a realm");
            Ok(realm)
        })
    }

    fn opened(&self, realm: &Realm) {
        let (current, older) = self.sealing_keys();
        realm.replace_keyring(current, older);
    }

    fn end_tasks(&self, realm: &Arc<Realm>) {
        self.cluster.detach_further(realm);
    }

    fn close(&self, realm: Arc<Realm>) -> RealmsFuture<'_, ()> {
        Box::pin(async move {
            close_trail(realm.audit().clone()).await;
            tracing::info!(realm = realm.id().as_str(), "closed a realm");
        })
    }

    fn has_work<'a>(&'a self, entry: &'a RealmEntry) -> RealmsFuture<'a, bool> {
        Box::pin(async move {
            let Ok(view) = self.view(entry) else {
                return false;
            };
            // What cannot be read is not known to have nothing.
            outbox::waits(&view, self.first.now()).await.unwrap_or(true)
        })
    }

    fn delete<'a>(&'a self, entry: &'a RealmEntry) -> RealmsFuture<'a, Result<usize, String>> {
        Box::pin(async move {
            let count = self.delete_rows(entry).await?;
            self.delete_trail(entry).await?;
            Ok(count)
        })
    }
}

/// What is done for further realms from time to time, for as long as the process runs.
pub async fn keep(realms: Arc<Realms>) {
    open_with_work(&realms).await;
    let mut spare_keys = tokio::task::JoinSet::new();
    let mut swept = tokio::time::Instant::now();
    loop {
        tokio::time::sleep(DELETE_EVERY).await;
        realms.delete_due().await;
        realms.close_quiet().await;
        // A process with one realm needs none.
        if spare_keys.is_empty() && realms.table().slots().next().is_some() {
            spare_keys.spawn(keep_spare_keys());
        }
        if swept.elapsed() >= SWEEP_EVERY {
            for realm in realms.table().opened() {
                tasks::sweep_memory(&realm).await;
            }
            swept = tokio::time::Instant::now();
        }
    }
}

/// What a realm had to send when the process stopped is sent, whether or not anybody asks for the
/// realm.
async fn open_with_work(realms: &Arc<Realms>) {
    let Some(opener) = realms.opener() else {
        return;
    };
    for slot in realms.table().slots() {
        let entry = slot.entry();
        if entry.answers()
            && opener.has_work(entry).await
            && let Err(error) = realms.open(slot).await
        {
            tracing::warn!(realm = entry.name, %error, "failed to open a realm that has something to send");
        }
    }
}
