//! Who logs out here is logged out at the provider, too, where its record says so (OpenID Connect
//! RP-Initiated Logout 1.0).
//!
//! The session here has ended before the browser is sent there: a provider that does not answer, or
//! a person who does not come back, leaves nobody logged in here.
use serde::{Deserialize, Serialize};
use signet_crypto::seal::Purpose;
use signet_encoding::base64url;
use signet_oauth::authorize::with_query;

use super::asking;
use super::journey::bound_to;
use signet_directory::CredentialKind;
use signet_federation::upstream::open_id_token;
use signet_federation::upstream_tokens;
use signet_request::browser_request::BrowserRequest;

const RETURN: Purpose = Purpose::Other("provider-logged-out");
/// How long a person may be at the provider to log out, seconds.
const LIFETIME: u64 = 600;
/// The longest URL that a browser is sent to, in bytes: what common servers take.
const MAX_URL: usize = 8000;
/// The longest `state` that is opened, in characters: longer ones are in no URL of ours.
const MAX_STATE: usize = 8000;

/// Where a logout leads when the person is back.
#[derive(Serialize, Deserialize)]
pub struct Return {
    /// The registered redirect URI of the application, with its `state`.
    pub then: Option<String>,
    /// The person, or an ID token of this server, stands for going on to it.
    pub known: bool,
    ends_at: u64,
}

/// The URL that logs the person of this session out at its provider, and leads on from there. To be
/// asked while the session is there, and to be followed when it has ended. None: its provider is
/// not to be notified, or has no such URL.
pub async fn onward(browser: &BrowserRequest, then: Option<&str>, known: bool) -> Option<String> {
    let present = browser.present()?;
    let upstream = present.found.row.upstream.as_ref()?;
    // Whoever took the link off has no more to do with the provider.
    let mut links = present.user.credentials_of(CredentialKind::Provider);
    links.next()?;
    let providers = &browser.context.snapshot.registry.providers;
    let provider = providers.usable(&upstream.provider)?.clone();
    if !provider.logout || provider.issuer != upstream.issuer {
        return None;
    }
    let metadata = match asking(browser, &provider).metadata().await {
        Ok(metadata) => metadata,
        Err(trouble) => {
            tracing::warn!(provider = %provider.name, error = %trouble, "failed to continue a logout at the provider");
            return None;
        }
    };
    let endpoint = metadata.end_session_endpoint?;
    let keyring = browser.context.realm.keyring();
    let back = Return {
        then: then.map(str::to_owned),
        known,
        ends_at: browser.context.now() + LIFETIME,
    };
    // Invariant: a text, a boolean and a number always serialize.
    let plain = serde_json::to_vec(&back).unwrap_or_default();
    let state = keyring.seal_with(RETURN, &bound_to(browser, &provider.name), &plain);
    let mut fields = vec![
        ("client_id", provider.client_id.clone()),
        (
            "post_logout_redirect_uri",
            provider.logged_out_uri(&browser.context.base()),
        ),
        ("state", base64url::encode(&state.ok()?)),
    ];
    let language = browser.language().tag().to_owned();
    fields.push(("ui_locales", language));
    let short = with_query(&endpoint, &fields);
    // Without the hint the provider asks the person.
    let hint = upstream.sealed_id_token.as_deref();
    let hint = hint.and_then(|sealed| open_id_token(&keyring, &provider.issuer, sealed));
    let url = match hint {
        Some(hint) => with_query(&short, &[("id_token_hint", hint.expose().as_str())]),
        None => short.clone(),
    };
    let url = [url, short].into_iter().find(|url| url.len() <= MAX_URL)?;
    // With the session there ends what it gave; one that could not be removed is the provider's to
    // refuse.
    let person = (&*upstream.issuer, &*upstream.subject);
    let (realm, sid) = (&browser.context.realm, upstream.sid.as_deref());
    let gone = upstream_tokens::logged_out(realm, &present.user.id, person, sid).await;
    if let Err(error) = gone {
        tracing::warn!(provider = %provider.name, %error, "failed to remove a provider's refresh token");
    }
    Some(url)
}

/// Somebody who comes back from a logout there. None: they were not sent by this browser's logout
/// at this provider, or too long ago. It may be opened twice: it leads where the logout led anyway.
pub fn came_back(browser: &BrowserRequest, provider: &str, state: &str) -> Option<Return> {
    if state.len() > MAX_STATE {
        return None;
    }
    let sealed = base64url::decode(state.as_bytes()).ok()?;
    let keyring = browser.context.realm.keyring();
    let plain = keyring.open_with(RETURN, &bound_to(browser, provider), &sealed);
    let back: Return = serde_json::from_slice(&plain.ok()?).ok()?;
    (browser.context.now() < back.ends_at).then_some(back)
}
