//! `/validate`: for applications that ask about a token themselves.
//!
//! One token: `{"token": "..."}` as JSON, `token=...` as a form, or an `Authorization` header
//! field. Further members: `policy`, and what the caller knows of its own request: `proof`,
//! `method`, `url` (DPoP), `certificate` (SHA-256, base64url), `nonce`, `access_token`, `code`,
//! `scheme`. The answer is 200 with the claims, or the status of the refusal with its reason. A
//! batch always answers 200.
use crate::{gate::Gate, header::single, setup::Setup};
use http::{HeaderValue, StatusCode, header, request};
use signet_encoding::{
    base64url,
    json::{JsonError, Limits, Reader, Writer},
};
use signet_http::{Response, response};
use signet_oauth::params::Params;
use signet_verify::{
    Answer, Challenge, Form, PolicyId, Presented, Proof, Refusal, Scheme, Verified,
};
use std::borrow::Cow;

/// Most tokens of one batch.
const MAX_BATCH: usize = 256;
/// After so many tokens of a batch others have a turn.
const TURN: usize = 8;

const LIMITS: Limits = Limits {
    bytes: 1 << 20,
    depth: 3,
    members: 2 * MAX_BATCH + 32,
};

/// What a caller may say. All of it is the caller's word.
#[derive(Default)]
struct Asked<'a> {
    token: Cow<'a, str>,
    tokens: Vec<Cow<'a, str>>,
    policy: Option<Cow<'a, str>>,
    scheme: Option<Scheme>,
    proof: Option<Cow<'a, str>>,
    method: Option<Cow<'a, str>>,
    url: Option<Cow<'a, str>>,
    certificate: Option<[u8; 32]>,
    nonce: Option<Cow<'a, str>>,
    access_token: Option<Cow<'a, str>>,
    code: Option<Cow<'a, str>>,
}

impl<'a> Asked<'a> {
    fn json(body: &'a [u8]) -> Result<Asked<'a>, JsonError> {
        let mut asked = Asked::default();
        let mut reader = Reader::new(body, &LIMITS)?;
        reader.object(|r, name| -> Result<(), JsonError> {
            match &*name {
                "token" => asked.token = r.string()?,
                "tokens" => asked.tokens = r.strings()?,
                other => {
                    let value = r.string()?;
                    asked.member(other, value).ok_or(JsonError::Type)?;
                }
            }
            Ok(())
        })?;
        reader.finish()?;
        Ok(asked)
    }

    fn form(params: &'a Params) -> Option<Asked<'a>> {
        let mut asked = Asked::default();
        for (name, value) in params.iter() {
            match name {
                "token" => asked.token = value.into(),
                other => asked.member(other, value.into())?,
            }
        }
        Some(asked)
    }

    /// None for a member that is not known: a misspelt demand must not pass for none.
    fn member(&mut self, name: &str, value: Cow<'a, str>) -> Option<()> {
        let slot = match name {
            "policy" => &mut self.policy,
            "proof" => &mut self.proof,
            "method" => &mut self.method,
            "url" => &mut self.url,
            "nonce" => &mut self.nonce,
            "access_token" => &mut self.access_token,
            "code" => &mut self.code,
            "scheme" => {
                self.scheme = Some(Scheme::from_name(&value)?);
                return Some(());
            }
            "certificate" => {
                self.certificate = Some(base64url::decode_array(value.as_bytes()).ok()?);
                return Some(());
            }
            _ => return None,
        };
        *slot = Some(value);
        Some(())
    }

    fn policy(&self, setup: &Setup) -> Option<PolicyId> {
        match &self.policy {
            Some(name) => setup.verifier.policy(name),
            None => Some(setup.verifier.default_policy()),
        }
    }

    fn presented<'p>(&'p self, token: &'p str) -> Presented<'p> {
        let mut presented = Presented::token(token);
        if let Some(scheme) = self.scheme {
            presented = presented.scheme(scheme);
        }
        if let (Some(jwt), Some(method), Some(url)) = (&self.proof, &self.method, &self.url) {
            presented = presented.proof(Proof { jwt, method, url });
        }
        if let Some(certificate) = self.certificate {
            presented = presented.certificate(certificate);
        }
        if let Some(nonce) = &self.nonce {
            presented = presented.nonce(nonce);
        }
        if let Some(access_token) = &self.access_token {
            presented = presented.access_token(access_token);
        }
        if let Some(code) = &self.code {
            presented = presented.code(code);
        }
        presented
    }
}

fn is_form(head: &request::Parts) -> bool {
    let content_type = head.headers.get(header::CONTENT_TYPE);
    content_type.is_some_and(|value| {
        value
            .as_bytes()
            .get(..33)
            .is_some_and(|start| start.eq_ignore_ascii_case(b"application/x-www-form-urlencoded"))
    })
}

pub(crate) async fn one(gate: &Gate, head: &request::Parts, body: &[u8]) -> Response {
    let setup = gate.setup.load();
    if body.is_empty() {
        return authorization(gate, &setup, head).await;
    }
    let params;
    let asked = if is_form(head) {
        match Params::parse(body) {
            Ok(read) => params = read,
            Err(_) => return bad_request(),
        }
        Asked::form(&params)
    } else {
        Asked::json(body).ok()
    };
    let Some(asked) = asked.filter(|asked| asked.tokens.is_empty()) else {
        return bad_request();
    };
    let Some(policy) = asked.policy(&setup) else {
        return unknown_policy();
    };
    let outcome = gate
        .decide(&setup, policy, &asked.presented(&asked.token))
        .await;
    answer(gate, &setup, policy, &outcome, asked.scheme)
}

async fn authorization(gate: &Gate, setup: &Setup, head: &request::Parts) -> Response {
    let policy = setup.verifier.default_policy();
    let presented = single(&head.headers, "authorization")
        .and_then(|value| Presented::authorization(value.ok_or(Refusal::NoToken)?));
    let outcome = match presented {
        Ok(presented) => gate.decide(setup, policy, &presented).await,
        Err(refusal) => {
            setup.verifier.counters().refuse(refusal);
            Err(refusal)
        }
    };
    answer(gate, setup, policy, &outcome, None)
}

pub(crate) async fn batch(gate: &Gate, head: &request::Parts, body: &[u8]) -> Response {
    let setup = gate.setup();
    if is_form(head) {
        return bad_request();
    }
    let Ok(asked) = Asked::json(body) else {
        return bad_request();
    };
    if !asked.token.is_empty() || asked.tokens.len() > MAX_BATCH {
        return bad_request();
    }
    let Some(policy) = asked.policy(&setup) else {
        return unknown_policy();
    };
    let mut out = Vec::with_capacity(64 + asked.tokens.len() * 512);
    out.extend_from_slice(b"{\"results\":[");
    for (index, token) in asked.tokens.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let outcome = gate.decide(&setup, policy, &asked.presented(token)).await;
        write(&outcome, &mut out);
        if index % TURN == TURN - 1 {
            tokio::task::yield_now().await;
        }
    }
    out.extend_from_slice(b"]}");
    response::json(StatusCode::OK, out)
}

fn answer(
    gate: &Gate,
    setup: &Setup,
    policy: PolicyId,
    outcome: &Result<Verified, Refusal>,
    scheme: Option<Scheme>,
) -> Response {
    let length = outcome
        .as_ref()
        .map_or(160, |v| v.claims().json().len() + 96);
    let mut out = Vec::with_capacity(length);
    write(outcome, &mut out);
    let Err(refusal) = outcome else {
        return response::json(StatusCode::OK, out);
    };
    let challenge = Challenge::new(setup.verifier.rules(policy), *refusal, scheme);
    let status = StatusCode::from_u16(challenge.status()).unwrap_or(StatusCode::UNAUTHORIZED);
    let mut response = response::json(status, out);
    if let Some(value) = challenge.header()
        && let Ok(value) = HeaderValue::from_str(&value)
    {
        response
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, value);
    }
    gate.hand_nonce(setup, *refusal, &mut response);
    response
}

fn write(outcome: &Result<Verified, Refusal>, out: &mut Vec<u8>) {
    Writer::new(out).object(|w| match outcome {
        Ok(verified) => {
            w.member("valid").bool(true);
            w.member("alg").string(match verified.form() {
                Form::Jwt(algorithm) => algorithm.name(),
                Form::Compact(algorithm) => algorithm.name(),
                Form::Introspected => "introspected",
                _ => "",
            });
            // Strict JSON, checked when it was read.
            w.member("claims").raw(verified.claims().json().as_bytes());
        }
        Err(refusal) => {
            w.member("valid").bool(false);
            let error = match refusal.answer() {
                Answer::Unauthenticated => "invalid_token",
                answer => answer.error().unwrap_or("invalid_token"),
            };
            w.member("error").string(error);
            w.member("reason").string(refusal.code());
            w.member("error_description").string(refusal.describe());
        }
    });
}

fn bad_request() -> Response {
    response::json(
        StatusCode::BAD_REQUEST,
        &br#"{"error":"invalid_request","error_description":"expected {\"token\": \"...\"}, a form with token, or an Authorization header"}"#[..],
    )
}

fn unknown_policy() -> Response {
    response::json(
        StatusCode::BAD_REQUEST,
        &br#"{"error":"invalid_request","error_description":"there is no such policy"}"#[..],
    )
}
