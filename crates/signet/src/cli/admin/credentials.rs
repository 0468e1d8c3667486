//! `signet user credentials` and `signet user remove-credential`: what somebody logs in with beside
//! the password.

use http::Method;
use serde_json::Value;

use super::{account, noun};
use crate::cli::{Failure, Output, block_on, output};
use signet_admin_client::http_client::percent_encode;
use signet_admin_client::{Session, Target};

const COLUMNS: [&str; 6] = [
    "kind",
    "id",
    "label",
    "created_at",
    "last_used_at",
    "expires_at",
];

/// Lists them.
pub fn list(name: &str, target: &Target, output: &Output) -> Result<(), Failure> {
    block_on(Session::with(target, async |session| {
        let path = account::path(&account::find(session, name).await?);
        let found = session.get(&format!("{path}/credentials")).await?;
        let items: Vec<Value> = found["items"].as_array().cloned().unwrap_or_default();
        let rows: Vec<Vec<String>> = items
            .iter()
            .map(|item| COLUMNS.iter().map(|c| noun::cell(c, &item[*c])).collect())
            .collect();
        output.print(&Value::Array(items), || output::table(&COLUMNS, &rows))
    }))?
}

/// Removes one, or all of a kind.
pub fn remove(
    name: &str,
    kind: &str,
    id: Option<&str>,
    target: &Target,
    output: &Output,
) -> Result<(), Failure> {
    block_on(Session::with(target, async |session| {
        let path = account::path(&account::find(session, name).await?);
        let mut path = format!("{path}/credentials/{}", percent_encode(kind));
        if let Some(id) = id {
            path.push('/');
            path.push_str(&percent_encode(id));
        }
        session.call(Method::DELETE, &path, None, None).await?;
        noun::removed(kind, output)
    }))?
}
