//! The seam between the engine and what it serves.
use crate::{
    addresses::Addresses, body::Body, certificate::PresentedCertificate, limits::Limits,
    response::Response,
};
use std::{
    net::IpAddr,
    sync::{Arc, atomic::AtomicU64},
};

/// Where a request came in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ListenerKind {
    /// The listener that browsers use: never asks for a client certificate.
    Public,
    /// The listener behind `mtls_endpoint_aliases`: asks for one.
    Mtls,
}

/// What is known of a connection before its first request.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The socket's peer.
    pub peer: IpAddr,
    /// The listener.
    pub listener_kind: ListenerKind,
    /// Whether it is encrypted up to here: nothing in front ends TLS.
    pub is_tls: bool,
    /// From the TLS handshake.
    pub certificate: Option<Arc<PresentedCertificate>>,
}

/// What a listener counts.
#[derive(Default)]
pub struct Connections {
    /// Open now.
    pub open: AtomicU64,
    /// Refused because the limit was reached.
    pub refused: AtomicU64,
    /// TLS handshakes that failed.
    pub handshakes_failed: AtomicU64,
    /// Requests that were answered with 500 because their handler panicked.
    pub panicked: AtomicU64,
}

/// What a listener serves: the server, or the validation service.
pub trait Serves: Send + Sync + 'static {
    /// Answers one request. This never fails: whatever goes wrong is an answer.
    fn respond(
        &self,
        connection: &Connection,
        request: http::Request<Body>,
    ) -> impl Future<Output = Response> + Send;

    /// The bounds of connections and requests.
    fn limits(&self) -> &Limits;

    /// What is counted.
    fn connections(&self) -> &Connections;

    /// Who counts the connections of this peer's address; none where it is not bounded.
    fn bound_of(&self, peer: IpAddr) -> Option<&Arc<Addresses>>;

    /// Unix seconds.
    fn now(&self) -> u64;
}
