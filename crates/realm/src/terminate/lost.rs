//! What ends when somebody leaves a group or loses a role.
//!
//! Refreshes and authorizations decide again by themselves, for they read the account each time. An
//! access token that was issued before says what held then. So the grants that it hangs on are
//! revoked, where the loss concerns them: an access rule that let the client have tokens of this
//! person does so no more, or what access tokens of the grant say of the person is no more so.
//! Other grants, and the session, stay: the application asks again, and gets what holds now.
use super::MARGIN;
use crate::state::Realm;
use signet_directory::grants::{self, GrantRow};
use signet_directory::{User, UserDraft, UserError};
use signet_oauth::client::Client;
use signet_oauth::issued::session::UserClaims;
use signet_oauth::people::access_rules::{Access, Origin, Question};
use signet_oauth::people::claim_rules::Target;
use signet_oauth::people::mapped_claims::{About, Room, mapped};
use signet_oauth::registry::Registry;
use signet_oauth::scope::ScopeSet;
use signet_oauth::settings::Settings;
use signet_oauth::token::target;
use signet_store::StoreError;
use std::collections::BTreeSet;
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

/// What somebody has by groups and roles, before a change and after it: of the account, of the
/// records, or of both.
pub struct Loss<'a> {
    /// What counts for every grant.
    pub settings: &'a Settings,
    /// The person, and what the records said, before.
    pub then: (&'a UserClaims, &'a Registry),
    /// The same afterwards.
    pub now: (&'a UserClaims, &'a Registry),
    /// Unix seconds.
    pub moment: u64,
}

impl Loss<'_> {
    /// Names of the groups that the person is in no more.
    pub fn groups(&self) -> BTreeSet<&str> {
        let ((then, before), (now, after)) = (self.then, self.now);
        let left = after.people.groups_of(&now.held);
        let mut lost = before.people.groups_of(&then.held);
        lost.retain(|group| !left.contains(group));
        lost
    }

    /// Whole names of the roles that the person has no more.
    pub fn roles(&self) -> BTreeSet<&str> {
        let ((then, before), (now, after)) = (self.then, self.now);
        let left = after.people.roles_of(&now.held);
        let had = before.people.roles_of(&then.held);
        let lost = had.into_keys().filter(|role| !left.contains_key(role));
        lost.collect()
    }

    /// Whether a grant of the person ends by it.
    pub fn ends(&self, row: &GrantRow) -> bool {
        let ((then, before), (now, after)) = (self.then, self.now);
        let client = after.clients.get(&row.client_id);
        let scope = ScopeSet::parse(&row.scope).ok();
        let (Some(client), Some(scope)) = (client, scope) else {
            return false;
        };
        let mut audiences = vec![target::audience_of(self.settings, &[])];
        audiences.extend(client.resources.iter().map(|one| vec![one.clone()]));
        let concerned = Concerned {
            client,
            scope: &scope,
            audiences: &audiences,
            now: self.moment,
        };
        let mode = self.settings.access;
        concerned.is_lost(
            (after.access(mode), after),
            (before.access(mode), before),
            (then, now),
        )
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
        let moment = self.now();
        let loss = Loss {
            settings: &snapshot.settings,
            then: (then, registry_then),
            now: (now, &snapshot.registry),
            moment,
        };
        if loss.groups().is_empty() && loss.roles().is_empty() {
            return Ok(0);
        }
        let end = moment + self.longest_access_token() + MARGIN;
        let mut ended = 0;
        for (id, row) in grants::list(&*self.store, &now.sub, moment).await? {
            if loss.ends(&row) {
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
