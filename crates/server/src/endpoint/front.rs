//! What the authorization rules may look at.
use crate::http::Context;
use signet_crypto::seal::Keyring;
use signet_oauth::authorize;

/// Calls `decide` with the rules' view of this request's snapshot.
pub(super) fn with_rules<T>(
    context: &Context,
    keyring: &Keyring,
    decide: impl FnOnce(&authorize::Context<'_>) -> T,
) -> T {
    let snapshot = &context.snapshot;
    decide(&authorize::Context {
        registry: &snapshot.registry,
        settings: &snapshot.settings,
        keyring,
        keys: &|kid| snapshot.keys.verifying_key(kid).cloned(),
        now: context.now(),
    })
}
