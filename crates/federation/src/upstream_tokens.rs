//! Refresh tokens of identity providers, kept sealed with the link of their person, and the access
//! tokens that they give.
//!
//! A token is a member of the link's own row ([`CredentialKind::Provider`]): it goes where the link
//! goes, in the same change. A provider replaces a refresh token when it is used, and takes an old
//! one that comes again for stolen (RFC 9700 section 4.14.2): so one exchange at a time uses it, on
//! all nodes together. Whoever wants to writes a claim into the row, under the condition that the
//! row is as it was read; the others wait. What the provider gave in its place is written before
//! the access token is handed out, where the row still has that claim. A claim of a node that died
//! ends by itself.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use signet_crypto::Secret;
use signet_crypto::seal::{Keyring, Purpose};
use signet_directory::{
    Accounts, CredentialKind, CredentialName, StoredCredential, UpstreamLink, User, UserError,
};
use signet_encoding::base64url;
use signet_oauth::people::provider::Provider;
use signet_store::StoreError;
use tokio::time::{sleep, timeout};

use crate::upstream::{Asking, NotRefreshed, Person, Tokens, Trouble, open_refresh_token};
use signet_realm::state::Realm;

const PURPOSE: Purpose = Purpose::Other("provider-refresh-token");
/// How long an exchange for a provider's token has its link's refresh token for itself, seconds: as
/// long as it may take, and as far as the clocks of two nodes may be apart
const CLAIM: u64 = 330;
/// The longest that a provider may take for it.
const MAX_ASKING: Duration = Duration::from_secs(20);
/// The longest that another exchange waits for its turn.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// Between two looks whether it is its turn.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How often a row is written that others keep writing, or a store is asked that fails.
const MAX_TRIES: usize = 8;

/// A link's row, with what is kept with it. What else is in it stays as it is.
#[derive(Serialize, Deserialize)]
struct Linked {
    #[serde(flatten)]
    link: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refresh_token: Option<Kept>,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct Kept {
    /// Whose: no other client of the issuer is sent it.
    provider: String,
    client_id: String,
    /// Sealed for the account and the link, base64url.
    sealed: String,
    /// The session there that it was derived from, where that has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sid: Option<String>,
    /// Unix seconds.
    kept_at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    claim: Option<Claim>,
}

/// An exchange that uses the token now.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct Claim {
    id: String,
    /// Unix seconds.
    until: u64,
}

impl Kept {
    fn is_of(&self, provider: &Provider) -> bool {
        self.provider == provider.name && self.client_id == provider.client_id
    }

    fn is_claimed_by(&self, id: &str) -> bool {
        self.claim.as_ref().is_some_and(|claim| claim.id == id)
    }
}

fn read(credential: &StoredCredential) -> Result<Linked, StoreError> {
    let row = serde_json::from_slice(credential.data.expose());
    row.map_err(|_| StoreError::Corrupt("link to a provider".into()))
}

fn bound_to(user_id: &str, link: &str) -> Vec<u8> {
    [user_id.as_bytes(), b"\0", link.as_bytes()].concat()
}

fn seal(
    keyring: &Keyring,
    user_id: &str,
    link: &str,
    token: &Secret<String>,
) -> Result<String, StoreError> {
    let bound = bound_to(user_id, link);
    let sealed = keyring.seal_with(PURPOSE, &bound, token.expose().as_bytes());
    let sealed = sealed.map_err(|_| StoreError::Unavailable("sealing".to_owned()))?;
    Ok(base64url::encode(&sealed))
}

fn open(keyring: &Keyring, user_id: &str, link: &str, sealed: &str) -> Option<Secret<String>> {
    let sealed = base64url::decode(sealed.as_bytes()).ok()?;
    let open = keyring.open_with(PURPOSE, &bound_to(user_id, link), &sealed);
    String::from_utf8(open.ok()?).ok().map(Secret::new)
}

/// What a change makes of what is kept.
enum To {
    Stays,
    Becomes(Option<Kept>),
}

/// Changes what is kept with a link, under the condition that the row is as it was read. Whether
/// the link is there.
async fn change(
    users: &Accounts,
    user_id: &str,
    link: &str,
    now: u64,
    mut to: impl FnMut(Option<&Kept>) -> Result<To, StoreError>,
) -> Result<bool, UserError> {
    let name = CredentialName::new(CredentialKind::Provider, link);
    for _ in 0..MAX_TRIES {
        let Some(mut credential) = users.credential(user_id, &name, now).await? else {
            return Ok(false);
        };
        let mut row = read(&credential)?;
        match to(row.refresh_token.as_ref())? {
            To::Stays => return Ok(true),
            To::Becomes(kept) => row.refresh_token = kept,
        }
        // Invariant: JSON, strings and numbers always serialize.
        credential.data = Secret::new(serde_json::to_vec(&row).unwrap_or_default());
        if users.rewrite_credential(user_id, &credential, now).await? {
            return Ok(true);
        }
    }
    Err(UserError::Conflict)
}

/// After a login of the link's person: keeps the refresh token that it gave, where the provider's
/// record says so. Where it says so no more, the one of before is removed.
pub async fn arrived(
    realm: &Realm,
    user_id: &str,
    provider: &Provider,
    person: &Person,
) -> Result<(), UserError> {
    let (users, keyring, now) = (&realm.people.users, realm.keyring(), realm.now());
    let link = UpstreamLink::id_for(&provider.issuer, &person.subject);
    let sealed = person.sealed_refresh_token.as_deref();
    let token = sealed
        .and_then(|sealed| open_refresh_token(&keyring, &provider.issuer, &person.subject, sealed));
    if provider.keep_refresh_token && token.is_none() {
        // Some give one at the first login alone: it goes on.
        return Ok(());
    }
    let kept = change(users, user_id, &link, now, |known| {
        Ok(match &token {
            Some(token) if provider.keep_refresh_token => To::Becomes(Some(Kept {
                provider: provider.name.clone(),
                client_id: provider.client_id.clone(),
                sealed: seal(&keyring, user_id, &link, token)?,
                sid: person.sid.clone(),
                kept_at: now,
                claim: None,
            })),
            Some(_) | None => match known {
                Some(known) if known.provider == provider.name => To::Becomes(None),
                Some(_) | None => To::Stays,
            },
        })
    });
    match kept.await {
        Ok(_) => Ok(()),
        // The login goes on, and the next one keeps another.
        Err(UserError::Conflict) => {
            tracing::warn!(provider = %provider.name, "failed to store a provider's refresh token: its link keeps changing");
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// After a logout at the provider: removes the refresh token of the session that ended there, or of
/// whichever where the session has no name.
pub async fn logged_out(
    realm: &Realm,
    user_id: &str,
    (issuer, subject): (&str, &str),
    sid: Option<&str>,
) -> Result<(), UserError> {
    let (users, now) = (&realm.people.users, realm.now());
    let link = UpstreamLink::id_for(issuer, subject);
    let ended = |kept: &Kept| match (sid, kept.sid.as_deref()) {
        (Some(ended), Some(own)) => ended == own,
        (None, _) | (_, None) => true,
    };
    let gone = change(users, user_id, &link, now, |known| {
        Ok(match known {
            Some(kept) if ended(kept) => To::Becomes(None),
            Some(_) | None => To::Stays,
        })
    });
    gone.await.map(|_| ())
}

/// Seals all refresh tokens under the ring's current key; those of providers that are gone, or that
/// keep none any more, are removed. How many were changed.
///
/// # Errors
/// The store's; [`UserError::Conflict`] where one is written all the time.
pub async fn rewrap(realm: &Realm, ring: &Keyring) -> Result<usize, UserError> {
    const PAGE: usize = 500;
    let (users, now) = (&realm.people.users, realm.now());
    let snapshot = realm.snapshot();
    let providers = &snapshot.registry.providers;
    let is_kept = |kept: &Kept| {
        let provider = providers.get(&kept.provider);
        provider.is_some_and(|provider| provider.keep_refresh_token && kept.is_of(provider))
    };
    let is_current = |kept: &Kept| {
        let sealed = base64url::decode(kept.sealed.as_bytes()).ok();
        sealed.is_some_and(|sealed| Keyring::id_of(&sealed) == Some(ring.current_id()))
    };
    let (mut count, mut after) = (0, None);
    loop {
        let page = users.credentials_page(CredentialKind::Provider, after, PAGE, now);
        let (credentials, next) = page.await?;
        for (user_id, credential) in credentials {
            let stays = read(&credential)?
                .refresh_token
                .is_none_or(|kept| is_kept(&kept) && is_current(&kept));
            if stays {
                continue;
            }
            let link = credential.name.id;
            change(users, &user_id, &link, now, |known| {
                let Some(kept) = known.filter(|kept| !is_kept(kept) || !is_current(kept)) else {
                    return Ok(To::Stays);
                };
                // One that does not open was lost with a key long ago.
                let token = open(ring, &user_id, &link, &kept.sealed);
                let Some(token) = token.filter(|_| is_kept(kept)) else {
                    return Ok(To::Becomes(None));
                };
                Ok(To::Becomes(Some(Kept {
                    sealed: seal(ring, &user_id, &link, &token)?,
                    ..kept.clone()
                })))
            })
            .await?;
            count += 1;
        }
        match next {
            Some(next) => after = Some(next),
            None => return Ok(count),
        }
    }
}

/// Why there is no access token.
#[derive(Debug, thiserror::Error)]
pub enum NotExchanged {
    /// None is kept of this person, or no more.
    #[error("no refresh token is kept of the person at this provider")]
    NotKept,
    /// The provider says that it is good no more; it is removed.
    #[error("the provider takes the person's refresh token no more")]
    Ended,
    /// The provider does not give that scope.
    #[error("the provider does not give this scope")]
    Scope,
    /// Other exchanges were before it for too long.
    #[error("other exchanges of this person take too long")]
    Busy,
    /// The provider may give one later.
    #[error("not now: {0}")]
    Later(Trouble),
    /// Somebody has to mend something.
    #[error(transparent)]
    Trouble(Trouble),
    /// The store.
    #[error(transparent)]
    Store(#[from] UserError),
}

impl From<NotRefreshed> for NotExchanged {
    fn from(error: NotRefreshed) -> NotExchanged {
        match error {
            NotRefreshed::Ended => NotExchanged::Ended,
            NotRefreshed::Scope => NotExchanged::Scope,
            NotRefreshed::Later(trouble) => NotExchanged::Later(trouble),
            NotRefreshed::Trouble(trouble) => NotExchanged::Trouble(trouble),
        }
    }
}

impl From<StoreError> for NotExchanged {
    fn from(error: StoreError) -> NotExchanged {
        NotExchanged::Store(error.into())
    }
}

/// One exchange.
pub struct Exchange {
    /// The realm.
    pub realm: Arc<Realm>,
    /// The provider.
    pub provider: Arc<Provider>,
    /// For whom it is asked.
    pub peer: IpAddr,
    /// What is asked of the provider; none: all.
    pub scope: Option<String>,
}

impl Exchange {
    /// A fresh access token of the person at the provider. To be run to its end: a caller that goes
    /// away meanwhile would take the next refresh token with it.
    ///
    /// # Errors
    /// See [`NotExchanged`].
    pub async fn run(&self, user: &User) -> Result<Tokens, NotExchanged> {
        let link = self.link(user).await?;
        let realm = &self.realm;
        let asking = Asking {
            realm,
            provider: &self.provider,
            caller: self.peer.into(),
            now: realm.now(),
        };
        let metadata = asking.metadata().await.map_err(NotRefreshed::from)?;
        let (claim, token) = self.claim(&user.id, &link).await?;
        let asked = asking.refresh(&metadata, &token, self.scope.as_deref());
        let slow = || Err(NotRefreshed::Later(Trouble::Answer("it took too long")));
        let given = timeout(MAX_ASKING, asked).await.unwrap_or_else(|_| slow());
        let is_there = self.settle(&user.id, &link, &claim, &given).await?;
        match given {
            Ok(tokens) if is_there => Ok(tokens),
            // The link was taken off, or the person logged out there, while it was asked.
            Ok(_) => Err(NotExchanged::NotKept),
            Err(error) => Err(error.into()),
        }
    }

    /// The link whose refresh token is used: of several the one that was kept last.
    async fn link(&self, user: &User) -> Result<String, NotExchanged> {
        let (users, now) = (&self.realm.people.users, self.realm.now());
        let mut found: Option<(u64, String)> = None;
        for id in user.credentials_of(CredentialKind::Provider) {
            let name = CredentialName::new(CredentialKind::Provider, id);
            let Some(credential) = users.credential(&user.id, &name, now).await? else {
                continue;
            };
            let row = read(&credential)?;
            let issuer = row.link.get("issuer").and_then(Value::as_str);
            let theirs = issuer == Some(&*self.provider.issuer);
            let kept = row
                .refresh_token
                .filter(|kept| theirs && kept.is_of(&self.provider));
            if let Some(kept) = kept
                && found.as_ref().is_none_or(|(at, _)| *at < kept.kept_at)
            {
                found = Some((kept.kept_at, id.to_owned()));
            }
        }
        found.map(|(_, id)| id).ok_or(NotExchanged::NotKept)
    }

    /// Waits for the turn, and takes it: the claim's id, and the token.
    async fn claim(
        &self,
        user_id: &str,
        link: &str,
    ) -> Result<(String, Secret<String>), NotExchanged> {
        let users = &self.realm.people.users;
        let name = CredentialName::new(CredentialKind::Provider, link);
        let id = base64url::encode(&signet_crypto::random::bytes::<16>());
        let begun = Instant::now();
        loop {
            let now = self.realm.now();
            let credential = users.credential(user_id, &name, now).await?;
            let mut credential = credential.ok_or(NotExchanged::NotKept)?;
            let mut row = read(&credential)?;
            let kept = row.refresh_token.as_mut();
            let kept = kept.filter(|kept| kept.is_of(&self.provider));
            let kept = kept.ok_or(NotExchanged::NotKept)?;
            if kept.claim.as_ref().is_none_or(|claim| claim.until <= now) {
                let keyring = self.realm.keyring();
                // One that does not open was lost with its key.
                let token = open(&keyring, user_id, link, &kept.sealed);
                let token = token.ok_or(NotExchanged::NotKept)?;
                kept.claim = Some(Claim {
                    id: id.clone(),
                    until: now.saturating_add(CLAIM),
                });
                // Invariant: JSON, strings and numbers always serialize.
                credential.data = Secret::new(serde_json::to_vec(&row).unwrap_or_default());
                if users.rewrite_credential(user_id, &credential, now).await? {
                    return Ok((id, token));
                }
            }
            if begun.elapsed() >= MAX_WAIT {
                return Err(NotExchanged::Busy);
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// Writes the outcome of the token, and ends the claim. Whether one is kept still: another one,
    /// of a login meanwhile, stays as it is.
    async fn settle(
        &self,
        user_id: &str,
        link: &str,
        claim: &str,
        given: &Result<Tokens, NotRefreshed>,
    ) -> Result<bool, NotExchanged> {
        let users = &self.realm.people.users;
        for attempt in 1.. {
            let keyring = self.realm.keyring();
            let mut there = false;
            let settled = change(users, user_id, link, self.realm.now(), |known| {
                there = known.is_some();
                let Some(kept) = known.filter(|kept| kept.is_claimed_by(claim)) else {
                    return Ok(To::Stays);
                };
                let sealed = match given {
                    Err(NotRefreshed::Ended) => return Ok(To::Becomes(None)),
                    Ok(tokens) => match &tokens.refresh_token {
                        Some(token) => Some(seal(&keyring, user_id, link, token)?),
                        None => None,
                    },
                    Err(
                        NotRefreshed::Scope | NotRefreshed::Later(_) | NotRefreshed::Trouble(_),
                    ) => None,
                };
                Ok(To::Becomes(Some(Kept {
                    // RFC 6749 section 6: without a new one the old one goes on.
                    sealed: sealed.unwrap_or_else(|| kept.sealed.clone()),
                    claim: None,
                    ..kept.clone()
                })))
            });
            match settled.await {
                Ok(is_linked) => return Ok(is_linked && there),
                // The old one may be good no more: what was given is worth some patience.
                Err(error) if attempt < MAX_TRIES => {
                    tracing::warn!(provider = %self.provider.name, %error, "failed to store a provider's refresh token; retrying");
                    sleep(LOOK_EVERY).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(false)
    }
}
