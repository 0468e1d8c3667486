//! This process as a node of several: the installation.
//!
//! A process is by itself until it invites another one, or is started with an invitation; its place
//! is kept in the data directory, so that a restart needs none. What travels between nodes is in
//! `signet_cluster`, what they agree on in the store; here both are put together with the realm.
#![forbid(unsafe_code)]

mod joining;
mod late;
mod list;
mod moving;
mod nodes;
mod numbers;
mod package;
mod part;
mod peers;
mod place;
mod sealing;
mod service_ids;
mod services;
mod spent;
mod whole;
mod witness;

use std::{
    collections::HashMap,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use signet_cluster::{
    batch::MemberKeys,
    identity::Identity,
    join::{ClusterError, Description, Host, HostParts},
    journal::Journal,
    links::{self, Ears, LinkOptions, Links, Topology},
    member::{Known, Members},
    membership::{Membership, MembershipOptions, MembershipParts},
    spread::{Spread, SpreadParts},
    transport::Services,
};
use signet_consensus::ReplicatedStore;
use signet_crypto::Clock;
use signet_merge::tell::Tell;
use signet_realm::nodes::NodesError;
use signet_realm::state::Realm;
use signet_realm::tasks;
use signet_store::{Engine, MovableStore, NodeId, SqliteStore, Store, sqlite};
use tokio::{sync::OnceCell, task::AbortHandle};

pub use joining::{giver, join_by, join_first};
use late::{Heard, Late};
use moving::Moving;
pub use moving::{leave, left_or_arriving};
pub use part::{Part, PartOf, remove};
pub use peers::Peers;
pub use place::Place;
use service_ids::{ACKNOWLEDGED, PASSED_ON, READERS, SEALING, SPENT};
pub use witness::is_noted;

/// How long a node that joins waits for the others' store.
const STORE_WITHIN: Duration = Duration::from_secs(300);
/// Between two looks whether something has come about.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How often it is looked whether other nodes are heard.
const LISTEN_EVERY: Duration = Duration::from_millis(200);
/// How often it is looked whether this node was removed, where nobody tells it.
const REMOVED_EVERY: Duration = Duration::from_secs(2);

/// How this process takes part.
#[derive(Clone, Debug)]
pub struct ClusterOptions {
    /// Where this node keeps what is its own.
    pub data_dir: PathBuf,
    /// The installation's issuer.
    pub issuer: String,
    /// Where this node alone answers.
    pub url: String,
    /// The name that the configuration gives it.
    pub name: Option<NodeId>,
    /// The cluster's own listener; none: this process stays by itself.
    pub listen: Option<SocketAddr>,
    /// Where others find it; empty: where it listens.
    pub advertise: Vec<String>,
    /// Where it stands; empty: nowhere in particular.
    pub zone: String,
    /// Whether it passes on between zones.
    pub hub: bool,
    /// Who holds connections to whom.
    pub topology: Topology,
    /// Where members are looked for besides at their own addresses.
    pub peers: Vec<String>,
    /// After how long without word from the others nothing may be taken for not revoked.
    pub staleness: Option<Duration>,
    /// Of a development server: what else a node that joins gets.
    pub development: Option<Development>,
    /// Its store is the embedded one.
    pub embedded: bool,
}

/// What a development server hands to a node that joins it, beside what every installation does:
/// its accounts and clients in plain text, and the authority of its certificates.
#[derive(Clone, Copy, Debug)]
pub struct Development {
    /// What this server's data directory has of it.
    pub pack: fn(&Path) -> Result<serde_json::Value, String>,
    /// Puts it where the first start of a node finds it.
    pub unpack: fn(&Path, &serde_json::Value, &Place) -> Result<(), String>,
}

/// The store of the process, and what it is made of.
pub struct OpenedStore {
    /// What every part of the process reads and writes.
    pub store: Arc<MovableStore>,
    /// What it was opened as.
    pub engine: Engine,
    /// The embedded engine, which can be replicated; none over a database.
    pub replicated: Option<Arc<ReplicatedStore>>,
}

/// See the module.
pub struct Cluster {
    options: ClusterOptions,
    clock: Arc<dyn Clock>,
    store: Arc<dyn Store>,
    replicated: Option<Arc<ReplicatedStore>>,
    moving: Arc<Moving>,
    late: OnceLock<Arc<Late>>,
    heard: Arc<Heard>,
    running: OnceCell<Running>,
    start: Mutex<Start>,
    runtime: tokio::runtime::Handle,
    /// What runs beside the requests of a realm, by the realm's address.
    beside: Mutex<HashMap<usize, Vec<AbortHandle>>>,
}

/// How far the start is.
struct Start {
    /// All of it is done.
    whole: bool,
    /// How old this node's rows were; none where that cannot be known.
    rows_age: Option<Duration>,
    /// When they were.
    begun: tokio::time::Instant,
    /// What it waits for.
    waits: Option<String>,
}

/// What a node of several has beside the realm.
struct Running {
    node: NodeId,
    members: Arc<Members>,
    links: Arc<Links>,
    spread: Arc<Spread>,
    host: Host,
    journal: Arc<SqliteStore>,
    /// Who answers.
    detection: Membership,
    /// In the replicated store; none over a database.
    part: Option<Arc<Part>>,
    /// The store knows this node as a member.
    described: AtomicBool,
}

impl Cluster {
    /// The process, by itself so far. Within a runtime that lives as long as the process serves.
    pub fn new(
        options: ClusterOptions,
        clock: Arc<dyn Clock>,
        opened: OpenedStore,
    ) -> Arc<Cluster> {
        let moving = Moving::new(&opened, &options.data_dir, clock.clone());
        Arc::new(Cluster {
            options,
            clock,
            store: opened.store,
            moving: Arc::new(moving),
            replicated: opened.replicated,
            late: OnceLock::new(),
            heard: Arc::default(),
            running: OnceCell::new(),
            start: Mutex::new(Start {
                whole: true,
                rows_age: Some(Duration::ZERO),
                begun: tokio::time::Instant::now(),
                waits: None,
            }),
            runtime: tokio::runtime::Handle::current(),
            beside: Mutex::default(),
        })
    }

    /// The store of all nodes.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The name that this process goes by, where it is known before the store is read.
    pub fn wanted_name(&self) -> Result<Option<NodeId>, String> {
        match Place::read(&self.options.data_dir)? {
            Some(place) => place.node().map(Some),
            None => Ok(self.options.name.clone()),
        }
    }

    /// Announces what the realm changes: as the node of this name.
    pub fn tell(&self, node: &NodeId) -> Arc<dyn Tell> {
        self.late(node).clone()
    }

    fn late(&self, node: &NodeId) -> &Arc<Late> {
        let clock = self.clock.clone();
        self.late
            .get_or_init(|| Arc::new(Late::new(node.clone(), clock)))
    }

    /// Several processes write the store, or may: a database does not say who else does.
    pub fn is_shared(&self) -> bool {
        self.replicated.is_none() || self.running.initialized()
    }

    /// Begins as the node that the data directory says, if it says one: before the store is read.
    pub async fn begin(self: &Arc<Self>) -> Result<(), String> {
        let Some(place) = self.place()? else {
            return Ok(());
        };
        match &self.replicated {
            Some(replicated) => witness::check(&self.options.data_dir, &place, replicated).await?,
            None => witness::forget(&self.options.data_dir)?,
        }
        let running = self.running(&place).await?;
        let (Some(replicated), Some(part)) = (&self.replicated, &running.part) else {
            return running.known(&self.description(&place), &*self.store).await;
        };
        part.begin(&place).await?;
        if !self.wait_for_store(replicated).await? {
            if let Ok(mut start) = self.start.lock() {
                start.whole = false;
            }
            // Its members are those of the last time.
            return Ok(());
        }
        running.known(&self.description(&place), &*self.store).await
    }

    fn place(&self) -> Result<Option<Place>, String> {
        Place::read(&self.options.data_dir)
    }

    fn description(&self, place: &Place) -> Description {
        let options = &self.options;
        let addresses = match options.advertise.is_empty() {
            true => vec![place.listen.to_string()],
            false => options.advertise.clone(),
        };
        Description {
            addresses,
            url: place.url.clone(),
            zone: options.zone.clone(),
            hub: options.hub,
        }
    }

    /// What the node's part in the replicated store is made of; none over a database.
    fn part_of(&self, node: &NodeId, members: &Arc<Members>, links: &Arc<Links>) -> Option<PartOf> {
        Some(PartOf {
            node: node.clone(),
            data_dir: self.options.data_dir.clone(),
            zone: self.options.zone.clone(),
            store: self.replicated.clone()?,
            members: members.clone(),
            peers: links.clone(),
            clock: self.clock.clone(),
        })
    }

    /// The node's own machinery, begun at the first call.
    async fn running(&self, place: &Place) -> Result<&Running, String> {
        self.running.get_or_try_init(|| self.start(place)).await
    }

    async fn start(&self, place: &Place) -> Result<Running, String> {
        let data_dir = &self.options.data_dir;
        let node = place.node()?;
        let identity = Identity::open_or_create(data_dir).map_err(|e| e.to_string())?;
        let identity = Arc::new(identity);
        let members = Members::open(data_dir).map_err(|e| e.to_string())?;
        let members = Arc::new(members);
        let own = identity.fingerprint(&node);
        if matches!(members.known(&own), Some(Known::Removed { .. })) {
            return Err(ClusterError::Removed.to_string());
        }
        let listener = links::bind(place.listen)
            .map_err(|e| format!("the cluster's listener, {}: {e}", place.listen))?;
        let directory = data_dir.join(place::DIRECTORY);
        let journal =
            SqliteStore::open(&directory, sqlite::Options::default()).map_err(|e| e.to_string())?;
        let journal = Arc::new(journal);
        let keys = MemberKeys::new(&node, identity.clone(), members.clone());
        let spread = Spread::start(SpreadParts {
            node: node.clone(),
            keys: Arc::new(keys),
            members: members.clone(),
            believe: self.heard.clone(),
            journal: Some(Journal::new(journal.clone())),
            clock: self.clock.clone(),
        });
        let spread = spread.await.map_err(|e| e.to_string())?;
        let services = Arc::new(Services::new());
        let counts = Arc::new(spent::Counts(self.heard.clone()));
        services.put(SPENT, counts);
        services.put(READERS, Arc::new(services::Readers(self.heard.clone())));
        let acknowledgements = services::Acknowledgements(self.heard.clone());
        services.put(ACKNOWLEDGED, Arc::new(acknowledgements));
        let taken = sealing::Taken {
            node: node.clone(),
            identity: identity.clone(),
            heard: self.heard.clone(),
        };
        services.put(SEALING, Arc::new(taken));
        let links = Arc::new(Links::new(links::Parts {
            node: node.clone(),
            identity: identity.clone(),
            members: members.clone(),
            services: services.clone(),
            clock: self.clock.clone(),
            options: LinkOptions {
                topology: self.options.topology,
                peers: self.options.peers.clone(),
                ..LinkOptions::default()
            },
        }));
        let part = match self.part_of(&node, &members, &links) {
            Some(of) => Some(Part::open(of)?),
            None => None,
        };
        if let Some(part) = &part {
            part.serve(&services);
        }
        let pass_on = services::PassOn(Arc::downgrade(&links));
        services.put(PASSED_ON, Arc::new(pass_on));
        let host = Host::new(HostParts {
            node: node.clone(),
            identity,
            members: members.clone(),
            store: self.store.clone(),
            tell: spread.clone(),
            provide: joining::giver(
                &self.options,
                self.store.clone(),
                part.clone(),
                self.clock.clone(),
            ),
            clock: self.clock.clone(),
        });
        let detection = Membership::start(MembershipParts {
            node: node.clone(),
            members: members.clone(),
            transport: Box::new(links.membership()),
            clock: self.clock.clone(),
            options: MembershipOptions::default(),
        });
        let detection = detection.map_err(|e| format!("a thread could not be started: {e}"))?;
        let ears = Ears {
            gossip: spread.clone(),
            membership: Some(detection.ear()),
            door: Some(Arc::new(host.clone())),
        };
        links
            .start(listener, ears)
            .map_err(|e| format!("the cluster's listener: {e}"))?;
        spread.connect(links.clone());
        self.late(&node).join(spread.clone());
        if let Some(part) = &part {
            self.runtime.spawn(part.clone().keep());
        }
        Ok(Running {
            node,
            members,
            links,
            spread,
            host,
            journal,
            detection,
            part,
            described: AtomicBool::new(false),
        })
    }

    /// The realm is built: from now on it believes what others tell. Nothing may be answered
    /// before. `swept`: the time that the sweep left in the store, Unix seconds.
    pub async fn attach(
        self: &Arc<Self>,
        realm: &Arc<Realm>,
        swept: Option<u64>,
    ) -> Result<(), String> {
        self.heard.attach(realm);
        if !self.is_whole() {
            self.begin_without_majority(realm, swept).await?;
            realm.share_own_rows().await.map_err(|e| e.to_string())?;
            self.runtime.spawn(tasks::follow_nodes(realm.clone()));
        } else if self.is_shared() {
            self.share(realm).await?;
        }
        if let Some(running) = self.running.get() {
            self.share_sealing_keys(running, realm);
        }
        self.runtime
            .spawn(tasks::follow_the_time(realm.host.clone()));
        let watching = self.clone().watch_for_removal();
        self.runtime.spawn(watching);
        if let Some(longest) = self.options.staleness {
            let listening = self.clone().listen_for_others(realm.clone(), longest);
            self.runtime.spawn(listening);
        }
        Ok(())
    }

    /// A further realm of the process is built: it follows the other nodes from now on, where there
    /// are some.
    ///
    /// # Errors
    /// The store's.
    pub async fn attach_further(self: &Arc<Self>, realm: &Arc<Realm>) -> Result<(), String> {
        self.heard.attach_further(realm);
        let followed = match (self.is_whole(), self.is_shared()) {
            (false, _) => {
                let own = realm.share_own_rows().await;
                own.map(|()| self.beside(realm, tasks::follow_nodes(realm.clone())))
                    .map_err(|e| e.to_string())
            }
            (true, true) => self.share(realm).await,
            (true, false) => Ok(()),
        };
        if followed.is_err() {
            self.detach_further(realm);
            return followed;
        }
        if let Some(node) = self.running.get() {
            self.beside(realm, spent::tell(realm.clone(), node.links.clone()));
        }
        Ok(())
    }

    /// A further realm is closed: nothing runs beside it any more, and it hears nothing more of
    /// other nodes.
    pub fn detach_further(&self, realm: &Arc<Realm>) {
        self.heard.detach(realm);
        let mut beside = self.beside.lock().unwrap_or_else(PoisonError::into_inner);
        let of_realm = beside.remove(&Arc::as_ptr(realm).addr());
        drop(beside);
        of_realm.iter().flatten().for_each(AbortHandle::abort);
    }

    /// Runs something beside a realm's requests, until the realm is closed.
    pub fn beside(&self, realm: &Arc<Realm>, work: impl Future<Output = ()> + Send + 'static) {
        let handle = self.runtime.spawn(work).abort_handle();
        let mut beside = self.beside.lock().unwrap_or_else(PoisonError::into_inner);
        let of_realm = beside.entry(Arc::as_ptr(realm).addr()).or_default();
        of_realm.push(handle);
    }

    async fn share(&self, realm: &Arc<Realm>) -> Result<(), String> {
        if realm.is_shared() {
            return Ok(());
        }
        realm.share().await.map_err(|e| e.to_string())?;
        self.beside(realm, tasks::follow_nodes(realm.clone()));
        Ok(())
    }

    /// Says whether other nodes are heard: by a majority of the streams between them, or, over a
    /// database, by its change log. For as long as the process runs.
    async fn listen_for_others(self: Arc<Self>, realm: Arc<Realm>, longest: Duration) {
        let mut was_deaf = false;
        loop {
            let deaf = self.heard_ago().is_none_or(|ago| ago > longest);
            realm.set_deaf(deaf);
            match (was_deaf, deaf) {
                (false, true) => tracing::error!(
                    "lost the other nodes for cluster.staleness: tokens are not reported active"
                ),
                (true, false) => tracing::info!("regained contact with the other nodes"),
                (false, false) | (true, true) => {}
            }
            was_deaf = deaf;
            tokio::time::sleep(LISTEN_EVERY).await;
        }
    }

    /// How long ago this node knew what the others know: by the streams between them, or, over a
    /// database, by its change log. None where that cannot be known.
    fn heard_ago(&self) -> Option<Duration> {
        let Some(running) = self.running.get() else {
            return Some(Duration::ZERO);
        };
        let (whole, since_start) = match self.start.lock() {
            Ok(start) => {
                let age = start.rows_age;
                let since = age.map(|age| age.saturating_add(start.begun.elapsed()));
                (start.whole, since)
            }
            Err(_) => (false, None),
        };
        // What was said while it was off it knows when its start is over.
        let by_streams = match whole {
            true => running.spread.staleness().or(since_start),
            false => since_start,
        };
        let realm = self.heard.realm().filter(|_| self.replicated.is_none());
        let by_log = realm.map(|realm| Duration::from_millis(realm.log_age_ms()));
        match (by_streams, by_log) {
            (Some(by_streams), Some(by_log)) => Some(by_streams.min(by_log)),
            (by_streams, by_log) => by_streams.or(by_log),
        }
    }

    /// Sees to it that a removed node answers nothing any more: it hears of it from the others, or,
    /// where it is cut off from them, from the database.
    async fn watch_for_removal(self: Arc<Self>) {
        loop {
            if let Some(running) = self.running.get()
                && running.was_removed(self.replicated.is_none()).await
            {
                tracing::error!(
                    "refusing all requests: this node was removed from its cluster for good; stop it"
                );
                for realm in self.heard.all() {
                    realm.set_removed();
                }
                return;
            }
            match self.running.get() {
                Some(running) => {
                    let mut changes = running.members.changes();
                    // What changed since it was looked is seen at the next look.
                    let _ = tokio::time::timeout(REMOVED_EVERY, changes.changed()).await;
                }
                None => tokio::time::sleep(REMOVED_EVERY).await,
            }
        }
    }

    /// Where this node alone answers, if that is another address than the issuer's.
    pub fn node_base(&self) -> Option<String> {
        let ClusterOptions { url, issuer, .. } = &self.options;
        (url != issuer).then(|| url.clone())
    }

    /// The other nodes get the sealing keys, as they change and whenever one is connected again.
    fn share_sealing_keys(&self, running: &Running, realm: &Arc<Realm>) {
        let shared = Arc::new(sealing::Shared {
            node: running.node.clone(),
            members: running.members.clone(),
            links: running.links.clone(),
        });
        self.runtime
            .spawn(spent::tell(realm.clone(), running.links.clone()));
        realm.share_sealing_keys_by(shared.clone());
        self.runtime.spawn(shared.keep_told(realm.clone()));
    }

    /// The node, which it becomes now where it was by itself.
    async fn node(&self) -> Result<&Running, NodesError> {
        if let Some(running) = self.running.get() {
            return Ok(running);
        }
        let unavailable = NodesError::Unavailable;
        let realm = self.heard.realm();
        let realm = realm.ok_or_else(|| unavailable("the server is starting".to_owned()))?;
        let Some(listen) = self.options.listen else {
            return Err(NodesError::NotPossible(
                "this server has no listener for other nodes: [cluster] listen in its configuration"
                    .to_owned(),
            ));
        };
        // A free port is taken once, and kept: the others know it.
        let listen = match listen.port() {
            0 => links::bind(listen)
                .and_then(|bound| bound.local_addr())
                .map_err(|e| unavailable(format!("the cluster's listener: {e}")))?,
            _ => listen,
        };
        let place = Place {
            name: realm.change_writer.node().as_str().to_owned(),
            number: 0,
            url: self.options.url.clone(),
            listen,
            invited: false,
        };
        let running = self.running(&place).await.map_err(unavailable)?;
        for realm in self.heard.all() {
            self.share(&realm).await.map_err(unavailable)?;
            if !realm.id().is_default() {
                self.beside(&realm, spent::tell(realm.clone(), running.links.clone()));
            }
            let claimed = realm.audit().share_store().await;
            claimed.map_err(|e| unavailable(format!("the audit trail: {e}")))?;
        }
        self.share_sealing_keys(running, &realm);
        running
            .known(&self.description(&place), &*self.store)
            .await
            .map_err(unavailable)?;
        place.write(&self.options.data_dir).map_err(unavailable)?;
        Ok(running)
    }

    /// Ends what runs beside the realm, before the store is closed.
    pub async fn stop(&self) {
        if let Some(running) = self.running.get() {
            if let Some(replicated) = &self.replicated {
                // The leader hands its place on while it can still be heard.
                replicated.shut_down().await;
            }
            running.spread.stop();
            running.links.stop();
            running.journal.close();
        }
        self.store.close();
    }
}

impl Running {
    /// Whether this node was removed, as far as it has heard; `asks`: as far as the store says.
    async fn was_removed(&self, asks: bool) -> bool {
        if self.host.is_removed() {
            return true;
        }
        // Before it is described it is not yet in the store.
        if !asks || !self.described.load(Relaxed) {
            return false;
        }
        // A store that does not answer says nothing.
        self.host.was_removed_in_store().await.unwrap_or(false)
    }

    /// The members that the store knows, and this one as it is now.
    async fn known(&self, description: &Description, store: &dyn Store) -> Result<(), String> {
        let named = async {
            self.host.load().await?;
            self.host.describe(description).await
        };
        match named.await {
            Ok(()) => {
                let (key, value) = self.host.condition();
                store.write_while(key, value);
                self.described.store(true, Relaxed);
                Ok(())
            }
            // The members are known from the last time; the store tells when it can be reached.
            Err(ClusterError::Store(error)) if self.members.find(&self.node).is_some() => {
                tracing::warn!(%error, "failed to read the members from the store; using the last known members");
                Ok(())
            }
            Err(error) => Err(error.to_string()),
        }
    }
}
