//! What users have granted: grants with their tokens, and remembered consents.
use crate::operations::model::{ConsentDocument, GrantDocument, List};
use crate::operations::sessions::{Names, OfUser};
use signet_directory::{consent, grants};
use signet_oauth::id::GrantId;
use signet_operation::adapter::Row;
use signet_operation::facts::Method;
use signet_operation::input::{ClientId, Page, UserId, grant_id};
use signet_operation::noun::Noun;
use signet_operation::operation::{Operation, run};
use signet_operation::output::Json;
use signet_operation::problem::Problem;
use signet_operation::right::Area;
use signet_operation::right::Right::{Read, Reset};
use signet_realm::state::Realm;
use signet_store::Change;
use std::sync::Arc;

const ALL: &str = "/admin/v1/grants";
const LIST: &str = "/admin/v1/users/{user_id}/grants";
const ONE: &str = "/admin/v1/users/{user_id}/grants/{grant_id}";
const CONSENTS: &str = "/admin/v1/users/{user_id}/consents";
const CONSENT: &str = "/admin/v1/users/{user_id}/consents/{client_id}";

/// What users have granted.
pub const GRANTS: Noun = Noun {
    name: "grant",
    list: ALL,
    id: "grant_id",
    columns: &["username", "grant_id", "client_id", "created_at", "scope"],
    sorted_by: None,
    written: &[],
};

#[rustfmt::skip]
pub(crate) const OPERATIONS: &[&dyn Row] = &[
    &Operation::new("listAllGrants", Area::Sessions, Read, Method::Get, ALL, "List everybody's grants, user by user", run!(list_all)),
    &Operation::new("listGrants", Area::Sessions, Read, Method::Get, LIST, "List a user's grants", run!(list)),
    &Operation::new("revokeGrant", Area::Sessions, Reset, Method::Delete, ONE, "Revoke a grant: its refresh tokens and access tokens", run!(revoke)),
    &Operation::new("listConsents", Area::Sessions, Read, Method::Get, CONSENTS, "List what a user has agreed to", run!(list_consents)),
    &Operation::new("withdrawConsent", Area::Sessions, Reset, Method::Delete, CONSENT, "Withdraw a consent and end what the client holds of the user", run!(withdraw)),
];

async fn list_all(
    realm: Arc<Realm>,
    page: Page,
) -> Result<Json<List<OfUser<GrantDocument>>>, Problem> {
    let after = page.after.as_deref().and_then(|after| {
        let (user_id, id) = after.split_once(' ')?;
        Some((user_id, grant_id(id)?))
    });
    let after = after.as_ref().map(|(user_id, id)| (*user_id, id));
    let rows = grants::page(&*realm.store, after, page.limit + 1, realm.now()).await?;
    let mut names = Names::default();
    let mut items = Vec::with_capacity(rows.len());
    for (user_id, id, row) in rows {
        items.push(OfUser {
            username: names.of(&realm, &user_id).await?,
            user_id,
            item: GrantDocument::new(&id, row),
        });
    }
    Ok(Json(List::cut(items, page.limit, |of| {
        format!("{} {}", of.user_id, of.item.grant_id)
    })))
}

async fn list(realm: Arc<Realm>, user: UserId) -> Result<Json<List<GrantDocument>>, Problem> {
    let grants = grants::list(&*realm.store, &user.0, realm.now()).await?;
    let items = grants
        .into_iter()
        .map(|(id, row)| GrantDocument::new(&id, row))
        .collect();
    Ok(Json(List { items, next: None }))
}

async fn revoke(realm: Arc<Realm>, (user, grant_id): (UserId, GrantId)) -> Result<(), Problem> {
    let listed = grants::list(&*realm.store, &user.0, realm.now()).await?;
    if !listed.iter().any(|(id, _)| *id == grant_id) {
        return Err(Problem::not_found());
    }
    realm.revoke_grant(grant_id).await?;
    let removal = Change::new(grants::removal(&user.0, &grant_id));
    realm.store.commit(removal, realm.now()).await?;
    Ok(())
}

async fn list_consents(
    realm: Arc<Realm>,
    user: UserId,
) -> Result<Json<List<ConsentDocument>>, Problem> {
    let consents = consent::list(&*realm.store, &user.0, realm.now()).await?;
    let items = consents
        .into_iter()
        .map(|(client_id, consent)| ConsentDocument::new(client_id, consent))
        .collect();
    Ok(Json(List { items, next: None }))
}

async fn withdraw(realm: Arc<Realm>, (user, client): (UserId, ClientId)) -> Result<(), Problem> {
    let known = consent::withdraw(&*realm.store, &user.0, &client.0, realm.now()).await?;
    let ended = realm.revoke_grants_of(&user.0, &client.0).await?;
    if !known && ended == 0 {
        return Err(Problem::not_found());
    }
    Ok(())
}
