//! ID tokens and logout tokens of providers, under the verifier that resource servers have.
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use signet_jose::jwk::JwkSet;
use signet_verify::{
    Issuer, KeySource, Policy, Presented, Refusal, ReplayGuard, Verified, Verifier,
};

use super::{Asking, Metadata, Trouble};
use signet_fetched::providers::Keys;

/// How long an identity provider's keys are used, seconds
pub(super) const KEYS_FRESH: u64 = 300;
/// Least seconds between two fetches that tokens with unknown keys cause.
const PAUSE: u64 = 10;
/// Most sets of keys that are kept.
const MAX_KEPT: usize = 1000;

const ID_TOKEN: &str = "id_token";
const LOGOUT_TOKEN: &str = "logout_token";

/// What an ID token has to answer.
pub(super) struct Asked<'a> {
    /// The nonce of the request.
    pub(super) nonce: &'a str,
    /// The access token that came with it.
    pub(super) access_token: &'a str,
}

impl Asking<'_> {
    /// An ID token that answers a request of ours: signature, `iss`, `aud`, `azp`, `exp`, `nonce`,
    /// `at_hash` (OpenID Connect Core section 3.1.3.7).
    ///
    /// # Errors
    /// See [`Trouble`].
    pub(super) async fn id_token(
        &self,
        metadata: &Metadata,
        token: &str,
        asked: &Asked<'_>,
    ) -> Result<Verified, Trouble> {
        let presented = Presented::token(token)
            .nonce(asked.nonce)
            .access_token(asked.access_token);
        self.verified(metadata, ID_TOKEN, &presented).await
    }

    /// A logout token (OpenID Connect Back-Channel Logout 1.0 section 2.6). Whether it came before
    /// is for the caller to find out in the store: this verifier is one node's.
    ///
    /// # Errors
    /// See [`Trouble`].
    pub async fn logout_token(
        &self,
        metadata: &Metadata,
        token: &str,
    ) -> Result<Verified, Trouble> {
        let presented = Presented::token(token);
        self.verified(metadata, LOGOUT_TOKEN, &presented).await
    }

    async fn verified(
        &self,
        metadata: &Metadata,
        policy: &str,
        presented: &Presented<'_>,
    ) -> Result<Verified, Trouble> {
        let keys = self.keys(metadata, false).await?;
        let verify = |keys: &Keys| {
            let verifier = keys.verifier.as_ref().ok_or(Refusal::UnknownKey)?;
            let policy = verifier.policy(policy).ok_or(Refusal::NoToken)?;
            verifier.verify_under(policy, presented, self.now)
        };
        match verify(&keys) {
            // It may have begun to sign with a new key a moment ago.
            Err(Refusal::UnknownKey) => {
                let keys = self.keys(metadata, true).await?;
                verify(&keys).map_err(Trouble::Token)
            }
            done => done.map_err(Trouble::Token),
        }
    }

    async fn keys(&self, metadata: &Metadata, look_again: bool) -> Result<Arc<Keys>, Trouble> {
        let (provider, now) = (self.provider, self.now);
        // Issuer and client are both in the verifier. No line end is in either.
        let name = format!("{}\n{}", provider.issuer, provider.client_id);
        let kept = self.realm.upstream.keys.pin().get(&name).cloned();
        let kept = kept.filter(|kept| kept.may_be_used(now));
        if let Some(kept) = &kept {
            let is_fresh = now.saturating_sub(kept.fetched_at) < KEYS_FRESH;
            let tried = now.saturating_sub(kept.tried_at.load(Relaxed)) < PAUSE;
            if (is_fresh && !look_again) || tried {
                return Ok(Arc::clone(kept));
            }
            kept.tried_at.store(now, Relaxed);
        }
        match (self.fetch_keys(metadata, kept.as_deref()).await, kept) {
            (Ok(keys), _) => {
                let keys = Arc::new(keys);
                let all = self.realm.upstream.keys.pin();
                if all.len() >= MAX_KEPT {
                    all.clear();
                }
                all.insert(name, Arc::clone(&keys));
                Ok(keys)
            }
            (Err(error), Some(kept)) => {
                if error.arrived() {
                    // The first such answer counts: the next ones do not put the end off.
                    let unreadable = &kept.unreadable_since;
                    let _ = unreadable.compare_exchange(0, now, Relaxed, Relaxed);
                }
                tracing::warn!(%error, provider = %provider.name, "failed to fetch provider keys; using the previous keys");
                Ok(kept)
            }
            (Err(error), None) => Err(error),
        }
    }

    async fn fetch_keys(
        &self,
        metadata: &Metadata,
        before: Option<&Keys>,
    ) -> Result<Keys, Trouble> {
        let url = metadata.jwks_uri.as_deref();
        let url = url.ok_or(Trouble::Metadata("it names no jwks_uri"))?;
        let body = self
            .get(url, "application/jwk-set+json, application/json")
            .await?;
        let published = JwkSet::parse_published(&body);
        let published = published.map_err(|_| Trouble::Metadata("its keys cannot be read"))?;
        let (issuer, client_id) = (&self.provider.issuer, &self.provider.client_id);
        let guard = match before.and_then(|before| before.verifier.as_ref()) {
            Some(before) => Arc::clone(before.replay_guard()),
            None => Arc::new(ReplayGuard::new(GUARD_BYTES)),
        };
        let built = Verifier::builder()
            .issuer(Issuer::new(
                issuer.clone(),
                KeySource::Memory(published.set),
            ))
            .policy(Policy::id_token(client_id).named(ID_TOKEN))
            .policy(
                Policy::logout_token(client_id)
                    .named(LOGOUT_TOKEN)
                    // Section 2.4 recommends the type; older providers send none.
                    .types(&[Some("logout+jwt"), Some("JWT"), None])
                    .once(false),
            )
            .cache(0, 0)
            .replay_guard(guard)
            .build();
        Ok(Keys {
            // A set without a key that could be used withdraws those before it.
            verifier: built.ok(),
            fetched_at: self.now,
            tried_at: AtomicU64::new(self.now),
            unreadable_since: AtomicU64::new(0),
        })
    }
}

/// Nothing is remembered in it: single use is the store's.
const GUARD_BYTES: usize = 4096;
