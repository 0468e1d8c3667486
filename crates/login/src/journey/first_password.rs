//! A new password in the place of a temporary one: the last page before a session begins.
//!
//! Whoever comes here has shown everything that the login asks for, and the sealed interaction says
//! so ([`signet_request::interaction::Half`]). The new password ends everything that the account
//! had, and the login goes on with it. It counts for nothing once somebody else has changed the
//! password.

use signet_audit::Action;
use signet_crypto::Secret;
use signet_directory::passwords::Waiter;
use signet_directory::{PasswordOf, PasswordVerdict, User};
use signet_oauth::authorize::acr;
use signet_oauth::params::Params;

use super::attempt;
use super::next::{ACTION, By, Journey, Next, Proof};
use super::password;
use super::who::Who;
use crate::failure::Failure;
use signet_pages::{FirstPassword, Html, Notice};
use signet_request::access::Entrance;
use signet_request::browser_request::BrowserRequest;
use signet_request::http::Response;
use signet_request::interaction::{Half, Interaction, Page};
use signet_request::security_mail::{self, SecurityEvent};

/// Names it in the audit trail; the value of its button.
const NAME: &str = "first-password";

const SAME: &str = "login-first-password-same";

/// The page.
pub(super) fn show(
    browser: BrowserRequest,
    mut interaction: Interaction,
    who: &Who,
    notice: Option<Notice>,
) -> Response {
    interaction.page = Page::Second;
    interaction.pending = None;
    let html = render(&browser, &interaction, who, notice);
    browser.page(html)
}

fn render(
    browser: &BrowserRequest,
    interaction: &Interaction,
    who: &Who,
    notice: Option<Notice>,
) -> Html {
    let policy = &browser.context.realm.people.passwords;
    signet_pages::first_password(
        &browser.face(),
        &FirstPassword {
            action: ACTION,
            interaction: &browser.seal(interaction),
            username: &who.user.username,
            email: who.user.email.as_deref().unwrap_or(""),
            name: who.user.profile.name.as_deref().unwrap_or(""),
            shortest: policy.shortest(who.user.admin),
            decision: NAME,
            can_cancel: interaction.request().is_some(),
            notice,
        },
    )
}

/// The new password: it is set, and the login goes on.
pub(super) async fn submit(
    mut browser: BrowserRequest,
    mut interaction: Interaction,
    who: Who,
    form: &Params,
) -> Next {
    match form.get("decision") {
        Some(NAME) => {}
        Some("other") => return Next::identify(browser, interaction),
        Some(_) | None => return Next::Answer(show(browser, interaction, &who, None)),
    }
    let event = browser.context.event(Action::ACCOUNT).operation(NAME);
    let event = event.subject(&who.user.id);
    let changed = change(&browser, &who.user, form);
    let audit = browser.context.realm.audit();
    match audit.act(event, changed, Failure::code).await {
        Ok(user) => {
            let told = SecurityEvent::PasswordChanged;
            security_mail::send(&browser, &user, told).await;
            browser.begin_after_end(&user);
            let before = who.shown.clone();
            let since_ms = browser.context.issue_ms;
            let begun_at = interaction.half.as_ref().map(Half::begun);
            let begun_at = begun_at.unwrap_or(browser.context.now());
            interaction.half = Some(Half::new(&user, &before, begun_at, since_ms));
            // What was shown before stands in the interaction: the new password adds nothing to it.
            let first = before.first().map(|one| &*one.method);
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
            render(browser, &interaction, &who, Some(notice))
        })),
    }
}

async fn change(browser: &BrowserRequest, user: &User, form: &Params) -> Result<User, Failure> {
    let (realm, now) = (&browser.context.realm, browser.context.now());
    let users = &realm.people.users;
    let new = form.get("new_password").unwrap_or("");
    realm
        .check_new_password(new, PasswordOf::user(user))
        .map_err(|refused| Failure::Invalid(refused.text_id()))?;
    // Somebody else knows the temporary one: it cannot be the new one. Only who has shown it, or a
    // mailed code, can ask.
    let same = users.verify_password(Some(user), Secret::new(new.to_owned()), Waiter::Known, now);
    match same.await? {
        PasswordVerdict::Right => return Err(Failure::Invalid(SAME)),
        PasswordVerdict::Wrong => {}
        PasswordVerdict::Busy => return Err(Failure::BUSY),
    }
    let phc = users.hash(Secret::new(new.to_owned())).await?;
    let unchanged = |read: &User| {
        Entrance::Session.opens(read, now)
            && read.must_change_password
            && read.password_changed_at == user.password_changed_at
    };
    let changed = realm
        .change_user_and_end_everything(&user.id, unchanged, |draft| {
            draft.set_password(Some(&phc), now);
        })
        .await?;
    changed.ok_or(Failure::LoginRequired)
}
