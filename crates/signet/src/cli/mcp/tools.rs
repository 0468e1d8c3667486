//! The tools: their names, what they take, and what hosts receive about them.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// `who_am_i` and `list_grants` take nothing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// `sign_receipt`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignReceipt {
    /// The type of action, such as "mail.send".
    pub action: String,
    /// What came out, or what the receipt is about; its SHA-256 is signed.
    pub content: String,
    /// What went in; its SHA-256 is signed.
    pub input: Option<String>,
    /// How it ended.
    pub outcome: Option<Ended>,
    /// The receipt before this one, as it was returned.
    pub previous: Option<Map<String, Value>>,
    /// The grant it was done under.
    pub grant: Option<Map<String, Value>>,
}

/// How an action ended.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// It did what it was for.
    Success,
    /// It did not.
    Failure,
}

/// `make_grant`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MakeGrant {
    /// The public identity document of the grantee, as `signet agent show --document` prints it.
    pub to: Map<String, Value>,
    /// What is granted, `action:resource`; `*` alone or after a last `/` stands for all.
    #[schemars(length(min = 1))]
    pub capabilities: Vec<String>,
    /// How long it counts: 90s, 10m, 8h, 30d.
    pub expires_in: String,
    /// audience=A, not-before=UNIX, max-uses=N, budget=N[:UNIT], network=CIDR or x-NAME=VALUE.
    #[serde(default)]
    pub constraints: Vec<String>,
    /// How many further delegations it allows.
    #[serde(default)]
    pub max_depth: u64,
    /// The grant that is delegated; the new one cannot go beyond it.
    pub parent: Option<Map<String, Value>>,
}

/// `check_grant`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckGrant {
    /// The public identity document of the one from whom the authority has to come.
    pub root: Map<String, Value>,
    /// What is to be done, `action:resource`.
    pub capability: String,
    /// The grants, the root's first; documents and revocations may stand among them.
    #[schemars(length(min = 1))]
    pub grants: Vec<Map<String, Value>>,
    /// The holder's proof of possession.
    pub proof: Option<Map<String, Value>>,
    /// What constraints are about: audience=A, network=IP, max-uses=N, budget=N[:UNIT],
    /// x-NAME=VALUE, nonce=N.
    #[serde(default)]
    pub context: Vec<String>,
}

/// Unix seconds and the rest of what is known of a tool.
struct Row {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    input: fn() -> JsonObject,
    output: fn() -> Value,
    /// Reads only, and gives the same answer again.
    reads: bool,
}

fn input<T: JsonSchema>() -> JsonObject {
    let schema = SchemaGenerator::default().into_root_schema_for::<T>();
    match schema.to_value() {
        Value::Object(schema) => schema,
        // Invariant: a struct's schema is an object.
        _ => JsonObject::new(),
    }
}

fn object(required: &[&str], properties: Value) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

const ROWS: [Row; 5] = [
    Row {
        name: "who_am_i",
        title: "Who am I",
        description: "The identity that this server signs as: id, name, public keys and the public document to hand to others.",
        input: input::<Nothing>,
        output: || {
            object(
                &["id", "name", "suite", "public_key", "document"],
                json!({
                    "id": { "type": "string" },
                    "name": { "type": "string" },
                    "suite": { "type": "string" },
                    "key_number": { "type": "integer", "description": "how many rotations came before" },
                    "public_key": { "type": "array", "items": { "type": "string" }, "description": "base64url" },
                    "document": { "type": "object" },
                }),
            )
        },
        reads: true,
    },
    Row {
        name: "list_grants",
        title: "List what I may do",
        description: "The grants that this identity holds: from whom, what for, until when. A grant that is listed is not proven good: check_grant does that.",
        input: input::<Nothing>,
        output: || {
            let grant = object(
                &["id", "from", "capabilities", "not_after", "status"],
                json!({
                    "id": { "type": "string" },
                    "from": { "type": "string" },
                    "capabilities": { "type": "array", "items": { "type": "string" } },
                    "not_before": { "type": "integer" },
                    "not_after": { "type": "integer", "description": "Unix seconds" },
                    "max_depth": { "type": "integer" },
                    "parent": { "type": "string" },
                    "status": { "enum": ["current", "not_yet", "ended"] },
                    "grant": { "type": "object" },
                }),
            );
            object(
                &["grants"],
                json!({ "grants": { "type": "array", "items": grant } }),
            )
        },
        reads: true,
    },
    Row {
        name: "check_grant",
        title: "Check a grant or a chain",
        description: "Checks a chain of grants from a root to its holder for one capability, link by link. A refused chain is an answer (accepted: false), not an error.",
        input: input::<CheckGrant>,
        output: || {
            object(
                &["accepted", "steps", "not_checked"],
                json!({
                    "accepted": { "type": "boolean" },
                    "reason": { "type": "string" },
                    "description": { "type": "string" },
                    "link": { "type": "integer" },
                    "holder": { "type": "string" },
                    "not_after": { "type": "integer" },
                    "possession_proven": { "type": "boolean" },
                    "not_checked": { "type": "array", "items": { "type": "string" } },
                    "steps": { "type": "array", "items": { "type": "object" } },
                }),
            )
        },
        reads: true,
    },
    Row {
        name: "sign_receipt",
        title: "Sign a receipt",
        description: "Signs a receipt of an action with this identity. May ask the person for approval first.",
        input: input::<SignReceipt>,
        output: signed_output,
        reads: false,
    },
    Row {
        name: "make_grant",
        title: "Make a grant",
        description: "Grants capabilities to another agent, or delegates a grant that this identity holds, never beyond it. May ask the person for approval first.",
        input: input::<MakeGrant>,
        output: signed_output,
        reads: false,
    },
];

fn signed_output() -> Value {
    object(
        &["id", "object", "approved_by"],
        json!({
            "id": { "type": "string" },
            "object": { "type": "object", "description": "the signed object, to be handed on as it is" },
            "approved_by": { "enum": ["person", "policy"] },
        }),
    )
}

/// What hosts receive.
pub fn list() -> Vec<Tool> {
    let tool = |row: &Row| {
        let annotations = ToolAnnotations::with_title(row.title)
            .read_only(row.reads)
            .destructive(false)
            .idempotent(row.reads)
            .open_world(false);
        let output = match (row.output)() {
            Value::Object(output) => output,
            _ => JsonObject::new(),
        };
        Tool::new(row.name, row.description, Arc::new((row.input)()))
            .with_title(row.title)
            .with_raw_output_schema(Arc::new(output))
            .with_annotations(annotations)
    };
    ROWS.iter().map(tool).collect()
}
