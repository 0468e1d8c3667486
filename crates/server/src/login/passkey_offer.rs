//! A passkey for the next time: offered after a login by password, to a browser that said it can.

use signet_audit::Action;
use signet_directory::{CredentialKind, User};
use signet_oauth::params::Params;
use signet_store::StoreError;

use super::Failure;
use super::method::Answer;
use super::offer::{Accepted, Offer, OfferPage};
use super::passkey;
use crate::browser_request::BrowserRequest;
use crate::page::{self, Html, PasskeyOffer};
use crate::passkeys::{self, Challenge, relying_party};
use crate::user_passkeys;

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

/// The field is the script's own: a browser without it could not take the offer up.
fn applies(visit: &BrowserRequest, user: &User, form: &Params) -> bool {
    form.get("passkey_capable").is_some()
        && form.get("password").is_some()
        && relying_party(&visit.context.snapshot.settings).is_some()
        && !user.has(CredentialKind::Passkey)
}

fn page(page: &OfferPage<'_>) -> Html {
    let settings = &page.visit.context.snapshot.settings;
    let asked = relying_party(settings).zip(Challenge::from_slice(page.state));
    let options = asked.map(|(party, challenge)| {
        let newcomer = user_passkeys::newcomer(page.user, party.id(), &[]);
        passkeys::creation_options(&party, settings, &challenge, &newcomer)
    });
    page::passkey_offer(
        &page.visit.face(),
        &PasskeyOffer {
            action: page.action,
            interaction: page.interaction,
            options: options.as_deref().unwrap_or(""),
            notice: page.notice.clone(),
        },
    )
}

fn boxed<'a>(
    visit: &'a BrowserRequest,
    user: &'a User,
    state: &'a [u8],
    form: &'a Params,
) -> Answer<'a, Accepted> {
    Box::pin(accept(visit, user, state, form))
}

async fn accept(
    visit: &BrowserRequest,
    user: &User,
    state: &[u8],
    form: &Params,
) -> Result<Accepted, StoreError> {
    if !passkey::is_answer(form) {
        return Ok(Accepted::Again(user_passkeys::NO_SCRIPT));
    }
    let Some(challenge) = Challenge::from_slice(state) else {
        return Ok(Accepted::Done);
    };
    let added = user_passkeys::add(visit, user, &challenge, form);
    let event = visit.context.event(Action::ACCOUNT).operation(NAME);
    let event = event.subject(&user.id);
    let audit = visit.context.realm.audit();
    match audit.act(event, added, Failure::code).await {
        Ok(_) => Ok(Accepted::Done),
        Err(Failure::Store(error)) => Err(error),
        Err(Failure::Wrong(text, _) | Failure::Expired(text) | Failure::Invalid(text)) => {
            Ok(Accepted::Again(text))
        }
        Err(Failure::LoginRequired | Failure::Later(..)) => Ok(Accepted::Done),
    }
}
