//! `query`: the answer is in the query of the redirect URI (RFC 6749 section 4.1.2).
use super::{Mode, Outgoing, Response};
use crate::error::OAuthError;

pub(super) struct Query;

impl Mode for Query {
    fn name(&self) -> &'static str {
        "query"
    }

    fn admits(&self, _: &str) -> Result<(), &'static str> {
        Ok(())
    }

    fn write(&self, answer: Outgoing<'_>) -> Result<Response, OAuthError> {
        let url = with_query(&answer.to.redirect_uri, &answer.fields);
        Ok(Response::Redirect(url))
    }
}

/// `uri` with the fields added to its query; what was there stays (RFC 6749 section 3.1.2).
pub fn with_query(uri: &str, fields: &[(&str, impl AsRef<str>)]) -> String {
    let mut out = String::with_capacity(uri.len() + 256);
    out.push_str(uri);
    let mut separator = match uri.find('?') {
        None => "?",
        Some(i) if i + 1 == uri.len() || uri.ends_with('&') => "",
        Some(_) => "&",
    };
    for (name, value) in fields {
        out.push_str(separator);
        separator = "&";
        out.push_str(name);
        out.push('=');
        crate::params::encode_into(value.as_ref(), &mut out);
    }
    out
}
