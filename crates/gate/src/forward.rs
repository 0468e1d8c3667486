//! Forward-auth: a reverse proxy asks about each request before it passes it on.
//!
//! | proxy | path | how it says what the request was |
//! |---|---|---|
//! | NGINX `auth_request` | `/auth/nginx` | `X-Original-Method`, `X-Original-URL` (scheme, host, path), set in the location |
//! | Traefik `forwardAuth`, Caddy `forward_auth` | `/auth/traefik`, `/auth/caddy` | `X-Forwarded-Method`, `-Proto`, `-Host`, `-Uri` |
//! | Envoy `ext_authz` (HTTP) | `/auth/envoy`, as `path_prefix` | the request itself: method, `Host`, the path behind the prefix |
//!
//! `?policy=NAME` and `?scope=S` narrow what is asked of a token, for the first two; they are part
//! of the proxy's configuration. Envoy appends the client's own path, so there the policy is named
//! in the prefix: `/auth/envoy@NAME`. What a proxy says about the request is accepted from callers
//! that [`crate::Proxies`] knows.
//!
//! Caddy's `uri /auth/caddy` keeps the query of the client's request; `uri /auth/caddy?` does not.
//! A query that is the request's own is refused as a fault of the configuration, for otherwise the
//! client would choose the policy.
use crate::{
    asked::{Asked, scopes},
    gate::Gate,
    header::single,
    session,
    setup::Setup,
};
use http::{HeaderMap, HeaderValue, StatusCode, header, request};
use signet_crypto::hash::sha256;
use signet_http::{Connection, Response, certificate::der_of_field, response};
use signet_oauth::params::Params;
use signet_verify::{Challenge, PolicyId, Presented, Proof, Refusal, Scheme};

pub(crate) async fn nginx(gate: &Gate, connection: &Connection, head: &request::Parts) -> Response {
    let setup = gate.setup.load();
    let headers = &head.headers;
    let Some(by_proxy) = caller(gate, &setup, connection, headers) else {
        return not_a_proxy();
    };
    let query = match Query::read(&setup, head) {
        Ok(query) => query,
        Err(why) => return misconfigured(gate, &why),
    };
    let said = (|| {
        let method = single(headers, "x-original-method")?.unwrap_or("GET");
        let url = single(headers, "x-original-url")?.map(str::to_owned);
        Ok::<_, Refusal>((method, url))
    })();
    let asked = said.map(|(method, url)| query.asked(by_proxy, method, url));
    let (policy, scope) = (query.policy, query.scope());
    let mut response = answer(gate, &setup, headers, policy, scope, asked).await;
    // auth_request understands 2xx, 401 and 403; anything else becomes a 500. Where a login is
    // offered, the location says where.
    if matches!(
        response.status(),
        StatusCode::BAD_REQUEST | StatusCode::FOUND
    ) {
        *response.status_mut() = StatusCode::UNAUTHORIZED;
    }
    response
}

pub(crate) async fn traefik(
    gate: &Gate,
    connection: &Connection,
    head: &request::Parts,
) -> Response {
    let setup = gate.setup.load();
    let headers = &head.headers;
    let Some(by_proxy) = caller(gate, &setup, connection, headers) else {
        return not_a_proxy();
    };
    let own = single(headers, "x-forwarded-uri").ok().flatten();
    let own = own
        .and_then(|uri| uri.split_once('?'))
        .map(|(_, query)| query);
    if own.is_some_and(|own| !own.is_empty() && head.uri.query() == Some(own)) {
        let why = "the query is that of the client's request: the path of the question ends with \"?\", or has a query of its own";
        return misconfigured(gate, why);
    }
    let query = match Query::read(&setup, head) {
        Ok(query) => query,
        Err(why) => return misconfigured(gate, &why),
    };
    let said = (|| {
        let part = |name| single(headers, name);
        let method = part("x-forwarded-method")?.unwrap_or("GET");
        let url = match (part("x-forwarded-proto")?, part("x-forwarded-host")?) {
            (Some(scheme), Some(host)) => {
                let path = part("x-forwarded-uri")?.unwrap_or("/");
                Some([scheme, "://", host, path].concat())
            }
            _ => None,
        };
        Ok::<_, Refusal>((method, url))
    })();
    let asked = said.map(|(method, url)| query.asked(by_proxy, method, url));
    let (policy, scope) = (query.policy, query.scope());
    answer(gate, &setup, headers, policy, scope, asked).await
}

pub(crate) async fn envoy(gate: &Gate, connection: &Connection, head: &request::Parts) -> Response {
    let setup = gate.setup.load();
    let headers = &head.headers;
    let Some(by_proxy) = caller(gate, &setup, connection, headers) else {
        return not_a_proxy();
    };
    let path = head.uri.path();
    let rest = path.strip_prefix("/auth/envoy").unwrap_or(path);
    let (policy, path) = match rest.strip_prefix('@') {
        Some(named) => {
            let (name, path) = named.split_at(named.find('/').unwrap_or(named.len()));
            match setup.verifier.policy(name) {
                Some(policy) => (policy, path),
                None => return misconfigured(gate, &unknown_policy(name)),
            }
        }
        None if rest.is_empty() || rest.starts_with('/') => (setup.verifier.default_policy(), rest),
        None => return response::text(StatusCode::NOT_FOUND, "not found\n"),
    };
    let said = (|| {
        let scheme = single(headers, "x-forwarded-proto")?.unwrap_or("http");
        let host = single(headers, "host")?;
        let (mark, query) = match head.uri.query() {
            Some(query) => ("?", query),
            None => ("", ""),
        };
        Ok::<_, Refusal>(host.map(|host| [scheme, "://", host, path, mark, query].concat()))
    })();
    let asked = said.map(|url| Asked {
        by_proxy,
        method: head.method.as_str(),
        url,
        policy,
        scope: None,
    });
    let mut response = answer(gate, &setup, headers, policy, None, asked).await;
    if response.status() == StatusCode::OK {
        remove_forged(&setup, &mut response);
    }
    response
}

/// Envoy appends or sets what it receives, and removes what is named here: a field that the token
/// has no claim for.
fn remove_forged(setup: &Setup, response: &mut Response) {
    let mut names = String::new();
    for name in setup.identity.names() {
        if response
            .headers()
            .get(name)
            .is_some_and(|value| value.is_empty())
        {
            if !names.is_empty() {
                names.push(',');
            }
            names.push_str(name.as_str());
        }
    }
    if let (false, Ok(names)) = (names.is_empty(), HeaderValue::from_str(&names)) {
        response
            .headers_mut()
            .insert("x-envoy-auth-headers-to-remove", names);
    }
}

struct Query {
    policy: PolicyId,
    params: Params,
}

impl Query {
    /// Says why not, where the proxy names a policy that is not there, anything else that is not
    /// known, or nothing where it should name something: a misspelt demand, or one whose variable
    /// is not set, must not pass for none.
    fn read(setup: &Setup, head: &request::Parts) -> Result<Query, String> {
        let query = head.uri.query().unwrap_or("");
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if value.is_empty() {
                return Err(format!("the parameter {} has no value", quoted(name)));
            }
        }
        let params =
            Params::parse(query.as_bytes()).map_err(|_| "the query cannot be read".to_owned())?;
        let known = |name: &str| matches!(name, "policy" | "scope");
        if let Some((name, _)) = params.iter().find(|(name, _)| !known(name)) {
            return Err(format!("there is no parameter {}", quoted(name)));
        }
        if params
            .get("scope")
            .is_some_and(|text| scopes(text).next().is_none())
        {
            return Err("the parameter \"scope\" names no scope".to_owned());
        }
        let policy = match params.get("policy") {
            Some(name) => setup
                .verifier
                .policy(name)
                .ok_or_else(|| unknown_policy(name))?,
            None => setup.verifier.default_policy(),
        };
        Ok(Query { policy, params })
    }

    fn scope(&self) -> Option<&str> {
        self.params.get("scope")
    }

    fn asked<'a>(&'a self, by_proxy: bool, method: &'a str, url: Option<String>) -> Asked<'a> {
        Asked {
            by_proxy,
            method,
            url,
            policy: self.policy,
            scope: self.scope(),
        }
    }
}

fn unknown_policy(name: &str) -> String {
    format!("there is no policy {}", quoted(name))
}

/// The beginning of a text that may be a client's, in quotes and escaped.
fn quoted(text: &str) -> String {
    format!("{:?}", text.chars().take(64).collect::<String>())
}

/// Whether the caller is a proxy. None for one that must be and is not.
fn caller(
    gate: &Gate,
    setup: &Setup,
    connection: &Connection,
    headers: &HeaderMap,
) -> Option<bool> {
    if !setup.proxies.are_configured() {
        return Some(false);
    }
    if setup.proxies.know(connection, headers) {
        return Some(true);
    }
    if gate.notices.unknown_caller.is_due(gate.clock.now()) {
        tracing::warn!(
            peer = %connection.peer,
            "refused a forward-auth caller: neither the secret nor a certificate of [proxy]"
        );
    }
    None
}

/// Decides about a request, and says so: by its token where it has an `Authorization` field, else
/// by its browser's session where there is a login.
async fn answer(
    gate: &Gate,
    setup: &Setup,
    headers: &HeaderMap,
    policy: PolicyId,
    scope: Option<&str>,
    asked: Result<Asked<'_>, Refusal>,
) -> Response {
    let outcome = match &asked {
        Ok(asked) => {
            let has_token = headers.contains_key(header::AUTHORIZATION);
            let by_session = match &setup.login {
                Some(login) if !has_token => session::answer(gate, setup, login, headers, asked),
                Some(_) | None => Ok(None),
            };
            match by_session {
                Ok(Some(response)) => return response,
                Ok(None) => decide(gate, setup, headers, asked).await,
                Err(refusal) => Err(refusal),
            }
        }
        Err(refusal) => Err(*refusal),
    };
    finish(gate, setup, policy, scope, outcome)
}

type Outcome = Result<signet_verify::Verified, (Refusal, Option<Scheme>)>;

async fn decide(
    gate: &Gate,
    setup: &Setup,
    headers: &HeaderMap,
    asked: &Asked<'_>,
) -> Result<Outcome, Refusal> {
    let value = single(headers, "authorization")?.ok_or(Refusal::NoToken)?;
    let mut presented = Presented::authorization(value)?;
    let scheme = presented.authorization_scheme();
    let proof = single(headers, "dpop")?;
    if let (true, Some(jwt), Some(url)) = (asked.by_proxy, proof, &asked.url) {
        presented = presented.proof(Proof {
            jwt,
            method: asked.method,
            url,
        });
    }
    if let (true, Some(name)) = (asked.by_proxy, &setup.certificate_header)
        && let Some(text) = single(headers, name)?.filter(|text| !text.is_empty())
    {
        let der = der_of_field(text).ok_or(Refusal::Certificate)?;
        presented = presented.certificate(sha256(&der));
    }
    let outcome = gate.decide(setup, asked.policy, &presented).await;
    let unproven = matches!(
        outcome,
        Err(Refusal::ProofMissing | Refusal::CertificateMissing)
    );
    if unproven && !asked.by_proxy && gate.notices.unproven_request.is_due(gate.clock.now()) {
        tracing::warn!(
            "refused a sender-constrained token: forwarded requests and certificates are trusted only with [proxy] in the configuration"
        );
    }
    let outcome = outcome.and_then(|verified| {
        for scope in scopes(asked.scope.unwrap_or("")) {
            if let Err(refusal) = verified.require_scope(scope) {
                setup.verifier.counters().refuse(refusal);
                return Err(refusal);
            }
        }
        Ok(verified)
    });
    Ok(outcome.map_err(|refusal| (refusal, scheme)))
}

fn finish(
    gate: &Gate,
    setup: &Setup,
    policy: PolicyId,
    scope: Option<&str>,
    outcome: Result<Outcome, Refusal>,
) -> Response {
    let (refusal, scheme) = match outcome {
        Ok(Ok(verified)) => {
            let mut response = response::empty(StatusCode::OK);
            setup
                .identity
                .write(verified.claims(), response.headers_mut());
            return response;
        }
        Ok(Err(refused)) => refused,
        // The verifier never saw it.
        Err(refusal) => {
            setup.verifier.counters().refuse(refusal);
            (refusal, None)
        }
    };
    // Who shows no token has not logged in yet: that is every first request of a browser.
    if !matches!(refusal, Refusal::NoToken) {
        tracing::info!(%refusal, "refused a request");
    }
    let mut challenge = Challenge::new(setup.verifier.rules(policy), refusal, scheme);
    if let Some(scope) = scope {
        challenge = challenge.scope(scope);
    }
    let status = StatusCode::from_u16(challenge.status()).unwrap_or(StatusCode::UNAUTHORIZED);
    let mut response = response::empty(status);
    if let Some(value) = challenge.header()
        && let Ok(value) = HeaderValue::from_str(&value)
    {
        response
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, value);
    }
    gate.hand_nonce(setup, refusal, &mut response);
    response
}

/// The proxy's configuration is at fault. Its client learns nothing more; the log does, once a
/// minute.
fn misconfigured(gate: &Gate, why: &str) -> Response {
    if gate.notices.misconfigured.is_due(gate.clock.now()) {
        tracing::warn!(why, "failed to answer a proxy: misconfigured proxy");
    }
    response::text(
        StatusCode::INTERNAL_SERVER_ERROR,
        format!("the proxy's question cannot be answered: {why}\n"),
    )
}

fn not_a_proxy() -> Response {
    response::text(
        StatusCode::FORBIDDEN,
        "the caller is not a proxy of this service\n",
    )
}
