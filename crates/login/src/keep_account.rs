//! The pages of `/account/keep`: a person undoes the deletion of their account by the mailed link.
use crate::waiting_login::{self, Done};
use signet_audit::Action;
use signet_directory::{User, UserError};
use signet_oauth::error::{ErrorCode, OAuthError};
use signet_realm::deletion::{self, Link};
use signet_request::browser_request::{BrowserRequest, error_page};
use signet_request::http::{Context, Response};
use signet_store::StoreError;

const ENDED: &str = "error-keep-account";

/// GET: asks whether the account is to be kept.
pub async fn show(context: Context) -> Response {
    let (browser, params) = match BrowserRequest::of_query(context).await {
        Ok(browser) => browser,
        Err(answer) => return answer,
    };
    let token = params.get("token").unwrap_or("");
    match open(&browser, token).await {
        Ok(Some((link, user))) => {
            let html = signet_pages::keep_account(
                &browser.face(),
                token,
                &user.username,
                link.deletion.erase_at,
            );
            browser.page(html)
        }
        Ok(None) => ended(browser),
        Err(error) => browser.unavailable(&error),
    }
}

fn ended(browser: BrowserRequest) -> Response {
    browser.error(&OAuthError::new(ErrorCode::InvalidRequest, ENDED))
}

/// POST: it is.
pub async fn submit(mut context: Context) -> Response {
    let form = match context.form().await {
        Ok(form) => form,
        Err(error) => return error_page(&mut context, &error.into()),
    };
    let browser = match BrowserRequest::begin(context).await {
        Ok(browser) => browser,
        Err(response) => return response,
    };
    let (link, _) = match open(&browser, form.get("token").unwrap_or("")).await {
        Ok(Some(found)) => found,
        Ok(None) => return ended(browser),
        Err(error) => return browser.unavailable(&error),
    };
    let realm = browser.context.realm.clone();
    let event = browser.context.event(Action::ACCOUNT);
    let event = event.operation("keep").subject(&link.user_id);
    let kept = realm.undo_deletion(&link.user_id, |user| link.holds(user));
    let kept = realm
        .audit()
        .act(event, kept, |_| "temporarily_unavailable");
    match kept.await {
        Ok(true) => waiting_login::after(browser, None, None, Done::Kept).await,
        Ok(false) | Err(UserError::NotFound) => {
            record_wrong_link(&browser);
            ended(browser)
        }
        Err(error) => browser.unavailable(&error.into()),
    }
}

/// The link and its user, while it works; a record where it does not.
async fn open(browser: &BrowserRequest, token: &str) -> Result<Option<(Link, User)>, StoreError> {
    let context = &browser.context;
    let found = deletion::find(&context.realm, token, context.now()).await?;
    if found.is_none() {
        record_wrong_link(browser);
    }
    Ok(found)
}

/// Whoever sends requests can send such links: they are counted where they say the same.
fn record_wrong_link(browser: &BrowserRequest) {
    let event = browser.context.event(Action::ACCOUNT).operation("keep");
    let event = event.refused("invalid_keep_link");
    browser.context.realm.audit().record(event);
}
