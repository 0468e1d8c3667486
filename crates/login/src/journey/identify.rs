//! The first step: the login page, and the page of a method that was started from it.

use signet_oauth::params::Params;
use signet_pages::Notice;
use signet_request::browser_request::BrowserRequest;
use signet_request::http::Response;
use signet_request::interaction::{Interaction, MAX_TYPED, Page, Pending};

use super::attempt::{self, State};
use super::login_page::{self, first};
use super::method::{Method, Script, Start};
use super::next::{Journey, Next};
use super::{LEADS, METHODS};
use crate::passkeys::Challenge;

const NAME_FIRST: &str = "login-name-first";

/// The login page, which says this.
fn say(browser: BrowserRequest, interaction: Interaction, text: &'static str) -> Next {
    let notice = Some(Notice::Error(text));
    Next::Identify(Journey::new(browser, interaction), notice)
}

/// The method of the page that a form is on: a started one, or the first. None: what was started is
/// no method of this server (another version's), or nothing was.
fn of_page(interaction: &Interaction) -> Option<&'static Method> {
    if interaction.page != Page::Method {
        return Some(first());
    }
    let name = &interaction.pending.as_ref()?.method;
    METHODS.iter().find(|method| method.name == name)
}

/// The page of a method that was started, again; the login page where it is no longer offered.
pub(super) fn again(browser: BrowserRequest, interaction: Interaction) -> Response {
    let method = of_page(&interaction).filter(|method| (method.offered)(&browser));
    let Some(method) = method.filter(|method| method.is_first()) else {
        return login_page::show(browser, interaction, None);
    };
    let html = login_page::method_page(&browser, method, &interaction, None, None);
    browser.page(html)
}

/// Handles a form of the login page, or of a method that was started from it.
pub(super) async fn submit(journey: Journey, form: &Params) -> Next {
    let Journey {
        browser,
        interaction,
    } = journey;
    let decision = form.get("decision").unwrap_or("");
    let typed = form.get("username").unwrap_or("").trim();
    for lead in LEADS {
        let chosen = decision.strip_prefix(lead.decision).map(str::to_owned);
        let on_login_page = interaction.page == Page::Login;
        let by_name = || {
            on_login_page
                .then(|| (lead.of_typed)(&browser, typed))
                .flatten()
        };
        if let Some(name) = chosen.or_else(by_name) {
            return (lead.begin)(Journey::new(browser, interaction), name, typed.to_owned()).await;
        }
    }
    if !browser.context.snapshot.settings.local_login {
        return Next::identify(browser, interaction);
    }
    for method in METHODS
        .iter()
        .filter(|method| method.is_first() && method.decision == decision)
    {
        if let Some(script) = &method.script {
            return by_script(browser, interaction, method, script, form).await;
        }
        if let Some(start) = &method.start {
            return begin(browser, interaction, method, start, form).await;
        }
    }
    if interaction.page == Page::Method && decision == first().decision {
        return Next::identify(browser, interaction);
    }
    let Some(method) = of_page(&interaction).filter(|method| method.is_first()) else {
        return Next::identify(browser, interaction);
    };
    let typed = match &interaction.pending {
        Some(pending) if interaction.page == Page::Method => pending.typed.clone(),
        _ => form.get("username").unwrap_or("").to_owned(),
    };
    let state = interaction.pending.as_ref();
    let state = State {
        left: state.map_or(&[][..], |pending| &pending.state),
        ends_at: interaction.ends_at,
    };
    match attempt::verify(&browser, method, state, &typed, form).await {
        Ok(proof) => Next::Shown(Journey::new(browser, interaction), Box::new(proof)),
        Err(failure) => Next::Answer(attempt::failed(
            browser,
            failure,
            method.name,
            |browser, notice| {
                login_page::method_page(browser, method, &interaction, Some(&typed), Some(notice))
            },
        )),
    }
}

/// The answer of a script on the login page. Whether or not it is accepted, the next page asks
/// again.
async fn by_script(
    browser: BrowserRequest,
    mut interaction: Interaction,
    method: &'static Method,
    script: &Script,
    form: &Params,
) -> Next {
    if !(method.offered)(&browser) || !(script.is_answer)(form) {
        return say(browser, interaction, script.missing);
    }
    let challenge = interaction
        .challenge
        .take()
        .map(|text| Challenge::of(&text));
    let state = challenge.map_or_else(Vec::new, |challenge| challenge.as_bytes().to_vec());
    let state = State {
        left: &state,
        ends_at: interaction.ends_at,
    };
    match attempt::verify_of(&browser, method, state, None, "", form).await {
        Ok(proof) => Next::Shown(Journey::new(browser, interaction), Box::new(proof)),
        Err(failure) => {
            login_page::turn_to(&mut interaction);
            Next::Answer(attempt::failed(
                browser,
                failure,
                method.name,
                |browser, notice| login_page::page(browser, &interaction, None, Some(notice)),
            ))
        }
    }
}

/// Starts a method that has a step before its attempt, and shows its page.
async fn begin(
    browser: BrowserRequest,
    mut interaction: Interaction,
    method: &'static Method,
    start: &Start,
    form: &Params,
) -> Next {
    let pending = interaction.pending.as_ref();
    let again = pending
        .filter(|pending| interaction.page == Page::Method && pending.method == method.name)
        .map(|pending| pending.typed.clone());
    let is_again = again.is_some();
    let typed = again.unwrap_or_else(|| form.get("username").unwrap_or("").trim().to_owned());
    if typed.is_empty() && start.needs_name {
        return say(browser, interaction, NAME_FIRST);
    }
    if !(method.offered)(&browser) || typed.len() > MAX_TYPED {
        return say(browser, interaction, first().wrong);
    }
    match attempt::run(&browser, start, &typed).await {
        Ok(state) => {
            interaction.page = Page::Method;
            interaction.pending = Some(Pending {
                method: method.name.to_owned(),
                typed,
                state,
            });
            if let Err(error) = attempt::keep(&browser, start, &mut interaction).await {
                return Next::Answer(browser.unavailable(&error));
            }
            let notice = is_again.then_some(Notice::Done(start.again));
            let html = login_page::method_page(&browser, method, &interaction, None, notice);
            Next::Answer(browser.page(html))
        }
        Err(failure) => {
            login_page::turn_to(&mut interaction);
            Next::Answer(attempt::failed(
                browser,
                failure,
                method.name,
                |browser, notice| {
                    login_page::page(browser, &interaction, Some(&typed), Some(notice))
                },
            ))
        }
    }
}
