//! The member's side: invitations, newcomers, removals, and what a node says of itself.
use super::{
    ClusterId, Description,
    answer::{Answer, Refusal, Request, seal_context},
    rows,
    token::{MAX_PINS, MAX_TTL, Token, digest},
};
use crate::{
    identity::Identity,
    links::Door,
    member::{Fingerprint, Known, MAX_ADDRESSES, MAX_MEMBERS, Member, MemberError, Members},
};
use signet_crypto::{Secret, clock::Clock, ct_eq, kem::EncapsulationKey, random};
use signet_encoding::base64url;
use signet_merge::{
    hlc::after,
    tell::{BoxFuture, Receipt, Tell},
};
use signet_store::{Key, NodeId, Store, StoreError};
use signet_surroundings::{spawn, timeout};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// How long a name is claimed while its invitation is being used, in seconds. Longer than the
/// connection of a newcomer may last, so that nobody else has it before this one is done.
const CLAIM: u64 = 120;
/// A newcomer waits no longer for others to hear of it: they hear it soon enough to let it in when
/// it tries again.
const TELLING: Duration = Duration::from_millis(500);

/// What the rooms above give to a newcomer.
pub trait Provide: Send + Sync + 'static {
    /// Whether the node that says this of itself can be one of the cluster. Asked before anything
    /// is changed: a newcomer that is refused leaves nothing behind, and its invitation holds.
    ///
    /// # Errors
    /// What has to be put right, for its operator.
    fn fits(&self, profile: &[u8]) -> Result<(), String>;

    /// The package: opaque here, sealed to the newcomer on its way. At most 8 MiB.
    ///
    /// # Errors
    /// Why no package can be made now; the invitation stays unused.
    fn provide(&self, newcomer: &Member) -> BoxFuture<'static, Result<Vec<u8>, String>>;
}

/// Why something could not be done to the cluster. For the operator.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// The store did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no such living member.
    #[error("there is no such node")]
    NotFound,
    /// The name is another identity's.
    #[error(
        "the name {0} belongs to a node with other keys: remove that node, or give this one another name"
    )]
    NameTaken(NodeId),
    /// This identity was removed.
    #[error("this node was removed from its cluster; it may join again with new keys")]
    Removed,
    /// The node is not a member, or has no address that others could use.
    #[error("this node has no address that others could reach")]
    NoAddress,
    /// An invitation for no time, or for too long.
    #[error("an invitation holds from one second to one day")]
    Ttl,
    /// A description that others would not take.
    #[error(transparent)]
    Member(#[from] MemberError),
}

/// What the member's side is made of.
pub struct HostParts {
    /// The node's name.
    pub node: NodeId,
    /// Its keys.
    pub identity: Arc<Identity>,
    /// Who is in the cluster.
    pub members: Arc<Members>,
    /// Where invitations and names are decided.
    pub store: Arc<dyn Store>,
    /// Tells the others.
    pub tell: Arc<dyn Tell>,
    /// What newcomers are given.
    pub provide: Arc<dyn Provide>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// Invites, lets in and removes.
#[derive(Clone)]
pub struct Host {
    parts: Arc<HostParts>,
}

impl Host {
    /// The member's side of this node.
    pub fn new(parts: HostParts) -> Host {
        Host {
            parts: Arc::new(parts),
        }
    }

    fn now(&self) -> u64 {
        self.parts.clock.now()
    }

    /// Merges what the store keeps of members, and keeps there what it does not know: at the start,
    /// and now and then where streams are cut. How many identities changed for this node.
    ///
    /// # Errors
    /// [`ClusterError::Store`].
    pub async fn load(&self) -> Result<usize, ClusterError> {
        let parts = &self.parts;
        let (store, now) = (parts.store.as_ref(), self.now());
        let mut found = BTreeMap::new();
        let mut changed = 0;
        for (fingerprint, known) in rows::identities(store, now).await? {
            match parts.members.merge(fingerprint, known.clone()) {
                Ok(new) => changed += usize::from(new),
                Err(error) => {
                    tracing::warn!(?fingerprint, %error, "failed to read a member in the store")
                }
            }
            found.insert(fingerprint, known);
        }
        for (fingerprint, known) in parts.members.identities() {
            if found.get(&fingerprint) != Some(&known) {
                rows::keep(store, &fingerprint, &known, now).await?;
            }
        }
        Ok(changed)
    }

    /// Says how this node is reached; [`load`](Self::load) first. The first node of a cluster
    /// becomes its first member by it; for a member it changes what others know. Nothing happens
    /// where it is known already.
    ///
    /// # Errors
    /// [`ClusterError`].
    pub async fn describe(&self, description: &Description) -> Result<(), ClusterError> {
        let parts = &self.parts;
        let fingerprint = parts.identity.fingerprint(&parts.node);
        let joined = match parts.members.known(&fingerprint) {
            Some(Known::Removed { .. }) => return Err(ClusterError::Removed),
            Some(Known::Member(member)) => Some(member),
            None => None,
        };
        if !description.is_sound() {
            return Err(MemberError::Text("address").into());
        }
        let (store, now) = (parts.store.as_ref(), self.now());
        let claimed = rows::claim(store, &parts.node, &fingerprint, None, now).await?;
        let claimed = claimed.ok_or_else(|| ClusterError::NameTaken(parts.node.clone()))?;
        if rows::is_removed(store, &fingerprint, now).await? {
            // Since the members were read: what it claimed just now is not its own.
            claimed.give_back(store, now).await?;
            return Err(ClusterError::Removed);
        }
        if joined
            .as_ref()
            .is_some_and(|own| is_description(own, description))
        {
            return Ok(());
        }
        // Later than what was said before, whichever clock that was said by.
        let said = joined.as_ref().map(|own| &own.written);
        let written = after(said, parts.tell.stamp());
        let keys = parts.identity.public().clone();
        let joined = joined.map_or_else(|| written.clone(), |own| own.joined);
        let node = parts.node.clone();
        let own = member(node, keys, joined, written, description.clone());
        let known = Known::Member(Box::new(own));
        rows::keep(store, &fingerprint, &known, now).await?;
        self.publish(fingerprint, known).await?;
        Ok(())
    }

    /// The row of the store by which this node may write there, and its value: it is so once the
    /// node was [described](Self::describe), and until it is removed.
    pub fn condition(&self) -> (Key, Vec<u8>) {
        let parts = &self.parts;
        rows::condition(&parts.node, &parts.identity.fingerprint(&parts.node))
    }

    /// Whether this node was removed, as far as it has heard.
    pub fn is_removed(&self) -> bool {
        let parts = &self.parts;
        let own = parts.identity.fingerprint(&parts.node);
        matches!(parts.members.known(&own), Some(Known::Removed { .. }))
    }

    /// Whether the store says so, for a node that was described. It may be cut off from the others
    /// and not from the store.
    ///
    /// # Errors
    /// [`ClusterError::Store`].
    pub async fn was_removed_in_store(&self) -> Result<bool, ClusterError> {
        let parts = &self.parts;
        let owner = rows::owner(parts.store.as_ref(), &parts.node, self.now()).await?;
        Ok(owner != Some(parts.identity.fingerprint(&parts.node)))
    }

    async fn publish(
        &self,
        fingerprint: Fingerprint,
        known: Known,
    ) -> Result<Receipt, ClusterError> {
        let entry = known.entry(fingerprint);
        self.parts.members.merge(fingerprint, known)?;
        Ok(self.parts.tell.tell(vec![entry]).await)
    }

    /// Makes an invitation that holds for `ttl`: the token, and when it ends (Unix seconds).
    ///
    /// # Errors
    /// [`ClusterError::Ttl`], [`ClusterError::NoAddress`], [`ClusterError::Store`].
    pub async fn invite(&self, ttl: Duration) -> Result<Token, ClusterError> {
        if ttl < Duration::from_secs(1) || ttl > MAX_TTL {
            return Err(ClusterError::Ttl);
        }
        let parts = &self.parts;
        let now = self.now();
        let own = parts.members.find(&parts.node);
        let own = own.ok_or(ClusterError::NoAddress)?;
        let all = parts.members.all();
        let others = all.iter().filter(|m| m.member.node != parts.node);
        let (mut addresses, mut pins) = (Vec::new(), Vec::new());
        for living in std::iter::once(&own).chain(others) {
            if pins.len() == MAX_PINS || addresses.len() == MAX_ADDRESSES {
                break;
            }
            let room = MAX_ADDRESSES - addresses.len();
            addresses.extend(living.member.addresses.iter().take(room).cloned());
            pins.push(living.member.keys.spki_sha256);
        }
        if addresses.is_empty() {
            return Err(ClusterError::NoAddress);
        }
        let token = Token {
            cluster: rows::cluster(parts.store.as_ref(), now).await?,
            addresses,
            pins,
            id: random::bytes(),
            secret: Secret::random(),
            end: now.saturating_add(ttl.as_secs()),
        };
        let digest = digest(token.secret.expose());
        rows::insert_invitation(parts.store.as_ref(), &token.id, &digest, token.end, now).await?;
        Ok(token)
    }

    /// Removes a member for good: durable first, then told. What it signs counts no more with
    /// anybody in the receipt.
    ///
    /// # Errors
    /// [`ClusterError::NotFound`], [`ClusterError::Store`].
    pub async fn remove(&self, node: &NodeId) -> Result<Receipt, ClusterError> {
        let parts = &self.parts;
        let removal = parts.members.removal(node, parts.tell.stamp());
        let (fingerprint, known) = removal.ok_or(ClusterError::NotFound)?;
        let (store, now) = (parts.store.as_ref(), self.now());
        rows::remove(store, node, &fingerprint, &known, now).await?;
        // Told before the connection to it ends: it is to hear that it is out. Whoever asked may
        // give up waiting; what is in the store is done to its end.
        let parts = self.parts.clone();
        let told = spawn(async move {
            let receipt = parts.tell.tell(vec![known.entry(fingerprint)]).await;
            parts.members.merge(fingerprint, known)?;
            Ok::<_, ClusterError>(receipt)
        });
        told.await.map_err(|_| {
            StoreError::Unavailable("the announcement of the removal did not complete".to_owned())
        })?
    }

    async fn admit(
        &self,
        id: [u8; 16],
        spki_sha256: [u8; 32],
        request: &[u8],
    ) -> Result<Answer, Refusal> {
        let parts = &self.parts;
        let (store, now) = (parts.store.as_ref(), self.now());
        let unavailable = |error: StoreError| {
            tracing::warn!(%error, "failed to admit a joining node");
            Refusal::Unavailable("the cluster's store is not available".to_owned())
        };
        if parts.members.find(&parts.node).is_none() {
            return Err(Refusal::Unavailable("this node is no member".to_owned()));
        }
        let request = Request::from_bytes(&id, request).ok_or(Refusal::Malformed)?;
        if request.keys.spki_sha256 != spki_sha256 {
            return Err(Refusal::Malformed);
        }
        let invitation = rows::invitation(store, &id, now).await;
        let invitation = invitation.map_err(unavailable)?.ok_or(Refusal::Unknown)?;
        if !ct_eq(&digest(request.secret.expose()), &invitation.digest) {
            return Err(Refusal::Forged);
        }
        parts
            .provide
            .fits(&request.profile)
            .map_err(Refusal::Unfit)?;
        let cluster = rows::cluster(store, now).await.map_err(unavailable)?;
        let kem = EncapsulationKey::from_bytes(&request.keys.ml_kem_768);
        let kem = kem.map_err(|_| Refusal::Malformed)?;
        if let Some((node, fingerprint)) = &invitation.used_by {
            // The same node again: its connection was lost before the answer.
            if request.keys.fingerprint(node) != *fingerprint {
                return Err(Refusal::Used);
            }
            let mut known = parts.members.known(fingerprint);
            if known.is_none() {
                // Whoever let it in may have ended before it said so: the store has it.
                let loaded = self.load().await;
                loaded.map_err(|error| Refusal::Unavailable(error.to_string()))?;
                known = parts.members.known(fingerprint);
            }
            return match known {
                Some(Known::Member(member)) => {
                    let package = self.package(&cluster, &kem, &member).await?;
                    Ok(self.answer(cluster, &member, package))
                }
                Some(Known::Removed { .. }) | None => Err(Refusal::Used),
            };
        }
        if parts.members.was_removed(&request.keys) {
            return Err(Refusal::Removed);
        }
        if parts.members.names().len() >= MAX_MEMBERS {
            return Err(Refusal::Full);
        }
        let (node, claim) = self.name(&request, now).await?;
        let stamp = parts.tell.stamp();
        let description = request.description.clone();
        let keys = request.keys.clone();
        let member = member(node, keys, stamp.clone(), stamp, description);
        let fingerprint = member.fingerprint();
        let known = Known::Member(Box::new(member.clone()));
        // Before the invitation is used: where there is no package it stays unused.
        let package = self.package(&cluster, &kem, &member).await;
        let used = match &package {
            Ok(_) => {
                let newcomer = (&member.node, &fingerprint, &known);
                rows::admit(store, &id, &invitation, newcomer, now).await
            }
            Err(_) => Ok(false),
        };
        // Where it may have been done or not, the claim ends by itself.
        if !used.map_err(unavailable)? {
            claim.give_back(store, now).await.map_err(unavailable)?;
            return package.and(Err(Refusal::Used));
        }
        let package = package?;
        tracing::info!(node = %member.node, ?fingerprint, "admitted a joining node");
        let told = self.publish(fingerprint, known);
        if let Ok(Err(error)) = timeout(TELLING, told).await {
            tracing::error!(%error, "failed to announce a joined node");
        }
        Ok(self.answer(cluster, &member, package))
    }

    /// The wanted name, or a free one.
    async fn name(&self, request: &Request, now: u64) -> Result<(NodeId, rows::Claim), Refusal> {
        let parts = &self.parts;
        let claim = async |node: &NodeId| {
            let fingerprint = request.keys.fingerprint(node);
            let end = Some(now.saturating_add(CLAIM));
            rows::claim(parts.store.as_ref(), node, &fingerprint, end, now)
                .await
                .map_err(|_| {
                    Refusal::Unavailable("the cluster's store is not available".to_owned())
                })
        };
        if let Some(wanted) = &request.wanted {
            let living = parts.members.find(wanted);
            let own = request.keys.fingerprint(wanted);
            if living.is_some_and(|living| living.fingerprint != own) {
                return Err(Refusal::NameTaken);
            }
            let claimed = claim(wanted).await?.ok_or(Refusal::NameTaken)?;
            return Ok((wanted.clone(), claimed));
        }
        // A name that somebody had is not given out again unasked: what is called by it, its part
        // of the audit trail say, would seem to go on.
        for number in 1.. {
            let Ok(node) = NodeId::parse(&format!("node-{number}")) else {
                break;
            };
            if parts.members.had_name(&node) {
                continue;
            }
            if let Some(claimed) = claim(&node).await? {
                return Ok((node, claimed));
            }
        }
        Err(Refusal::Full)
    }

    /// What the rooms above give, sealed to the newcomer.
    async fn package(
        &self,
        cluster: &ClusterId,
        kem: &EncapsulationKey,
        newcomer: &Member,
    ) -> Result<Vec<u8>, Refusal> {
        let package = self.parts.provide.provide(newcomer).await;
        let package = Secret::new(package.map_err(Refusal::Unavailable)?);
        let context = seal_context(cluster, &newcomer.fingerprint());
        let sealed = kem.seal_to(&context, package.expose());
        sealed.map_err(|error| Refusal::Unavailable(error.to_string()))
    }

    fn answer(&self, cluster: ClusterId, newcomer: &Member, package: Vec<u8>) -> Answer {
        Answer::Welcome {
            node: newcomer.node.clone(),
            cluster,
            members: self.parts.members.identities(),
            package,
        }
    }
}

fn member(
    node: NodeId,
    keys: crate::member::NodeKeys,
    joined: signet_merge::hlc::Stamp,
    written: signet_merge::hlc::Stamp,
    description: Description,
) -> Member {
    Member {
        node,
        keys,
        joined,
        written,
        addresses: description.addresses,
        url: description.url,
        zone: description.zone,
        hub: description.hub,
    }
}

fn is_description(member: &Member, description: &Description) -> bool {
    member.addresses == description.addresses
        && member.url == description.url
        && member.zone == description.zone
        && member.hub == description.hub
}

fn invitation_id(invitation: &str) -> Option<[u8; 16]> {
    base64url::decode_array(invitation.as_bytes()).ok()
}

impl Door for Host {
    fn expects(&self, invitation: &str) -> BoxFuture<'static, bool> {
        let (host, id) = (self.clone(), invitation_id(invitation));
        Box::pin(async move {
            let Some(id) = id else {
                return false;
            };
            let row = rows::invitation(host.parts.store.as_ref(), &id, host.now()).await;
            match row {
                Ok(row) => row.is_some(),
                Err(error) => {
                    tracing::warn!(%error, "failed to look up an invitation");
                    false
                }
            }
        })
    }

    fn welcome(
        &self,
        invitation: &str,
        spki_sha256: [u8; 32],
        request: Vec<u8>,
    ) -> BoxFuture<'static, Vec<u8>> {
        let (host, id) = (self.clone(), invitation_id(invitation));
        let request = Secret::new(request);
        Box::pin(async move {
            let answer = match id {
                Some(id) => host.admit(id, spki_sha256, request.expose()).await,
                None => Err(Refusal::Unknown),
            };
            let answer = answer.unwrap_or_else(|refusal| {
                tracing::info!(?refusal, "refused a joining node");
                Answer::Refused(refusal)
            });
            answer.to_bytes()
        })
    }
}
