//! What the store holds of a person, as one document: for the person (`/account`) and for an
//! administrator. Nothing in it logs anybody in.
use crate::operations::credentials::CredentialDocument;
use crate::operations::model::{ConsentDocument, GrantDocument, SessionDocument, UserDocument};
use crate::operations::models::agents::AgentSummary;
use crate::operations::{agents, users};
use schemars::JsonSchema;
use serde::Serialize;
use signet_directory::{UpstreamLink, User};
use signet_directory::{consent, grants, session};
use signet_login::account::PersonData;
use signet_oauth::people::Who;
use signet_operation::adapter::Row;
use signet_operation::facts::Method;
use signet_operation::input::UserId;
use signet_operation::operation::{Operation, run};
use signet_operation::output::Json;
use signet_operation::problem::Problem;
use signet_operation::right::Area;
use signet_operation::right::Right::Read;
use signet_realm::agents::delegation_index::{self, HeldGrant, Holder};
use signet_realm::state::Realm;
use std::sync::Arc;

const EXPORT: &str = "/admin/v1/users/{user_id}/export";

#[rustfmt::skip]
pub(crate) const OPERATIONS: &[&dyn Row] = &[
    &Operation::new("exportUser", Area::Exports, Read, Method::Get, EXPORT, "Everything that is kept of a user, secrets aside", run!(export)),
];

/// Who reads it: the schema of attributes says what either may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    /// The person.
    Person,
    /// An administrator or auditor.
    Administrator,
}

/// Everything that is kept of a person, secrets aside. Times are Unix seconds.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PersonData")]
struct PersonDocument {
    issuer: String,
    exported_at: u64,
    account: UserDocument,
    /// 0: never set.
    password_changed_at: u64,
    /// What whoever provisions the account calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    external_id: Option<String>,
    /// The person's id in the directory that keeps the account.
    #[serde(skip_serializing_if = "Option::is_none")]
    directory_person: Option<String>,
    /// Names of attributes that are kept, and that the schema does not let the reader see.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    withheld_attributes: Vec<String>,
    /// What they log in with beside the password.
    credentials: Vec<CredentialDocument>,
    /// Who they are at identity providers.
    identities: Vec<IdentityDocument>,
    sessions: Vec<SessionDocument>,
    consents: Vec<ConsentDocument>,
    grants: Vec<GrantDocument>,
    /// The identities that they bound.
    agents: Vec<AgentSummary>,
    /// Delegations under those identities that were exchanged here and have not run out.
    delegations: Vec<DelegationDocument>,
}

/// A person of an identity provider.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LinkedIdentity")]
struct IdentityDocument {
    provider: String,
    issuer: String,
    subject: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    linked_at: u64,
}

impl From<UpstreamLink> for IdentityDocument {
    fn from(link: UpstreamLink) -> IdentityDocument {
        IdentityDocument {
            provider: link.provider,
            issuer: link.issuer,
            subject: link.subject,
            name: link.name,
            linked_at: link.linked_at,
        }
    }
}

/// A grant from agent to agent.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Delegation")]
struct DelegationDocument {
    grant_id: String,
    from: String,
    to: String,
    capabilities: Vec<String>,
    first_seen: u64,
    ends_at: u64,
    /// It, or a grant above it, was revoked.
    revoked: bool,
}

impl DelegationDocument {
    fn new(held: &HeldGrant, revoked: bool) -> DelegationDocument {
        let body = held.grant.body();
        DelegationDocument {
            grant_id: held.grant.id().to_string(),
            from: body.by.agent.to_string(),
            to: body.to.agent.to_string(),
            capabilities: body.capabilities.iter().map(ToString::to_string).collect(),
            first_seen: held.first_seen,
            ends_at: body.not_after,
            revoked,
        }
    }
}

async fn export(realm: Arc<Realm>, id: UserId) -> Result<Json<PersonDocument>, Problem> {
    let user = realm.people.users.by_id(&id.0, realm.now()).await?;
    let user = user.ok_or_else(Problem::not_found)?;
    person_data(&realm, user, Reader::Administrator)
        .await
        .map(Json)
}

/// Everything that is kept of this user, as the reader may see it.
///
/// # Errors
/// The store's, and a directory's.
async fn person_data(
    realm: &Arc<Realm>,
    user: User,
    reader: Reader,
) -> Result<PersonDocument, Problem> {
    let (store, now) = (&*realm.store, realm.now());
    let (users, snapshot) = (&realm.people.users, realm.snapshot());
    let schema = &snapshot.registry.people.attributes;
    let shown = |name: &str| {
        let read = schema.get(name).map(|attribute| attribute.read);
        match reader {
            Reader::Person => read == Some(Who::Person),
            Reader::Administrator => read.is_some_and(|read| read != Who::Nobody),
        }
    };
    let names = user.attributes.keys();
    let withheld_attributes = names.filter(|name| !shown(name)).cloned().collect();
    let credentials = users.credentials(&user.id, now).await?.into_iter();
    let credentials = credentials
        .filter(|one| user.credentials().contains(&one.name))
        .map(CredentialDocument::from)
        .collect();
    let links = users.links(&user, now).await?.into_values();
    let identities = links.map(IdentityDocument::from).collect();
    let sessions = session::list(store, &user.id, now).await?.into_iter();
    let sessions = sessions.map(|(_, row)| SessionDocument::from(row));
    let consents = consent::all(store, &user.id, now).await?.into_iter();
    let consents = consents.map(|(client, consent)| ConsentDocument::new(client, consent));
    let granted = grants::list(store, &user.id, now).await?.into_iter();
    let mut delegations = Vec::new();
    for held in delegation_index::grants(store, Holder::User(&user.id), now).await? {
        let revoked = delegation_index::is_ended(store, &held, now).await?;
        delegations.push(DelegationDocument::new(&held, revoked));
    }
    let agents = agents::of_user(realm, &user.id).await?;
    let mut data = PersonDocument {
        issuer: snapshot.settings.issuer.clone(),
        exported_at: now,
        password_changed_at: user.password_changed_at,
        external_id: user.external_id.clone(),
        directory_person: user.link.as_ref().map(|link| link.person.clone()),
        withheld_attributes,
        credentials,
        identities,
        sessions: sessions.collect(),
        consents: consents.collect(),
        grants: granted
            .map(|(id, row)| GrantDocument::new(&id, row))
            .collect(),
        agents,
        delegations,
        account: users::document(user, &snapshot),
    };
    data.account.attributes.retain(|name, _| shown(name));
    data.account
        .unverified_attributes
        .retain(|name| shown(name));
    Ok(data)
}

/// The document of a person, for the person themselves.
pub struct PersonExport;

impl PersonData for PersonExport {
    async fn document(realm: &Arc<Realm>, user: User) -> Result<Vec<u8>, &'static str> {
        let data = person_data(realm, user, Reader::Person).await;
        let data = data.map_err(|problem| problem.code())?;
        serde_json::to_vec_pretty(&data).map_err(|error| {
            tracing::error!(%error, "failed to write a person's data");
            Problem::unavailable().code()
        })
    }
}
