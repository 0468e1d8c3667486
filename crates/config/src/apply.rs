//! From the configuration to what the server works with: settings, registry entries, policy,
//! limits.
//!
//! Each function reports every fault that it meets, with its place in the file; `signet config
//! check` and `serve` share them, so that what was checked is what is served.

use std::{collections::BTreeSet, path::Path, sync::Arc, time::Duration as Wait};

use signet_http::{Limits, ProxySecret};
use signet_oauth::administration::ReasonWanted;
use signet_oauth::client::GrantType;
use signet_oauth::people::access_rules::Mode;
use signet_oauth::people::claim_rules::TableOf;
use signet_oauth::registry::{Descriptions, Registry, Resource, ScopeEntry};
use signet_oauth::settings::{Settings, StepUp};
use signet_realm::{attempts, state};

use super::{
    clients::client,
    fault::{Faults, Seal},
    model::{self, Config},
    people, realms, rules,
    secret::SecretRef,
    sign_up,
};

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
    s.invitation_lifetime = l.invitation.0;
    s.deletion_grace = l.deletion_grace.0;
    s.provider_groups_lifetime = l.provider_groups.0;
    s.self_deletion = config.protocol.self_deletion;
    let p = &config.protocol;
    s.default_audience = p.default_audience.clone();
    s.required_acr = p.required_acr.clone();
    let rows = config.step_up.iter().map(|row| StepUp {
        acr: row.acr.clone(),
        groups: row.groups.clone(),
        scopes: row.scopes.clone(),
        clients: row.clients.clone(),
    });
    s.step_up = rows.collect();
    s.require_pushed_authorization_requests = p.require_pushed_authorization_requests;
    s.local_login = p.local_login;
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
    s.registration.ml_dsa = config.registration.ml_dsa;
    s.registration.token_endpoint_assertion_audience =
        config.registration.token_endpoint_assertion_audience;
    s.registration.grant_types.clear();
    for (i, name) in config.registration.grant_types.iter().enumerate() {
        match GrantType::from_name(name) {
            Some(grant) => s.registration.grant_types.push(grant.as_str().to_owned()),
            None => faults.add(
                format!("registration.grant_types[{i}]"),
                format!("\"{name}\" is not a grant type that the server has"),
            ),
        }
    }
    s.reason = match config.administration.reason {
        model::ReasonWanted::Optional => ReasonWanted::Optional,
        model::ReasonWanted::Dangerous => ReasonWanted::Dangerous,
        model::ReasonWanted::Required => ReasonWanted::Required,
    };
    s.access = match config.access.default {
        model::AccessMode::Allow => Mode::Allow,
        model::AccessMode::Deny => Mode::Deny,
    };
    s.agents.enabled = config.agents.enabled;
    for (i, root) in config.agents.roots.iter().enumerate() {
        match root.parse() {
            Ok(root) => s.agents.roots.push(root),
            Err(_) => faults.add(
                format!("agents.roots[{i}]"),
                "no agent's id: agent: and 43 characters",
            ),
        }
    }
    for (name, value) in &config.agents.constraints {
        if !name.starts_with("x-") || name.len() < 3 {
            faults.add(
                format!("agents.constraints.{name}"),
                "the name of a custom constraint begins with x-",
            );
        }
        s.agents.constraints.push((name.clone(), value.clone()));
    }
    s.passkeys = config.passkeys.settings(faults);
    s.sign_up = sign_up::settings(config, faults);
    s.mtls_base = config
        .listeners
        .iter()
        .filter(|l| l.protocol == model::ListenProtocol::Mtls)
        .find_map(|l| l.public_url.clone())
        // The proxy has an mTLS listener, or the issuer's endpoints accept certificates and are
        // their own aliases.
        .or_else(|| {
            let proxy = config.proxy.as_ref()?;
            proxy.client_certificate_header.as_ref()?;
            let url = proxy.client_certificate_url.as_ref();
            Some(url.unwrap_or(&config.issuer).clone())
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
    s.compact_alg = match config.keys.compact {
        model::CompactAlgorithm::HmacSha256 => signet_compact::Algorithm::HmacSha256,
        model::CompactAlgorithm::Ed25519 => signet_compact::Algorithm::Ed25519,
        model::CompactAlgorithm::MlDsa44 => signet_compact::Algorithm::MlDsa44,
    };
    if config.keys.rotate_after.0 <= config.keys.publish_ahead.0 {
        faults.add(
            "keys.rotate_after",
            "must be longer than keys.publish_ahead: a key is published that long before it signs",
        );
    }
    for fault in s.validate() {
        faults.add(fault.path, fault.message);
    }
    s
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
    for (index, entry) in config.scopes.iter().enumerate() {
        registry.scopes.retain(|s| s.name != entry.name);
        registry
            .scopes
            .push(scope(entry, &format!("scopes[{index}]"), faults));
    }
    registry.realms = Arc::new(realms::declared(config, faults));
    registry.people = Arc::new(people::people(config, faults));
    registry.rules = Arc::new(rules::rules(config, faults));
}

/// One scope.
pub fn scope(entry: &model::Scope, path: &str, faults: &mut Faults) -> ScopeEntry {
    let descriptions = Descriptions::read(entry.descriptions.clone()).unwrap_or_else(|fault| {
        faults.add(format!("{path}.descriptions"), fault);
        Descriptions::default()
    });
    ScopeEntry {
        name: entry.name.clone(),
        description: entry.description.clone(),
        descriptions,
        published: entry.published,
        claims: people::claims(&entry.claims, TableOf::Scope, None, path, faults),
    }
}

/// The clients that the configuration declares and lets act.
pub fn declared_clients(config: &Config) -> BTreeSet<String> {
    let clients = config.clients.iter();
    clients.map(|client| client.client_id.clone()).collect()
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
        access_token_format: entry.access_token_format.map(Into::into),
        access_token_lifetime: entry.access_token_lifetime.map(|d| d.0),
        introspectors: entry.introspectors.clone(),
        claims: people::claims(
            &entry.claims,
            TableOf::Resource,
            entry.access_token_format.map(Into::into),
            path,
            faults,
        ),
        revision: 0,
    }
}

/// Policy beyond the protocol.
///
/// # Errors
/// The proxy's secret cannot be used.
pub fn policy(config: &Config, base: &Path) -> Result<state::Policy, String> {
    let mut policy = state::Policy {
        open_metrics: config.metrics.open,
        tracer: crate::telemetry::tracer(&config.telemetry),
        node: config.node.clone().unwrap_or_else(host_name),
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
        if let Some(file) = &proxy.secret_file {
            let secret = SecretRef::File(file.clone()).read(base);
            let secret = secret.and_then(|secret| ProxySecret::new(&proxy.secret_header, secret));
            let secret = secret.map_err(|why| format!("proxy.secret_file: {why}"))?;
            policy.proxy_secret = Some(Arc::new(secret));
        }
    }
    Ok(policy)
}

/// The host's name as the kernel has it.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname");
    name.map_or_else(|_| String::new(), |name| name.trim().to_owned())
}

/// What new passwords must be.
pub fn password_policy(config: &Config) -> signet_directory::PasswordPolicy {
    signet_directory::PasswordPolicy {
        min_chars: config.passwords.min_length,
        min_chars_of_administrators: config.passwords.min_length_administrators,
    }
}

/// How often somebody may guess.
pub fn login_limits(config: &Config) -> attempts::Limits {
    let g = &config.login_limits;
    attempts::Limits {
        window: g.window.0,
        account: g.per_account,
        device: g.per_device,
        address: g.per_address,
        codes_per_day: g.codes_per_day,
        mails: g.mails,
    }
}

/// Bounds on connections and requests.
pub fn limits(config: &Config) -> Limits {
    let l = &config.limits;
    Limits {
        connections: l.connections,
        connections_per_address: l.connections_per_address,
        handshake: Wait::from_secs(l.handshake_timeout.0),
        head: Wait::from_secs(l.head_timeout.0),
        body: Wait::from_secs(l.body_timeout.0),
        body_bytes: l.body_bytes,
        grace: Wait::from_secs(l.shutdown_grace.0),
        ..Limits::default()
    }
}
