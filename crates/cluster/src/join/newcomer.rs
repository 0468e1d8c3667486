//! The newcomer's side.
use super::{
    ClusterId, Description,
    answer::{Answer, MAX_PROFILE_BYTES, MAX_WELCOME_BYTES, Refusal, Request, seal_context},
    token::{Token, TokenError},
};
use crate::{
    identity::Identity,
    links::{read_message, write_message},
    member::{Fingerprint, Known},
    tls,
};
use signet_crypto::{KeyError, Secret, clock::Clock};
use signet_merge::tell::BoxFuture;
use signet_store::NodeId;
use std::{io, time::Duration};
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::TlsConnector;

/// How long an address may take to be connected to.
const CONNECT: Duration = Duration::from_secs(5);
/// How long the answer may take: the cluster writes to its store, and tells its members.
const ANSWER: Duration = Duration::from_secs(30);

/// Why a node did not join. For its operator.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The text is no token.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// Its time is over.
    #[error("the join token has expired; `signet node invite` makes another one")]
    Expired,
    /// The cluster has no such invitation.
    #[error(
        "the cluster does not know this invitation: it has expired, or was made for another store; `signet node invite` makes another one"
    )]
    Unknown,
    /// Another node used it.
    #[error("another node has used this join token; `signet node invite` makes another one")]
    Used,
    /// The id is an invitation's and the secret is not.
    #[error("the join token was changed: its secret is not that of its invitation")]
    Forged,
    /// No address of the token answers.
    #[error("no node of the cluster can be reached ({0})")]
    Unreachable(String),
    /// Something answers, and it is not the cluster.
    #[error("{0} answers with a key that the join token does not name: it is not this cluster")]
    NotTheCluster(String),
    /// Another member has this name.
    #[error("the cluster has a node with this name already: choose another one, or none")]
    NameTaken,
    /// No more members fit.
    #[error("the cluster has as many nodes as it may have")]
    Full,
    /// A node with these keys was removed.
    #[error(
        "a node with these keys was removed from the cluster: remove the folder `cluster` of this node's data directory, and it joins with new ones"
    )]
    Removed,
    /// Addresses, URL or zone that others would not take.
    #[error("the cluster does not take what this node says of itself: its addresses, URL or zone")]
    Description,
    /// Its configuration does not fit the cluster's. Nothing was changed there, and the token
    /// holds.
    #[error("{0}")]
    Unfit(String),
    /// The cluster cannot let it in now.
    #[error("the cluster cannot let this node in now: {0}")]
    Unavailable(String),
    /// What was answered makes no sense.
    #[error("the cluster's answer cannot be read: is it of a later version?")]
    Answer,
    /// The library failed.
    #[error(transparent)]
    Key(#[from] KeyError),
}

/// Who wants to join.
pub struct Newcomer<'a> {
    /// Its keys.
    pub identity: &'a Identity,
    /// The name that it wants; `None`: one that is free.
    pub wanted: Option<NodeId>,
    /// What it says of itself.
    pub description: Description,
    /// What the rooms above say of it to theirs at the member ([`Provide::fits`](super::Provide)).
    /// At most 4 KiB.
    pub profile: Vec<u8>,
}

/// What a node has when it has joined.
pub struct Welcome {
    /// Its name.
    pub node: NodeId,
    /// The cluster.
    pub cluster: ClusterId,
    /// Everybody, itself included: to be merged into [`Members`](crate::member::Members).
    pub members: Vec<(Fingerprint, Known)>,
    /// What the rooms above gave.
    pub package: Secret<Vec<u8>>,
}

/// Brings a newcomer's request to a member.
pub trait Ask: Send + Sync {
    /// The answer of whoever listens at this address, which is one of the token's. It has to prove
    /// that it holds a key which the token names, and `identity` is proven to it.
    fn ask<'a>(
        &'a self,
        token: &'a Token,
        identity: &'a Identity,
        address: &'a str,
        request: &'a [u8],
    ) -> BoxFuture<'a, Result<Vec<u8>, JoinError>>;
}

/// Over a connection of its own, in a tokio runtime with timers.
pub struct ByStream;

impl Ask for ByStream {
    fn ask<'a>(
        &'a self,
        token: &'a Token,
        identity: &'a Identity,
        address: &'a str,
        request: &'a [u8],
    ) -> BoxFuture<'a, Result<Vec<u8>, JoinError>> {
        Box::pin(ask(token, identity, address, request))
    }
}

/// Joins. Trying again with the same keys is harmless.
///
/// # Errors
/// [`JoinError`]: then the node is no member, but for [`JoinError::Unreachable`] after the request
/// was sent: asking again with the same token tells.
pub async fn join(
    token: &Token,
    newcomer: &Newcomer<'_>,
    clock: &dyn Clock,
    asks: &dyn Ask,
) -> Result<Welcome, JoinError> {
    if clock.now() >= token.end {
        return Err(JoinError::Expired);
    }
    if !newcomer.description.is_sound() || newcomer.profile.len() > MAX_PROFILE_BYTES {
        return Err(JoinError::Description);
    }
    let request = Request {
        secret: token.secret.clone(),
        wanted: newcomer.wanted.clone(),
        keys: newcomer.identity.public().clone(),
        description: newcomer.description.clone(),
        profile: newcomer.profile.clone(),
    };
    let request = Secret::new(request.to_bytes(&token.id, newcomer.identity)?);
    let mut failed = JoinError::Unreachable("the token has no address".to_owned());
    for address in &token.addresses {
        let asked = asks.ask(token, newcomer.identity, address, request.expose());
        match asked.await {
            Ok(answer) => return read(token, newcomer.identity, &answer),
            Err(error) => {
                // Who answered for the cluster has said more than one who did not answer.
                let said = matches!(failed, JoinError::Unknown | JoinError::NotTheCluster(_));
                if !said || matches!(error, JoinError::Unknown) {
                    failed = error;
                }
            }
        }
    }
    Err(failed)
}

async fn ask(
    token: &Token,
    identity: &Identity,
    address: &str,
    request: &[u8],
) -> Result<Vec<u8>, JoinError> {
    let unreachable =
        |why: &dyn std::fmt::Display| JoinError::Unreachable(format!("{address}: {why}"));
    let alpn = [tls::JOIN_ALPN, token.name().as_bytes()].concat();
    let pinned = tls::Peer::Pinned(token.pins.clone());
    let config = tls::client(identity.tls(), pinned, &alpn);
    let connector = TlsConnector::from(config.map_err(|error| unreachable(&error))?);
    let connect = async {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        connector.connect(tls::server_name(), stream).await
    };
    let connected = timeout(CONNECT, connect).await;
    let mut tls = match connected {
        Ok(Ok(tls)) => tls,
        Ok(Err(error)) => return Err(judge(address, &error)),
        Err(_) => return Err(unreachable(&"it does not answer")),
    };
    let conversation = async {
        write_message(&mut tls, request).await?;
        read_message(&mut tls, MAX_WELCOME_BYTES).await
    };
    match timeout(ANSWER, conversation).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(judge(address, &error)),
        Err(_) => Err(unreachable(&"it does not answer")),
    }
}

/// What a failed handshake says.
fn judge(address: &str, error: &io::Error) -> JoinError {
    let tls = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match tls {
        Some(rustls::Error::InvalidCertificate(_)) => JoinError::NotTheCluster(address.to_owned()),
        Some(rustls::Error::AlertReceived(rustls::AlertDescription::NoApplicationProtocol)) => {
            JoinError::Unknown
        }
        Some(_) | None => JoinError::Unreachable(format!("{address}: {error}")),
    }
}

fn read(token: &Token, identity: &Identity, answer: &[u8]) -> Result<Welcome, JoinError> {
    match Answer::from_bytes(answer).ok_or(JoinError::Answer)? {
        Answer::Refused(refusal) => Err(match refusal {
            Refusal::Unknown => JoinError::Unknown,
            Refusal::Used => JoinError::Used,
            Refusal::Forged => JoinError::Forged,
            Refusal::NameTaken => JoinError::NameTaken,
            Refusal::Full => JoinError::Full,
            Refusal::Malformed => JoinError::Description,
            Refusal::Removed => JoinError::Removed,
            Refusal::Unavailable(why) => JoinError::Unavailable(why),
            Refusal::Unfit(why) => JoinError::Unfit(why),
        }),
        Answer::Welcome {
            node,
            cluster,
            members,
            package,
        } => {
            let fingerprint = identity.fingerprint(&node);
            let context = seal_context(&cluster, &fingerprint);
            let package = identity.ml_kem_768().open(&context, &package);
            if cluster != token.cluster || !members.iter().any(|(f, _)| *f == fingerprint) {
                return Err(JoinError::Answer);
            }
            Ok(Welcome {
                node,
                cluster,
                members,
                package: package.map_err(|_| JoinError::Answer)?,
            })
        }
    }
}
