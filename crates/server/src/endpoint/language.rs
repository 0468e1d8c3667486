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
    let mut visit = match BrowserRequest::begin(context).await {
        Ok(visit) => visit,
        Err(response) => return response,
    };
    if let Some(language) = form.get("language").and_then(Language::of_tag) {
        visit.choose_language(language);
    }
    let sealed = form.get("interaction").unwrap_or_default();
    match visit.open(&form) {
        Some(interaction) => go_on(visit, interaction).await,
        None if sealed.is_empty() => to(visit, "/account"),
        None => visit.start_again(),
    }
}

/// Shows again what comes next. What was begun and not finished (a mailed code) is begun again.
async fn go_on(visit: BrowserRequest, interaction: Interaction) -> Response {
    match &interaction.goal {
        Goal::Authorize(_) => authorize::proceed(visit, interaction, false).await,
        Goal::Device(Some(code)) => {
            let path = format!("/device?user_code={code}");
            to(visit, &path)
        }
        Goal::Device(None) => to(visit, "/device"),
        Goal::Recover => to(visit, "/account/recover"),
        Goal::SignUp => to(visit, sign_up::PATH),
        Goal::Account | Goal::Logout { .. } => to(visit, "/account"),
    }
}

fn to(visit: BrowserRequest, path: &str) -> Response {
    let url = visit.url(path);
    visit.redirect(&url)
}
