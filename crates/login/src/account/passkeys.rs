//! The part of `/account` that adds a passkey. The list, and what takes one away, is that of
//! [`super::factors`].

use signet_oauth::params::Params;
use signet_store::StoreError;

use super::{about, answer, factors, overview};
use crate::failure::Failure;
use crate::freshness;
use crate::passkeys::{self, Challenge, relying_party};
use crate::user_passkeys;
use signet_directory::User;
use signet_pages::Notice;
use signet_request::browser_request::{BrowserRequest, LoggedIn};
use signet_request::http::Response;
use signet_request::interaction::Interaction;

const ADDED: &str = "passkey-added";

/// What a browser is asked for that adds one; none where passkeys are not offered.
pub(super) async fn options(
    browser: &BrowserRequest,
    user: &User,
    challenge: &str,
) -> Result<Option<String>, StoreError> {
    let settings = &browser.context.snapshot.settings;
    let Some(party) = relying_party(settings) else {
        return Ok(None);
    };
    let present = user_passkeys::list(browser, user).await?;
    let newcomer = user_passkeys::newcomer(user, party.id(), &present);
    let challenge = Challenge::of(challenge);
    Ok(Some(passkeys::creation_options(
        &party, settings, &challenge, &newcomer,
    )))
}

/// `decision=passkey-add`. A browser that was left open must not be enough to keep an account.
pub(super) async fn add(
    browser: BrowserRequest,
    present: &LoggedIn,
    interaction: &Interaction,
    form: &Params,
) -> Response {
    let Some(fresh) = freshness::of(&browser.context, present) else {
        return factors::ask_fresh(browser, present).await;
    };
    let challenge = interaction.challenge.as_deref();
    let (Some(challenge), Some(_)) = (challenge, form.get("passkey")) else {
        return overview(browser, Some(Notice::Error(user_passkeys::NO_SCRIPT))).await;
    };
    let challenge = Challenge::of(challenge);
    let added = user_passkeys::add(&browser, &fresh, &challenge, interaction.ends_at, form);
    let event = about(&browser, present, "passkey-add");
    let audit = browser.context.realm.audit();
    let outcome = audit.act(event, added, Failure::code).await;
    // The page is made of who is logged in: read the account again.
    match outcome {
        Ok(user) => {
            let mut browser = browser;
            browser.enter(user, present.found.clone());
            answer(browser, Ok(ADDED)).await
        }
        Err(failure) => answer(browser, Err(failure)).await,
    }
}
