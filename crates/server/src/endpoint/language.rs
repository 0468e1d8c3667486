//! `/language`: the menu below the pages. The choice is a cookie of the browser, and the person
//! goes on where they were.
use signet_texts::Language;

use super::authorize;
use signet_login::sign_up;
use signet_request::browser_request::{BrowserRequest, error_page};
use signet_request::http::{Context, Response};
use signet_request::interaction::{Goal, Interaction};

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
    let sealed = form.get("interaction").unwrap_or_default();
    match browser.open(&form) {
        Some(interaction) => go_on(browser, interaction).await,
        None if sealed.is_empty() => to(browser, "/account"),
        None => browser.start_again(),
    }
}

/// Shows again what comes next. What was begun and not finished (a mailed code) is begun again.
async fn go_on(browser: BrowserRequest, interaction: Interaction) -> Response {
    match &interaction.goal {
        Goal::Authorize(_) => authorize::proceed(browser, interaction, false).await,
        Goal::Device(Some(code)) => {
            let path = format!("/device?user_code={code}");
            to(browser, &path)
        }
        Goal::Device(None) => to(browser, "/device"),
        Goal::Recover => to(browser, "/account/recover"),
        Goal::SignUp => to(browser, sign_up::PATH),
        Goal::Account | Goal::Logout { .. } => to(browser, "/account"),
    }
}

fn to(browser: BrowserRequest, path: &str) -> Response {
    let url = browser.url(path);
    browser.redirect(&url)
}
