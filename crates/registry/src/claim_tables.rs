//! Tables of claims as the JSON values of their rows: at rest, and in the admin API.
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use signet_encoding::json::Writer;
use signet_oauth::issued::format::AccessTokenFormat;
use signet_oauth::people::People;
use signet_oauth::people::claim_rules::{self, ClaimRule, TableOf};
use std::borrow::Cow;

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

/// A table of claims: rows as docs/claims.md has them.
#[derive(Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClaimTable(Vec<Value>);

impl ClaimTable {
    /// As it is shown.
    pub fn new(rules: &[ClaimRule]) -> ClaimTable {
        ClaimTable(rows(rules).unwrap_or_default())
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The table, whose attributes are in the schema. `format`: that its access tokens have.
    ///
    /// # Errors
    /// What is wrong, in a sentence.
    pub fn read(
        &self,
        of: TableOf,
        people: &People,
        format: Option<AccessTokenFormat>,
    ) -> Result<Vec<ClaimRule>, String> {
        let rules = table(&self.0, of)?;
        claim_rules::check(&rules, of, Some(people), format)?;
        Ok(rules)
    }
}

impl JsonSchema for ClaimTable {
    fn schema_name() -> Cow<'static, str> {
        "ClaimTable".into()
    }

    fn inline_schema() -> bool {
        // A command reads from the schema that it is a list.
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut out = Vec::new();
        Writer::new(&mut out).object(claim_rules::write_schema);
        match serde_json::from_slice::<Value>(&out).map(Schema::try_from) {
            Ok(Ok(schema)) => schema,
            // The writer gives one JSON object.
            Ok(Err(_)) | Err(_) => json_schema!({ "type": "array" }),
        }
    }
}
