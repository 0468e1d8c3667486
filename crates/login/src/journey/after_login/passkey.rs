//! A passkey for the next time: offered after a login by password, to a browser that said it can.

use signet_audit::Action;
use signet_directory::{CredentialKind, User};
use signet_oauth::params::Params;
use signet_store::StoreError;

use super::{Accepted, Offer, OfferPage, Taken};
use crate::failure::Failure;
use crate::freshness;
use crate::journey::method::Answer;
use crate::journey::passkey;
use crate::passkeys::{self, Challenge, relying_party};
use crate::user_passkeys;
use signet_pages::{Html, PasskeyOffer};
use signet_request::browser_request::BrowserRequest;

/// The offer's name.
const NAME: &str = "passkey-add";

/// See the module.
pub(super) const OFFER: Offer = Offer {
    name: NAME,
    applies,
    prepare: |_, _| Box::pin(async { Ok(Challenge::new().as_bytes().to_vec()) }),
    page,
    accept: boxed,
};

/// The field is the script's own: a browser without it could not take the offer up. Nor could a
/// login that has not shown everything that the account has, in a browser that is remembered, say.
fn applies(browser: &BrowserRequest, user: &User, form: &Params) -> bool {
    form.get("passkey_capable").is_some()
        && form.get("password").is_some()
        && relying_party(&browser.context.snapshot.settings).is_some()
        && !user.has(CredentialKind::Passkey)
        && browser
            .present()
            .is_some_and(|present| freshness::of(&browser.context, present).is_some())
}

fn page(page: &OfferPage<'_>) -> Html {
    let settings = &page.browser.context.snapshot.settings;
    let asked = relying_party(settings).zip(Challenge::from_slice(page.state));
    let options = asked.map(|(party, challenge)| {
        let newcomer = user_passkeys::newcomer(page.user, party.id(), &[]);
        passkeys::creation_options(&party, settings, &challenge, &newcomer)
    });
    signet_pages::passkey_offer(
        &page.browser.face(),
        &PasskeyOffer {
            action: page.action,
            interaction: page.interaction,
            options: options.as_deref().unwrap_or(""),
            notice: page.notice.clone(),
        },
    )
}

fn boxed<'a>(taken: &'a Taken<'a>) -> Answer<'a, Accepted> {
    Box::pin(accept(taken))
}

async fn accept(taken: &Taken<'_>) -> Result<Accepted, StoreError> {
    let (browser, form) = (taken.browser, taken.form);
    // The page was left open for too long: an offer stands in nobody's way.
    let Some(fresh) = freshness::of(&browser.context, taken.present) else {
        return Ok(Accepted::Done);
    };
    if !passkey::is_answer(form) {
        return Ok(Accepted::Again(user_passkeys::NO_SCRIPT));
    }
    let Some(challenge) = Challenge::from_slice(taken.state) else {
        return Ok(Accepted::Done);
    };
    let added = user_passkeys::add(browser, &fresh, &challenge, taken.ends_at, form);
    let event = browser.context.event(Action::ACCOUNT).operation(NAME);
    let event = event.subject(&fresh.user().id);
    let audit = browser.context.realm.audit();
    match audit.act(event, added, Failure::code).await {
        Ok(_) => Ok(Accepted::Done),
        Err(Failure::Store(error)) => Err(error),
        Err(Failure::Wrong(text, _) | Failure::Expired(text) | Failure::Invalid(text)) => {
            Ok(Accepted::Again(text))
        }
        Err(Failure::LoginRequired | Failure::Later(..)) => Ok(Accepted::Done),
    }
}
