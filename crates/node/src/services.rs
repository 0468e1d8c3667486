//! What nodes ask each other beside the gossip: the consensus of the store, admission to it, and
//! what the readers of a node's stream of revocations have in effect.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use signet_cluster::{
    links::Links,
    member::Members,
    transport::{CallError, Caller, Serve},
};
use signet_consensus::{CallFuture, Member, Network, NetworkError, ReplicatedStore};
use signet_crypto::Clock;
use signet_merge::tell::BoxFuture;
use signet_realm::streams;
use signet_store::{NodeId, RealmId, Store};

use super::{
    late::Heard,
    numbers,
    peers::Peers,
    service_ids::{ACKNOWLEDGED, CONSENSUS, PASSED_ON, READERS, SNAPSHOTS},
    witness::Witness,
};

const NOT_GREETED: &str = "what both have acknowledged was not compared yet";

/// The streams between nodes as the consensus sees them.
pub(crate) struct Wire {
    peers: Arc<dyn Peers>,
    witness: Arc<Witness>,
    /// Who belongs to the replicated store.
    members: Mutex<BTreeSet<NodeId>>,
}

impl Wire {
    pub(crate) fn new(peers: Arc<dyn Peers>, witness: Arc<Witness>) -> Wire {
        Wire {
            peers,
            witness,
            members: Mutex::default(),
        }
    }

    fn ask(&self, to: &NodeId, service: u8, request: Vec<u8>, deadline: Duration) -> CallFuture {
        if !self.witness.knows(to) {
            let why = NetworkError::Unreachable(NOT_GREETED.to_owned());
            return Box::pin(std::future::ready(Err(why)));
        }
        let call = self.peers.call(to, service, request, deadline);
        Box::pin(async move {
            call.await.map_err(|error| match error {
                CallError::NotConnected | CallError::NoService => {
                    NetworkError::Unreachable(error.to_string())
                }
                CallError::Lost
                | CallError::Late
                | CallError::TooLong
                | CallError::Busy
                | CallError::Refused(_) => NetworkError::NoAnswer(error.to_string()),
            })
        })
    }
}

impl Network for Wire {
    fn call(&self, to: &NodeId, request: Vec<u8>, deadline: Duration) -> CallFuture {
        self.ask(to, CONSENSUS, request, deadline)
    }

    fn bulk(&self, to: &NodeId, request: Vec<u8>, deadline: Duration) -> CallFuture {
        self.ask(to, SNAPSHOTS, request, deadline)
    }

    /// Whatever the topology, nodes of one replicated store are connected: any may be its leader.
    fn member(&self, member: &Member) {
        let mut members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        if members.insert(member.name.clone()) {
            self.peers.want(members.clone());
        }
    }
}

/// Answers [`CONSENSUS`] and [`SNAPSHOTS`].
pub(crate) struct Consensus(pub Arc<ReplicatedStore>, pub Arc<Witness>);

impl Serve for Consensus {
    fn serve(
        &self,
        from: &NodeId,
        request: Vec<u8>,
    ) -> BoxFuture<'static, Result<Vec<u8>, String>> {
        if !self.1.knows(from) {
            return Box::pin(std::future::ready(Err(NOT_GREETED.to_owned())));
        }
        let (store, from) = (Arc::clone(&self.0), from.clone());
        Box::pin(async move { Ok(store.handle(&from, request).await) })
    }
}

/// Answers [`ADMISSION`](super::service_ids::ADMISSION): the node that asks becomes one of the
/// replicated store, under the number that it was given when it joined. The request is its zone.
pub(crate) struct Admission {
    pub replicated: Arc<ReplicatedStore>,
    pub witness: Arc<Witness>,
    pub clock: Arc<dyn Clock>,
}

impl Serve for Admission {
    fn serve(
        &self,
        from: &NodeId,
        request: Vec<u8>,
    ) -> BoxFuture<'static, Result<Vec<u8>, String>> {
        let (replicated, clock) = (Arc::clone(&self.replicated), Arc::clone(&self.clock));
        let witness = Arc::clone(&self.witness);
        let name = from.clone();
        Box::pin(async move {
            let zone = String::from_utf8(request).map_err(|e| e.to_string())?;
            let store: &dyn Store = &*replicated;
            let number = numbers::of(store, &name, clock.now()).await;
            let number = number.map_err(|e| e.to_string())?;
            let number = number.ok_or("the node was given no number: it did not join here")?;
            // It asks because it has no rows. Who had some has lost them, and its number with them.
            if witness.has_acknowledged(&name, number) {
                return Err(format!(
                    "{name} comes back with an empty store: remove it (signet node remove {name}), and let it join again"
                ));
            }
            let member = Member::new(number, name, (!zone.is_empty()).then_some(zone));
            replicated.add(&member).await.map_err(|e| e.to_string())?;
            Ok(Vec::new())
        })
    }
}

/// One reader, on the wire.
#[derive(Serialize, Deserialize)]
struct Reader {
    client_id: String,
    micros: Option<u64>,
}

/// What is asked, on the wire.
#[derive(Serialize, Deserialize)]
struct Patience {
    millis: u64,
    /// Whose readers; empty, or left out by an earlier version: the first realm's.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    realm: String,
}

/// The request of [`READERS`].
pub(crate) fn ask_readers(realm: &RealmId, patience: Duration) -> Vec<u8> {
    let millis = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX);
    let realm = realm.as_str().to_owned();
    // Invariant: a number and a text serialize.
    serde_json::to_vec(&Patience { millis, realm }).unwrap_or_default()
}

/// The answer of [`READERS`]; none where it cannot be read.
pub(crate) fn read_readers(answer: &[u8]) -> Option<Vec<streams::Heard>> {
    let readers: Vec<Reader> = serde_json::from_slice(answer).ok()?;
    let heard = readers.into_iter().map(|reader| streams::Heard {
        client_id: reader.client_id,
        after: reader.micros.map(Duration::from_micros),
    });
    Some(heard.collect())
}

/// Answers [`READERS`].
pub(crate) struct Readers(pub Arc<Heard>);

/// No node lets another one wait longer.
const MAX_PATIENCE: Duration = Duration::from_secs(10);

impl Serve for Readers {
    fn serve(&self, _: &NodeId, request: Vec<u8>) -> BoxFuture<'static, Result<Vec<u8>, String>> {
        let heard = Arc::clone(&self.0);
        Box::pin(async move {
            heard.realm().ok_or("the node is starting")?;
            let asked: Patience = serde_json::from_slice(&request).map_err(|e| e.to_string())?;
            // A realm that is not open has no readers.
            let Some(realm) = heard.named(&asked.realm) else {
                return Ok(b"[]".to_vec());
            };
            let patience = Duration::from_millis(asked.millis).min(MAX_PATIENCE);
            let heard = realm.revocation_streams.ask(patience).await;
            let micros = |after: Duration| u64::try_from(after.as_micros()).unwrap_or(u64::MAX);
            let readers: Vec<Reader> = heard
                .into_iter()
                .map(|heard| Reader {
                    client_id: heard.client_id,
                    micros: heard.after.map(micros),
                })
                .collect();
            serde_json::to_vec(&readers).map_err(|e| e.to_string())
        })
    }
}

/// What a reader acknowledged, on the wire.
#[derive(Serialize, Deserialize)]
struct Acknowledged {
    stream: streams::StreamId,
    client_id: String,
    number: u64,
}

/// The request of [`ACKNOWLEDGED`].
pub(crate) fn pass_acknowledgement(word: &streams::Acknowledged) -> Vec<u8> {
    let word = Acknowledged {
        stream: word.stream,
        client_id: word.client_id.clone(),
        number: word.number,
    };
    // Invariant: numbers and text serialize.
    serde_json::to_vec(&word).unwrap_or_default()
}

/// Answers [`ACKNOWLEDGED`]: nothing, or that there is no such stream.
pub(crate) struct Acknowledgements(pub Arc<Heard>);

impl Serve for Acknowledgements {
    fn serve(&self, _: &NodeId, request: Vec<u8>) -> BoxFuture<'static, Result<Vec<u8>, String>> {
        let heard = Arc::clone(&self.0);
        Box::pin(async move {
            heard.realm().ok_or("the node is starting")?;
            let word: Acknowledged = serde_json::from_slice(&request).map_err(|e| e.to_string())?;
            let word = streams::Acknowledged {
                stream: word.stream,
                client_id: word.client_id,
                number: word.number,
            };
            // A stream's name is random: no other realm has it.
            let realms = heard.all();
            let mut realms = realms.iter();
            match realms.any(|realm| realm.revocation_streams.acknowledge(&word)) {
                true => Ok(Vec::new()),
                false => Err("there is no such stream".to_owned()),
            }
        })
    }
}

/// Asks a member: itself where both are connected, by way of a hub otherwise.
pub(crate) async fn ask(
    links: &Links,
    members: &Members,
    to: &NodeId,
    service: u8,
    request: Vec<u8>,
    within: Duration,
) -> Result<Vec<u8>, CallError> {
    let passed = Passed {
        to: to.as_str().to_owned(),
        service,
        millis: u64::try_from(within.as_millis()).unwrap_or(u64::MAX),
        request: request.clone(),
    };
    match links.call(to, service, request, within).await {
        Err(CallError::NotConnected) => {}
        answered => return answered,
    }
    // Invariant: numbers, text and bytes serialize.
    let passed = serde_json::to_vec(&passed).unwrap_or_default();
    for hub in members.all().iter().filter(|living| living.member.hub) {
        let hub = &hub.member.node;
        match links.call(hub, PASSED_ON, passed.clone(), within).await {
            Ok(answer) => return Ok(answer),
            // Another hub may be connected with it; being asked twice is harmless to both services.
            Err(error) => tracing::debug!(%hub, %to, %error, "failed to relay a call"),
        }
    }
    Err(CallError::NotConnected)
}

/// A question for another node, on the wire.
#[derive(Serialize, Deserialize)]
struct Passed {
    to: String,
    service: u8,
    millis: u64,
    request: Vec<u8>,
}

/// Answers [`PASSED_ON`]: for the services that do not go by who asks. It is passed on once.
pub(crate) struct PassOn(pub Weak<Links>);

impl Serve for PassOn {
    fn serve(&self, _: &NodeId, request: Vec<u8>) -> BoxFuture<'static, Result<Vec<u8>, String>> {
        let links = self.0.upgrade();
        Box::pin(async move {
            let links = links.ok_or("the node is stopping")?;
            let passed: Passed = serde_json::from_slice(&request).map_err(|e| e.to_string())?;
            if passed.service != READERS && passed.service != ACKNOWLEDGED {
                return Err("that is not passed on".to_owned());
            }
            let to = NodeId::parse(&passed.to).map_err(|e| e.to_string())?;
            let within = Duration::from_millis(passed.millis).min(MAX_PATIENCE);
            let call = links.call(&to, passed.service, passed.request, within);
            // The connections do not live for as long as the call.
            drop(links);
            call.await.map_err(|e| e.to_string())
        })
    }
}
