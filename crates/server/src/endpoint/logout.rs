//! `/logout`: OpenID RP-Initiated Logout 1.0.

use signet_oauth::logout::logout;
use signet_oauth::params::Params;

use signet_login::journey::provider;
use signet_pages::words::{host_of, name_of};
use signet_pages::{LogoutFrame, LogoutOnward};
use signet_request::browser_request::{BrowserRequest, error_page};
use signet_request::front_channel_logout;
use signet_request::http::{Context, Response};
use signet_request::interaction::{Goal, Interaction, Page};

/// GET, and a POST of a client.
pub(super) async fn show(mut context: Context) -> Response {
    match context.query_params() {
        Ok(params) => request(context, &params).await,
        Err(error) => error_page(&mut context, &error),
    }
}

/// POST: a client's request, or the answer to the question of the page.
pub(super) async fn submit(mut context: Context) -> Response {
    let form = match context.form().await {
        Ok(form) => form,
        Err(error) => return error_page(&mut context, &error.into()),
    };
    if form.get("interaction").is_none() {
        // A cross-site POST comes without the session's cookie: it goes on as a GET, which has it.
        let mut url = format!("{}/logout", context.base());
        let names = [
            "id_token_hint",
            "client_id",
            "post_logout_redirect_uri",
            "state",
            "ui_locales",
            "logout_hint",
        ];
        let fields: Vec<(&str, &str)> = names
            .into_iter()
            .filter_map(|name| Some((name, form.get(name)?)))
            .collect();
        url = signet_oauth::authorize::with_query(&url, &fields);
        return signet_request::http::response::redirect(&url);
    }
    let browser = match BrowserRequest::begin(context).await {
        Ok(browser) => browser,
        Err(response) => return response,
    };
    let Some(interaction) = browser.open(&form) else {
        return browser.start_again();
    };
    let (Page::Logout, Goal::Logout { then, .. }) = (interaction.page, &interaction.goal) else {
        return browser.start_again();
    };
    let same = match browser.present() {
        Some(present) => interaction.was_shown_to(&present.found.row),
        None => true,
    };
    if form.get("decision") != Some("allow") || !same {
        let html = signet_pages::stayed(&browser.face());
        return browser.page(html);
    }
    // The page has said where it goes.
    end(browser, then.as_deref(), true).await
}

async fn request(context: Context, params: &Params) -> Response {
    let browser = match BrowserRequest::begin(context).await {
        Ok(browser) => browser,
        Err(response) => return response,
    };
    let snapshot = browser.context.snapshot.clone();
    let session = browser.present().map(|present| present.found.row.facts());
    let decided = logout(
        params,
        &snapshot.registry,
        &snapshot.settings,
        &*snapshot.keys,
        session.as_ref(),
        browser.context.now(),
    );
    let decided = match decided {
        Ok(decided) => decided,
        Err(error) => return browser.error(&error),
    };
    if browser.present().is_none() || !decided.ask {
        return end(browser, decided.then.as_deref(), decided.proven).await;
    }
    let interaction = browser.interaction(Goal::Logout {
        then: decided.then,
        client_id: decided.client_id,
    });
    ask(browser, interaction)
}

/// Asks before the session ends.
pub(super) fn ask(browser: BrowserRequest, mut interaction: Interaction) -> Response {
    let (Some(present), Goal::Logout { then, client_id }) = (browser.present(), &interaction.goal)
    else {
        return browser.start_again();
    };
    let t = browser.face();
    let host = then.as_deref().map(|uri| host_of(&t, uri));
    let clients = &browser.context.snapshot.registry.clients;
    let client = client_id.as_deref().and_then(|id| clients.get(id)).cloned();
    interaction.page = Page::Logout;
    interaction.shown_to = Some(present.found.row.sid.clone());
    let html = signet_pages::logout_confirm(
        &t,
        "logout",
        &browser.seal(&interaction),
        &present.user.username,
        client.as_deref().map(name_of),
        host.as_deref(),
    );
    browser.page(html)
}

/// Ends the session. `known`: the person, or an ID token of this server, stands for going on to
/// `then`.
async fn end(mut browser: BrowserRequest, then: Option<&str>, known: bool) -> Response {
    // While the session still says where its person logged in, and which applications it was in.
    let elsewhere = provider::onward(&browser, then, known).await;
    let frames = match front_channel_logout::frames(&browser).await {
        Ok(frames) => frames,
        Err(error) => return browser.unavailable(&error),
    };
    if let Err(error) = browser.log_out().await {
        return browser.unavailable(&error);
    }
    match elsewhere {
        // To the provider's logout, as to a place that somebody known has asked for.
        Some(url) => gone(browser, Some(&url), true, &frames),
        None => gone(browser, then, known, &frames),
    }
}

/// GET `/providers/NAME/logged-out`: back from the logout at a provider.
pub(super) async fn back(mut context: Context) -> Response {
    let state = match context.query_params() {
        Ok(params) => params.get("state").unwrap_or_default().to_owned(),
        Err(error) => return error_page(&mut context, &error),
    };
    let name = context.param("provider").unwrap_or_default().to_owned();
    let browser = match BrowserRequest::begin(context).await {
        Ok(browser) => browser,
        Err(response) => return response,
    };
    match provider::came_back(&browser, &name, &state) {
        Some(back) => gone(browser, back.then.as_deref(), back.known, &[]),
        // Nobody logged out here: nothing is said of a logout.
        None if browser.present().is_some() => {
            let url = browser.url("/account");
            browser.redirect(&url)
        }
        None => gone(browser, None, false, &[]),
    }
}

/// After the end of the session.
fn gone(
    browser: BrowserRequest,
    then: Option<&str>,
    known: bool,
    frames: &[LogoutFrame],
) -> Response {
    match then {
        Some(url) if known && frames.is_empty() => browser.redirect(url),
        Some(url) => {
            let t = browser.face();
            let host = host_of(&t, url);
            let onward = match known {
                true => LogoutOnward::Go(&host, url),
                false => LogoutOnward::Link(&host, url),
            };
            browser.page(signet_pages::signed_out(&t, onward, frames))
        }
        None => {
            let html = signet_pages::signed_out(&browser.face(), LogoutOnward::Stay, frames);
            browser.page(html)
        }
    }
}
