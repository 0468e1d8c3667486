//! The steps of a login, whatever it is for and by whatever method: the pages between, the budgets
//! against guessing, the session, the audit record. The methods themselves are rows of [`METHODS`];
//! what is asked for beyond the first of them is decided in [`super::second`].

use signet_oauth::authorize::acr;
use signet_oauth::params::Params;

use super::budgets::{Budgets, Standing};
use super::method::{Attempt, Boxed, Method, MethodPage, Start, Verdict};
use super::second::{self, Before};
use super::{Failure, METHODS, offer, passkey, provider, remembered};
use crate::access::{self, Entrance, Wants};
use crate::browser_request::BrowserRequest;
use crate::freshness;
use crate::http::Response;
use crate::interaction::{Goal, Half, Interaction, MAX_TYPED, Page, Pending, SessionStamp};
use crate::page::{self, ClientLinks, Html, LoginPage, MethodButton, Notice};
use crate::passkeys::Challenge;
use crate::security_mail;
use crate::session::Shown;
use signet_audit::Action;
use signet_directory::User;
use signet_encoding::base64url;
use signet_store::StoreError;

/// Where every form of the login goes, relative to the page that shows it: all of them are one
/// segment below the issuer.
pub const ACTION: &str = "interaction";

const NAME_FIRST: &str = "login-name-first";

/// Shows the login page.
pub fn show(
    visit: BrowserRequest,
    mut interaction: Interaction,
    notice: Option<Notice>,
) -> Response {
    to_login_page(&mut interaction);
    let html = method_page(&visit, first(), &interaction, None, notice);
    visit.page(html)
}

/// The method whose fields stand on the login page: [`METHODS`] begins with it.
fn first() -> &'static Method {
    &METHODS[0]
}

fn to_login_page(interaction: &mut Interaction) {
    interaction.page = Page::Login;
    interaction.pending = None;
    interaction.half = None;
    // A passkey answers each page once.
    interaction.challenge = Some(base64url::encode(&signet_crypto::random::bytes::<16>()));
}

/// The page of a method, filled in.
fn method_page(
    visit: &BrowserRequest,
    method: &Method,
    interaction: &Interaction,
    typed: Option<&str>,
    notice: Option<Notice>,
) -> Html {
    let request = interaction.request();
    let pending = interaction.pending.as_ref();
    let hint = request.and_then(|request| request.login_hint.as_deref());
    (method.page)(&MethodPage {
        visit,
        action: ACTION,
        interaction: &visit.seal(interaction),
        typed: typed
            .or(pending.map(|pending| &*pending.typed))
            .or(hint)
            .unwrap_or(""),
        request,
        can_cancel: request.is_some(),
        leads_on: interaction.leads_on(),
        second: None,
        others: &[],
        can_remember: false,
        state: pending.map_or(&[], |pending| &pending.state),
        challenge: interaction.challenge.as_deref(),
        notice,
    })
}

/// The login page: the fields of the first method, and a button for each that has a page of its
/// own.
pub(super) fn login_page(page: &MethodPage<'_>) -> Html {
    let visit = page.visit;
    let registry = &visit.context.snapshot.registry;
    let client = page
        .request
        .and_then(|request| registry.clients.get(&request.client_id));
    let methods: Vec<MethodButton> = METHODS
        .iter()
        .filter(|method| method.is_first() && method.start.is_some() && (method.offered)(visit))
        .map(Method::button)
        .collect();
    page::login(
        &visit.face(),
        &LoginPage {
            action: page.action,
            interaction: page.interaction,
            client_name: client.map(|c| c.client_name.as_deref().unwrap_or(&c.client_id)),
            links: client.map_or_else(ClientLinks::default, |client| ClientLinks::of(client)),
            username: page.typed,
            methods: &methods,
            passkey: passkey::login_options(visit, page.challenge).as_deref(),
            providers: &provider::buttons(visit),
            local: visit.context.snapshot.settings.local_login,
            recovery: visit.context.realm.people.mailer.is_some(),
            sign_up: visit.context.offers_sign_up(),
            leads_on: page.leads_on,
            can_cancel: page.can_cancel,
            notice: page.notice.clone(),
        },
    )
}

/// What a form of the login came to.
pub enum Outcome {
    /// A page to show.
    Page(Response),
    /// Logged in; the interaction goes on.
    Done(Box<BrowserRequest>, Box<Interaction>),
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

/// Handles a form of the login page, of a method's page, or of what is offered after a login.
pub async fn submit(visit: BrowserRequest, interaction: Interaction, form: &Params) -> Outcome {
    match interaction.page {
        Page::Second => second::submit(visit, interaction, form).await,
        Page::Offer => offer::submit(visit, interaction, form).await,
        Page::Provider => provider::submit(visit, interaction, form).await,
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
        | Page::SignUp => submit_first(visit, interaction, form).await,
    }
}

/// The passkey of the login page. Whether or not it is accepted, the next page asks again.
async fn submit_passkey(
    visit: BrowserRequest,
    mut interaction: Interaction,
    form: &Params,
) -> Outcome {
    let method = &passkey::METHOD;
    if !(method.offered)(&visit) || !passkey::is_answer(form) {
        let notice = Some(Notice::Error(passkey::NO_SCRIPT));
        return Outcome::Page(show(visit, interaction, notice));
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
    match verify_of(&visit, method, state, None, "", form).await {
        Ok(proof) => finish(visit, interaction, proof, form).await,
        Err(failure) => {
            to_login_page(&mut interaction);
            Outcome::Page(failed(visit, failure, method.name, |visit, notice| {
                method_page(visit, first(), &interaction, None, Some(notice))
            }))
        }
    }
}

async fn submit_first(visit: BrowserRequest, interaction: Interaction, form: &Params) -> Outcome {
    let decision = form.get("decision").unwrap_or("");
    let typed = form.get("username").unwrap_or("").trim();
    if let Some(name) = decision.strip_prefix(provider::DECISION) {
        return Outcome::Page(provider::begin(visit, interaction, name, typed).await);
    }
    if interaction.page == Page::Login
        && let Some(name) = provider::of_typed(&visit, typed)
    {
        return Outcome::Page(provider::begin(visit, interaction, &name, typed).await);
    }
    if !visit.context.snapshot.settings.local_login {
        return Outcome::Page(show(visit, interaction, None));
    }
    if decision == passkey::METHOD.decision {
        return submit_passkey(visit, interaction, form).await;
    }
    for method in METHODS.iter().filter(|method| method.is_first()) {
        if let Some(start) = &method.start
            && method.decision == decision
        {
            return Outcome::Page(begin(visit, interaction, method, start, form).await);
        }
    }
    if interaction.page == Page::Method && decision == first().decision {
        return Outcome::Page(show(visit, interaction, None));
    }
    let Some(method) = of_page(&interaction).filter(|method| method.is_first()) else {
        return Outcome::Page(show(visit, interaction, None));
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
    match verify(&visit, method, state, &typed, form).await {
        Ok(proof) => finish(visit, interaction, proof, form).await,
        Err(failure) => Outcome::Page(failed(visit, failure, method.name, |visit, notice| {
            method_page(visit, method, &interaction, Some(&typed), Some(notice))
        })),
    }
}

/// Somebody, and what they have just shown.
pub(crate) struct Proof {
    /// Who.
    pub(crate) user: User,
    /// A name of `signet_oauth::authorize::acr::METHODS`.
    pub(crate) shown: &'static str,
    /// By what.
    pub(crate) by: By,
}

/// What a [`Proof`] is made of, and so when it was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// By this request.
    Now,
    /// By a factor that this request set up: it proves nothing that the account had before.
    SetUp,
    /// By an earlier page of this login.
    Before,
    /// By a login at an identity provider.
    Provider,
}

/// What an attempt answers.
#[derive(Clone, Copy)]
pub(crate) struct State<'a> {
    /// What the method's start left; empty where there was none.
    pub(crate) left: &'a [u8],
    /// For how long the page may be sent again, Unix seconds.
    pub(crate) ends_at: u64,
}

impl State<'_> {
    /// Of an attempt that answers no page.
    pub(crate) const NONE: State<'static> = State {
        left: &[],
        ends_at: 0,
    };
}

/// One attempt by a method: counted first, then decided, then settled.
pub(crate) async fn verify(
    visit: &BrowserRequest,
    method: &Method,
    state: State<'_>,
    typed: &str,
    form: &Params,
) -> Result<Proof, Failure> {
    let users = &visit.context.realm.people.users;
    let user = match typed.is_empty() {
        true => None,
        false => users.by_login(typed, visit.context.now()).await?,
    };
    verify_of(visit, method, state, user, typed, form).await
}

/// As [`verify`], for an account that is known.
pub(crate) async fn verify_of(
    visit: &BrowserRequest,
    method: &Method,
    state: State<'_>,
    user: Option<User>,
    typed: &str,
    form: &Params,
) -> Result<Proof, Failure> {
    let budgets = Budgets::of(visit, method.guess, user.as_ref(), typed);
    let standing = budgets.begin(visit).await?;
    let attempt = Attempt {
        visit,
        user: user.as_ref(),
        state: state.left,
        ends_at: state.ends_at,
        form,
        standing,
    };
    let proven = |user: Box<User>, shown| Proof {
        user: *user,
        shown,
        by: By::Now,
    };
    match (method.verify)(&attempt).await? {
        Verdict::Proven(user) => {
            budgets.right(visit).await?;
            Ok(proven(user, method.shows[0]))
        }
        Verdict::ProvenBy(user, shown) => {
            budgets.right(visit).await?;
            Ok(proven(user, shown))
        }
        Verdict::Wrong => {
            budgets.wrong(visit).await?;
            Err(Failure::Wrong(method.wrong, user.map(|user| user.id)))
        }
        Verdict::Expired => {
            budgets.wrong(visit).await?;
            Err(Failure::Expired(method.expired))
        }
        Verdict::Void => {
            budgets.right(visit).await?;
            Err(Failure::Expired(method.expired))
        }
        Verdict::Busy => {
            budgets.right(visit).await?;
            Err(Failure::BUSY)
        }
    }
}

/// Starts a method that has a step before its attempt, and shows its page.
async fn begin(
    visit: BrowserRequest,
    mut interaction: Interaction,
    method: &'static Method,
    start: &Start,
    form: &Params,
) -> Response {
    let pending = interaction.pending.as_ref();
    let again = pending
        .filter(|pending| interaction.page == Page::Method && pending.method == method.name)
        .map(|pending| pending.typed.clone());
    let is_again = again.is_some();
    let typed = again.unwrap_or_else(|| form.get("username").unwrap_or("").trim().to_owned());
    if typed.is_empty() && start.needs_name {
        return show(visit, interaction, Some(Notice::Error(NAME_FIRST)));
    }
    if !(method.offered)(&visit) || typed.len() > MAX_TYPED {
        return show(visit, interaction, Some(Notice::Error(first().wrong)));
    }
    match run(&visit, start, &typed).await {
        Ok(state) => {
            interaction.page = Page::Method;
            interaction.pending = Some(Pending {
                method: method.name.to_owned(),
                typed,
                state,
            });
            if let Err(error) = keep(&visit, start, &mut interaction).await {
                return visit.unavailable(&error);
            }
            let notice = is_again.then_some(Notice::Done(start.again));
            let html = method_page(&visit, method, &interaction, None, notice);
            visit.page(html)
        }
        Err(failure) => {
            to_login_page(&mut interaction);
            failed(visit, failure, method.name, |visit, notice| {
                method_page(visit, first(), &interaction, Some(&typed), Some(notice))
            })
        }
    }
}

/// Keeps the page of a method that was started, where it may be reached by another way. Both are
/// one interaction: what they lead to is given once.
pub(super) async fn keep(
    visit: &BrowserRequest,
    start: &Start,
    interaction: &mut Interaction,
) -> Result<(), StoreError> {
    let Some(keep) = start.keep else {
        return Ok(());
    };
    interaction.id = interaction
        .id
        .or_else(|| Some(signet_crypto::random::bytes()));
    let state = interaction.pending.as_ref();
    let state = state.map_or(&[][..], |pending| &pending.state);
    keep(visit, state, &visit.seal(interaction)).await
}

/// Each start counts, right or wrong.
async fn run(visit: &BrowserRequest, start: &Start, typed: &str) -> Result<Vec<u8>, Failure> {
    let users = &visit.context.realm.people.users;
    let user = match typed.is_empty() {
        true => None,
        false => users.by_login(typed, visit.context.now()).await?,
    };
    run_for(visit, start, user.as_ref(), typed).await
}

/// As [`run`], for an account that is known.
pub(super) async fn run_for(
    visit: &BrowserRequest,
    start: &Start,
    user: Option<&User>,
    typed: &str,
) -> Result<Vec<u8>, Failure> {
    let budgets = Budgets::of(visit, start.counts, user, typed);
    let standing = budgets.begin(visit).await?;
    budgets.wrong(visit).await?;
    let user = user.filter(|_| standing == Standing::Open);
    Ok((start.run)(visit, user).await?)
}

/// The page with what went wrong, and the record of it.
pub(super) fn failed(
    visit: BrowserRequest,
    failure: Failure,
    method: &str,
    html: impl FnOnce(&BrowserRequest, Notice) -> Html,
) -> Response {
    let event = visit.context.event(Action::LOGIN).method(method);
    let event = event.refused(failure.code());
    let event = match &failure {
        // Whose account it was; never what somebody typed.
        Failure::Wrong(_, Some(user_id)) => event.subject(user_id),
        Failure::Wrong(_, None)
        | Failure::Expired(_)
        | Failure::Invalid(_)
        | Failure::LoginRequired
        | Failure::Later(..)
        | Failure::Store(_) => event,
    };
    visit.context.realm.audit().record(event);
    let metrics = &visit.context.realm.host.metrics;
    metrics.login(method, failure.code());
    refused(visit, failure, html)
}

/// The page with what went wrong, where it was recorded already.
pub(super) fn refused(
    visit: BrowserRequest,
    failure: Failure,
    html: impl FnOnce(&BrowserRequest, Notice) -> Html,
) -> Response {
    match failure {
        Failure::Wrong(text, _) | Failure::Expired(text) | Failure::Invalid(text) => {
            let html = html(&visit, Notice::Error(text));
            visit.page(html)
        }
        // A login begins again with nothing to say.
        Failure::LoginRequired => visit.start_again(),
        Failure::Later(status, retry_after, text) => {
            let html = html(&visit, Notice::Error(text));
            visit.later(status, retry_after, html)
        }
        Failure::Store(error) => visit.unavailable(&error),
    }
}

/// Asks for what else is to be shown, or begins the session and notes in the interaction what was
/// done. `form`: what the person sent with the proof. Every step of a login comes to this: boxed,
/// for a step inside a step would not fit on a thread's stack in a build without optimisation.
pub(crate) fn finish(
    visit: BrowserRequest,
    interaction: Interaction,
    proof: Proof,
    form: &Params,
) -> Boxed<'_, Outcome> {
    Box::pin(async move {
        match try_finish(visit, interaction, proof, form).await {
            Ok(outcome) => outcome,
            Err((visit, error)) => Outcome::Page(visit.unavailable(&error)),
        }
    })
}

async fn try_finish(
    mut visit: BrowserRequest,
    mut interaction: Interaction,
    proof: Proof,
    form: &Params,
) -> Result<Outcome, (BrowserRequest, StoreError)> {
    let Proof { user, shown, by } = proof;
    let now = visit.context.now();
    let half = interaction.half.take();
    let half = half.filter(|half| half.user_id == user.id);
    let session = visit
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
        .map_or_else(|| freshness::recent(&visit.context), Half::since);
    let brought = match provider::bring(&mut visit, &interaction, &user).await {
        Ok(brought) => brought,
        Err(error) => return Err((visit, error)),
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
        match is_spared(&visit, &user, &methods).await {
            Ok(true) => methods.push(Shown::new(remembered::SHOWS, now)),
            Ok(false) => {}
            Err(error) => return Err((visit, error)),
        }
    }
    let will_be = brought.user.as_ref().unwrap_or(&user);
    let before_session =
        second::before_session(&visit, &interaction, &user, will_be, &methods, since).await;
    match before_session {
        Ok(Before::Nothing) => {}
        Ok(Before::Page) => {
            let issue_ms = visit.context.issue_ms;
            let since_ms = half.as_ref().map_or(issue_ms, |half| half.since_ms);
            let begun_at = half.as_ref().map_or(now, Half::begun);
            interaction.half = Some(Half::new(&user, &methods, begun_at, since_ms));
            return Ok(Outcome::Page(second::show(visit, interaction, None).await));
        }
        Ok(Before::Unreachable) => {
            return Ok(Outcome::Page(visit.error(&second::unreachable())));
        }
        Err(error) => return Err((visit, error)),
    }
    let names: Vec<&str> = methods.iter().map(|one| &*one.method).collect();
    let registry = &visit.context.snapshot.registry;
    let wants = Wants {
        sought: interaction.sought(registry),
        shown: Some(&names),
        classes: &interaction.required,
        ..Wants::default()
    };
    // Every page before was for this: nothing is left that keeps the person out.
    if access::ask(&visit.context, Entrance::Login, will_be, &wants).is_err() {
        return Ok(Outcome::Page(show(visit, interaction, None)));
    }
    let usable = usable(&visit, &user);
    let device = visit.device();
    let is_new = device.is_none_or(|device| device.known(&user).is_none());
    let person = is_new.then(|| user.clone());
    if let Err(error) = visit.log_in(user, &methods, auth_time).await {
        return Err((visit, error));
    }
    if let Some(person) = &person {
        security_mail::tell_of_new_device(&visit, person).await;
    }
    if form.get("remember").is_some()
        && acr::is_enrolled(shown)
        && let Err(error) = remembered::remember(&visit).await
    {
        return Err((visit, error));
    }
    interaction.pending = None;
    interaction.page = Page::Start;
    interaction.strict = false;
    if let Err(failure) = provider::complete(&mut visit, &mut interaction, since).await {
        let page = failed(visit, failure, provider::METHOD, |visit, notice| {
            method_page(visit, first(), &interaction, None, Some(notice))
        });
        return Ok(Outcome::Page(page));
    }
    // Somebody of whom more methods are asked, and who has them, has one more page before them.
    let half_way = match first_wish(&interaction) {
        Some(class) => !acr::missing(class, &names, &usable).is_empty(),
        None => false,
    };
    if half_way {
        interaction.step_up = true;
        return Ok(Outcome::Done(Box::new(visit), Box::new(interaction)));
    }
    let row = visit.present().map(|present| &present.found.row);
    interaction.login = row.map(SessionStamp::by);
    Ok(offer::after(visit, interaction, form).await)
}

/// Whether the account's second factor is not asked for, since this browser is remembered.
async fn is_spared(
    visit: &BrowserRequest,
    user: &User,
    shown: &[Shown],
) -> Result<bool, StoreError> {
    let names: Vec<&str> = shown.iter().map(|one| &*one.method).collect();
    Ok(
        second::wants_second_factor(&visit.context, user, &names).await?
            && remembered::is_remembered(visit, user).await?,
    )
}

/// What this account can log in with here: names of `signet_oauth::authorize::acr::METHODS`.
pub(super) fn usable(visit: &BrowserRequest, user: &User) -> Vec<&'static str> {
    METHODS
        .iter()
        .filter(|method| (method.offered)(visit) && (method.usable)(visit, user))
        .flat_map(|method| method.shows)
        .copied()
        .collect()
}

/// The class that the request wishes most, as an essential claim or by `acr_values`, where the
/// server has it.
pub(super) fn first_wish(interaction: &Interaction) -> Option<&str> {
    let Goal::Authorize(request) = &interaction.goal else {
        return None;
    };
    let essential = request.claims.as_ref().and_then(|c| c.essential_acr());
    let wanted = essential.unwrap_or(&request.acr_values);
    wanted.first().map(String::as_str)
}
