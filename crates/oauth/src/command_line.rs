//! The client that every server has: the command line's, which administers.
//!
//! It is public, and its redirect is loopback: whoever listens there gets the answer (RFC 8252
//! section 8.6). So it asks for consent like any other, gets the one scope that it is for, and its
//! access tokens expire soon after the command. `signet login` keeps its refresh token, which
//! rotates and ends with the session. A person logs in by a browser (code and PKCE, or a device
//! code). Somebody may also send a password directly, with the code of an app where they have one:
//! see [`password_login`].
use crate::authorize::acr;
use crate::authorize::redirect_uri::RedirectUri;
use crate::client::{ApplicationType, AuthMethod, Client, ConsentPolicy, GrantType};
use crate::error::{ErrorCode, OAuthError};
use crate::registry::{Descriptions, Registry, ScopeEntry};
use crate::request::Context;
use crate::scope::{self, ScopeSet};
use crate::token::decision::{AccessToken, Issue};
use crate::token::target;
use std::sync::Arc;

/// The built-in client's id.
pub const CLIENT_ID: &str = "signet-cli";
/// Its redirect; any port of the loopback address will do (RFC 8252 section 7.3).
pub const REDIRECT_URI: &str = "http://127.0.0.1/callback";
/// How long its access tokens live, seconds: a command's work.
const TOKEN_SECONDS: u64 = 300;
/// How long a login that is kept is refreshed, seconds: a working day, as in the console. It also
/// ends with its session.
const KEPT_SECONDS: u64 = 8 * 3600;

/// Adds the client and the scopes of administration, unless the registry has records of these
/// names: an operator may have changed the client.
///
/// # Errors
/// As [`client`].
pub fn add(registry: &mut Registry) -> Result<(), OAuthError> {
    if !registry.clients.contains_key(CLIENT_ID) {
        registry
            .clients
            .insert(CLIENT_ID.into(), Arc::new(client()?));
    }
    for (name, description) in [
        (scope::ADMIN, "Administer this server"),
        (
            scope::ADMIN_READ,
            "See this server's users, clients, sessions and audit trail",
        ),
        (scope::REVOCATIONS, "Read the revocation stream"),
        (scope::SCIM, "Administer accounts and groups"),
    ] {
        if registry.scope(name).is_none() {
            registry.scopes.push(ScopeEntry {
                name: name.into(),
                description: description.into(),
                descriptions: Descriptions::default(),
                published: false,
                claims: Vec::new(),
            });
        }
    }
    Ok(())
}

/// The client as it is before an operator changes it.
///
/// # Errors
/// None in practice: the constants above parse.
pub fn client() -> Result<Client, OAuthError> {
    let mut client = Client::new(CLIENT_ID, 0);
    client.client_name = Some("Signet command line".into());
    client.application_type = ApplicationType::Native;
    client.token_endpoint_auth_method = AuthMethod::None;
    client.grant_types = vec![
        GrantType::AuthorizationCode,
        GrantType::DeviceCode,
        GrantType::RefreshToken,
    ];
    client.redirect_uris = vec![RedirectUri::parse(REDIRECT_URI, true)?];
    client.scope = ScopeSet::parse(&format!("{} {}", scope::OPENID, scope::ADMIN))?;
    client.consent = ConsentPolicy::Ask;
    client.access_token_lifetime = Some(TOKEN_SECONDS);
    client.refresh_token_lifetime = Some(KEPT_SECONDS);
    Ok(client)
}

/// Whether these methods (names of [`acr::METHODS`]) may log in to the command line without a
/// browser: its client exists, and asks for no more than they show.
///
/// # Errors
/// `unauthorized_client` where the record was disabled, `interaction_required` where it wants
/// another factor: the person logs in by a browser then.
pub fn without_browser<'a>(
    context: &Context<'a>,
    methods: &[&str],
) -> Result<&'a Arc<Client>, OAuthError> {
    let client = context
        .registry
        .client(CLIENT_ID, context.now())
        .filter(|client| client.scope.contains(scope::ADMIN))
        .ok_or_else(|| {
            OAuthError::new(
                ErrorCode::UnauthorizedClient,
                "the command line may not log in here",
            )
        })?;
    let wanted = &client.default_acr_values;
    let required = [&context.settings.required_acr, &client.required_acr];
    let mut required = required.into_iter().flatten();
    if !wanted.is_empty() && !wanted.iter().any(|acr| acr::holds(acr, methods))
        || required.any(|acr| !acr::holds(acr, methods))
    {
        return Err(OAuthError::new(
            ErrorCode::InteractionRequired,
            "this is not enough to log in: log in by a browser",
        ));
    }
    Ok(client)
}

/// The token of an administrator who has shown these methods a moment ago: for the admin API of
/// this server and nothing else. It belongs to no session; it is revoked with the user and the
/// client, and expires within minutes.
///
/// # Errors
/// As [`without_browser`]; `insufficient_scope` where the user is no administrator.
pub fn password_login(
    context: &Context<'_>,
    user_id: &str,
    is_admin: bool,
    methods: &[&str],
) -> Result<Issue, OAuthError> {
    let client = without_browser(context, methods)?;
    if !is_admin {
        return Err(OAuthError::new(
            ErrorCode::InsufficientScope,
            "the user is not an administrator",
        ));
    }
    let target = target::for_client(context, client, &[])?;
    Ok(Issue {
        access_token: AccessToken {
            client_id: client.client_id.clone(),
            sub: user_id.to_owned(),
            audience: target.audience,
            scope: ScopeSet::parse(scope::ADMIN)?,
            lifetime: target.lifetime,
            format: target.format,
            algorithm: target.algorithm,
            grant_id: None,
            sid: None,
            auth_time: Some(context.now()),
            acr: acr::of(methods).map(str::to_owned),
            amr: acr::amr(methods).into_iter().map(str::to_owned).collect(),
            confirmation: None,
            act: None,
            subject_jtis: Vec::new(),
            claims: None,
            chain: None,
        },
        id_token: None,
        refresh: None,
        issued_token_type: None,
    })
}
