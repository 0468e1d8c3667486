//! What somebody asks for, and which classes a login has to reach for it, by the operator's word:
//! of the realm, of the client that it is for, of the scopes that are asked for, of the person's
//! groups. All of them have to be reached; a class that is not is never made up for.

use signet_directory::User;
use signet_oauth::authorize::ClaimsRequest;
use signet_oauth::client::Client;
use signet_oauth::people::userinfo;
use signet_oauth::scope::ScopeSet;
use signet_oauth::settings::StepUp;

use crate::http::Context;

/// What a login is for.
#[derive(Clone, Copy, Default)]
pub struct Sought<'a> {
    /// None: the person's own pages.
    pub client: Option<&'a Client>,
    /// What the client asks for.
    pub scope: Option<&'a ScopeSet>,
    /// The claims that it asks for singly.
    pub claims: Option<&'a ClaimsRequest>,
}

impl Sought<'_> {
    /// Whether this scope is asked for: by its name, or by a claim that it gives.
    fn asks_for(&self, context: &Context, name: &str) -> bool {
        let Some(scope) = self.scope else {
            return false;
        };
        let registry = &context.snapshot.registry;
        let by_claim = || {
            let (claims, client) = (self.claims?, self.client?);
            let mut beyond = userinfo::scopes_beyond(claims, scope, registry, client);
            beyond.find(|(scope, _)| *scope == name)
        };
        scope.contains(name) || by_claim().is_some()
    }
}

/// The classes that are demanded of a person for this. None: of somebody who is not known yet.
pub fn classes(context: &Context, of: Sought<'_>, user: Option<&User>) -> Vec<String> {
    let (settings, registry) = (&context.snapshot.settings, &context.snapshot.registry);
    let claims = user.map(User::claims);
    let groups = claims
        .as_ref()
        .map(|claims| registry.people.groups_of(&claims.held));
    let fits = |row: &&StepUp| {
        let group = |name: &String| groups.as_ref().is_some_and(|of| of.contains(name.as_str()));
        let scope = |name: &String| of.asks_for(context, name);
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
