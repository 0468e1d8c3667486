//! `query`: the answer is in the query of the redirect URI (RFC 6749 section 4.1.2).
use super::Mode;
use crate::authorize::response::{Response, with_query};

pub(super) struct Query;

impl Mode for Query {
    fn name(&self) -> &'static str {
        "query"
    }

    fn admits(&self, _: &str) -> Result<(), &'static str> {
        Ok(())
    }

    fn write(&self, redirect_uri: &str, fields: Vec<(&'static str, String)>) -> Response {
        Response::Redirect(with_query(redirect_uri, &fields))
    }
}
