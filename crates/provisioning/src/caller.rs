//! Who calls, and whether they may.
use super::answer::Refusal;
use signet_admin::provisioned::{person, token_of};
use signet_oauth::scope::{ADMIN, SCIM, ScopeSet};
use signet_request::access::{Entrance, KeptOut};
use signet_request::http::Context;

/// Somebody who may provision.
pub(super) struct Caller {
    /// A user's id or a `client_id`.
    pub(super) who: String,
    /// The token has `signet:admin` beside `signet:scim`, and its holder may still have both.
    pub(super) administers: bool,
}

impl Caller {
    /// The holder of the request's access token.
    ///
    /// # Errors
    /// 401 for a token that is none, 403 for one without the scope, or whose client or person may
    /// no longer have it.
    pub(super) async fn of_request(context: &Context) -> Result<Caller, Refusal> {
        let facts = token_of(context).await?;
        let no_longer = || Refusal::plain(403, "the scope signet:scim is needed");
        if !facts.scope.contains(SCIM) {
            return Err(no_longer());
        }
        context.note_client(&facts.client_id);
        let registry = &context.snapshot.registry;
        let client = registry.client(&facts.client_id, context.now());
        // The token says what the client's record allowed when it was made.
        let client = client.filter(|client| client.scope.contains(SCIM));
        let client = client.ok_or_else(no_longer)?;
        let administers = facts.scope.contains(ADMIN) && client.scope.contains(ADMIN);
        let Some(user_id) = facts.user_id() else {
            let who = facts.client_id.clone();
            return Ok(Caller { who, administers });
        };
        let users = &context.realm.people.users;
        let user = users.by_id(user_id, context.now()).await?;
        let user = user.filter(|user| user.admin).ok_or_else(no_longer)?;
        let may = |scope: &str| {
            let scope = ScopeSet::parse(scope).unwrap_or_default();
            person(context, Entrance::Scim, &user, (&facts, client, &scope))
        };
        match may(SCIM) {
            Ok(_) => Ok(Caller {
                administers: administers && may(ADMIN).is_ok(),
                who: user.id,
            }),
            Err(KeptOut::Rule(_)) => Err(Refusal::plain(
                403,
                "an access rule does not let this person in",
            )),
            Err(KeptOut::Nobody | KeptOut::Owed(_) | KeptOut::Class) => Err(no_longer()),
        }
    }
}
