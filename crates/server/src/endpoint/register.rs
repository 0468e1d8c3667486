//! `/register` (RFC 7591, OpenID Connect Registration) and `/register/{client_id}` (RFC 7592).
use super::client_endpoint::store_failed;
use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode, header};
use signet_audit::{Action, with_record};
use signet_crypto::{Algorithm, KeyType};
use signet_encoding::json::{self, Limits};
use signet_jose::authorization::{self, Scheme};
use signet_oauth::client::registration::{
    MAX_REGISTRATION_BYTES, Random, authorize_management, register, registration_response,
    sector_identifier_uri, update,
};
use signet_oauth::client::{Client, GrantType};
use signet_oauth::error::{Challenge, ErrorCode, OAuthError};
use signet_realm::budgets::Act;
use signet_realm::records::RecordError;
use signet_registry::kinds::RecordKind;
use signet_request::http::{Context, Response, response};
use signet_store::StoreError;
use std::sync::Arc;

/// How long a client that registered itself is kept unless it is used, in seconds.
const UNUSED_LIFETIME: u64 = 24 * 3600;
/// Clients that registered themselves and were never used; beyond, those that registered first go,
/// and registrations are answered 429 while all of them are of the last five minutes
const MAX_UNUSED: usize = 5000;
/// For how long a client that was never used is kept whatever others register, in seconds.
const UNUSED_KEPT: u64 = 300;
/// How often a change that lost a race is tried again. Each time somebody else's went through.
const MAX_TRIES: usize = 32;

pub(super) async fn submit(mut context: Context) -> Response {
    let settings = context.snapshot.settings.clone();
    if !settings.registration.enabled {
        return not_here();
    }
    if !settings.registration.open {
        // No initial access tokens are given out: closed registration is done by the admin API.
        let error = OAuthError::new(ErrorCode::InvalidToken, "registration is not open")
            .with_challenge(Challenge::Bearer);
        return refuse(&context, &error);
    }
    let body = match document(&mut context).await {
        Ok(body) => body,
        Err(answer) => return answer,
    };
    let sector = match sector(&context, &body).await {
        Ok(sector) => sector,
        Err(answer) => return answer,
    };
    let registered = register(
        &body,
        &settings,
        &context.realm.keyring(),
        sector.as_deref(),
        &random(),
        context.now(),
    );
    let registered = match registered {
        Ok(registered) => registered,
        Err(error) => return refuse(&context, &error),
    };
    if let Err(error) = permitted(&context, &registered.client) {
        return refuse(&context, &error);
    }
    if let Err(answer) = counted(&context, Act::Registration) {
        return *answer;
    }
    match has_room(&context).await {
        Ok(true) => {}
        Ok(false) => {
            let description = "too many registrations were never used";
            return later(&context, description, UNUSED_KEPT);
        }
        Err(error) => {
            let error = not_written(&context, error.into());
            return refuse(&context, &error);
        }
    }
    let client = Client {
        // Until it is used: then it stays.
        expires_at: Some(context.now().saturating_add(UNUSED_LIFETIME)),
        ..registered.client
    };
    match create(&context, client).await {
        Ok(client) => {
            context.note_client(&client.client_id);
            response::json(StatusCode::CREATED, registered.response)
        }
        Err(error) => refuse(&context, &not_written(&context, error)),
    }
}

pub(super) async fn manage(mut context: Context) -> Response {
    if !context.snapshot.settings.registration.enabled {
        return not_here();
    }
    let (client, token) = match authorized(&context) {
        Ok(authorized) => authorized,
        Err(error) => return refuse(&context, &error),
    };
    context.note_client(&client.client_id);
    if let Err(answer) = counted(&context, Act::RegistrationChange) {
        return *answer;
    }
    match context.method {
        Method::GET => {
            // The answer has the client's registration token in it. Whoever registered a client may
            // read it as often as they like: counted.
            let event = context.event(Action::REGISTRATION).operation("read");
            let event = event.client(&client.client_id);
            context.realm.audit().record_counted(event);
            let settings = &context.snapshot.settings;
            let body = registration_response(&client, settings, Some(&token), None);
            response::json(StatusCode::OK, body)
        }
        Method::DELETE => match remove(&context, &client).await {
            // Somebody else may have removed it meanwhile: it is gone all the same.
            Ok(()) | Err(RecordError::NotFound) => response::empty(StatusCode::NO_CONTENT),
            Err(error) => refuse(&context, &not_written(&context, error)),
        },
        _ => replace(&mut context, &client, &token).await,
    }
}

async fn replace(context: &mut Context, client: &Client, token: &str) -> Response {
    let body = match document(context).await {
        Ok(body) => body,
        Err(answer) => return answer,
    };
    let sector = match sector(context, &body).await {
        Ok(sector) => sector,
        Err(answer) => return answer,
    };
    // What it replaces is the whole of what it may say, whatever was written meanwhile.
    let mut current = client.clone();
    for _ in 0..MAX_TRIES {
        let updated = update(
            &current,
            &body,
            token,
            &context.snapshot.settings,
            &context.realm.keyring(),
            sector.as_deref(),
            &random(),
        );
        let updated = match updated {
            Ok(updated) => updated,
            Err(error) => return refuse(context, &error),
        };
        if let Err(error) = permitted(context, &updated.client) {
            return refuse(context, &error);
        }
        match store_next(context, updated.client).await {
            Ok(_) => return response::json(StatusCode::OK, updated.response),
            Err(RecordError::Conflict) => {}
            Err(error) => return refuse(context, &not_written(context, error)),
        }
        current = match managed_still(context, client).await {
            Ok(current) => Client::clone(&current),
            Err(error) => return refuse(context, &not_written(context, error)),
        };
    }
    refuse(context, &not_written(context, RecordError::Conflict))
}

/// The record that somebody else has just written, if it is the same registration.
async fn managed_still(context: &Context, client: &Client) -> Result<Arc<Client>, RecordError> {
    let (realm, id) = (&context.realm, &client.client_id);
    realm.learn(RecordKind::Client, id).await?;
    // The present snapshot, not the request's.
    let found = realm.snapshot().registry.clients.get(id).cloned();
    found
        .filter(|found| found.registration_token_hash == client.registration_token_hash)
        .ok_or(RecordError::NotFound)
}

/// The client that the path names, if the bearer may manage it.
fn authorized(context: &Context) -> Result<(Arc<Client>, String), OAuthError> {
    let id = context.param("client_id").unwrap_or_default();
    let client = context.snapshot.registry.client(id, context.now());
    let token = context
        .header(header::AUTHORIZATION)
        .and_then(|value| authorization::access_token(value).ok())
        .filter(|(scheme, _)| *scheme == Scheme::Bearer)
        .map(|(_, token)| token);
    authorize_management(client.map(|client| &**client), token)?;
    match (client, token) {
        (Some(client), Some(token)) => Ok((client.clone(), token.to_owned())),
        // `authorize_management` lets neither through.
        _ => Err(OAuthError::new(ErrorCode::InvalidToken, "").with_challenge(Challenge::Bearer)),
    }
}

async fn document(context: &mut Context) -> Result<Bytes, Response> {
    if !context.content_type_is("application/json") {
        let mut answer = refuse(
            context,
            &OAuthError::new(
                ErrorCode::InvalidClientMetadata,
                "the content type must be application/json",
            ),
        );
        *answer.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(answer);
    }
    let body = context.body().await.map_err(response::body_error)?;
    if body.len() > MAX_REGISTRATION_BYTES {
        return Err(response::body_error(signet_http::BodyError::TooLarge));
    }
    Ok(body)
}

/// The list that `sector_identifier_uri` leads to, where the document names one.
async fn sector(context: &Context, body: &[u8]) -> Result<Option<Vec<String>>, Response> {
    let refused = |error: OAuthError| refuse(context, &error);
    let Some(uri) = sector_identifier_uri(body).map_err(refused)? else {
        return Ok(None);
    };
    counted_at(context, Act::Fetch, &uri).map_err(|answer| *answer)?;
    fetch_sector(context, &uri).await.map(Some).map_err(refused)
}

async fn fetch_sector(context: &Context, uri: &str) -> Result<Vec<String>, OAuthError> {
    let unreadable = |hint: String| {
        OAuthError::new(
            ErrorCode::InvalidClientMetadata,
            "sector_identifier_uri does not lead to a JSON array of URIs",
        )
        .with_hint(hint)
    };
    let content = context
        .realm
        .host
        .outbound
        .get(uri, "application/json")
        .await
        .map_err(|error| unreadable(error.to_string()))?;
    let value =
        json::parse(&content, &Limits::default()).map_err(|error| unreadable(error.to_string()))?;
    let uris = value.as_array().and_then(|list| {
        list.iter()
            .map(|uri| uri.as_str().map(str::to_owned))
            .collect::<Option<Vec<_>>>()
    });
    uris.ok_or_else(|| unreadable("not an array of strings".to_owned()))
}

fn random() -> Random {
    Random {
        client_id: signet_crypto::random::id(),
        secret: signet_crypto::random::bytes(),
        token: signet_crypto::random::bytes(),
    }
}

fn refuse(context: &Context, error: &OAuthError) -> Response {
    context.note_error(error);
    let event = context
        .event(Action::REGISTRATION)
        .refused(error.code.as_str());
    let event = match context.log.client_id.get() {
        Some(client_id) => event.client(client_id),
        None => event,
    };
    context.realm.audit().record(event);
    response::error(error)
}

fn not_written(context: &Context, error: RecordError) -> OAuthError {
    match error {
        RecordError::Store(error) => store_failed(context, &error),
        RecordError::Exists
        | RecordError::NotFound
        | RecordError::Conflict
        | RecordError::Declared
        | RecordError::BuiltIn
        | RecordError::Refused { .. }
        | RecordError::Invalid(_)
        | RecordError::Wrong(_) => OAuthError::new(
            ErrorCode::TemporarilyUnavailable,
            "the client is being changed at the same time",
        ),
    }
}

/// What an operator lets those ask for who register themselves.
fn permitted(context: &Context, client: &Client) -> Result<(), OAuthError> {
    let settings = &context.snapshot.settings.registration;
    let refused = |description| OAuthError::new(ErrorCode::InvalidClientMetadata, description);
    let may = |grant: &GrantType| {
        settings
            .grant_types
            .iter()
            .any(|name| name == grant.as_str())
    };
    if !client.grant_types.iter().all(may) {
        return Err(refused(
            "a grant type is not open to clients that register themselves",
        ));
    }
    let algorithms = [
        client.access_token_signed_response_alg,
        client.id_token_signed_response_alg,
        client.userinfo_signed_response_alg,
        client.introspection_signed_response_alg,
    ];
    let is_ml_dsa = |algorithm: &Algorithm| algorithm.key_type() == KeyType::Akp;
    if !settings.ml_dsa && algorithms.iter().flatten().any(is_ml_dsa) {
        return Err(refused(
            "ML-DSA is not open to clients that register themselves",
        ));
    }
    Ok(())
}

/// Whether one more client may register. Room is made by those that nobody used for the longest
/// time, so that no flood of registrations closes the endpoint to others.
async fn has_room(context: &Context) -> Result<bool, StoreError> {
    if context.snapshot.registry.clients.tally().unused() < MAX_UNUSED {
        return Ok(true);
    }
    let registered_before = context.now().saturating_sub(UNUSED_KEPT);
    let until = registered_before.saturating_add(UNUSED_LIFETIME);
    Ok(context.realm.remove_unused_clients(until).await? > 0)
}

/// Whoever registers is not known: address and all addresses together are bounded.
fn counted(context: &Context, act: Act) -> Result<(), Box<Response>> {
    let budgets = &context.realm.budgets;
    let spent = budgets.spend(act, context.peer, context.now());
    refused(context, spent)
}

/// As `counted`, of a fetch: its host is bounded too.
fn counted_at(context: &Context, act: Act, url: &str) -> Result<(), Box<Response>> {
    let budgets = &context.realm.budgets;
    let spent = budgets.spend_at(act, context.peer, url, context.now());
    refused(context, spent)
}

fn refused(context: &Context, spent: Result<(), u64>) -> Result<(), Box<Response>> {
    spent.map_err(|retry_after| {
        Box::new(later(
            context,
            "too many requests of this kind",
            retry_after,
        ))
    })
}

fn later(context: &Context, description: &'static str, retry_after: u64) -> Response {
    refuse(context, &OAuthError::too_many(description, retry_after))
}

async fn create(context: &Context, client: Client) -> Result<Arc<Client>, RecordError> {
    let client_id = client.client_id.clone();
    let event = context.event(Action::REGISTRATION).operation("register");
    let written = context.realm.write_record(client, None);
    with_record(event.client(&client_id), written).await.0
}

async fn store_next(context: &Context, client: Client) -> Result<Arc<Client>, RecordError> {
    let read = client.revision.saturating_sub(1);
    let client_id = client.client_id.clone();
    let event = context.event(Action::REGISTRATION).operation("replace");
    let written = context.realm.write_record(client, Some(read));
    with_record(event.client(&client_id), written).await.0
}

/// Removes the record, and ends everything that was issued to it.
async fn remove(context: &Context, client: &Client) -> Result<(), RecordError> {
    let realm = &context.realm;
    let (id, mut revision) = (&client.client_id, Some(client.revision));
    // Asked while the record counts: its tokens may live longer than everybody else's.
    let longest = realm.longest_refresh_token();
    let removed = async {
        for _ in 0..MAX_TRIES {
            match realm.remove_record::<Client>(id, revision).await {
                // RFC 7592 section 2.3: what is removed is the registration, whatever it says.
                Err(RecordError::Conflict) => {
                    managed_still(context, client).await?;
                    revision = None;
                }
                removed => {
                    removed?;
                    realm.revoke_client_for(id, longest).await?;
                    return Ok(());
                }
            }
        }
        Err(RecordError::Conflict)
    };
    let event = context.event(Action::REGISTRATION).operation("remove");
    with_record(event.client(id), removed).await.0
}

/// An endpoint that is not served answers like one that does not exist.
fn not_here() -> Response {
    let mut answer = response::text(StatusCode::NOT_FOUND, "not found\n");
    answer
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}
