//! Terminating: a token, a grant, a session, a client, an agent, everything of a person.
//!
//! Every revocation is durable before it is answered. Its entry lasts as long as the longest-lived
//! token that it can concern, counted from now with a margin, never shorter (known fault A9).
use futures_util::future::try_join_all;
use signet_oauth::id::GrantId;
mod agents;
mod count;
mod lost;

pub use agents::Ended;
pub use count::{Counted, Counts, LookingThrough, MAX_COUNTED, MAX_LOOKED_THROUGH};
pub use lost::Loss;

use crate::agents::AgentError;
use crate::agents::statement::Authority;
use crate::state::Realm;
use signet_directory::grants;
use signet_directory::{self as directory, StoredUser, User, UserDraft, UserError};
use signet_store::{Change, Key, Op, Outcome, Revoked, StoreError, Subject, Table};

/// Kept beyond a token's end, seconds: for verifiers' leeway and clocks that differ.
const MARGIN: u64 = 300;
/// Ends of one person's sessions and grants that are written at once: they share flushes.
const AT_ONCE: usize = 64;
/// How often a change of a record that lost a race is tried again.
const MAX_TRIES: usize = 5;

impl Realm {
    /// The longest that an access token made now can live, seconds: the bound of everything that it
    /// hangs on.
    fn longest_access_token(&self) -> u64 {
        let snapshot = self.snapshot();
        let registry = &snapshot.registry;
        let of_clients = registry.clients.tally().longest_access_token();
        let of_resources = registry.resources.tally().longest_access_token();
        of_clients
            .into_iter()
            .chain(of_resources)
            .chain([
                snapshot.settings.access_token_lifetime,
                // The admin API may have lowered a lifetime a moment ago: tokens of before still
                // live.
                86_400,
            ])
            .max()
            .unwrap_or(86_400)
    }

    /// Revokes a grant: its refresh family and every access token that was issued under it.
    ///
    /// # Errors
    /// The store's; then it is not ended.
    pub async fn revoke_grant(&self, grant_id: GrantId) -> Result<(), StoreError> {
        // Once the family's row is gone nothing can be made of the grant any more, so what lives
        // longest is an access token that was made a moment ago. (A code that is not yet redeemed
        // lives for minutes.)
        let end = self.now() + self.longest_access_token() + MARGIN;
        self.end_grant(grant_id, None, end).await
    }

    /// Whether a grant is revoked until this end (Unix seconds) at least, and its family gone: then
    /// [`Realm::end_grant`] has nothing left to do.
    ///
    /// # Errors
    /// The store's.
    pub async fn is_grant_ended(&self, grant_id: GrantId, end: u64) -> Result<bool, StoreError> {
        if !self.revocations.holds(&Subject::Grant(grant_id), end) {
            return Ok(false);
        }
        // After a crash between the two the family is still there.
        let family = crate::single_use::family_key(&grant_id);
        let left = self.store.get(&family, self.now()).await?;
        Ok(left.is_none())
    }

    /// As `revoke_grant`, until a given end (Unix seconds), and out of the list of its user.
    ///
    /// # Errors
    /// The store's; then it is not ended.
    pub async fn end_grant(
        &self,
        grant_id: GrantId,
        user_id: Option<&str>,
        end: u64,
    ) -> Result<(), StoreError> {
        let now = self.now();
        self.revocations
            .revoke(Subject::Grant(grant_id), end, now)
            .await?;
        let listed = user_id.map(|user| Op::Delete {
            key: Key::with_sort(
                Table::UserGrant,
                user.as_bytes(),
                grant_id.as_bytes().to_vec(),
            ),
        });
        let gone = Change {
            // Without its row the family cannot go on, even when the entry above has expired.
            first: Op::Delete {
                key: crate::single_use::family_key(&grant_id),
            },
            then: listed.into_iter().collect(),
        };
        self.store.commit(gone, now).await.map(|_| ())
    }

    /// Ends a session's tokens, by its public `sid`, and has its clients told.
    ///
    /// # Errors
    /// The store's.
    pub async fn revoke_session(&self, sid: &str) -> Result<(), StoreError> {
        let now = self.now();
        let lifetimes = self.snapshot().settings.session_absolute_lifetime;
        let end = now + self.longest_refresh_token().max(lifetimes) + MARGIN;
        self.revocations
            .revoke(Subject::Session(sid.to_owned()), end, now)
            .await?;
        signet_directory::logout_notice::ended(&*self.store, sid, now).await?;
        Ok(())
    }

    /// As [`Realm::revoke_session`], of several, which share flushes.
    ///
    /// # Errors
    /// The store's; then some may be left.
    pub async fn revoke_sessions(&self, sids: &[String]) -> Result<(), StoreError> {
        for some in sids.chunks(AT_ONCE) {
            try_join_all(some.iter().map(|sid| self.revoke_session(sid))).await?;
        }
        Ok(())
    }

    /// When the last of what an epoch concerns has expired, where that lives for `longest` seconds.
    fn end_of_epoch(&self, epoch_ms: u64, longest: u64) -> u64 {
        let last = self.now().max(epoch_ms / 1000);
        last.saturating_add(longest) + MARGIN
    }

    /// Ends everything of a user that was made up to now.
    ///
    /// # Errors
    /// The store's.
    pub async fn revoke_user(&self, user_id: &str) -> Result<(), StoreError> {
        let (now, epoch_ms) = (self.now(), self.epoch_ms());
        let end = self.end_of_epoch(epoch_ms, self.longest_refresh_token());
        let subject = Subject::User(user_id.to_owned(), epoch_ms);
        self.revocations.revoke(subject, end, now).await
    }

    /// Ends every session, grant and token of a user. The epoch alone ends what was made up to now;
    /// sessions and grants are ended one by one as well, so that a family that is being rotated at
    /// this moment ends, too (known fault A13).
    ///
    /// # Errors
    /// The store's; then some may be left, and the caller must not answer that none is.
    pub async fn revoke_everything_of(&self, user_id: &str) -> Result<(), StoreError> {
        self.revoke_user(user_id).await?;
        let now = self.now();
        let sessions = signet_directory::session::end_all(&*self.store, user_id, None, now).await?;
        self.revoke_sessions(&sessions).await?;
        let grants = signet_directory::grants::list(&*self.store, user_id, now).await?;
        for some in grants.chunks(AT_ONCE) {
            let ended = some.iter().map(async |(grant_id, _)| {
                self.revoke_grant(*grant_id).await?;
                let removal = signet_directory::grants::removal(user_id, grant_id);
                self.store.commit(Change::new(removal), now).await
            });
            try_join_all(ended).await?;
        }
        // Whoever was in the account may have bound an identity of their own to it.
        match self.stop_agents_of(user_id, Authority::Operator).await {
            Ok(_) => Ok(()),
            Err(AgentError::Store(error)) => Err(error),
            Err(error) => Err(StoreError::Unavailable(error.to_string())),
        }
    }

    /// Changes a person's record if it still is as `holds` demands, and ends everything that was
    /// begun before: the record and the end are one change of the store, so that after a crash
    /// nobody is left in beside a new password. None: it is not as demanded, and nothing was done.
    ///
    /// # Errors
    /// Of the record, and the store's. After an error the record may have been changed; then
    /// everything made before was revoked with it, and only what people are shown may still be
    /// listed.
    pub async fn change_user_and_end_everything(
        &self,
        user_id: &str,
        holds: impl Fn(&User) -> bool,
        change: impl Fn(&mut UserDraft),
    ) -> Result<Option<User>, UserError> {
        for _ in 0..MAX_TRIES {
            let users = &self.people.users;
            let found = users.found(user_id, self.now()).await?;
            let found = found.ok_or(UserError::NotFound)?;
            if !holds(&found.user) {
                return Ok(None);
            }
            let changed = self.replace_user_and_end_everything(found, &change);
            if let Some(user) = changed.await? {
                return Ok(Some(user));
            }
        }
        Err(UserError::Conflict)
    }

    /// As [`Realm::change_user_and_end_everything`], of the record as it was read. None: somebody
    /// else has written it since.
    ///
    /// # Errors
    /// As there.
    pub async fn replace_user_and_end_everything(
        &self,
        found: StoredUser,
        change: impl FnOnce(&mut UserDraft),
    ) -> Result<Option<User>, UserError> {
        let (now, epoch_ms) = (self.now(), self.epoch_ms());
        let (user, replace) = directory::replacement(found, now, change)?;
        let epoch = Revoked {
            subject: Subject::User(user.id.clone(), epoch_ms),
            end: self.end_of_epoch(epoch_ms, self.longest_refresh_token()),
        };
        let committed = self.revocations.commit_with(replace, vec![epoch], now);
        match committed.await? {
            Outcome::Refused(_) => Ok(None),
            Outcome::Done { .. } => {
                // Also what began while the change was being written, and what people see listed.
                self.revoke_everything_of(&user.id).await?;
                Ok(Some(user))
            }
        }
    }

    /// Has an account looked at when it expires or is to be erased, Unix seconds: to be called
    /// before its record says so. Where the record says otherwise at that time, that counts.
    ///
    /// # Errors
    /// The store's.
    pub async fn watch_account(&self, user_id: &str, at: u64) -> Result<(), StoreError> {
        let now = self.now();
        let watch = directory::logout_notice::watch_account(user_id, at, now);
        self.store.commit(Change::new(watch), now).await.map(drop)
    }

    /// Ends everything of a client that was made up to now.
    ///
    /// # Errors
    /// The store's.
    pub async fn revoke_client(&self, client_id: &str) -> Result<(), StoreError> {
        self.revoke_client_for(client_id, self.longest_refresh_token())
            .await
    }

    /// As [`Realm::revoke_client`], where the client's record is gone: `longest` is what
    /// [`Realm::longest_refresh_token`] was while it was there, in seconds.
    ///
    /// # Errors
    /// The store's.
    pub async fn revoke_client_for(&self, client_id: &str, longest: u64) -> Result<(), StoreError> {
        let (now, epoch_ms) = (self.now(), self.epoch_ms());
        let end = self.end_of_epoch(epoch_ms, longest);
        let subject = Subject::Client(client_id.to_owned(), epoch_ms);
        self.revocations.revoke(subject, end, now).await
    }

    /// Ends every token issued under a chain with this agent grant in it. `grant_end`: the grant's
    /// own end, Unix seconds; until then the chain could be presented again.
    ///
    /// # Errors
    /// The store's; then nothing is revoked.
    pub async fn revoke_agent_grant(
        &self,
        grant: [u8; 32],
        grant_end: u64,
    ) -> Result<(), StoreError> {
        let now = self.now();
        let end = grant_end
            .max(now)
            .saturating_add(self.longest_access_token() + MARGIN);
        self.revocations
            .revoke(Subject::AgentGrant(grant), end, now)
            .await
    }

    /// Ends every token, made up to now, that an agent acts in.
    ///
    /// # Errors
    /// The store's; then nothing is revoked.
    pub async fn revoke_agent(&self, agent_id: &str) -> Result<(), StoreError> {
        let (now, epoch_ms) = (self.now(), self.epoch_ms());
        let end = self.end_of_epoch(epoch_ms, self.longest_refresh_token());
        let subject = Subject::Agent(agent_id.to_owned(), epoch_ms);
        self.revocations.revoke(subject, end, now).await
    }

    /// The longest that a refresh token or access token made now can live, seconds: it asks the
    /// same index.
    pub fn longest_refresh_token(&self) -> u64 {
        let snapshot = self.snapshot();
        let of_clients = snapshot.registry.clients.tally().longest_refresh_token();
        of_clients
            .unwrap_or_default()
            .max(snapshot.settings.refresh_token_lifetime)
            .max(self.longest_access_token())
    }

    /// When the last of everything that was made up to now has expired, Unix seconds: sessions and
    /// refresh tokens among it.
    pub fn end_of_everything(&self) -> u64 {
        let session = self.snapshot().settings.session_absolute_lifetime;
        self.now() + self.longest_refresh_token().max(session) + MARGIN
    }

    /// Ends what a client holds of a user: every grant, and with it every token. The number of
    /// grants.
    ///
    /// # Errors
    /// The store's; then some may be left, and the caller must not answer that none is.
    pub async fn revoke_grants_of(
        &self,
        user_id: &str,
        client_id: &str,
    ) -> Result<usize, StoreError> {
        let now = self.now();
        let mut ended = 0;
        for (id, row) in grants::list(&*self.store, user_id, now).await? {
            if row.client_id == client_id {
                self.revoke_grant(id).await?;
                let gone = Change {
                    first: grants::removal(user_id, &id),
                    then: Vec::new(),
                };
                self.store.commit(gone, now).await?;
                ended += 1;
            }
        }
        Ok(ended)
    }
}
