//! Clients.
use crate::operations::model::{ClientDocument, List, ListChange, NewSecret, SecretShownOnce};
use bytes::Bytes;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use signet_crypto::{Secret, hash::sha256, random, seal::Purpose};
use signet_encoding::{
    base64url,
    json::{self, Limits, Object, Value, Writer},
};
use signet_oauth::authorize::redirect_uri::RedirectUri;
use signet_oauth::client::registration::client_secret;
use signet_oauth::client::{ApplicationType, AuthMethod, Client, ClientSecret, metadata};
use signet_oauth::error::OAuthError;
use signet_oauth::people::claim_rules::{self, TableOf};
use signet_operation::adapter::Row;
use signet_operation::facts::schema_of;
use signet_operation::facts::{Described, Method};
use signet_operation::input::{self, ClientId, Input, Page, Revision};
use signet_operation::noun::Noun;
use signet_operation::operation::{Operation, run, run_within};
use signet_operation::output::{Created, Json, Output, Reply};
use signet_operation::problem::Problem;
use signet_operation::right::Area;
use signet_operation::right::Right::{Read, Write};
use signet_operation::roles::Rights;
use signet_operation::target;
use signet_operation::words;
use signet_realm::records::RecordError;
use signet_realm::state::Realm;
use signet_registry::kinds::RecordKind;
use signet_request::http::Context;
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
pub(crate) const NOT_A_CLIENT_ID: &str =
    "client_id must be 1 to 128 letters, digits and any of -._~:/@";

/// Clients.
pub const CLIENTS: Noun = Noun {
    name: "client",
    list: LIST,
    id: "client_id",
    columns: &[
        "client_id",
        "client_name",
        "token_endpoint_auth_method",
        "scope",
        "enabled",
    ],
    sorted_by: None,
    written: &[ClientDocument::json_schema],
};

#[rustfmt::skip]
pub(crate) const OPERATIONS: &[&dyn Row] = &[
    &Operation::new("listClients", Area::Clients, Read, Method::Get, LIST, "List clients", run!(list)),
    &Operation::new("createClient", Area::Clients, Write, Method::Post, LIST, "Add a client; a secret is shown here and never again", run_within!(create)),
    &Operation::new("showClient", Area::Clients, Read, Method::Get, ONE, "Show a client", run!(show)),
    &Operation::new("replaceClient", Area::Clients, Write, Method::Put, ONE, "Replace a client's metadata and policy", run_within!(replace)),
    &Operation::new("removeClient", Area::Clients, Write, Method::Delete, ONE, "Remove a client and end everything that it holds", run!(remove)),
    &Operation::new("changeRedirectUris", Area::Clients, Write, Method::Post, REDIRECTS, "Add and remove redirect URIs", run!(change_redirects)),
    &Operation::new("changePostLogoutRedirectUris", Area::Clients, Write, Method::Post, LOGOUT_REDIRECTS, "Add and remove post-logout redirect URIs", run!(change_logout_redirects)),
    &Operation::new("rotateClientSecret", Area::Clients, Write, Method::Post, SECRETS, "Make a new secret, shown here and never again", run!(new_secret)).ends(),
    &Operation::new("enableClient", Area::Clients, Write, Method::Post, ENABLE, "Let a client in again", run!(enable)),
    &Operation::new("disableClient", Area::Clients, Write, Method::Post, DISABLE, "Keep a client out and end everything that it holds", run!(disable)).ends(),
    &Operation::new("revokeClient", Area::Clients, Write, Method::Post, REVOKE, "End everything that a client holds", run!(revoke)).ends(),
];

/// A client's record, and the secret that was just made for it.
struct Shown {
    client: Arc<Client>,
    secret: Option<String>,
}

impl From<Arc<Client>> for Shown {
    fn from(client: Arc<Client>) -> Shown {
        let secret = None;
        Shown { client, secret }
    }
}

impl Output for Shown {
    fn schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        Some(schema_of::<ClientDocument>()(generator))
    }

    fn reply(self) -> Result<Reply, Problem> {
        let mut out = Vec::with_capacity(1024);
        Writer::new(&mut out).object(|w| {
            self.client.write_public(w);
            if let Some(secret) = &self.secret {
                w.member("client_secret").string(secret);
            }
        });
        Ok(Reply::encoded(out).revision(self.client.revision))
    }
}

/// A page of clients.
struct Clients(List<Arc<Client>>);

impl Output for Clients {
    fn schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        Some(schema_of::<List<ClientDocument>>()(generator))
    }

    fn reply(self) -> Result<Reply, Problem> {
        let mut out = Vec::with_capacity(1024 * self.0.items.len());
        Writer::new(&mut out).object(|w| {
            w.member("items").array(|w| {
                for client in &self.0.items {
                    w.object(|w| client.write_public(w));
                }
            });
            if let Some(next) = &self.0.next {
                w.member("next").string(next);
            }
        });
        Ok(Reply::encoded(out))
    }
}

/// A client's record as it was sent.
pub(crate) struct Sent(pub(crate) Bytes);

impl Input for Sent {
    fn describe(described: &mut Described, generator: &mut SchemaGenerator) {
        described.request = Some(schema_of::<ClientDocument>()(generator));
    }

    async fn read(context: &mut Context) -> Result<Sent, Problem> {
        input::body(context).await.map(Sent)
    }
}

async fn known(realm: &Realm, id: &ClientId) -> Result<Arc<Client>, Problem> {
    // What another node wrote a moment ago may not have come here yet.
    realm.learn(RecordKind::Client, &id.0).await?;
    // The present snapshot, not the request's: a retry must see what the winner wrote.
    let found = realm.snapshot().registry.clients.get(&id.0).cloned();
    found.ok_or_else(Problem::not_found)
}

async fn list(realm: Arc<Realm>, page: Page) -> Result<Clients, Problem> {
    let snapshot = realm.snapshot();
    let after = page.after.as_deref();
    let mut found: Vec<&Arc<Client>> = snapshot
        .registry
        .clients
        .values()
        .filter(|client| after.is_none_or(|after| client.client_id.as_str() > after))
        .collect();
    // Of a hundred thousand, only those of the page are put in order.
    if found.len() > page.limit + 1 {
        found.select_nth_unstable_by(page.limit, |a, b| a.client_id.cmp(&b.client_id));
        found.truncate(page.limit + 1);
    }
    found.sort_unstable_by(|a, b| a.client_id.cmp(&b.client_id));
    let items = found.into_iter().map(Arc::clone).collect();
    let page = List::cut(items, page.limit, |client| client.client_id.clone());
    Ok(Clients(page))
}

async fn show(realm: Arc<Realm>, id: ClientId) -> Result<Shown, Problem> {
    known(&realm, &id).await.map(Shown::from)
}

/// A document that was sent, without a secret.
fn document(body: &[u8]) -> Result<Object<'_>, Problem> {
    let document = any_document(body)?;
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

/// A client's record as it is shown.
pub(crate) fn shown_document(client: &Client) -> Vec<u8> {
    let mut out = Vec::with_capacity(1024);
    Writer::new(&mut out).object(|w| client.write_public(w));
    out
}

/// A document that was sent.
pub(crate) fn any_document(body: &[u8]) -> Result<Object<'_>, Problem> {
    document_with(body, &[])
}

/// A document that was sent, which may have these members beside a client's own.
pub(crate) fn document_with<'a>(body: &'a [u8], more: &[&str]) -> Result<Object<'a>, Problem> {
    let limits = Limits {
        bytes: 256 * 1024,
        depth: 16,
        members: 4096,
    };
    let document =
        json::parse_object(body, &limits).map_err(|error| Problem::invalid(error.to_string()))?;
    let has = |name: &str| ClientDocument::has(name) || more.contains(&name);
    if let Some((name, _)) = document.iter().find(|(name, _)| !has(name)) {
        let known = ClientDocument::names();
        return Err(Problem::invalid(words::unknown("member", name, &known)));
    }
    Ok(document)
}

/// The `client_id` that a document names.
pub(crate) fn named(document: &Object<'_>) -> Result<Option<String>, Problem> {
    match document.get("client_id") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) => Ok(Some(id.clone().into_owned())),
        Some(_) => Err(Problem::invalid("client_id must be a string")),
    }
}

/// Reads a document over `client`, which has the defaults, and checks it as every other client is
/// checked.
pub(crate) fn read(
    realm: &Realm,
    document: &Object<'_>,
    client: &mut Client,
) -> Result<(), Problem> {
    metadata::read(document, client, &metadata::Rules::operator())?;
    check_record(client, realm)
}

fn new_secret_text() -> String {
    let mut bytes = [0; 48];
    random::fill_system(&mut bytes);
    base64url::encode(&bytes)
}

/// Takes the secrets away that are not of the kind that the client's method needs.
fn drop_other_secrets(client: &mut Client) {
    let method = client.token_endpoint_auth_method;
    let hmac = method == AuthMethod::ClientSecretJwt;
    client
        .secrets
        .retain(|s| method.needs_secret() && matches!(s, ClientSecret::Sealed { .. }) == hmac);
}

/// Gives the client a secret where its method needs one and it has none of the right kind. The
/// text, if one was made.
pub(crate) fn complete_secrets(
    realm: &Realm,
    client: &mut Client,
) -> Result<Option<String>, Problem> {
    drop_other_secrets(client);
    let method = client.token_endpoint_auth_method;
    if !method.needs_secret() || !client.secrets.is_empty() {
        return Ok(None);
    }
    let text = new_secret_text();
    let secret = client_secret(method, &text, &client.client_id, None, &realm.keyring())?;
    client.secrets.push(secret);
    Ok(Some(text))
}

async fn create(realm: Arc<Realm>, rights: Rights, sent: Sent) -> Result<Created<Shown>, Problem> {
    let document = document(&sent.0)?;
    let id = match named(&document)? {
        None => base64url::encode(&random::id::<16>()),
        Some(id) if is_client_id(&id) => id,
        Some(_) => {
            return Err(Problem::invalid(NOT_A_CLIENT_ID));
        }
    };
    let mut client = Client::new(id, realm.now());
    client.revision = 1;
    read(&realm, &document, &mut client)?;
    target::expect_over_client(&rights, &client)?;
    let secret = complete_secrets(&realm, &mut client)?;
    let name = client.client_name.as_deref().unwrap_or_default();
    signet_audit::name_target(&client.client_id, name);
    let client = realm.write_record(client, None).await?;
    Ok(Created(Shown { client, secret }))
}

/// Writes the client that a directory declares, new or known. `secret`: the one that it has; where
/// none is given, those that it has stay.
pub(crate) async fn declare(
    realm: &Realm,
    id: &str,
    members: &[u8],
    secret: Option<&Secret<String>>,
) -> Result<(), Problem> {
    let document = document(members)?;
    if !is_client_id(id) {
        return Err(Problem::invalid(NOT_A_CLIENT_ID));
    }
    let current = realm.snapshot().registry.clients.get(id).cloned();
    let created_at = current.as_ref().map(|current| current.created_at);
    let mut client = Client::new(id.to_owned(), created_at.unwrap_or_else(|| realm.now()));
    if let Some(current) = &current {
        client.secrets.clone_from(&current.secrets);
        client.registration_token_hash = current.registration_token_hash;
    }
    read(realm, &document, &mut client)?;
    drop_other_secrets(&mut client);
    let method = client.token_endpoint_auth_method;
    match secret {
        None if method.needs_secret() && client.secrets.is_empty() => {
            return Err(Problem::invalid(
                "client_secret is missing: a client of this token_endpoint_auth_method has one",
            ));
        }
        Some(_) if !method.needs_secret() => {
            return Err(Problem::invalid(
                "client_secret: a client of this token_endpoint_auth_method has none",
            ));
        }
        Some(text) if !has_only(realm, &client, text) => {
            let (text, id) = (text.expose(), &client.client_id);
            let secret = client_secret(method, text, id, None, &realm.keyring())?;
            client.secrets = vec![secret];
        }
        Some(_) | None => {}
    }
    let name = client.client_name.as_deref().unwrap_or_default();
    signet_audit::name_target(&client.client_id, name);
    let read = current.map(|current| current.revision);
    realm.write_record(client, read).await?;
    Ok(())
}

/// Whether a client has this secret and no other one.
fn has_only(realm: &Realm, client: &Client, text: &Secret<String>) -> bool {
    let hash = sha256(text.expose().as_bytes());
    match client.secrets.as_slice() {
        [
            ClientSecret::Sha256 {
                hash: known,
                expires_at: None,
            },
        ] => *known == hash,
        [
            ClientSecret::Sealed {
                sealed,
                expires_at: None,
            },
        ] => {
            let id = client.client_id.as_bytes();
            let opened = realm.keyring().open_with(Purpose::ClientSecret, id, sealed);
            opened.is_ok_and(|opened| sha256(&opened) == hash)
        }
        _ => false,
    }
}

pub(crate) fn is_client_id(id: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"-._~:/@".contains(&b);
    (1..=MAX_ID_BYTES).contains(&id.len()) && id.bytes().all(fits)
}

async fn replace(
    realm: Arc<Realm>,
    rights: Rights,
    (id, Revision(revision), sent): (ClientId, Revision, Sent),
) -> Result<Shown, Problem> {
    let current = known(&realm, &id).await?;
    if revision != current.revision {
        return Err(Problem::changed());
    }
    let mut client = Client::new(current.client_id.clone(), current.created_at);
    client.revision = current.revision + 1;
    client.secrets.clone_from(&current.secrets);
    client.registration_token_hash = current.registration_token_hash;
    let document = document(&sent.0)?;
    read(&realm, &document, &mut client)?;
    if named(&document)?.is_some_and(|id| id != client.client_id) {
        return Err(Problem::invalid("client_id cannot be changed"));
    }
    // What it was is asked by the path; what it becomes, here.
    target::expect_over_client(&rights, &client)?;
    let secret = complete_secrets(&realm, &mut client)?;
    let client = realm.write_record(client, Some(current.revision)).await?;
    if current.enabled && !client.enabled {
        realm.revoke_client(&client.client_id).await?;
    }
    Ok(Shown { client, secret })
}

async fn remove(
    realm: Arc<Realm>,
    (id, revision): (ClientId, Option<Revision>),
) -> Result<(), Problem> {
    let client = known(&realm, &id).await?;
    let revision = revision.map(|Revision(revision)| revision);
    if revision.is_some_and(|revision| revision != client.revision) {
        return Err(Problem::changed());
    }
    let id = &client.client_id;
    // Asked while the record counts: its tokens may live longer than everybody else's.
    let longest = realm.longest_refresh_token();
    let name = client.client_name.as_deref().unwrap_or_default();
    signet_audit::name_target(id, name);
    realm.remove_record::<Client>(id, revision).await?;
    // Without its record nothing new can be made: what was made until now ends.
    realm.revoke_client_for(id, longest).await?;
    // Another client of its id begins without roles.
    Ok(realm.remove_roles_of(id).await?)
}

/// Removes the client that a directory declared before, and its roles. The caller revokes what was
/// issued to it.
pub(crate) async fn withdraw(realm: &Realm, id: &str) -> Result<(), Problem> {
    realm.remove_record::<Client>(id, None).await?;
    Ok(realm.remove_roles_of(id).await?)
}

/// The rules that every client is held to, and what its table of claims needs of the schema.
fn check_record(client: &Client, realm: &Realm) -> Result<(), Problem> {
    let snapshot = realm.snapshot();
    metadata::check(client, &snapshot.settings).map_err(OAuthError::from)?;
    let people = &snapshot.registry.people;
    let format = client.access_token_format;
    claim_rules::check(&client.claims, TableOf::Client, Some(people), format)
        .map_err(Problem::invalid)
}

/// Changes a client's record, again if somebody else was faster, so that both changes count (known
/// fault A18).
async fn change(
    realm: &Realm,
    id: &ClientId,
    change: impl Fn(&mut Client) -> Result<(), Problem>,
) -> Result<Arc<Client>, Problem> {
    for _ in 0..MAX_TRIES {
        let current = known(realm, id).await?;
        let mut client = Client::clone(&current);
        change(&mut client)?;
        if client == *current {
            return Ok(current);
        }
        check_record(&client, realm)?;
        client.revision = current.revision + 1;
        match realm.write_record(client, Some(current.revision)).await {
            Err(RecordError::Conflict) => {}
            other => return Ok(other?),
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

async fn change_redirects(
    realm: Arc<Realm>,
    (id, Json(by)): (ClientId, Json<ListChange>),
) -> Result<Shown, Problem> {
    let changed = change(&realm, &id, |client| {
        let native = client.application_type == ApplicationType::Native;
        apply(&mut client.redirect_uris, &by, native)
    });
    changed.await.map(Shown::from)
}

async fn change_logout_redirects(
    realm: Arc<Realm>,
    (id, Json(by)): (ClientId, Json<ListChange>),
) -> Result<Shown, Problem> {
    let changed = change(&realm, &id, |client| {
        let native = client.application_type == ApplicationType::Native;
        apply(&mut client.post_logout_redirect_uris, &by, native)
    });
    changed.await.map(Shown::from)
}

async fn new_secret(
    realm: Arc<Realm>,
    (id, Json(wanted)): (ClientId, Json<NewSecret>),
) -> Result<Created<Json<SecretShownOnce>>, Problem> {
    let (text, now) = (new_secret_text(), realm.now());
    let others_end = now.saturating_add(wanted.others_expire_in);
    let client =
        change(&realm, &id, |client| {
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
            let secret = client_secret(method, &text, &client.client_id, None, &realm.keyring())?;
            client.secrets.push(secret);
            Ok(())
        })
        .await?;
    Ok(Created(Json(SecretShownOnce {
        client_id: client.client_id.clone(),
        client_secret: text,
    })))
}

async fn enable(realm: Arc<Realm>, id: ClientId) -> Result<Shown, Problem> {
    let changed = change(&realm, &id, |client| {
        client.enabled = true;
        Ok(())
    });
    changed.await.map(Shown::from)
}

async fn disable(realm: Arc<Realm>, id: ClientId) -> Result<Shown, Problem> {
    let client = change(&realm, &id, |client| {
        client.enabled = false;
        Ok(())
    })
    .await?;
    realm.revoke_client(&client.client_id).await?;
    Ok(Shown::from(client))
}

async fn revoke(realm: Arc<Realm>, id: ClientId) -> Result<(), Problem> {
    let client = known(&realm, &id).await?;
    realm.revoke_client(&client.client_id).await?;
    Ok(())
}
