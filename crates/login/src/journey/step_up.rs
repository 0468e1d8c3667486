//! A further step of a login: what is asked for beyond what somebody has shown, and its pages.
//!
//! There are two beginnings. A login is half way ([`signet_request::interaction::Half`]) where the
//! account has a second factor and it was not shown: no session is begun before that. Or a session
//! is there, and what the interaction leads to asks for more than it has (RFC 9470): then only what
//! is missing is asked for, and the session goes on with it.
//!
//! Whoever has nothing that reaches what is asked for sets a factor up on the way: in a login that
//! is half way, or in a session that has just shown everything that the account has
//! ([`freshness`]). A session that is older is asked for the whole login first: a cookie alone must
//! not become a factor.

use signet_audit::Action;
use signet_directory::User;
use signet_directory::session::Shown;
use signet_oauth::authorize::acr;
use signet_oauth::error::{ErrorCode, OAuthError};
use signet_oauth::params::Params;
use signet_pages::{Html, MethodButton, Notice, TotpAddPage};
use signet_request::access::{self, Entrance, Owed};
use signet_request::browser_request::{BrowserRequest, store_failed};
use signet_request::http::Response;
use signet_request::interaction::{Interaction, Page, Pending};
use signet_request::security_mail::{self, SecurityEvent};
use signet_store::StoreError;

use super::attempt::{self, State};
use super::method::{Method, MethodPage, step_page};
use super::next::{ACTION, By, Journey, Next, Proof};
use super::totp::{self, TotpSecret};
use super::who::{self, Who};
use super::{METHODS, first_password, policy, terms};
use crate::failure::Failure;
use crate::freshness::{self, Fresh};

/// What is asked of somebody who has shown some methods.
enum Need {
    /// Nothing: a session begins, or goes on.
    Nothing,
    /// One of these methods, in the order of the table.
    Ask(Vec<&'static Method>),
    /// They have nothing that would do, and set up a code app.
    Enrol,
    /// They would set one up, and their session is too old for it: the whole login first.
    Login,
    /// Everything was shown, and a new password comes before the session.
    NewPassword,
    /// Everything was shown, and the terms come before the session.
    Terms,
    /// They have nothing that would do, and nothing that they could set up here.
    Unreachable,
}

fn need(browser: &BrowserRequest, interaction: &Interaction, who: &Who) -> Need {
    let may = |method: &&Method| {
        method.is_second() && (method.offered)(browser) && (method.usable)(browser, &who.user)
    };
    let counted = who.counted(interaction);
    let just_shown = who.just_shown();
    if who.misses_factor(browser, interaction) {
        // A key that verified nobody was shown, and is asked for something beside it.
        let key_shown = interaction.strict && just_shown.iter().any(|name| acr::is_enrolled(name));
        let completes = |method: &&Method| {
            let with = |name| acr::second_factor_shown(&[just_shown.as_slice(), &[name]].concat());
            method.shows.iter().any(|name| with(*name))
        };
        let fits = |method: &&Method| match key_shown {
            true => completes(method),
            false => method.is_enrolled(),
        };
        return Need::Ask(METHODS.iter().filter(fits).filter(may).collect());
    }
    let candidates: Vec<&'static str> = METHODS
        .iter()
        .filter(may)
        .flat_map(|method| method.shows)
        .copied()
        .collect();
    let of = |names: &[&str]| -> Vec<&'static Method> {
        let helps = |method: &&Method| method.shows.iter().any(|name| names.contains(name));
        METHODS.iter().filter(may).filter(helps).collect()
    };
    for class in policy::required(browser, interaction, &who.will_be) {
        if acr::holds(&class, &counted) {
            continue;
        }
        let helpful = of(&acr::helpful(&class, &counted, &candidates));
        if !helpful.is_empty() {
            return Need::Ask(helpful);
        }
        // A person who has a second factor uses it: only a person who has none sets one up on the
        // way.
        let has_factor = freshness::has_factor(&browser.context, &who.user);
        if has_factor || acr::second_factor_shown(&counted) {
            return Need::Unreachable;
        }
        let with_app: Vec<&'static str> = candidates.iter().copied().chain([APP]).collect();
        let missing = acr::missing(&class, &counted, &with_app);
        if !missing.contains(&APP) {
            return Need::Unreachable;
        }
        // What they have comes before what they set up: nobody sets up a factor for half a proof.
        let first = of(&missing);
        return match (first.is_empty(), acr::begins_login(&just_shown)) {
            (true, true) => Need::Enrol,
            (true, false) => Need::Login,
            (false, _) => Need::Ask(first),
        };
    }
    // A session that is there goes on: it is the next login that has to.
    if interaction.half.is_some()
        && let Some(owed) = access::owed(&browser.context, &who.user)
    {
        return match owed {
            Owed::Password => Need::NewPassword,
            Owed::Terms => Need::Terms,
        };
    }
    let wish = policy::first_wish(interaction).filter(|_| interaction.half.is_none());
    let helpful = wish.map(|class| acr::helpful(class, &counted, &candidates));
    match helpful.map(|helpful| of(&helpful)) {
        Some(methods) if !methods.is_empty() => Need::Ask(methods),
        Some(_) | None => Need::Nothing,
    }
}

/// What a code app shows.
const APP: &str = totp::METHOD.name;

/// What of [`Need`] there is before a session begins for somebody.
pub(super) enum Before {
    /// Nothing.
    Nothing,
    /// A page.
    Page,
    /// What is required cannot be reached.
    Unreachable,
}

/// What there is before a session begins for somebody who has shown this. `will_be`: their record
/// as it will be after the login. `since`: when the login began, Unix seconds.
pub(super) async fn before_session(
    browser: &BrowserRequest,
    interaction: &Interaction,
    user: &User,
    will_be: &User,
    shown: &[Shown],
    since: u64,
) -> Result<Before, StoreError> {
    let who = Who::of_login(&browser.context, user, will_be, shown, since).await?;
    let required = policy::required(browser, interaction, will_be);
    let counted = who.counted(interaction);
    let reached = required.iter().all(|class| acr::holds(class, &counted));
    let owes = access::owed(&browser.context, user).is_some();
    if reached && !who.misses_factor(browser, interaction) && !owes {
        return Ok(Before::Nothing);
    }
    Ok(match need(browser, interaction, &who) {
        Need::Nothing if !owes => Before::Nothing,
        Need::Nothing
        | Need::Ask(_)
        | Need::Enrol
        | Need::Login
        | Need::NewPassword
        | Need::Terms => Before::Page,
        Need::Unreachable => Before::Unreachable,
    })
}

/// The methods of which one is asked for now, in the order of the table.
fn asked(browser: &BrowserRequest, interaction: &Interaction, who: &Who) -> Vec<&'static Method> {
    match need(browser, interaction, who) {
        Need::Ask(methods) => methods,
        Need::Nothing
        | Need::Enrol
        | Need::Login
        | Need::NewPassword
        | Need::Terms
        | Need::Unreachable => Vec::new(),
    }
}

/// What a session that is there can do about what an interaction asks for.
pub enum StepUp {
    /// A page asks for what is missing.
    Page,
    /// It takes a whole login.
    Login,
    /// What is required cannot be reached by this person.
    Unreachable,
}

/// See [`StepUp`].
///
/// # Errors
/// The store's.
pub async fn step_up(
    browser: &BrowserRequest,
    interaction: &Interaction,
) -> Result<StepUp, StoreError> {
    let Some(present) = browser.present() else {
        return Ok(StepUp::Login);
    };
    let who = who::of_session(browser, present).await?;
    Ok(match need(browser, interaction, &who) {
        _ if who.shown.is_empty() => StepUp::Login,
        Need::Ask(_) | Need::Enrol | Need::NewPassword | Need::Terms => StepUp::Page,
        Need::Nothing | Need::Login => StepUp::Login,
        Need::Unreachable => StepUp::Unreachable,
    })
}

/// What is said where nothing reaches what is required.
pub fn unreachable() -> OAuthError {
    OAuthError::new(
        ErrorCode::UnmetAuthenticationRequirements,
        "What is required to log in here cannot be reached with what this account has.",
    )
}

/// Names the state of the page that sets up an app on the way.
const ENROL: &str = "totp-enrol";

/// The page of the first method that is asked for. Where it needs a start, which may send a mail,
/// the person asks for it by a button.
pub(super) async fn ask(journey: Journey) -> Next {
    let Journey {
        browser,
        mut interaction,
    } = journey;
    let who = match who::of(&browser, &interaction).await {
        Ok(Some(who)) => who,
        Ok(None) => return Next::identify(browser, interaction),
        Err(error) => return Next::Answer(browser.unavailable(&error)),
    };
    interaction.page = Page::Second;
    let methods = match need(&browser, &interaction, &who) {
        Need::Ask(methods) => methods,
        Need::Enrol => return Next::Answer(show_enrolment(browser, interaction, &who)),
        Need::NewPassword => {
            return Next::Answer(first_password::show(browser, interaction, &who, None));
        }
        Need::Terms => return Next::Answer(terms::show(browser, interaction, None)),
        Need::Nothing | Need::Login => {
            // What the session has shown adds nothing to a whole login.
            interaction.step_up = false;
            return Next::identify(browser, interaction);
        }
        Need::Unreachable => return Next::Answer(browser.error(&unreachable())),
    };
    let Some(method) = methods.first() else {
        return Next::identify(browser, interaction);
    };
    interaction.pending = method
        .start
        .is_none()
        .then(|| pending(method, &who, method.fresh_state()));
    let html = render(&browser, &interaction, &who, None);
    Next::Answer(browser.page(html))
}

/// The page that a person was on, again: of the method that they turned to, or with the secret that
/// they may have scanned. None: it is not what is asked for now.
///
/// # Errors
/// The store's.
pub(super) async fn again(
    browser: &BrowserRequest,
    interaction: &Interaction,
) -> Result<Option<Html>, StoreError> {
    let Some((who, pending)) = who::of(browser, interaction)
        .await?
        .zip(interaction.pending.as_ref())
    else {
        return Ok(None);
    };
    Ok(match need(browser, interaction, &who) {
        Need::Ask(methods) if methods.iter().any(|method| method.name == pending.method) => {
            Some(render(browser, interaction, &who, None))
        }
        Need::Enrol if pending.method == ENROL => {
            let secret = TotpSecret::from_bytes(&pending.state);
            let html = enrolment_page(browser, interaction, &who, &secret, "", None);
            Some(html)
        }
        _ => None,
    })
}

fn pending(method: &Method, who: &Who, state: Vec<u8>) -> Pending {
    Pending {
        method: method.name.to_owned(),
        typed: who.user.username.clone(),
        state,
    }
}

/// The page of the method that is pending, or the one that lets the person choose.
fn render(
    browser: &BrowserRequest,
    interaction: &Interaction,
    who: &Who,
    notice: Option<Notice>,
) -> Html {
    let methods = asked(browser, interaction, who);
    let pending = interaction.pending.as_ref();
    let method = pending.and_then(|pending| methods.iter().find(|m| m.name == pending.method));
    let others: Vec<MethodButton> = methods
        .iter()
        .filter(|other| method.is_none_or(|method| method.name != other.name))
        .map(|method| method.button())
        .collect();
    let request = interaction.request();
    let page = MethodPage {
        browser,
        action: ACTION,
        interaction: &browser.seal(interaction),
        typed: &who.user.username,
        request,
        can_cancel: request.is_some(),
        leads_on: interaction.leads_on(),
        step_up_of: Some(&who.user),
        others: &others,
        can_remember: method.is_some_and(|method| method.is_enrolled()),
        state: pending.map_or(&[], |pending| &pending.state),
        challenge: None,
        notice,
    };
    match method.map(|method| method.page) {
        Some(super::method::Page::Own(html)) => html(&page),
        Some(super::method::Page::Step(html)) => html(&page, &who.user),
        None => signet_pages::choose_step(&browser.face(), &step_page(&page, &who.user)),
    }
}

/// Handles a form of a further step.
pub(super) async fn submit(journey: Journey, form: &Params) -> Next {
    let Journey {
        browser,
        mut interaction,
    } = journey;
    let who = match who::of(&browser, &interaction).await {
        Ok(Some(who)) => who,
        Ok(None) => return Next::identify(browser, interaction),
        Err(error) => return Next::Answer(browser.unavailable(&error)),
    };
    let methods = match need(&browser, &interaction, &who) {
        Need::Enrol => return enrol(browser, interaction, who, form).await,
        Need::NewPassword => return first_password::submit(browser, interaction, who, form).await,
        Need::Terms => return terms::submit(browser, interaction, who, form).await,
        Need::Ask(methods) => methods,
        Need::Nothing | Need::Login | Need::Unreachable => Vec::new(),
    };
    if methods.is_empty() {
        // Another tab has shown it, or the factor was removed: the login begins again.
        return Next::identify(browser, interaction);
    }
    let decision = form.get("decision").unwrap_or("");
    if decision == "other" {
        interaction.step_up = false;
        return Next::identify(browser, interaction);
    }
    // The button that leads to a method of a script is also the one that brings its answer.
    let is_answer = |method: &Method| method.script.as_ref().is_some_and(|s| (s.is_answer)(form));
    let chosen = methods.iter().find(|method| method.decision == decision);
    if let Some(method) = chosen.filter(|method| !is_answer(method)) {
        return Next::Answer(turn_to(browser, interaction, &who, method).await);
    }
    let chosen = interaction.pending.as_ref().and_then(|pending| {
        let method = methods.iter().find(|method| method.name == pending.method);
        method.map(|method| (*method, pending.state.clone()))
    });
    let Some((method, state)) = chosen else {
        return Next::StepUp(Journey::new(browser, interaction));
    };
    let user = Some(who.user.clone());
    let typed = &who.user.username;
    let state = State {
        left: &state,
        ends_at: interaction.ends_at,
    };
    let verified = attempt::verify_of(&browser, method, state, user, typed, form).await;
    // A code that was mailed to somebody else is nothing here.
    let verified = verified.and_then(|proof| match proof.user.id == who.user.id {
        true => Ok(proof),
        false => Err(Failure::Wrong(method.wrong, Some(who.user.id.clone()))),
    });
    match verified {
        Ok(proof) => Next::Shown(Journey::new(browser, interaction), Box::new(proof)),
        Err(failure) => {
            if method.start.is_none() {
                // A passkey's challenge may be consumed by now: the next try answers another one.
                interaction.pending = Some(pending(method, &who, method.fresh_state()));
            }
            Next::Answer(attempt::failed(
                browser,
                failure,
                method.name,
                |browser, notice| render(browser, &interaction, &who, Some(notice)),
            ))
        }
    }
}

/// Shows a method's page, after its start where it has one.
async fn turn_to(
    browser: BrowserRequest,
    mut interaction: Interaction,
    who: &Who,
    method: &'static Method,
) -> Response {
    let Some(start) = &method.start else {
        interaction.pending = Some(pending(method, who, method.fresh_state()));
        let html = render(&browser, &interaction, who, None);
        return browser.page(html);
    };
    let again = interaction.pending.as_ref();
    let again = again.is_some_and(|pending| pending.method == method.name);
    match attempt::run_for(&browser, start, Some(&who.user), &who.user.username).await {
        Ok(state) => {
            interaction.pending = Some(pending(method, who, state));
            if let Err(error) = attempt::keep(&browser, start, &mut interaction).await {
                return browser.unavailable(&error);
            }
            let notice = again.then_some(Notice::Done(start.again));
            let html = render(&browser, &interaction, who, notice);
            browser.page(html)
        }
        Err(failure) => attempt::failed(browser, failure, method.name, |browser, notice| {
            render(browser, &interaction, who, Some(notice))
        }),
    }
}

/// The page that sets up a code app, on the way to what requires one.
fn show_enrolment(browser: BrowserRequest, mut interaction: Interaction, who: &Who) -> Response {
    let secret = TotpSecret::generate();
    let mut pending = pending(&totp::METHOD, who, secret.expose().to_vec());
    pending.method = ENROL.to_owned();
    interaction.pending = Some(pending);
    let html = enrolment_page(&browser, &interaction, who, &secret, "", None);
    browser.page(html)
}

fn enrolment_page(
    browser: &BrowserRequest,
    interaction: &Interaction,
    who: &Who,
    secret: &TotpSecret,
    label: &str,
    notice: Option<Notice>,
) -> Html {
    let text = secret.base32();
    signet_pages::totp_add(
        &browser.face(),
        &TotpAddPage {
            action: ACTION,
            interaction: &browser.seal(interaction),
            secret: &text,
            uri: &secret.key_uri(&totp::service_name(browser), &who.user.username),
            label,
            required: true,
            notice,
        },
    )
}

/// The first code of an app that has to be set up: it is added, and the login goes on with it.
async fn enrol(
    browser: BrowserRequest,
    mut interaction: Interaction,
    who: Who,
    form: &Params,
) -> Next {
    let pending = interaction.pending.take();
    let state = pending.filter(|pending| pending.method == ENROL);
    let (Some(state), Some("totp-add")) = (state, form.get("decision")) else {
        return Next::identify(browser, interaction);
    };
    let secret = TotpSecret::from_bytes(&state.state);
    let label = form.get("label").unwrap_or("").to_owned();
    let fresh = match &interaction.half {
        Some(half) => freshness::of_half(&browser.context, &who.user, half),
        None => browser
            .present()
            .and_then(|present| freshness::of(&browser.context, present)),
    };
    let Some(fresh) = fresh else {
        return Next::identify(browser, interaction);
    };
    match try_enrol(&browser, &fresh, &secret, &label, form).await {
        Ok(Some(user)) => {
            let proof = Proof {
                user,
                shown: APP,
                by: By::SetUp,
            };
            Next::Shown(Journey::new(browser, interaction), Box::new(proof))
        }
        Ok(None) => {
            interaction.pending = Some(state);
            let notice = Some(Notice::Error("factors-add-wrong"));
            let html = enrolment_page(&browser, &interaction, &who, &secret, &label, notice);
            Next::Answer(browser.page(html))
        }
        Err(error) => Next::Answer(browser.unavailable(&error)),
    }
}

async fn try_enrol(
    browser: &BrowserRequest,
    fresh: &Fresh<'_>,
    secret: &TotpSecret,
    label: &str,
    form: &Params,
) -> Result<Option<User>, StoreError> {
    let (realm, now) = (&browser.context.realm, browser.context.now());
    let keyring = realm.keyring().clone();
    let typed = form.get("totp").unwrap_or("");
    let before = fresh.user();
    let Some(app) = totp::enrol(fresh, secret, typed, label, &keyring, now)? else {
        return Ok(None);
    };
    // The account is as it was when it was found to have no factor: of two who set one up at once,
    // one does.
    let none_yet = |user: &User| {
        Entrance::Login.opens(user, now)
            && user.password_changed_at == before.password_changed_at
            && !freshness::has_factor(&browser.context, user)
    };
    let users = &realm.people.users;
    let Some(found) = users.found(&before.id, now).await? else {
        return Ok(None);
    };
    if !none_yet(&found.user) {
        return Ok(None);
    }
    let event = browser.context.event(Action::ACCOUNT).operation("totp-add");
    let event = event.subject(&before.id);
    let added = users.change_found(found, now, |draft| draft.put_credential(&app));
    let added = async { added.await.map_err(StoreError::from) };
    let added = realm.audit().act(event, added, store_failed).await?;
    if let Some(user) = &added {
        security_mail::send(browser, user, SecurityEvent::AppAdded).await;
    }
    Ok(added)
}
