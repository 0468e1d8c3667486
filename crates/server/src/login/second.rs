//! A further step of a login: what is asked for beyond what somebody has shown, and its pages.
//!
//! There are two beginnings. A login is half way ([`crate::interaction::Half`]) where the account has a second factor
//! and it was not shown: no session is begun before that. Or a session is there, and what the
//! interaction leads to asks for more than it has (RFC 9470): then only what is missing is asked
//! for, and the session goes on with it.

use signet_directory::{CredentialKind, User};
use signet_oauth::authorize::acr;
use signet_oauth::params::Params;
use signet_revocation::RevocationQuery;
use signet_store::StoreError;

use super::flow::{self, Outcome};
use super::method::{Method, MethodPage};
use super::{Failure, METHODS, remembered};
use crate::browser_request::BrowserRequest;
use crate::http::Response;
use crate::interaction::{Interaction, Page, Pending};
use crate::page::{self, Html, MethodButton, Notice, StepPage};

/// Whether the account is asked for a second factor beyond these methods: it has one, and none was
/// shown.
pub(crate) fn wants_second_factor<S: AsRef<str>>(user: &User, shown: &[S]) -> bool {
    user.has(CredentialKind::Totp) && !acr::second_factor_shown(shown)
}

/// Whose step it is, and what they have shown.
struct Who {
    user: User,
    methods: Vec<String>,
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

/// The methods of which one is asked for now, in the order of the table.
fn asked(visit: &BrowserRequest, interaction: &Interaction, who: &Who) -> Vec<&'static Method> {
    let may = |method: &&Method| {
        method.is_second() && (method.offered)(visit) && (method.usable)(visit, &who.user)
    };
    // A remembered browser is not enough for what is strict.
    let shown: Vec<&str> = who.methods.iter().map(String::as_str).collect();
    let counted: Vec<&str> = shown
        .into_iter()
        .filter(|name| !interaction.strict || *name != remembered::SHOWS)
        .collect();
    if wants_second_factor(&who.user, &counted) {
        let enrolled = METHODS.iter().filter(|method| method.is_enrolled());
        return enrolled.filter(may).collect();
    }
    let Some(class) = flow::first_wish(interaction) else {
        return Vec::new();
    };
    let candidates: Vec<&'static str> = METHODS
        .iter()
        .filter(may)
        .flat_map(|method| method.shows)
        .copied()
        .collect();
    let helpful = acr::helpful(class, &counted, &candidates);
    let helps = |method: &&Method| method.shows.iter().any(|name| helpful.contains(name));
    METHODS.iter().filter(may).filter(helps).collect()
}

/// Whether the interaction's wish is reached by what the session's person has and has not shown in
/// it.
pub fn is_step_up(visit: &BrowserRequest, interaction: &Interaction) -> bool {
    let Some(present) = visit.present() else {
        return false;
    };
    let who = Who {
        user: present.user.clone(),
        methods: owned(&present.found.row.methods()),
    };
    !who.methods.is_empty() && !asked(visit, interaction, &who).is_empty()
}

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
    let methods = asked(&visit, &interaction, &who);
    let Some(method) = methods.first() else {
        return flow::show(visit, interaction, notice);
    };
    interaction.page = Page::Second;
    interaction.pending = method
        .start
        .is_none()
        .then(|| pending(method, &who, Vec::new()));
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
        second: Some(&who.user),
        others: &others,
        can_remember: method.is_some_and(|method| method.is_enrolled()),
        state: pending.map_or(&[], |pending| &pending.state),
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
    let methods = asked(&visit, &interaction, &who);
    if methods.is_empty() {
        // Another tab has shown it, or the factor was removed: the login begins anew.
        return Outcome::Page(flow::show(visit, interaction, None));
    }
    let decision = form.get("decision").unwrap_or("");
    if decision == "other" {
        interaction.step_up = false;
        return Outcome::Page(flow::show(visit, interaction, None));
    }
    if let Some(method) = methods.iter().find(|method| method.decision == decision) {
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
        Err(failure) => Outcome::Page(flow::failed(
            visit,
            failure,
            method.name,
            |visit, notice| render(visit, &interaction, &who, Some(notice)),
        )),
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
        interaction.pending = Some(pending(method, who, Vec::new()));
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
