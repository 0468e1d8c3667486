//! Which audience a token is for (RFC 8707), and what follows from it: algorithm, lifetime, scopes
//! that mean something there. Shared by every grant.
use crate::client::Client;
use crate::error::{ErrorCode, OAuthError};
use crate::issued::names::AccessTokenFormat;
use crate::registry::{Registry, Resource};
use crate::request::Context;
use crate::scope::{self, ScopeSet};
use crate::settings::Settings;
use crate::uri::Uri;
use signet_crypto::Algorithm;
use std::sync::Arc;

/// Most resources that one request may name.
pub const MAX_RESOURCES: usize = 8;
/// Scopes that belong to the issuer itself, whatever resource a token is for.
const OPENID_SCOPES: [&str; 6] = [
    scope::OPENID,
    "profile",
    "email",
    "address",
    "phone",
    scope::OFFLINE_ACCESS,
];

/// The audience of a token and what the resource servers behind it ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// `aud`, at least one
    pub audience: Vec<String>,
    /// how the token is written
    pub format: AccessTokenFormat,
    /// what it is signed with as a JWT
    pub algorithm: Algorithm,
    /// seconds
    pub lifetime: u64,
    /// the scopes that mean something there; None: all
    scopes: Option<ScopeSet>,
}

impl Target {
    /// The part of `scope` that means something at this target.
    pub fn narrow(&self, scope: &ScopeSet) -> ScopeSet {
        match &self.scopes {
            None => scope.clone(),
            Some(known) => {
                scope.filter(|name| known.contains(name) || OPENID_SCOPES.contains(&name))
            }
        }
    }
}

/// Whom a token is meant for, by the resources that were granted.
pub fn audience_of(settings: &Settings, resources: &[String]) -> Vec<String> {
    match resources {
        [] => vec![default_audience(settings).to_owned()],
        resources => resources.to_vec(),
    }
}

/// Checks the `resource` parameters of an authorization, device or token request against what the
/// client may ask for. All or nothing.
pub fn requested<'a>(
    settings: &Settings,
    registry: &Registry,
    client: &Client,
    resources: &[&'a str],
) -> Result<Vec<&'a str>, OAuthError> {
    let refuse = |hint: &str| {
        Err(OAuthError::new(
            ErrorCode::InvalidTarget,
            "the resource is unknown, or this client may not ask for it",
        )
        .with_hint(hint))
    };
    if resources.len() > MAX_RESOURCES {
        return refuse("too many resources");
    }
    let mut checked: Vec<&str> = Vec::with_capacity(resources.len());
    for &resource in resources {
        // RFC 8707 section 2: an absolute URI without fragment.
        if Uri::parse(resource).is_none() || resource.contains('#') {
            return refuse("not an absolute URI without fragment");
        }
        let is_default = resource == default_audience(settings);
        let is_registered = registry.resource(resource).is_some()
            && client.resources.iter().any(|own| own == resource);
        if !is_default && !is_registered {
            return refuse("not one of the client's resources");
        }
        if !checked.contains(&resource) {
            checked.push(resource);
        }
    }
    Ok(checked)
}

/// The target of a client's own token: what it asks for of what it may ask for.
pub fn for_client(
    context: &Context<'_>,
    client: &Client,
    resources: &[&str],
) -> Result<Target, OAuthError> {
    let resources = requested(context.settings, context.registry, client, resources)?;
    Ok(target(context, client, &resources))
}

/// The target of a token under a grant: what is asked for must be part of what was granted (RFC
/// 8707 section 2.2), and is all of it if nothing is asked for.
pub fn for_grant(
    context: &Context<'_>,
    client: &Client,
    resources: &[&str],
    granted: &[String],
) -> Result<Target, OAuthError> {
    let asked = requested(context.settings, context.registry, client, resources)?;
    let part = |asked: &str| match granted {
        [] => asked == default_audience(context.settings),
        granted => granted.iter().any(|resource| resource == asked),
    };
    if !asked.iter().all(|asked| part(asked)) {
        return Err(OAuthError::new(
            ErrorCode::InvalidTarget,
            "the resource was not granted",
        ));
    }
    if !asked.is_empty() {
        return Ok(target(context, client, &asked));
    }
    // A resource that the client may no longer ask for is not given again.
    let granted: Vec<&str> = granted.iter().map(String::as_str).collect();
    Ok(target(
        context,
        client,
        &requested(context.settings, context.registry, client, &granted)?,
    ))
}

/// The target for an audience that is decided already (token exchange).
pub(crate) fn target(context: &Context<'_>, client: &Client, resources: &[&str]) -> Target {
    let settings = context.settings;
    if resources.is_empty() {
        return Target {
            audience: vec![default_audience(settings).to_owned()],
            format: client.access_token_format.unwrap_or_default(),
            algorithm: client
                .access_token_signed_response_alg
                .unwrap_or(settings.access_token_alg),
            lifetime: client
                .access_token_lifetime
                .unwrap_or(settings.access_token_lifetime),
            scopes: None,
        };
    }
    let registered: Vec<_> = resources
        .iter()
        .filter_map(|resource| context.registry.resource(resource))
        .collect();
    let whole = registered.len() == resources.len();
    let algorithm = common(whole, &registered, |r| r.access_token_signed_response_alg);
    let format = common(whole, &registered, |r| r.access_token_format);
    let lifetime = client
        .access_token_lifetime
        .unwrap_or(settings.access_token_lifetime);
    let scopes = (whole
        && registered
            .iter()
            .all(|resource| !resource.scopes.is_empty()))
    .then(|| {
        registered
            .iter()
            .fold(ScopeSet::default(), |all, resource| {
                all.union(&resource.scopes)
            })
    });
    Target {
        audience: resources
            .iter()
            .map(|&resource| resource.to_owned())
            .collect(),
        format: client.access_token_format.or(format).unwrap_or_default(),
        algorithm: client
            .access_token_signed_response_alg
            .or(algorithm)
            .unwrap_or(settings.access_token_alg),
        lifetime: registered
            .iter()
            .filter_map(|resource| resource.access_token_lifetime)
            .fold(lifetime, u64::min),
        scopes,
    }
}

/// What all resource servers behind one token ask for. Several read it: what only one of them asked
/// for would shut the others out.
fn common<T: PartialEq>(
    whole: bool,
    registered: &[&Arc<Resource>],
    asked: impl Fn(&Resource) -> Option<T>,
) -> Option<T> {
    let mut asked = registered.iter().map(|resource| asked(resource));
    let first = asked.next()??;
    (whole && asked.all(|other| other.as_ref() == Some(&first))).then_some(first)
}

/// The audience where no resource was asked for.
pub fn default_audience(settings: &Settings) -> &str {
    settings
        .default_audience
        .as_deref()
        .unwrap_or(&settings.issuer)
}
