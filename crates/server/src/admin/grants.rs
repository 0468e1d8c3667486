//! What users have granted: grants with their tokens, and remembered consents.
use super::{
    call::{Call, Reply},
    model::{ConsentDocument, GrantDocument, List},
    operation::{Method, Operation, Outcome, handler},
    problem::Problem,
    sessions::{Names, OfUser},
};
use crate::{consent, grants};
use signet_jose::base64url;
use signet_oauth::id::GrantId;
use signet_store::Change;

const ALL: &str = "/admin/v1/grants";
const LIST: &str = "/admin/v1/users/{user_id}/grants";
const ONE: &str = "/admin/v1/users/{user_id}/grants/{grant_id}";
const CONSENTS: &str = "/admin/v1/users/{user_id}/consents";
const CONSENT: &str = "/admin/v1/users/{user_id}/consents/{client_id}";

#[rustfmt::skip]
pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new("listAllGrants", Method::Get, ALL, "List everybody's grants, user by user", handler!(list_all))
        .paged().answers::<List<OfUser<GrantDocument>>>(200),
    Operation::new("listGrants", Method::Get, LIST, "List a user's grants", handler!(list))
        .answers::<List<GrantDocument>>(200),
    Operation::new("revokeGrant", Method::Delete, ONE, "End a grant: its refresh tokens and access tokens", handler!(revoke)),
    Operation::new("listConsents", Method::Get, CONSENTS, "List what a user has agreed to", handler!(list_consents))
        .answers::<List<ConsentDocument>>(200),
    Operation::new("withdrawConsent", Method::Delete, CONSENT, "Withdraw a consent and end what the client holds of the user", handler!(withdraw)),
];

fn grant_id(text: &str) -> Option<GrantId> {
    GrantId::from_slice(&base64url::decode(text.as_bytes()).ok()?)
}

async fn list_all(call: Call) -> Outcome {
    let page = call.page()?;
    let after = page.after.as_deref().and_then(|after| {
        let (user_id, id) = after.split_once(' ')?;
        Some((user_id, grant_id(id)?))
    });
    let after = after.as_ref().map(|(user_id, id)| (*user_id, id));
    let store = &*call.realm().store;
    let rows = grants::page(store, after, page.limit + 1, call.now()).await?;
    let mut names = Names::default();
    let mut items = Vec::with_capacity(rows.len());
    for (user_id, id, row) in rows {
        items.push(OfUser {
            username: names.of(&call, &user_id).await?,
            user_id,
            item: GrantDocument::new(&id, row),
        });
    }
    Reply::ok(&List::cut(items, page.limit, |of| {
        format!("{} {}", of.user_id, of.item.grant_id)
    }))
}

async fn list(call: Call) -> Outcome {
    let user_id = call.segment("user_id");
    let grants = grants::list(&*call.realm().store, user_id, call.now()).await?;
    let items = grants
        .into_iter()
        .map(|(id, row)| GrantDocument::new(&id, row))
        .collect();
    Reply::ok(&List { items, next: None })
}

async fn revoke(call: Call) -> Outcome {
    let (realm, user_id) = (call.realm(), call.segment("user_id"));
    let grant_id = grant_id(call.segment("grant_id")).ok_or_else(Problem::not_found)?;
    let listed = grants::list(&*realm.store, user_id, call.now()).await?;
    if !listed.iter().any(|(id, _)| *id == grant_id) {
        return Err(Problem::not_found());
    }
    realm.revoke_grant(grant_id).await?;
    let removal = Change::new(grants::removal(user_id, &grant_id));
    realm.store.commit(removal, call.now()).await?;
    Reply::done()
}

async fn list_consents(call: Call) -> Outcome {
    let consents = consent::list(&*call.realm().store, call.segment("user_id"), call.now()).await?;
    let items = consents
        .into_iter()
        .map(|(client_id, consent)| ConsentDocument::new(client_id, consent))
        .collect();
    Reply::ok(&List { items, next: None })
}

async fn withdraw(call: Call) -> Outcome {
    let (realm, now) = (call.realm(), call.now());
    let (user_id, client_id) = (call.segment("user_id"), call.segment("client_id"));
    let known = consent::withdraw(&*realm.store, user_id, client_id, now).await?;
    let ended = realm.revoke_grants_of(user_id, client_id).await?;
    if !known && ended == 0 {
        return Err(Problem::not_found());
    }
    Reply::done()
}
