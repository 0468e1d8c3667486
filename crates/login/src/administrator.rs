//! The login of an administrator: two factors that are shown now, whatever the realm demands of
//! others. Whoever has none sets one up on the way, as everywhere that requires a class.
//!
//! The first administrator is made in the browser ([`begin`]): the account is there, its session
//! begins with the password that was just chosen, and a passkey is offered before anything else.

use signet_audit::Action;
use signet_directory::session::Shown;
use signet_directory::{CredentialKind, User};
use signet_oauth::authorize::acr;
use signet_pages::{Notice, PasskeyOffer};
use signet_request::access::{self, Entrance, Wants};
use signet_request::browser_request::BrowserRequest;
use signet_request::http::{Context, Response};
use signet_request::interaction::{Goal, Interaction, Page, Pending};

use crate::failure::Failure;
use crate::passkeys::{self, Challenge, relying_party};
use crate::{freshness, journey, user_passkeys};

/// The page that comes behind everything here.
const CONSOLE: &str = "/console";
/// Where the form of the passkey goes, below the issuer.
pub const PASSKEY: &str = "/console/first/passkey";
/// Names the state of the page that offers a passkey.
const OFFER: &str = "first-passkey";

/// Asks for two factors, and leads to a page of the console: `path` is its path and query below the
/// issuer. Only what a session that has just begun lacks is asked for; else the whole login.
pub async fn ask(browser: BrowserRequest, path: String) -> Response {
    let mut interaction = browser.interaction(Goal::Console(path));
    // A remembered browser shows nothing.
    interaction.strict = true;
    interaction.required = vec![acr::TWO_FACTORS.to_owned()];
    let just_begun = browser
        .present()
        .is_some_and(|present| freshness::has_just_logged_in(&browser.context, present));
    if just_begun {
        interaction.step_up = true;
        return journey::ask_further(browser, interaction).await;
    }
    journey::show(browser, interaction, None)
}

/// Begins the session of somebody whose password is known to be theirs, and offers a passkey.
/// Where more than a password is demanded of a login, the login itself is next.
pub async fn begin(mut browser: BrowserRequest, user: User) -> Response {
    const SHOWN: &str = "password";
    let wants = Wants {
        shown: Some(&[SHOWN]),
        ..Wants::default()
    };
    let may = access::ask(&browser.context, Entrance::Login, &user, &wants).is_ok();
    if may {
        let shown = [Shown::new(SHOWN, browser.context.now())];
        if let Err(error) = browser.log_in(user.clone(), &shown, None).await {
            return browser.unavailable(&error);
        }
    }
    let is_offered = may
        && relying_party(&browser.context.snapshot.settings).is_some()
        && !user.has(CredentialKind::Passkey);
    match is_offered {
        true => offer(browser, &user, None),
        false => to_console(browser),
    }
}

fn to_console(browser: BrowserRequest) -> Response {
    let url = browser.url(CONSOLE);
    browser.redirect(&url)
}

/// The page that offers a passkey.
fn offer(browser: BrowserRequest, user: &User, notice: Option<Notice>) -> Response {
    let settings = &browser.context.snapshot.settings;
    let (Some(party), Some(present)) = (relying_party(settings), browser.present()) else {
        return to_console(browser);
    };
    let challenge = Challenge::new();
    let mut interaction = browser.interaction(Goal::Console(CONSOLE.to_owned()));
    interaction.page = Page::AccountStep;
    interaction.shown_to = Some(present.found.row.sid.clone());
    interaction.pending = Some(Pending {
        method: OFFER.to_owned(),
        typed: String::new(),
        state: challenge.as_bytes().to_vec(),
    });
    let newcomer = user_passkeys::newcomer(user, party.id(), &[]);
    let options = passkeys::creation_options(&party, settings, &challenge, &newcomer);
    let face = browser.face();
    let html = signet_pages::passkey_offer(
        &face,
        &PasskeyOffer {
            action: &format!("{}{PASSKEY}", face.base),
            interaction: &browser.seal(&interaction),
            options: &options,
            notice,
        },
    );
    browser.page(html)
}

/// POST: the passkey, or not now.
pub async fn submit(context: Context) -> Response {
    let (browser, form, interaction) = match BrowserRequest::of_form(context).await {
        Ok(found) => found,
        Err(answer) => return answer,
    };
    let Some(present) = browser.present().cloned() else {
        return to_console(browser);
    };
    let challenge = asked(&interaction).filter(|_| interaction.was_shown_to(&present.found.row));
    let fresh = freshness::of(&browser.context, &present);
    let (Some(challenge), Some(fresh)) = (challenge, fresh) else {
        return to_console(browser);
    };
    if form.get("decision") != Some("passkey-add") {
        return to_console(browser);
    }
    if form.get("passkey").is_none() {
        return offer(
            browser,
            &present.user,
            Some(Notice::Error(user_passkeys::NO_SCRIPT)),
        );
    }
    let added = user_passkeys::add(&browser, &fresh, &challenge, interaction.ends_at, &form);
    let event = browser
        .context
        .event(Action::ACCOUNT)
        .operation("passkey-add");
    let event = event.subject(&present.user.id);
    let audit = browser.context.realm.audit();
    match audit.act(event, added, Failure::code).await {
        Ok(_) => to_console(browser),
        Err(Failure::Store(error)) => browser.unavailable(&error),
        Err(Failure::Wrong(text, _) | Failure::Expired(text) | Failure::Invalid(text)) => {
            offer(browser, &present.user, Some(Notice::Error(text)))
        }
        Err(Failure::LoginRequired | Failure::Later(..)) => to_console(browser),
    }
}

fn asked(interaction: &Interaction) -> Option<Challenge> {
    let pending = interaction.pending.as_ref();
    let pending = pending.filter(|pending| pending.method == OFFER)?;
    Challenge::from_slice(&pending.state)
}
