//! The password, on the login page.

use signet_audit::Action;
use signet_crypto::Secret;
use signet_directory::{self as directory, User};
use signet_federation::migrate::{Asked, FirstLogin};

use super::budgets::Standing;
use super::method::{Answer, Attempt, Method, MethodPage, Page, Step, Verdict, step_page};
use signet_pages::Html;
use signet_realm::attempts::Kind;
use signet_request::access::Entrance;

/// See the module.
pub const METHOD: Method = Method {
    name: "password",
    shows: &["password"],
    step: Step::Either,
    guess: Kind::Password,
    offered: |_| true,
    usable: |browser, user| browser.context.realm.people.users.has_password(user),
    decision: "password",
    label: "factors-password-button",
    start: None,
    script: None,
    page: Page::Step(page),
    verify: |attempt| verify(attempt),
    wrong: "login-password-wrong",
    expired: "",
};

fn page(page: &MethodPage<'_>, user: &User) -> Html {
    signet_pages::password_step(&page.browser.face(), &step_page(page, user))
}

fn verify<'a>(attempt: &'a Attempt<'a>) -> Answer<'a, Verdict> {
    Box::pin(async move {
        let password = attempt.form.get("password").unwrap_or("");
        let password = Secret::new(password.to_owned());
        let user = attempt.user.filter(|_| attempt.standing == Standing::Open);
        let context = &attempt.browser.context;
        let users = &context.realm.people.users;
        // Who is not known here may be known where the people of this realm come from. The command
        // line's login answers no page, and is for accounts that are here.
        let is_of_page = attempt.ends_at != 0;
        if attempt.user.is_none() && attempt.standing == Standing::Open && is_of_page {
            let first = FirstLogin {
                realm: &context.realm,
                snapshot: &context.snapshot,
                caller: attempt.browser.caller(),
                typed: attempt.typed,
                password: &password,
                now: context.now(),
            };
            match first.ask(context.event(Action::ACCOUNT)).await? {
                Asked::Nobody => {}
                Asked::Theirs(user) if Entrance::Login.opens(&user, context.now()) => {
                    return Ok(Verdict::Proven(user));
                }
                Asked::Theirs(_) | Asked::Refused => return Ok(Verdict::Wrong),
                Asked::Later => return Ok(Verdict::Busy),
            }
        }
        // The account's own browser does not wait behind whoever guesses.
        let device = attempt.browser.device();
        let known = user.zip(device.as_ref()).and_then(|(u, d)| d.known(u));
        let waiter = match known {
            Some(_) => directory::passwords::Waiter::Known,
            None => directory::passwords::Waiter::Anyone,
        };
        let verified = users.verify_password(user, password, waiter, context.now());
        let verified = verified.await?;
        Ok(match (verified, user) {
            (directory::PasswordVerdict::Right, Some(user))
                if Entrance::Login.opens(user, context.now()) =>
            {
                Verdict::Proven(Box::new(user.clone()))
            }
            (directory::PasswordVerdict::Busy, _) => Verdict::Busy,
            (directory::PasswordVerdict::Right | directory::PasswordVerdict::Wrong, _) => {
                Verdict::Wrong
            }
        })
    })
}
