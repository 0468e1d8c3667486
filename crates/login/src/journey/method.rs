//! What a method of login is to the rest of the server.

use std::future::Future;
use std::pin::Pin;

use signet_oauth::authorize::{AuthorizationRequest, acr};
use signet_oauth::params::Params;
use signet_store::StoreError;

use super::budgets::Standing;
use super::remembered;
use signet_directory::User;
use signet_pages::{Html, MethodButton, Notice, StepPage};
use signet_realm::attempts::Kind;
use signet_request::browser_request::BrowserRequest;

/// A step of a login, whatever else is inside it.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The answer of a method's function, which may ask the store.
pub type Answer<'a, T> = Boxed<'a, Result<T, StoreError>>;

/// Keeps a page: the request, the method's own state, the sealed page.
pub type Keep = for<'a> fn(&'a BrowserRequest, &'a [u8], &'a str) -> Answer<'a, ()>;

/// Where in a login a method may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It says who somebody is, or proves it where it was said.
    First,
    /// It adds to what was shown, and begins no login.
    Second,
    /// Either.
    Either,
}

/// One way to log in: a row of [`super::METHODS`].
pub struct Method {
    /// Names it in the sealed state of the pages and in the audit trail.
    pub name: &'static str,
    /// What an attempt shows: names of `signet_oauth::authorize::acr::METHODS`. The first, unless
    /// the verdict says another.
    pub shows: &'static [&'static str],
    /// Where it may stand.
    pub step: Step,
    /// What its attempts are counted as.
    pub guess: Kind,
    /// Whether this server can do it at all.
    pub offered: fn(&BrowserRequest) -> bool,
    /// Whether this account can log in with it: what a second factor is chosen from.
    pub usable: fn(&BrowserRequest, &User) -> bool,
    /// The value of the button `decision` that leads to it.
    pub decision: &'static str,
    /// The button's text.
    pub label: &'static str,
    /// The step before the attempt. None: the method's fields stand on the login page itself, or
    /// need no step.
    pub start: Option<Start>,
    /// What a script of the login page does for it.
    pub script: Option<Script>,
    /// The page that shows its fields, where they are not on the login page.
    pub page: Page,
    /// Decides an attempt. The budgets have been asked, and are settled by the answer.
    pub verify: for<'a> fn(&'a Attempt<'a>) -> Answer<'a, Verdict>,
    /// What a person reads whose attempt was wrong. It is the same for an account that does not
    /// exist.
    pub wrong: &'static str,
    /// What a person reads whose attempt came too late.
    pub expired: &'static str,
}

impl Method {
    /// Whether a login may begin with it.
    pub fn is_first(&self) -> bool {
        match self.step {
            Step::First | Step::Either => true,
            Step::Second => false,
        }
    }

    /// Whether it may add to what was shown.
    pub fn is_second(&self) -> bool {
        match self.step {
            Step::Second | Step::Either => true,
            Step::First => false,
        }
    }

    /// Whether it is a proof that the person set up, beside password and mail.
    pub fn is_enrolled(&self) -> bool {
        self.shows.iter().all(|name| acr::is_enrolled(name))
    }

    /// The state that its page begins with, where it has no start.
    pub(super) fn fresh_state(&self) -> Vec<u8> {
        self.script
            .as_ref()
            .map_or_else(Vec::new, |script| (script.fresh)())
    }

    /// The button that leads to it.
    pub fn button(&self) -> MethodButton {
        MethodButton {
            decision: self.decision,
            label: self.label,
        }
    }
}

/// Where the fields of a method are shown.
#[derive(Clone, Copy)]
pub enum Page {
    /// On a page of its own, at whichever step.
    Own(fn(&MethodPage<'_>) -> Html),
    /// On the login page; as a further step of this person, on this page.
    Step(fn(&MethodPage<'_>, &User) -> Html),
}

/// A method that a browser's script answers, by itself or by the method's button.
pub struct Script {
    /// What the login page asks the browser for, with this challenge. None: nothing.
    pub login_options: fn(&BrowserRequest, Option<&str>) -> Option<String>,
    /// Whether a form has its answer in it.
    pub is_answer: fn(&Params) -> bool,
    /// The state of a page that asks for one: a new challenge.
    pub fresh: fn() -> Vec<u8>,
    /// What is said to a browser that sent no answer: it has no script.
    pub missing: &'static str,
}

/// The step before the attempt: a code is mailed, a challenge is made.
pub struct Start {
    /// What is counted for each start, right or wrong.
    pub counts: Kind,
    /// Whether the person has to name the account first.
    pub needs_name: bool,
    /// Does it, for the account that the person named; if no such account exists, the browser sees
    /// the same. The answer is the method's own state, sealed into the next page and opened by
    /// nobody else.
    pub run: for<'a> fn(&'a BrowserRequest, Option<&'a User>) -> Answer<'a, Vec<u8>>,
    /// Keeps the sealed page that the start led to, for who comes to it by another way: the
    /// method's own state, and the page's.
    pub keep: Option<Keep>,
    /// What a person reads who asked again.
    pub again: &'static str,
}

/// What a method's page is made of.
pub struct MethodPage<'a> {
    /// The request.
    pub browser: &'a BrowserRequest,
    /// Where the form goes.
    pub action: &'a str,
    /// The sealed interaction.
    pub interaction: &'a str,
    /// What the person typed to name the account.
    pub typed: &'a str,
    /// The client's request, where the login is for one.
    pub request: Option<&'a AuthorizationRequest>,
    /// Whether there is a client to go back to.
    pub can_cancel: bool,
    /// Whether the login leads beyond this server's own pages.
    pub leads_on: bool,
    /// It is a further step of a login: whose.
    pub step_up_of: Option<&'a User>,
    /// The other methods that would do, where it is a further step.
    pub others: &'a [MethodButton],
    /// Whether the browser may be remembered by it.
    pub can_remember: bool,
    /// The method's own state, as its start left it.
    pub state: &'a [u8],
    /// What a passkey on the login page answers
    /// ([`signet_request::interaction::Interaction::challenge`]).
    pub challenge: Option<&'a str>,
    /// What went wrong, or what was done.
    pub notice: Option<Notice>,
}

/// One attempt.
pub struct Attempt<'a> {
    /// The request.
    pub browser: &'a BrowserRequest,
    /// The account that was named, where there is one.
    pub user: Option<&'a User>,
    /// What was typed to name it; empty where nothing was.
    pub typed: &'a str,
    /// What [`Start::run`] answered; empty where there was no start.
    pub state: &'a [u8],
    /// For how long the page that it answers may be sent again, Unix seconds: what counts once is
    /// remembered for that long.
    pub ends_at: u64,
    /// The form.
    pub form: &'a Params,
    /// Whatever was typed is wrong where the account's guesses are used up; it must cost and look
    /// the same.
    pub standing: Standing,
}

/// What an attempt came to.
pub enum Verdict {
    /// It is this person, by the first that the method shows.
    Proven(Box<User>),
    /// It is this person, by this one of what the method shows.
    ProvenBy(Box<User>, &'static str),
    /// It is not what the account expects. Also for an account that does not exist or is disabled.
    Wrong,
    /// What it answers has expired, or was consumed.
    Expired,
    /// It was right, but the account has changed since the start: nothing was guessed.
    Void,
    /// It was not looked at: the server is busy. The person tries again in a moment.
    Busy,
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
