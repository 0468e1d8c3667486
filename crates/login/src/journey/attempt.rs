//! One attempt of a method, and one start: counted first, then decided, then settled, so that no
//! method can forget its budgets; and what is said and recorded where it fails.

use signet_audit::Action;
use signet_directory::User;
use signet_oauth::params::Params;
use signet_pages::{Html, Notice};
use signet_request::browser_request::BrowserRequest;
use signet_request::http::Response;
use signet_request::interaction::Interaction;
use signet_store::StoreError;

use super::budgets::{Budgets, Standing};
use super::method::{Attempt, Method, Start, Verdict};
use super::next::{By, Proof};
use crate::failure::Failure;

/// What an attempt answers.
#[derive(Clone, Copy)]
pub struct State<'a> {
    /// What the method's start left; empty where there was none.
    pub(crate) left: &'a [u8],
    /// For how long the page may be sent again, Unix seconds.
    pub(crate) ends_at: u64,
}

impl State<'_> {
    /// Of an attempt that answers no page.
    pub const NONE: State<'static> = State {
        left: &[],
        ends_at: 0,
    };
}

/// One attempt by a method: counted first, then decided, then settled.
pub async fn verify(
    browser: &BrowserRequest,
    method: &Method,
    state: State<'_>,
    typed: &str,
    form: &Params,
) -> Result<Proof, Failure> {
    let users = &browser.context.realm.people.users;
    let user = match typed.is_empty() {
        true => None,
        false => users.by_login(typed, browser.context.now()).await?,
    };
    verify_of(browser, method, state, user, typed, form).await
}

/// As [`verify`], for an account that is known.
pub async fn verify_of(
    browser: &BrowserRequest,
    method: &Method,
    state: State<'_>,
    user: Option<User>,
    typed: &str,
    form: &Params,
) -> Result<Proof, Failure> {
    let budgets = Budgets::of(browser, method.guess, user.as_ref(), typed);
    let standing = budgets.begin(browser).await?;
    let attempt = Attempt {
        browser,
        user: user.as_ref(),
        typed,
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
            budgets.right(browser).await?;
            Ok(proven(user, method.shows[0]))
        }
        Verdict::ProvenBy(user, shown) => {
            budgets.right(browser).await?;
            Ok(proven(user, shown))
        }
        Verdict::Wrong => {
            budgets.wrong(browser).await?;
            Err(Failure::Wrong(method.wrong, user.map(|user| user.id)))
        }
        Verdict::Expired => {
            budgets.wrong(browser).await?;
            Err(Failure::Expired(method.expired))
        }
        Verdict::Void => {
            budgets.right(browser).await?;
            Err(Failure::Expired(method.expired))
        }
        Verdict::Busy => {
            budgets.right(browser).await?;
            Err(Failure::BUSY)
        }
    }
}

/// Keeps the page of a method that was started, where it may be reached by another way. Both are
/// one interaction: what they lead to is given once.
pub(super) async fn keep(
    browser: &BrowserRequest,
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
    keep(browser, state, &browser.seal(interaction)).await
}

/// Each start counts, right or wrong.
pub(super) async fn run(
    browser: &BrowserRequest,
    start: &Start,
    typed: &str,
) -> Result<Vec<u8>, Failure> {
    let users = &browser.context.realm.people.users;
    let user = match typed.is_empty() {
        true => None,
        false => users.by_login(typed, browser.context.now()).await?,
    };
    run_for(browser, start, user.as_ref(), typed).await
}

/// As [`run`], for an account that is known.
pub(super) async fn run_for(
    browser: &BrowserRequest,
    start: &Start,
    user: Option<&User>,
    typed: &str,
) -> Result<Vec<u8>, Failure> {
    let budgets = Budgets::of(browser, start.counts, user, typed);
    let standing = budgets.begin(browser).await?;
    budgets.wrong(browser).await?;
    let user = user.filter(|_| standing == Standing::Open);
    Ok((start.run)(browser, user).await?)
}

/// The page with what went wrong, and the record of it.
pub(super) fn failed(
    browser: BrowserRequest,
    failure: Failure,
    method: &str,
    html: impl FnOnce(&BrowserRequest, Notice) -> Html,
) -> Response {
    let event = browser.context.event(Action::LOGIN).method(method);
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
    browser.context.realm.audit().record(event);
    let metrics = &browser.context.realm.host.metrics;
    metrics.login(method, failure.code());
    refused(browser, failure, html)
}

/// The page with what went wrong, where it was recorded already.
pub(super) fn refused(
    browser: BrowserRequest,
    failure: Failure,
    html: impl FnOnce(&BrowserRequest, Notice) -> Html,
) -> Response {
    match failure {
        Failure::Wrong(text, _) | Failure::Expired(text) | Failure::Invalid(text) => {
            let html = html(&browser, Notice::Error(text));
            browser.page(html)
        }
        // A login begins again with nothing to say.
        Failure::LoginRequired => browser.start_again(),
        Failure::Later(status, retry_after, text) => {
            let html = html(&browser, Notice::Error(text));
            browser.later(status, retry_after, html)
        }
        Failure::Store(error) => browser.unavailable(&error),
    }
}
