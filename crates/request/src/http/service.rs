//! From a request's head to its answer: limits, routing, the handler, and what every answer
//! carries.
use super::{
    Router,
    authority::{asked_name, name_of},
    context::{Context, LogNotes},
    cors, proxy,
    realms::{Place, Places},
    traced,
};
use arc_swap::{ArcSwap, Guard};
use http::{HeaderValue, Method, StatusCode, header, request};
use signet_http::{
    Body, Connection, Connections, Limits, ListenerKind, RequestId, Response, Serves,
    addresses::Addresses, answer::Answer, response,
};
use signet_oauth::endpoint::Cors;
use signet_pages::CHECK_SESSION_POLICY;
use signet_realm::realms::{NotOpen, Realms};
use signet_realm::state::{Host, Realm, Snapshot};
use signet_telemetry::trace::{self, Attribute};
use std::{net::IpAddr, ops::Range, pin::pin, sync::Arc, time::Instant};

/// What a removed node answers (RFC 6749 section 4.1.2.1 has the code).
const REMOVED: &[u8] = br#"{"error":"temporarily_unavailable","error_description":"this node was removed from its cluster"}"#;

/// What a suspended realm answers, and one that could not be opened.
const SUSPENDED: &[u8] =
    br#"{"error":"temporarily_unavailable","error_description":"this realm is suspended"}"#;
const NOT_OPEN: &[u8] =
    br#"{"error":"temporarily_unavailable","error_description":"this realm cannot be opened now"}"#;

/// How often a request looks again for a realm that is changed while it comes.
const MAX_LOOKS: usize = 8;

/// What all connections share.
pub struct Service {
    host: Arc<Host>,
    realms: Arc<Realms>,
    places: ArcSwap<Places>,
    router: Router,
    limits: Limits,
    addresses: Arc<Addresses>,
}

/// What is known of a request before it is routed.
struct Arrived<'a> {
    connection: &'a Connection,
    realm: Arc<Realm>,
    snapshot: Arc<Snapshot>,
    /// Where in the path the part below the issuer is; `None`: no realm has it.
    below: Option<Range<usize>>,
    /// Why the realm answers nothing.
    not_open: Option<NotOpen>,
    request_id: RequestId,
    peer: IpAddr,
    notes: Arc<LogNotes>,
}

impl Serves for Service {
    async fn respond(&self, connection: &Connection, request: http::Request<Body>) -> Response {
        self.answer(connection, request).await
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn connections(&self) -> &Connections {
        &self.host.metrics.connections
    }

    fn bound_of(&self, peer: IpAddr) -> Option<&Arc<Addresses>> {
        let trusted = peer.is_loopback() || self.host.policy.is_trusted_proxy(peer);
        (!trusted).then_some(&self.addresses)
    }

    fn now(&self) -> u64 {
        self.host.now()
    }
}

impl Service {
    /// Puts the parts together. `first` is the realm that answers for the process: its health and
    /// metrics.
    pub fn new(first: Arc<Realm>, router: Router, limits: Limits) -> Arc<Service> {
        let realms = Realms::new(Arc::clone(&first));
        let places = Places::new(&first, realms.table());
        Arc::new(Service {
            host: first.host.clone(),
            realms,
            places: ArcSwap::from_pointee(places),
            router,
            addresses: Addresses::new(limits.connections_per_address),
            limits,
        })
    }

    /// The realms of the process, the first among them.
    pub fn realms(&self) -> &Arc<Realms> {
        &self.realms
    }

    /// Puts further realms beside the first, in place of those that were there. Requests under way
    /// stay where they were routed to.
    pub fn serve(&self, others: Vec<Arc<Realm>>) {
        self.realms.give(others);
    }

    /// Answers one request. This never fails: whatever goes wrong is an answer.
    async fn answer(&self, connection: &Connection, request: http::Request<Body>) -> Response {
        let started = Instant::now();
        let request_id = RequestId::generate();
        let (head, body) = request.into_parts();
        let head_only = head.method == Method::HEAD;
        let method = head.method.clone();
        let (realm, below, not_open) = self.route(&head).await;
        let snapshot = realm.snapshot();
        let trace = traced::begin(&self.host, connection, &head.headers, request_id, started);
        let named = proxy::client_address(connection.peer, &head.headers, &self.host.policy);
        let peer = named.unwrap_or(connection.peer);
        let notes = Arc::new(LogNotes::default());
        let arrived = Arrived {
            connection,
            realm,
            below,
            not_open,
            snapshot: snapshot.clone(),
            request_id,
            peer,
            notes: notes.clone(),
        };
        let (mut response, route) = match named {
            Ok(_) => {
                let work = pin!(self.dispatch(arrived, head, body));
                trace::during(request_id.bytes(), trace.as_ref(), work).await
            }
            Err(proxy::UnknownClient) => {
                let text = "the proxy in front names no client's address\n";
                (response::text(StatusCode::BAD_REQUEST, text), "other")
            }
        };
        self.finish(&mut response, &snapshot, request_id);
        if head_only {
            let length = hyper::body::Body::size_hint(response.body()).exact();
            *response.body_mut() = Answer::whole(Default::default());
            if let Some(length) = length {
                response
                    .headers_mut()
                    .insert(header::CONTENT_LENGTH, HeaderValue::from(length));
            }
        }
        let took = started.elapsed();
        let status = response.status().as_u16();
        self.host.metrics.request(route, status, took);
        let (error, hint) = match notes.error.get() {
            Some((error, hint)) => {
                self.host.metrics.refusal(error);
                (Some(*error), Some(hint.as_str()))
            }
            None => (None, None),
        };
        if let Some(trace) = trace {
            traced::finish(trace, &method, route, status, &notes);
        }
        // One line each. What went well is for whoever asks (`signet::request=debug`): at full
        // speed, writing such a line costs more than answering.
        macro_rules! line {
            ($level:ident) => {
                tracing::$level!(
                    target: "signet::request",
                    %request_id,
                    method = method.as_str(),
                    route,
                    status,
                    micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
                    %peer,
                    client_id = notes.client_id.get().map(String::as_str),
                    error,
                    hint,
                    "answered the request"
                )
            };
        }
        match status {
            ..400 => line!(debug),
            400..500 => line!(info),
            _ => line!(warn),
        }
        response
    }

    /// The places of what there is of realms now.
    fn places(&self) -> Guard<Arc<Places>> {
        let places = self.places.load();
        if self.realms.is_current(places.table()) {
            return places;
        }
        let next = places.next(self.realms.first(), self.realms.table());
        self.places.store(Arc::new(next));
        self.places.load()
    }

    /// The one place that looks at more than one realm. Where none has the path, the first one
    /// answers that; and for one that is not open, why.
    async fn route(
        &self,
        head: &request::Parts,
    ) -> (Arc<Realm>, Option<Range<usize>>, Option<NotOpen>) {
        let first = self.realms.first();
        for _ in 0..MAX_LOOKS {
            let (slot, below) = {
                let places = self.places();
                match places.find(&head.uri, &head.headers) {
                    None => return (Arc::clone(first), None, None),
                    Some((Place::Realm { realm, .. }, below)) => {
                        return (Arc::clone(realm), Some(below), None);
                    }
                    Some((Place::Slot(slot), below)) => (Arc::clone(slot), below),
                }
            };
            match self.realms.open(&slot).await {
                Ok(realm) => return (realm, Some(below), None),
                Err(NotOpen::Changed) => {}
                Err(why) => return (Arc::clone(first), None, Some(why)),
            }
        }
        (Arc::clone(first), None, Some(NotOpen::Changed))
    }

    async fn dispatch(
        &self,
        arrived: Arrived<'_>,
        head: request::Parts,
        body: Body,
    ) -> (Response, &'static str) {
        let Arrived {
            connection,
            realm,
            below,
            not_open,
            snapshot,
            request_id,
            peer,
            notes,
        } = arrived;
        if let Some(why) = not_open {
            let body = match why {
                NotOpen::Suspended => SUSPENDED,
                NotOpen::Changed | NotOpen::Failed => NOT_OPEN,
            };
            let response = response::json(StatusCode::SERVICE_UNAVAILABLE, body);
            return (response, "other");
        }
        let target = head.uri.path_and_query().map_or(0, |t| t.as_str().len());
        if target > self.limits.url_bytes {
            let response = response::text(StatusCode::URI_TOO_LONG, "the URL is too long\n");
            return (response, "other");
        }
        let mtls = connection.listener_kind == ListenerKind::Mtls;
        // The issuer's own address, where it has a path: there is nothing below it.
        let path = below.map(|below| match &head.uri.path()[below] {
            "" => "/",
            path => path,
        });
        let found = path.and_then(|path| self.router.find(path));
        let found = found.filter(|(route, _)| route.facts.mtls || !mtls);
        let (handler, params, path, cors, always) = match found {
            Some((route, params)) => {
                let cors = route.facts.cors;
                if head.method == Method::OPTIONS {
                    let mut response = response::empty(StatusCode::NO_CONTENT);
                    let allow = route.allow();
                    cors::preflight(&mut response, cors, &head.headers, &snapshot, &allow);
                    allow_header(&mut response, &allow);
                    return (response, route.path);
                }
                let Some(handler) = route.handler(&head.method) else {
                    let mut response =
                        response::text(StatusCode::METHOD_NOT_ALLOWED, "method not allowed\n");
                    allow_header(&mut response, &route.allow());
                    return (response, route.path);
                };
                (handler, params, route.path, cors, route.facts.always)
            }
            // No browser is sent to where certificates are asked for, so it has no pages.
            None => match self.router.fallback().filter(|_| !mtls) {
                Some(handler) => (handler, Vec::new(), "other", Cors::No, false),
                None => {
                    let response = response::text(StatusCode::NOT_FOUND, "not found\n");
                    return (response, "other");
                }
            },
        };
        // What a removed node knows counts no more, whatever is asked: a balancer looks elsewhere.
        if realm.is_removed() && !always {
            return (
                response::json(StatusCode::SERVICE_UNAVAILABLE, REMOVED),
                path,
            );
        }
        let policy = &self.host.policy;
        let certificate = match &connection.certificate {
            Some(certificate) => Some(certificate.clone()),
            None => proxy::client_certificate(connection, &head.headers, policy).map(Arc::new),
        };
        let origin = head.headers.get(header::ORIGIN).cloned();
        let now_ms = self.host.now_ms();
        let context = Context {
            issue_ms: realm.issue_ms_at(now_ms),
            listener_kind: listener_kind(connection, &head, &realm, &snapshot),
            realm,
            request_id,
            now_ms,
            peer,
            method: if head.method == Method::HEAD {
                Method::GET
            } else {
                head.method
            },
            uri: head.uri,
            headers: head.headers,
            certificate,
            body,
            body_limit: self.limits.body_bytes,
            body_timeout: self.limits.body,
            params,
            route: path,
            log: notes,
            snapshot: snapshot.clone(),
        };
        trace::note(Attribute::Realm, || snapshot.settings.issuer.to_string());
        let mut response = handler(context).await;
        let mut origin_only = http::HeaderMap::new();
        if let Some(origin) = origin {
            origin_only.insert(header::ORIGIN, origin);
        }
        cors::mark(&mut response, cors, &origin_only, &snapshot);
        (response, path)
    }

    /// What every answer carries.
    fn finish(&self, response: &mut Response, snapshot: &Snapshot, request_id: RequestId) {
        let headers = response.headers_mut();
        if let Ok(id) = HeaderValue::from_bytes(request_id.as_str().as_bytes()) {
            headers.insert("x-request-id", id);
        }
        headers.insert(
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        );
        headers
            .entry(header::REFERRER_POLICY)
            .or_insert(HeaderValue::from_static("no-referrer"));
        // RFC 6749 section 5.1; a handler whose answer may be cached says so itself.
        headers
            .entry(header::CACHE_CONTROL)
            .or_insert(HeaderValue::from_static("no-store"));
        if snapshot.strict_transport {
            headers.insert(
                header::STRICT_TRANSPORT_SECURITY,
                HeaderValue::from_static("max-age=31536000"),
            );
        }
        let is_page = headers
            .get(header::CONTENT_TYPE)
            .is_some_and(|t| t.as_bytes().starts_with(b"text/html"));
        if is_page {
            let policy =
                headers
                    .entry(header::CONTENT_SECURITY_POLICY)
                    .or_insert(HeaderValue::from_static(
                        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
                    ));
            // The one page for frames has no other way to say so than to be without this header.
            if policy != CHECK_SESSION_POLICY {
                headers
                    .entry(header::X_FRAME_OPTIONS)
                    .or_insert(HeaderValue::from_static("DENY"));
            }
        }
    }
}

fn allow_header(response: &mut Response, allow: &str) {
    if let Ok(allow) = HeaderValue::from_str(allow) {
        response.headers_mut().insert(header::ALLOW, allow);
    }
}

/// Behind a proxy, the name that was asked for tells whether it came through the mTLS
/// listener.
fn listener_kind(
    connection: &Connection,
    head: &request::Parts,
    realm: &Realm,
    snapshot: &Snapshot,
) -> ListenerKind {
    if connection.listener_kind == ListenerKind::Mtls
        || !realm
            .host
            .policy
            .may_hand_over_certificates(connection, &head.headers)
    {
        return connection.listener_kind;
    }
    let asked = asked_name(&head.uri, &head.headers);
    let mtls = snapshot.settings.mtls_base.as_deref().and_then(name_of);
    match (asked, mtls) {
        (Some(asked), Some(mtls)) if asked == mtls => ListenerKind::Mtls,
        _ => ListenerKind::Public,
    }
}
