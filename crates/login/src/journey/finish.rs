//! From what a person has shown to their session. Every way of a login comes to this one function.
//!
//! The order is the security argument: what was shown is put together with its times; then what the
//! account, the client and the way demand beyond it is asked for; then the one question of every
//! entrance is asked; only then does the session begin, and only behind it are a new device
//! reported, a browser remembered, and what a provider brought taken over.

use signet_directory::User;
use signet_directory::session::Shown;
use signet_oauth::authorize::acr;
use signet_oauth::params::Params;
use signet_request::access::{self, Entrance, Wants};
use signet_request::browser_request::BrowserRequest;
use signet_request::interaction::{Half, Page, SessionStamp};
use signet_request::security_mail;
use signet_store::StoreError;

use super::next::{By, Journey, Next, Proof};
use super::step_up::{self, Before};
use super::{METHODS, attempt, login_page, policy, provider, remembered, who};
use crate::freshness;

/// Asks for what else is to be shown, or begins the session and notes in the interaction what was
/// done. `form`: what the person sent with the proof.
pub(super) async fn shown(journey: Journey, proof: Proof, form: &Params) -> Next {
    match finish(journey, proof, form).await {
        Ok(next) => next,
        Err((browser, error)) => Next::Answer(browser.unavailable(&error)),
    }
}

async fn finish(
    journey: Journey,
    proof: Proof,
    form: &Params,
) -> Result<Next, (BrowserRequest, StoreError)> {
    let Journey {
        mut browser,
        mut interaction,
    } = journey;
    let Proof { user, shown, by } = proof;
    let now = browser.context.now();
    let half = interaction.half.take();
    let half = half.filter(|half| half.user_id == user.id);
    let session = browser
        .present()
        .filter(|present| half.is_none() && interaction.step_up && present.user.id == user.id);
    let before: Vec<Shown> = match (&half, session) {
        (Some(half), _) => half.shown(),
        (None, Some(present)) => present.found.row.shown(),
        (None, None) => Vec::new(),
    };
    // A factor that was just set up proves nobody: the session is as old as it was.
    let auth_time = session.filter(|_| by == By::SetUp);
    let auth_time = auth_time.map(|present| present.found.row.auth_time);
    let since = half
        .as_ref()
        .map_or_else(|| freshness::recent(&browser.context), Half::since);
    let brought = match provider::bring(&mut browser, &interaction, &user).await {
        Ok(brought) => brought,
        Err(error) => return Err((browser, error)),
    };
    let shown_before = before.iter().find(|one| one.method == shown);
    let at = match (by, shown_before) {
        (By::Before, Some(one)) => one.at,
        (By::Provider, _) => brought.at,
        (By::Before, None) | (By::Now | By::SetUp, _) => now,
    };
    let mut methods = vec![Shown::new(shown, at)];
    methods.extend(before.into_iter().filter(|one| one.method != shown));
    for method in brought.believed {
        if methods.iter().all(|one| one.method != method) {
            methods.push(Shown::new(method, brought.at));
        }
    }
    if !interaction.strict {
        match is_spared(&browser, &user, &methods).await {
            Ok(true) => methods.push(Shown::new(remembered::SHOWS, now)),
            Ok(false) => {}
            Err(error) => return Err((browser, error)),
        }
    }
    let will_be = brought.user.as_ref().unwrap_or(&user);
    let before_session =
        step_up::before_session(&browser, &interaction, &user, will_be, &methods, since).await;
    match before_session {
        Ok(Before::Nothing) => {}
        Ok(Before::Page) => {
            let issue_ms = browser.context.issue_ms;
            let since_ms = half.as_ref().map_or(issue_ms, |half| half.since_ms);
            let begun_at = half.as_ref().map_or(now, Half::begun);
            interaction.half = Some(Half::new(&user, &methods, begun_at, since_ms));
            return Ok(Next::StepUp(Journey::new(browser, interaction)));
        }
        Ok(Before::Unreachable) => {
            return Ok(Next::Answer(browser.error(&step_up::unreachable())));
        }
        Err(error) => return Err((browser, error)),
    }
    let names: Vec<&str> = methods.iter().map(|one| &*one.method).collect();
    let registry = &browser.context.snapshot.registry;
    let wants = Wants {
        sought: interaction.sought(registry),
        shown: Some(&names),
        classes: &interaction.required,
        ..Wants::default()
    };
    // Every page before was for this: nothing is left that keeps the person out.
    if access::ask(&browser.context, Entrance::Login, will_be, &wants).is_err() {
        return Ok(Next::identify(browser, interaction));
    }
    let usable = usable(&browser, &user);
    let device = browser.device();
    let is_new = device.is_none_or(|device| device.known(&user).is_none());
    let person = is_new.then(|| user.clone());
    if let Err(error) = browser.log_in(user, &methods, auth_time).await {
        return Err((browser, error));
    }
    if let Some(person) = &person {
        security_mail::tell_of_new_device(&browser, person).await;
    }
    if form.get("remember").is_some()
        && acr::is_enrolled(shown)
        && let Err(error) = remembered::remember(&browser).await
    {
        return Err((browser, error));
    }
    interaction.pending = None;
    interaction.page = Page::Start;
    interaction.strict = false;
    if let Err(failure) = provider::complete(&mut browser, &mut interaction, since).await {
        let page = attempt::failed(browser, failure, provider::METHOD, |browser, notice| {
            login_page::page(browser, &interaction, None, Some(notice))
        });
        return Ok(Next::Answer(page));
    }
    // Somebody of whom more methods are asked, and who has them, has one more page before them.
    let half_way = match policy::first_wish(&interaction) {
        Some(class) => !acr::missing(class, &names, &usable).is_empty(),
        None => false,
    };
    if half_way {
        interaction.step_up = true;
        return Ok(Next::Done(Journey::new(browser, interaction)));
    }
    let row = browser.present().map(|present| &present.found.row);
    interaction.login = row.map(SessionStamp::by);
    Ok(Next::LoggedIn(Journey::new(browser, interaction)))
}

/// Whether the account's second factor is not asked for, since this browser is remembered.
async fn is_spared(
    browser: &BrowserRequest,
    user: &User,
    shown: &[Shown],
) -> Result<bool, StoreError> {
    let names: Vec<&str> = shown.iter().map(|one| &*one.method).collect();
    Ok(
        who::wants_second_factor(&browser.context, user, &names).await?
            && remembered::is_remembered(browser, user).await?,
    )
}

/// What this account can log in with here: names of `signet_oauth::authorize::acr::METHODS`.
fn usable(browser: &BrowserRequest, user: &User) -> Vec<&'static str> {
    METHODS
        .iter()
        .filter(|method| (method.offered)(browser) && (method.usable)(browser, user))
        .flat_map(|method| method.shows)
        .copied()
        .collect()
}
