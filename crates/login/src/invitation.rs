//! `/invitation`: an account that an administrator has made, and that its person takes over by a
//! link in the mail.
//!
//! The account's record says that it was invited, and when. The link is sealed and says whose it is
//! and of which invitation; it works until the person has set a password by it, which is one change
//! of the store, until another invitation is sent in its place, or it is withdrawn. Opening it
//! changes nothing.

use serde::{Deserialize, Serialize};
use signet_audit::{Action, Event};
use signet_crypto::Secret;
use signet_crypto::seal::Purpose;
use signet_directory::{CredentialKind, Invitation, PasswordOf, User, UserError};
use signet_oauth::error::{ErrorCode, OAuthError};
use signet_oauth::params::Params;
use signet_store::StoreError;
use signet_texts::Wishes;

use crate::failure::Failure;
use crate::journey::{Outcome, accepted_terms};
use crate::recover::refused;
use crate::waiting_login;
use signet_pages::{Face, InvitationLetter, Invited, Notice};
use signet_realm::letters::{self, Sending};
use signet_realm::mailed_link;
use signet_realm::state::Realm;
use signet_request::access::Entrance;
use signet_request::browser_request::{BrowserRequest, error_page};
use signet_request::http::{Context, Response};

/// Where it is, below the issuer.
pub const PATH: &str = "/invitation";

const PURPOSE: Purpose = Purpose::Other("invitation");
const ENDED: &str = "error-invitation";

/// What a link says.
#[derive(Serialize, Deserialize)]
struct Link {
    pub user_id: String,
    email: String,
    /// As the account has it: this is what makes the link good for once.
    invitation: Invitation,
    /// What the person is called who invites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<String>,
}

/// Why nobody was invited.
#[derive(Debug)]
pub enum InvitationError {
    /// The server sends no mail.
    NoMail,
    /// The account has no address.
    NoAddress,
    /// It is disabled, or has expired.
    Disabled,
    /// It has a password: its person has taken it over.
    Accepted,
    /// The mail could not be handed over. The account is invited: it can be sent again.
    NotSent,
    /// The account's, or the store's.
    User(UserError),
}

impl From<UserError> for InvitationError {
    fn from(error: UserError) -> InvitationError {
        InvitationError::User(error)
    }
}

/// Invites the person of an account, and takes the place of an invitation before it. `by`: who does
/// so, a user's id or a `client_id`; a person's name is said.
pub async fn invite(realm: &Realm, id: &str, by: &str) -> Result<(), InvitationError> {
    let (users, now) = (&realm.people.users, realm.now());
    let user = users.by_id(id, now).await?.ok_or(UserError::NotFound)?;
    if realm.people.mailer.is_none() {
        return Err(InvitationError::NoMail);
    }
    if !users.may(&user).password {
        return Err(UserError::KeptElsewhere("the password").into());
    }
    let Some(email) = user.email.clone() else {
        return Err(InvitationError::NoAddress);
    };
    if !Entrance::Invitation.opens(&user, now) {
        return Err(InvitationError::Disabled);
    }
    if user.has(CredentialKind::Password) {
        return Err(InvitationError::Accepted);
    }
    // Each has a time of its own, also within a second.
    let before = user.invitation.map(|invitation| invitation.sent_at);
    let (snapshot, now_ms) = (realm.snapshot(), realm.now_ms());
    let invitation = Invitation {
        sent_at: before.map_or(now, |before| now.max(before + 1)),
        ends_at: now + snapshot.settings.invitation_lifetime,
    };
    let change = users.change(id, now, |draft| {
        let user = &mut draft.user;
        user.invitation = Some(invitation);
        user.invited = true;
        user.must_accept_terms |= user.terms.is_none();
    });
    let user = change.await?;
    let issuer = &snapshot.settings.issuer;
    // A name that cannot be read now holds up no invitation.
    let by = users.by_id(by, now).await.ok().flatten();
    let link = Link {
        user_id: user.id.clone(),
        email,
        invitation,
        by: by.map(|by| by.display_name().to_owned()),
    };
    let url = mailed_link::url(realm, PATH, PURPOSE, &link).map_err(UserError::from)?;
    let wishes = Wishes {
        menu: None,
        request: None,
        person: user.profile.locale.as_deref(),
        accept: None,
    };
    let t = Face::of(wishes.choose(), realm.people.brands.own().clone(), "");
    let letter = signet_pages::invitation(
        &t,
        &InvitationLetter {
            server: issuer,
            username: &user.username,
            by: link.by.as_deref(),
            url: &url,
            until: invitation.ends_at,
        },
    );
    let record = Event::new(Action::MAIL, now_ms);
    let sending = Sending {
        user_id: Some(&user.id),
        to: &link.email,
        what: "invitation",
        expires_at: invitation.ends_at,
    };
    match letters::hand_over(realm, record, &sending, &letter).await {
        true => Ok(()),
        false => Err(InvitationError::NotSent),
    }
}

/// Takes an invitation back: its link works no more. The account goes on waiting for whoever it is
/// for ([`User::awaits_its_person`]): whose mailbox its address leads to is in doubt.
pub async fn withdraw(realm: &Realm, id: &str) -> Result<(), UserError> {
    let change = realm.people.users.change(id, realm.now(), |draft| {
        draft.user.invited |= draft.user.invitation.take().is_some();
    });
    change.await.map(drop)
}

impl Link {
    /// Whether the account still waits for this invitation's person.
    fn holds(&self, user: &User, now: u64) -> bool {
        Entrance::Invitation.opens(user, now)
            && user.invitation == Some(self.invitation)
            && user.email.as_deref() == Some(&*self.email)
            && !user.has(CredentialKind::Password)
    }
}

/// GET: asks for a password.
pub async fn show(context: Context) -> Response {
    let (browser, params) = match BrowserRequest::of_query(context).await {
        Ok(browser) => browser,
        Err(answer) => return answer,
    };
    let token = params.get("token").unwrap_or("");
    match open(&browser, token).await {
        Ok(Some(found)) => {
            let html = form_page(&browser, token, &found, None);
            browser.page(html)
        }
        Ok(None) => ended(browser),
        Err(error) => browser.unavailable(&error),
    }
}

fn ended(browser: BrowserRequest) -> Response {
    browser.error(&OAuthError::new(ErrorCode::InvalidRequest, ENDED))
}

fn form_page(
    browser: &BrowserRequest,
    token: &str,
    (link, user): &(Link, User),
    notice: Option<Notice>,
) -> signet_pages::Html {
    let terms = browser.context.snapshot.settings.sign_up.terms.as_ref();
    signet_pages::new_account(
        &browser.face(),
        &signet_pages::NewAccountPage {
            action: "invitation",
            interaction: &waiting_login::seal_page(browser),
            token,
            login: &user.username,
            invited: Some(Invited {
                by: link.by.as_deref(),
            }),
            name: None,
            shortest: browser.context.realm.people.passwords.shortest(user.admin),
            terms: terms.map(|terms| &*terms.url),
            notice,
        },
    )
}

/// POST: the password.
pub async fn submit(mut context: Context) -> Outcome {
    let form = match context.form().await {
        Ok(form) => form,
        Err(error) => return Outcome::Page(error_page(&mut context, &error.into())),
    };
    let mut browser = match BrowserRequest::begin(context).await {
        Ok(browser) => browser,
        Err(response) => return Outcome::Page(response),
    };
    let token = form.get("token").unwrap_or("");
    let found = match open(&browser, token).await {
        Ok(Some(found)) => found,
        Ok(None) => return Outcome::Page(ended(browser)),
        Err(error) => return Outcome::Page(browser.unavailable(&error)),
    };
    Outcome::Page(match accept(&browser, &found, &form).await {
        Ok(user) => {
            browser.begin_after_end(&user);
            let name = user.username.clone();
            return waiting_login::log_in(browser, None, user, &name, &form).await;
        }
        Err(Failure::Expired(_)) => ended(browser),
        Err(failure) => refused(browser, failure, |browser, notice| {
            form_page(browser, token, &found, Some(notice))
        }),
    })
}

/// The link and its user, if it still works; a record where it does not.
async fn open(browser: &BrowserRequest, token: &str) -> Result<Option<(Link, User)>, StoreError> {
    let found = find(browser, token).await?;
    if found.is_none() {
        record_wrong_link(browser);
    }
    Ok(found)
}

fn record_wrong_link(browser: &BrowserRequest) {
    let event = browser.context.event(Action::SIGN_UP);
    let event = event.operation("invitation").refused("invalid_invitation");
    browser.context.realm.audit().record(event);
}

async fn find(browser: &BrowserRequest, token: &str) -> Result<Option<(Link, User)>, StoreError> {
    let (realm, now) = (&browser.context.realm, browser.context.now());
    let read: Option<Link> = mailed_link::open(realm, PURPOSE, token);
    let Some(link) = read.filter(|link| now < link.invitation.ends_at) else {
        return Ok(None);
    };
    let user = realm.people.users.by_id(&link.user_id, now).await?;
    Ok(user
        .filter(|user| link.holds(user, now))
        .map(|user| (link, user)))
}

async fn accept(
    browser: &BrowserRequest,
    (link, user): &(Link, User),
    form: &Params,
) -> Result<User, Failure> {
    let realm = &browser.context.realm;
    let terms = accepted_terms(browser, form)?;
    let new = form.get("new_password").unwrap_or("");
    realm
        .check_new_password(new, PasswordOf::user(user))
        .map_err(|refused| Failure::Invalid(refused.text_id()))?;
    let hashed = realm.people.users.hash(Secret::new(new.to_owned()));
    let phc = hashed.await?;
    let now = browser.context.now();
    let event = browser.context.event(Action::SIGN_UP);
    let event = event.operation("invitation").subject(&link.user_id);
    let changed = realm.change_user_and_end_everything(
        &link.user_id,
        |user| link.holds(user, now),
        |draft| {
            draft.set_password(Some(&phc), now);
            draft.user.email_verified = true;
            draft.user.invitation = None;
            draft.user.must_change_password = false;
            draft.user.must_accept_terms = false;
            if terms.is_some() {
                draft.user.terms.clone_from(&terms);
            }
        },
    );
    match signet_audit::with_record(event, changed).await.0? {
        Some(user) => Ok(user),
        None => {
            record_wrong_link(browser);
            Err(Failure::Expired(ENDED))
        }
    }
}
