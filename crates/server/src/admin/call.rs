//! A call of the admin API: who it is from, what it says, and how it is answered.
use super::{
    operation::{IfMatch, Operation},
    problem::Problem,
    words,
};
use crate::{
    http::{Context, Response, response},
    once,
    revoked::Index,
    state::Realm,
};
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde::{Serialize, de::DeserializeOwned};
use signet_audit::{Action, Counted, Event};
use signet_http::BodyError;
use signet_oauth::{
    access_token::{AccessTokenFacts, TokenLookup, TokenState},
    decision::Once,
    dpop_policy::{Scheme, check_presentation, new_nonce},
    endpoint::split_issuer,
    params::Params,
    request::{self, PeerCertificate, Request},
    scope::ADMIN,
};
use std::sync::Arc;

/// Entries of a page, where the caller does not say.
const PAGE: usize = 50;
/// Most entries of a page.
const MAX_PAGE: usize = 500;

const DPOP: HeaderName = HeaderName::from_static("dpop");
const DPOP_NONCE: HeaderName = HeaderName::from_static("dpop-nonce");

/// An authorized call. Handlers own it.
pub(super) struct Call {
    pub(super) context: Context,
    /// Who calls: a user's id or a `client_id`, for the log.
    pub(super) caller: String,
    if_match: Option<u64>,
}

/// A page of a list: everything after `after`, at most `limit`.
pub(super) struct Page {
    pub(super) after: Option<String>,
    pub(super) limit: usize,
}

/// What a handler answers.
pub(super) struct Reply {
    status: StatusCode,
    body: Option<Vec<u8>>,
    revision: Option<u64>,
}

impl Reply {
    pub(super) fn json<T: Serialize>(status: StatusCode, value: &T) -> Result<Reply, Problem> {
        let body = serde_json::to_vec(value).map_err(|error| {
            tracing::error!(%error, "an answer of the admin API could not be written");
            Problem::unavailable()
        })?;
        Ok(Reply::encoded(status, body))
    }

    pub(super) fn encoded(status: StatusCode, body: Vec<u8>) -> Reply {
        Reply {
            status,
            body: Some(body),
            revision: None,
        }
    }

    pub(super) fn ok<T: Serialize>(value: &T) -> Result<Reply, Problem> {
        Reply::json(StatusCode::OK, value)
    }

    pub(super) fn done() -> Result<Reply, Problem> {
        Ok(Reply {
            status: StatusCode::NO_CONTENT,
            body: None,
            revision: None,
        })
    }

    /// The revision that `If-Match` names.
    pub(super) fn revision(mut self, revision: u64) -> Reply {
        self.revision = Some(revision);
        self
    }

    fn into_response(self) -> Response {
        let mut answer = match self.body {
            Some(body) => response::json(self.status, body),
            None => response::empty(self.status),
        };
        if let Some(revision) = self.revision
            && let Ok(tag) = HeaderValue::from_str(&format!("\"{revision}\""))
        {
            answer.headers_mut().insert(header::ETAG, tag);
        }
        answer
    }
}

/// Authorizes, hands the call to its row's handler, and answers.
pub(super) async fn run(operation: &'static Operation, context: Context) -> Response {
    let (request_id, now_ms) = (context.request_id, context.now_ms);
    // RFC 9449 section 8.2: who proves possession is told the next nonce, also with a refusal.
    let nonce = (context.headers.contains_key(DPOP)
        && context.snapshot.settings.dpop_nonce_required)
        .then(|| new_nonce(&context.realm.keyring(), context.now()))
        .flatten();
    let named: Vec<String> = context.params.iter().map(|(_, v)| v.clone()).collect();
    let answer = async {
        let audit = context.realm.audit().clone();
        let authorized = authorize(&context).await;
        let caller = authorized.inspect_err(|problem| {
            let event = Event::new(Action::ADMIN, now_ms).request(request_id.as_str());
            audit.record(event.operation(operation.id).refused(problem.code()));
        })?;
        let if_match = if_match(operation, &context)?;
        query_members(operation, &context)?;
        let call = Call {
            context,
            caller,
            if_match,
        };
        let caller = call.caller.clone();
        let target = target(&call.context);
        let handled = (operation.handler)(call);
        if operation.method == super::operation::Method::Get {
            let answer = handled.await;
            audit.count(Counted::AdminRead, &caller, answer.is_ok());
            return answer;
        }
        let event = Event::new(Action::ADMIN, now_ms).request(request_id.as_str());
        let event = event
            .subject(&caller)
            .operation(operation.id)
            .target(&target);
        let answer = audit.act(event, handled, Problem::code).await;
        if operation.method != super::operation::Method::Get {
            let result = answer.as_ref().map_or_else(Problem::code, |_| "done");
            tracing::info!(%request_id, operation = operation.id, caller, result, "administration");
        }
        answer
    };
    let mut answer = match answer.await {
        Ok(reply) => reply.into_response(),
        Err(problem) => problem.about(operation.path, &named).into_response(),
    };
    if let Some(Ok(nonce)) = nonce.map(HeaderValue::try_from) {
        answer.headers_mut().insert(DPOP_NONCE, nonce);
    }
    answer
}

/// What the path names, as it names it.
fn target(context: &Context) -> String {
    let values: Vec<&str> = context.params.iter().map(|(_, v)| v.as_str()).collect();
    values.join("/")
}

fn unauthorized(detail: &'static str) -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, "invalid_token", detail)
}

fn forbidden(detail: &'static str) -> Problem {
    Problem::new(StatusCode::FORBIDDEN, "insufficient_scope", detail)
}

/// A token of this server, alive, presented as it is bound, for this server, with the scope, and whose holder may still
/// have that scope now.
async fn authorize(context: &Context) -> Result<String, Problem> {
    let (facts, once) = check_token(context)?;
    if let Some(once) = once {
        // RFC 9449 section 11.1: a proof is used once.
        once::commit(&*context.realm.store, &[once], Vec::new(), context.now())
            .await
            .map_err(|error| match error {
                once::OnceError::Refused(_) => unauthorized("the DPoP proof was used before"),
                once::OnceError::Store(error) => error.into(),
            })?;
    }
    let settings = &context.snapshot.settings;
    let audience = settings
        .default_audience
        .as_ref()
        .unwrap_or(&settings.issuer);
    if !facts
        .audience
        .iter()
        .any(|aud| aud == &settings.issuer || aud == audience)
    {
        return Err(unauthorized("the access token is for another resource"));
    }
    if !facts.scope.contains(ADMIN) {
        return Err(forbidden("the access token has not the scope signet:admin"));
    }
    context.note_client(&facts.client_id);
    let client = context
        .snapshot
        .registry
        .client(&facts.client_id, context.now())
        .ok_or_else(|| unauthorized("the client of this token is gone or disabled"))?;
    match facts.user_id() {
        None if client.scope.contains(ADMIN) => Ok(facts.client_id.clone()),
        None => Err(forbidden("the client may no longer administer")),
        Some(user_id) => {
            let users = &context.realm.people.users;
            match users.by_id(user_id, context.now()).await? {
                Some(user) if user.enabled && user.admin => Ok(user.id),
                Some(user) if user.enabled => Err(forbidden("the user may no longer administer")),
                _ => Err(unauthorized("the user of this token is gone or disabled")),
            }
        }
    }
}

fn check_token(context: &Context) -> Result<(Arc<AccessTokenFacts>, Option<Once>), Problem> {
    let authorization = context
        .header(header::AUTHORIZATION)
        .ok_or_else(|| unauthorized("an access token with the scope signet:admin is needed"))?;
    let (scheme, token) = authorization.split_once(' ').unwrap_or((authorization, ""));
    let scheme = if scheme.eq_ignore_ascii_case("bearer") {
        Scheme::Bearer
    } else if scheme.eq_ignore_ascii_case("dpop") {
        Scheme::Dpop
    } else {
        return Err(unauthorized(
            "the Authorization header is not Bearer or DPoP",
        ));
    };
    let token = token.trim_start_matches(' ');
    let (keyring, index) = (context.realm.keyring(), Index(&context.realm.revocations));
    let rules = request::Context {
        registry: &context.snapshot.registry,
        settings: &context.snapshot.settings,
        keyring: &keyring,
        keys: &*context.snapshot.keys,
        revocations: &index,
        now_ms: context.now_ms,
    };
    let facts = match rules.look_up(token) {
        TokenState::Valid(facts) => facts,
        TokenState::Unknown => return Err(Problem::unavailable()),
        TokenState::Expired(_) | TokenState::Revoked(_) | TokenState::Forged => {
            return Err(unauthorized("the access token is not valid"));
        }
    };
    // Two DPoP headers are as if none: the token is then bound to what was not shown.
    let params = Params::default();
    // The whole path as it was sent: it begins with the issuer's own.
    let (origin, _) = split_issuer(&context.snapshot.settings.issuer);
    let htu = format!("{origin}{}", context.uri.path());
    let request = Request {
        params: &params,
        authorization: Some(authorization),
        certificate: context.certificate.as_deref().map(|peer| PeerCertificate {
            certificate: &peer.certificate,
            trusted: peer.chain_trusted,
        }),
        dpop: context.header(DPOP),
        htm: context.method.as_str(),
        htu: &htu,
    };
    let once = check_presentation(&rules, scheme, &request, token, &facts)?;
    Ok((facts, once))
}

/// A member of the query that means nothing here is a typing error, as it is in a body.
fn query_members(operation: &Operation, context: &Context) -> Result<(), Problem> {
    let paging = ["after", "limit"];
    let known: Vec<&str> = operation
        .query
        .iter()
        .map(|(name, _)| *name)
        // A list that is one page always may be asked for in pages like any other.
        .chain(
            paging
                .into_iter()
                .filter(|_| operation.method == super::operation::Method::Get),
        )
        .collect();
    let params = context.query_params()?;
    match params.iter().find(|(name, _)| !known.contains(name)) {
        None => Ok(()),
        Some((name, _)) => Err(Problem::invalid(words::unknown(
            "query member",
            name,
            &known,
        ))),
    }
}

fn if_match(operation: &Operation, context: &Context) -> Result<Option<u64>, Problem> {
    if operation.if_match == IfMatch::Ignored {
        return Ok(None);
    }
    let Some(value) = context.headers.get(header::IF_MATCH) else {
        return match operation.if_match {
            IfMatch::Required => Err(Problem::new(
                StatusCode::PRECONDITION_REQUIRED,
                "revision_required",
                "send the revision that was read as If-Match, so that no change of others is lost",
            )),
            _ => Ok(None),
        };
    };
    value
        .to_str()
        .ok()
        .and_then(|text| text.strip_prefix('"')?.strip_suffix('"')?.parse().ok())
        .map(Some)
        .ok_or_else(|| Problem::invalid("If-Match must be one ETag of this record"))
}

impl Call {
    pub(super) fn realm(&self) -> &Arc<Realm> {
        &self.context.realm
    }

    pub(super) fn now(&self) -> u64 {
        self.context.now()
    }

    /// A segment of the path. The router gave every segment that the row's path names.
    pub(super) fn segment(&self, name: &str) -> &str {
        self.context.param(name).unwrap_or_default()
    }

    /// The revision that the caller read; rows with [`IfMatch::Required`] always have one.
    pub(super) fn if_match(&self) -> Option<u64> {
        self.if_match
    }

    pub(super) async fn bytes(&mut self) -> Result<bytes::Bytes, Problem> {
        if !self.context.content_type_is("application/json") {
            return Err(Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "unsupported_media_type",
                "the content type must be application/json",
            ));
        }
        self.context.body().await.map_err(|error| match error {
            BodyError::TooLarge => Problem::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "too_large",
                "the body is too large",
            ),
            _ => Problem::invalid("the body did not arrive"),
        })
    }

    /// The body as its model. Members that the model has not are refused: a typing error must not pass for a change.
    pub(super) async fn read<T: DeserializeOwned>(&mut self) -> Result<T, Problem> {
        let body = self.bytes().await?;
        parse(&body)
    }

    pub(super) fn page(&self) -> Result<Page, Problem> {
        let params = self.context.query_params()?;
        let limit = match params.get("limit") {
            None => PAGE,
            Some(text) => text
                .parse()
                .ok()
                .filter(|limit| (1..=MAX_PAGE).contains(limit))
                .ok_or_else(|| Problem::invalid("limit must be a number from 1 to 500"))?,
        };
        Ok(Page {
            after: params.get("after").map(str::to_owned),
            limit,
        })
    }
}

pub(super) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    let mut reader = serde_json::Deserializer::from_slice(body);
    let read = serde_path_to_error::deserialize(&mut reader);
    let read = read.map_err(|error| Problem::invalid(words::of(&error)))?;
    match reader.end() {
        Ok(()) => Ok(read),
        Err(_) => Err(Problem::invalid("something stands behind the document")),
    }
}
