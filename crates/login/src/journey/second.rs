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

use signet_directory::{CredentialName, User};
use signet_oauth::authorize::acr;
use signet_oauth::error::{ErrorCode, OAuthError};
use signet_oauth::params::Params;
use signet_revocation::RevocationQuery;
use signet_store::StoreError;

use super::flow::{self, By, Outcome};
use super::method::{Boxed, Method, MethodPage};
use super::totp::{self, TotpSecret};
use super::{METHODS, first_password, passkey, policy, provider, remembered, terms};
use crate::failure::Failure;
use crate::freshness::{self, Asked, Fresh};
use crate::user_passkeys;
use signet_audit::Action;
use signet_directory::session::Shown;
use signet_pages::{Html, MethodButton, Notice, StepPage, TotpAddPage};
use signet_request::access::{self, Entrance, Owed};
use signet_request::browser_request::{BrowserRequest, LoggedIn, store_failed};
use signet_request::http::{Context, Response};
use signet_request::interaction::{Interaction, Page, Pending};
use signet_request::security_mail::{self, SecurityEvent};

/// The factors of an account that each login asks for. A passkey that verifies its user is none of
/// them, so that there is another way in; what outlives the session asks for it ([`freshness`]).
#[derive(Clone, Copy)]
struct Factors {
    /// A code app.
    app: bool,
    /// A security key that does not verify its user: it is nothing but a second factor.
    key: bool,
}

impl Factors {
    async fn of(context: &Context, user: &User) -> Result<Factors, StoreError> {
        let has = |when| {
            let is = |name: &CredentialName| freshness::asked(name.kind) == when;
            user.credentials().iter().any(is)
        };
        Ok(Factors {
            app: has(Asked::Logins),
            key: has(Asked::Changes) && user_passkeys::has_security_key(context, user).await?,
        })
    }

    /// Whether these methods leave one of them to be asked for.
    fn misses<S: AsRef<str>>(self, shown: &[S]) -> bool {
        let is_enrolled = |name: &S| acr::is_enrolled(name.as_ref());
        (self.app && !acr::second_factor_shown(shown))
            || (self.key && !shown.iter().any(is_enrolled))
    }
}

/// Whether a login of the account is asked for a second factor beyond these methods: it has one,
/// and none was shown.
///
/// # Errors
/// The store's.
pub async fn wants_second_factor<S: AsRef<str>>(
    context: &Context,
    user: &User,
    shown: &[S],
) -> Result<bool, StoreError> {
    Ok(Factors::of(context, user).await?.misses(shown))
}

/// Whose step it is, and what they have shown.
pub(super) struct Who {
    pub(super) user: User,
    /// As the record will be after the login, where a provider's word changes it: what is demanded
    /// of a group is demanded of who is about to be in it.
    will_be: User,
    pub(super) shown: Vec<Shown>,
    /// From when on it counts as just shown, Unix seconds: a login's beginning.
    since: u64,
    factors: Factors,
}

impl Who {
    fn methods(&self) -> Vec<&str> {
        self.shown.iter().map(|one| &*one.method).collect()
    }

    /// The methods that count for classes. A remembered browser is not enough for what is strict.
    fn counted(&self, interaction: &Interaction) -> Vec<&str> {
        let mut methods = self.methods();
        methods.retain(|name| !interaction.strict || *name != remembered::SHOWS);
        methods
    }

    /// What was just shown.
    fn just_shown(&self) -> Vec<&str> {
        freshness::counted(&self.shown, self.since)
    }

    /// Whether a factor of the account is asked for. For what is strict, what was just shown
    /// counts alone.
    fn misses_factor(&self, visit: &BrowserRequest, interaction: &Interaction) -> bool {
        match interaction.strict {
            true => freshness::lacks_factor(&visit.context, &self.user, &self.just_shown()),
            false => self.factors.misses(&self.methods()),
        }
    }
}

/// None: there is nobody any more, and the login begins again.
async fn who(visit: &BrowserRequest, interaction: &Interaction) -> Result<Option<Who>, StoreError> {
    let Some(half) = &interaction.half else {
        return match visit.present().filter(|_| interaction.step_up) {
            Some(present) => of_session(visit, present).await.map(Some),
            None => Ok(None),
        };
    };
    let (realm, now) = (&visit.context.realm, visit.context.now());
    let user = realm.people.users.by_id(&half.user_id, now).await?;
    let revoked = realm.revocations.is_revoked(&RevocationQuery {
        issued_at_ms: half.since_ms,
        user_id: Some(&half.user_id),
        ..RevocationQuery::default()
    });
    let holds = |user: &User| {
        Entrance::Login.opens(user, now)
            && user.password_changed_at == half.password_changed_at
            && !revoked
    };
    let Some(user) = user.filter(holds) else {
        return Ok(None);
    };
    Ok(Some(Who {
        will_be: provider::as_will_be(visit, interaction, &user).await?,
        factors: Factors::of(&visit.context, &user).await?,
        user,
        shown: half.shown(),
        since: half.since(),
    }))
}

async fn of_session(visit: &BrowserRequest, present: &LoggedIn) -> Result<Who, StoreError> {
    Ok(Who {
        user: present.user.clone(),
        will_be: present.user.clone(),
        shown: present.found.row.shown(),
        since: freshness::recent(&visit.context),
        factors: Factors::of(&visit.context, &present.user).await?,
    })
}

/// What comes next for somebody who has shown some methods.
enum Next {
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

fn next(visit: &BrowserRequest, interaction: &Interaction, who: &Who) -> Next {
    let may = |method: &&Method| {
        method.is_second() && (method.offered)(visit) && (method.usable)(visit, &who.user)
    };
    let counted = who.counted(interaction);
    let just_shown = who.just_shown();
    if who.misses_factor(visit, interaction) {
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
        return Next::Ask(METHODS.iter().filter(fits).filter(may).collect());
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
    for class in policy::required(visit, interaction, &who.will_be) {
        if acr::holds(&class, &counted) {
            continue;
        }
        let helpful = of(&acr::helpful(&class, &counted, &candidates));
        if !helpful.is_empty() {
            return Next::Ask(helpful);
        }
        // Whoever has a second factor uses it: only where there is none is one set up on the way.
        let has_factor = freshness::has_factor(&visit.context, &who.user);
        if has_factor || acr::second_factor_shown(&counted) {
            return Next::Unreachable;
        }
        let with_app: Vec<&'static str> = candidates.iter().copied().chain([APP]).collect();
        let missing = acr::missing(&class, &counted, &with_app);
        if !missing.contains(&APP) {
            return Next::Unreachable;
        }
        // What they have comes before what they set up: nobody sets up a factor for half a proof.
        let first = of(&missing);
        return match (first.is_empty(), acr::begins_login(&just_shown)) {
            (true, true) => Next::Enrol,
            (true, false) => Next::Login,
            (false, _) => Next::Ask(first),
        };
    }
    // A session that is there goes on: it is the next login that has to.
    if interaction.half.is_some()
        && let Some(owed) = access::owed(&visit.context, &who.user)
    {
        return match owed {
            Owed::Password => Next::NewPassword,
            Owed::Terms => Next::Terms,
        };
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

/// What there is before a session begins for somebody who has shown this. `will_be`: their record
/// as it will be after the login. `since`: when the login began, Unix seconds.
pub(super) async fn before_session(
    visit: &BrowserRequest,
    interaction: &Interaction,
    user: &User,
    will_be: &User,
    shown: &[Shown],
    since: u64,
) -> Result<Before, StoreError> {
    let who = Who {
        user: user.clone(),
        will_be: will_be.clone(),
        shown: shown.to_vec(),
        since,
        factors: Factors::of(&visit.context, user).await?,
    };
    let required = policy::required(visit, interaction, will_be);
    let counted = who.counted(interaction);
    let reached = required.iter().all(|class| acr::holds(class, &counted));
    let owes = access::owed(&visit.context, user).is_some();
    if reached && !who.misses_factor(visit, interaction) && !owes {
        return Ok(Before::Nothing);
    }
    Ok(match next(visit, interaction, &who) {
        Next::Nothing if !owes => Before::Nothing,
        Next::Nothing
        | Next::Ask(_)
        | Next::Enrol
        | Next::Login
        | Next::NewPassword
        | Next::Terms => Before::Page,
        Next::Unreachable => Before::Unreachable,
    })
}

/// The methods of which one is asked for now, in the order of the table.
fn asked(visit: &BrowserRequest, interaction: &Interaction, who: &Who) -> Vec<&'static Method> {
    match next(visit, interaction, who) {
        Next::Ask(methods) => methods,
        Next::Nothing
        | Next::Enrol
        | Next::Login
        | Next::NewPassword
        | Next::Terms
        | Next::Unreachable => Vec::new(),
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
    visit: &BrowserRequest,
    interaction: &Interaction,
) -> Result<StepUp, StoreError> {
    let Some(present) = visit.present() else {
        return Ok(StepUp::Login);
    };
    let who = of_session(visit, present).await?;
    Ok(match next(visit, interaction, &who) {
        _ if who.shown.is_empty() => StepUp::Login,
        Next::Ask(_) | Next::Enrol | Next::NewPassword | Next::Terms => StepUp::Page,
        Next::Nothing | Next::Login => StepUp::Login,
        Next::Unreachable => StepUp::Unreachable,
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

/// Shows the page of the first method that is asked for. Where it needs a start, which may send a
/// mail, the person asks for it by a button.
/// Boxed, as [`flow::finish`].
pub fn show(
    visit: BrowserRequest,
    interaction: Interaction,
    notice: Option<Notice>,
) -> Boxed<'static, Response> {
    Box::pin(shown(visit, interaction, notice))
}

async fn shown(
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
        Next::Terms => return terms::show(visit, interaction, None),
        Next::Nothing | Next::Login => {
            // What the session has shown adds nothing to a whole login.
            interaction.step_up = false;
            return flow::show(visit, interaction, notice);
        }
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
        None => signet_pages::choose_step(&visit.face(), &step_page(&page, &who.user)),
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

/// Handles a form of a further step. Boxed, as [`flow::finish`].
pub(super) fn submit(
    visit: BrowserRequest,
    interaction: Interaction,
    form: &Params,
) -> Boxed<'_, Outcome> {
    Box::pin(submitted(visit, interaction, form))
}

async fn submitted(visit: BrowserRequest, mut interaction: Interaction, form: &Params) -> Outcome {
    let who = match who(&visit, &interaction).await {
        Ok(Some(who)) => who,
        Ok(None) => return Outcome::Page(flow::show(visit, interaction, None)),
        Err(error) => return Outcome::Page(visit.unavailable(&error)),
    };
    let methods = match next(&visit, &interaction, &who) {
        Next::Enrol => return enrol(visit, interaction, who, form).await,
        Next::NewPassword => return first_password::submit(visit, interaction, who, form).await,
        Next::Terms => return terms::submit(visit, interaction, who, form).await,
        Next::Ask(methods) => methods,
        Next::Nothing | Next::Login | Next::Unreachable => Vec::new(),
    };
    if methods.is_empty() {
        // Another tab has shown it, or the factor was removed: the login begins again.
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
    let state = flow::State {
        left: &state,
        ends_at: interaction.ends_at,
    };
    let verified = flow::verify_of(&visit, method, state, user, typed, form).await;
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
    signet_pages::totp_add(
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
    let fresh = match &interaction.half {
        Some(half) => freshness::of_half(&visit.context, &who.user, half),
        None => visit
            .present()
            .and_then(|present| freshness::of(&visit.context, present)),
    };
    let Some(fresh) = fresh else {
        return Outcome::Page(flow::show(visit, interaction, None));
    };
    match try_enrol(&visit, &fresh, &secret, &label, form).await {
        Ok(Some(user)) => {
            let proof = flow::Proof {
                user,
                shown: APP,
                by: By::SetUp,
            };
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
    fresh: &Fresh<'_>,
    secret: &TotpSecret,
    label: &str,
    form: &Params,
) -> Result<Option<User>, StoreError> {
    let (realm, now) = (&visit.context.realm, visit.context.now());
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
            && !freshness::has_factor(&visit.context, user)
    };
    let users = &realm.people.users;
    let Some(found) = users.found(&before.id, now).await? else {
        return Ok(None);
    };
    if !none_yet(&found.user) {
        return Ok(None);
    }
    let event = visit.context.event(Action::ACCOUNT).operation("totp-add");
    let event = event.subject(&before.id);
    let added = users.change_found(found, now, |draft| draft.put_credential(&app));
    let added = async { added.await.map_err(StoreError::from) };
    let added = realm.audit().act(event, added, store_failed).await?;
    if let Some(user) = &added {
        security_mail::send(visit, user, SecurityEvent::AppAdded).await;
    }
    Ok(added)
}
