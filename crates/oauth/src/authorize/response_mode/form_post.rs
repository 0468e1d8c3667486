//! `form_post`: a page that posts the answer (OAuth 2.0 Form Post Response Mode).
use super::{Mode, Outgoing, Response};
use crate::error::OAuthError;

pub(super) struct FormPost;

impl Mode for FormPost {
    fn name(&self) -> &'static str {
        "form_post"
    }

    /// A form posts to the web; a private-use scheme takes no body.
    fn admits(&self, redirect_uri: &str) -> Result<(), &'static str> {
        match redirect_uri.starts_with("http") {
            true => Ok(()),
            false => Err("form_post needs an http redirect_uri"),
        }
    }

    fn write(&self, answer: Outgoing<'_>) -> Result<Response, OAuthError> {
        Ok(Response::FormPost {
            action: answer.to.redirect_uri.clone(),
            fields: answer.fields,
        })
    }
}
