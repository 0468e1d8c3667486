//! `/sign-up`: an account that a person makes for themselves, where the realm allows it (Initiating
//! User Registration 1.0 is how a client asks for it: `prompt=create`).
//!
//! The address is verified first: a link goes to it, and behind the link stand the password and the
//! terms. The link is sealed and says which address it is for and until when. Opening it changes
//! nothing; the account that is made by it takes the address, by one insert of the store, and no
//! link makes a second one. The answer to the request for a link is the same for every address: to
//! one that has an account already the mail says so.

use http::StatusCode;
use serde::{Deserialize, Serialize};
use signet_agent::text::is_seen;
use signet_audit::Action;
use signet_crypto::Secret;
use signet_crypto::seal::Purpose;
use signet_directory::{
    NewUser, PasswordOf, Profile, User, UserError, folded_email, made_username,
};
use signet_oauth::error::{ErrorCode, OAuthError};
use signet_oauth::params::Params;
use signet_store::StoreError;

use crate::failure::Failure;
use crate::journey::budgets::{Budgets, Standing};
use crate::journey::{Outcome, accepted_terms};
use crate::recover::refused;
use crate::waiting_login::{self, WaitingId};
use signet_pages::Notice;
use signet_realm::attempts::Kind;
use signet_realm::letters::Sending;
use signet_realm::mailed_link;
use signet_request::access::Entrance;
use signet_request::browser_request::{BrowserRequest, error_page};
use signet_request::http::letters;
use signet_request::http::{Context, Response};
use signet_request::interaction::{Goal, Interaction, Page};

/// Where it is, below the issuer.
pub const PATH: &str = "/sign-up";
/// How long a link works, in seconds.
const LIFETIME: u64 = 30 * 60;
/// How often another user name is tried where somebody has it.
const MAX_NAMES: usize = 5;

const PURPOSE: Purpose = Purpose::Other("sign_up");
const ENDED: &str = "sign-up-ended";

/// What a link says.
#[derive(Serialize, Deserialize)]
struct Link {
    email: String,
    ends_at: u64,
    /// The row of the login that it began at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    begun: Option<WaitingId>,
}

/// Where nobody signs up there is no page that pretends.
fn not_offered(browser: BrowserRequest) -> Response {
    browser.error(&OAuthError::new(ErrorCode::NotFound, "error-no-sign-up"))
}

/// GET: asks for the address, or, with a link, for the password.
pub async fn show(context: Context) -> Response {
    let (browser, params) = match BrowserRequest::of_query(context).await {
        Ok(browser) => browser,
        Err(answer) => return answer,
    };
    if !browser.context.offers_sign_up() {
        return not_offered(browser);
    }
    let Some(token) = params.get("token") else {
        let interaction = browser.interaction(Goal::SignUp);
        return ask(browser, interaction, "", None);
    };
    match open(&browser, token).await {
        Ok(Some(link)) => {
            let html = form_page(&browser, token, &link, "", None);
            browser.page(html)
        }
        Ok(None) => ended(browser),
        Err(error) => browser.unavailable(&error),
    }
}

/// The link does not work any more: another one can be asked for.
fn ended(browser: BrowserRequest) -> Response {
    let interaction = browser.interaction(Goal::SignUp);
    ask(browser, interaction, "", Some(Notice::Error(ENDED)))
}

/// Asks for the address. `interaction`: what it leads on to.
pub fn ask(
    browser: BrowserRequest,
    interaction: Interaction,
    typed: &str,
    notice: Option<Notice>,
) -> Response {
    let html = ask_page(&browser, &interaction, typed, notice);
    browser.page_with(StatusCode::OK, html)
}

fn ask_page(
    browser: &BrowserRequest,
    interaction: &Interaction,
    typed: &str,
    notice: Option<Notice>,
) -> signet_pages::Html {
    let asking = Interaction {
        page: Page::SignUp,
        pending: None,
        ..interaction.clone()
    };
    let request = interaction.request();
    let client = request.and_then(|request| {
        let clients = &browser.context.snapshot.registry.clients;
        clients.get(request.client_id())
    });
    signet_pages::sign_up(
        &browser.face(),
        &signet_pages::SignUpPage {
            interaction: &browser.seal(&asking),
            back: back(browser, interaction).as_deref(),
            client_name: client.map(|c| c.client_name.as_deref().unwrap_or(&c.client_id)),
            email: typed,
            can_cancel: request.is_some(),
            notice,
        },
    )
}

/// What goes on to the login page: the sealed state of a login that leads on. It is a method's
/// page, from which one comes back to the login page.
fn back(browser: &BrowserRequest, interaction: &Interaction) -> Option<String> {
    let waiting = Interaction {
        page: Page::Method,
        pending: None,
        ..interaction.clone()
    };
    interaction.leads_on().then(|| browser.seal(&waiting))
}

/// POST: the address, or the password.
pub async fn submit(mut context: Context) -> Outcome {
    let form = match context.form().await {
        Ok(form) => form,
        Err(error) => return Outcome::Page(error_page(&mut context, &error.into())),
    };
    let browser = match BrowserRequest::begin(context).await {
        Ok(browser) => browser,
        Err(response) => return Outcome::Page(response),
    };
    if !browser.context.offers_sign_up() {
        return Outcome::Page(not_offered(browser));
    }
    if let Some(token) = form.get("token") {
        return accept(browser, token, &form).await;
    }
    Outcome::Page(match browser.open(&form) {
        // From the login page.
        Some(interaction) if interaction.page == Page::Login => ask(browser, interaction, "", None),
        Some(interaction) if interaction.page == Page::SignUp => {
            let typed = form.get("email").unwrap_or("").trim().to_owned();
            send(browser, &typed, interaction).await
        }
        _ => browser.start_again(),
    })
}

async fn send(browser: BrowserRequest, typed: &str, interaction: Interaction) -> Response {
    let admits = |email: &str| browser.context.snapshot.settings.sign_up.admits(email);
    // In its one spelling from here on: what is looked up, mailed and kept is what was admitted.
    let wrong = match folded_email(typed) {
        Err(_) => "sign-up-address-wrong",
        // Of the domain alone, whoever has an account.
        Ok(email) if !admits(&email) => "sign-up-domain",
        Ok(email) => return mail(browser, &email, interaction).await,
    };
    ask(browser, interaction, typed, Some(Notice::Error(wrong)))
}

/// Sends the link to an address in its one spelling.
async fn mail(browser: BrowserRequest, email: &str, interaction: Interaction) -> Response {
    match try_send(&browser, email, &interaction).await {
        Ok(()) => {
            let back = back(&browser, &interaction);
            let html = signet_pages::sign_up_sent(&browser.face(), LIFETIME / 60, back.as_deref());
            browser.page(html)
        }
        Err(failure) => refused(browser, failure, |browser, notice| {
            ask_page(browser, &interaction, email, Some(notice))
        }),
    }
}

async fn try_send(
    browser: &BrowserRequest,
    typed: &str,
    interaction: &Interaction,
) -> Result<(), Failure> {
    let context = &browser.context;
    let (realm, now) = (&context.realm, context.now());
    let user = realm.people.users.by_login(typed, now).await?;
    let budgets = Budgets::of(browser, Kind::Mail, user.as_ref(), typed);
    let standing = budgets.begin(browser).await?;
    budgets.wrong(browser).await?;
    // Whoever was named: it costs the same.
    let begun = waiting_login::keep(browser, interaction, LIFETIME).await?;
    if standing != Standing::Open {
        // The address's mails are used up: none is sent, and the answer is the same.
        letters::send_nothing(context).await;
        return Ok(());
    }
    let issuer = &context.snapshot.settings.issuer;
    let face = browser.face();
    if let Some(user) = user {
        let email = user.email.as_deref();
        match email.filter(|_| Entrance::SignUp.opens(&user, now)) {
            Some(email) => {
                let letter = signet_pages::sign_up_known(&face, issuer, &user.username);
                let sending = Sending {
                    user_id: Some(&user.id),
                    to: email,
                    what: "sign_up_known",
                    expires_at: now + LIFETIME,
                };
                letters::send(context, &sending, &letter).await;
            }
            None => letters::send_nothing(context).await,
        }
        return Ok(());
    }
    let link = Link {
        email: typed.to_owned(),
        ends_at: now + LIFETIME,
        begun,
    };
    let url = mailed_link::url(realm, PATH, PURPOSE, &link)?;
    let letter = signet_pages::sign_up_link(&face, issuer, &url, LIFETIME / 60);
    let sending = Sending {
        user_id: None,
        to: typed,
        what: "sign_up_link",
        expires_at: link.ends_at,
    };
    letters::send(context, &sending, &letter).await;
    Ok(())
}

/// The link, if it still works; a record where it does not.
async fn open(browser: &BrowserRequest, token: &str) -> Result<Option<Link>, StoreError> {
    let found = find(browser, token).await?;
    if found.is_none() {
        record_wrong_link(browser);
    }
    Ok(found)
}

/// Whoever sends requests can send such links: they are counted where they say the same.
fn record_wrong_link(browser: &BrowserRequest) {
    let event = browser.context.event(Action::SIGN_UP);
    let event = event.refused("invalid_sign_up_link");
    browser.context.realm.audit().record(event);
}

async fn find(browser: &BrowserRequest, token: &str) -> Result<Option<Link>, StoreError> {
    let (realm, now) = (&browser.context.realm, browser.context.now());
    let read: Option<Link> = mailed_link::open(realm, PURPOSE, token);
    // The lists may have changed since it was sent.
    let admits = |link: &Link| {
        now < link.ends_at
            && browser
                .context
                .snapshot
                .settings
                .sign_up
                .admits(&link.email)
    };
    let Some(link) = read.filter(admits) else {
        return Ok(None);
    };
    let taken = realm.people.users.by_login(&link.email, now).await;
    let taken = taken.map_err(StoreError::from)?;
    Ok(taken.is_none().then_some(link))
}

fn form_page(
    browser: &BrowserRequest,
    token: &str,
    link: &Link,
    name: &str,
    notice: Option<Notice>,
) -> signet_pages::Html {
    let settings = &browser.context.snapshot.settings.sign_up;
    signet_pages::new_account(
        &browser.face(),
        &signet_pages::NewAccountPage {
            action: "sign-up",
            interaction: &waiting_login::seal_page(browser),
            token,
            login: &link.email,
            invited: None,
            name: Some(name),
            shortest: browser.context.realm.people.passwords.shortest(false),
            terms: settings.terms.as_ref().map(|terms| &*terms.url),
            notice,
        },
    )
}

async fn accept(browser: BrowserRequest, token: &str, form: &Params) -> Outcome {
    let link = match open(&browser, token).await {
        Ok(Some(found)) => found,
        Ok(None) => return Outcome::Page(ended(browser)),
        Err(error) => return Outcome::Page(browser.unavailable(&error)),
    };
    Outcome::Page(match try_accept(&browser, &link, form).await {
        Ok(user) => {
            let (id, name) = (link.begun.as_ref(), &link.email);
            return waiting_login::log_in(browser, id, user, name, form).await;
        }
        Err(Failure::Expired(_)) => ended(browser),
        Err(failure) => refused(browser, failure, |browser, notice| {
            let name = form.get("name").unwrap_or("");
            form_page(browser, token, &link, name, Some(notice))
        }),
    })
}

async fn try_accept(browser: &BrowserRequest, link: &Link, form: &Params) -> Result<User, Failure> {
    let realm = &browser.context.realm;
    let name = form.get("name").unwrap_or("").trim();
    if !can_be_a_name(name) {
        return Err(Failure::Invalid("sign-up-name-wrong"));
    }
    let profile = Profile {
        name: (!name.is_empty()).then(|| name.to_owned()),
        ..Profile::default()
    };
    let terms = accepted_terms(browser, form)?;
    let password = form.get("new_password").unwrap_or("");
    let of = PasswordOf::new(&link.email, Some(&link.email), &profile, false);
    realm
        .check_new_password(password, of)
        .map_err(|refused| Failure::Invalid(refused.text_id()))?;
    let hashed = realm.people.users.hash(Secret::new(password.to_owned()));
    let new = NewUser {
        username: String::new(),
        email: Some(link.email.clone()),
        email_verified: true,
        password: Some(hashed.await?),
        terms,
        profile,
        ..NewUser::default()
    };
    let event = browser.context.event(Action::SIGN_UP);
    let event = event.operation("account");
    match realm.audit().act(event, create(browser, new), code).await {
        Ok(user) => {
            tracing::info!(target: "signet::login", user = %user.id, "created an account by sign-up");
            Ok(user)
        }
        // The address has an account: a link makes one.
        Err(UserError::EmailTaken) => Err(Failure::Expired(ENDED)),
        Err(UserError::Profile) => Err(Failure::Invalid("sign-up-name-wrong")),
        Err(error) => Err(error.into()),
    }
}

/// Administrators read it. The joiners stand within names of several alphabets.
pub(crate) fn can_be_a_name(text: &str) -> bool {
    let is_seen = |c| is_seen(c) || matches!(c, '\u{200c}' | '\u{200d}');
    text.chars().all(is_seen)
}

fn code(error: &UserError) -> &'static str {
    match error {
        UserError::EmailTaken => "invalid_sign_up_link",
        UserError::Profile => "invalid_request",
        _ => "temporarily_unavailable",
    }
}

/// The account, by a user name that is made of what stands before the `@`. The person logs in by
/// the address.
async fn create(browser: &BrowserRequest, new: NewUser) -> Result<User, UserError> {
    let (users, now) = (&browser.context.realm.people.users, browser.context.now());
    let snapshot = &browser.context.snapshot;
    let local = new
        .email
        .as_deref()
        .and_then(|email| email.split('@').next());
    for _ in 0..MAX_NAMES {
        let wanted = NewUser {
            username: made_username(local.unwrap_or(""), &|name| snapshot.names(name)),
            ..new.clone()
        };
        match users.create(wanted, now).await {
            Err(UserError::UsernameTaken) => {}
            done => return done,
        }
    }
    Err(UserError::UsernameTaken)
}
