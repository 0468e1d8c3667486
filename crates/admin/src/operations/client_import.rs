//! A client that comes from another server, with the secret that it has there.
use crate::engine::adapter::Row;
use crate::engine::facts::Method;
use crate::engine::operation::{Operation, run};
use crate::engine::output::Json;
use crate::engine::problem::Problem;
use crate::engine::right::Right::Write;
use crate::operations::clients::{Sent, any_document, complete_secrets, is_client_id, named, read};
use schemars::JsonSchema;
use serde::Serialize;
use signet_encoding::json::Value;
use signet_oauth::client::Client;
use signet_oauth::client::registration::client_secret;
use signet_realm::state::Realm;
use signet_registry::kinds::RecordKind;
use std::sync::Arc;

const IMPORT: &str = "/admin/v1/client-import";

#[rustfmt::skip]
pub(crate) const OPERATIONS: &[&dyn Row] = &[
    &Operation::new("importClient", Write, Method::Post, IMPORT, "Add a client that comes from another server, with its secret; one that is there stays as it is", run!(import)),
];

/// The outcome of a client.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ImportedClient")]
struct ClientImported {
    /// `made`, or `existing`: one of this `client_id` was there, and stays as it is.
    outcome: &'static str,
    /// Whether it needs a secret and brought none: a new one has to be made for it.
    lacks_secret: bool,
}

async fn import(realm: Arc<Realm>, sent: Sent) -> Result<Json<ClientImported>, Problem> {
    let document = any_document(&sent.0)?;
    let id = named(&document)?.filter(|id| is_client_id(id));
    let id = id.ok_or_else(|| {
        Problem::invalid("client_id must be 1 to 128 letters, digits and any of -._~:/")
    })?;
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
    let method = client.token_endpoint_auth_method;
    match document.get("client_secret") {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) if method.needs_secret() => {
            let (id, ring) = (&client.client_id, realm.keyring());
            let secret = client_secret(method, text, id, None, &ring)?;
            client.secrets.push(secret);
        }
        Some(Value::String(_)) => {}
        Some(_) => return Err(Problem::invalid("client_secret must be a string")),
    }
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
