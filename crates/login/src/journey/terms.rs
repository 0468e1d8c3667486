//! The terms, where an account has to accept them: a page before a session begins.
//!
//! Whoever was invited, and came to their account without the invitation's page, accepts here what
//! stands there. As with a new password, they have shown everything that the login asks for.

use signet_audit::Action;
use signet_directory::{AcceptedTerms, User};
use signet_oauth::authorize::acr;
use signet_oauth::params::Params;

use super::attempt;
use super::next::{ACTION, By, Journey, Next, Proof};
use super::password;
use super::who::Who;
use crate::failure::Failure;
use signet_pages::{AcceptTerms, Html, Notice};
use signet_request::access::Entrance;
use signet_request::browser_request::BrowserRequest;
use signet_request::http::Response;
use signet_request::interaction::{Half, Interaction, Page};

/// The terms have to be accepted.
const TERMS: &str = "sign-up-terms-missing";
/// Names it in the audit trail; the value of its button.
const NAME: &str = "accept-terms";

/// The terms that a form accepts, where there are any to accept.
pub(crate) fn accepted_terms(
    browser: &BrowserRequest,
    form: &Params,
) -> Result<Option<AcceptedTerms>, Failure> {
    let terms = browser.context.snapshot.settings.sign_up.terms.as_ref();
    match (terms, form.get("terms")) {
        (None, _) => Ok(None),
        (Some(terms), Some("accepted")) => Ok(Some(AcceptedTerms {
            version: terms.version.clone(),
            accepted_at: browser.context.now(),
        })),
        (Some(_), _) => Err(Failure::Invalid(TERMS)),
    }
}

/// The page.
pub(super) fn show(
    browser: BrowserRequest,
    mut interaction: Interaction,
    notice: Option<Notice>,
) -> Response {
    interaction.page = Page::Second;
    interaction.pending = None;
    let html = render(&browser, &interaction, notice);
    browser.page(html)
}

fn render(browser: &BrowserRequest, interaction: &Interaction, notice: Option<Notice>) -> Html {
    let terms = browser.context.snapshot.settings.sign_up.terms.as_ref();
    signet_pages::accept_terms(
        &browser.face(),
        &AcceptTerms {
            action: ACTION,
            interaction: &browser.seal(interaction),
            terms: terms.map_or("", |terms| &*terms.url),
            decision: NAME,
            can_cancel: interaction.request().is_some(),
            notice,
        },
    )
}

/// The terms are accepted, and the login goes on.
pub(super) async fn submit(
    browser: BrowserRequest,
    mut interaction: Interaction,
    who: Who,
    form: &Params,
) -> Next {
    match form.get("decision") {
        Some(NAME) => {}
        Some("other") => return Next::identify(browser, interaction),
        Some(_) | None => return Next::Answer(show(browser, interaction, None)),
    }
    let event = browser.context.event(Action::ACCOUNT).operation(NAME);
    let event = event.subject(&who.user.id);
    let accepted = accept(&browser, &who.user, form);
    let audit = browser.context.realm.audit();
    match audit.act(event, accepted, Failure::code).await {
        Ok(user) => {
            let since_ms = interaction.half.as_ref().map(|half| half.since_ms);
            let since_ms = since_ms.unwrap_or(browser.context.issue_ms);
            let begun_at = interaction.half.as_ref().map(Half::begun);
            let begun_at = begun_at.unwrap_or(browser.context.now());
            interaction.half = Some(Half::new(&user, &who.shown, begun_at, since_ms));
            // What was shown before stands in the interaction: the terms add nothing to it.
            let first = who.shown.first().map(|one| &*one.method);
            let names = acr::METHODS.iter().map(|method| method.name);
            let mut shown = names.filter(|name| first == Some(name));
            let shown = shown.next().unwrap_or(password::METHOD.name);
            let proof = Proof {
                user,
                shown,
                by: By::Before,
            };
            Next::Shown(Journey::new(browser, interaction), Box::new(proof))
        }
        Err(Failure::LoginRequired) => {
            interaction.half = None;
            Next::identify(browser, interaction)
        }
        Err(failure) => Next::Answer(attempt::refused(browser, failure, |browser, notice| {
            render(browser, &interaction, Some(notice))
        })),
    }
}

async fn accept(browser: &BrowserRequest, user: &User, form: &Params) -> Result<User, Failure> {
    let terms = accepted_terms(browser, form)?;
    let (users, now) = (&browser.context.realm.people.users, browser.context.now());
    let found = users.found(&user.id, now).await?;
    let found = found.ok_or(Failure::LoginRequired)?;
    let unchanged = Entrance::Login.opens(&found.user, now)
        && found.user.password_changed_at == user.password_changed_at;
    if !unchanged {
        return Err(Failure::LoginRequired);
    }
    let changed = users.change_found(found, now, |draft| {
        draft.user.must_accept_terms = false;
        draft.user.terms = terms.or(draft.user.terms.take());
    });
    // Of two that are answered at once one is written, and the other asks again.
    changed.await?.ok_or(Failure::LoginRequired)
}
