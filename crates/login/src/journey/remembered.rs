//! A browser that is not asked for a second factor for a while, because its person said so when
//! they showed one in it.
//!
//! The browser shows its device cookie, which is sealed; a row among the account's credentials,
//! named by a hash of the device's id, says that it is remembered and until when. So it ends for
//! all nodes at once when the person or an administrator takes the row away. It also ends with a
//! change of the password and with any change of the account's second factors.

use signet_directory::{CredentialKind, CredentialName, StoredCredential, User};
use signet_oauth::authorize::acr;
use signet_store::StoreError;

use signet_directory::session;
use signet_request::browser_request::BrowserRequest;

/// What it is called in a session's methods.
pub(crate) const SHOWS: &str = acr::REMEMBERED_BROWSER;
/// For how long a browser is remembered, in seconds.
pub const LIFETIME: u64 = 30 * 86_400;
/// Browsers that one account has remembered. The one that was used least lately makes room.
pub const MAX_BROWSERS: usize = 8;

/// The row of this request's browser, if the account has logged in from it with today's password.
fn row_name(browser: &BrowserRequest, user: &User) -> Option<CredentialName> {
    let device = browser.device()?;
    device.known(user)?;
    Some(CredentialName::new(
        CredentialKind::RememberedBrowser,
        device.row_id(),
    ))
}

/// Whether this browser is remembered for the account.
pub(super) async fn is_remembered(
    browser: &BrowserRequest,
    user: &User,
) -> Result<bool, StoreError> {
    let name = row_name(browser, user).filter(|name| user.credentials().contains(name));
    let Some(name) = name else {
        return Ok(false);
    };
    let (users, now) = (&browser.context.realm.people.users, browser.context.now());
    let Some(mut row) = users.credential(&user.id, &name, now).await? else {
        return Ok(false);
    };
    if row.expires_at.is_none_or(|end| now >= end) {
        return Ok(false);
    }
    row.used_at = Some(now);
    // Refused: it was taken away, or another login of this browser has just said the same.
    users.rewrite_credential(&user.id, &row, now).await?;
    let row = users.credential(&user.id, &name, now).await?;
    Ok(row.is_some())
}

/// Remembers the browser of whoever has just logged in.
pub(super) async fn remember(browser: &BrowserRequest) -> Result<(), StoreError> {
    let Some(present) = browser.present() else {
        return Ok(());
    };
    let user = &present.user;
    let Some(name) = row_name(browser, user) else {
        return Ok(());
    };
    let (users, now) = (&browser.context.realm.people.users, browser.context.now());
    let label = session::browser_name(&present.found.row.user_agent);
    let mut row = StoredCredential::new(name.clone(), &label, Vec::new(), now);
    row.used_at = Some(now);
    row.expires_at = Some(now + LIFETIME);
    let mut others = users.credentials(&user.id, now).await?;
    others.retain(|one| one.name.kind == CredentialKind::RememberedBrowser && one.name != name);
    let ended = |one: &StoredCredential| one.expires_at.is_none_or(|end| now >= end);
    others.sort_by_key(|one| (!ended(one), one.used_at));
    let live = others.iter().filter(|one| !ended(one)).count();
    let too_many = (live + 1).saturating_sub(MAX_BROWSERS);
    let gone: Vec<CredentialName> = others
        .into_iter()
        .enumerate()
        .filter(|(at, one)| ended(one) || *at < too_many)
        .map(|(_, one)| one.name)
        .collect();
    users
        .change(&user.id, now, |draft| {
            for name in &gone {
                draft.remove_credential(name);
            }
            draft.put_credential(&row);
        })
        .await?;
    Ok(())
}
