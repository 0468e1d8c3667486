//! A person's own data: one document, to keep.

use http::{HeaderValue, StatusCode, header};

use super::about;
use crate::admin::{self, Problem, Reader};
use crate::browser_request::{BrowserRequest, LoggedIn};
use crate::http::{Response, response};
use signet_oauth::error::{ErrorCode, OAuthError};

const AS_FILE: HeaderValue = HeaderValue::from_static("attachment; filename=\"account.json\"");

/// Answers with everything that is kept of the person, secrets aside.
pub(super) async fn export(visit: BrowserRequest, present: &LoggedIn) -> Response {
    let realm = visit.context.realm.clone();
    let read = async {
        let data = admin::person_data(&realm, present.user.clone(), Reader::Person).await?;
        serde_json::to_vec_pretty(&data).map_err(|error| {
            tracing::error!(%error, "a person's data could not be written");
            Problem::unavailable()
        })
    };
    let event = about(&visit, present, "export");
    match realm.audit().act(event, read, Problem::code).await {
        Ok(body) => {
            let mut answer = response::json(StatusCode::OK, body);
            let headers = answer.headers_mut();
            headers.insert(header::CONTENT_DISPOSITION, AS_FILE);
            visit.finish(answer)
        }
        Err(_) => visit.error(&OAuthError::new(
            ErrorCode::TemporarilyUnavailable,
            "error-unavailable",
        )),
    }
}
