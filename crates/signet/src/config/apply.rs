//! From the configuration to what the server works with: settings, registry entries, policy, limits.
//!
//! Each function reports every fault that it meets, with its place in the file; `signet config check` and `serve` share
//! them, so that what was checked is what is served.

use std::{path::Path, sync::Arc, time::Duration as Wait};

use signet_crypto::{Algorithm, hash::sha256};
use signet_jose::jwk::JwkSet;
use signet_oauth::{
    client::{
        ApplicationType, AuthMethod, Client, ClientSecret, ConsentPolicy, GrantType,
        RefreshRotation, TlsClientAuth,
    },
    redirect_uri::RedirectUri,
    registry::{Registry, Resource, ScopeEntry},
    scope::ScopeSet,
    settings::Settings,
};
use signet_server::{http, state};

use super::model::{self, Config};

/// A fault and its place: `clients[1].redirect_uris[0]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub path: String,
    pub message: String,
}

/// Collects faults; a value that could not be made is `None`, and the caller goes on to find the next fault.
#[derive(Default)]
pub struct Faults(pub Vec<Fault>);

impl Faults {
    pub fn add(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.0.push(Fault {
            path: path.into(),
            message: message.into(),
        });
    }
    fn algorithm(&mut self, path: &str, name: &str) -> Option<Algorithm> {
        let found = Algorithm::from_name(name).filter(|a| !a.is_symmetric());
        if found.is_none() {
            self.add(
                path,
                format!("\"{name}\" is not a signature algorithm that the server has"),
            );
        }
        found
    }
    fn algorithm_of(&mut self, path: String, name: Option<&String>) -> Option<Algorithm> {
        self.algorithm(&path, name?)
    }
    fn scopes(&mut self, path: &str, names: &[String]) -> ScopeSet {
        match ScopeSet::parse(&names.join(" ")) {
            Ok(set) if names.iter().all(|n| !n.contains(' ')) => set,
            _ => {
                self.add(path, "a scope is 1 to 128 visible ASCII characters without quote, space and backslash");
                ScopeSet::default()
            }
        }
    }
}

/// How a secret that must stay readable is sealed: (client_id, secret).
pub type Seal<'a> = &'a dyn Fn(&str, &[u8]) -> Option<Vec<u8>>;

/// The protocol settings.
pub fn settings(config: &Config, faults: &mut Faults) -> Settings {
    let mut s = Settings::new(config.issuer.clone());
    let l = &config.lifetimes;
    s.code_lifetime = l.code.0;
    s.access_token_lifetime = l.access_token.0;
    s.id_token_lifetime = l.id_token.0;
    s.refresh_token_lifetime = l.refresh_token.0;
    s.refresh_idle_lifetime = l.refresh_idle.0;
    s.par_lifetime = l.pushed_request.0;
    s.device_code_lifetime = l.device_code.0;
    s.interaction_lifetime = l.interaction.0;
    s.session_idle_lifetime = l.session_idle.0;
    s.session_absolute_lifetime = l.session.0;
    s.otp_lifetime = l.one_time_code.0;
    let p = &config.protocol;
    s.default_audience = p.default_audience.clone();
    s.require_pushed_authorization_requests = p.require_pushed_authorization_requests;
    s.dpop_nonce_required = p.require_dpop_nonce;
    s.dpop_proof_max_age = p.dpop_proof_max_age.0;
    s.device_poll_interval = p.device_poll_interval.0;
    s.refresh_retry_window = p.refresh_retry_window.0;
    s.clock_leeway = p.clock_leeway.0;
    s.registration.enabled = config.registration.enabled;
    s.registration.open = config.registration.open;
    s.registration.require_pkce = config.registration.require_pkce;
    s.registration.default_scope = faults.scopes(
        "registration.default_scope",
        &config.registration.default_scope,
    );
    s.mtls_base = config
        .listeners
        .iter()
        .filter(|l| l.protocol == model::ListenProtocol::Mtls)
        .find_map(|l| l.public_url.clone())
        // Behind a proxy that hands certificates over, the issuer's own endpoints take them: they are their own aliases.
        .or_else(|| {
            let proxy = config.proxy.as_ref()?;
            proxy.client_certificate_header.as_ref()?;
            Some(config.issuer.clone())
        });
    s.signing_algs = config
        .keys
        .algorithms
        .iter()
        .enumerate()
        .filter_map(|(i, name)| faults.algorithm(&format!("keys.algorithms[{i}]"), name))
        .collect();
    if let Some(alg) = faults.algorithm("keys.access_token", &config.keys.access_token) {
        s.access_token_alg = alg;
    }
    if let Some(alg) = faults.algorithm("keys.id_token", &config.keys.id_token) {
        s.id_token_alg = alg;
    }
    for sentence in s.validate() {
        faults.add(place_of(&sentence), sentence);
    }
    s
}

/// Where the file says what a sentence of `Settings::validate` is about.
fn place_of(sentence: &str) -> &'static str {
    const PLACES: [(&str, &str); 20] = [
        ("issuer", "issuer"),
        ("the mTLS base", "listeners"),
        ("code_lifetime", "lifetimes.code"),
        ("access_token_lifetime", "lifetimes.access_token"),
        ("id_token_lifetime", "lifetimes.id_token"),
        ("refresh_token_lifetime", "lifetimes.refresh_token"),
        ("refresh_idle_lifetime", "lifetimes.refresh_idle"),
        ("par_lifetime", "lifetimes.pushed_request"),
        ("device_code_lifetime", "lifetimes.device_code"),
        ("device_poll_interval", "protocol.device_poll_interval"),
        ("interaction_lifetime", "lifetimes.interaction"),
        ("session_idle_lifetime", "lifetimes.session_idle"),
        ("session_absolute_lifetime", "lifetimes.session"),
        ("otp_lifetime", "lifetimes.one_time_code"),
        ("dpop_proof_max_age", "protocol.dpop_proof_max_age"),
        ("clock_leeway", "protocol.clock_leeway"),
        ("refresh_retry_window", "protocol.refresh_retry_window"),
        ("access_token_alg", "keys.access_token"),
        ("id_token_alg", "keys.id_token"),
        ("default_audience", "protocol.default_audience"),
    ];
    PLACES
        .iter()
        .find(|(start, _)| sentence.starts_with(start))
        .map_or("", |(_, place)| place)
}

/// Puts the configuration's clients, resources and scopes over those of the store.
pub fn extend_registry(
    config: &Config,
    base: &Path,
    seal: Seal<'_>,
    registry: &mut Registry,
    faults: &mut Faults,
) {
    for (index, entry) in config.clients.iter().enumerate() {
        if let Some(client) = client(
            entry,
            &format!("clients[{index}]"),
            base,
            Some(seal),
            faults,
        ) {
            registry
                .clients
                .insert(client.client_id.clone(), Arc::new(client));
        }
    }
    for (index, entry) in config.resources.iter().enumerate() {
        let resource = resource(entry, &format!("resources[{index}]"), faults);
        registry
            .resources
            .insert(resource.identifier.clone(), Arc::new(resource));
    }
    for entry in &config.scopes {
        registry.scopes.retain(|s| s.name != entry.name);
        registry.scopes.push(ScopeEntry {
            name: entry.name.clone(),
            description: entry.description.clone(),
            published: entry.published,
        });
    }
}

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
        client_id: entry.client_id.clone(),
        revision: 0,
        created_at: 0,
        enabled: true,
        client_name: entry.client_name.clone(),
        client_uri: entry.client_uri.clone(),
        logo_uri: None,
        policy_uri: None,
        tos_uri: None,
        contacts: Vec::new(),
        application_type: if native {
            ApplicationType::Native
        } else {
            ApplicationType::Web
        },
        redirect_uris,
        post_logout_redirect_uris,
        allowed_origins: entry.allowed_origins.clone(),
        initiate_login_uri: None,
        response_types: if uses_code {
            vec!["code".into()]
        } else {
            Vec::new()
        },
        grant_types,
        token_endpoint_auth_method: method,
        token_endpoint_auth_signing_alg: None,
        secrets,
        jwks,
        jwks_uri: entry.jwks_uri.clone(),
        tls_client_auth,
        scope: faults.scopes(&format!("{path}.scope"), &entry.scope),
        resources: entry.resources.clone(),
        may_act_for: entry.may_act_for.clone(),
        id_token_signed_response_alg: faults.algorithm_of(
            format!("{path}.id_token_signed_response_alg"),
            entry.id_token_signed_response_alg.as_ref(),
        ),
        userinfo_signed_response_alg: None,
        access_token_signed_response_alg: faults.algorithm_of(
            format!("{path}.access_token_signed_response_alg"),
            entry.access_token_signed_response_alg.as_ref(),
        ),
        introspection_signed_response_alg: None,
        default_max_age: None,
        require_auth_time: false,
        default_acr_values: Vec::new(),
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
        registration_token_hash: None,
        software_id: None,
        software_version: None,
        sector_identifier_uri: None,
        expires_at: None,
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

/// One resource server.
pub fn resource(entry: &model::Resource, path: &str, faults: &mut Faults) -> Resource {
    // RFC 8707 section 2: an absolute URI without fragment.
    if !entry.identifier.contains(':')
        || entry.identifier.contains('#')
        || !entry.identifier.bytes().all(|b| b.is_ascii_graphic())
    {
        faults.add(
            format!("{path}.identifier"),
            "a resource is an absolute URI without fragment (RFC 8707)",
        );
    }
    Resource {
        identifier: entry.identifier.clone(),
        name: entry.name.clone(),
        scopes: faults.scopes(&format!("{path}.scopes"), &entry.scopes),
        access_token_signed_response_alg: faults.algorithm_of(
            format!("{path}.access_token_signed_response_alg"),
            entry.access_token_signed_response_alg.as_ref(),
        ),
        access_token_lifetime: entry.access_token_lifetime.map(|d| d.0),
        introspectors: entry.introspectors.clone(),
        revision: 0,
    }
}

/// Policy beyond the protocol.
pub fn policy(config: &Config) -> state::Policy {
    let mut policy = state::Policy {
        open_metrics: config.metrics.open,
        ..state::Policy::default()
    };
    if let Some(proxy) = &config.proxy {
        policy.trusted_proxies.clone_from(&proxy.trusted);
        policy.forwarded = match proxy.forwarded_header {
            model::ForwardedHeader::XForwardedFor => state::ForwardedHeader::XForwardedFor,
            model::ForwardedHeader::Forwarded => state::ForwardedHeader::Forwarded,
        };
        let header = proxy.client_certificate_header.as_ref();
        policy.client_certificate_header = header.map(|h| h.to_ascii_lowercase());
        policy.proxy_verifies_client_certificates = proxy.verifies_client_certificates;
    }
    policy
}

/// Bounds on connections and requests.
pub fn limits(config: &Config) -> http::Limits {
    let l = &config.limits;
    http::Limits {
        connections: l.connections,
        handshake: Wait::from_secs(l.handshake_timeout.0),
        head: Wait::from_secs(l.head_timeout.0),
        body: Wait::from_secs(l.body_timeout.0),
        body_bytes: l.body_bytes,
        grace: Wait::from_secs(l.shutdown_grace.0),
        ..http::Limits::default()
    }
}
