//! Identity providers on the account page: which ones log in to it, and one more, or one less.

use signet_oauth::params::Params;
use signet_store::StoreError;

use super::{about, answer, factors};
use crate::failure::Failure;
use crate::freshness;
use crate::journey::{is_last_way, provider};
use signet_directory::{CredentialKind, CredentialName, User};
use signet_pages::{ProviderButton, ProviderLink};
use signet_request::browser_request::{BrowserRequest, LoggedIn};
use signet_request::http::Response;

/// What begins the value of a button that links.
pub(super) const LINK: &str = "provider-link:";

const UNLINKED: &str = "provider-unlinked";

/// The account's links.
pub(super) async fn links(
    browser: &BrowserRequest,
    user: &User,
) -> Result<Vec<ProviderLink>, StoreError> {
    let (users, now) = (&browser.context.realm.people.users, browser.context.now());
    let providers = &browser.context.snapshot.registry.providers;
    let links = users.links(user, now).await?;
    let shown = links.into_iter().map(|(id, link)| ProviderLink {
        provider: providers
            .get(&link.provider)
            .map_or_else(|| link.provider.clone(), |known| known.shown().to_owned()),
        name: link.name,
        can_unlink: !is_last_way(
            browser,
            user,
            &CredentialName::new(CredentialKind::Provider, &id),
        ),
        id,
    });
    Ok(shown.collect())
}

/// Providers that can be linked. An account that a directory keeps has its ways there.
pub(super) fn others(browser: &BrowserRequest, user: &User) -> Vec<ProviderButton> {
    if user.link.is_some() {
        return Vec::new();
    }
    let buttons = provider::buttons(browser).into_iter();
    buttons
        .map(|button| {
            let name = button.decision.trim_start_matches(provider::DECISION);
            ProviderButton {
                decision: format!("{LINK}{name}"),
                ..button
            }
        })
        .collect()
}

pub(super) async fn link(browser: BrowserRequest, present: &LoggedIn, decision: &str) -> Response {
    let Some(fresh) = freshness::of(&browser.context, present) else {
        return factors::ask_fresh(browser, present).await;
    };
    let name = decision.strip_prefix(LINK).unwrap_or_default();
    match provider::begin_link(&browser, &fresh, name).await {
        Ok(url) => browser.redirect(&url),
        Err(failure) => answer(browser, Err(failure)).await,
    }
}

pub(super) async fn unlink(browser: BrowserRequest, present: &LoggedIn, form: &Params) -> Response {
    let Some(fresh) = freshness::of(&browser.context, present) else {
        return factors::ask_fresh(browser, present).await;
    };
    let id = form.get("link").unwrap_or_default();
    let unlinked = provider::unlink(&browser, &fresh, id);
    let event = about(&browser, present, "provider-unlink");
    let unlinked = browser
        .context
        .realm
        .audit()
        .act(event, unlinked, Failure::code);
    let outcome = unlinked.await.map(|()| UNLINKED);
    answer(browser, outcome).await
}
