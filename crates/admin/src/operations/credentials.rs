//! What a user logs in with beside the password: an administrator sees that it is there and takes
//! it away, and never sees what it is.
use crate::operations::model::List;
use schemars::JsonSchema;
use serde::Serialize;
use signet_directory::{CredentialKind, CredentialName, StoredCredential, User};
use signet_operation::adapter::Row;
use signet_operation::facts::Method;
use signet_operation::input::{CredentialId, CredentialKindName, UserId};
use signet_operation::operation::{Operation, run};
use signet_operation::output::Json;
use signet_operation::problem::Problem;
use signet_operation::right::Area;
use signet_operation::right::Right::{Read, Reset};
use signet_realm::state::Realm;
use signet_request::credentials;
use signet_request::security_mail::{self, SecurityEvent};
use std::sync::Arc;

const ALL: &str = "/admin/v1/users/{user_id}/credentials";
const OF_KIND: &str = "/admin/v1/users/{user_id}/credentials/{kind}";
const ONE: &str = "/admin/v1/users/{user_id}/credentials/{kind}/{credential_id}";

#[rustfmt::skip]
pub(crate) const OPERATIONS: &[&dyn Row] = &[
    &Operation::new("listCredentials", Area::Credentials, Read, Method::Get, ALL, "List what a user logs in with beside the password", run!(list)),
    &Operation::new("removeCredentials", Area::Credentials, Reset, Method::Delete, OF_KIND, "Remove all credentials of a kind of a user, who is notified by mail", run!(remove_kind)),
    &Operation::new("removeCredential", Area::Credentials, Reset, Method::Delete, ONE, "Remove one credential of a user, who is notified by mail", run!(remove)),
];

/// A credential, without what is secret of it. Times are Unix seconds.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Credential")]
pub(crate) struct CredentialDocument {
    /// `totp`, `recovery_codes`, `passkey` or `remembered_browser`.
    kind: &'static str,
    /// Names it among its kind; empty where there is one at the most.
    id: String,
    /// What its person calls it.
    label: String,
    created_at: u64,
    /// None: never.
    last_used_at: Option<u64>,
    /// When it ends by itself.
    expires_at: Option<u64>,
}

impl From<StoredCredential> for CredentialDocument {
    fn from(credential: StoredCredential) -> CredentialDocument {
        CredentialDocument {
            kind: credential.name.kind.name(),
            id: credential.name.id,
            label: credential.label,
            created_at: credential.created_at,
            last_used_at: credential.used_at,
            expires_at: credential.expires_at,
        }
    }
}

async fn found(realm: &Realm, user_id: &str) -> Result<User, Problem> {
    let found = realm.people.users.found(user_id, realm.now()).await?;
    Ok(found.ok_or_else(Problem::not_found)?.user)
}

async fn list(
    realm: Arc<Realm>,
    user_id: UserId,
) -> Result<Json<List<CredentialDocument>>, Problem> {
    let user = found(&realm, &user_id.0).await?;
    let rows = realm
        .people
        .users
        .credentials(&user.id, realm.now())
        .await?;
    let held = rows
        .into_iter()
        .filter(|one| user.credentials().contains(&one.name));
    let items = held.map(CredentialDocument::from).collect();
    Ok(Json(List { items, next: None }))
}

/// A kind that can be taken away here: a password has its own operation, which ends sessions.
fn kind_of(name: &CredentialKindName) -> Result<CredentialKind, Problem> {
    CredentialKind::named(&name.0)
        .filter(|kind| *kind != CredentialKind::Password)
        .ok_or_else(Problem::not_found)
}

async fn remove_kind(
    realm: Arc<Realm>,
    (user_id, kind): (UserId, CredentialKindName),
) -> Result<(), Problem> {
    let kind = kind_of(&kind)?;
    let user = found(&realm, &user_id.0).await?;
    let names = user.credentials().iter().filter(|name| name.kind == kind);
    let names: Vec<CredentialName> = names.cloned().collect();
    take_away(&realm, &user, &names).await
}

async fn remove(
    realm: Arc<Realm>,
    (user_id, kind, id): (UserId, CredentialKindName, CredentialId),
) -> Result<(), Problem> {
    let name = CredentialName::new(kind_of(&kind)?, id.0);
    let user = found(&realm, &user_id.0).await?;
    take_away(&realm, &user, &[name]).await
}

async fn take_away(realm: &Realm, user: &User, names: &[CredentialName]) -> Result<(), Problem> {
    if names.is_empty() || names.iter().any(|name| !user.credentials().contains(name)) {
        return Err(Problem::not_found());
    }
    let change = realm.people.users.change(&user.id, realm.now(), |draft| {
        for name in names {
            credentials::take_away(draft, name);
        }
    });
    let user = change.await?;
    let told: Option<SecurityEvent> = names
        .first()
        .and_then(|name| credentials::removal_of(name.kind));
    if let Some(told) = told {
        security_mail::send_to(realm, &user, told).await;
    }
    Ok(())
}
