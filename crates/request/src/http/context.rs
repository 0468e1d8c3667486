//! One request, as a handler sees it.
use super::authority::{asked_name, name_of};
use bytes::Bytes;
use http::{HeaderMap, Method, Uri, header};
use signet_audit::{Action, Event};
use signet_encoding::base64url;
use signet_http::{Body, BodyError, ListenerKind, PresentedCertificate, RequestId};
use signet_oauth::{
    client::GrantType,
    endpoint::{EndpointId, split_issuer},
    error::OAuthError,
    params::Params,
};
use signet_realm::state::{Realm, Snapshot};
use signet_telemetry::trace;
use std::{
    borrow::Cow,
    net::IpAddr,
    pin::pin,
    sync::{Arc, OnceLock},
    time::Duration,
};

/// One request. Handlers own it.
pub struct Context {
    /// The application.
    pub realm: Arc<Realm>,
    /// The registry, keys and settings that this request works with.
    pub snapshot: Arc<Snapshot>,
    /// Names the request in log and answer.
    pub request_id: RequestId,
    /// When it came in, Unix milliseconds.
    pub now_ms: u64,
    /// The moment that what it has issued bears, Unix milliseconds: [`Realm::issue_ms`] when it
    /// came in. What is revoked while it is served is not outlived by what it has issued.
    pub issue_ms: u64,
    /// The peer's address: the socket's, or what a trusted proxy says.
    pub peer: IpAddr,
    /// The listener.
    pub listener_kind: ListenerKind,
    /// The method; `HEAD` is handed on as `GET`.
    pub method: Method,
    /// The target, as sent.
    pub uri: Uri,
    /// All headers.
    pub headers: HeaderMap,
    /// The client's certificate, if there is one.
    pub certificate: Option<Arc<PresentedCertificate>>,
    pub(crate) body: Body,
    /// Bytes; more is refused with 413.
    pub body_limit: usize,
    pub(crate) body_timeout: Duration,
    /// Segments of the path that the route names.
    pub params: Vec<(&'static str, String)>,
    pub(crate) route: &'static str,
    /// For the log: who it turned out to be, and a private hint.
    pub log: Arc<LogNotes>,
}

/// What a handler adds to the request's log line. Each is written once: the first word counts.
#[derive(Default, Debug)]
pub struct LogNotes {
    /// The client that authenticated.
    pub client_id: OnceLock<String>,
    /// the grant that an authenticated client may use, and whether it is a public one
    pub(crate) grant: OnceLock<(GrantType, bool)>,
    /// the error's code and its private half
    pub(crate) error: OnceLock<(&'static str, String)>,
}

/// What [`Context::made`] has of its own.
#[derive(Debug)]
pub struct Made {
    /// The method.
    pub method: Method,
    /// Path and query.
    pub uri: Uri,
    /// All headers.
    pub headers: HeaderMap,
    /// Segments of the path.
    pub params: Vec<(&'static str, String)>,
    /// The body.
    pub body: Bytes,
}

impl Context {
    /// The same request, as another realm of the process sees it, without its body: to ask whether
    /// it comes from somebody whom that realm knows.
    pub fn seen_by(&self, realm: &Arc<Realm>) -> Context {
        Context {
            realm: Arc::clone(realm),
            snapshot: realm.snapshot(),
            request_id: self.request_id,
            now_ms: self.now_ms,
            issue_ms: realm.issue_ms_at(self.now_ms),
            peer: self.peer,
            listener_kind: self.listener_kind,
            method: self.method.clone(),
            uri: self.uri.clone(),
            headers: self.headers.clone(),
            certificate: self.certificate.clone(),
            body: Body::default(),
            body_limit: self.body_limit,
            body_timeout: self.body_timeout,
            params: self.params.clone(),
            route: self.route,
            log: Arc::clone(&self.log),
        }
    }

    /// A request that a page of this server makes in this one's place: the same caller at the same
    /// time, with what an operation reads of its own. Cookies and tokens stay behind: who calls is
    /// known to whoever makes it.
    pub fn made(&self, made: Made) -> Context {
        Context {
            method: made.method,
            uri: made.uri,
            headers: made.headers,
            certificate: None,
            body: Body::from(made.body),
            params: made.params,
            ..self.seen_by(&self.realm)
        }
    }

    /// Unix seconds at which the request came in.
    pub fn now(&self) -> u64 {
        self.now_ms / 1000
    }

    /// A line of the audit trail that this request leads to.
    pub fn event(&self, action: Action) -> Event<'_> {
        Event::new(action, self.now_ms)
            .request(self.request_id.as_str())
            .address(self.peer)
    }

    /// Whether people can make accounts of their own here.
    pub fn offers_sign_up(&self) -> bool {
        let settings = &self.snapshot.settings;
        settings.sign_up.enabled && settings.local_login && self.realm.people.mailer.is_some()
    }

    /// The path below the issuer's own path, as routed (`/token`).
    pub fn route(&self) -> &'static str {
        self.route
    }

    /// The raw query, without `?`; empty if the request has none.
    pub fn query(&self) -> &str {
        self.uri.query().unwrap_or("")
    }

    /// The query as parameters, strictly.
    pub fn query_params(&self) -> Result<Params, OAuthError> {
        Params::parse(self.query().as_bytes())
    }

    /// A header that must appear at most once: its text, `None` where it is missing, doubled or not
    /// visible ASCII.
    pub fn header(&self, name: impl header::AsHeaderName) -> Option<&str> {
        let mut values = self.headers.get_all(name).iter();
        let first = values.next()?;
        if values.next().is_some() {
            return None;
        }
        first.to_str().ok()
    }

    /// A cookie's value. A name that appears twice is as if missing: nobody may choose which one
    /// counts.
    pub fn cookie(&self, name: &str) -> Option<&str> {
        let mut found = None;
        for line in self.headers.get_all(header::COOKIE) {
            for pair in line.to_str().ok()?.split(';') {
                if let Some((key, value)) = pair.trim().split_once('=')
                    && key == name
                {
                    if found.is_some() {
                        return None;
                    }
                    found = Some(value);
                }
            }
        }
        found
    }

    /// A segment that the route names in braces: `/register/{client_id}`.
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params
            .iter()
            .find(|(n, _)| *n == name)
            .map(|(_, v)| v.as_str())
    }

    /// The URL of an endpoint as the caller names it: at the mTLS listener its alias, else
    /// under the issuer, or under this node's own name where the proof is for that. What a DPoP
    /// proof has as `htu`; `dpop` is the proof, not yet verified.
    pub fn endpoint_url(&self, id: EndpointId, dpop: &str) -> String {
        let settings = &self.snapshot.settings;
        let public = || {
            let own = settings.node_url(id).filter(|own| is_for(dpop, own));
            own.unwrap_or_else(|| settings.url(id))
        };
        match self.listener_kind {
            ListenerKind::Mtls => settings.mtls_url(id).unwrap_or_else(public),
            ListenerKind::Public => public(),
        }
    }

    /// The URL of this request as the caller names it, as [`Context::endpoint_url`]: for what has
    /// no row in the table of endpoints.
    pub fn request_url(&self, dpop: &str) -> String {
        let settings = &self.snapshot.settings;
        // The whole path as it was sent: it begins with the issuer's own.
        let under = |base: &str| format!("{}{}", split_issuer(base).0, self.uri.path());
        let own = settings.node_base.as_deref().map(under);
        own.filter(|own| is_for(dpop, own))
            .unwrap_or_else(|| under(&settings.issuer))
    }

    /// The issuer under the name that the caller asked for: this node's own, where it was that.
    /// What one page of ours says of where another is, so that a browser stays on its node.
    pub fn base(&self) -> Cow<'_, str> {
        let settings = &self.snapshot.settings;
        let asked = || asked_name(&self.uri, &self.headers);
        match &settings.node_base {
            Some(own) if asked().is_some_and(|asked| name_of(own) == Some(asked)) => {
                settings.node_issuer().unwrap_or_default().into()
            }
            Some(_) | None => (&*settings.issuer).into(),
        }
    }

    /// The body, at most as long as the server's limit, in the server's time. Reads once; then it
    /// is empty.
    pub async fn body(&mut self) -> Result<Bytes, BodyError> {
        let body = std::mem::take(&mut self.body);
        let read = pin!(body.read(self.body_limit, self.body_timeout));
        trace::step("read the body", read).await
    }

    /// A form body (`application/x-www-form-urlencoded`), strictly parsed. Parameters in the query
    /// are never mixed in.
    pub async fn form(&mut self) -> Result<Params, FormError> {
        if !self.content_type_is("application/x-www-form-urlencoded") {
            return Err(FormError::Body(BodyError::MediaType));
        }
        let body = self.body().await.map_err(FormError::Body)?;
        Params::parse(&body).map_err(FormError::Params)
    }

    /// Compares the media type, without its parameters (`charset`), case-insensitively.
    pub fn content_type_is(&self, expected: &str) -> bool {
        self.header(header::CONTENT_TYPE).is_some_and(|value| {
            let media = value.split(';').next().unwrap_or("").trim();
            media.eq_ignore_ascii_case(expected)
        })
    }

    /// Adds who the request is from to its log line.
    pub fn note_client(&self, client_id: &str) {
        let _ = self.log.client_id.set(client_id.to_owned());
    }

    /// Who the request is from, as far as it is noted.
    pub fn noted_client(&self) -> Option<&str> {
        self.log.client_id.get().map(String::as_str)
    }

    /// Says which grant an authenticated client may use and uses, and whether it is a public one.
    pub fn note_grant(&self, grant: GrantType, public: bool) {
        let _ = self.log.grant.set((grant, public));
    }

    /// What [`Context::note_grant`] said.
    pub fn noted_grant(&self) -> Option<(GrantType, bool)> {
        self.log.grant.get().copied()
    }

    /// Adds an error, with its private half, to the log line.
    pub fn note_error(&self, error: &OAuthError) {
        let hint = error.hint.as_deref().unwrap_or(error.description);
        let _ = self.log.error.set((error.code.as_str(), hint.to_owned()));
    }
}

/// Whether a DPoP proof, which is not yet verified, says that it is for this URL. It only chooses
/// which of this server's own names the proof is then verified for.
fn is_for(dpop: &str, url: &str) -> bool {
    let payload = dpop.split('.').nth(1).unwrap_or_default();
    let payload = base64url::decode(payload.as_bytes()).unwrap_or_default();
    let claims: Option<serde_json::Value> = serde_json::from_slice(&payload).ok();
    let htu = claims.as_ref().and_then(|claims| claims["htu"].as_str());
    // RFC 9449 section 4.3: without query and fragment.
    let plain = htu.and_then(|htu| htu.split(['?', '#']).next());
    plain == Some(url)
}

/// Why a form could not be read.
#[derive(Clone, Debug)]
pub enum FormError {
    /// The body.
    Body(BodyError),
    /// The parameters in it.
    Params(OAuthError),
}

impl From<FormError> for OAuthError {
    fn from(error: FormError) -> OAuthError {
        match error {
            FormError::Body(BodyError::MediaType) => OAuthError::invalid_request(
                "the body must be a form: content type application/x-www-form-urlencoded",
            ),
            FormError::Body(error) => OAuthError::invalid_request(error.description()),
            FormError::Params(error) => error,
        }
    }
}

/// The path of a base URL, without a slash at its end: empty for `https://host`.
pub fn path_of(base: &str) -> &str {
    let after_scheme = base.split_once("://").map_or(base, |(_, rest)| rest);
    after_scheme
        .find('/')
        .map_or("", |at| after_scheme[at..].trim_end_matches('/'))
}
