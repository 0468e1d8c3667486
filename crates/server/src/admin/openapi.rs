//! The OpenAPI 3.1 document, generated from the rows: it cannot name what is not served.
use super::{
    model::ErrorDocument,
    operation::{IfMatch, Operation},
};
use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

pub(super) const PATH: &str = "/admin/v1/openapi.json";

pub(super) fn document(
    issuer: &str,
    operations: impl Iterator<Item = &'static Operation>,
) -> Vec<u8> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let mut paths = Map::new();
    for operation in operations {
        let path = paths
            .entry(operation.path)
            .or_insert_with(|| Value::Object(Map::new()));
        path[operation.method.lower_case()] = describe(operation, &mut generator);
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

fn describe(operation: &Operation, generator: &mut SchemaGenerator) -> Value {
    let mut parameters = Vec::new();
    for name in operation.path.split('/').filter_map(segment_name) {
        parameters.push(json!({
            "name": name, "in": "path", "required": true, "schema": { "type": "string" },
        }));
    }
    if operation.paged {
        parameters.push(json!({
            "name": "after", "in": "query", "schema": { "type": "string" },
            "description": "`next` of the page before",
        }));
        parameters.push(json!({
            "name": "limit", "in": "query",
            "schema": { "type": "integer", "minimum": 1, "maximum": 500, "default": 50 },
        }));
    }
    for (name, description) in operation.query {
        parameters.push(json!({
            "name": name, "in": "query", "schema": { "type": "string" },
            "description": description,
        }));
    }
    if operation.if_match != IfMatch::Ignored {
        parameters.push(json!({
            "name": "If-Match", "in": "header",
            "required": operation.if_match == IfMatch::Required,
            "schema": { "type": "string" },
            "description": "the ETag of the record as it was read",
        }));
    }
    let mut success = json!({ "description": "done" });
    if let Some(schema) = operation.response {
        success["content"] = json!({ "application/json": { "schema": schema(generator) } });
    }
    let problem = generator.subschema_for::<ErrorDocument>();
    let mut described = json!({
        "operationId": operation.id,
        "summary": operation.summary,
        "parameters": parameters,
        "responses": {
            operation.status.to_string(): success,
            "default": {
                "description": "a problem",
                "content": { "application/problem+json": { "schema": problem } },
            },
        },
    });
    if let Some(schema) = operation.request {
        described["requestBody"] = json!({
            "required": true,
            "content": { "application/json": { "schema": schema(generator) } },
        });
    }
    described
}

fn segment_name(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}
