//! `/account/recover`: a forgotten password, by a link in the mail.
//!
//! The link is sealed and says of itself whose it is, until when, and which password it is to
//! replace; it works until that password has changed, which its first use does. Opening it changes
//! nothing (mail programs open links), the form behind it does. The answer to the request for a
//! link is the same for every name.
//!
//! Who began at a login that leads on to an application comes back to it ([`waiting_login`]).

use http::StatusCode;
use serde::{Deserialize, Serialize};
use signet_crypto::Secret;
use signet_crypto::seal::Purpose;
use signet_oauth::error::{ErrorCode, OAuthError};
use signet_oauth::params::Params;
use signet_store::StoreError;

use crate::failure::Failure;
use crate::journey::budgets::{Budgets, Standing};
use crate::waiting_login::{self, Done, WaitingId};
use signet_audit::Action;
use signet_directory::{MAX_EMAIL_BYTES, PasswordOf, User, UserError};
use signet_pages::Notice;
use signet_realm::attempts::Kind;
use signet_realm::letters::Sending;
use signet_realm::mailed_link;
use signet_request::access::Entrance;
use signet_request::browser_request::{BrowserRequest, error_page};
use signet_request::http::letters;
use signet_request::http::{Context, Response};
use signet_request::interaction::{Goal, Interaction, Page};
use signet_request::security_mail::{self, SecurityEvent};

/// Where it is, below the issuer.
pub const PATH: &str = "/account/recover";
/// How long a link works, in seconds.
const LIFETIME: u64 = 30 * 60;

const ENDED: &str = "account-recover-ended";

/// What a link says.
#[derive(Serialize, Deserialize)]
struct Link {
    pub user_id: String,
    email: String,
    /// The password it is to replace, by the time it was set, which never repeats: this is what
    /// makes the link good for once.
    password_changed_at: u64,
    ends_at: u64,
    /// The row of the login that it began at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    begun: Option<WaitingId>,
}

/// GET: asks for the name, or, with a link, for the new password.
pub async fn show(context: Context) -> Response {
    let (browser, params) = match BrowserRequest::of_query(context).await {
        Ok(browser) => browser,
        Err(answer) => return answer,
    };
    if browser.context.realm.people.mailer.is_none() {
        return not_offered(browser);
    }
    let Some(token) = params.get("token") else {
        return ask(browser, StatusCode::OK, "", None, None);
    };
    match open(&browser, token).await {
        Ok(Some((_, user))) => {
            let html = signet_pages::reset(
                &browser.face(),
                token,
                &user.username,
                shortest(&browser, &user),
                None,
            );
            browser.page(html)
        }
        Ok(None) => ask(
            browser,
            StatusCode::OK,
            "",
            Some(Notice::Error(ENDED)),
            None,
        ),
        Err(error) => browser.unavailable(&error),
    }
}

/// Without a way to send mail there is no recovery, and no page that pretends.
fn not_offered(browser: BrowserRequest) -> Response {
    browser.error(&OAuthError::new(ErrorCode::NotFound, "error-no-mail"))
}

/// `begun`: the login that it began at.
fn ask_page(
    browser: &BrowserRequest,
    typed: &str,
    notice: Option<Notice>,
    begun: Option<&Interaction>,
) -> signet_pages::Html {
    let mut interaction = match begun {
        Some(begun) => begun.clone(),
        None => browser.interaction(Goal::Recover),
    };
    interaction.page = Page::Recover;
    let back = back(browser, &interaction);
    let (face, sealed) = (browser.face(), browser.seal(&interaction));
    signet_pages::recover(&face, &sealed, typed, notice, back.as_deref())
}

/// What continues on the login page: the sealed state of a login that leads on. It is a method's
/// page, from which one comes back to the login page.
fn back(browser: &BrowserRequest, interaction: &Interaction) -> Option<String> {
    let waiting = Interaction {
        page: Page::Method,
        pending: None,
        ..interaction.clone()
    };
    interaction.leads_on().then(|| browser.seal(&waiting))
}

/// The page that asks for the name, again.
pub fn again(browser: BrowserRequest, interaction: &Interaction) -> Response {
    ask(browser, StatusCode::OK, "", None, Some(interaction))
}

fn ask(
    browser: BrowserRequest,
    status: StatusCode,
    typed: &str,
    notice: Option<Notice>,
    begun: Option<&Interaction>,
) -> Response {
    let html = ask_page(&browser, typed, notice, begun);
    browser.page_with(status, html)
}

/// POST: the name, or the new password.
pub async fn submit(mut context: Context) -> Response {
    let form = match context.form().await {
        Ok(form) => form,
        Err(error) => return error_page(&mut context, &error.into()),
    };
    let browser = match BrowserRequest::begin(context).await {
        Ok(browser) => browser,
        Err(response) => return response,
    };
    if browser.context.realm.people.mailer.is_none() {
        return not_offered(browser);
    }
    if let Some(token) = form.get("token") {
        return reset(browser, token, &form).await;
    }
    match browser.open(&form) {
        // From the login page, with the name that was typed there.
        Some(interaction) if interaction.page == Page::Login => {
            let typed = form.get("typed").unwrap_or("").trim();
            let typed = Some(typed).filter(|typed| typed.len() <= MAX_EMAIL_BYTES);
            let begun = interaction.leads_on().then_some(&interaction);
            ask(browser, StatusCode::OK, typed.unwrap_or(""), None, begun)
        }
        Some(interaction) if interaction.page == Page::Recover => {
            let typed = form.get("username").unwrap_or("").trim();
            if typed.is_empty() || typed.len() > MAX_EMAIL_BYTES {
                let notice = Notice::Error("account-recover-name");
                return ask(
                    browser,
                    StatusCode::OK,
                    "",
                    Some(notice),
                    Some(&interaction),
                );
            }
            send(browser, typed, interaction).await
        }
        _ => browser.start_again(),
    }
}

async fn send(browser: BrowserRequest, typed: &str, interaction: Interaction) -> Response {
    match try_send(&browser, typed, &interaction).await {
        Ok(()) => {
            let back = back(&browser, &interaction);
            let html = signet_pages::recover_sent(&browser.face(), LIFETIME / 60, back.as_deref());
            browser.page(html)
        }
        Err(failure) => refused(browser, failure, |browser, notice| {
            ask_page(browser, typed, Some(notice), Some(&interaction))
        }),
    }
}

/// What was not done, said on the page that it was tried on.
pub(crate) fn refused(
    browser: BrowserRequest,
    failure: Failure,
    html: impl FnOnce(&BrowserRequest, Notice) -> signet_pages::Html,
) -> Response {
    match failure {
        Failure::Wrong(text, _) | Failure::Invalid(text) => {
            let html = html(&browser, Notice::Error(text));
            browser.page(html)
        }
        Failure::Expired(text) => ask(browser, StatusCode::OK, "", Some(Notice::Error(text)), None),
        Failure::LoginRequired => browser.start_again(),
        Failure::Later(status, retry_after, text) => {
            let html = html(&browser, Notice::Error(text));
            browser.later(status, retry_after, html)
        }
        Failure::Store(error) => browser.unavailable(&error),
    }
}

async fn try_send(
    browser: &BrowserRequest,
    typed: &str,
    interaction: &Interaction,
) -> Result<(), Failure> {
    let context = &browser.context;
    let (realm, now) = (&context.realm, context.now());
    let users = &realm.people.users;
    let user = users.by_login(typed, now).await?;
    let budgets = Budgets::of(browser, Kind::Mail, user.as_ref(), typed);
    let standing = budgets.begin(browser).await?;
    budgets.wrong(browser).await?;
    // Whoever was named: it costs the same.
    let begun = waiting_login::keep(browser, interaction, LIFETIME).await?;
    // Where the account's mails are used up, none is sent, and the answer is the same.
    let user =
        user.filter(|user| Entrance::Recovery.opens(user, now) && standing == Standing::Open);
    // A password that a directory keeps is set there.
    let user = user.filter(|user| users.may(user).password);
    let receiver = user.and_then(|user| {
        let email = user.email.clone()?;
        Some((user, email))
    });
    let Some((user, email)) = receiver else {
        letters::send_nothing(context).await;
        return Ok(());
    };
    let link = Link {
        user_id: user.id,
        email,
        password_changed_at: user.password_changed_at,
        ends_at: now + LIFETIME,
        begun,
    };
    let issuer = &context.snapshot.settings.issuer;
    let url = mailed_link::url(realm, PATH, Purpose::Recovery, &link)?;
    let letter = signet_pages::recovery_link(&browser.face(), issuer, &url, LIFETIME / 60);
    let sending = Sending {
        user_id: Some(&link.user_id),
        to: &link.email,
        what: "recovery_link",
        expires_at: link.ends_at,
    };
    letters::send(context, &sending, &letter).await;
    Ok(())
}

impl Link {
    /// Whether it still may set a password of this account.
    fn holds(&self, user: &User, now: u64) -> bool {
        Entrance::Recovery.opens(user, now)
            && user.password_changed_at == self.password_changed_at
            && user.email.as_deref() == Some(&*self.email)
    }
}

/// The link and its user, if it still works; a record where it does not.
async fn open(browser: &BrowserRequest, token: &str) -> Result<Option<(Link, User)>, StoreError> {
    let found = find(browser, token).await?;
    if found.is_none() {
        record_wrong_link(browser);
    }
    Ok(found)
}

/// Whoever sends requests can send such links: they are counted where they say the same.
fn record_wrong_link(browser: &BrowserRequest) {
    let event = browser.context.event(Action::RECOVER);
    let event = event.refused("invalid_recovery_link");
    browser.context.realm.audit().record(event);
}

async fn find(browser: &BrowserRequest, token: &str) -> Result<Option<(Link, User)>, StoreError> {
    let (realm, now) = (&browser.context.realm, browser.context.now());
    let read: Option<Link> = mailed_link::open(realm, Purpose::Recovery, token);
    let Some(link) = read.filter(|link| now < link.ends_at) else {
        return Ok(None);
    };
    let user = realm.people.users.by_id(&link.user_id, now).await?;
    Ok(user
        .filter(|user| link.holds(user, now))
        .map(|user| (link, user)))
}

async fn reset(browser: BrowserRequest, token: &str, form: &Params) -> Response {
    let user = match open(&browser, token).await {
        Ok(Some(found)) => found,
        Ok(None) => {
            return ask(
                browser,
                StatusCode::OK,
                "",
                Some(Notice::Error(ENDED)),
                None,
            );
        }
        Err(error) => return browser.unavailable(&error),
    };
    match try_reset(&browser, &user, form).await {
        Ok(()) => {
            let told = SecurityEvent::Recovered;
            security_mail::send(&browser, &user.1, told).await;
            let (link, user) = &user;
            let name = Some(&*user.username);
            waiting_login::after(browser, link.begun.as_ref(), name, Done::Recovered).await
        }
        Err(failure) => refused(browser, failure, |browser, notice| {
            let (face, shortest) = (browser.face(), shortest(browser, &user.1));
            signet_pages::reset(&face, token, &user.1.username, shortest, Some(notice))
        }),
    }
}

async fn try_reset(
    browser: &BrowserRequest,
    (link, user): &(Link, User),
    form: &Params,
) -> Result<(), Failure> {
    let new = form.get("new_password").unwrap_or("");
    let realm = &browser.context.realm;
    realm
        .check_new_password(new, PasswordOf::user(user))
        .map_err(|refused| Failure::Invalid(refused.text_id()))?;
    let users = &browser.context.realm.people.users;
    let phc = users.hash(Secret::new(new.to_owned())).await?;
    let event = browser
        .context
        .event(Action::RECOVER)
        .subject(&link.user_id);
    match signet_audit::with_record(event, use_up(browser, link, &phc))
        .await
        .0
    {
        Ok(true) => Ok(()),
        Ok(false) => {
            record_wrong_link(browser);
            Err(Failure::Expired(ENDED))
        }
        Err(error) => Err(error.into()),
    }
}

/// Sets the password, which uses the link up, and ends everything that was begun with the old one:
/// one change of the store. Whether the link was unused.
async fn use_up(browser: &BrowserRequest, link: &Link, phc: &str) -> Result<bool, UserError> {
    let (realm, now) = (&browser.context.realm, browser.context.now());
    let changed = realm.change_user_and_end_everything(
        &link.user_id,
        |user| link.holds(user, now),
        |draft| {
            draft.set_password(Some(phc), now);
            draft.user.email_verified = true;
        },
    );
    if changed.await?.is_none() {
        return Ok(false);
    }
    tracing::info!(target: "signet::login", user = %link.user_id, "recovered a password by mail");
    Ok(true)
}

/// The shortest new password of somebody.
fn shortest(browser: &BrowserRequest, user: &User) -> usize {
    let policy = &browser.context.realm.people.passwords;
    policy.shortest(user.admin)
}
