//! A person's own data: one document, to keep.

use http::{HeaderValue, StatusCode, header};

use super::{about, factors};
use crate::freshness;
use signet_directory::User;
use signet_oauth::error::{ErrorCode, OAuthError};
use signet_realm::state::Realm;
use signet_request::browser_request::{BrowserRequest, LoggedIn};
use signet_request::http::{Response, response};
use std::sync::Arc;

const AS_FILE: HeaderValue = HeaderValue::from_static("attachment; filename=\"account.json\"");

/// Who writes the document: the administration, which knows every record that it is made of.
pub trait PersonData: Send + 'static {
    /// Everything that is kept of the person, secrets aside, as JSON.
    ///
    /// # Errors
    /// The code of what could not be read.
    fn document(
        realm: &Arc<Realm>,
        user: User,
    ) -> impl Future<Output = Result<Vec<u8>, &'static str>> + Send;
}

/// Answers with everything that is kept of the person, secrets aside. The document outlives the
/// session.
pub(super) async fn export<D: PersonData>(browser: BrowserRequest, present: &LoggedIn) -> Response {
    let Some(fresh) = freshness::of(&browser.context, present) else {
        return factors::ask_fresh(browser, present).await;
    };
    let realm = browser.context.realm.clone();
    let read = D::document(&realm, fresh.user().clone());
    let event = about(&browser, present, "export");
    match realm.audit().act(event, read, |code| *code).await {
        Ok(body) => {
            let mut answer = response::json(StatusCode::OK, body);
            let headers = answer.headers_mut();
            headers.insert(header::CONTENT_DISPOSITION, AS_FILE);
            browser.finish(answer)
        }
        Err(_) => browser.error(&OAuthError::new(
            ErrorCode::TemporarilyUnavailable,
            "error-unavailable",
        )),
    }
}
