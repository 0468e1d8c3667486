//! What is answered while a start waits for the other nodes: that the process lives, and what it
//! waits for. On copies of the listeners' sockets, which are the server's when it is there.

use std::{net::IpAddr, path::Path, sync::Arc};

use http::{HeaderValue, StatusCode, header};
use signet_crypto::Clock;
use signet_http::{
    Body, Connection, Connections, Limits, Response, Serves,
    addresses::Addresses,
    listener::{self, Running},
    response,
};

use signet_config::{Config, apply};
use signet_node::Cluster;
use signet_process::{
    SystemClock,
    sockets::{self, Bound},
};

struct Waiting {
    cluster: Arc<Cluster>,
    limits: Limits,
    connections: Connections,
    addresses: Arc<Addresses>,
}

impl Serves for Waiting {
    async fn respond(&self, _: &Connection, request: http::Request<Body>) -> Response {
        let mut answer = match request.uri().path() {
            "/health/live" => response::text(StatusCode::OK, "live\n"),
            _ => {
                let why = self.cluster.waits();
                let why = why.unwrap_or_else(|| "this node is starting".to_owned());
                let text = format!("{why}\nsync: starting\n");
                response::text(StatusCode::SERVICE_UNAVAILABLE, text)
            }
        };
        let headers = answer.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        answer
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn connections(&self) -> &Connections {
        &self.connections
    }

    fn bound_of(&self, peer: IpAddr) -> Option<&Arc<Addresses>> {
        (!peer.is_loopback()).then_some(&self.addresses)
    }

    fn now(&self) -> u64 {
        SystemClock.now()
    }
}

/// Answers from now on.
pub fn start(
    config: &Config,
    base: &Path,
    bound: &Bound,
    cluster: &Arc<Cluster>,
) -> Result<Running, String> {
    let bound = bound
        .try_clone()
        .map_err(|e| format!("the listeners cannot be shared: {e}"))?;
    let (listeners, _) = sockets::listeners(config, base, bound)?;
    let limits = sockets::within_files(apply::limits(config));
    let waiting = Waiting {
        cluster: cluster.clone(),
        addresses: Addresses::new(limits.connections_per_address),
        limits,
        connections: Connections::default(),
    };
    listener::start(Arc::new(waiting), listeners)
        .map_err(|e| format!("the server cannot start: {e}"))
}
