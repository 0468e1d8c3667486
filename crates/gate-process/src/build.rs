//! From the configuration to a verifier and the service's setup.

use std::{borrow::Cow, path::Path, sync::Arc, time::Duration};

use signet_crypto::Algorithm;
use signet_gate::{Identity, Proxies, Setup};
use signet_gate_login::Ended;
use signet_verify::{
    Binding, Freshness, Issuer, KeySource, Policy, ReplayGuard, Revocations, Verifier,
    fetch::{Outbound, OutboundOptions},
};

use super::{
    introspection, login,
    model::{self, GateConfig},
    secrets,
};

/// Everything that a reload replaces. `ended` is what sessions ended by in this process;
/// `revocations` is asked about every token; issuers are asked through `outbound`; `replays` is
/// what every setup of this process has, so that no proof is good once more after a reload.
pub(crate) fn setup(
    config: &GateConfig,
    base: &Path,
    outbound: &Arc<Outbound>,
    revocations: Option<Arc<dyn Revocations>>,
    replays: &Arc<ReplayGuard>,
    ended: &Arc<Ended>,
) -> Result<Setup, String> {
    let identity = match &config.identity {
        None => Identity::default(),
        Some(fields) => {
            let pairs = fields
                .iter()
                .map(|(name, claim)| (name.as_str(), claim.as_str()));
            Identity::new(pairs).map_err(|e| format!("identity: {e}"))?
        }
    };
    let issuer_of = |name: &str| {
        let mut all = config.issuers.iter();
        let found = all.find(|issuer| issuer.issuer == name);
        make_issuer(
            found.ok_or("login: its issuer is none of [[issuers]]")?,
            base,
        )
    };
    let shared = login::Shared {
        outbound,
        stream: revocations.clone(),
        replays,
        ended,
    };
    let login = login::make(config, &identity, base, shared, issuer_of)?;
    let mut builder = Verifier::builder()
        .cache(config.cache.entries, config.cache.bytes)
        .replay_guard(replays.clone());
    if let Some(file) = &config.dpop_nonce_key_file {
        let file = base.join(file);
        let key = std::fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        builder = builder.proof_nonce_key(&key);
    }
    for issuer in &config.issuers {
        builder = builder.issuer(make_issuer(issuer, base)?);
    }
    for introspector in introspection::introspectors(config, base, outbound)? {
        builder = builder.introspector(introspector);
    }
    let policies = policies(config);
    for policy in policies.iter() {
        builder = builder.policy(introspection::apply(make_policy(policy, base)?, policy));
    }
    if let Some(revocations) = &revocations {
        builder = builder.revocations(revocations.clone());
    }
    let proxies = make_proxies(config, base)?;
    Ok(Setup {
        login,
        proxies,
        verifier: Arc::new(builder.build().map_err(|e| e.to_string())?),
        identity,
        certificate_header: config
            .certificate_header
            .as_deref()
            .map(str::to_ascii_lowercase),
    })
}

/// The policies; where there is a login alone, one for access tokens that are for its applications.
fn policies(config: &GateConfig) -> Cow<'_, [model::Policy]> {
    match &config.login {
        Some(login) if config.policies.is_empty() => {
            let mut policy = toml::Table::new();
            let audiences = login.applications.iter().map(|url| url.as_str().into());
            policy.insert("audiences".into(), toml::Value::Array(audiences.collect()));
            // Invariant: a policy needs nothing but audiences.
            let policy = policy.try_into().into_iter().collect();
            Cow::Owned(policy)
        }
        Some(_) | None => Cow::Borrowed(&config.policies),
    }
}

fn make_proxies(config: &GateConfig, base: &Path) -> Result<Proxies, String> {
    let Some(proxy) = &config.proxy else {
        return match config.certificate_header {
            // Anybody could write it, and certificates are public: a stolen bound token would be a
            // bearer token.
            Some(_) => Err(
                "certificate_header needs [proxy]: who may say what a client's certificate is"
                    .into(),
            ),
            None => Ok(Proxies::new()),
        };
    };
    let mut proxies = Proxies::new();
    if let Some(file) = &proxy.secret_file {
        let secret = secrets::read("proxy", &base.join(file))?;
        proxies = proxies
            .with_secret(&proxy.secret_header, secret)
            .map_err(|e| format!("proxy: {}: {e}", file.display()))?;
    }
    if proxy.certificate {
        if config
            .tls
            .as_ref()
            .is_none_or(|tls| tls.client_ca.is_none())
        {
            return Err("proxy: certificate needs tls.client_ca".into());
        }
        proxies = proxies.with_certificate();
    }
    if proxy.secret_file.is_none() && !proxy.certificate {
        return Err("proxy: it needs secret_file or certificate".into());
    }
    Ok(proxies)
}

fn make_issuer(issuer: &model::Issuer, base: &Path) -> Result<Issuer, String> {
    let source = match (&issuer.jwks_file, &issuer.jwks_url) {
        (Some(_), Some(_)) => {
            return Err(format!(
                "issuer {}: jwks_file or jwks_url, not both",
                issuer.issuer
            ));
        }
        (Some(file), None) => KeySource::File(base.join(file)),
        (None, Some(url)) => KeySource::JwksUrl(url.clone()),
        (None, None) => KeySource::Discovery,
    };
    let freshness = Freshness {
        interval: Duration::from_secs(issuer.interval.0),
        grace: Duration::from_secs(issuer.grace.0),
        grace_unreadable: Duration::from_secs(issuer.grace_unreadable.0),
        cool_down: Duration::from_secs(issuer.cool_down.0),
        interval_min: Duration::from_secs(issuer.interval_min.0),
        interval_max: Duration::from_secs(issuer.interval_max.0),
    };
    let mut made = Issuer::new(&issuer.issuer, source).freshness(freshness);
    for text in &issuer.verifying_key_sha256 {
        let sha256 = signet_parameters::hash(text).ok_or_else(|| {
            format!(
                "issuer {}: verifying_key_sha256: {text:?} is not 64 hexadecimal digits",
                issuer.issuer
            )
        })?;
        made = made.verifying_key(sha256);
    }
    Ok(if issuer.required {
        made
    } else {
        made.optional()
    })
}

fn make_policy(policy: &model::Policy, base: &Path) -> Result<Policy, String> {
    let wrong = |what: String| format!("policy {}: {what}", policy.name);
    let (first, more) = policy
        .audiences
        .split_first()
        .ok_or_else(|| wrong("it names no audience".into()))?;
    let mut made = match policy.kind {
        model::Kind::Access => Policy::access_token(first),
        model::Kind::PlainAccess => Policy::plain_access_token(first),
        model::Kind::Id => Policy::id_token(first),
        model::Kind::Logout => Policy::logout_token(first),
    }
    .named(&policy.name)
    .realm(&policy.realm)
    .binding(match policy.binding {
        model::Binding::Optional => Binding::Optional,
        model::Binding::Dpop => Binding::Dpop,
        model::Binding::Certificate => Binding::Certificate,
        model::Binding::Either => Binding::Either,
    });
    for audience in more {
        made = made.audience(audience);
    }
    for issuer in &policy.issuers {
        made = made.issuer(issuer);
    }
    for party in &policy.authorized_parties {
        made = made.authorized_party(party);
    }
    for scope in &policy.scopes {
        made = made.scope(scope);
    }
    for acr in &policy.acr {
        made = made.acr(acr);
    }
    if !policy.algorithms.is_empty() {
        let known = |name: &String| {
            Algorithm::from_name(name).ok_or_else(|| wrong(format!("{name} is no algorithm")))
        };
        let algorithms = policy
            .algorithms
            .iter()
            .map(known)
            .collect::<Result<Vec<_>, _>>()?;
        made = made.algorithms(&algorithms);
    }
    if !policy.types.is_empty() {
        let typ = |typ: &'_ String| (!typ.is_empty()).then(|| typ.clone());
        let types: Vec<Option<String>> = policy.types.iter().map(typ).collect();
        let types: Vec<Option<&str>> = types.iter().map(Option::as_deref).collect();
        made = made.types(&types);
    }
    if let Some(leeway) = policy.leeway {
        made = made.leeway(leeway.0);
    }
    for origin in &policy.origins {
        // A path or a query would be dropped without a word, and more be accepted than the operator
        // wrote.
        let is_origin = origin
            .split_once("://")
            .is_some_and(|(_, rest)| !rest.trim_end_matches('/').contains(['/', '?', '#']));
        if !is_origin {
            return Err(wrong(format!(
                "{origin} is no origin, such as https://orders.example.com"
            )));
        }
        made = made.origin(origin);
    }
    if policy.dpop_nonces {
        made = made.proof_nonces();
    }
    if let Some(age) = policy.max_age {
        made = made.max_age(age.0);
    }
    if let Some(age) = policy.authentication_max_age {
        made = made.authentication_max_age(age.0);
    }
    if !policy.decryption_keys.is_empty() {
        let what = format!("policy {}: decryption_keys", policy.name);
        let read = |key| secrets::decryption_key(&what, key, base);
        let keys = policy.decryption_keys.iter().map(read);
        made = made.decrypt(keys.collect::<Result<Vec<_>, _>>()?);
    }
    if policy.compact {
        made = made.compact_of_issuers();
    }
    if let Some(bytes) = policy.max_bytes {
        made = made.max_bytes(bytes);
    }
    Ok(made)
}

/// Most bytes of a key set: many ML-DSA keys, or certificate chains.
const MAX_KEYS_BYTES: usize = 512 * 1024;

/// How keys are fetched.
pub(crate) fn outbound(config: &GateConfig, base: &Path) -> Result<OutboundOptions, String> {
    let trust = match &config.outbound.trust {
        None => None,
        Some(file) => {
            let file = base.join(file);
            Some(std::fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?)
        }
    };
    Ok(OutboundOptions {
        allow_http: config.outbound.allow_loopback,
        allow_loopback: config.outbound.allow_loopback,
        allow_private: config.outbound.allow_private_addresses,
        trust,
        max_bytes: MAX_KEYS_BYTES,
        ..OutboundOptions::default()
    })
}

/// The quick start's configuration: one issuer, one policy. An issuer on this machine may be
/// reached on this machine.
pub(crate) fn quick(
    issuer: &str,
    audience: &str,
    ca_cert: Option<&Path>,
) -> Result<GateConfig, String> {
    let host = issuer.split_once("://").map_or("", |(_, rest)| rest);
    let host = &host[..host.find('/').unwrap_or(host.len())];
    let is_port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let host = match host.rsplit_once(':') {
        Some((name, port)) if is_port(port) => name,
        _ => host,
    };
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    let local = host == "localhost" || address.is_ok_and(|address| address.is_loopback());
    let mut text = toml::Table::new();
    let mut one = toml::Table::new();
    one.insert("issuer".into(), issuer.into());
    text.insert("issuers".into(), toml::Value::Array(vec![one.into()]));
    let mut policy = toml::Table::new();
    policy.insert(
        "audiences".into(),
        toml::Value::Array(vec![audience.into()]),
    );
    text.insert("policies".into(), toml::Value::Array(vec![policy.into()]));
    let mut config: GateConfig = text
        .try_into()
        .map_err(|e: toml::de::Error| e.to_string())?;
    config.outbound.allow_loopback = local;
    config.outbound.trust = match ca_cert {
        Some(file) => Some(
            file.canonicalize()
                .map_err(|e| format!("cannot read {}: {e}", file.display()))?,
        ),
        None => None,
    };
    Ok(config)
}
