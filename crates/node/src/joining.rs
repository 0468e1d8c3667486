//! Joining a cluster, and what a node gives to one that it lets in.

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use signet_cluster::{
    identity::Identity,
    join::{self, Ask, ByStream, Description, Newcomer, Provide, Token},
    links,
    member::{Member as ClusterMember, Members},
};
use signet_crypto::Clock;
use signet_merge::tell::BoxFuture;
use signet_store::Store;
use signet_surroundings::blocking;

use super::{
    ClusterOptions, Development, OpenedStore, Place, numbers,
    package::{Package, Profile, SharedStore},
    part::Part,
};
use signet_crypto::private_file;

/// What a node gives to one that it lets in.
struct Giver {
    data_dir: PathBuf,
    profile: Profile,
    development: Option<Development>,
    issuer: String,
    clock: Arc<dyn Clock>,
    store: Arc<dyn Store>,
    /// None over a database.
    part: Option<Arc<Part>>,
}

/// What a node of these options gives to one that it lets in. `part`: none over a database.
pub fn giver(
    options: &ClusterOptions,
    store: Arc<dyn Store>,
    part: Option<Arc<Part>>,
    clock: Arc<dyn Clock>,
) -> Arc<dyn Provide> {
    Arc::new(Giver {
        data_dir: options.data_dir.clone(),
        profile: Profile::of(options),
        development: options.development,
        issuer: options.issuer.clone(),
        clock,
        store,
        part,
    })
}

impl Provide for Giver {
    fn fits(&self, profile: &[u8]) -> Result<(), String> {
        let newcomer = Profile::from_bytes(profile)?;
        newcomer.fits(&self.profile)?;
        newcomer.is_in_time(self.clock.now_ms())
    }

    fn provide(&self, newcomer: &ClusterMember) -> BoxFuture<'static, Result<Vec<u8>, String>> {
        let (data_dir, issuer) = (self.data_dir.clone(), self.issuer.clone());
        let (store, part, now) = (self.store.clone(), self.part.clone(), self.clock.now());
        let identity = newcomer.fingerprint();
        let (newcomer, development) = (newcomer.node.clone(), self.development);
        Box::pin(async move {
            let failed = |e: &dyn std::fmt::Display| e.to_string();
            let kind = match &part {
                None => SharedStore::Database,
                Some(part) => {
                    part.become_first(now).await?;
                    SharedStore::Replicated
                }
            };
            let number = numbers::give(&*store, &newcomer, Some(&identity), now).await;
            let number = number.map_err(|e| failed(&e))?;
            let package =
                blocking(move || Package::of(&data_dir, &issuer, number, kind, development));
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

/// Joins the cluster that made a token: this data directory becomes a node's. Where it fails, or
/// the process ends over it, it is begun again with the same token.
///
/// # Errors
/// Why it cannot join, for its operator.
pub async fn join_by(
    asks: &dyn Ask,
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
    let welcome = join::join(token, &newcomer, clock, asks)
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

/// Where a listener is when it is bound: a free port is taken once, and kept.
fn bound(listen: SocketAddr) -> Result<SocketAddr, String> {
    links::bind(listen)
        .and_then(|bound| bound.local_addr())
        .map_err(|e| format!("the cluster's listener, {listen}: {e}"))
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
        None => {
            let mut options = options.clone();
            options.listen = options.listen.map(bound).transpose()?;
            let joined = join_by(&ByStream, &token, &options, opened, clock);
            joined.await.map(drop)
        }
    }
}
