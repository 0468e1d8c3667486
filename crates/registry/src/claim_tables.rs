//! Tables of claims as the JSON values of their rows: at rest, and in the admin API.
use serde_json::Value;
use signet_oauth::people::claim_rules::{self, ClaimRule, TableOf};

/// The rows of a table of claims as JSON values; none: there are none.
pub fn rows(table: &[ClaimRule]) -> Option<Vec<Value>> {
    // Invariant: what the table writes is a JSON array.
    serde_json::from_str(&claim_rules::to_json(table)).ok()
}

/// A table of claims from the JSON values of its rows.
///
/// # Errors
/// What is wrong with it.
pub fn table(rows: &[Value], of: TableOf) -> Result<Vec<ClaimRule>, &'static str> {
    let text = serde_json::to_vec(rows).map_err(|_| "claims must be a list of rows")?;
    claim_rules::parse(&text, of)
}
