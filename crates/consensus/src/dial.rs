//! The consensus library's requests to other nodes, over the network that was handed in.
use crate::{
    CallFuture, Member, Network, NetworkError, NodeId,
    codec::Reader,
    machine::Transfer,
    types::{LeaderId, Types, Vote, read},
    wire::{self, Envelope, Reply, Request},
};
use openraft::{
    OptionalSend, StorageError,
    error::{
        ErrorSource, NetworkError as RpcFailure, RPCError, ReplicationClosed, StreamingError,
        Unreachable,
    },
    network::{RPCOption, RaftNetworkFactory, v2::RaftNetworkV2},
    raft::{
        AppendEntriesRequest, AppendEntriesResponse, SnapshotResponse, TransferLeaderRequest,
        VoteRequest, VoteResponse,
    },
    storage::Snapshot,
};
use signet_store::SqliteStore;
use std::{
    future::Future,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

/// How long an append may take: with a flush of a slow disk.
const APPEND_WITHIN: Duration = Duration::from_secs(2);
/// How long a part of a snapshot may take, and its end, which flushes all of it.
const PART_WITHIN: Duration = Duration::from_secs(60);

/// Bytes of rows that are one part of a snapshot, where it is more than one row
const MAX_PART_BYTES: usize = 512 << 10;

/// Requests to other nodes in this node's name.
#[derive(Clone)]
pub(crate) struct Dial {
    pub(crate) network: Arc<dyn Network>,
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) me: u64,
    pub(crate) generation: Arc<AtomicU64>,
    /// Why others refuse this node.
    pub(crate) refused: Arc<Mutex<Option<String>>>,
    /// A leader that nobody answers says nothing: see `Node::listen`.
    pub(crate) quiet: Arc<AtomicBool>,
    pub(crate) vote_within: Duration,
    pub(crate) random: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl Dial {
    fn envelope(&self, request: Request) -> Vec<u8> {
        Envelope {
            generation: self.generation.load(SeqCst),
            from: self.me,
            request,
        }
        .to_bytes()
    }

    async fn answer(&self, to: &NodeId, call: CallFuture) -> Result<Reply, NetworkError> {
        let reply = Reply::from_bytes(&call.await?)
            .map_err(|error| NetworkError::NoAnswer(error.to_string()))?;
        if let Reply::Generation(theirs) = reply {
            let mine = self.generation.load(SeqCst);
            let said = format!(
                "{to} is of generation {theirs:016x} of the cluster, this node of {mine:016x}: the \
                 cluster was recovered without it, and it must join again with an empty store"
            );
            let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
            if refused.as_ref() != Some(&said) {
                tracing::error!(reason = %said, "refusing a member of another generation");
                *refused = Some(said);
            }
        }
        Ok(reply)
    }

    pub(crate) async fn ask(
        &self,
        to: &NodeId,
        request: Request,
        within: Duration,
    ) -> Result<Reply, NetworkError> {
        let call = self.network.call(to, self.envelope(request), within);
        self.answer(to, call).await
    }

    async fn ask_bulk(&self, to: &NodeId, request: Request) -> Result<Reply, NetworkError> {
        let call = self.network.bulk(to, self.envelope(request), PART_WITHIN);
        self.answer(to, call).await
    }
}

/// Requests to one node.
pub(crate) struct Peer {
    dial: Dial,
    name: NodeId,
}

impl RaftNetworkFactory<Types> for Dial {
    type Network = Peer;

    async fn new_client(&mut self, _: u64, member: &Member) -> Peer {
        Peer {
            dial: self.clone(),
            name: member.name.clone(),
        }
    }
}

fn failed(error: NetworkError) -> RPCError<Types> {
    match error {
        NetworkError::Unreachable(why) => RPCError::Unreachable(Unreachable::from_string(why)),
        NetworkError::NoAnswer(why) => RPCError::Network(RpcFailure::from_string(why)),
    }
}

/// What was answered, where it was.
fn done(reply: Reply) -> Result<Vec<u8>, RPCError<Types>> {
    // Asking again at once would give the same answer.
    let not_now = |why: &str| Err(RPCError::Unreachable(Unreachable::from_string(why)));
    match reply {
        Reply::Done(bytes) => Ok(bytes),
        Reply::Generation(_) => not_now("it is of another generation of the cluster"),
        Reply::Stopped => not_now("it has no part in the consensus now"),
        Reply::Refused => not_now("it refused the request"),
        Reply::Failed(why) => Err(RPCError::Network(RpcFailure::from_string(why))),
        Reply::NotLeader(_) | Reply::Full => not_now("it answered another question"),
    }
}

fn unreadable(error: crate::codec::Malformed) -> RPCError<Types> {
    RPCError::Network(RpcFailure::new(&error))
}

impl Peer {
    async fn ask(&self, request: Request, within: Duration) -> Result<Vec<u8>, RPCError<Types>> {
        let reply = self.dial.ask(&self.name, request, within).await;
        done(reply.map_err(failed)?)
    }

    async fn send(&self, request: Request) -> Result<Vec<u8>, StreamingError<Types>> {
        let reply = self.dial.ask_bulk(&self.name, request).await;
        Ok(done(reply.map_err(failed)?)?)
    }

    /// Sends the rows of a snapshot, part after part: each waits for the answer to the one before,
    /// so a slow disk there slows the reading here.
    async fn send_rows(
        &self,
        vote: Vote,
        meta: openraft::storage::SnapshotMeta<LeaderId, u64, Member>,
        mut rows: signet_store::sqlite::replica::Snapshot,
    ) -> Result<SnapshotResponse<Types>, StreamingError<Types>> {
        let stored = |error: signet_store::StoreError| {
            StreamingError::StorageError(StorageError::read_snapshot(
                None,
                openraft::impls::BoxedErrorSource::from_error(&error),
            ))
        };
        let transfer = (self.dial.random)();
        self.send(Request::Begin { transfer }).await?;
        let mut parts = 0;
        let mut notes = rows.notes().map_err(stored)?;
        let version = rows.version().map_err(stored)?;
        loop {
            let (back, some) = self
                .dial
                .store
                .read_apart(move || {
                    let some = rows.rows(MAX_PART_BYTES);
                    (rows, some)
                })
                .await
                .map_err(stored)?;
            rows = back;
            let some = some.map_err(stored)?;
            let mut bytes = 0;
            let count = notes
                .iter()
                .take_while(|(name, value)| {
                    let before = bytes;
                    bytes += name.len() + value.len();
                    before < MAX_PART_BYTES
                })
                .count();
            let rest = notes.split_off(count);
            let notes = std::mem::replace(&mut notes, rest);
            if some.is_empty() && notes.is_empty() {
                break;
            }
            parts += 1;
            self.send(Request::Part {
                transfer,
                number: parts,
                rows: some,
                notes,
            })
            .await?;
        }
        drop(rows);
        let answer = self
            .send(Request::End {
                transfer,
                parts,
                vote,
                meta,
                version,
            })
            .await?;
        let vote = read(&answer, Reader::vote).map_err(unreadable)?;
        Ok(SnapshotResponse::new(vote))
    }
}

impl RaftNetworkV2<Types> for Peer {
    type SnapshotData = Transfer;

    async fn append_entries(
        &mut self,
        request: AppendEntriesRequest<Types>,
        _: RPCOption,
    ) -> Result<AppendEntriesResponse<Types>, RPCError<Types>> {
        if self.dial.quiet.load(SeqCst) {
            let why = Unreachable::from_string("a leader that nobody answers says nothing");
            return Err(RPCError::Unreachable(why));
        }
        // A heartbeat that is late is of no use: the next one follows.
        let within = match request.entries.is_empty() {
            true => self.dial.vote_within,
            false => APPEND_WITHIN,
        };
        let answer = self.ask(Request::Append(request.into()), within).await?;
        wire::read_append_answer(&answer).map_err(unreadable)
    }

    async fn vote(
        &mut self,
        request: VoteRequest<Types>,
        _: RPCOption,
    ) -> Result<VoteResponse<Types>, RPCError<Types>> {
        let request = Request::Vote(request.into());
        let answer = self.ask(request, self.dial.vote_within).await?;
        wire::read_vote_answer(&answer).map_err(unreadable)
    }

    async fn pre_vote(
        &mut self,
        request: VoteRequest<Types>,
        _: RPCOption,
    ) -> Result<VoteResponse<Types>, RPCError<Types>> {
        let request = Request::PreVote(request.into());
        let answer = self.ask(request, self.dial.vote_within).await?;
        wire::read_vote_answer(&answer).map_err(unreadable)
    }

    async fn full_snapshot(
        &mut self,
        vote: Vote,
        snapshot: Snapshot<LeaderId, u64, Member, Transfer>,
        cancel: impl Future<Output = ReplicationClosed> + OptionalSend + 'static,
        _: RPCOption,
    ) -> Result<SnapshotResponse<Types>, StreamingError<Types>> {
        let Transfer::Rows(rows) = snapshot.snapshot else {
            let none = Unreachable::from_string("the snapshot has no rows to send");
            return Err(StreamingError::Unreachable(none));
        };
        tokio::select! {
            biased;
            closed = cancel => Err(StreamingError::Closed(closed)),
            sent = self.send_rows(vote, snapshot.meta, rows) => sent,
        }
    }

    async fn transfer_leader(
        &mut self,
        request: TransferLeaderRequest<Types>,
        _: RPCOption,
    ) -> Result<openraft::raft::TransferLeaderResponse<Types>, RPCError<Types>> {
        let request = Request::Transfer {
            from: *request.from_leader(),
            to: *request.to_node_id(),
            last: request.last_log_id().copied(),
        };
        self.ask(request, self.dial.vote_within).await?;
        Ok(Ok(()))
    }
}
