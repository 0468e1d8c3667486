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
use crate::journey::accepted_terms;
use crate::journey::budgets::{Budgets, Standing};
use crate::recover::refused;
use crate::waiting_login::{self, Done, WaitingId};
use signet_pages::Notice;
use signet_realm::attempts::Kind;
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
fn not_offered(visit: BrowserRequest) -> Response {
    visit.error(&OAuthError::new(ErrorCode::NotFound, "error-no-sign-up"))
}

/// GET: asks for the address, or, with a link, for the password.
pub async fn show(context: Context) -> Response {
    let (visit, params) = match BrowserRequest::of_query(context).await {
        Ok(visit) => visit,
        Err(answer) => return answer,
    };
    if !visit.context.offers_sign_up() {
        return not_offered(visit);
    }
    let Some(token) = params.get("token") else {
        let interaction = visit.interaction(Goal::SignUp);
        return ask(visit, interaction, "", None);
    };
    match open(&visit, token).await {
        Ok(Some(link)) => {
            let html = form_page(&visit, token, &link, "", None);
            visit.page(html)
        }
        Ok(None) => ended(visit),
        Err(error) => visit.unavailable(&error),
    }
}

/// The link does not work any more: another one can be asked for.
fn ended(visit: BrowserRequest) -> Response {
    let interaction = visit.interaction(Goal::SignUp);
    ask(visit, interaction, "", Some(Notice::Error(ENDED)))
}

/// Asks for the address. `interaction`: what it leads on to.
pub fn ask(
    visit: BrowserRequest,
    interaction: Interaction,
    typed: &str,
    notice: Option<Notice>,
) -> Response {
    let html = ask_page(&visit, &interaction, typed, notice);
    visit.page_with(StatusCode::OK, html)
}

fn ask_page(
    visit: &BrowserRequest,
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
        let clients = &visit.context.snapshot.registry.clients;
        clients.get(request.client_id())
    });
    signet_pages::sign_up(
        &visit.face(),
        &signet_pages::SignUpPage {
            interaction: &visit.seal(&asking),
            back: back(visit, interaction).as_deref(),
            client_name: client.map(|c| c.client_name.as_deref().unwrap_or(&c.client_id)),
            email: typed,
            can_cancel: request.is_some(),
            notice,
        },
    )
}

/// What goes on to the login page: the sealed state of a login that leads on. It is a method's
/// page, from which one comes back to the login page.
fn back(visit: &BrowserRequest, interaction: &Interaction) -> Option<String> {
    let waiting = Interaction {
        page: Page::Method,
        pending: None,
        ..interaction.clone()
    };
    interaction.leads_on().then(|| visit.seal(&waiting))
}

/// POST: the address, or the password.
pub async fn submit(mut context: Context) -> Response {
    let form = match context.form().await {
        Ok(form) => form,
        Err(error) => return error_page(&mut context, &error.into()),
    };
    let visit = match BrowserRequest::begin(context).await {
        Ok(visit) => visit,
        Err(response) => return response,
    };
    if !visit.context.offers_sign_up() {
        return not_offered(visit);
    }
    if let Some(token) = form.get("token") {
        return accept(visit, token, &form).await;
    }
    match visit.open(&form) {
        // From the login page.
        Some(interaction) if interaction.page == Page::Login => ask(visit, interaction, "", None),
        Some(interaction) if interaction.page == Page::SignUp => {
            let typed = form.get("email").unwrap_or("").trim().to_owned();
            send(visit, &typed, interaction).await
        }
        _ => visit.start_again(),
    }
}

async fn send(visit: BrowserRequest, typed: &str, interaction: Interaction) -> Response {
    let admits = |email: &str| visit.context.snapshot.settings.sign_up.admits(email);
    // In its one spelling from here on: what is looked up, mailed and kept is what was admitted.
    let wrong = match folded_email(typed) {
        Err(_) => "sign-up-address-wrong",
        // Of the domain alone, whoever has an account.
        Ok(email) if !admits(&email) => "sign-up-domain",
        Ok(email) => return mail(visit, &email, interaction).await,
    };
    ask(visit, interaction, typed, Some(Notice::Error(wrong)))
}

/// Sends the link to an address in its one spelling.
async fn mail(visit: BrowserRequest, email: &str, interaction: Interaction) -> Response {
    match try_send(&visit, email, &interaction).await {
        Ok(()) => {
            let back = back(&visit, &interaction);
            let html = signet_pages::sign_up_sent(&visit.face(), LIFETIME / 60, back.as_deref());
            visit.page(html)
        }
        Err(failure) => refused(visit, failure, |visit, notice| {
            ask_page(visit, &interaction, email, Some(notice))
        }),
    }
}

async fn try_send(
    visit: &BrowserRequest,
    typed: &str,
    interaction: &Interaction,
) -> Result<(), Failure> {
    let context = &visit.context;
    let (realm, now) = (&context.realm, context.now());
    let user = realm.people.users.by_login(typed, now).await?;
    let budgets = Budgets::of(visit, Kind::Mail, user.as_ref(), typed);
    let standing = budgets.begin(visit).await?;
    budgets.wrong(visit).await?;
    // Whoever was named: it costs the same.
    let begun = waiting_login::keep(visit, interaction, LIFETIME).await?;
    if standing != Standing::Open {
        // The address's mails are used up: none is sent, and the answer is the same.
        return Ok(());
    }
    let issuer = &context.snapshot.settings.issuer;
    let face = visit.face();
    if let Some(user) = user {
        if let Some(email) = user
            .email
            .as_deref()
            .filter(|_| Entrance::SignUp.opens(&user, now))
        {
            let letter = signet_pages::sign_up_known(&face, issuer, &user.username);
            let what = "sign_up_known";
            letters::send(context, Some(&user.id), email, what, &letter).await;
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
    letters::send(context, None, typed, "sign_up_link", &letter).await;
    Ok(())
}

/// The link, if it still works; a record where it does not.
async fn open(visit: &BrowserRequest, token: &str) -> Result<Option<Link>, StoreError> {
    let found = find(visit, token).await?;
    if found.is_none() {
        record_wrong_link(visit);
    }
    Ok(found)
}

/// Whoever sends requests can send such links: they are counted where they say the same.
fn record_wrong_link(visit: &BrowserRequest) {
    let event = visit.context.event(Action::SIGN_UP);
    let event = event.refused("invalid_sign_up_link");
    visit.context.realm.audit().record(event);
}

async fn find(visit: &BrowserRequest, token: &str) -> Result<Option<Link>, StoreError> {
    let (realm, now) = (&visit.context.realm, visit.context.now());
    let read: Option<Link> = mailed_link::open(realm, PURPOSE, token);
    // The lists may have changed since it was sent.
    let admits = |link: &Link| {
        now < link.ends_at && visit.context.snapshot.settings.sign_up.admits(&link.email)
    };
    let Some(link) = read.filter(admits) else {
        return Ok(None);
    };
    let taken = realm.people.users.by_login(&link.email, now).await;
    let taken = taken.map_err(StoreError::from)?;
    Ok(taken.is_none().then_some(link))
}

fn form_page(
    visit: &BrowserRequest,
    token: &str,
    link: &Link,
    name: &str,
    notice: Option<Notice>,
) -> signet_pages::Html {
    let settings = &visit.context.snapshot.settings.sign_up;
    signet_pages::new_account(
        &visit.face(),
        &signet_pages::NewAccountPage {
            action: "sign-up",
            token,
            login: &link.email,
            name: Some(name),
            shortest: visit.context.realm.people.passwords.shortest(false),
            terms: settings.terms.as_ref().map(|terms| &*terms.url),
            notice,
        },
    )
}

async fn accept(visit: BrowserRequest, token: &str, form: &Params) -> Response {
    let link = match open(&visit, token).await {
        Ok(Some(found)) => found,
        Ok(None) => return ended(visit),
        Err(error) => return visit.unavailable(&error),
    };
    match try_accept(&visit, &link, form).await {
        Ok(()) => waiting_login::after(visit, link.begun.as_ref(), Done::SignedUp).await,
        Err(Failure::Expired(_)) => ended(visit),
        Err(failure) => refused(visit, failure, |visit, notice| {
            let name = form.get("name").unwrap_or("");
            form_page(visit, token, &link, name, Some(notice))
        }),
    }
}

async fn try_accept(visit: &BrowserRequest, link: &Link, form: &Params) -> Result<(), Failure> {
    let realm = &visit.context.realm;
    let name = form.get("name").unwrap_or("").trim();
    // Administrators read it. The joiners stand within names of several alphabets.
    let is_seen = |c| is_seen(c) || matches!(c, '\u{200c}' | '\u{200d}');
    if !name.chars().all(is_seen) {
        return Err(Failure::Invalid("sign-up-name-wrong"));
    }
    let profile = Profile {
        name: (!name.is_empty()).then(|| name.to_owned()),
        ..Profile::default()
    };
    let terms = accepted_terms(visit, form)?;
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
    let event = visit.context.event(Action::SIGN_UP);
    let event = event.operation("account");
    match realm.audit().act(event, create(visit, new), code).await {
        Ok(user) => {
            tracing::info!(target: "signet::login", user = %user.id, "created an account by sign-up");
            Ok(())
        }
        // The address has an account: a link makes one.
        Err(UserError::EmailTaken) => Err(Failure::Expired(ENDED)),
        Err(UserError::Profile) => Err(Failure::Invalid("sign-up-name-wrong")),
        Err(error) => Err(error.into()),
    }
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
async fn create(visit: &BrowserRequest, new: NewUser) -> Result<User, UserError> {
    let (users, now) = (&visit.context.realm.people.users, visit.context.now());
    let snapshot = &visit.context.snapshot;
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
