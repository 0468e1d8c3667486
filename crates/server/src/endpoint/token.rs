//! `/token`: read, decide, commit, answer. In this order and no other: what was answered was
//! durable, and what was refused consumed nothing of its owner's. An answer is signed while its
//! change is being written, and waits for it.
//!
//! `client_credentials` with a secret takes no lock, asks no store and parses no JSON.
use super::{agent_chain::Chain, client_endpoint::ClientRequest, upstream_exchange};
use crate::issue;
use http::StatusCode;
use signet_audit::{self as audit, Action, Event};
use signet_directory::User;
use signet_directory::grants::{self, GrantRow};
use signet_directory::{logout_notice, session};
use signet_oauth::endpoint::EndpointId;
use signet_oauth::error::OAuthError;
use signet_oauth::id::{GrantId, Jti};
use signet_oauth::token::client_auth::Credentials;
use signet_oauth::token::decision::{Decision, GrantState, RowName, StoredRow};
use signet_oauth::token::grant::Gives;
use signet_oauth::token::{self, LookedUp};
use signet_realm::single_use;
use signet_realm::state::Claim;
use signet_request::access;
use signet_request::http::{Context, Response, response};
use signet_store::{Change, Key, Op, Row, moment::at_one_moment};
use signet_telemetry::trace;
use std::{
    future::poll_fn,
    pin::{Pin, pin},
    task::Poll,
};

pub(super) async fn handle(context: Context) -> Response {
    let client_request = match ClientRequest::read(context, EndpointId::Token).await {
        Ok(client_request) => client_request,
        Err(answer) => return *answer,
    };
    match at_one_moment(pin!(answer(&client_request))).await {
        Ok(body) => {
            let context = &client_request.context;
            if let Some((grant, public)) = context.noted_grant() {
                context.realm.host.metrics.token(grant, public);
            }
            let mut answer = response::json(StatusCode::OK, body);
            client_request.add_next_nonce(&mut answer);
            answer
        }
        Err(error) => Box::pin(client_request.refuse_counted(&error)).await,
    }
}

async fn answer(client_request: &ClientRequest) -> Result<Vec<u8>, OAuthError> {
    client_request.context.realm.may_speak(Claim::Grant)?;
    let request = client_request.request();
    let credentials = Credentials::of(&request)?;
    let keys = client_request.keys(&credentials).await;
    let (begun, needs) = trace::within("authenticate the client", || {
        client_request.decide(|rules| {
            let begun = token::begin(rules, &request, &credentials, keys.as_deref())?;
            let needs = begun.needs(rules, &request);
            Ok::<_, OAuthError>((begun, needs))
        })
    })?;
    let public = begun.client().is_public();
    client_request
        .context
        .note_grant(begun.grant_type(), public);
    if begun.gives(&request) == Gives::ProviderToken {
        return Box::pin(upstream_exchange::answer(
            client_request,
            begun,
            &credentials,
        ))
        .await;
    }
    let row = match needs.row {
        Some(name) => Box::pin(NamedRow::read(client_request, name)).await?,
        None => None,
    };
    let chain = match needs.chain {
        true => Some(Box::pin(Chain::read(client_request)).await?),
        false => None,
    };
    let looked_up = LookedUp {
        keys: keys.as_deref(),
        row: row.as_ref().map(NamedRow::stored),
        chain: chain.as_ref().map(|chain| &chain.presented),
    };
    let decided = trace::within("decide", || {
        client_request.decide(|rules| {
            let tokens = &client_request.context.realm.host.verified_tokens;
            let lookup = tokens.before(rules, &client_request.snapshot().keys);
            token::decide_begun(begun, rules, &request, &credentials, looked_up, &lookup)
        })
    });
    let mut decision = match decided {
        Ok(decision) => decision,
        Err(refused) => {
            if let Some((row, value)) = row.zip(refused.row) {
                Box::pin(row.replace(client_request, value)).await?;
            }
            return Err(refused.error);
        }
    };
    client_request
        .context
        .note_client(&decision.issue.access_token.client_id);
    if client_request.snapshot().settings.registration.open {
        let client_id = &decision.issue.access_token.client_id;
        Box::pin(client_request.context.realm.mark_used(client_id)).await;
    }
    let user = issue::person(&client_request.context, &mut decision.issue).await?;
    let grant_type = client_request.params.get("grant_type").unwrap_or_default();
    let leave = trace::within("ask the access rules", || {
        access::of_token(
            &client_request.context,
            &mut decision,
            user.as_ref(),
            grant_type,
        )
    })?;
    let person = user.as_ref().map(User::claims);
    session_goes_on(client_request, &decision).await?;
    let mut then = listed(&decision, client_request.now());
    if !then.is_empty() {
        then.extend(Box::pin(takes_part(client_request, &decision)).await?);
    }
    let id = issue::token_id(&client_request.context);
    if let Some(chain) = &chain {
        then.extend(Box::pin(chain.list(client_request, &decision, &id)).await?);
    }
    let scope = decision.issue.access_token.scope.to_string();
    let actors = actors(decision.issue.access_token.act.as_deref());
    let actors: Vec<&str> = actors.iter().map(String::as_str).collect();
    let grants = decision.issue.access_token.chain.as_ref();
    let grants = grants.map_or(&[][..], |chain| &chain.grants);
    let event = issued(client_request, &decision, &id)
        .scope(&scope)
        .actors(&actors)
        .agent_grants(grants);
    let event = access::let_in(event, leave.rule());
    if decision.single_use.is_empty() && then.is_empty() {
        let body = issue::answer(
            &client_request.context,
            &decision.issue,
            person.as_ref(),
            id,
            &leave,
        )?;
        client_request.context.realm.audit().record(event);
        return Ok(body);
    }
    // What is spent and what is said about it are there together, or neither is.
    let proofs = client_request.proofs(&decision.issue.access_token.client_id);
    let commit = client_request.commit(proofs, &decision.single_use, then);
    let commit = audit::with_record(event, commit);
    let mut commit = Box::pin(commit);
    // The answer is signed while the change is on its way to the disk, and leaves when it is there:
    // of one that is refused nobody sees anything. A chain is looked at again in between.
    let (done, signed) = match begun_by(commit.as_mut()).await {
        None if chain.is_none() => {
            let signed = issue::answer(
                &client_request.context,
                &decision.issue,
                person.as_ref(),
                id,
                &leave,
            );
            (commit.await, Some(signed))
        }
        None => (commit.await, None),
        Some(done) => (done, None),
    };
    let (committed, was_carried) = done;
    committed?;
    if !was_carried {
        client_request.context.realm.audit().record(event);
    }
    if let Some(chain) = &chain {
        Box::pin(chain.look_again(client_request)).await?;
    }
    match signed {
        Some(signed) => signed,
        None => issue::answer(
            &client_request.context,
            &decision.issue,
            person.as_ref(),
            id,
            &leave,
        ),
    }
}

/// Begins `work`: what it gave, where it is done at once.
async fn begun_by<T>(mut work: Pin<&mut impl Future<Output = T>>) -> Option<T> {
    poll_fn(|task| match work.as_mut().poll(task) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// The writes that note that the client is to be notified of the session's end.
async fn takes_part(
    client_request: &ClientRequest,
    decision: &Decision,
) -> Result<Vec<Op>, OAuthError> {
    let token = &decision.issue.access_token;
    let snapshot = client_request.snapshot();
    let client = snapshot.registry.clients.get(&token.client_id);
    let is_told = client.is_some_and(|client| {
        client.backchannel_logout_uri.is_some() || client.frontchannel_logout_uri.is_some()
    });
    let Some(sid) = token.sid.as_deref().filter(|_| is_told) else {
        return Ok(Vec::new());
    };
    let now = client_request.now();
    let look_at = now.saturating_add(snapshot.settings.session_idle_lifetime.max(1));
    let who = (sid, &*token.sub, &*token.client_id);
    let noted = logout_notice::seen(&*client_request.context.realm.store, who, look_at, now).await;
    noted.map_err(|error| client_request.store_failed(&error))
}

/// The line of a token.
fn issued<'a>(client_request: &'a ClientRequest, decision: &'a Decision, id: &'a Jti) -> Event<'a> {
    let token = &decision.issue.access_token;
    let event = client_request
        .context
        .event(Action::TOKEN)
        .subject(&token.sub)
        .client(&token.client_id)
        .token(id.as_bytes())
        .grant(token.grant_id.as_ref().map(GrantId::as_bytes))
        .session(token.sid.as_deref())
        .audience(&token.audience);
    match client_request.params.get("grant_type") {
        Some(grant_type) => event.method(grant_type),
        None => event,
    }
}

/// Who acts for the subject, the one that acts now first (RFC 8693 section 4.1).
fn actors(act: Option<&str>) -> Vec<String> {
    let mut actors = Vec::new();
    let Some(act) = act else { return actors };
    let value: serde_json::Value = serde_json::from_str(act).unwrap_or_default();
    let mut actor = &value;
    while let Some(sub) = actor["sub"].as_str() {
        actors.push(sub.to_owned());
        actor = &actor["act"];
    }
    actors
}

/// The row that a grant named.
struct NamedRow {
    key: Key,
    row: Row,
}

impl NamedRow {
    async fn read(
        client_request: &ClientRequest,
        name: RowName,
    ) -> Result<Option<NamedRow>, OAuthError> {
        let key = single_use::key_of(&name);
        let store = &client_request.context.realm.store;
        match store.get(&key, client_request.now()).await {
            Ok(row) => Ok(row.map(|row| NamedRow { key, row })),
            Err(error) => Err(client_request.store_failed(&error)),
        }
    }

    fn stored(&self) -> StoredRow<'_> {
        StoredRow {
            value: &self.row.value,
            version: self.row.version,
            end: self.row.end,
        }
    }

    /// Writes what a refusal leaves. Of two at once one is written, which is enough.
    async fn replace(
        self,
        client_request: &ClientRequest,
        value: Vec<u8>,
    ) -> Result<(), OAuthError> {
        let change = Change {
            first: Op::Replace {
                key: self.key,
                version: self.row.version,
                value,
                end: self.row.end,
            },
            then: Vec::new(),
        };
        match client_request
            .context
            .realm
            .store
            .commit(change, client_request.now())
            .await
        {
            Ok(_) => Ok(()),
            Err(error) => Err(client_request.store_failed(&error)),
        }
    }
}

/// A refresh token without `offline_access` ends with the session that it came from (OpenID Connect
/// Core section 11), also where that was ended by nobody: it was not used for long enough, or its
/// time was over.
async fn session_goes_on(
    client_request: &ClientRequest,
    decision: &Decision,
) -> Result<(), OAuthError> {
    let token = &decision.issue.access_token;
    let continues = decision.grant == GrantState::Continues;
    let Some(sid) = token.sid.as_deref().filter(|_| continues) else {
        return Ok(());
    };
    let store = &*client_request.context.realm.store;
    match session::goes_on(store, &token.sub, sid, client_request.now()).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(OAuthError::invalid_grant(
            "the login session was terminated or has expired",
        )),
        Err(error) => Err(client_request.store_failed(&error)),
    }
}

/// The write that lists a grant for its person, together with the change that begins it: what is
/// not listed could not be withdrawn. One that cannot be refreshed is listed for as long as its
/// token lives, and what was exchanged from that.
fn listed(decision: &Decision, now: u64) -> Vec<Op> {
    let token = &decision.issue.access_token;
    let GrantState::Begins {
        grant_id,
        family_end,
    } = decision.grant
    else {
        return Vec::new();
    };
    let end = family_end.unwrap_or_else(|| now.saturating_add(token.lifetime));
    let row = GrantRow {
        client_id: token.client_id.clone(),
        scope: token.scope.to_string(),
        sid: token.sid.clone(),
        created_at: now,
    };
    vec![grants::entry(&token.sub, &grant_id, &row, end)]
}
