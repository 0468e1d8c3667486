//! The link beside a mailed code: it shows the code's page with the code filled in, in the browser
//! that asked for it.
//!
//! Opening it changes nothing and uses nothing up (mail programs and scanners open links); the form
//! behind it is the one that typing the code sends, and passes the same budgets. The page's sealed
//! state waits in a row of the store, named by the code's id. It opens only together with the
//! cookie of the browser that it was sealed for: in any other browser the link says so, and logs
//! nobody in.

use signet_crypto::seal::Purpose;
use signet_encoding::base64url;
use signet_oauth::params::Params;
use signet_store::{Change, Key, Op, StoreError, Table};

use super::next::ACTION;
use super::one_time_code::{self, MailedCodeId};
use signet_realm::budgets::Act;
use signet_request::browser_request::BrowserRequest;
use signet_request::http::{Context, Response};

/// The path, below the issuer.
pub const PATH: &str = "/login-link";
const PURPOSE: Purpose = Purpose::Other("login-link");
/// Longest link value that is opened, in characters.
const MAX_TOKEN: usize = 512;
const DIGITS: usize = 6;

fn key_of(id: &MailedCodeId) -> Key {
    Key::new(
        Table::OneTimeCode,
        [b"page ", id.as_bytes().as_slice()].concat(),
    )
}

/// The link for a code.
///
/// # Errors
/// Sealing.
pub(super) fn url(
    browser: &BrowserRequest,
    code: &one_time_code::NewCode,
) -> Result<String, StoreError> {
    let plain = [code.id.as_bytes().as_slice(), code.digits.as_bytes()].concat();
    let sealed = browser.context.realm.keyring().seal(PURPOSE, &plain);
    let sealed = sealed.map_err(|_| StoreError::Unavailable("sealing".into()))?;
    let token = base64url::encode(&sealed);
    Ok(browser.url(&format!("{PATH}?token={token}")))
}

/// Keeps the page that a code belongs to, until the code expires, unless callers like this one have
/// used up what is kept for them. For a code that was mailed to nobody, too: it costs the same.
///
/// # Errors
/// The store's.
pub(super) async fn keep(
    browser: &BrowserRequest,
    state: &[u8],
    sealed: &str,
) -> Result<(), StoreError> {
    let Some(id) = MailedCodeId::from_slice(state) else {
        return Ok(());
    };
    let (context, now) = (&browser.context, browser.context.now());
    let budgets = &context.realm.budgets;
    let spent = budgets.spend_many(Act::Waiting, browser.caller(), sealed.len(), now);
    if spent.is_err() {
        // The code can be typed all the same.
        return Ok(());
    }
    let put = Op::Put {
        key: key_of(&id),
        value: sealed.as_bytes().to_vec(),
        end: Some(now + context.snapshot.settings.otp_lifetime),
    };
    context
        .realm
        .store
        .commit(Change::new(put), now)
        .await
        .map(drop)
}

/// GET.
pub async fn show(context: Context) -> Response {
    let (browser, params) = match BrowserRequest::of_query(context).await {
        Ok(browser) => browser,
        Err(answer) => return answer,
    };
    let t = browser.face();
    let found = match open(&browser, &params) {
        Some((id, digits)) => match waiting(&browser, &id).await {
            Ok(sealed) => sealed.map(|sealed| (sealed, digits)),
            Err(error) => return browser.unavailable(&error),
        },
        None => None,
    };
    let Some((sealed, digits)) = found else {
        return browser.page(signet_pages::link_ended(&t));
    };
    let form = Params::from_pairs([("interaction", &*sealed)]);
    let interaction = form.ok().and_then(|form| browser.open(&form));
    let Some(interaction) = interaction else {
        return browser.page(signet_pages::link_elsewhere(&t));
    };
    let typed = interaction.pending.as_ref();
    let typed = typed.map_or("", |pending| &*pending.typed);
    let html = signet_pages::link_confirm(&t, ACTION, &sealed, typed, &digits);
    browser.page(html)
}

/// The code that a link has in it.
fn open(browser: &BrowserRequest, params: &Params) -> Option<(MailedCodeId, String)> {
    let token = params
        .get("token")
        .filter(|token| token.len() <= MAX_TOKEN)?;
    let sealed = base64url::decode(token.as_bytes()).ok()?;
    let plain = browser
        .context
        .realm
        .keyring()
        .open(PURPOSE, &sealed)
        .ok()?;
    let (id, digits) = plain.split_at_checked(plain.len().checked_sub(DIGITS)?)?;
    let digits = String::from_utf8(digits.to_vec()).ok()?;
    Some((MailedCodeId::from_slice(id)?, digits))
}

/// The sealed page of a code that still counts.
async fn waiting(
    browser: &BrowserRequest,
    id: &MailedCodeId,
) -> Result<Option<String>, StoreError> {
    let (store, now) = (&browser.context.realm.store, browser.context.now());
    if !one_time_code::counts(&**store, id, now).await? {
        return Ok(None);
    }
    let row = store.get(&key_of(id), now).await?;
    Ok(row.and_then(|row| String::from_utf8(row.value).ok()))
}
