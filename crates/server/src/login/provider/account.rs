//! Links on the account page.
use std::sync::Arc;

use super::journey;
use crate::browser_request::{BrowserRequest, LoggedIn};
use crate::interaction::{Goal, Page};
use crate::login::{Failure, METHODS};
use signet_directory::{CredentialKind, User};
use signet_oauth::provider::Provider;

const NOT_OFFERED: &str = "provider-not-offered";
const LAST_WAY: &str = "provider-last-way";

/// Sends the person to a provider, to link who they are there. Gives the URL.
pub(crate) async fn begin_link(
    visit: &BrowserRequest,
    present: &LoggedIn,
    name: &str,
) -> Result<String, Failure> {
    let providers = &visit.context.snapshot.registry.providers;
    let provider: Arc<Provider> = providers
        .usable(name)
        .cloned()
        .ok_or(Failure::Invalid(NOT_OFFERED))?;
    let mut interaction = visit.interaction(Goal::Account);
    interaction.page = Page::Login;
    let link = (present.user.id.clone(), present.found.row.sid.clone());
    let begun = journey::begin(visit, &interaction, &provider, "", Some(link)).await;
    begun.map_err(|error| match error {
        journey::NotBegun::Trouble(trouble) => Failure::Invalid(trouble.text()),
        journey::NotBegun::Store(error) => Failure::Store(error),
    })
}

/// Whether the account can be logged in to without this link.
pub(crate) fn last_way(visit: &BrowserRequest, user: &User, id: &str) -> bool {
    let snapshot = &visit.context.snapshot;
    let local = snapshot.settings.local_login
        && METHODS.iter().any(|method| {
            method.is_first() && (method.offered)(visit) && (method.usable)(visit, user)
        });
    let other = user
        .credentials_of(CredentialKind::Provider)
        .any(|other| other != id);
    !local && !other
}

/// Takes a link off the account.
pub(crate) async fn unlink(
    visit: &BrowserRequest,
    present: &LoggedIn,
    id: &str,
) -> Result<(), Failure> {
    let (users, now) = (&visit.context.realm.people.users, visit.context.now());
    let may = |user: &User| !last_way(visit, user, id);
    if last_way(visit, &present.user, id) {
        return Err(Failure::Invalid(LAST_WAY));
    }
    match users.unlink(&present.user.id, id, now, may).await? {
        Some(_) => Ok(()),
        None => Err(Failure::Invalid(LAST_WAY)),
    }
}
