//! Joining a cluster, and what a node gives to one that it lets in.

use std::{path::PathBuf, sync::Arc};

use signet_cluster::{
    identity::Identity,
    join::{self, Description, Newcomer, Provide, Token},
    links::{self, Links},
    member::{Member as ClusterMember, Members},
};
use signet_consensus::{Member, ReplicatedStore, Role};
use signet_crypto::Clock;
use signet_merge::tell::BoxFuture;
use signet_store::{NodeId, Store};

use super::{
    ClusterOptions, Development, OpenedStore, Place, numbers,
    package::{Package, Profile, SharedStore},
    services::Wire,
    witness::Witness,
};
use signet_crypto::private_file;

/// What a node gives to one that it lets in.
pub(super) struct Giver {
    pub(super) data_dir: PathBuf,
    pub(super) profile: Profile,
    pub(super) development: Option<Development>,
    pub(super) issuer: String,
    pub(super) zone: String,
    pub(super) node: NodeId,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) store: Arc<dyn Store>,
    /// None over a database.
    pub(super) replicated: Option<Replicated>,
}

/// The replicated store, and what its consensus goes over.
#[derive(Clone)]
pub(super) struct Replicated {
    pub(super) store: Arc<ReplicatedStore>,
    pub(super) witness: Arc<Witness>,
    pub(super) links: Arc<Links>,
}

impl Provide for Giver {
    fn fits(&self, profile: &[u8]) -> Result<(), String> {
        let newcomer = Profile::from_bytes(profile)?;
        newcomer.fits(&self.profile)?;
        newcomer.is_in_time(self.clock.now_ms())
    }

    fn provide(&self, newcomer: &ClusterMember) -> BoxFuture<'static, Result<Vec<u8>, String>> {
        let (data_dir, issuer) = (self.data_dir.clone(), self.issuer.clone());
        let (zone, node, now) = (self.zone.clone(), self.node.clone(), self.clock.now());
        let (store, replicated) = (self.store.clone(), self.replicated.clone());
        let (newcomer, development) = (newcomer.node.clone(), self.development);
        Box::pin(async move {
            let failed = |e: &dyn std::fmt::Display| e.to_string();
            let kind = match &replicated {
                None => SharedStore::Database,
                Some(replicated) => {
                    let Replicated {
                        store: replicated,
                        witness,
                        links,
                    } = replicated.clone();
                    if replicated.status().role == Role::Alone {
                        let number = numbers::give(&*store, &node, now).await;
                        let number = number.map_err(|e| failed(&e))?;
                        let me = Member::new(number, node, (!zone.is_empty()).then_some(zone));
                        let wire = Arc::new(Wire::new(links.clone(), witness.clone()));
                        let begun = links.run(async move { replicated.begin(me, wire).await });
                        begun
                            .await
                            .map_err(|e| failed(&e))?
                            .map_err(|e| failed(&e))?;
                        witness.save()?;
                        tracing::info!("switched to the replicated store");
                    }
                    SharedStore::Replicated
                }
            };
            let number = numbers::give(&*store, &newcomer, now).await;
            let number = number.map_err(|e| failed(&e))?;
            let package = tokio::task::spawn_blocking(move || {
                Package::of(&data_dir, &issuer, number, kind, development)
            });
            package.await.map_err(|e| failed(&e))??.to_bytes()
        })
    }
}

/// Whether this node's store can be one of the cluster's: before the cluster is asked.
async fn check_store(token: &Token, opened: &OpenedStore, now: u64) -> Result<(), String> {
    match &opened.replicated {
        Some(replicated) => {
            let empty = replicated.is_empty().await.map_err(|e| e.to_string())?;
            empty.then_some(()).ok_or_else(|| {
                "this data directory has rows of its own, which a node that joins would lose: give it an empty one".to_owned()
            })
        }
        None => {
            let cluster = join::cluster_of(&*opened.store, now).await;
            match cluster.map_err(|e| e.to_string())? == Some(token.cluster) {
                true => Ok(()),
                false => Err(
                    "the database of this node's configuration is not the cluster's: name the same one by --store or [store]"
                        .to_owned(),
                ),
            }
        }
    }
}

/// Joins the cluster that made a token: this data directory becomes a node's.
async fn join(
    token: &Token,
    options: &ClusterOptions,
    opened: &OpenedStore,
    clock: &dyn Clock,
) -> Result<Place, String> {
    let data_dir = &options.data_dir;
    check_store(token, opened, clock.now()).await?;
    private_file::directory(data_dir).map_err(|e| format!("{}: {e}", data_dir.display()))?;
    let identity = Identity::open_or_create(data_dir).map_err(|e| e.to_string())?;
    let listen = options
        .listen
        .ok_or("a node that joins needs [cluster] listen in its configuration")?;
    let listen = links::bind(listen)
        .and_then(|bound| bound.local_addr())
        .map_err(|e| format!("the cluster's listener, {listen}: {e}"))?;
    let mut place = Place {
        name: String::new(),
        number: 0,
        url: options.url.clone(),
        listen,
        invited: true,
    };
    let addresses = match options.advertise.is_empty() {
        true => vec![listen.to_string()],
        false => options.advertise.clone(),
    };
    let newcomer = Newcomer {
        identity: &identity,
        wanted: options.name.clone(),
        description: Description {
            addresses,
            url: options.url.clone(),
            zone: options.zone.clone(),
            hub: options.hub,
        },
        profile: Profile::of(options).at(clock.now_ms()).to_bytes(),
    };
    let welcome = join::join(token, &newcomer, clock)
        .await
        .map_err(|e| e.to_string())?;
    let package = Package::from_bytes(welcome.package.expose())?;
    place.name = welcome.node.as_str().to_owned();
    place.number = package.number;
    Profile::of(options).fits(&package.profile())?;
    let members = Members::open(data_dir).map_err(|e| e.to_string())?;
    for (fingerprint, known) in welcome.members {
        members
            .merge(fingerprint, known)
            .map_err(|e| e.to_string())?;
    }
    package.unpack(data_dir, options.development, &place)?;
    // Last: from now on a start goes on without the token.
    place.write(data_dir)?;
    tracing::info!(node = place.name, issuer = package.issuer, "joined");
    Ok(place)
}

/// Joins, where the command line has a token and this was not done before: a restart may be given
/// the same arguments.
///
/// # Errors
/// Why it cannot join, for its operator.
pub async fn join_first(
    token: Option<Token>,
    options: &ClusterOptions,
    opened: &OpenedStore,
    clock: &dyn Clock,
) -> Result<(), String> {
    let Some(token) = token else {
        return Ok(());
    };
    match Place::read(&options.data_dir)? {
        Some(place) if place.invited => {
            tracing::info!(
                node = place.name,
                "ignored the join token: this data directory already belongs to a node"
            );
            Ok(())
        }
        Some(place) => Err(format!(
            "{} is the data directory of the node {} of another cluster: give this one its own",
            options.data_dir.display(),
            place.name
        )),
        None => join(&token, options, opened, clock).await.map(drop),
    }
}
