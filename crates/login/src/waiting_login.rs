//! A login that waits while its person follows a link in a mail.
//!
//! Who began at a login that leads on to an application comes back to it. The login's state is
//! sealed for the browser and waits in a row of the store that the link names: in the same browser,
//! in whichever tab, the login goes on. In another one it cannot, for the application waits in the
//! first; there the page says so.

use signet_encoding::base64url;
use signet_store::{Change, Key, Op, StoreError, Table};

use crate::journey::{self, Outcome};
use signet_directory::User;
use signet_oauth::params::Params;
use signet_pages::Notice;
use signet_realm::budgets::Act;
use signet_request::browser_request::BrowserRequest;
use signet_request::http::Response;
use signet_request::interaction::{Goal, Interaction, Page};

/// Names the row.
pub(crate) type WaitingId = [u8; 16];

/// What stands before the sealed name, at the end of a query.
const AS: &str = "&as=";

/// What the person has done by the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// Set a new password.
    Recovered,
    /// Made an account, or accepted an invitation to one.
    SignedUp,
    /// Kept an account that was to be erased.
    Kept,
}

impl Done {
    /// All of them.
    pub const ALL: [Done; 3] = [Done::Recovered, Done::SignedUp, Done::Kept];

    /// The parameter of `/interaction` that names the row.
    pub const fn parameter(self) -> &'static str {
        match self {
            Done::Recovered => "recovered",
            Done::SignedUp => "signed_up",
            Done::Kept => "kept",
        }
    }

    /// What the login page says.
    pub(crate) const fn said(self) -> &'static str {
        match self {
            Done::Recovered => "account-reset-done",
            Done::SignedUp => "sign-up-done",
            Done::Kept => "deletion-kept",
        }
    }

    /// What it says in another browser than the one that waits.
    pub(crate) const fn said_elsewhere(self) -> &'static str {
        match self {
            Done::Recovered => "account-reset-elsewhere",
            Done::SignedUp => "sign-up-elsewhere",
            // It is for no login: none waits.
            Done::Kept => "deletion-kept",
        }
    }

    /// The query of `/account` that has its login page say so.
    const fn query(self, elsewhere: bool) -> &'static str {
        match (self, elsewhere) {
            (Done::Recovered, false) => "password=set",
            (Done::Recovered, true) => "password=set-elsewhere",
            (Done::SignedUp, false) => "account=made",
            (Done::SignedUp, true) => "account=made-elsewhere",
            (Done::Kept, _) => "account=kept",
        }
    }
}

/// A login that was left waiting, where its row is there.
enum Waiting {
    /// It goes on.
    Here(Box<Interaction>),
    /// It waits in another browser.
    Elsewhere,
    /// Its time is over.
    Gone,
}

fn key(id: &WaitingId) -> Key {
    // The prefix is from when recovery alone had such rows.
    Key::new(Table::Once, [b"recovery begun ".as_slice(), id].concat())
}

/// Keeps a login for as long as the link works: `lifetime`, seconds. None: it leads nowhere, or
/// callers like this one have used up what is kept for them; then the link leads to the account
/// page.
pub(crate) async fn keep(
    browser: &BrowserRequest,
    interaction: &Interaction,
    lifetime: u64,
) -> Result<Option<WaitingId>, StoreError> {
    if !interaction.leads_on() {
        return Ok(None);
    }
    let (store, now) = (&browser.context.realm.store, browser.context.now());
    let (id, ends_at) = (signet_crypto::random::bytes(), now + lifetime);
    let waiting = Interaction {
        page: Page::Login,
        ends_at: interaction.ends_at.max(ends_at),
        ..interaction.clone()
    };
    let value = browser.seal(&waiting).into_bytes();
    let budgets = &browser.context.realm.budgets;
    let spent = budgets.spend_many(Act::Waiting, browser.caller(), value.len(), now);
    if spent.is_err() {
        return Ok(None);
    }
    let insert = Op::Insert {
        key: key(&id),
        value,
        end: Some(ends_at),
    };
    store.commit(Change::new(insert), now).await?;
    Ok(Some(id))
}

async fn find(browser: &BrowserRequest, id: &WaitingId) -> Result<Waiting, StoreError> {
    let (store, now) = (&browser.context.realm.store, browser.context.now());
    let Some(row) = store.get(&key(id), now).await? else {
        return Ok(Waiting::Gone);
    };
    let sealed = String::from_utf8(row.value).ok();
    let opened = sealed.and_then(|sealed| browser.open_sealed(&sealed));
    Ok(opened.map_or(Waiting::Elsewhere, |interaction| {
        Waiting::Here(Box::new(interaction))
    }))
}

/// What the login page says, for a query of `/account` that [`after`] leads to, and the sealed name
/// that it is filled in with.
pub(crate) fn said(query: &str) -> Option<(&'static str, Option<&str>)> {
    let (query, name) = match query.split_once(AS) {
        Some((query, name)) => (query, Some(name)),
        None => (query, None),
    };
    let text = Done::ALL.into_iter().find_map(|done| match query {
        _ if query == done.query(false) => Some(done.said()),
        _ if query == done.query(true) => Some(done.said_elsewhere()),
        _ => None,
    });
    text.map(|text| (text, name))
}

/// GET `/interaction?recovered=ID`, `/interaction?signed_up=ID`: the login goes on. `name`: sealed.
pub async fn go_on(browser: BrowserRequest, id: &str, name: Option<&str>, done: Done) -> Response {
    let id = base64url::decode(id.as_bytes()).ok();
    let id = id.and_then(|id| WaitingId::try_from(id).ok());
    let found = match id {
        Some(id) => find(&browser, &id).await,
        None => Ok(Waiting::Gone),
    };
    match found {
        Ok(Waiting::Here(interaction)) => {
            let notice = Notice::Done(done.said());
            let name = name.and_then(|name| browser.open_name(name));
            journey::show_for(browser, *interaction, name.as_deref(), Some(notice))
        }
        Ok(Waiting::Elsewhere | Waiting::Gone) => browser.start_again(),
        Err(error) => browser.unavailable(&error),
    }
}

/// After an account was made, or an invitation accepted, by a password that was set on a page of
/// this browser: its person is logged in, as far as a password logs them in, and continues to what
/// a login waits for. `form`: theirs.
///
/// The form names the browser that its page was for. Without that a page of somebody else could
/// post a link and a password of theirs, and whoever looks at it would be logged in to their
/// account. Then, where somebody is logged in here already, and where the login waits in another
/// browser, the login page follows ([`after`]).
pub(crate) async fn log_in(
    browser: BrowserRequest,
    id: Option<&WaitingId>,
    user: User,
    name: &str,
    form: &Params,
) -> Outcome {
    let shown = form.get("interaction");
    let shown = shown.and_then(|sealed| browser.open_sealed(sealed));
    let shown = shown.filter(|one| one.page == Page::SignUp && browser.present().is_none());
    let Some(shown) = shown else {
        return Outcome::Page(after(browser, id, Some(name), Done::SignedUp).await);
    };
    let waiting = match id {
        Some(id) => find(&browser, id).await,
        None => Ok(Waiting::Gone),
    };
    let interaction = match waiting {
        Ok(Waiting::Here(waiting)) => *waiting,
        Ok(Waiting::Gone) => Interaction {
            page: Page::Start,
            ..shown
        },
        Ok(Waiting::Elsewhere) => {
            return Outcome::Page(after(browser, id, Some(name), Done::SignedUp).await);
        }
        Err(error) => return Outcome::Page(browser.unavailable(&error)),
    };
    browser.go_on_with(&interaction);
    match journey::with_new_password(browser, interaction, user, form).await {
        Ok(outcome) => outcome,
        Err(browser) => Outcome::Page(after(browser, id, Some(name), Done::SignedUp).await),
    }
}

/// What the page behind a link carries, so that [`log_in`] knows its browser.
pub(crate) fn seal_page(browser: &BrowserRequest) -> String {
    let mut interaction = browser.interaction(Goal::Account);
    interaction.page = Page::SignUp;
    browser.seal(&interaction)
}

/// After what was done by the link: the login page follows, for whoever has the mail shows that
/// they know the new password, too. `name`: what they log in with, which is filled in.
pub(crate) async fn after(
    browser: BrowserRequest,
    id: Option<&WaitingId>,
    name: Option<&str>,
    done: Done,
) -> Response {
    let found = match id {
        Some(id) => find(&browser, id).await.map(|found| (Some(id), found)),
        None => Ok((None, Waiting::Gone)),
    };
    let path = match found {
        Ok((Some(id), Waiting::Here(_))) => {
            let id = base64url::encode(id);
            format!("/interaction?{}={id}", done.parameter())
        }
        Ok((_, Waiting::Elsewhere)) => format!("/account?{}", done.query(true)),
        Ok((_, Waiting::Here(_) | Waiting::Gone)) => format!("/account?{}", done.query(false)),
        Err(error) => return browser.unavailable(&error),
    };
    let name = name.and_then(|name| browser.seal_name(name));
    let name = name.map(|name| format!("{AS}{name}"));
    let url = browser.url(&path) + name.as_deref().unwrap_or("");
    browser.redirect(&url)
}
