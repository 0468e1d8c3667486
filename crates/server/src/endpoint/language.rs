//! `/language`: the menu below the pages. The choice is a cookie of the browser, and the person
//! goes on where they were.
use http::StatusCode;
use signet_login::{invitation, journey, recover, sign_up};
use signet_oauth::authorize::with_query;
use signet_realm::deletion;
use signet_texts::Language;

use super::{authorize, logout};
use signet_request::browser_request::{BrowserRequest, error_page};
use signet_request::http::{Context, Response};
use signet_request::interaction::{Goal, Interaction, Page};

/// Where mailed links lead: their value comes along.
const LINKS: [&str; 4] = [
    recover::PATH,
    sign_up::PATH,
    invitation::PATH,
    deletion::PATH,
];

/// POST.
pub(super) async fn submit(mut context: Context) -> Response {
    let form = match context.form().await {
        Ok(form) => form,
        Err(error) => return error_page(&mut context, &error.into()),
    };
    let mut browser = match BrowserRequest::begin(context).await {
        Ok(browser) => browser,
        Err(response) => return response,
    };
    if let Some(language) = form.get("language").and_then(Language::of_tag) {
        browser.choose_language(language);
    }
    if let (Some(at), Some(token)) = (form.get("at"), form.get("token")) {
        let path = LINKS.iter().find(|path| path.strip_prefix('/') == Some(at));
        let path = path.map(|path| with_query(path, &[("token", token)]));
        return to(browser, path.as_deref().unwrap_or("/account"));
    }
    if let Some(html) = form
        .get("error")
        .and_then(|sealed| browser.error_again(sealed))
    {
        return browser.page_with(StatusCode::BAD_REQUEST, html);
    }
    let sealed = form.get("interaction").unwrap_or_default();
    match browser.open(&form) {
        Some(interaction) => go_on(browser, interaction).await,
        None if sealed.is_empty() => to(browser, "/account"),
        None => browser.start_again(),
    }
}

/// Shows the page again that the person was on, or what comes next.
async fn go_on(browser: BrowserRequest, interaction: Interaction) -> Response {
    match (interaction.page, &interaction.goal) {
        (Page::Method | Page::Second, _) if interaction.pending.is_some() => {
            return journey::again(browser, interaction).await;
        }
        (Page::Second, _) => return journey::ask_further(browser, interaction).await,
        (Page::Recover, _) => return recover::again(browser, &interaction),
        (Page::SignUp, _) if browser.context.offers_sign_up() => {
            return sign_up::ask(browser, interaction, "", None);
        }
        (Page::Logout, _) if browser.present().is_some() => {
            return logout::ask(browser, interaction);
        }
        _ => {}
    }
    match &interaction.goal {
        Goal::Authorize(_) => authorize::proceed(browser, interaction, false).await,
        Goal::Device(Some(code)) => {
            let path = format!("/device?user_code={code}");
            to(browser, &path)
        }
        Goal::Device(None) => to(browser, "/device"),
        Goal::Recover => to(browser, "/account/recover"),
        Goal::SignUp => to(browser, sign_up::PATH),
        Goal::Console(path) => to(browser, &path.clone()),
        Goal::Account | Goal::Logout { .. } => to(browser, "/account"),
    }
}

fn to(browser: BrowserRequest, path: &str) -> Response {
    let url = browser.url(path);
    browser.redirect(&url)
}
