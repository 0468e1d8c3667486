//! A client of the configuration as the server's record of it.

use std::path::Path;

use signet_crypto::hash::sha256;
use signet_jose::jwk::JwkSet;
use signet_oauth::{
    client::{
        ApplicationType, AuthMethod, Client, ClientSecret, ConsentPolicy, GrantType,
        RefreshRotation, TlsClientAuth,
    },
    redirect_uri::RedirectUri,
};

use super::{
    apply::{Faults, Seal},
    model,
};

/// One client. `seal`: `None` checks without reading secrets.
pub fn client(
    entry: &model::Client,
    path: &str,
    base: &Path,
    seal: Option<Seal<'_>>,
    faults: &mut Faults,
) -> Option<Client> {
    let before = faults.0.len();
    let method = AuthMethod::from_name(&entry.token_endpoint_auth_method);
    if method.is_none() {
        faults.add(
            format!("{path}.token_endpoint_auth_method"),
            format!(
                "\"{}\" is not an authentication method",
                entry.token_endpoint_auth_method
            ),
        );
    }
    let method = method.unwrap_or(AuthMethod::ClientSecretBasic);
    let mut grant_types = Vec::new();
    for (i, name) in entry.grant_types.iter().enumerate() {
        match GrantType::from_name(name) {
            Some(grant) if !grant_types.contains(&grant) => grant_types.push(grant),
            Some(_) => {}
            None => faults.add(
                format!("{path}.grant_types[{i}]"),
                format!("\"{name}\" is not a grant"),
            ),
        }
    }
    let native = entry.application_type == model::ApplicationType::Native;
    let mut uris = |uris: &[String], member: &str| {
        let mut parsed = Vec::new();
        for (i, uri) in uris.iter().enumerate() {
            match RedirectUri::parse(uri, native) {
                Ok(uri) => parsed.push(uri),
                Err(e) => faults.add(format!("{path}.{member}[{i}]"), e.description),
            }
        }
        parsed
    };
    let redirect_uris = uris(&entry.redirect_uris, "redirect_uris");
    let post_logout_redirect_uris = uris(
        &entry.post_logout_redirect_uris,
        "post_logout_redirect_uris",
    );
    let uses_code = grant_types.contains(&GrantType::AuthorizationCode);
    if uses_code && entry.redirect_uris.is_empty() {
        faults.add(
            path,
            "a client that uses authorization_code needs redirect_uris",
        );
    }
    if entry.client_id.is_empty()
        || entry.client_id.len() > 128
        || !entry.client_id.bytes().all(|b| b.is_ascii_graphic())
    {
        faults.add(
            format!("{path}.client_id"),
            "a client_id is 1 to 128 visible ASCII characters",
        );
    }
    let secrets = secrets(entry, method, path, base, seal, faults);
    let jwks = jwks(entry, method, path, base, faults);
    let tls_client_auth = tls_client_auth(entry, method, path, faults);
    if method == AuthMethod::None {
        if grant_types.contains(&GrantType::ClientCredentials) {
            faults.add(
                format!("{path}.grant_types"),
                "a public client cannot use client_credentials",
            );
        }
        if !entry.require_pkce {
            faults.add(
                format!("{path}.require_pkce"),
                "a public client always needs PKCE",
            );
        }
    }
    let constrained =
        entry.dpop_bound_access_tokens || entry.tls_client_certificate_bound_access_tokens;
    if !entry.rotate_refresh_tokens && (method == AuthMethod::None || !constrained) {
        faults.add(
            format!("{path}.rotate_refresh_tokens"),
            "only a confidential client with bound access tokens may keep its refresh token",
        );
    }
    let client = Client {
        client_name: entry.client_name.clone(),
        client_uri: entry.client_uri.clone(),
        application_type: if native {
            ApplicationType::Native
        } else {
            ApplicationType::Web
        },
        redirect_uris,
        post_logout_redirect_uris,
        allowed_origins: entry.allowed_origins.clone(),
        response_types: if uses_code {
            vec!["code".into()]
        } else {
            Vec::new()
        },
        grant_types,
        token_endpoint_auth_method: method,
        secrets,
        jwks,
        jwks_uri: entry.jwks_uri.clone(),
        tls_client_auth,
        scope: faults.scopes(&format!("{path}.scope"), &entry.scope),
        resources: entry.resources.clone(),
        may_act_for: entry.may_act_for.clone(),
        unrestricted_token_exchange: entry.unrestricted_token_exchange,
        token_endpoint_assertion_audience: entry.token_endpoint_assertion_audience,
        may_exchange_agent_grants: entry.may_exchange_agent_grants,
        id_token_signed_response_alg: faults.algorithm_of(
            format!("{path}.id_token_signed_response_alg"),
            entry.id_token_signed_response_alg.as_ref(),
        ),
        access_token_signed_response_alg: faults.algorithm_of(
            format!("{path}.access_token_signed_response_alg"),
            entry.access_token_signed_response_alg.as_ref(),
        ),
        access_token_format: entry.access_token_format.map(Into::into),
        require_pkce: entry.require_pkce,
        require_pushed_authorization_requests: entry.require_pushed_authorization_requests,
        dpop_bound_access_tokens: entry.dpop_bound_access_tokens,
        tls_client_certificate_bound_access_tokens: entry
            .tls_client_certificate_bound_access_tokens,
        refresh_rotation: if entry.rotate_refresh_tokens {
            RefreshRotation::Rotate
        } else {
            RefreshRotation::Keep
        },
        consent: if entry.ask_for_consent {
            ConsentPolicy::Ask
        } else {
            ConsentPolicy::Implicit
        },
        access_token_lifetime: entry.access_token_lifetime.map(|d| d.0),
        refresh_token_lifetime: entry.refresh_token_lifetime.map(|d| d.0),
        ..Client::new(entry.client_id.clone(), 0)
    };
    (faults.0.len() == before).then_some(client)
}

fn secrets(
    entry: &model::Client,
    method: AuthMethod,
    path: &str,
    base: &Path,
    seal: Option<Seal<'_>>,
    faults: &mut Faults,
) -> Vec<ClientSecret> {
    if method.needs_secret() == entry.client_secrets.is_empty() {
        let fault = if method.needs_secret() {
            format!("{method} needs client_secrets")
        } else {
            format!("{method} uses no client_secrets")
        };
        faults.add(path, fault);
    }
    let Some(seal) = seal else { return Vec::new() };
    let mut made = Vec::new();
    for (i, reference) in entry.client_secrets.iter().enumerate() {
        let here = format!("{path}.client_secrets[{i}]");
        match reference.read(base) {
            Err(message) => faults.add(here, message),
            Ok(secret) if secret.expose().len() < 32 => {
                faults.add(here, "a client secret has at least 32 bytes: generate it, people should not remember it");
            }
            Ok(secret) if method == AuthMethod::ClientSecretJwt => {
                match seal(&entry.client_id, secret.expose().as_bytes()) {
                    Some(sealed) => made.push(ClientSecret::Sealed {
                        sealed,
                        expires_at: None,
                    }),
                    None => faults.add(here, "the secret cannot be sealed"),
                }
            }
            Ok(secret) => made.push(ClientSecret::Sha256 {
                hash: sha256(secret.expose().as_bytes()),
                expires_at: None,
            }),
        }
    }
    made
}

fn jwks(
    entry: &model::Client,
    method: AuthMethod,
    path: &str,
    base: &Path,
    faults: &mut Faults,
) -> Option<JwkSet> {
    if entry.jwks.is_some() && entry.jwks_uri.is_some() {
        faults.add(
            format!("{path}.jwks_uri"),
            "jwks and jwks_uri exclude each other (RFC 7591 section 2)",
        );
    }
    if let Some(uri) = &entry.jwks_uri
        && !uri.starts_with("https://")
    {
        faults.add(format!("{path}.jwks_uri"), "jwks_uri must be an https URL");
    }
    let needs = matches!(
        method,
        AuthMethod::PrivateKeyJwt | AuthMethod::SelfSignedTlsClientAuth
    );
    if needs && entry.jwks.is_none() && entry.jwks_uri.is_none() {
        faults.add(path, format!("{method} needs jwks or jwks_uri"));
    }
    let file = base.join(entry.jwks.as_ref()?);
    let here = format!("{path}.jwks");
    let text = std::fs::read(&file)
        .map_err(|e| faults.add(&here, format!("cannot read {}: {e}", file.display())))
        .ok()?;
    JwkSet::parse(&text)
        .map_err(|e| faults.add(&here, format!("{}: {e}", file.display())))
        .ok()
}

fn tls_client_auth(
    entry: &model::Client,
    method: AuthMethod,
    path: &str,
    faults: &mut Faults,
) -> Option<TlsClientAuth> {
    let mut named: Vec<TlsClientAuth> = [
        entry
            .tls_client_auth_subject_dn
            .clone()
            .map(TlsClientAuth::SubjectDn),
        entry
            .tls_client_auth_san_dns
            .clone()
            .map(TlsClientAuth::SanDns),
        entry
            .tls_client_auth_san_uri
            .clone()
            .map(TlsClientAuth::SanUri),
        entry.tls_client_auth_san_ip.map(TlsClientAuth::SanIp),
        entry
            .tls_client_auth_san_email
            .clone()
            .map(TlsClientAuth::SanEmail),
    ]
    .into_iter()
    .flatten()
    .collect();
    // RFC 8705 section 2.1.2: exactly one.
    match (method, named.len()) {
        (AuthMethod::TlsClientAuth, 1) => named.pop(),
        (AuthMethod::TlsClientAuth, _) => {
            faults.add(
                path,
                "tls_client_auth needs exactly one of the tls_client_auth_... members",
            );
            None
        }
        (_, 0) => None,
        _ => {
            faults.add(path, format!("{method} uses no tls_client_auth_... member"));
            None
        }
    }
}
