//! The process: what all of its realms share.
use super::speaking::Speaking;
use crate::{
    metrics::Metrics,
    nodes::Nodes,
    outbound::{Outbound, OutboundOptions},
    time::FloorClock,
    verified_tokens::VerifiedTokens,
};
use http::HeaderMap;
use signet_crypto::Clock;
use signet_directory::passwords::{PasswordOptions, PasswordPool};
use signet_http::{Connection, ProxySecret, tls::Tls};
use signet_oauth::endpoint::split_issuer;
use signet_telemetry::trace::Tracer;
use std::{
    collections::BTreeSet,
    net::IpAddr,
    sync::{Arc, OnceLock},
};

/// The server's policy beyond the protocol settings; from the configuration, fixed for the life of
/// the process.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Addresses of reverse proxies whose `Forwarded`, `X-Forwarded-For` and client certificate
    /// headers count.
    pub trusted_proxies: Vec<IpAddr>,
    /// What they show with each request, besides coming from such an address.
    pub proxy_secret: Option<Arc<ProxySecret>>,
    /// The header in which they say whom they speak for.
    pub forwarded: ForwardedHeader,
    /// The header in which a trusted proxy hands over the client certificate (RFC 9440
    /// `Client-Cert`, or URL-encoded PEM).
    pub client_certificate_header: Option<String>,
    /// The proxy checks the certificate's chain before it passes it on: only then does
    /// `tls_client_auth` work behind it.
    pub proxy_verifies_client_certificates: bool,
    /// `/metrics` also for other machines than this one.
    pub open_metrics: bool,
    /// Which requests' steps are recorded.
    pub tracer: Tracer,
    /// What this node is called in answers and logs; empty: `local`.
    pub node: String,
}

impl Policy {
    /// Whether this address is one of a trusted proxy.
    pub fn is_trusted_proxy(&self, address: IpAddr) -> bool {
        self.trusted_proxies.contains(&address)
    }

    /// Whether a request is a proxy's, so that what it says of the client counts. An address tells
    /// a proxy from other machines; only a secret tells it from other programs of its machine.
    pub fn is_of_proxy(&self, peer: IpAddr, headers: &HeaderMap) -> bool {
        let secret = self.proxy_secret.as_ref();
        self.is_trusted_proxy(peer) && secret.is_none_or(|secret| secret.is_shown(headers))
    }

    /// Whether a proxy may hand over a client's certificate, too, which lets in whom it names.
    /// Without a secret only at a listener of plain HTTP: whoever speaks TLS to this server is a
    /// client that shows its own.
    pub fn may_hand_over_certificates(&self, connection: &Connection, headers: &HeaderMap) -> bool {
        self.is_of_proxy(connection.peer, headers)
            && (self.proxy_secret.is_some() || !connection.is_tls)
    }
}

/// Which header names the client behind a proxy. One only: a proxy that sets the one passes on what
/// a client wrote in the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ForwardedHeader {
    /// `X-Forwarded-For`.
    #[default]
    XForwardedFor,
    /// `Forwarded` (RFC 7239).
    Forwarded,
}

/// What a [`Host`] is made of.
pub struct HostParts {
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Policy beyond the protocol.
    pub policy: Policy,
    /// How connections are opened on a client's word.
    pub outbound: OutboundOptions,
    /// The threads that hash passwords.
    pub passwords: PasswordOptions,
    /// The paths that requests are counted by.
    pub routes: Vec<&'static str>,
    /// The nodes of the installation that this process is one of.
    pub nodes: Arc<dyn Nodes>,
}

/// The process. It knows no realm: realms know it.
pub struct Host {
    /// The time.
    pub clock: Arc<FloorClock>,
    /// Policy beyond the protocol.
    pub policy: Policy,
    /// Counters and histograms, lock-free.
    pub metrics: Metrics,
    /// Fetches what clients' records point to.
    pub outbound: Arc<Outbound>,
    /// The threads that hash passwords.
    pub passwords: Arc<PasswordPool>,
    /// Our own tokens that verified, kept for the next question about them.
    pub verified_tokens: VerifiedTokens,
    /// The nodes of the installation that this process is one of.
    pub nodes: Arc<dyn Nodes>,
    /// Whether it may speak for them.
    pub(super) speaking: Speaking,
    /// What it serves.
    pub paths: Paths,
    /// The certificates of its listeners; not set where it has none.
    pub certificates: OnceLock<Vec<Tls>>,
}

impl Host {
    /// Puts the parts together, and starts the password threads.
    pub fn new(parts: HostParts) -> Arc<Host> {
        Arc::new(Host {
            paths: Paths::of(&parts.routes),
            clock: Arc::new(FloorClock::new(parts.clock)),
            policy: parts.policy,
            metrics: Metrics::new(parts.routes),
            outbound: Arc::new(Outbound::new(parts.outbound)),
            passwords: Arc::new(PasswordPool::new(parts.passwords)),
            verified_tokens: VerifiedTokens::default(),
            nodes: parts.nodes,
            speaking: Speaking::default(),
            certificates: OnceLock::new(),
        })
    }

    /// What this node is called.
    pub fn node(&self) -> &str {
        match &*self.policy.node {
            "" => "local",
            name => name,
        }
    }

    /// Seconds since the Unix epoch.
    pub fn now(&self) -> u64 {
        self.clock.now()
    }

    /// Milliseconds since the Unix epoch.
    pub fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }
}

/// The first segments of the paths that a process serves.
#[derive(Clone, Debug, Default)]
pub struct Paths(BTreeSet<&'static str>);

impl Paths {
    /// Of these routes.
    pub fn of(routes: &[&'static str]) -> Paths {
        let first = routes.iter().filter_map(|route| {
            let segment = route.trim_start_matches('/').split('/').next()?;
            (!segment.is_empty() && !segment.starts_with('{')).then_some(segment)
        });
        Paths(first.collect())
    }

    /// The path that a realm of this issuer would take from another realm, which has it: none where
    /// it hides nothing.
    pub fn hidden_by<'a>(&self, issuer: &'a str) -> Option<&'a str> {
        let (_, path) = split_issuer(issuer);
        path.split('/').find(|segment| self.0.contains(segment))
    }
}
