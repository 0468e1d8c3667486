//! Links on the account page.
use std::sync::Arc;

use super::journey;
use crate::failure::Failure;
use crate::freshness::Fresh;
use crate::journey::is_last_way;
use signet_directory::{CredentialKind, CredentialName, User};
use signet_oauth::people::provider::Provider;
use signet_request::browser_request::BrowserRequest;
use signet_request::interaction::{Goal, Page};
use signet_request::security_mail::{self, SecurityEvent};

const NOT_OFFERED: &str = "provider-not-offered";
const LAST_WAY: &str = "provider-last-way";

/// Sends the person to a provider, to link who they are there. Gives the URL.
pub(crate) async fn begin_link(
    browser: &BrowserRequest,
    fresh: &Fresh<'_>,
    name: &str,
) -> Result<String, Failure> {
    let providers = &browser.context.snapshot.registry.providers;
    let provider: Arc<Provider> = providers
        .usable(name)
        .cloned()
        .ok_or(Failure::Invalid(NOT_OFFERED))?;
    let mut interaction = browser.interaction(Goal::Account);
    interaction.page = Page::Login;
    let session = fresh.session().ok_or(Failure::LoginRequired)?;
    let link = (fresh.user().id.clone(), session.row.sid.clone());
    let begun = journey::begin(browser, &interaction, &provider, "", Some(link)).await;
    begun.map_err(|error| match error {
        journey::NotBegun::Trouble(trouble) => Failure::Invalid(trouble.text()),
        journey::NotBegun::Store(error) => Failure::Store(error),
    })
}

/// Takes a link off the account.
pub(crate) async fn unlink(
    browser: &BrowserRequest,
    fresh: &Fresh<'_>,
    id: &str,
) -> Result<(), Failure> {
    let (users, now) = (&browser.context.realm.people.users, browser.context.now());
    let name = CredentialName::new(CredentialKind::Provider, id);
    let may = |user: &User| !is_last_way(browser, user, &name);
    match users.unlink(&fresh.user().id, id, now, may).await? {
        Some(user) => {
            security_mail::send(browser, &user, SecurityEvent::ProviderUnlinked).await;
            Ok(())
        }
        None => Err(Failure::Invalid(LAST_WAY)),
    }
}
