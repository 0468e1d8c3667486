//! Dynamic client registration and management (RFC 7591, RFC 7592, OpenID Connect Registration
//! 1.0).
//!
//! ```text
//! POST   /register              sector_identifier_uri(body) -> the caller fetches that list, if one is named
//!                               register(body, ..)          -> Registered: a record to insert, and the answer (201)
//! GET    /register/{client_id}  authorize_management(client, token), then registration_response(client, ..)
//! PUT    /register/{client_id}  the same, then update(client, body, ..) -> Registered: a record to replace with compare
//! DELETE /register/{client_id}  the same, then the record is removed and its tokens are revoked (204)
//! ```
//!
//! Members that are not understood are ignored (RFC 7591 section 2), but those whose being ignored
//! would leave the client less safe than it asked for (encryption, pairwise subjects, signed
//! requests) are refused.
use crate::{
    client::{
        AuthMethod, Client, ClientSecret, ConsentPolicy, RefreshRotation,
        metadata::{self, MEMBERS, Rules, SetBy},
    },
    endpoint::EndpointId,
    error::{Challenge, ErrorCode, OAuthError},
    scope::{self, ScopeSet},
    settings::Settings,
};
use signet_crypto::{
    Algorithm, ct_eq,
    hash::sha256,
    seal::{Keyring, Purpose},
};
use signet_encoding::{
    base64url,
    json::{self, Limits, Object, Writer},
};

/// The longest registration document, in bytes.
pub const MAX_REGISTRATION_BYTES: usize = 64 * 1024;
/// The shortest secret that an operator may choose, in bytes.
pub const MIN_SECRET_BYTES: usize = 32;

/// Fresh randomness of one registration.
#[derive(Clone)]
pub struct Random {
    /// becomes the client_id
    pub client_id: [u8; 16],
    /// becomes the client_secret: 64 characters, enough for HS512 (RFC 7518 section 3.2)
    pub secret: [u8; 48],
    /// becomes the registration access token
    pub token: [u8; 32],
}

/// A record to be stored, and what the client receives.
#[derive(Clone)]
pub struct Registered {
    /// to insert, or to replace the record of the revision before
    pub client: Client,
    /// the JSON answer; it may hold secrets
    pub response: Vec<u8>,
}

/// The members of a registration document that its caller must fetch before it is checked:
/// `sector_identifier_uri`.
///
/// # Errors
/// `invalid_client_metadata` for what is no JSON object, or a URI that is not https.
pub fn sector_identifier_uri(body: &[u8]) -> Result<Option<String>, OAuthError> {
    metadata::sector_identifier_uri(&parse(body)?)
}

/// Registers a client. `sector`: the JSON array that `sector_identifier_uri` led to. `now`: Unix
/// seconds.
///
/// # Errors
/// `invalid_redirect_uri`, `invalid_client_metadata`.
pub fn register(
    body: &[u8],
    settings: &Settings,
    keyring: &Keyring,
    sector: Option<&[String]>,
    random: &Random,
    now: u64,
) -> Result<Registered, OAuthError> {
    let document = parse(body)?;
    refuse_unsafe_members(&document)?;
    let mut client = Client::new(base64url::encode(&random.client_id), now);
    metadata::read(&document, &mut client, &Rules::dynamic(settings))?;
    apply_policy(&document, &mut client, settings);
    metadata::check(&client, settings)?;
    metadata::check_sector(&client, sector)?;
    let secret = give_secret(&mut client, random, keyring)?;
    let token = base64url::encode(&random.token);
    client.registration_token_hash = Some(sha256(token.as_bytes()));
    let response = registration_response(&client, settings, Some(&token), secret.as_deref());
    Ok(Registered { client, response })
}

/// Replaces a client's metadata (RFC 7592 section 2.2). What is left out goes back to its default;
/// policy, secrets and the registration access token stay. `token`: as presented, and checked by
/// [`authorize_management`].
///
/// # Errors
/// As [`register`]; also for another `client_id`, another secret, or members that only the server
/// sets.
pub fn update(
    current: &Client,
    body: &[u8],
    token: &str,
    settings: &Settings,
    keyring: &Keyring,
    sector: Option<&[String]>,
    random: &Random,
) -> Result<Registered, OAuthError> {
    let document = parse(body)?;
    refuse_unsafe_members(&document)?;
    if document.string("client_id").ok().flatten() != Some(current.client_id.as_str()) {
        return Err(invalid("client_id must be the client's own"));
    }
    for name in [
        "registration_access_token",
        "registration_client_uri",
        "client_secret_expires_at",
        "client_id_issued_at",
    ] {
        if document.get(name).is_some() {
            return Err(invalid(
                "an update must not contain members that only the server sets (RFC 7592 section 2.2)",
            ));
        }
    }
    if let Some(secret) = document.get("client_secret")
        && !secret
            .as_str()
            .is_some_and(|s| secret_matches(current, s, keyring))
    {
        return Err(invalid("client_secret is not the client's current one"));
    }
    let mut client = Client::new(current.client_id.clone(), current.created_at);
    // The operator's policy is not the client's to change.
    client.revision = current.revision + 1;
    client.registration_token_hash = current.registration_token_hash;
    for member in MEMBERS.iter().filter(|m| m.set_by == SetBy::Operator) {
        member.copy(current, &mut client);
    }
    metadata::read(&document, &mut client, &Rules::dynamic(settings))?;
    apply_policy(&document, &mut client, settings);
    client.require_pkce |= current.require_pkce;
    // An operator may have given a registered client more than registration gives.
    if let Ok(Some(text)) = document.string("scope") {
        client.scope = client
            .scope
            .union(&ScopeSet::parse(text)?.intersection(&current.scope));
    }
    metadata::check(&client, settings)?;
    metadata::check_sector(&client, sector)?;
    let hmac = AuthMethod::ClientSecretJwt;
    let same_kind =
        (client.token_endpoint_auth_method == hmac) == (current.token_endpoint_auth_method == hmac);
    let secret = if client.token_endpoint_auth_method.needs_secret()
        && same_kind
        && !current.secrets.is_empty()
    {
        client.secrets.clone_from(&current.secrets);
        None
    } else {
        give_secret(&mut client, random, keyring)?
    };
    // Nobody has looked at what it says now.
    let unchanged = Client {
        revision: current.revision,
        ..client.clone()
    };
    client.vouched_for &= unchanged == *current;
    let response = registration_response(&client, settings, Some(token), secret.as_deref());
    Ok(Registered { client, response })
}

/// May the bearer of `token` manage this client? An unknown client and a wrong token are answered
/// alike.
///
/// # Errors
/// `invalid_token`, 401 (RFC 7592 section 2).
pub fn authorize_management(
    client: Option<&Client>,
    token: Option<&str>,
) -> Result<(), OAuthError> {
    let hash = sha256(token.unwrap_or_default().as_bytes());
    let expected = client.and_then(|c| c.registration_token_hash);
    if token.is_some() && ct_eq(&hash, &expected.unwrap_or_default()) && expected.is_some() {
        Ok(())
    } else {
        Err(OAuthError::new(
            ErrorCode::InvalidToken,
            "the registration access token is not valid for this client",
        )
        .with_challenge(Challenge::Bearer))
    }
}

/// The client information response (RFC 7591 section 3.2.1). `token`: the registration access
/// token, which only its bearer still knows; `secret`: where one has just been made.
pub fn registration_response(
    client: &Client,
    settings: &Settings,
    token: Option<&str>,
    secret: Option<&str>,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(1024);
    Writer::new(&mut out).object(|w| {
        w.member("client_id").string(&client.client_id);
        w.member("client_id_issued_at").number(client.created_at);
        if let Some(secret) = secret {
            w.member("client_secret").string(secret);
        }
        if client.token_endpoint_auth_method.needs_secret() {
            // Required wherever there is a secret; 0: it does not end.
            w.member("client_secret_expires_at").number(0);
        }
        if let Some(token) = token {
            let uri = settings.url(EndpointId::RegisterClient);
            w.member("registration_access_token").string(token);
            w.member("registration_client_uri")
                .string(&uri.replace("{client_id}", &client.client_id));
        }
        metadata::write(w, client);
    });
    out
}

/// A secret at rest: hashed, or sealed where HMAC needs its value.
///
/// # Errors
/// `invalid_client_metadata` for a secret under [`MIN_SECRET_BYTES`], `server_error` if it cannot
/// be sealed.
pub fn client_secret(
    method: AuthMethod,
    secret: &str,
    client_id: &str,
    expires_at: Option<u64>,
    keyring: &Keyring,
) -> Result<ClientSecret, OAuthError> {
    if secret.len() < MIN_SECRET_BYTES {
        return Err(invalid("a client secret must have at least 32 bytes"));
    }
    if method != AuthMethod::ClientSecretJwt {
        return Ok(ClientSecret::Sha256 {
            hash: sha256(secret.as_bytes()),
            expires_at,
        });
    }
    let sealed = keyring
        .seal_with(
            Purpose::ClientSecret,
            client_id.as_bytes(),
            secret.as_bytes(),
        )
        .map_err(|_| OAuthError::new(ErrorCode::ServerError, "the secret could not be kept"))?;
    Ok(ClientSecret::Sealed { sealed, expires_at })
}

fn give_secret(
    client: &mut Client,
    random: &Random,
    keyring: &Keyring,
) -> Result<Option<String>, OAuthError> {
    let method = client.token_endpoint_auth_method;
    if !method.needs_secret() {
        return Ok(None);
    }
    let secret = base64url::encode(&random.secret);
    client.secrets = vec![client_secret(
        method,
        &secret,
        &client.client_id,
        None,
        keyring,
    )?];
    Ok(Some(secret))
}

fn secret_matches(client: &Client, secret: &str, keyring: &Keyring) -> bool {
    client.secrets.iter().any(|s| match s {
        ClientSecret::Sha256 { hash, .. } => ct_eq(&sha256(secret.as_bytes()), hash),
        ClientSecret::Sealed { sealed, .. } => keyring
            .open_with(Purpose::ClientSecret, client.client_id.as_bytes(), sealed)
            .is_ok_and(|value| ct_eq(&value, secret.as_bytes())),
    })
}

/// What the server decides about a registered client, whatever it asked for.
fn apply_policy(document: &Object<'_>, client: &mut Client, settings: &Settings) {
    let rules = &settings.registration;
    let most = rules.default_scope.filter(|s| {
        !scope::PRIVILEGED.contains(&s)
            && (s != scope::OFFLINE_ACCESS
                || client.may_use(crate::client::GrantType::RefreshToken))
    });
    client.scope = if document.get("scope").is_some() {
        client.scope.intersection(&most)
    } else {
        most
    };
    client.require_pkce = rules.require_pkce || client.is_public();
    let may_keep = !client.is_public() && client.is_sender_constrained();
    client.refresh_rotation = match (rules.refresh_rotation, may_keep) {
        (RefreshRotation::Keep, true) => RefreshRotation::Keep,
        (RefreshRotation::Keep, false) | (RefreshRotation::Rotate, _) => RefreshRotation::Rotate,
    };
    if client.id_token_signed_response_alg.is_none() {
        // OpenID Connect Registration section 2: left out, it is RS256.
        let registered = match settings.signing_algs.contains(&Algorithm::Rs256) {
            true => Algorithm::Rs256,
            false => settings.id_token_alg,
        };
        client.id_token_signed_response_alg = Some(registered);
    }
    if client.is_public() && client.allowed_origins.is_empty() {
        // A browser application calls the token endpoint from where it is redirected to.
        for uri in &client.redirect_uris {
            let origin = crate::uri::Uri::parse(uri.as_str())
                .filter(|u| u.scheme.starts_with("http"))
                .and_then(|u| u.origin());
            client
                .allowed_origins
                .extend(origin.filter(|o| !client.allowed_origins.contains(o)));
        }
    }
    if client.revision == 0 {
        client.revision = 1;
        client.consent = ConsentPolicy::Ask;
    }
}

/// Ignoring these would leave the client with less protection than it believes to have (known fault
/// A16).
fn refuse_unsafe_members(document: &Object<'_>) -> Result<(), OAuthError> {
    for name in [
        "software_statement",
        "id_token_encrypted_response_alg",
        "id_token_encrypted_response_enc",
        "userinfo_encrypted_response_alg",
        "userinfo_encrypted_response_enc",
        "introspection_encrypted_response_alg",
        "authorization_signed_response_alg",
        "authorization_encrypted_response_alg",
    ] {
        if document.get(name).is_some_and(|v| *v != json::Value::Null) {
            return Err(invalid(
                "software statements, encrypted responses and signed authorization responses are not supported",
            )
            .with_hint(format!("unsupported member: {name}")));
        }
    }
    match document.get("subject_type").map(|v| v.as_str()) {
        None | Some(Some("public")) => {}
        _ => return Err(invalid("the only supported subject_type is public")),
    }
    if document
        .get("require_signed_request_object")
        .is_some_and(|v| v.as_bool() != Some(false))
    {
        return Err(invalid("signed request objects are not supported"));
    }
    Ok(())
}

fn parse(body: &[u8]) -> Result<Object<'_>, OAuthError> {
    let limits = Limits {
        bytes: MAX_REGISTRATION_BYTES,
        ..Limits::default()
    };
    json::parse_object(body, &limits)
        .map_err(|e| invalid("the body must be one JSON object").with_hint(e.to_string()))
}

fn invalid(description: &'static str) -> OAuthError {
    OAuthError::new(ErrorCode::InvalidClientMetadata, description)
}

#[cfg(test)]
mod tests;
