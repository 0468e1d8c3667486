//! The login page: the fields of the first method, a button for each method that has a page of its
//! own and for each way that leads elsewhere, and what a script asks the browser for.

use signet_encoding::base64url;
use signet_pages::{ClientLinks, Html, LoginPage, MethodButton, Notice};
use signet_request::browser_request::BrowserRequest;
use signet_request::http::Response;
use signet_request::interaction::{self, Interaction};

use super::method::{Method, MethodPage, Page};
use super::next::ACTION;
use super::{LEADS, METHODS};

/// Shows the login page.
pub fn show(browser: BrowserRequest, interaction: Interaction, notice: Option<Notice>) -> Response {
    show_for(browser, interaction, None, notice)
}

/// As [`show`], with a name filled in.
pub fn show_for(
    browser: BrowserRequest,
    mut interaction: Interaction,
    name: Option<&str>,
    notice: Option<Notice>,
) -> Response {
    turn_to(&mut interaction);
    let html = page(&browser, &interaction, name, notice);
    browser.page(html)
}

/// The method whose fields stand on the login page: [`METHODS`] begins with it.
pub(super) fn first() -> &'static Method {
    &METHODS[0]
}

pub(super) fn turn_to(interaction: &mut Interaction) {
    interaction.page = interaction::Page::Login;
    interaction.pending = None;
    interaction.half = None;
    // A passkey answers each page once.
    interaction.challenge = Some(base64url::encode(&signet_crypto::random::bytes::<16>()));
}

/// The login page, filled in.
pub(super) fn page(
    browser: &BrowserRequest,
    interaction: &Interaction,
    typed: Option<&str>,
    notice: Option<Notice>,
) -> Html {
    method_page(browser, first(), interaction, typed, notice)
}

/// The page of a method, filled in.
pub(super) fn method_page(
    browser: &BrowserRequest,
    method: &Method,
    interaction: &Interaction,
    typed: Option<&str>,
    notice: Option<Notice>,
) -> Html {
    let request = interaction.request();
    let pending = interaction.pending.as_ref();
    let hint = request.and_then(|request| request.login_hint.as_deref());
    let page = MethodPage {
        browser,
        action: ACTION,
        interaction: &browser.seal(interaction),
        typed: typed
            .or(pending.map(|pending| &*pending.typed))
            .or(hint)
            .unwrap_or(""),
        request,
        can_cancel: request.is_some(),
        leads_on: interaction.leads_on(),
        step_up_of: None,
        others: &[],
        can_remember: false,
        state: pending.map_or(&[], |pending| &pending.state),
        challenge: interaction.challenge.as_deref(),
        notice,
    };
    match method.page {
        Page::Own(html) => html(&page),
        Page::Step(_) => login_page(&page),
    }
}

/// The login page: the fields of the first method, and a button for each that has a page of its
/// own.
fn login_page(page: &MethodPage<'_>) -> Html {
    let browser = page.browser;
    let registry = &browser.context.snapshot.registry;
    let client = page
        .request
        .and_then(|request| registry.clients.get(request.client_id()));
    let methods: Vec<MethodButton> = METHODS
        .iter()
        .filter(|method| method.is_first() && method.start.is_some() && (method.offered)(browser))
        .map(Method::button)
        .collect();
    let script = METHODS.iter().find_map(|method| method.script.as_ref());
    let script = script.and_then(|script| (script.login_options)(browser, page.challenge));
    let leads: Vec<_> = LEADS
        .iter()
        .flat_map(|lead| (lead.buttons)(browser))
        .collect();
    signet_pages::login(
        &browser.face(),
        &LoginPage {
            action: page.action,
            interaction: page.interaction,
            client_name: client.map(|c| c.client_name.as_deref().unwrap_or(&c.client_id)),
            links: client.map_or_else(ClientLinks::default, |client| ClientLinks::of(client)),
            username: page.typed,
            methods: &methods,
            passkey: script.as_deref(),
            providers: &leads,
            local: browser.context.snapshot.settings.local_login,
            recovery: browser.context.realm.people.mailer.is_some(),
            sign_up: browser.context.offers_sign_up(),
            leads_on: page.leads_on,
            can_cancel: page.can_cancel,
            notice: page.notice.clone(),
        },
    )
}
