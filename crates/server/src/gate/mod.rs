//! The validation service: tokens in, claims or refusals out, for whatever speaks HTTP.
//!
//! `/validate` is for applications, the forward-auth endpoints for reverse proxies. It issues nothing, keeps nothing and asks nobody on a
//! request's way: it is [`signet_verify::Verifier`] behind the server's own listeners. It believes what its callers say about the request
//! they ask about (method, URL, certificate), so it belongs on a network that only they reach.
mod forward;
mod identity;
mod metrics;
mod validate;

pub use identity::Identity;
pub use metrics::{GateMetrics, Stage};

use arc_swap::ArcSwap;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header, request};
use signet_crypto::Clock;
use signet_http::{
    Body, BodyError, Connection, Connections, Limits, Response, Serves, addresses::Addresses,
    response,
};
use signet_jose::json::Writer;
use signet_verify::{Decision, PolicyId, Presented, Refusal, Verifier};
use std::{net::IpAddr, sync::Arc, time::Instant};

/// What a configuration file decides, and a reload replaces as a whole.
pub struct Setup {
    /// Issuers and policies.
    pub verifier: Arc<Verifier>,
    /// What the forward-auth endpoints tell about an accepted token.
    pub identity: Identity,
    /// The header field in which a reverse proxy hands over the client's certificate (PEM in percent-encoding, or base64).
    pub certificate_header: Option<String>,
}

/// The service.
pub struct Gate {
    setup: ArcSwap<Setup>,
    clock: Arc<dyn Clock>,
    limits: Limits,
    metrics: GateMetrics,
    connections: Connections,
}

impl Gate {
    /// A service that begins with this setup.
    pub fn new(setup: Setup, clock: Arc<dyn Clock>, limits: Limits) -> Arc<Gate> {
        Arc::new(Gate {
            setup: ArcSwap::from_pointee(setup),
            clock,
            limits,
            metrics: GateMetrics::default(),
            connections: Connections::default(),
        })
    }

    /// Puts another setup in place. Requests under way keep the one that they began with.
    pub fn replace(&self, setup: Setup) {
        self.setup.store(Arc::new(setup));
    }

    /// The setup in place.
    pub fn setup(&self) -> Arc<Setup> {
        self.setup.load_full()
    }

    /// Decides, and measures it.
    async fn decide(
        &self,
        setup: &Setup,
        policy: PolicyId,
        presented: &Presented<'_>,
    ) -> Result<signet_verify::Verified, Refusal> {
        let begun = Instant::now();
        let Decision { outcome, cached } = setup
            .verifier
            .decide_asking(policy, presented, || self.clock.now())
            .await;
        let stage = match (&outcome, cached) {
            (Ok(_), true) => Stage::Cached,
            (Ok(_), false) => Stage::Verified,
            (Err(_), _) => Stage::Refused,
        };
        self.metrics.took(stage, begun.elapsed());
        outcome
    }

    /// The nonce that a client must put into its next DPoP proof, where the refusal asks for one (RFC 9449 section 9).
    fn hand_nonce(&self, setup: &Setup, refusal: Refusal, response: &mut Response) {
        if let Some(nonce) = setup.verifier.nonce_for(refusal, self.clock.now())
            && let Ok(nonce) = HeaderValue::from_str(&nonce)
        {
            response.headers_mut().insert("dpop-nonce", nonce);
        }
    }

    async fn route(&self, head: &request::Parts, body: Body) -> Response {
        let path = head.uri.path();
        let is = |method: Method| head.method == method;
        match path {
            "/health/live" if is(Method::GET) => response::text(StatusCode::OK, "live\n"),
            "/health/ready" if is(Method::GET) => self.ready(),
            "/metrics" if is(Method::GET) => self.scrape(),
            "/validate" if is(Method::POST) => match self.body(body).await {
                Ok(body) => validate::one(self, head, &body).await,
                Err(refused) => refused,
            },
            "/validate/batch" if is(Method::POST) => match self.body(body).await {
                Ok(body) => validate::batch(self, head, &body).await,
                Err(refused) => refused,
            },
            "/auth/nginx" => forward::nginx(self, head).await,
            "/auth/traefik" => forward::traefik(self, head).await,
            _ if path.starts_with("/auth/envoy") => forward::envoy(self, head).await,
            "/health/live" | "/health/ready" | "/metrics" => not_for_here("GET"),
            "/validate" | "/validate/batch" => not_for_here("POST"),
            _ => response::text(StatusCode::NOT_FOUND, "there is nothing here\n"),
        }
    }

    async fn body(&self, body: Body) -> Result<Bytes, Response> {
        let begun = Instant::now();
        let read = body.read(self.limits.body_bytes, self.limits.body).await;
        self.metrics.took(Stage::Body, begun.elapsed());
        read.map_err(unread)
    }

    /// Not before every issuer that is required has keys; then why, one line each.
    fn ready(&self) -> Response {
        let now = self.clock.now();
        let setup = self.setup.load();
        let sources = setup.verifier.revocation_health(now);
        let issuers = setup.verifier.health(now);
        let required = |name: &str| {
            issuers
                .iter()
                .any(|issuer| issuer.required && issuer.issuer == name)
        };
        let ready = setup.verifier.is_ready(now)
            && !sources
                .iter()
                .any(|source| source.refusing && required(&source.issuer));
        let mut text = String::from(if ready { "ready\n" } else { "not ready\n" });
        for health in &issuers {
            let why = health.error.as_deref().unwrap_or("");
            let line = [&health.issuer, ": ", health.state.as_str(), " ", why];
            text.push_str(line.concat().trim_end());
            text.push('\n');
        }
        for source in &sources {
            let why = source.error.as_deref().unwrap_or("");
            let state = [&source.issuer, ": revocations ", source.state.as_str()].concat();
            let refusing = if source.refusing { ", refusing" } else { "" };
            let line = [&state, refusing, " ", why].concat();
            text.push_str(line.trim_end());
            text.push('\n');
        }
        let status = match ready {
            true => StatusCode::OK,
            false => StatusCode::SERVICE_UNAVAILABLE,
        };
        response::text(status, text)
    }

    fn scrape(&self) -> Response {
        let setup = self.setup.load();
        let text = self
            .metrics
            .render(&setup.verifier, &self.connections, self.clock.now());
        response::body(
            StatusCode::OK,
            "text/plain; version=0.0.4; charset=utf-8",
            text,
        )
    }
}

/// A body that could not be had: in the shape of RFC 6749 section 5.2, as the authorization server
/// says it.
fn unread(failure: BodyError) -> Response {
    let mut encoded = Vec::with_capacity(128);
    Writer::new(&mut encoded).object(|w| {
        w.member("error").string("invalid_request");
        w.member("error_description").string(failure.description());
    });
    response::json(failure.status(), encoded)
}

fn not_for_here(allow: &'static str) -> Response {
    let mut response = response::text(
        StatusCode::METHOD_NOT_ALLOWED,
        "this method is not for here\n",
    );
    response
        .headers_mut()
        .insert(header::ALLOW, HeaderValue::from_static(allow));
    response
}

impl Serves for Gate {
    async fn respond(&self, _connection: &Connection, request: http::Request<Body>) -> Response {
        let begun = Instant::now();
        let (head, body) = request.into_parts();
        let mut response = self.route(&head, body).await;
        // Every answer is about one token at one moment.
        response
            .headers_mut()
            .entry(header::CACHE_CONTROL)
            .or_insert(HeaderValue::from_static("no-store"));
        self.metrics.took(Stage::Request, begun.elapsed());
        response
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn connections(&self) -> &Connections {
        &self.connections
    }

    /// Its callers are few and known.
    fn bound_of(&self, _peer: IpAddr) -> Option<&Arc<Addresses>> {
        None
    }

    fn now(&self) -> u64 {
        self.clock.now()
    }
}

/// A header field that must appear at most once: its text, none where it is missing.
///
/// # Errors
/// [`Refusal::Ambiguous`] for two of them, or bytes that are no visible ASCII.
fn single<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let Some(first) = values.next() else {
        return Ok(None);
    };
    match (first.to_str(), values.next()) {
        (Ok(text), None) => Ok(Some(text)),
        _ => Err(Refusal::Ambiguous),
    }
}
