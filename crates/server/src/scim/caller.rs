//! Who calls, and whether they may.
use super::answer::Refusal;
use crate::{admin, http::Context};
use signet_oauth::scope::SCIM;

/// Somebody who may provision.
pub(super) struct Caller {
    /// A user's id or a `client_id`.
    pub(super) who: String,
}

impl Caller {
    /// The holder of the request's access token.
    ///
    /// # Errors
    /// 401 for a token that is none, 403 for one without the scope, or whose client or person may
    /// no longer have it.
    pub(super) async fn of_request(context: &Context) -> Result<Caller, Refusal> {
        let facts = admin::token_of(context).await?;
        let no_longer = || Refusal::plain(403, "the scope signet:scim is needed");
        if !facts.scope.contains(SCIM) {
            return Err(no_longer());
        }
        context.note_client(&facts.client_id);
        let registry = &context.snapshot.registry;
        let client = registry.client(&facts.client_id, context.now());
        // The token says what the client's record allowed when it was made.
        if !client.is_some_and(|client| client.scope.contains(SCIM)) {
            return Err(no_longer());
        }
        let Some(user_id) = facts.user_id() else {
            let who = facts.client_id.clone();
            return Ok(Caller { who });
        };
        let users = &context.realm.people.users;
        match users.by_id(user_id, context.now()).await? {
            Some(user) if user.enabled && user.admin => Ok(Caller { who: user.id }),
            Some(_) | None => Err(no_longer()),
        }
    }
}
