//! A further step of a login: what is asked for beyond what somebody has shown, and its pages.
//!
//! There are two beginnings. A login is half way ([`crate::interaction::Half`]) where the account
//! has a second factor and it was not shown: no session is begun before that. Or a session is
//! there, and what the interaction leads to asks for more than it has (RFC 9470): then only what is
//! missing is asked for, and the session goes on with it.

use signet_directory::{CredentialKind, User};
use signet_oauth::authorize::acr;
use signet_oauth::error::{ErrorCode, OAuthError};
use signet_oauth::params::Params;
use signet_revocation::RevocationQuery;
use signet_store::StoreError;

use super::flow::{self, Outcome};
use super::method::{Method, MethodPage};
use super::totp::{self, TotpSecret};
use super::{Failure, METHODS, first_password, passkey, policy, remembered};
use crate::browser_request::{BrowserRequest, store_failed};
use crate::http::{Context, Response};
use crate::interaction::{Interaction, Page, Pending};
use crate::page::{self, Html, MethodButton, Notice, StepPage, TotpAddPage};
use crate::security_mail::{self, SecurityEvent};
use signet_audit::Action;

/// Whether the account is asked for a second factor beyond these methods: it has one, and none was
/// shown.
pub(crate) fn wants_second_factor<S: AsRef<str>>(user: &User, shown: &[S]) -> bool {
    user.has(CredentialKind::Totp) && !acr::second_factor_shown(shown)
}

/// Whether somebody has to set a new password before a session begins. Where the password is a
/// directory's, it is changed there.
pub(crate) fn must_change_password(context: &Context, user: &User) -> bool {
    user.must_change_password && context.realm.people.users.may(user).password
}

/// Whose step it is, and what they have shown.
pub(super) struct Who {
    pub(super) user: User,
    pub(super) methods: Vec<String>,
}

/// None: there is nobody any more, and the login begins anew.
async fn who(visit: &BrowserRequest, interaction: &Interaction) -> Result<Option<Who>, StoreError> {
    let Some(half) = &interaction.half else {
        let present = visit.present().filter(|_| interaction.step_up);
        return Ok(present.map(|present| Who {
            user: present.user.clone(),
            methods: owned(&present.found.row.methods()),
        }));
    };
    let (realm, now) = (&visit.context.realm, visit.context.now());
    let user = realm.people.users.by_id(&half.user_id, now).await?;
    let revoked = realm.revocations.is_revoked(&RevocationQuery {
        issued_at_ms: half.since_ms,
        user_id: Some(&half.user_id),
        ..RevocationQuery::default()
    });
    let holds = |user: &User| {
        user.enabled && user.password_changed_at == half.password_changed_at && !revoked
    };
    Ok(user.filter(holds).map(|user| Who {
        user,
        methods: half.methods.clone(),
    }))
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// What comes next for somebody who has shown some methods.
enum Next {
    /// Nothing: a session begins, or goes on.
    Nothing,
    /// One of these methods, in the order of the table.
    Ask(Vec<&'static Method>),
    /// They have nothing that would do, and set up a code app.
    Enrol,
    /// Everything was shown, and a new password comes before the session.
    NewPassword,
    /// They have nothing that would do, and nothing that they could set up here.
    Unreachable,
}

fn next(visit: &BrowserRequest, interaction: &Interaction, who: &Who) -> Next {
    let may = |method: &&Method| {
        method.is_second() && (method.offered)(visit) && (method.usable)(visit, &who.user)
    };
    // A remembered browser is not enough for what is strict.
    let shown = who.methods.iter().map(String::as_str);
    let counted: Vec<&str> = shown
        .filter(|name| !interaction.strict || *name != remembered::SHOWS)
        .collect();
    if wants_second_factor(&who.user, &counted) {
        let enrolled = METHODS.iter().filter(|method| method.is_enrolled());
        return Next::Ask(enrolled.filter(may).collect());
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
    for class in policy::required(visit, interaction, &who.user) {
        if acr::holds(&class, &counted) {
            continue;
        }
        let helpful = of(&acr::helpful(&class, &counted, &candidates));
        if !helpful.is_empty() {
            return Next::Ask(helpful);
        }
        // Whoever has a second factor uses it: only where there is none is one set up on the way.
        let has_factor = acr::second_factor_shown(&counted)
            || who.user.has(CredentialKind::Totp)
            || who.user.has(CredentialKind::Passkey);
        if has_factor {
            return Next::Unreachable;
        }
        let with_app: Vec<&'static str> = candidates.iter().copied().chain([APP]).collect();
        let missing = acr::missing(&class, &counted, &with_app);
        if !missing.contains(&APP) {
            return Next::Unreachable;
        }
        // What they have comes before what they set up: nobody sets up a factor for half a proof.
        let first = of(&missing);
        return match first.is_empty() {
            true => Next::Enrol,
            false => Next::Ask(first),
        };
    }
    // A session that is there goes on: it is the next login that has to.
    if interaction.half.is_some() && must_change_password(&visit.context, &who.user) {
        return Next::NewPassword;
    }
    let wish = flow::first_wish(interaction).filter(|_| interaction.half.is_none());
    let helpful = wish.map(|class| acr::helpful(class, &counted, &candidates));
    match helpful.map(|helpful| of(&helpful)) {
        Some(methods) if !methods.is_empty() => Next::Ask(methods),
        Some(_) | None => Next::Nothing,
    }
}

/// What a code app shows.
const APP: &str = totp::METHOD.name;

/// What of [`Next`] there is before a session begins for somebody.
pub(super) enum Before {
    /// Nothing.
    Nothing,
    /// A page.
    Page,
    /// What is required cannot be reached.
    Unreachable,
}

/// What there is before a session begins for somebody who has shown these methods.
pub(super) fn before_session(
    visit: &BrowserRequest,
    interaction: &Interaction,
    user: &User,
    methods: &[String],
) -> Before {
    let who = Who {
        user: user.clone(),
        methods: methods.to_vec(),
    };
    let required = policy::required(visit, interaction, user);
    let reached = required.iter().all(|class| acr::holds(class, methods));
    let must_change = must_change_password(&visit.context, user);
    if reached && !wants_second_factor(user, methods) && !must_change {
        return Before::Nothing;
    }
    match next(visit, interaction, &who) {
        Next::Nothing if !must_change => Before::Nothing,
        Next::Nothing | Next::Ask(_) | Next::Enrol | Next::NewPassword => Before::Page,
        Next::Unreachable => Before::Unreachable,
    }
}

/// The methods of which one is asked for now, in the order of the table.
fn asked(visit: &BrowserRequest, interaction: &Interaction, who: &Who) -> Vec<&'static Method> {
    match next(visit, interaction, who) {
        Next::Ask(methods) => methods,
        Next::Nothing | Next::Enrol | Next::NewPassword | Next::Unreachable => Vec::new(),
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
pub fn step_up(visit: &BrowserRequest, interaction: &Interaction) -> StepUp {
    let Some(present) = visit.present() else {
        return StepUp::Login;
    };
    let who = Who {
        user: present.user.clone(),
        methods: owned(&present.found.row.methods()),
    };
    match next(visit, interaction, &who) {
        _ if who.methods.is_empty() => StepUp::Login,
        Next::Ask(_) | Next::Enrol | Next::NewPassword => StepUp::Page,
        Next::Nothing => StepUp::Login,
        Next::Unreachable => StepUp::Unreachable,
    }
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

/// Shows the page of the first method that is asked for. Where it needs a start, which may send a
/// mail, the person asks for it by a button.
pub async fn show(
    visit: BrowserRequest,
    mut interaction: Interaction,
    notice: Option<Notice>,
) -> Response {
    let who = match who(&visit, &interaction).await {
        Ok(Some(who)) => who,
        Ok(None) => return flow::show(visit, interaction, notice),
        Err(error) => return visit.unavailable(&error),
    };
    interaction.page = Page::Second;
    let methods = match next(&visit, &interaction, &who) {
        Next::Ask(methods) => methods,
        Next::Enrol => return show_enrolment(visit, interaction, &who),
        Next::NewPassword => return first_password::show(visit, interaction, &who, None),
        Next::Nothing => return flow::show(visit, interaction, notice),
        Next::Unreachable => return visit.error(&unreachable()),
    };
    let Some(method) = methods.first() else {
        return flow::show(visit, interaction, notice);
    };
    interaction.pending = method
        .start
        .is_none()
        .then(|| pending(method, &who, passkey::first_state(method)));
    let html = render(&visit, &interaction, &who, notice);
    visit.page(html)
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
    visit: &BrowserRequest,
    interaction: &Interaction,
    who: &Who,
    notice: Option<Notice>,
) -> Html {
    let methods = asked(visit, interaction, who);
    let pending = interaction.pending.as_ref();
    let method = pending.and_then(|pending| methods.iter().find(|m| m.name == pending.method));
    let others: Vec<MethodButton> = methods
        .iter()
        .filter(|other| method.is_none_or(|method| method.name != other.name))
        .map(|method| method.button())
        .collect();
    let request = interaction.request();
    let page = MethodPage {
        visit,
        action: flow::ACTION,
        interaction: &visit.seal(interaction),
        typed: &who.user.username,
        request,
        can_cancel: request.is_some(),
        leads_on: interaction.leads_on(),
        second: Some(&who.user),
        others: &others,
        can_remember: method.is_some_and(|method| method.is_enrolled()),
        state: pending.map_or(&[], |pending| &pending.state),
        challenge: None,
        notice,
    };
    match method {
        Some(method) => (method.page)(&page),
        None => page::choose_step(&visit.face(), &step_page(&page, &who.user)),
    }
}

/// What the pages of further steps have in common.
pub(super) fn step_page<'a>(page: &'a MethodPage<'a>, user: &'a User) -> StepPage<'a> {
    StepPage {
        action: page.action,
        interaction: page.interaction,
        username: &user.username,
        others: page.others,
        can_remember: page.can_remember,
        remember_days: remembered::LIFETIME / 86_400,
        can_cancel: page.can_cancel,
        notice: page.notice.clone(),
    }
}

/// Handles a form of a further step.
pub(super) async fn submit(
    visit: BrowserRequest,
    mut interaction: Interaction,
    form: &Params,
) -> Outcome {
    let who = match who(&visit, &interaction).await {
        Ok(Some(who)) => who,
        Ok(None) => return Outcome::Page(flow::show(visit, interaction, None)),
        Err(error) => return Outcome::Page(visit.unavailable(&error)),
    };
    let methods = match next(&visit, &interaction, &who) {
        Next::Enrol => return enrol(visit, interaction, who, form).await,
        Next::NewPassword => return first_password::submit(visit, interaction, who, form).await,
        Next::Ask(methods) => methods,
        Next::Nothing | Next::Unreachable => Vec::new(),
    };
    if methods.is_empty() {
        // Another tab has shown it, or the factor was removed: the login begins anew.
        return Outcome::Page(flow::show(visit, interaction, None));
    }
    let decision = form.get("decision").unwrap_or("");
    if decision == "other" {
        interaction.step_up = false;
        return Outcome::Page(flow::show(visit, interaction, None));
    }
    // The button that leads to the passkey is also the one that brings its answer.
    let answered = decision == passkey::METHOD.decision && passkey::is_answer(form);
    if !answered && let Some(method) = methods.iter().find(|method| method.decision == decision) {
        return Outcome::Page(turn_to(visit, interaction, &who, method).await);
    }
    let chosen = interaction.pending.as_ref().and_then(|pending| {
        let method = methods.iter().find(|method| method.name == pending.method);
        method.map(|method| (*method, pending.state.clone()))
    });
    let Some((method, state)) = chosen else {
        return Outcome::Page(show(visit, interaction, None).await);
    };
    let user = Some(who.user.clone());
    let typed = &who.user.username;
    let verified = flow::verify_of(&visit, method, &state, user, typed, form).await;
    // A code that was mailed to somebody else is nothing here.
    let verified = verified.and_then(|proof| match proof.user.id == who.user.id {
        true => Ok(proof),
        false => Err(Failure::Wrong(method.wrong, Some(who.user.id.clone()))),
    });
    match verified {
        Ok(proof) => flow::finish(visit, interaction, proof, form).await,
        Err(failure) => {
            if method.start.is_none() {
                // A passkey's challenge may be consumed by now: the next try answers another one.
                interaction.pending = Some(pending(method, &who, passkey::first_state(method)));
            }
            Outcome::Page(flow::failed(
                visit,
                failure,
                method.name,
                |visit, notice| render(visit, &interaction, &who, Some(notice)),
            ))
        }
    }
}

/// Shows a method's page, after its start where it has one.
async fn turn_to(
    visit: BrowserRequest,
    mut interaction: Interaction,
    who: &Who,
    method: &'static Method,
) -> Response {
    let Some(start) = &method.start else {
        interaction.pending = Some(pending(method, who, passkey::first_state(method)));
        let html = render(&visit, &interaction, who, None);
        return visit.page(html);
    };
    let again = interaction.pending.as_ref();
    let again = again.is_some_and(|pending| pending.method == method.name);
    match flow::run_for(&visit, start, Some(&who.user), &who.user.username).await {
        Ok(state) => {
            interaction.pending = Some(pending(method, who, state));
            if let Err(error) = flow::keep(&visit, start, &mut interaction).await {
                return visit.unavailable(&error);
            }
            let notice = again.then_some(Notice::Done(start.again));
            let html = render(&visit, &interaction, who, notice);
            visit.page(html)
        }
        Err(failure) => flow::failed(visit, failure, method.name, |visit, notice| {
            render(visit, &interaction, who, Some(notice))
        }),
    }
}

/// The page that sets up a code app, on the way to what requires one.
fn show_enrolment(visit: BrowserRequest, mut interaction: Interaction, who: &Who) -> Response {
    let secret = TotpSecret::generate();
    let mut pending = pending(&totp::METHOD, who, secret.expose().to_vec());
    pending.method = ENROL.to_owned();
    interaction.pending = Some(pending);
    let html = enrolment_page(&visit, &interaction, who, &secret, "", None);
    visit.page(html)
}

fn enrolment_page(
    visit: &BrowserRequest,
    interaction: &Interaction,
    who: &Who,
    secret: &TotpSecret,
    label: &str,
    notice: Option<Notice>,
) -> Html {
    let issuer = &visit.context.snapshot.settings.issuer;
    let text = secret.base32();
    page::totp_add(
        &visit.face(),
        &TotpAddPage {
            action: flow::ACTION,
            interaction: &visit.seal(interaction),
            secret: &text,
            uri: &secret.key_uri(issuer, &who.user.username),
            label,
            required: true,
            notice,
        },
    )
}

/// The first code of an app that has to be set up: it is added, and the login goes on with it.
async fn enrol(
    visit: BrowserRequest,
    mut interaction: Interaction,
    who: Who,
    form: &Params,
) -> Outcome {
    let pending = interaction.pending.take();
    let state = pending.filter(|pending| pending.method == ENROL);
    let (Some(state), Some("totp-add")) = (state, form.get("decision")) else {
        return Outcome::Page(flow::show(visit, interaction, None));
    };
    let secret = TotpSecret::from_bytes(&state.state);
    let label = form.get("label").unwrap_or("").to_owned();
    match try_enrol(&visit, &who, &secret, &label, form).await {
        Ok(Some(user)) => {
            let proof = flow::Proof { user, shown: APP };
            flow::finish(visit, interaction, proof, form).await
        }
        Ok(None) => {
            interaction.pending = Some(state);
            let notice = Some(Notice::Error("factors-add-wrong"));
            let html = enrolment_page(&visit, &interaction, &who, &secret, &label, notice);
            Outcome::Page(visit.page(html))
        }
        Err(error) => Outcome::Page(visit.unavailable(&error)),
    }
}

async fn try_enrol(
    visit: &BrowserRequest,
    who: &Who,
    secret: &TotpSecret,
    label: &str,
    form: &Params,
) -> Result<Option<User>, StoreError> {
    let (realm, now) = (&visit.context.realm, visit.context.now());
    let keyring = realm.keyring().clone();
    let typed = form.get("totp").unwrap_or("");
    let Some(app) = totp::enrol(secret, typed, label, &keyring, &who.user.id, now)? else {
        return Ok(None);
    };
    // The account is as it was when it was found to have no factor: of two who set one up at once,
    // one does.
    let none_yet = |user: &User| {
        user.enabled
            && user.password_changed_at == who.user.password_changed_at
            && !user.has(CredentialKind::Totp)
    };
    let users = &realm.people.users;
    let Some(found) = users.found(&who.user.id, now).await? else {
        return Ok(None);
    };
    if !none_yet(&found.user) {
        return Ok(None);
    }
    let event = visit.context.event(Action::ACCOUNT).operation("totp-add");
    let event = event.subject(&who.user.id);
    let added = users.change_found(found, now, |draft| draft.put_credential(&app));
    let added = async { added.await.map_err(StoreError::from) };
    let added = realm.audit().act(event, added, store_failed).await?;
    if let Some(user) = &added {
        security_mail::send(visit, user, SecurityEvent::AppAdded).await;
    }
    Ok(added)
}
