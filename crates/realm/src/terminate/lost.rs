//! What ends when somebody leaves a group or loses a role.
//!
//! Refreshes and authorizations decide again by themselves, for they read the account each time. An
//! access token that was issued before says what held then. So the grants that it hangs on are
//! revoked, where the loss concerns them: an access rule that let the client have tokens of this
//! person does so no more, or what access tokens of the grant say of the person is no more so.
//! Other grants, and the session, stay: the application asks again, and gets what holds now.
use super::MARGIN;
use crate::state::Realm;
use signet_directory::grants;
use signet_directory::{User, UserDraft, UserError};
use signet_oauth::client::Client;
use signet_oauth::issued::session::UserClaims;
use signet_oauth::people::People;
use signet_oauth::people::access_rules::{Access, Origin, Question};
use signet_oauth::people::claim_rules::Target;
use signet_oauth::people::mapped_claims::{About, Room, mapped};
use signet_oauth::registry::Registry;
use signet_oauth::scope::ScopeSet;
use signet_oauth::token::target;
use signet_store::StoreError;
use std::sync::{Arc, Mutex, PoisonError};

/// People that are read at once.
const AT_ONCE: usize = 100;

/// A grant, as far as a loss may concern it.
struct Concerned<'a> {
    client: &'a Client,
    scope: &'a ScopeSet,
    /// Everything that a token of the grant may be for: which of it, the grant's row does not say.
    audiences: &'a [Vec<String>],
    now: u64,
}

impl Concerned<'_> {
    fn is_allowed(&self, access: Access<'_>, person: &UserClaims, audience: &[String]) -> bool {
        let question = Question {
            person: Some((&person.sub, &person.held)),
            client_id: &self.client.client_id,
            scope: self.scope,
            audience,
            origin: Origin::Earlier,
            classes: None,
            now: self.now,
        };
        access.decide(&question).allowed
    }

    /// Whether the person may have less by it than before.
    fn is_lost(
        &self,
        (access, registry): (Access<'_>, &Registry),
        (access_then, registry_then): (Access<'_>, &Registry),
        (then, now): (&UserClaims, &UserClaims),
    ) -> bool {
        self.audiences.iter().any(|audience| {
            let denied = self.is_allowed(access_then, then, audience)
                && !self.is_allowed(access, now, audience);
            let about = About {
                client: Some(self.client),
                scope: self.scope,
                audience,
                single: &[],
            };
            let said =
                |registry, person| mapped(registry, about, Target::AccessToken, person, Room::JSON);
            denied || said(registry_then, then) != said(registry, now)
        })
    }
}

impl Realm {
    /// Changes the groups and roles of an account, and ends what was issued under those that it no
    /// longer has.
    ///
    /// # Errors
    /// Of the record, and the store's. After an error the record may have been changed.
    pub async fn change_holdings(
        &self,
        user_id: &str,
        change: impl Fn(&mut UserDraft) + Send + Sync,
    ) -> Result<User, UserError> {
        let snapshot = self.snapshot();
        let then = Mutex::new(None);
        let changing = |draft: &mut UserDraft| {
            // A change that lost a race is made again, on what the other one wrote.
            *then.lock().unwrap_or_else(PoisonError::into_inner) = Some(draft.user.claims());
            change(draft);
        };
        let users = &self.people.users;
        let user = users.change(user_id, self.now(), changing).await?;
        let then = then.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(then) = then {
            self.end_what_was_lost(&then, &user.claims(), &snapshot.registry)
                .await?;
        }
        Ok(user)
    }

    /// Ends what a person got by groups and roles that they have no more. `then`: what they had,
    /// and what the registry said then. The number of grants.
    ///
    /// # Errors
    /// The store's; then some may be left, and the caller must not answer that none is.
    pub async fn end_what_was_lost(
        &self,
        then: &UserClaims,
        now: &UserClaims,
        registry_then: &Registry,
    ) -> Result<usize, StoreError> {
        let snapshot = self.snapshot();
        let registry = &snapshot.registry;
        let lost = has_lost(&registry_then.people, then, &registry.people, now);
        if !lost {
            return Ok(0);
        }
        let moment = self.now();
        let end = moment + self.longest_access_token() + MARGIN;
        let mode = snapshot.settings.access;
        let mut ended = 0;
        for (id, row) in grants::list(&*self.store, &now.sub, moment).await? {
            let client = registry.clients.get(&row.client_id);
            let scope = ScopeSet::parse(&row.scope).ok();
            let (Some(client), Some(scope)) = (client, scope) else {
                continue;
            };
            let mut audiences = vec![target::audience_of(&snapshot.settings, &[])];
            audiences.extend(client.resources.iter().map(|one| vec![one.clone()]));
            let concerned = Concerned {
                client,
                scope: &scope,
                audiences: &audiences,
                now: moment,
            };
            let is_lost = concerned.is_lost(
                (registry.access(mode), registry),
                (registry_then.access(mode), registry_then),
                (then, now),
            );
            if is_lost {
                self.end_grant(id, Some(&now.sub), end).await?;
                ended += 1;
            }
        }
        Ok(ended)
    }

    /// The same for everybody, after a change of groups or roles themselves. `registry_then`: what
    /// was known before it. Accounts are read one after another.
    ///
    /// # Errors
    /// As [`Realm::end_what_was_lost`].
    pub async fn end_what_all_lost(&self, registry_then: &Registry) -> Result<usize, UserError> {
        let snapshot = self.snapshot();
        if Arc::ptr_eq(&registry_then.people, &snapshot.registry.people) {
            return Ok(0);
        }
        let (mut ended, mut after) = (0, None::<String>);
        loop {
            let users = &self.people.users;
            let read = users.list(after.as_deref(), AT_ONCE, self.now()).await;
            let read = read?;
            for user in &read {
                let claims = user.claims();
                ended += self
                    .end_what_was_lost(&claims, &claims, registry_then)
                    .await?;
            }
            match read.last() {
                Some(last) if read.len() == AT_ONCE => after = Some(last.id.clone()),
                Some(_) | None => return Ok(ended),
            }
        }
    }
}

/// Whether somebody is in fewer groups or has fewer roles than before.
fn has_lost(before: &People, then: &UserClaims, after: &People, now: &UserClaims) -> bool {
    let (groups, roles) = (before.groups_of(&then.held), before.roles_of(&then.held));
    if groups.is_empty() && roles.is_empty() {
        return false;
    }
    let groups_now = after.groups_of(&now.held);
    let roles_now = after.roles_of(&now.held);
    !groups.is_subset(&groups_now) || roles.keys().any(|role| !roles_now.contains_key(role))
}
