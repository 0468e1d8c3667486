//! Which issuers are asked about tokens.

use std::{path::Path, sync::Arc};

use signet_verify::{
    Policy,
    fetch::{Introspect, Introspector, Outbound},
};

use super::{
    model::{self, GateConfig},
    secrets,
};

/// One for each issuer that can be asked.
pub fn introspectors(
    config: &GateConfig,
    base: &Path,
    outbound: &Arc<Outbound>,
) -> Result<Vec<Arc<Introspector>>, String> {
    let mut all = Vec::new();
    for issuer in &config.issuers {
        let Some(asked) = &issuer.introspection else {
            continue;
        };
        let what = format!("issuer {}: introspection", issuer.issuer);
        let mut one = Introspector::new(
            &issuer.issuer,
            secrets::credentials(&what, &asked.client, base)?,
            outbound.clone(),
            asked.max_age.0,
            config.cache.entries,
            config.cache.bytes,
        );
        if let Some(url) = &asked.url {
            one = one.at(url);
        }
        all.push(Arc::new(one));
    }
    Ok(all)
}

/// The policy, asking the one issuer that it can ask: an opaque token does not say whose it is.
pub fn apply(
    made: Policy,
    policy: &model::Policy,
    introspectors: &[Arc<Introspector>],
) -> Result<Policy, String> {
    let Some(which) = policy.introspect else {
        return Ok(made);
    };
    let which = match which {
        model::Introspect::Opaque => Introspect::Opaque,
        model::Introspect::All => Introspect::All,
    };
    let accepted = |one: &&Arc<Introspector>| {
        policy.issuers.is_empty() || policy.issuers.iter().any(|name| name == one.issuer())
    };
    let mut found = introspectors.iter().filter(accepted);
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(made.introspect(which, one.clone())),
        (None, _) => Err(format!(
            "policy {}: introspect needs an issuer with introspection",
            policy.name
        )),
        (Some(_), Some(_)) => Err(format!(
            "policy {}: introspect needs one issuer to ask, and there are several",
            policy.name
        )),
    }
}
