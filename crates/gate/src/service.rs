//! What the service answers at which path, and how a listener serves it.
use crate::{forward, gate::Gate, metrics::Stage, validate};
use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode, header, request};
use signet_http::{
    Body, BodyError, Connection, Connections, Limits, Response, Serves, addresses::Addresses,
    response,
};
use signet_jose::json::Writer;
use std::{net::IpAddr, sync::Arc, time::Instant};

impl Gate {
    async fn route(&self, connection: &Connection, head: &request::Parts, body: Body) -> Response {
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
            "/auth/nginx" => forward::nginx(self, connection, head).await,
            "/auth/traefik" | "/auth/caddy" => forward::traefik(self, connection, head).await,
            _ if path.starts_with("/auth/envoy") => forward::envoy(self, connection, head).await,
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
    async fn respond(&self, connection: &Connection, request: http::Request<Body>) -> Response {
        let begun = Instant::now();
        let (head, body) = request.into_parts();
        let mut response = self.route(connection, &head, body).await;
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
