//! Where a client that a request names is found.
use crate::http::Context;
use signet_oauth::client::Client;
use std::sync::Arc;

/// The client of this id that counts now, if there is one.
///
/// `/authorize` and the pages behind it ask here and nowhere else, before any rule: a client that
/// is kept elsewhere than in the registry is read here. The registry's are in memory, so nothing is
/// awaited for them.
pub async fn resolve(context: &Context, client_id: Option<&str>) -> Option<Arc<Client>> {
    let registry = &context.snapshot.registry;
    registry.client(client_id?, context.now()).cloned()
}
