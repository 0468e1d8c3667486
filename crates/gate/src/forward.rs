//! Forward-auth: a reverse proxy asks about each request before it passes it on.
//!
//! | proxy | path | how it says what the request was |
//! |---|---|---|
//! | NGINX `auth_request` | `/auth/nginx` | `X-Original-Method`, `X-Original-URL` (scheme, host, path), set in the location |
//! | Traefik `forwardAuth` | `/auth/traefik` | `X-Forwarded-Method`, `-Proto`, `-Host`, `-Uri` |
//! | Envoy `ext_authz` (HTTP) | `/auth/envoy`, as `path_prefix` | the request itself: method, `Host`, the path behind the prefix |
//!
//! `?policy=NAME` and `?scope=S` narrow what is asked of a token, for the first two; they are part of the proxy's configuration. Envoy appends
//! the client's own path, so there the policy is named in the prefix: `/auth/envoy@NAME`.
use crate::{gate::Gate, header::single, setup::Setup};
use http::{HeaderMap, HeaderValue, StatusCode, header, request};
use signet_crypto::hash::sha256;
use signet_http::{Response, certificate::der_of_field, response};
use signet_oauth::params::Params;
use signet_verify::{Challenge, PolicyId, Presented, Proof, Refusal, Scheme};

/// The request that the proxy asks about.
struct Asked<'a> {
    method: &'a str,
    url: Option<String>,
    policy: PolicyId,
    scope: Option<&'a str>,
}

pub(crate) async fn nginx(gate: &Gate, head: &request::Parts) -> Response {
    let setup = gate.setup.load();
    let Some(query) = Query::read(&setup, head) else {
        return misconfigured();
    };
    let headers = &head.headers;
    let said = (|| {
        let method = single(headers, "x-original-method")?.unwrap_or("GET");
        let url = single(headers, "x-original-url")?.map(str::to_owned);
        Ok::<_, Refusal>((method, url))
    })();
    let outcome = match said {
        Ok((method, url)) => {
            let asked = query.asked(method, url);
            decide(gate, &setup, headers, &asked).await
        }
        Err(refusal) => Err(refusal),
    };
    let mut response = finish(gate, &setup, query.policy, query.scope(), outcome);
    // auth_request understands 2xx, 401 and 403; anything else becomes a 500.
    if response.status() == StatusCode::BAD_REQUEST {
        *response.status_mut() = StatusCode::UNAUTHORIZED;
    }
    response
}

pub(crate) async fn traefik(gate: &Gate, head: &request::Parts) -> Response {
    let setup = gate.setup.load();
    let Some(query) = Query::read(&setup, head) else {
        return misconfigured();
    };
    let headers = &head.headers;
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
    let outcome = match said {
        Ok((method, url)) => {
            let asked = query.asked(method, url);
            decide(gate, &setup, headers, &asked).await
        }
        Err(refusal) => Err(refusal),
    };
    finish(gate, &setup, query.policy, query.scope(), outcome)
}

pub(crate) async fn envoy(gate: &Gate, head: &request::Parts) -> Response {
    let setup = gate.setup.load();
    let path = head.uri.path();
    let rest = path.strip_prefix("/auth/envoy").unwrap_or(path);
    let (policy, path) = match rest.strip_prefix('@') {
        Some(named) => {
            let (name, path) = named.split_at(named.find('/').unwrap_or(named.len()));
            (setup.verifier.policy(name), path)
        }
        None if rest.is_empty() || rest.starts_with('/') => {
            (Some(setup.verifier.default_policy()), rest)
        }
        None => return response::text(StatusCode::NOT_FOUND, "there is nothing here\n"),
    };
    let Some(policy) = policy else {
        return misconfigured();
    };
    let headers = &head.headers;
    let said = (|| {
        let scheme = single(headers, "x-forwarded-proto")?.unwrap_or("http");
        let host = single(headers, "host")?;
        Ok::<_, Refusal>(host.map(|host| [scheme, "://", host, path].concat()))
    })();
    let outcome = match said {
        Ok(url) => {
            let asked = Asked {
                method: head.method.as_str(),
                url,
                policy,
                scope: None,
            };
            decide(gate, &setup, headers, &asked).await
        }
        Err(refusal) => Err(refusal),
    };
    let accepted = outcome.is_ok();
    let mut response = finish(gate, &setup, policy, None, outcome);
    if accepted {
        remove_forged(&setup, &mut response);
    }
    response
}

/// Envoy appends or sets what it is told, and removes what is named here: a field that the token has no claim for.
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
    /// None where the proxy names a policy that is not there, or anything else that is not known: a misspelt demand must not pass for none.
    fn read(setup: &Setup, head: &request::Parts) -> Option<Query> {
        let params = Params::parse(head.uri.query().unwrap_or("").as_bytes()).ok()?;
        if params
            .iter()
            .any(|(name, _)| !matches!(name, "policy" | "scope"))
        {
            return None;
        }
        let policy = match params.get("policy") {
            Some(name) => setup.verifier.policy(name)?,
            None => setup.verifier.default_policy(),
        };
        Some(Query { policy, params })
    }

    fn scope(&self) -> Option<&str> {
        self.params.get("scope")
    }

    fn asked<'a>(&'a self, method: &'a str, url: Option<String>) -> Asked<'a> {
        Asked {
            method,
            url,
            policy: self.policy,
            scope: self.scope(),
        }
    }
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
    if let (Some(jwt), Some(url)) = (single(headers, "dpop")?, &asked.url) {
        presented = presented.proof(Proof {
            jwt,
            method: asked.method,
            url,
        });
    }
    if let Some(name) = &setup.certificate_header
        && let Some(text) = single(headers, name)?.filter(|text| !text.is_empty())
    {
        let der = der_of_field(text).ok_or(Refusal::Certificate)?;
        presented = presented.certificate(sha256(&der));
    }
    let outcome = gate.decide(setup, asked.policy, &presented).await;
    let outcome = outcome.and_then(|verified| {
        for scope in asked
            .scope
            .unwrap_or("")
            .split(' ')
            .filter(|s| !s.is_empty())
        {
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

fn misconfigured() -> Response {
    response::text(
        StatusCode::INTERNAL_SERVER_ERROR,
        "the proxy asks for a policy or by a parameter that is not known here\n",
    )
}
