//! Which classes a login has to reach, by the operator's word: of the realm, and of the client that
//! it is for. All of them have to be reached; a class that is not is never made up for.

use signet_oauth::client::Client;

use crate::browser_request::BrowserRequest;
use crate::interaction::Interaction;

/// Of the realm and of a client, each once.
pub(crate) fn of_client(visit: &BrowserRequest, client: Option<&Client>) -> Vec<String> {
    let realm = visit.context.snapshot.settings.required_acr.as_ref();
    let client = client.and_then(|client| client.required_acr.as_ref());
    let mut classes: Vec<String> = realm.into_iter().chain(client).cloned().collect();
    classes.dedup();
    classes
}

/// For what an interaction leads to.
pub(super) fn required(visit: &BrowserRequest, interaction: &Interaction) -> Vec<String> {
    let registry = &visit.context.snapshot.registry;
    let client = interaction.request();
    let client = client.and_then(|request| registry.clients.get(&request.client_id));
    let mut classes = of_client(visit, client.map(|client| &**client));
    classes.extend(interaction.required.iter().cloned());
    classes
}
