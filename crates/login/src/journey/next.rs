//! What comes after a step of a login: a value, so that no step names the next one.

use signet_directory::User;
use signet_pages::Notice;
use signet_request::browser_request::BrowserRequest;
use signet_request::http::Response;
use signet_request::interaction::Interaction;

/// Where every form of the login goes, relative to the page that shows it: all of them are one
/// segment below the issuer.
pub const ACTION: &str = "interaction";

/// A person on the way through a login.
pub struct Journey {
    /// The browser's request.
    pub browser: BrowserRequest,
    /// What the login is for, and how far it is.
    pub interaction: Interaction,
}

impl Journey {
    /// Boxed: it is large, and handed from step to step.
    pub fn new(browser: BrowserRequest, interaction: Interaction) -> Box<Journey> {
        Box::new(Journey {
            browser,
            interaction,
        })
    }
}

/// What a step comes to.
pub enum Next {
    /// An answer to the browser: a page, a challenge (401) or a redirect.
    Answer(Response),
    /// The login page, with what is said on it.
    Identify(Box<Journey>, Option<Notice>),
    /// The person has shown something: a further step, or the session.
    Shown(Box<Journey>, Box<Proof>),
    /// The page of what is asked for beyond what was shown.
    StepUp(Box<Journey>),
    /// The session is there: what is offered after a login.
    LoggedIn(Box<Journey>),
    /// On to what the login was for.
    Done(Box<Journey>),
}

impl Next {
    /// The login page, with nothing said on it.
    pub(super) fn identify(browser: BrowserRequest, interaction: Interaction) -> Next {
        Next::Identify(Journey::new(browser, interaction), None)
    }
}

/// A person, and what they have just shown.
pub struct Proof {
    /// Who.
    pub user: User,
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
