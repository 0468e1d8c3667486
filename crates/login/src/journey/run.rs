//! A login, from step to step: the one place that knows which step follows which.
//!
//! A step returns what comes next ([`Next`]) and names no other step; the methods are rows of
//! [`super::METHODS`], the ways that lead elsewhere rows of [`super::LEADS`].

use signet_directory::User;
use signet_oauth::params::Params;
use signet_pages::Notice;
use signet_request::browser_request::BrowserRequest;
use signet_request::http::Response;
use signet_request::interaction::{Interaction, Page};

use super::method::Boxed;
use super::next::{By, Journey, Next, Proof};
use super::{LEADS, after_login, finish, identify, login_page, password, provider, step_up};

/// What a login came to.
pub enum Outcome {
    /// An answer to the browser.
    Page(Response),
    /// Logged in; the interaction goes on.
    Done(Box<Journey>),
}

/// Handles a form of the login page, of a method's page, or of what is offered after a login.
pub async fn submit(browser: BrowserRequest, interaction: Interaction, form: &Params) -> Outcome {
    let journey = Journey {
        browser,
        interaction,
    };
    // Each step on the heap: together they would not fit on a thread's stack in a build without
    // optimisation.
    let next = match journey.interaction.page {
        Page::Second => Box::pin(step_up::submit(journey, form)).await,
        Page::Offer => Box::pin(after_login::submit(journey, form)).await,
        Page::Provider => Box::pin(provider::submit(journey, form)).await,
        Page::Start
        | Page::Login
        | Page::Method
        | Page::Select
        | Page::Consent
        | Page::DeviceEnter
        | Page::DeviceConfirm
        | Page::Logout
        | Page::Account
        | Page::AccountStep
        | Page::Recover
        | Page::SignUp => Box::pin(identify::submit(journey, form)).await,
    };
    follow(next, form).await
}

async fn follow(mut next: Next, form: &Params) -> Outcome {
    loop {
        next = match next {
            Next::Answer(response) => return Outcome::Page(response),
            Next::Identify(journey, notice) => return Outcome::Page(identified(*journey, notice)),
            Next::Shown(journey, proof) => Box::pin(finish::shown(*journey, *proof, form)).await,
            Next::StepUp(journey) => Box::pin(step_up::ask(*journey)).await,
            Next::LoggedIn(journey) => Box::pin(after_login::offer(*journey, form)).await,
            Next::Done(journey) => return Outcome::Done(journey),
        };
    }
}

/// Whoever has just set the password of an account, by a link that went to its mail, has shown that
/// they know it: the login goes on with whatever it asks for beyond. `form`: theirs.
///
/// # Errors
/// The browser, where this person does not log in by a password of this server.
pub(crate) fn with_new_password<'a>(
    browser: BrowserRequest,
    interaction: Interaction,
    user: User,
    form: &'a Params,
) -> Boxed<'a, Result<Outcome, BrowserRequest>> {
    Box::pin(async move {
        let leads = |name: &str| {
            let mut all = LEADS.iter();
            all.any(|lead| (lead.of_typed)(&browser, name).is_some())
        };
        let is_led = leads(&user.username) || user.email.as_deref().is_some_and(leads);
        if is_led || !browser.context.snapshot.settings.local_login {
            return Err(browser);
        }
        let proof = Proof {
            user,
            shown: password::METHOD.name,
            by: By::Now,
        };
        let journey = Journey::new(browser, interaction);
        Ok(follow(Next::Shown(journey, Box::new(proof)), form).await)
    })
}

fn identified(journey: Journey, notice: Option<Notice>) -> Response {
    login_page::show(journey.browser, journey.interaction, notice)
}

/// The answer of the identity provider of this name.
pub async fn arrive(browser: BrowserRequest, name: &str, params: &Params) -> Outcome {
    // Nothing was typed.
    let Ok(form) = Params::from_pairs(std::iter::empty::<(&str, &str)>()) else {
        return Outcome::Page(browser.start_again());
    };
    let next = Box::pin(provider::arrive::arrive(browser, name, params)).await;
    follow(next, &form).await
}

/// The page of what is asked for beyond what was shown, or the login page where nothing would do.
pub fn ask_further(browser: BrowserRequest, interaction: Interaction) -> Boxed<'static, Response> {
    Box::pin(async move {
        match step_up::ask(Journey {
            browser,
            interaction,
        })
        .await
        {
            Next::Answer(response) => response,
            Next::Identify(journey, notice) => identified(*journey, notice),
            // Invariant: asking proves nothing, so no session follows.
            Next::Shown(journey, _)
            | Next::StepUp(journey)
            | Next::LoggedIn(journey)
            | Next::Done(journey) => identified(*journey, None),
        }
    })
}

/// The page of a method that was started, or of a further step, again: as it was left, where its
/// method is still asked for.
pub fn again(browser: BrowserRequest, interaction: Interaction) -> Boxed<'static, Response> {
    Box::pin(async move {
        if interaction.page == Page::Method {
            return identify::again(browser, interaction);
        }
        match step_up::again(&browser, &interaction).await {
            Ok(Some(html)) => browser.page(html),
            Ok(None) => ask_further(browser, interaction).await,
            Err(error) => browser.unavailable(&error),
        }
    })
}

/// Where a login leads before any page is shown, if it leads anywhere; else the person's page is
/// the caller's to choose.
///
/// # Errors
/// What was handed in, where no way leads on unasked.
pub async fn unasked(
    browser: BrowserRequest,
    interaction: Interaction,
) -> Result<Response, Box<Journey>> {
    for lead in LEADS {
        if let Some(name) = (lead.unasked)(&browser, &interaction) {
            let begun = (lead.begin)(Journey::new(browser, interaction), name, String::new()).await;
            return match begun {
                Next::Answer(response) => Ok(response),
                Next::Identify(journey, notice) => Ok(identified(*journey, notice)),
                Next::Shown(journey, _)
                | Next::StepUp(journey)
                | Next::LoggedIn(journey)
                | Next::Done(journey) => Err(journey),
            };
        }
    }
    Err(Journey::new(browser, interaction))
}
