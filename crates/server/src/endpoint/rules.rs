//! What the rules may look at: one snapshot, one moment.
use signet_oauth::request;
use signet_realm::revoked::Index;
use signet_request::http::Context;

/// Calls `decide` with the rules' view of this request's snapshot. The borrowed parts live here:
/// nothing is shared that could change meanwhile.
pub(super) fn with<T>(context: &Context, decide: impl FnOnce(&request::Context<'_>) -> T) -> T {
    let (snapshot, keyring) = (&context.snapshot, context.realm.keyring());
    decide(&request::Context {
        registry: &snapshot.registry,
        settings: &snapshot.settings,
        keyring: &keyring,
        keys: &*snapshot.keys,
        revocations: &Index::of(&context.realm),
        now_ms: context.now_ms,
        issue_ms: context.issue_ms,
    })
}
