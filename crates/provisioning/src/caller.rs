//! Who calls, and whether they may.
use super::answer::Refusal;
use signet_admin::provisioned::{Area, Right, Rights, person, token_of};
use signet_oauth::scope::{ADMIN, SCIM, ScopeSet};
use signet_request::access::{Entrance, KeptOut};
use signet_request::http::Context;

/// Somebody who may provision.
pub(super) struct Caller {
    /// A user's id or a `client_id`.
    pub(super) who: String,
    /// The token has `signet:admin` beside `signet:scim`, and its holder may still have both.
    pub(super) administers: bool,
    /// What they may: what their scopes give, and of a person no more than their roles.
    pub(super) rights: Rights,
}

impl Caller {
    /// Whether they may do this with people.
    ///
    /// # Errors
    /// 403 for a person whose roles do not allow it.
    pub(super) fn expect(&self, right: Right) -> Result<(), Refusal> {
        match self.rights.may_all(Area::People, right) {
            true => Ok(()),
            false => Err(Refusal::plain(
                403,
                "your roles do not allow this: the role people is needed, or owner",
            )),
        }
    }

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
        let provisioning = Rights::of_scope(&ScopeSet::parse(SCIM).unwrap_or_default());
        let Some(user_id) = facts.user_id() else {
            let who = facts.client_id.clone();
            let rights = match administers {
                true => Rights::owner(),
                false => provisioning,
            };
            return Ok(Caller {
                who,
                administers,
                rights,
            });
        };
        let users = &context.realm.people.users;
        let user = users.by_id(user_id, context.now()).await?;
        let user = user.filter(|user| user.admin).ok_or_else(no_longer)?;
        let may = |scope: &str| {
            let scope = ScopeSet::parse(scope).unwrap_or_default();
            person(context, Entrance::Scim, &user, (&facts, client, &scope))
        };
        match may(SCIM) {
            Ok(_) => {
                let administers = administers && may(ADMIN).is_ok();
                let own = Rights::of_user(&user, &context.snapshot.registry);
                Ok(Caller {
                    administers,
                    rights: match administers {
                        true => own,
                        false => provisioning.within(own),
                    },
                    who: user.id,
                })
            }
            Err(KeptOut::Rule(_)) => Err(Refusal::plain(
                403,
                "an access rule does not let this person in",
            )),
            Err(KeptOut::Nobody | KeptOut::Owed(_) | KeptOut::Class) => Err(no_longer()),
        }
    }
}
