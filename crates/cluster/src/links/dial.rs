//! Connecting to those whom the topology says, again and again.
use super::{
    Shared,
    link::{Around, Ended},
    tune,
};
use crate::{
    member::{Known, Member},
    tls,
};
use signet_crypto::random;
use signet_store::NodeId;
use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    sync::{Arc, PoisonError},
    time::Duration,
};
use tokio::{
    net::TcpStream,
    task::AbortHandle,
    time::{Instant, timeout},
};

/// Most addresses that one name stands for and that are tried in one attempt.
const MAX_RESOLVED: usize = 128;

/// A task for each member that is to be connected to. Ends when it is dropped, with all of them.
struct Dialling(BTreeMap<NodeId, (Arc<Member>, AbortHandle)>);

impl Drop for Dialling {
    fn drop(&mut self) {
        self.0.values().for_each(|(_, task)| task.abort());
    }
}

/// Runs until it is dropped.
pub(super) async fn dial(shared: Arc<Shared>, around: Arc<Around>) {
    let mut members = shared.members.changes();
    let mut wanted = shared.wanted.subscribe();
    let mut dialling = Dialling(BTreeMap::new());
    loop {
        members.mark_unchanged();
        wanted.mark_unchanged();
        let all = shared.members.all();
        // A node that was removed bothers nobody.
        let own = shared.identity.fingerprint(&shared.node);
        let removed = matches!(shared.members.known(&own), Some(Known::Removed { .. }));
        let mut before = std::mem::take(&mut dialling.0);
        for living in &all {
            let node = &living.member.node;
            if removed || *node == shared.node || !shared.connects_to(living, &all) {
                continue;
            }
            let task = match before.remove(node) {
                // Nothing that concerns the way to it has changed.
                Some((member, task))
                    if member.addresses == living.member.addresses
                        && member.keys == living.member.keys =>
                {
                    task
                }
                changed => {
                    if let Some((_, task)) = changed {
                        task.abort();
                    }
                    let (shared, around) = (shared.clone(), around.clone());
                    let member = living.member.clone();
                    tokio::spawn(keep(shared, around, member)).abort_handle()
                }
            };
            dialling
                .0
                .insert(node.clone(), (living.member.clone(), task));
        }
        before.values().for_each(|(_, task)| task.abort());
        end_removed(&shared, removed);
        tokio::select! {
            changed = members.changed() => if changed.is_err() { return },
            changed = wanted.changed() => if changed.is_err() { return },
        }
    }
}

/// Who is no member any more, or not with that key, is heard no more. The links to it that were
/// dialled end with their tasks.
fn end_removed(shared: &Shared, all: bool) {
    let up = shared.up.read().unwrap_or_else(PoisonError::into_inner);
    for (node, link) in up.iter() {
        let living = shared.members.find(node).map(|l| l.fingerprint);
        if all || living != Some(link.fingerprint) {
            link.end(Ended::Removed);
        }
    }
}

/// Keeps a connection to one member.
async fn keep(shared: Arc<Shared>, around: Arc<Around>, member: Arc<Member>) {
    let options = &shared.options;
    let mut changes = shared.changed.subscribe();
    let mut backoff = options.backoff;
    if shared.node > member.node {
        // The other one's connection would win: it has the first turn.
        let until_up = changes.wait_for(|_| shared.link(&member.node).is_some());
        let _ = timeout(options.backoff, until_up).await;
    }
    loop {
        // The sender lives in `shared`.
        let _ = changes
            .wait_for(|_| shared.link(&member.node).is_none())
            .await;
        let begun = Instant::now();
        let mut failed = None;
        for address in member.addresses.iter().chain(&options.peers) {
            match reach(&shared, &around, &member, address).await {
                Ok(()) => {
                    failed = None;
                    break;
                }
                Err(error) => failed = Some((address, error)),
            }
        }
        if let Some((address, error)) = failed {
            tracing::debug!(node = %member.node, address, %error, "failed to connect");
        }
        // A connection that stood for a while was a good one.
        backoff = if begun.elapsed() > options.backoff_max {
            options.backoff
        } else {
            (2 * backoff).min(options.backoff_max)
        };
        let until_up = changes.wait_for(|_| shared.link(&member.node).is_some());
        let _ = timeout(jittered(backoff), until_up).await;
    }
}

/// Between half of it and all of it: nodes that lost each other at once do not come back at once.
fn jittered(backoff: Duration) -> Duration {
    let half = u32::try_from(backoff.as_micros() / 2).unwrap_or(u32::MAX);
    backoff / 2 + Duration::from_micros(u64::from(random::below(half.max(1))))
}

/// Connects to an address and stays until the connection ends. An error: there was none.
async fn reach(
    shared: &Shared,
    around: &Around,
    member: &Member,
    address: &str,
) -> Result<(), Ended> {
    let limit = shared.options.handshake;
    let resolved = timeout(limit, shared.options.resolver.resolve(address)).await;
    let mut resolved: Vec<SocketAddr> =
        resolved.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    resolved.truncate(MAX_RESOLVED);
    let pinned = tls::Peer::Pinned(vec![member.keys.spki_sha256]);
    let config = tls::client(shared.identity.tls(), pinned, tls::MEMBER_ALPN);
    let connector = tokio_rustls::TlsConnector::from(config.map_err(io::Error::other)?);
    let mut failed = Ended::Io(io::Error::new(io::ErrorKind::NotFound, "no address"));
    for address in resolved {
        let connect = async {
            let stream = TcpStream::connect(address).await?;
            tune(&stream)?;
            connector.connect(tls::server_name(), stream).await
        };
        let tls = match timeout(limit, connect).await {
            Ok(Ok(tls)) => tls,
            // Of several nodes behind one name it may be another: the next one is tried.
            Ok(Err(error)) => {
                failed = error.into();
                continue;
            }
            Err(_) => {
                failed = Ended::NoGreeting;
                continue;
            }
        };
        let spki = tls::peer_spki(tls.get_ref().1.peer_certificates());
        return shared.converse(around, tls, spki, true).await;
    }
    Err(failed)
}
