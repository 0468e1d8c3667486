//! Clients.
use super::{
    call::{Call, Reply},
    model::{ClientDocument, List, ListChange, NewSecret, SecretShownOnce},
    operation::{IfMatch, Method, Operation, Outcome, handler},
    problem::Problem,
    words,
};
use crate::registry::RegistryError;
use http::StatusCode;
use signet_crypto::random;
use signet_jose::{
    base64url,
    json::{self, Limits, Object, Value, Writer},
};
use signet_oauth::{
    client::{ApplicationType, AuthMethod, Client, ClientSecret, metadata},
    error::OAuthError,
    redirect_uri::RedirectUri,
    registration::client_secret,
};
use std::sync::Arc;

const LIST: &str = "/admin/v1/clients";
const ONE: &str = "/admin/v1/clients/{client_id}";
const REDIRECTS: &str = "/admin/v1/clients/{client_id}/redirect_uris";
const LOGOUT_REDIRECTS: &str = "/admin/v1/clients/{client_id}/post_logout_redirect_uris";
const SECRETS: &str = "/admin/v1/clients/{client_id}/secrets";
const ENABLE: &str = "/admin/v1/clients/{client_id}/enable";
const DISABLE: &str = "/admin/v1/clients/{client_id}/disable";
const REVOKE: &str = "/admin/v1/clients/{client_id}/revoke";

/// How often a change that lost a race is tried again. Each time somebody else's went through.
const MAX_TRIES: usize = 32;
const MAX_ID_BYTES: usize = 128;

#[rustfmt::skip]
pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new("listClients", Method::Get, LIST, "List clients", handler!(list))
        .paged().answers::<List<ClientDocument>>(200),
    Operation::new("createClient", Method::Post, LIST, "Add a client; a secret is shown here and never again", handler!(create))
        .takes::<ClientDocument>().answers::<ClientDocument>(201),
    Operation::new("showClient", Method::Get, ONE, "Show a client", handler!(show))
        .answers::<ClientDocument>(200),
    Operation::new("replaceClient", Method::Put, ONE, "Replace a client's metadata and policy", handler!(replace))
        .if_match(IfMatch::Required).takes::<ClientDocument>().answers::<ClientDocument>(200),
    Operation::new("removeClient", Method::Delete, ONE, "Remove a client and end everything that it holds", handler!(remove))
        .if_match(IfMatch::Optional),
    Operation::new("changeRedirectUris", Method::Post, REDIRECTS, "Add and remove redirect URIs", handler!(change_redirects))
        .takes::<ListChange>().answers::<ClientDocument>(200),
    Operation::new("changePostLogoutRedirectUris", Method::Post, LOGOUT_REDIRECTS, "Add and remove post-logout redirect URIs", handler!(change_logout_redirects))
        .takes::<ListChange>().answers::<ClientDocument>(200),
    Operation::new("rotateClientSecret", Method::Post, SECRETS, "Make a new secret, shown here and never again", handler!(new_secret))
        .takes::<NewSecret>().answers::<SecretShownOnce>(201),
    Operation::new("enableClient", Method::Post, ENABLE, "Let a client in again", handler!(enable))
        .answers::<ClientDocument>(200),
    Operation::new("disableClient", Method::Post, DISABLE, "Keep a client out and end everything that it holds", handler!(disable))
        .answers::<ClientDocument>(200),
    Operation::new("revokeClient", Method::Post, REVOKE, "End everything that a client holds", handler!(revoke)),
];

fn known(call: &Call) -> Result<Arc<Client>, Problem> {
    let id = call.segment("client_id");
    // The present snapshot, not the request's: a retry must see what the winner wrote.
    let found = call.realm().snapshot().registry.clients.get(id).cloned();
    found.ok_or_else(Problem::not_found)
}

fn encode(client: &Client, secret: Option<&str>) -> Vec<u8> {
    let mut out = Vec::with_capacity(1024);
    Writer::new(&mut out).object(|w| {
        client.write_public(w);
        if let Some(secret) = secret {
            w.member("client_secret").string(secret);
        }
    });
    out
}

fn reply(status: StatusCode, client: &Client, secret: Option<&str>) -> Outcome {
    Ok(Reply::encoded(status, encode(client, secret)).revision(client.revision))
}

/// What is in the snapshot and not in the store is the configuration's.
fn written(error: RegistryError) -> Problem {
    match error {
        RegistryError::NotFound => Problem::conflict(
            "declared_in_configuration",
            "the configuration file declares this record: change it there",
        ),
        other => other.into(),
    }
}

async fn list(call: Call) -> Outcome {
    let page = call.page()?;
    let registry = &call.context.snapshot.registry;
    let after = page.after.as_deref();
    let mut ids: Vec<&String> = registry
        .clients
        .keys()
        .filter(|id| after.is_none_or(|after| id.as_str() > after))
        .collect();
    ids.sort_unstable();
    let more = ids.len() > page.limit;
    ids.truncate(page.limit);
    let mut out = Vec::with_capacity(1024 * ids.len());
    Writer::new(&mut out).object(|w| {
        w.member("items").array(|w| {
            for client in ids.iter().filter_map(|id| registry.clients.get(*id)) {
                w.object(|w| client.write_public(w));
            }
        });
        if let Some(last) = ids.last().filter(|_| more) {
            w.member("next").string(last);
        }
    });
    Ok(Reply::encoded(StatusCode::OK, out))
}

async fn show(call: Call) -> Outcome {
    reply(StatusCode::OK, &*known(&call)?, None)
}

/// A document that was sent.
fn document(body: &[u8]) -> Result<Object<'_>, Problem> {
    let limits = Limits {
        bytes: 256 * 1024,
        depth: 16,
        members: 4096,
    };
    let document =
        json::parse_object(body, &limits).map_err(|error| Problem::invalid(error.to_string()))?;
    if let Some((name, _)) = document.iter().find(|(name, _)| !ClientDocument::has(name)) {
        let known = ClientDocument::names();
        return Err(Problem::invalid(words::unknown("member", name, &known)));
    }
    if document
        .get("client_secret")
        .is_some_and(|secret| *secret != Value::Null)
    {
        return Err(Problem::invalid(
            "client_secret is made by the server: POST to …/secrets for a new one",
        ));
    }
    Ok(document)
}

/// The `client_id` that a document names.
fn named(document: &Object<'_>) -> Result<Option<String>, Problem> {
    match document.get("client_id") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) => Ok(Some(id.clone().into_owned())),
        Some(_) => Err(Problem::invalid("client_id must be a string")),
    }
}

/// Reads a document over `client`, which has the defaults, and checks it as every other client is checked.
fn read(call: &Call, document: &Object<'_>, client: &mut Client) -> Result<(), Problem> {
    metadata::read(document, client, &metadata::Rules::operator())?;
    metadata::check(client, &call.context.snapshot.settings).map_err(OAuthError::from)?;
    Ok(())
}

fn new_secret_text() -> String {
    let mut bytes = [0; 48];
    random::fill_system(&mut bytes);
    base64url::encode(&bytes)
}

/// Gives the client a secret where its method needs one and it has none of the right kind. The text, if one was made.
fn complete_secrets(call: &Call, client: &mut Client) -> Result<Option<String>, Problem> {
    let method = client.token_endpoint_auth_method;
    let hmac = method == AuthMethod::ClientSecretJwt;
    client
        .secrets
        .retain(|s| method.needs_secret() && matches!(s, ClientSecret::Sealed { .. }) == hmac);
    if !method.needs_secret() || !client.secrets.is_empty() {
        return Ok(None);
    }
    let text = new_secret_text();
    let keyring = call.realm().keyring();
    let secret = client_secret(method, &text, &client.client_id, None, &keyring)?;
    client.secrets.push(secret);
    Ok(Some(text))
}

async fn create(mut call: Call) -> Outcome {
    let body = call.bytes().await?;
    let document = document(&body)?;
    let id = match named(&document)? {
        None => base64url::encode(&random::bytes::<16>()),
        Some(id) if is_client_id(&id) => id,
        Some(_) => {
            return Err(Problem::invalid(
                "client_id must be 1 to 128 letters, digits and any of -._~:/",
            ));
        }
    };
    let mut client = Client::new(id, call.now());
    client.revision = 1;
    read(&call, &document, &mut client)?;
    let secret = complete_secrets(&call, &mut client)?;
    let client = call.realm().insert_client(client).await?;
    reply(StatusCode::CREATED, &client, secret.as_deref())
}

fn is_client_id(id: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"-._~:/".contains(&b);
    (1..=MAX_ID_BYTES).contains(&id.len()) && id.bytes().all(fits)
}

async fn replace(mut call: Call) -> Outcome {
    let body = call.bytes().await?;
    let current = known(&call)?;
    if call.if_match() != Some(current.revision) {
        return Err(Problem::changed());
    }
    let mut client = Client::new(current.client_id.clone(), current.created_at);
    client.revision = current.revision + 1;
    client.secrets.clone_from(&current.secrets);
    client.registration_token_hash = current.registration_token_hash;
    let document = document(&body)?;
    read(&call, &document, &mut client)?;
    if named(&document)?.is_some_and(|id| id != client.client_id) {
        return Err(Problem::invalid("client_id cannot be changed"));
    }
    let secret = complete_secrets(&call, &mut client)?;
    let client = call
        .realm()
        .replace_client(client, current.revision)
        .await
        .map_err(written)?;
    if current.enabled && !client.enabled {
        call.realm().revoke_client(&client.client_id).await?;
    }
    reply(StatusCode::OK, &client, secret.as_deref())
}

async fn remove(call: Call) -> Outcome {
    let client = known(&call)?;
    if call.if_match().is_some_and(|r| r != client.revision) {
        return Err(Problem::changed());
    }
    let (realm, id) = (call.realm(), &client.client_id);
    // Asked while the record counts: its tokens may live longer than everybody else's.
    let longest = realm.longest_refresh_token();
    realm
        .remove_client(id, call.if_match())
        .await
        .map_err(written)?;
    // Without its record nothing new can be made: what was made until now ends.
    realm.revoke_client_for(id, longest).await?;
    Reply::done()
}

/// Changes a client's record, again if somebody else was faster, so that both changes count (known fault A18).
async fn change(
    call: &Call,
    change: impl Fn(&mut Client) -> Result<(), Problem>,
) -> Result<Arc<Client>, Problem> {
    for _ in 0..MAX_TRIES {
        let current = known(call)?;
        let mut client = Client::clone(&current);
        change(&mut client)?;
        if client == *current {
            return Ok(current);
        }
        metadata::check(&client, &call.context.snapshot.settings).map_err(OAuthError::from)?;
        client.revision = current.revision + 1;
        match call.realm().replace_client(client, current.revision).await {
            Err(RegistryError::Conflict) => {}
            other => return other.map_err(written),
        }
    }
    Err(Problem::changed())
}

fn apply(list: &mut Vec<RedirectUri>, by: &ListChange, native: bool) -> Result<(), Problem> {
    list.retain(|uri| !by.remove.iter().any(|gone| gone == uri.as_str()));
    for text in &by.add {
        let uri = RedirectUri::parse(text, native)?;
        if !list.contains(&uri) {
            list.push(uri);
        }
    }
    Ok(())
}

async fn change_redirects(mut call: Call) -> Outcome {
    let by: ListChange = call.read().await?;
    let client = change(&call, |client| {
        let native = client.application_type == ApplicationType::Native;
        apply(&mut client.redirect_uris, &by, native)
    });
    reply(StatusCode::OK, &*client.await?, None)
}

async fn change_logout_redirects(mut call: Call) -> Outcome {
    let by: ListChange = call.read().await?;
    let client = change(&call, |client| {
        let native = client.application_type == ApplicationType::Native;
        apply(&mut client.post_logout_redirect_uris, &by, native)
    });
    reply(StatusCode::OK, &*client.await?, None)
}

async fn new_secret(mut call: Call) -> Outcome {
    let wanted: NewSecret = call.read().await?;
    let (text, now) = (new_secret_text(), call.now());
    let others_end = now.saturating_add(wanted.others_expire_in);
    let client =
        change(&call, |client| {
            let method = client.token_endpoint_auth_method;
            if !method.needs_secret() {
                return Err(Problem::conflict(
                    "no_secret",
                    "this client does not authenticate with a secret",
                ));
            }
            for secret in &mut client.secrets {
                let (ClientSecret::Sha256 { expires_at, .. }
                | ClientSecret::Sealed { expires_at, .. }) = secret;
                *expires_at = Some(expires_at.unwrap_or(u64::MAX).min(others_end));
            }
            client.secrets.retain(|secret| {
                let (ClientSecret::Sha256 { expires_at, .. }
                | ClientSecret::Sealed { expires_at, .. }) = secret;
                expires_at.is_none_or(|end| end > now)
            });
            let keyring = call.realm().keyring();
            let secret = client_secret(method, &text, &client.client_id, None, &keyring)?;
            client.secrets.push(secret);
            Ok(())
        })
        .await?;
    let shown = SecretShownOnce {
        client_id: client.client_id.clone(),
        client_secret: text,
    };
    Reply::json(StatusCode::CREATED, &shown)
}

async fn enable(call: Call) -> Outcome {
    let client = change(&call, |client| {
        client.enabled = true;
        Ok(())
    });
    reply(StatusCode::OK, &*client.await?, None)
}

async fn disable(call: Call) -> Outcome {
    let client = change(&call, |client| {
        client.enabled = false;
        Ok(())
    })
    .await?;
    call.realm().revoke_client(&client.client_id).await?;
    reply(StatusCode::OK, &client, None)
}

async fn revoke(call: Call) -> Outcome {
    let client = known(&call)?;
    call.realm().revoke_client(&client.client_id).await?;
    Reply::done()
}
