//! Which classes a login has to reach, by the operator's word: of the realm, of the client that it
//! is for, of the scopes that are asked for, of the person's groups. All of them have to be
//! reached; a class that is not is never made up for.

use signet_directory::User;
use signet_oauth::client::Client;
use signet_oauth::scope::ScopeSet;
use signet_oauth::settings::StepUp;

use crate::browser_request::BrowserRequest;
use crate::http::Context;
use crate::interaction::Interaction;

/// What a login is for.
#[derive(Clone, Copy)]
pub(crate) struct Purpose<'a> {
    /// None: the person's own pages.
    pub(crate) client: Option<&'a Client>,
    /// What the client asks for.
    pub(crate) scope: Option<&'a ScopeSet>,
}

/// The classes that are demanded of a person for this. None: of somebody who is not known yet.
pub(crate) fn classes(context: &Context, of: Purpose<'_>, user: Option<&User>) -> Vec<String> {
    let (settings, registry) = (&context.snapshot.settings, &context.snapshot.registry);
    let claims = user.map(User::claims);
    let groups = claims
        .as_ref()
        .map(|claims| registry.people.groups_of(&claims.held));
    let fits = |row: &&StepUp| {
        let group = |name: &String| groups.as_ref().is_some_and(|of| of.contains(name.as_str()));
        let scope = |name: &String| of.scope.is_some_and(|scope| scope.contains(name));
        let client = |id: &String| of.client.is_some_and(|client| client.client_id == *id);
        (row.groups.is_empty() || row.groups.iter().any(group))
            && (row.scopes.is_empty() || row.scopes.iter().any(scope))
            && (row.clients.is_empty() || row.clients.iter().any(client))
    };
    let rows = settings.step_up.iter().filter(fits).map(|row| &row.acr);
    let client = of.client.and_then(|client| client.required_acr.as_ref());
    let realm = settings.required_acr.iter();
    let mut classes: Vec<String> = realm.chain(client).chain(rows).cloned().collect();
    classes.sort_unstable();
    classes.dedup();
    classes
}

/// For what an interaction leads to.
pub(super) fn required(
    visit: &BrowserRequest,
    interaction: &Interaction,
    user: &User,
) -> Vec<String> {
    let registry = &visit.context.snapshot.registry;
    let request = interaction.request();
    let client = request.and_then(|request| registry.clients.get(&request.client_id));
    let purpose = Purpose {
        client: client.map(|client| &**client),
        scope: request.map(|request| &request.scope),
    };
    let mut classes = classes(&visit.context, purpose, Some(user));
    classes.extend(interaction.required.iter().cloned());
    classes
}
