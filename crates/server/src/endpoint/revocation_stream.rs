//! `/revocations`: what is revoked, as it happens, for resource servers that keep it in memory.
//!
//! A client authenticates as at the token endpoint, and its record must have the scope
//! `signet:revocations`. The answer is JSON, one object a line (`application/x-ndjson`), and has no
//! end: first every revocation that counts, then `{"synced": NOW}`, then each further one when it
//! is durable and in effect, and `{"heartbeat": NOW}` every two seconds, so that silence means that
//! the stream is lost. Who reconnects gets everything again: revocations only grow, so hearing one
//! twice is harmless.
//!
//! A stream promises that its node knows what the others revoked. So `synced` and `heartbeat` say
//! until when it did: `{"heartbeat": NOW, "heard": T}`, and a reader counts from `T`. `synced` is
//! not said while the node does not hear the others, and there is no stream at all where the node
//! itself would call no token active.
//!
//! A reader that asks with `acknowledge=true` first receives its stream's name (`{"stream": ID}`).
//! Where somebody waits for a revocation to be in effect everywhere, it is asked
//! (`{"acknowledge": N}`) behind everything that was sent, and answers with a request of its own
//! here: `stream=ID&acknowledged=N`. The name says which node has the stream: behind a balancer the
//! answer may come to another one, which passes it on.
//!
//! The stream ends when the client's record changes, when the reader is too slow, when the node may
//! not speak for the cluster any more, and when the server stops.
use super::client_endpoint::ClientRequest;
use bytes::Bytes;
use http::StatusCode;
use signet_audit::Action;
use signet_encoding::{base64url, json::Writer};
use signet_oauth::{
    client::Client,
    endpoint::EndpointId,
    error::{ErrorCode, OAuthError},
    scope::REVOCATIONS,
};
use signet_realm::state::{Claim, Mute, Realm};
use signet_realm::streams::{Acknowledged, StreamId};
use signet_request::http::{Context, Response, response};
use signet_revocation::{Line, Member};
use signet_store::{Behind, Feed, NodeId, Revoked, StoreError};
use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};
use tokio::{
    sync::{mpsc, watch},
    time::{MissedTickBehavior, interval, timeout},
};

/// Between two signs of life.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// A node that has not heard the others for longer does not say that it told everything. Readers
/// take a stream for lost after as long a silence.
const CURRENT_WITHIN: Duration = Duration::from_secs(7);
/// How long a reader may leave what was written untaken.
const TAKEN_WITHIN: Duration = Duration::from_secs(10);
/// Written pieces that wait for the reader; each holds one page or less.
const WAITING: usize = 4;
/// Changes that go out in one piece.
const TOGETHER: usize = 256;

const ACKNOWLEDGE: &str = "acknowledge";
const ACKNOWLEDGED: &str = "acknowledged";
const STREAM: &str = "stream";

pub(super) async fn handle(context: Context) -> Response {
    let client_request = match ClientRequest::read(context, EndpointId::RevocationStream).await {
        Ok(client_request) => client_request,
        Err(answer) => return *answer,
    };
    match begin(&client_request).await {
        // Of an open stream: its beginning is what is recorded.
        Ok(answer) if client_request.params.contains(ACKNOWLEDGED) => answer,
        Ok(answer) => {
            let event = client_request.event(Action::REVOCATION_STREAM);
            client_request.context.realm.audit().record(event);
            answer
        }
        Err(error) => client_request.refuse_counted(&error).await,
    }
}

async fn begin(client_request: &ClientRequest) -> Result<Response, OAuthError> {
    let client = client_request.authenticate().await?.client;
    if client.is_public() {
        return Err(
            OAuthError::new(ErrorCode::InvalidClient, "client authentication failed")
                .with_hint("a public client may not hear revocations"),
        );
    }
    if !client.scope.contains(REVOCATIONS) {
        return Err(OAuthError::new(
            ErrorCode::InsufficientScope,
            "the client may not hear revocations",
        ));
    }
    let realm = client_request.context.realm.clone();
    if client_request.params.contains(ACKNOWLEDGED) {
        return acknowledge(client_request, &realm, &client).await;
    }
    realm.may_speak(Claim::NotRevoked)?;
    let acknowledges = match client_request.params.get(ACKNOWLEDGE) {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => {
            return Err(OAuthError::new(
                ErrorCode::InvalidRequest,
                "acknowledge must be true or false",
            ));
        }
    };
    let place = realm
        .revocation_streams
        .enter(&client.client_id, acknowledges);
    let place = place.ok_or_else(|| {
        OAuthError::new(
            ErrorCode::TemporarilyUnavailable,
            "too many streams are open",
        )
    })?;
    let (pieces, chunks) = mpsc::channel(WAITING);
    let name = acknowledges.then(|| {
        let node = realm.host.nodes.name();
        format!("{node}.{}", base64url::encode(place.id()))
    });
    let stream = Stream {
        feed: realm.revocations.follow(),
        client,
        realm,
        pieces,
        asked: place.asked(),
        name,
    };
    tokio::spawn(async move {
        stream.run().await;
        drop(place);
    });
    Ok(response::stream("application/x-ndjson", chunks))
}

/// What the reader of a stream has in effect.
async fn acknowledge(
    client_request: &ClientRequest,
    realm: &Realm,
    client: &Client,
) -> Result<Response, OAuthError> {
    let malformed = || {
        OAuthError::new(
            ErrorCode::InvalidRequest,
            "stream and acknowledged must be what the stream said",
        )
    };
    let (node, stream) = read_name(client_request.params.require(STREAM)?).ok_or_else(malformed)?;
    let number = client_request.params.require(ACKNOWLEDGED)?.parse();
    let word = Acknowledged {
        stream,
        client_id: client.client_id.clone(),
        number: number.map_err(|_| malformed())?,
    };
    let noted = match node.as_str() == realm.host.nodes.name() {
        true => realm.revocation_streams.acknowledge(&word),
        false => realm.host.nodes.acknowledge(&node, &word).await,
    };
    if !noted {
        // It ended meanwhile, or its node cannot be reached.
        return Err(OAuthError::new(
            ErrorCode::InvalidRequest,
            "there is no such stream",
        ));
    }
    Ok(response::json(StatusCode::OK, b"{}".to_vec()))
}

/// The node that has a stream, and its name there.
fn read_name(name: &str) -> Option<(NodeId, StreamId)> {
    let (node, id) = name.split_once('.')?;
    let id = base64url::decode(id.as_bytes()).ok()?;
    Some((NodeId::parse(node).ok()?, id.try_into().ok()?))
}

struct Stream {
    realm: Arc<Realm>,
    client: Arc<Client>,
    feed: Feed,
    pieces: mpsc::Sender<Bytes>,
    /// How often the reader was asked what it has in effect.
    asked: watch::Receiver<u64>,
    /// What the stream is called, if its reader acknowledges.
    name: Option<String>,
}

/// Why a stream ended.
enum End {
    /// The reader is gone, or too slow.
    Reader,
    /// The reader did not keep up with the changes.
    Behind,
    /// The store failed while the snapshot was read.
    Store(StoreError),
    /// The client's record changed: it has to authenticate again.
    Client,
    /// The node may not speak for the cluster any more.
    Mute(Mute),
    /// The server stops.
    Stopped,
}

impl From<Mute> for End {
    fn from(mute: Mute) -> End {
        End::Mute(mute)
    }
}

impl From<Behind> for End {
    fn from(_: Behind) -> End {
        End::Behind
    }
}

impl Stream {
    async fn run(mut self) {
        let mut stopped = self.realm.revocation_streams.stopping();
        let realm = self.realm.clone();
        let client_id = self.client.client_id.clone();
        let end = tokio::select! {
            Err(end) = self.write() => end,
            _ = stopped.wait_for(|stop| *stop) => End::Stopped,
            else => End::Stopped,
        };
        match end {
            End::Reader | End::Stopped => {}
            End::Behind => tracing::warn!(
                client_id,
                "closing a revocation stream: the reader is too slow"
            ),
            End::Client => tracing::info!(
                client_id,
                "closing a revocation stream: the client record changed"
            ),
            End::Mute(mute) => {
                tracing::warn!(client_id, why = mute.why(), "closing a revocation stream");
            }
            End::Store(error) => {
                realm.host.metrics.store_errors.fetch_add(1, Relaxed);
                tracing::error!(%error, "failed to read revocations for a stream");
            }
        }
    }

    async fn write(&mut self) -> Result<std::convert::Infallible, End> {
        if let Some(name) = &self.name {
            let mut line = Vec::with_capacity(48);
            Writer::new(&mut line).object(|w| w.member(STREAM).string(name));
            line.push(b'\n');
            self.send(line).await?;
        }
        while let Some(page) = self.feed.page(self.realm.now()).await.map_err(End::Store)? {
            let mut piece = Vec::with_capacity(page.len() * 80);
            for revoked in &page {
                write_line(revoked, &mut piece);
            }
            self.send(piece).await?;
        }
        let mut beat = interval(HEARTBEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut synced = false;
        loop {
            if !synced && self.is_current() {
                self.say_time("synced").await?;
                synced = true;
            }
            let change = tokio::select! {
                change = self.feed.change() => change?,
                // The place that asks lives as long as the stream.
                Ok(()) = self.asked.changed() => {
                    self.ask().await?;
                    continue;
                }
                _ = beat.tick() => {
                    self.check_client()?;
                    self.realm.may_speak(Claim::NotRevoked)?;
                    self.say_time("heartbeat").await?;
                    continue;
                }
            };
            let mut piece = Vec::with_capacity(128);
            write_line(&change, &mut piece);
            for _ in 1..TOGETHER {
                match self.feed.change_now()? {
                    Some(change) => write_line(&change, &mut piece),
                    None => break,
                }
            }
            self.send(piece).await?;
        }
    }

    /// Whoever may no longer authenticate, or has another secret now, is not told more.
    fn check_client(&self) -> Result<(), End> {
        let snapshot = self.realm.snapshot();
        let client = snapshot
            .registry
            .client(&self.client.client_id, self.realm.now());
        match client {
            Some(client) if client.revision == self.client.revision => Ok(()),
            _ => Err(End::Client),
        }
    }

    /// Whether the node knows what the others know.
    fn is_current(&self) -> bool {
        let known = self.realm.host.nodes.known_ago();
        known.is_some_and(|known| known <= CURRENT_WITHIN)
    }

    /// Says what the time is, and until when the node knew what the others know.
    async fn say_time(&self, what: &str) -> Result<(), End> {
        let now = self.realm.now();
        let heard = match self.realm.host.nodes.known_ago() {
            Some(ago) => now.saturating_sub(ago.as_secs()),
            None => 0,
        };
        let mut line = Vec::with_capacity(48);
        Writer::new(&mut line).object(|w| {
            w.member(what).number(now);
            w.member("heard").number(heard);
        });
        line.push(b'\n');
        self.send(line).await
    }

    /// Asks the reader whether it has in effect what was sent before.
    async fn ask(&mut self) -> Result<(), End> {
        let number = *self.asked.borrow_and_update();
        let mut piece = Vec::new();
        while let Some(change) = self.feed.change_now()? {
            write_line(&change, &mut piece);
        }
        if !piece.is_empty() {
            self.send(piece).await?;
        }
        match self.name {
            Some(_) => self.say(ACKNOWLEDGE, number).await,
            None => Ok(()),
        }
    }

    async fn say(&self, what: &str, number: u64) -> Result<(), End> {
        let mut line = Vec::with_capacity(32);
        Writer::new(&mut line).object(|w| w.member(what).number(number));
        line.push(b'\n');
        self.send(line).await
    }

    async fn send(&self, piece: Vec<u8>) -> Result<(), End> {
        match timeout(TAKEN_WITHIN, self.pieces.send(piece.into())).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(End::Reader),
        }
    }
}

/// One revocation, in the members of [`Line`]; ids that are bytes are base64url.
fn write_line(revoked: &Revoked, out: &mut Vec<u8>) {
    let subject = &revoked.subject;
    let id = subject.id(
        |jti| base64url::encode(jti.as_bytes()),
        |grant_id| base64url::encode(grant_id.as_bytes()),
        |delegation| base64url::encode(delegation),
        String::clone,
    );
    let line = Line {
        kind: subject.kind(),
        id: &id,
        epoch_ms: subject.epoch_ms(),
        end: revoked.end,
    };
    Writer::new(out).object(|w| {
        for (name, value) in line.members() {
            match value {
                Member::Text(text) => w.member(name).string(text),
                Member::Number(number) => w.member(name).number(number),
                // No line that is written has one.
                Member::Other => {}
            }
        }
    });
    out.push(b'\n');
}
