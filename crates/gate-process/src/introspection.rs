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
pub(crate) fn introspectors(
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

/// The policy, asking its issuer where the configuration says so.
pub(crate) fn apply(made: Policy, policy: &model::Policy) -> Policy {
    match policy.introspect {
        None => made,
        Some(model::Introspect::Opaque) => made.introspect(Introspect::Opaque),
        Some(model::Introspect::All) => made.introspect(Introspect::All),
    }
}
