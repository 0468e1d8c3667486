//! The OpenAPI 3.1 document, generated from the rows: it cannot name what is not served.
use crate::adapter::Row;
use crate::problem::Problem as ErrorDocument;
use crate::right::Right;
use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};
use signet_oauth::administration::MAX_REASON_BYTES;

/// Where the document is.
pub const PATH: &str = "/admin/v1/openapi.json";

/// The OpenAPI document of these rows.
pub fn document(issuer: &str, operations: impl Iterator<Item = &'static dyn Row>) -> Vec<u8> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let mut paths = Map::new();
    for operation in operations {
        let path = paths
            .entry(operation.facts().path)
            .or_insert_with(|| Value::Object(Map::new()));
        let method = operation.facts().method.lower_case();
        path[method] = describe(operation, &mut generator);
    }
    let schemas = generator.take_definitions(true);
    let document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Signet admin API",
            "version": "1",
            "description": "Writes are durable and in effect when they are answered. Errors are problem documents (RFC 9457).",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": issuer }],
        "security": [{ "token": ["signet:admin"] }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "token": {
                    "type": "openIdConnect",
                    "openIdConnectUrl": format!("{issuer}/.well-known/openid-configuration"),
                },
            },
        },
    });
    // Invariant: a JSON value always serializes.
    serde_json::to_vec(&document).expect("a JSON value serializes")
}

fn describe(operation: &dyn Row, generator: &mut SchemaGenerator) -> Value {
    let facts = operation.facts();
    let operation = operation.describe(generator);
    let mut success = json!({ "description": "done" });
    if let Some(schema) = operation.response {
        success["content"] = json!({ "application/json": { "schema": schema } });
    }
    let problem = generator.subschema_for::<ErrorDocument>();
    let mut described = json!({
        "operationId": facts.id,
        "summary": facts.summary,
        "security": [{ "token": [facts.needs.scope()] }],
        "parameters": operation.parameters,
        "responses": {
            operation.status.to_string(): success,
            "default": {
                "description": "a problem",
                "content": { "application/problem+json": { "schema": problem } },
            },
        },
    });
    if facts.needs != Right::Read
        && let Some(parameters) = described["parameters"].as_array_mut()
    {
        parameters.push(json!({
            "name": "Signet-Reason", "in": "header", "required": false,
            "schema": { "type": "string", "maxLength": MAX_REASON_BYTES },
            "description": "why, for the audit trail; a realm may ask for it",
        }));
    }
    if let Some(schema) = operation.request {
        described["requestBody"] = json!({
            "required": true,
            "content": { "application/json": { "schema": schema } },
        });
    }
    described
}
