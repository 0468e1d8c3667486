//! A client that comes from another server, with the secret that it has there.
use crate::operations::clients::{
    NOT_A_CLIENT_ID, complete_secrets, document_with, is_client_id, named, read,
};
use crate::operations::model::ClientDocument;
use bytes::Bytes;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use signet_encoding::base64url;
use signet_encoding::json::{Object, Value};
use signet_oauth::client::registration::client_secret;
use signet_oauth::client::{AuthMethod, Client, ClientSecret};
use signet_operation::adapter::Row;
use signet_operation::facts::{Described, Method};
use signet_operation::input::{self, Input};
use signet_operation::operation::{Operation, run_within};
use signet_operation::output::Json;
use signet_operation::problem::Problem;
use signet_operation::right::Area;
use signet_operation::right::Right::Write;
use signet_operation::roles::Rights;
use signet_operation::target;
use signet_realm::state::Realm;
use signet_registry::kinds::RecordKind;
use signet_request::http::Context;
use std::sync::Arc;

const IMPORT: &str = "/admin/v1/client-import";
/// The member that has a secret's hash: another server keeps no more of it.
const HASHED: &str = "client_secret_sha256";

#[rustfmt::skip]
pub(crate) const OPERATIONS: &[&dyn Row] = &[
    &Operation::new("importClient", Area::Clients, Write, Method::Post, IMPORT, "Add a client that comes from another server, with its secret; one that is there stays as it is", run_within!(import)),
];

/// A client's record with its secret, or what is known of that.
struct Brought(Bytes);

impl JsonSchema for Brought {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ClientToImport".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = ClientDocument::json_schema(generator);
        let members = schema.get_mut("properties");
        if let Some(members) = members.and_then(|members| members.as_object_mut()) {
            members.insert(
                HASHED.to_owned(),
                serde_json::json!({
                    "type": "string",
                    "description": "In the place of client_secret: the SHA-256 of its bytes, in base64url, where nobody has the secret itself. For client_secret_basic and client_secret_post.",
                }),
            );
        }
        schema
    }
}

impl Input for Brought {
    fn describe(described: &mut Described, generator: &mut SchemaGenerator) {
        described.request = Some(generator.subschema_for::<Brought>());
    }

    async fn read(context: &mut Context) -> Result<Brought, Problem> {
        input::body(context).await.map(Brought)
    }
}

/// The secret that a document brings, of a client whose method needs one.
fn brought(
    realm: &Realm,
    document: &Object<'_>,
    client: &Client,
) -> Result<Option<ClientSecret>, Problem> {
    let text = |member: &str| match document.get(member) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(Problem::invalid(format!("{member} must be a string"))),
    };
    let method = client.token_endpoint_auth_method;
    match (text("client_secret")?, text(HASHED)?) {
        (Some(_), Some(_)) => Err(Problem::invalid(format!(
            "client_secret and {HASHED} are one secret: give one of them"
        ))),
        _ if !method.needs_secret() => Ok(None),
        (Some(secret), None) => {
            let (id, ring) = (&client.client_id, realm.keyring());
            Ok(Some(client_secret(method, &secret, id, None, &ring)?))
        }
        // An HMAC needs the secret itself.
        (None, Some(_)) if method == AuthMethod::ClientSecretJwt => Err(Problem::invalid(format!(
            "{HASHED} does not fit client_secret_jwt, which needs the secret itself"
        ))),
        (None, Some(hash)) => {
            let hash = base64url::decode(hash.as_bytes()).ok();
            let hash = hash.and_then(|hash| <[u8; 32]>::try_from(hash).ok());
            let hash = hash.ok_or_else(|| {
                Problem::invalid(format!("{HASHED} must be 32 bytes in base64url"))
            })?;
            let expires_at = None;
            Ok(Some(ClientSecret::Sha256 { hash, expires_at }))
        }
        (None, None) => Ok(None),
    }
}

/// The outcome of a client.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ImportedClient")]
struct ClientImported {
    /// `made`, or `existing`: one of this `client_id` was there, and stays as it is.
    outcome: &'static str,
    /// Whether it needs a secret and brought none: a new one has to be made for it.
    lacks_secret: bool,
}

async fn import(
    realm: Arc<Realm>,
    rights: Rights,
    sent: Brought,
) -> Result<Json<ClientImported>, Problem> {
    let document = document_with(&sent.0, &[HASHED])?;
    let id = named(&document)?.filter(|id| is_client_id(id));
    let id = id.ok_or_else(|| Problem::invalid(NOT_A_CLIENT_ID))?;
    realm.learn(RecordKind::Client, &id).await?;
    if realm.snapshot().registry.clients.contains_key(&id) {
        return Ok(Json(ClientImported {
            outcome: "existing",
            lacks_secret: false,
        }));
    }
    let mut client = Client::new(id, realm.now());
    client.revision = 1;
    read(&realm, &document, &mut client)?;
    target::expect_over_client(&rights, &client)?;
    client.secrets.extend(brought(&realm, &document, &client)?);
    // One that nobody has seen; whoever administers the client makes another.
    let lacks_secret = complete_secrets(&realm, &mut client)?.is_some();
    let name = client.client_name.as_deref().unwrap_or_default();
    signet_audit::name_target(&client.client_id, name);
    realm.write_record(client, None).await?;
    Ok(Json(ClientImported {
        outcome: "made",
        lacks_secret,
    }))
}
