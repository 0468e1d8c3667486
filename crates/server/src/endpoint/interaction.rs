//! `/interaction`: where the forms of the pages go, and where a POST to `/authorize` goes on as a
//! GET.

use signet_oauth::params::Params;

use super::authorize;
use signet_login::journey::{self, Journey, Outcome};
use signet_login::waiting_login::{self, Done};
use signet_request::browser_request::{BrowserRequest, error_page};
use signet_request::http::{Context, Response};
use signet_request::interaction::{Goal, Interaction, Page, open_resume};

/// GET: goes on with a request that was posted.
pub(super) async fn show(mut context: Context) -> Response {
    let params = match context.query_params() {
        Ok(params) => params,
        Err(error) => return error_page(&mut context, &error),
    };
    if let Some(sealed) = params.get("answer") {
        return match BrowserRequest::begin(context).await {
            Ok(browser) => follow(super::providers::answered(browser, sealed).await).await,
            Err(response) => response,
        };
    }
    for done in Done::ALL {
        if let Some(id) = params.get(done.parameter()) {
            return match BrowserRequest::begin(context).await {
                Ok(browser) => waiting_login::go_on(browser, id, params.get("as"), done).await,
                Err(response) => response,
            };
        }
    }
    let keyring = context.realm.keyring().clone();
    let request = params.get("request");
    match request.and_then(|sealed| open_resume(sealed, &keyring, context.now())) {
        Some(request) => authorize::begin(context, request).await,
        None => match BrowserRequest::begin(context).await {
            Ok(browser) => browser.start_again(),
            Err(response) => response,
        },
    }
}

/// POST: a form of a page.
pub(super) async fn submit(context: Context) -> Response {
    let (browser, form, interaction) = match BrowserRequest::of_form(context).await {
        Ok(browser) => browser,
        Err(answer) => return answer,
    };
    dispatch(browser, interaction, &form).await
}

async fn dispatch(browser: BrowserRequest, interaction: Interaction, form: &Params) -> Response {
    match (interaction.page, &interaction.goal) {
        (Page::Login | Page::Method | Page::Second | Page::Provider, Goal::Authorize(_))
            if matches!(form.get("decision"), Some("cancel" | "deny")) =>
        {
            authorize::submit_page(browser, interaction, form).await
        }
        (Page::Login | Page::Method | Page::Second | Page::Offer | Page::Provider, _) => {
            follow(journey::submit(browser, interaction, form).await).await
        }
        (Page::Select | Page::Consent, Goal::Authorize(_)) => {
            authorize::submit_page(browser, interaction, form).await
        }
        // The other pages' forms have addresses of their own.
        _ => browser.start_again(),
    }
}

/// A page of the login, or what comes after it.
pub(super) async fn follow(outcome: Outcome) -> Response {
    match outcome {
        Outcome::Page(response) => response,
        Outcome::Done(journey) => {
            let Journey {
                browser,
                interaction,
            } = *journey;
            go_on(browser, interaction).await
        }
    }
}

/// After a login: on to what it was for.
async fn go_on(browser: BrowserRequest, interaction: Interaction) -> Response {
    match &interaction.goal {
        Goal::Authorize(_) => authorize::proceed(browser, interaction, false).await,
        Goal::Device(user_code) => {
            let url = match user_code {
                Some(code) => browser.url(&format!("/device?user_code={code}")),
                None => browser.url("/device"),
            };
            browser.redirect(&url)
        }
        Goal::Console(path) => {
            let url = browser.url(path);
            browser.redirect(&url)
        }
        Goal::Account | Goal::Logout { .. } | Goal::Recover | Goal::SignUp => {
            let url = browser.url("/account");
            browser.redirect(&url)
        }
    }
}
