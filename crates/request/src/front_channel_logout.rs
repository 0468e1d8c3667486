//! Applications that are notified of a logout by the person's browser: OpenID Connect Front-Channel
//! Logout 1.0.
//!
//! The page that ends a logout loads a page of each application that took part in the session. It
//! is only as good as the browser: where it keeps cookies from frames of other sites, and where the
//! session ends elsewhere, nobody is notified. The back channel does not have that fault.

use signet_directory::logout_notice;
use signet_oauth::authorize::with_query;
use signet_oauth::uri::Uri;
use signet_store::StoreError;

use crate::browser_request::BrowserRequest;
use signet_pages::LogoutFrame;
use signet_pages::words::name_of;

/// Applications that one page tells at most.
pub const MAX_LOGOUT_FRAMES: usize = 32;
/// Clients of a session that are looked at; most have no page.
const LOOKED_AT: usize = 256;

/// What the page loads that ends this browser's session; to be asked before the session ends, which
/// forgets who took part in it.
///
/// # Errors
/// The store's.
pub async fn frames(browser: &BrowserRequest) -> Result<Vec<LogoutFrame>, StoreError> {
    let Some(present) = browser.present() else {
        return Ok(Vec::new());
    };
    let (sid, snapshot) = (&present.found.row.sid, &browser.context.snapshot);
    let store = &*browser.context.realm.store;
    let now = browser.context.now();
    let ids = logout_notice::clients(store, sid, LOOKED_AT, now).await?;
    let issuer = &*snapshot.settings.issuer;
    let frames = ids.iter().filter_map(|id| {
        let client = snapshot.registry.clients.get(id)?;
        let url = client.frontchannel_logout_uri.as_deref()?;
        let origin = Uri::parse(url)?.origin()?;
        // What would end a directive of the policy, or begin another source.
        if !origin
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-._:/[]".contains(&b))
        {
            return None;
        }
        Some(LogoutFrame {
            // Section 2: both or none, whether the client requires them or not.
            url: with_query(url, &[("iss", issuer), ("sid", sid)]),
            origin,
            name: name_of(client).to_owned(),
        })
    });
    Ok(frames.take(MAX_LOGOUT_FRAMES).collect())
}
