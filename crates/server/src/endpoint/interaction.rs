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
            Ok(visit) => follow(super::providers::answered(visit, sealed).await).await,
            Err(response) => response,
        };
    }
    for done in Done::ALL {
        if let Some(id) = params.get(done.parameter()) {
            return match BrowserRequest::begin(context).await {
                Ok(visit) => waiting_login::go_on(visit, id, done).await,
                Err(response) => response,
            };
        }
    }
    let keyring = context.realm.keyring().clone();
    let request = params.get("request");
    match request.and_then(|sealed| open_resume(sealed, &keyring, context.now())) {
        Some(request) => authorize::begin(context, request).await,
        None => match BrowserRequest::begin(context).await {
            Ok(visit) => visit.start_again(),
            Err(response) => response,
        },
    }
}

/// POST: a form of a page.
pub(super) async fn submit(context: Context) -> Response {
    let (visit, form, interaction) = match BrowserRequest::of_form(context).await {
        Ok(visit) => visit,
        Err(answer) => return answer,
    };
    dispatch(visit, interaction, &form).await
}

async fn dispatch(visit: BrowserRequest, interaction: Interaction, form: &Params) -> Response {
    match (interaction.page, &interaction.goal) {
        (Page::Login | Page::Method | Page::Second | Page::Provider, Goal::Authorize(_))
            if matches!(form.get("decision"), Some("cancel" | "deny")) =>
        {
            authorize::submit_page(visit, interaction, form).await
        }
        (Page::Login | Page::Method | Page::Second | Page::Offer | Page::Provider, _) => {
            follow(journey::submit(visit, interaction, form).await).await
        }
        (Page::Select | Page::Consent, Goal::Authorize(_)) => {
            authorize::submit_page(visit, interaction, form).await
        }
        // The other pages' forms have addresses of their own.
        _ => visit.start_again(),
    }
}

/// A page of the login, or what comes after it.
async fn follow(outcome: Outcome) -> Response {
    match outcome {
        Outcome::Page(response) => response,
        Outcome::Done(journey) => {
            let Journey { visit, interaction } = *journey;
            go_on(visit, interaction).await
        }
    }
}

/// After a login: on to what it was for.
async fn go_on(visit: BrowserRequest, interaction: Interaction) -> Response {
    match &interaction.goal {
        Goal::Authorize(_) => authorize::proceed(visit, interaction, false).await,
        Goal::Device(user_code) => {
            let url = match user_code {
                Some(code) => visit.url(&format!("/device?user_code={code}")),
                None => visit.url("/device"),
            };
            visit.redirect(&url)
        }
        Goal::Account | Goal::Logout { .. } | Goal::Recover | Goal::SignUp => {
            let url = visit.url("/account");
            visit.redirect(&url)
        }
    }
}
