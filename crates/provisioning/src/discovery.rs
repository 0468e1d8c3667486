//! What the service can do, and what its resources are like (RFC 7644 section 4, RFC 7643 sections
//! 5 to 7).
use super::{
    Resource, answer,
    answer::{Answer, Refusal},
    base_of, bulk,
    caller::Caller,
    query,
};
use serde_json::{Value, json};
use signet_request::http::{Context, Response};

pub(super) async fn serve(context: Context) -> Response {
    let answered = answered(&context).await;
    answer(answered)
}

async fn answered(context: &Context) -> Result<Answer, Refusal> {
    Caller::of_request(context).await?;
    let base = base_of(context);
    let all = match context.route().trim_start_matches(super::BASE) {
        "/ServiceProviderConfig" => {
            return Ok(Answer::of(config(&base, context.body_limit)));
        }
        path if path.starts_with("/ResourceTypes") => Resource::ALL.map(|one| kind(&base, one)),
        _ => Resource::ALL.map(|one| schema(&base, one)),
    };
    // RFC 7644 section 4: a filter is refused here.
    if context.query().contains("filter=") {
        return Err(Refusal::plain(403, "there is nothing to filter here"));
    }
    match context.param("id") {
        None => Ok(Answer::of(json!({
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
            "totalResults": all.len(),
            "startIndex": 1,
            "itemsPerPage": all.len(),
            "Resources": all,
        }))),
        Some(id) => {
            let found = all.into_iter().find(|one| one["id"] == id);
            found.map(Answer::of).ok_or_else(Refusal::not_found)
        }
    }
}

fn config(base: &str, body_bytes: usize) -> Value {
    json!({
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
        "patch": {"supported": true},
        "bulk": {
            "supported": true,
            "maxOperations": bulk::MAX_BULK_OPERATIONS,
            "maxPayloadSize": body_bytes,
        },
        "filter": {"supported": true, "maxResults": query::MAX_RESULTS},
        "changePassword": {"supported": true},
        "sort": {"supported": false},
        "etag": {"supported": true},
        "authenticationSchemes": [{
            "type": "oauthbearertoken",
            "name": "OAuth 2.0 Bearer Token",
            "description": "An access token of this issuer with the scope signet:scim",
            "specUri": "https://www.rfc-editor.org/info/rfc6750",
            "primary": true,
        }],
        "meta": {
            "resourceType": "ServiceProviderConfig",
            "location": format!("{base}/ServiceProviderConfig"),
        },
    })
}

fn kind(base: &str, resource: Resource) -> Value {
    json!({
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
        "id": resource.name(),
        "name": resource.name(),
        "description": match resource {
            Resource::User => "An account",
            Resource::Group => "A group of accounts",
        },
        "endpoint": resource.endpoint(),
        "schema": resource.schema(),
        "schemaExtensions": [],
        "meta": {
            "resourceType": "ResourceType",
            "location": format!("{base}/ResourceTypes/{}", resource.name()),
        },
    })
}

/// An attribute that is read and written, and answered unless it is left out.
fn attribute(name: &str, kind: &str, description: &str) -> Value {
    let mut attribute = json!({
        "name": name,
        "type": kind,
        "multiValued": false,
        "description": description,
        "required": false,
        "mutability": "readWrite",
        "returned": "default",
    });
    if kind == "string" {
        attribute["caseExact"] = false.into();
        attribute["uniqueness"] = "none".into();
    }
    attribute
}

fn with(mut attribute: Value, members: Value) -> Value {
    if let (Value::Object(attribute), Value::Object(members)) = (&mut attribute, members) {
        attribute.extend(members);
    }
    attribute
}

/// A list of values of which the account has one.
fn one_value(name: &str, description: &str) -> Value {
    with(
        attribute(name, "complex", description),
        json!({
            "multiValued": true,
            "subAttributes": [attribute("value", "string", "The value")],
        }),
    )
}

fn reference(name: &str, description: &str, kinds: &[&str]) -> Value {
    with(
        attribute(name, "reference", description),
        json!({"referenceTypes": kinds, "caseExact": true, "uniqueness": "none"}),
    )
}

fn read_only(attribute: Value) -> Value {
    with(attribute, json!({"mutability": "readOnly"}))
}

fn schema(base: &str, resource: Resource) -> Value {
    let attributes = match resource {
        Resource::User => json!([
            with(
                attribute("userName", "string", "What the person logs in with"),
                json!({"required": true, "uniqueness": "server", "mutability": "immutable"}),
            ),
            with(
                attribute("name", "complex", "The person's name"),
                json!({"subAttributes": [
                    attribute("familyName", "string", "Surname"),
                    attribute("givenName", "string", "First name"),
                    attribute("middleName", "string", "Middle names"),
                ]}),
            ),
            attribute("displayName", "string", "The name that is shown"),
            attribute("nickName", "string", "A casual name"),
            reference("profileUrl", "A page about the person", &["external"]),
            attribute("locale", "string", "A language tag"),
            attribute("timezone", "string", "A zone of the IANA database"),
            with(
                attribute(
                    "active",
                    "boolean",
                    "Whether the person may log in (a new account: yes); where not, everything of theirs has ended"
                ),
                json!({"required": true})
            ),
            with(
                attribute("password", "string", "A new password"),
                json!({"mutability": "writeOnly", "returned": "never", "caseExact": true}),
            ),
            one_value(
                "emails",
                "The mail address; only the primary one, or the first, is kept"
            ),
            one_value(
                "phoneNumbers",
                "The phone number; only the primary one, or the first, is kept"
            ),
            read_only(with(
                attribute("groups", "complex", "Groups that the person is in"),
                json!({"multiValued": true, "subAttributes": [
                    read_only(with(attribute("value", "string", "The group's id"), json!({"caseExact": true}))),
                    read_only(reference("$ref", "The group", &["Group"])),
                    read_only(attribute("display", "string", "The group's name")),
                    read_only(with(
                        attribute("type", "string", "Put into it, or by a group inside it"),
                        json!({"canonicalValues": ["direct", "indirect"]}),
                    )),
                ]}),
            )),
        ]),
        Resource::Group => json!([
            with(
                attribute(
                    "displayName",
                    "string",
                    "The group's name, which never changes"
                ),
                json!({"required": true, "uniqueness": "server", "mutability": "immutable", "caseExact": true}),
            ),
            with(
                attribute(
                    "members",
                    "complex",
                    "Accounts that were put into the group"
                ),
                json!({"multiValued": true, "subAttributes": [
                    with(
                        attribute("value", "string", "The account's id"),
                        json!({"mutability": "immutable", "caseExact": true}),
                    ),
                    with(reference("$ref", "The account", &["User"]), json!({"mutability": "immutable"})),
                    with(
                        attribute("type", "string", "Always `User`"),
                        json!({"canonicalValues": ["User"], "mutability": "immutable"}),
                    ),
                ]}),
            ),
        ]),
    };
    json!({
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:Schema"],
        "id": resource.schema(),
        "name": resource.name(),
        "description": match resource {
            Resource::User => "An account",
            Resource::Group => "A group of accounts",
        },
        "attributes": attributes,
        "meta": {
            "resourceType": "Schema",
            "location": format!("{base}/Schemas/{}", resource.schema()),
        },
    })
}
