//! What a provider says of itself (OpenID Connect Discovery 1.0, RFC 8414), kept for a while.
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use signet_oauth::people::provider::Protocol;

use super::{Asking, Trouble};
use signet_fetched::providers::{KeptMetadata as Kept, Metadata};

/// How long an identity provider's metadata is used, seconds
pub(super) const METADATA_FRESH: u64 = 3600;
/// How long it is used where it cannot be fetched again, seconds
const STALE: u64 = 24 * 3600;
/// Least seconds between two attempts that failed.
const PAUSE: u64 = 10;
/// Most providers whose metadata is kept: more than a realm has.
const MAX_KEPT: usize = 1000;

impl Asking<'_> {
    /// The provider's metadata.
    ///
    /// # Errors
    /// See [`Trouble`].
    pub async fn metadata(&self) -> Result<Metadata, Trouble> {
        let provider = self.provider;
        let mut metadata = match provider.protocol {
            Protocol::Oauth2 | Protocol::Hook | Protocol::Ldap => Metadata::default(),
            Protocol::Openid => self.discovered().await?,
        };
        if let Some(url) = &provider.authorization_endpoint {
            metadata.authorization_endpoint.clone_from(url);
        }
        if let Some(url) = &provider.token_endpoint {
            metadata.token_endpoint.clone_from(url);
        }
        if provider.userinfo_endpoint.is_some() {
            metadata
                .userinfo_endpoint
                .clone_from(&provider.userinfo_endpoint);
        }
        // A scheme that runs something in the browser must never be redirected to.
        let web = |url: &str| url.starts_with("https://") || url.starts_with("http://");
        if !web(&metadata.authorization_endpoint) || !web(&metadata.token_endpoint) {
            return Err(Trouble::Metadata(
                "it names no authorization or token endpoint",
            ));
        }
        if metadata
            .end_session_endpoint
            .as_deref()
            .is_some_and(|url| !web(url))
        {
            return Err(Trouble::Metadata(
                "its end_session_endpoint is no web address",
            ));
        }
        Ok(metadata)
    }

    async fn discovered(&self) -> Result<Metadata, Trouble> {
        let (issuer, now) = (&self.provider.issuer, self.now);
        let kept = self.realm.upstream.metadata.pin().get(issuer).cloned();
        let Some(kept) = kept.filter(|kept| now.saturating_sub(kept.fetched_at) < STALE) else {
            return self.fetch_metadata().await;
        };
        let is_fresh = now.saturating_sub(kept.fetched_at) < METADATA_FRESH;
        let tried = kept.tried_at.load(Relaxed);
        if is_fresh || now.saturating_sub(tried) < PAUSE {
            return Ok(kept.metadata.clone());
        }
        kept.tried_at.store(now, Relaxed);
        match self.fetch_metadata().await {
            Ok(metadata) => Ok(metadata),
            Err(error) => {
                tracing::warn!(%error, provider = %self.provider.name, "failed to fetch provider metadata; using the previous metadata");
                Ok(kept.metadata.clone())
            }
        }
    }

    async fn fetch_metadata(&self) -> Result<Metadata, Trouble> {
        let issuer = &self.provider.issuer;
        let url = format!(
            "{}/.well-known/openid-configuration",
            issuer.trim_end_matches('/')
        );
        let body = self.get(&url, "application/json").await?;
        let metadata: Metadata =
            serde_json::from_slice(&body).map_err(|_| Trouble::Metadata("it cannot be read"))?;
        // OpenID Connect Discovery section 4.3: another issuer's metadata is not this one's.
        if metadata.issuer != *issuer {
            return Err(Trouble::Metadata("it is the metadata of another issuer"));
        }
        let kept = Kept {
            metadata: metadata.clone(),
            fetched_at: self.now,
            tried_at: AtomicU64::new(self.now),
        };
        let all = self.realm.upstream.metadata.pin();
        if all.len() >= MAX_KEPT {
            all.clear();
        }
        all.insert(issuer.clone(), Arc::new(kept));
        Ok(metadata)
    }
}
