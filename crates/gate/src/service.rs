//! What the service answers at which path, and how a listener serves it.
use crate::{
    forward,
    gate::Gate,
    metrics::Stage,
    routes::{self, Endpoint},
    validate,
};
use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode, header, request};
use signet_encoding::json::Writer;
use signet_gate_login::Login;
use signet_http::{
    Body, BodyError, Connection, Connections, Limits, Response, Serves, addresses::Addresses,
    metrics, response,
};
use std::{net::IpAddr, sync::Arc, time::Instant};

impl Gate {
    /// The answer, and the route that it is counted under.
    async fn route(
        &self,
        connection: &Connection,
        head: &request::Parts,
        body: Body,
    ) -> (Response, &'static str) {
        let setup = self.setup.load();
        let login = setup.login.as_ref();
        let login = login
            .filter(|login| login.answers(head.uri.path()))
            .cloned();
        drop(setup);
        if let Some(login) = login {
            let response = self.log_in(&login, connection, head, body).await;
            return (response, routes::LOGIN.path);
        }
        let Some(route) = routes::find(head.uri.path()) else {
            let response = response::text(StatusCode::NOT_FOUND, "not found\n");
            return (response, metrics::OTHER);
        };
        if let Some(method) = &route.method
            && head.method != *method
        {
            return (not_for_here(method), route.path);
        }
        let response = match route.endpoint {
            Endpoint::Live => response::text(StatusCode::OK, "live\n"),
            Endpoint::Ready => self.ready(),
            Endpoint::Metrics => self.scrape(),
            Endpoint::Validate => match self.body(body).await {
                Ok(body) => validate::one(self, head, &body).await,
                Err(refused) => refused,
            },
            Endpoint::Batch => match self.body(body).await {
                Ok(body) => validate::batch(self, head, &body).await,
                Err(refused) => refused,
            },
            Endpoint::Nginx => forward::nginx(self, connection, head).await,
            Endpoint::Traefik => forward::traefik(self, connection, head).await,
            Endpoint::Envoy => forward::envoy(self, connection, head).await,
            // Without a login.
            Endpoint::Login => response::text(StatusCode::NOT_FOUND, "not found\n"),
        };
        (response, route.path)
    }

    async fn log_in(
        &self,
        login: &Login,
        connection: &Connection,
        head: &request::Parts,
        body: Body,
    ) -> Response {
        let by_proxy = self.setup.load().proxies.know(connection, &head.headers);
        match self.body(body).await {
            Ok(body) => login.respond(head, body, by_proxy, &*self.clock).await,
            Err(refused) => refused,
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
        let login = setup.login.as_ref();
        let ready = setup.verifier.is_ready(now)
            && login.is_none_or(|login| login.verifier().is_ready(now))
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
            .render(&setup, &self.connections, self.clock.now());
        response::body(StatusCode::OK, metrics::MEDIA_TYPE, text)
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

fn not_for_here(allow: &Method) -> Response {
    let mut response = response::text(StatusCode::METHOD_NOT_ALLOWED, "method not allowed\n");
    if let Ok(allow) = HeaderValue::from_str(allow.as_str()) {
        response.headers_mut().insert(header::ALLOW, allow);
    }
    response
}

impl Serves for Gate {
    async fn respond(&self, connection: &Connection, request: http::Request<Body>) -> Response {
        let begun = Instant::now();
        let (head, body) = request.into_parts();
        let (mut response, route) = self.route(connection, &head, body).await;
        // Every answer is about one token at one moment.
        response
            .headers_mut()
            .entry(header::CACHE_CONTROL)
            .or_insert(HeaderValue::from_static("no-store"));
        let status = response.status().as_u16();
        self.metrics.request(route, status, begun.elapsed());
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
