//! Logging in at an identity provider.
//!
//! A person is sent there with a request of ours ([`journey`]), and comes back with an answer
//! ([`arrive`]). Whose account it is, is decided by stated rules (docs/identity-providers.md): by
//! the link that an account has; else, where the provider is trusted for addresses and both sides
//! verified it, by the address; else the person says whether they are new, or proves the account
//! that they have. Who logs out here may be led through a logout there ([`leave`]).
mod account;
mod arrival;
pub mod arrive;
mod journey;
mod leave;

pub(crate) use account::{begin_link, unlink};
pub(crate) use arrival::{as_will_be, bring, complete};
pub(crate) use arrive::submit;
pub use leave::{came_back, onward};

use signet_oauth::people::provider::Provider;

use super::lead::Lead;
use super::next::{Journey, Next};
use signet_audit::Action;
use signet_federation::upstream::{Asking, Trouble};
use signet_pages::{Notice, ProviderButton};
use signet_request::browser_request::BrowserRequest;
use signet_request::interaction::{Interaction, Page};

/// What a login at an identity provider shows: a name of `signet_oauth::authorize::acr::METHODS`.
pub const METHOD: &str = "provider";

/// What begins the value of a provider's button.
pub const DECISION: &str = "provider:";

const NOT_OFFERED: &str = "provider-not-offered";

/// See the module.
pub(super) const LEAD: Lead = Lead {
    decision: DECISION,
    buttons,
    unasked: hinted,
    of_typed,
    begin: |journey, name, typed| Box::pin(begin(journey, name, typed)),
};

/// The buttons of the login page.
pub(crate) fn buttons(browser: &BrowserRequest) -> Vec<ProviderButton> {
    let providers = browser.context.snapshot.registry.providers.iter();
    let shown = providers.filter(|provider| provider.leads_there() && !provider.hidden);
    shown
        .map(|provider| ProviderButton {
            decision: format!("{DECISION}{}", provider.name),
            label: provider.shown().to_owned(),
            picture: provider
                .logo_uri
                .is_some()
                .then(|| format!("/provider-logo/{}", provider.name)),
            preset: provider.preset,
        })
        .collect()
}

/// The provider that a request leads to before any page: by its hint, or by the domain of its
/// `login_hint`. Only at the beginning of an interaction, so that nobody is sent in circles.
fn hinted(browser: &BrowserRequest, interaction: &Interaction) -> Option<String> {
    if interaction.page != Page::Start || interaction.step_up || interaction.login.is_some() {
        return None;
    }
    let request = interaction.request()?;
    let providers = &browser.context.snapshot.registry.providers;
    let by_name = request.idp_hint.as_deref();
    let by_name = by_name.and_then(|name| providers.usable(name));
    let by_address = request.login_hint.as_deref();
    let by_address = by_address.and_then(|typed| providers.of_address(typed));
    Some(by_name.or(by_address)?.name.clone())
}

/// The provider that what was typed leads to, by its domain.
fn of_typed(browser: &BrowserRequest, typed: &str) -> Option<String> {
    let providers = &browser.context.snapshot.registry.providers;
    Some(providers.of_address(typed)?.name.clone())
}

fn asking<'a>(browser: &'a BrowserRequest, provider: &'a Provider) -> Asking<'a> {
    Asking {
        realm: &browser.context.realm,
        provider,
        caller: browser.caller(),
        now: browser.context.now(),
    }
}

/// Sends the person to the provider. `typed`: what they typed to name themselves, if anything.
async fn begin(journey: Box<Journey>, name: String, typed: String) -> Next {
    let Journey {
        browser,
        mut interaction,
    } = *journey;
    interaction.page = Page::Login;
    interaction.pending = None;
    let providers = &browser.context.snapshot.registry.providers;
    let Some(provider) = providers.usable(&name).cloned() else {
        let notice = Some(Notice::Error(NOT_OFFERED));
        return Next::Identify(Journey::new(browser, interaction), notice);
    };
    match journey::begin(&browser, &interaction, &provider, &typed, None).await {
        Ok(url) => Next::Answer(browser.redirect(&url)),
        Err(journey::NotBegun::Trouble(trouble)) => {
            failed(browser, interaction, &provider, &trouble)
        }
        Err(journey::NotBegun::Store(error)) => Next::Answer(browser.unavailable(&error)),
    }
}

/// The login page again, with the reason: other ways are on it, and the way back to the
/// application.
fn failed(
    browser: BrowserRequest,
    interaction: Interaction,
    provider: &Provider,
    trouble: &Trouble,
) -> Next {
    tracing::warn!(provider = %provider.name, error = %trouble, request_id = %browser.context.request_id, "failed to log in at an identity provider");
    refused(
        browser,
        interaction,
        provider,
        trouble.code(),
        trouble.text(),
    )
}

fn refused(
    browser: BrowserRequest,
    mut interaction: Interaction,
    provider: &Provider,
    code: &'static str,
    text: &'static str,
) -> Next {
    let event = browser.context.event(Action::LOGIN).method(METHOD);
    let event = event.target(&provider.name).refused(code);
    browser.context.realm.audit().record(event);
    browser.context.realm.host.metrics.login(METHOD, code);
    // Whoever logs in in another way now is not who arrived.
    interaction.arrival = None;
    let notice = Some(Notice::Error(text));
    Next::Identify(Journey::new(browser, interaction), notice)
}
