//! `/providers/NAME/backchannel-logout`: a provider says that a person logged out there (OpenID
//! Connect Back-Channel Logout 1.0 section 2.5).

use http::{HeaderValue, StatusCode, header};
use signet_crypto::hash::sha256;
use signet_oauth::error::OAuthError;
use signet_oauth::people::provider::{Protocol, Provider};
use signet_store::{Change, Key, Op, StoreError, Table};
use signet_verify::jose::Value;

use signet_audit::Action;
use signet_directory::session;
use signet_federation::upstream::{Asking, Trouble};
use signet_federation::upstream_tokens;
use signet_request::http::{Context, Response, response};

/// How long a logout token's `jti` is remembered, seconds: longer than one is good for.
const REMEMBERED: u64 = 3600;

/// Why nothing was ended.
enum Refused {
    Trouble(Trouble),
    Replayed,
    Store(StoreError),
}

impl From<Trouble> for Refused {
    fn from(trouble: Trouble) -> Refused {
        Refused::Trouble(trouble)
    }
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Refused {
        Refused::Store(error)
    }
}

pub(super) async fn receive(mut context: Context) -> Response {
    let form = match context.form().await {
        Ok(form) => form,
        Err(error) => return response::error(&error.into()),
    };
    let name = context.param("provider").unwrap_or_default();
    let provider = context.snapshot.registry.providers.usable(name).cloned();
    let provider = provider.filter(|provider| provider.protocol == Protocol::Openid);
    let (Some(provider), Some(token)) = (provider, form.get("logout_token")) else {
        let text = "there is no such provider, or no logout_token";
        return response::error(&OAuthError::invalid_request(text));
    };
    let event = context.event(Action::LOGOUT).operation("provider");
    let event = event.target(&provider.name);
    match end(&context, &provider, token).await {
        Ok(ended) => {
            tracing::info!(provider = %provider.name, ended, "terminated sessions on a provider's logout token");
            context.realm.audit().record(event.happened());
            no_store(response::empty(StatusCode::OK))
        }
        Err(Refused::Trouble(trouble)) => {
            context.realm.audit().record(event.refused(trouble.code()));
            let error = OAuthError::invalid_request("the logout token does not hold");
            let error = error.with_hint(trouble.to_string());
            context.note_error(&error);
            no_store(response::error(&error))
        }
        Err(Refused::Replayed) => {
            context.realm.audit().record(event.refused("replayed"));
            let text = "the logout token was used already";
            no_store(response::error(&OAuthError::invalid_request(text)))
        }
        Err(Refused::Store(error)) => no_store(response::error(
            &super::client_endpoint::store_failed(&context, &error),
        )),
    }
}

/// Section 2.8.
fn no_store(mut response: Response) -> Response {
    let value = HeaderValue::from_static("no-store");
    response.headers_mut().insert(header::CACHE_CONTROL, value);
    response
}

/// Ends the sessions that a logout token is about; how many.
async fn end(context: &Context, provider: &Provider, token: &str) -> Result<u64, Refused> {
    let (realm, now) = (&context.realm, context.now());
    let asking = Asking {
        realm,
        provider,
        caller: context.peer.into(),
        now,
    };
    let metadata = asking.metadata().await?;
    let verified = asking.logout_token(&metadata, token).await?;
    let claims = verified.claims();
    // Without `sub` it is known here by nothing: our sessions are listed by their people.
    let sub = claims.sub().filter(|sub| !sub.is_empty());
    let sub = sub.ok_or(Trouble::Answer("its logout token names no person"))?;
    let sid = claims.get("sid");
    let sid = sid.as_ref().and_then(Value::as_str);
    let key = token_key(provider, claims.jti().unwrap_or_default());
    begin(context, &key).await?;
    let users = &realm.people.users;
    let found = users.by_upstream(&provider.issuer, sub, now).await;
    let sessions = match found.map_err(StoreError::from)? {
        Some(user) => {
            let person = (&*provider.issuer, sub);
            let gone = upstream_tokens::logged_out(realm, &user.id, person, sid).await;
            gone.map_err(StoreError::from)?;
            session::list(&*realm.store, &user.id, now).await?
        }
        None => Vec::new(),
    };
    let mut ended = 0;
    for (id, row) in sessions {
        let theirs = row.upstream.as_ref().is_some_and(|upstream| {
            upstream.issuer == provider.issuer
                && upstream.subject == sub
                && sid.is_none_or(|sid| upstream.sid.as_deref() == Some(sid))
        });
        if theirs {
            realm.revoke_session(&row.sid).await?;
            session::end(&*realm.store, &id, &row, now).await?;
            ended += 1;
        }
    }
    done(context, key).await?;
    Ok(ended)
}

/// A logout token that is being acted on.
const BEGUN: &[u8] = b"begun";

fn token_key(provider: &Provider, jti: &str) -> Key {
    let named = [provider.issuer.as_bytes(), b"\0", jti.as_bytes()].concat();
    Key::new(
        Table::Once,
        [b"provider logout ".as_slice(), &sha256(&named)].concat(),
    )
}

/// Each logout token counts once, on whichever node (section 2.6, item 7). One that was begun and
/// not done, because the store failed or the node died, counts when it is sent again: ending what
/// has ended changes nothing, and a session that was never ended would go on.
async fn begin(context: &Context, key: &Key) -> Result<(), Refused> {
    let (store, now) = (&context.realm.store, context.now());
    let insert = Op::Insert {
        key: key.clone(),
        value: BEGUN.to_vec(),
        end: Some(now + REMEMBERED),
    };
    if store.commit(Change::new(insert), now).await?.is_done() {
        return Ok(());
    }
    match store.get(key, now).await? {
        Some(row) if row.value == BEGUN => Ok(()),
        Some(_) | None => Err(Refused::Replayed),
    }
}

/// What it asked for has been done: from here on it is a replay.
async fn done(context: &Context, key: Key) -> Result<(), Refused> {
    let now = context.now();
    let put = Op::Put {
        key,
        value: Vec::new(),
        end: Some(now + REMEMBERED),
    };
    context.realm.store.commit(Change::new(put), now).await?;
    Ok(())
}
