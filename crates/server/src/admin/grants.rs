//! What users have granted: grants with their tokens, and remembered consents.
use super::{
    call::{Call, Reply},
    model::{ConsentDocument, GrantDocument, List},
    operation::{Method, Operation, Outcome, handler},
    problem::Problem,
};
use crate::{consent, grants};
use signet_jose::base64url;
use signet_store::Change;

const LIST: &str = "/admin/v1/users/{user_id}/grants";
const ONE: &str = "/admin/v1/users/{user_id}/grants/{grant_id}";
const CONSENTS: &str = "/admin/v1/users/{user_id}/consents";
const CONSENT: &str = "/admin/v1/users/{user_id}/consents/{client_id}";

#[rustfmt::skip]
pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new("listGrants", Method::Get, LIST, "List a user's grants", handler!(list))
        .answers::<List<GrantDocument>>(200),
    Operation::new("revokeGrant", Method::Delete, ONE, "End a grant: its refresh tokens and access tokens", handler!(revoke)),
    Operation::new("listConsents", Method::Get, CONSENTS, "List what a user has agreed to", handler!(list_consents))
        .answers::<List<ConsentDocument>>(200),
    Operation::new("withdrawConsent", Method::Delete, CONSENT, "Withdraw a consent and end what the client holds of the user", handler!(withdraw)),
];

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
    let grant_id: [u8; 16] = base64url::decode(call.segment("grant_id").as_bytes())
        .ok()
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or_else(Problem::not_found)?;
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
