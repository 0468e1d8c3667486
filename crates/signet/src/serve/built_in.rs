//! Clients that every server has.

use std::sync::Arc;

use signet_oauth::{
    client::{ApplicationType, AuthMethod, Client, ConsentPolicy, GrantType},
    redirect_uri::RedirectUri,
    registry::Registry,
    scope::{self, ScopeSet},
};

use crate::admin_client::{CLI_CLIENT_ID, CLI_REDIRECT_URI};

/// The admin API's tokens for a command end soon after it.
const CLI_TOKEN_SECONDS: u64 = 300;

/// Adds the command line's client, unless the store or the configuration has one of that name.
///
/// It is public and its redirect is loopback: whoever listens there gets the answer (RFC 8252 section 8.6). So it asks for
/// consent like any other; the command answers the page, a browser that is merely logged in does not.
pub fn add(registry: &mut Registry) -> Result<(), String> {
    if registry.clients.contains_key(CLI_CLIENT_ID) {
        return Ok(());
    }
    let said = |e: signet_oauth::error::OAuthError| e.description.to_owned();
    let mut client = Client::new(CLI_CLIENT_ID, 0);
    client.client_name = Some("Signet command line".into());
    client.application_type = ApplicationType::Native;
    client.token_endpoint_auth_method = AuthMethod::None;
    client.grant_types = vec![GrantType::AuthorizationCode];
    client.redirect_uris = vec![RedirectUri::parse(CLI_REDIRECT_URI, true).map_err(said)?];
    client.scope = ScopeSet::parse(&format!("openid {}", scope::ADMIN)).map_err(said)?;
    client.consent = ConsentPolicy::Ask;
    client.access_token_lifetime = Some(CLI_TOKEN_SECONDS);
    registry
        .clients
        .insert(CLI_CLIENT_ID.into(), Arc::new(client));
    for (name, description) in [
        (scope::ADMIN, "Administer this server"),
        (scope::REVOCATIONS, "Hear what is revoked"),
    ] {
        if registry.scope(name).is_none() {
            registry.scopes.push(signet_oauth::registry::ScopeEntry {
                name: name.into(),
                description: description.into(),
                published: false,
            });
        }
    }
    Ok(())
}
