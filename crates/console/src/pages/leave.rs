//! `/console/leave`: ends the session.
use crate::session::Session;
use signet_request::http::{Context, Response};

/// POST.
pub(crate) async fn submit(context: Context) -> Response {
    match Session::of_form(context).await {
        Ok((session, _)) => session.leave().await,
        Err(answer) => answer,
    }
}
