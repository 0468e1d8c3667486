//! Performs an operation for an administrator of the console: the same function with the same input
//! as for a program, without a request over the wire.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Uri, header};
use serde_json::Value;
use signet_operation::output::Reply;
use signet_operation::problem::Problem;
use signet_operation::reason::REASON;
use signet_request::http::Made;

use crate::engine::catalog::Operation;
use crate::session::Session;
use crate::view::shell::encoded;

/// What an operation is called with.
#[derive(Debug, Default)]
pub(crate) struct Call {
    pub(crate) segments: Vec<(&'static str, String)>,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) revision: Option<u64>,
    pub(crate) body: Option<Value>,
    /// Why, in the administrator's words.
    pub(crate) reason: Option<String>,
}

impl Call {
    /// Of what one segment of the path names.
    pub(crate) fn of(segment: Option<&'static str>, id: &str) -> Call {
        Call {
            segments: segment
                .map(|name| (name, id.to_owned()))
                .into_iter()
                .collect(),
            ..Call::default()
        }
    }

    /// With this member of the query.
    pub(crate) fn asking(mut self, name: &str, value: impl Into<String>) -> Call {
        self.query.push((name.to_owned(), value.into()));
        self
    }

    fn uri(&self, path: &str) -> Option<Uri> {
        let mut uri = String::from(path);
        for (name, value) in &self.segments {
            uri = uri.replace(&format!("{{{name}}}"), &encoded(value));
        }
        for (index, (name, value)) in self.query.iter().enumerate() {
            uri.push(if index == 0 { '?' } else { '&' });
            uri.push_str(&format!("{}={}", encoded(name), encoded(value)));
        }
        uri.parse().ok()
    }
}

/// Performs it.
///
/// # Errors
/// What a program would be answered.
pub(crate) async fn perform(
    session: &Session,
    row: Operation,
    call: Call,
) -> Result<Reply, Problem> {
    let facts = row.facts();
    let uri = call.uri(facts.path);
    let uri = uri.ok_or_else(|| Problem::invalid("this is too long, or cannot be a name"))?;
    let mut headers = HeaderMap::new();
    let mut body = Bytes::new();
    if let Some(document) = &call.body {
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        body = Bytes::from(document.to_string());
    }
    if let Some(revision) = call.revision
        && let Ok(tag) = HeaderValue::from_str(&format!("\"{revision}\""))
    {
        headers.insert(header::IF_MATCH, tag);
    }
    if let Some(reason) = &call.reason {
        let value = HeaderValue::from_bytes(reason.as_bytes());
        let value = value.map_err(|_| Problem::invalid("the reason is one line of text"))?;
        headers.insert(REASON, value);
    }
    let context = session.context.made(Made {
        method: facts.method.http(),
        uri,
        headers,
        params: call.segments,
        body,
    });
    row.perform(session.acting()?, context).await
}

/// The document of a reply; null where it has none.
pub(crate) fn document(reply: &Reply) -> Value {
    let text = reply.document().unwrap_or(b"null");
    serde_json::from_slice(text).unwrap_or_default()
}

/// Performs what shows, and gives its document.
///
/// # Errors
/// As [`perform`].
pub(crate) async fn read(session: &Session, row: Operation, call: Call) -> Result<Value, Problem> {
    Ok(document(&perform(session, row, call).await?))
}
