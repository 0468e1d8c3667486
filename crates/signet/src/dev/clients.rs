//! The three clients of a first try.

use signet_crypto::seal::Keyring;
use signet_oauth::authorize::redirect_uri::RedirectUri;
use signet_oauth::client::registration::client_secret;
use signet_oauth::client::{AuthMethod, Client, GrantType};
use signet_oauth::registry::Resource;
use signet_oauth::scope::{self, ScopeSet};
use signet_realm::records::RecordError;
use signet_realm::records::write::insert;
use signet_store::Store;

use super::{Credentials, DevFile};

/// A command's token expires soon after it.
const ADMIN_TOKEN_SECONDS: u64 = 300;
/// What people's clients may ask for.
const PEOPLE: &str = "openid profile email groups offline_access";
/// A resource server that tokens can be asked for: what a gate of a first try stands before.
pub const RESOURCE: &str = "https://orders.example.com";

/// Makes them where they are missing.
pub async fn seed_clients(
    store: &dyn Store,
    keyring: &Keyring,
    file: &DevFile,
    now: u64,
) -> Result<(), String> {
    let mut clients = vec![
        service(file, keyring, now)?,
        web(file, keyring, now)?,
        native(file, now)?,
    ];
    if let Some(credentials) = &file.admin_client {
        clients.push(administrator(credentials, keyring, now)?);
    }
    for client in clients {
        match insert(store, &client, now).await {
            // It is there: made by a start that ended before dev.json was in place.
            Ok(()) | Err(RecordError::Exists) => {}
            Err(e) => {
                return Err(format!(
                    "the client {} cannot be made: {e}",
                    client.client_id
                ));
            }
        }
    }
    match insert(store, &resource(file), now).await {
        Ok(()) | Err(RecordError::Exists) => Ok(()),
        Err(e) => Err(format!("the resource {RESOURCE} cannot be made: {e}")),
    }
}

fn resource(file: &DevFile) -> Resource {
    Resource {
        identifier: RESOURCE.into(),
        name: Some("Example orders API".into()),
        scopes: ScopeSet::default(),
        access_token_signed_response_alg: None,
        access_token_format: None,
        access_token_lifetime: None,
        introspectors: vec![file.clients.service.client_id.clone()],
        claims: Vec::new(),
        revision: 1,
    }
}

/// The administrative commands of this machine: client_credentials with the scope of the admin API,
/// and nothing else.
fn administrator(credentials: &Credentials, keyring: &Keyring, now: u64) -> Result<Client, String> {
    let mut client = confidential(credentials, keyring, now)?;
    client.client_name = Some("Commands of this machine".into());
    client.grant_types = vec![GrantType::ClientCredentials];
    client.response_types = Vec::new();
    client.resources = Vec::new();
    client.scope = scopes(scope::ADMIN)?;
    client.access_token_lifetime = Some(ADMIN_TOKEN_SECONDS);
    Ok(client)
}

/// client_credentials, token exchange also of the other two's tokens, introspection and revocation.
fn service(file: &DevFile, keyring: &Keyring, now: u64) -> Result<Client, String> {
    let mut client = confidential(&file.clients.service, keyring, now)?;
    client.client_name = Some("Example service".into());
    client.grant_types = vec![GrantType::ClientCredentials, GrantType::TokenExchange];
    client.response_types = Vec::new();
    client.may_act_for = vec![
        file.clients.web.client_id.clone(),
        file.clients.native.client_id.clone(),
    ];
    // Chains of agents' grants, too: from the identities that the people here bind.
    client.may_exchange_agent_grants = true;
    // What it may exchange is within this.
    client.scope = scopes("openid profile email")?;
    Ok(client)
}

/// Confidential: code, refresh and device.
fn web(file: &DevFile, keyring: &Keyring, now: u64) -> Result<Client, String> {
    let mut client = confidential(&file.clients.web, keyring, now)?;
    client.client_name = Some("Example web application".into());
    // It stands for a program on a developer's machine, on whatever port that has: RFC 8252 section
    // 7.3 lets a native application's loopback redirect have any.
    client.application_type = signet_oauth::client::ApplicationType::Native;
    client.grant_types = vec![
        GrantType::AuthorizationCode,
        GrantType::RefreshToken,
        GrantType::DeviceCode,
    ];
    client.scope = scopes(PEOPLE)?;
    Ok(client)
}

/// Public: code with PKCE, refresh and device.
fn native(file: &DevFile, now: u64) -> Result<Client, String> {
    let mut client = plain(&file.clients.native, now)?;
    client.client_name = Some("Example native application".into());
    client.application_type = signet_oauth::client::ApplicationType::Native;
    client.token_endpoint_auth_method = AuthMethod::None;
    client.grant_types = vec![
        GrantType::AuthorizationCode,
        GrantType::RefreshToken,
        GrantType::DeviceCode,
    ];
    client.scope = scopes(PEOPLE)?;
    Ok(client)
}

fn confidential(credentials: &Credentials, keyring: &Keyring, now: u64) -> Result<Client, String> {
    let mut client = plain(credentials, now)?;
    let secret = credentials.client_secret.as_deref().unwrap_or_default();
    let method = AuthMethod::ClientSecretBasic;
    client.token_endpoint_auth_method = method;
    // Nobody chose it: a library that sends the secret in the body is as welcome.
    client.any_secret_method = true;
    client.secrets = vec![
        client_secret(method, secret, &client.client_id, None, keyring)
            .map_err(|e| format!("the secret of {}: {}", client.client_id, e.description))?,
    ];
    Ok(client)
}

fn plain(credentials: &Credentials, now: u64) -> Result<Client, String> {
    let mut client = Client::new(credentials.client_id.clone(), now);
    client.revision = 1;
    client.resources = vec![RESOURCE.into()];
    for uri in &credentials.redirect_uris {
        let parsed =
            RedirectUri::parse(uri, true).map_err(|e| format!("{uri}: {}", e.description))?;
        client.redirect_uris.push(parsed);
    }
    Ok(client)
}

fn scopes(text: &str) -> Result<ScopeSet, String> {
    ScopeSet::parse(text).map_err(|e| e.description.to_owned())
}
