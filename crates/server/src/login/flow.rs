//! The steps of a login, whatever it is for: password, code, and the pages between.

use http::StatusCode;
use signet_crypto::Secret;
use signet_oauth::authorize::{AuthorizationRequest, acr};
use signet_oauth::params::Params;
use signet_store::StoreError;

use super::one_time_code::{self, Attempt};
use crate::attempts::{self, Budget, Kind, Refused};
use crate::audit::Action;
use crate::http::Response;
use crate::interaction::{Goal, Interaction, Page, PendingCode, Proof};
use crate::page::{self, CodePage, LoginPage, Notice};
use crate::passwords::PoolError;
use crate::user::{User, UserError, fold};
use crate::visit::Visit;

/// Where every form of the login goes, relative to the page that shows it: all of them are one segment below the issuer.
pub const ACTION: &str = "interaction";

const WRONG: &str = "The user name or password is not right.";
const WRONG_CODE: &str = "This is not the code. Look at the latest mail.";
const ENDED_CODE: &str = "This code has ended. Ask for a new one.";
const TOO_MANY: &str = "There were too many attempts. Wait a few minutes and try again.";
const BUSY: &str = "Many people are logging in at the moment. Try again in a few seconds.";
const SECOND_STEP: &str =
    "One more step: ask for a code by mail, or use your password, whichever you have not used yet.";

/// Shows the login page.
pub fn show(visit: Visit, mut interaction: Interaction, notice: Option<Notice>) -> Response {
    interaction.page = Page::Login;
    interaction.code = None;
    let html = login_page(&visit, &interaction, None, notice);
    visit.page(html)
}

/// Shows it for a request's second factor.
pub fn show_second(visit: Visit, interaction: Interaction) -> Response {
    show(visit, interaction, Some(Notice::Done(SECOND_STEP)))
}

fn request_of(interaction: &Interaction) -> Option<AuthorizationRequest> {
    match &interaction.goal {
        Goal::Authorize(bytes) => AuthorizationRequest::from_bytes(bytes).ok(),
        _ => None,
    }
}

fn login_page(
    visit: &Visit,
    interaction: &Interaction,
    typed: Option<&str>,
    notice: Option<Notice>,
) -> page::Html {
    let request = request_of(interaction);
    let registry = &visit.context.snapshot.registry;
    let client = request
        .as_ref()
        .and_then(|r| registry.clients.get(&r.client_id));
    let hint = request.as_ref().and_then(|r| r.login_hint.as_deref());
    let sealed = visit.seal(interaction);
    page::login(&LoginPage {
        action: ACTION,
        interaction: &sealed,
        client_name: client.map(|c| c.client_name.as_deref().unwrap_or(&c.client_id)),
        username: typed.or(hint).unwrap_or(""),
        email: visit.context.realm.people.mailer.is_some(),
        can_cancel: request.is_some(),
        notice,
    })
}

fn code_page(visit: &Visit, interaction: &Interaction, notice: Option<Notice>) -> page::Html {
    let sealed = visit.seal(interaction);
    page::code(&CodePage {
        action: ACTION,
        interaction: &sealed,
        typed: interaction.code.as_ref().map_or("", |code| &code.typed),
        minutes: visit.context.snapshot.settings.otp_lifetime / 60,
        can_cancel: matches!(interaction.goal, Goal::Authorize(_)),
        notice,
    })
}

/// What a form of the login came to.
pub enum Outcome {
    /// A page to show.
    Page(Response),
    /// Logged in; the interaction goes on.
    Done(Box<Visit>, Box<Interaction>),
}

/// Handles a form of the login page or the code page.
pub async fn submit(visit: Visit, interaction: Interaction, form: &Params) -> Outcome {
    let page = match (interaction.page, form.get("decision")) {
        (_, Some("email")) => mail_code(visit, interaction, form).await,
        (Page::Code, Some("password")) => show(visit, interaction, None),
        (Page::Code, _) => return type_code(visit, interaction, form).await,
        _ => return type_password(visit, interaction, form).await,
    };
    Outcome::Page(page)
}

/// What guesses of an account are counted against. Known and unknown names have budgets alike.
struct Budgets {
    account: Budget,
    /// For what is worth guessing for longer than a window.
    day: Option<Budget>,
    /// None: a device of the account counts for itself, also behind an address that strangers share.
    address: Option<Budget>,
}

impl Budgets {
    fn of(visit: &Visit, kind: Kind, user: Option<&User>, typed: &str) -> Budgets {
        let limits = &visit.context.realm.people.limits;
        let device = visit.device();
        let known = match (user, &device) {
            (Some(user), Some(device)) => device.known(&user.id),
            _ => None,
        };
        let folded = fold(typed);
        let account = match user {
            Some(user) => &*user.id,
            None => folded.as_deref().unwrap_or(typed),
        };
        Budgets {
            account: limits.of_account(kind, account, known),
            day: limits.of_account_day(kind, account, known),
            address: known
                .is_none()
                .then(|| limits.of_address(kind, visit.context.peer)),
        }
    }

    /// Counts a guess of the account; the address only has to have something left.
    async fn begin(&self, visit: &Visit) -> Result<(), Refused> {
        let (store, now) = (&*visit.context.realm.store, visit.context.now());
        if let Some(address) = &self.address {
            attempts::check(store, address, now).await?;
        }
        // The window first: what it refuses is no guess, and must not use up the day.
        attempts::count(store, &self.account, now).await?;
        match &self.day {
            Some(day) => attempts::count(store, day, now).await,
            None => Ok(()),
        }
    }

    /// The guess was wrong: it also counts for the address.
    async fn wrong(&self, visit: &Visit) -> Result<(), StoreError> {
        let (store, now) = (&*visit.context.realm.store, visit.context.now());
        match &self.address {
            Some(address) => match attempts::count(store, address, now).await {
                Err(Refused::Store(error)) => Err(error),
                _ => Ok(()),
            },
            None => Ok(()),
        }
    }

    /// The guess was right, or was not looked at.
    async fn right(&self, visit: &Visit) -> Result<(), StoreError> {
        let (store, now) = (&*visit.context.realm.store, visit.context.now());
        if let Some(day) = &self.day {
            attempts::give_back(store, day, now).await?;
        }
        attempts::give_back(store, &self.account, now).await
    }
}

/// Why no login came of a form.
enum Failure {
    /// What was typed is not right; whose account it was for, where there is one.
    Wrong(&'static str, Option<String>),
    /// Shown beside the form.
    Say(&'static str),
    /// 429 or 503, with `Retry-After` in seconds.
    Later(StatusCode, u64, &'static str),
    Store(StoreError),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Failure::Store(error)
    }
}

impl From<UserError> for Failure {
    fn from(error: UserError) -> Self {
        Failure::Store(match error {
            UserError::Store(error) => error,
            error => StoreError::Unavailable(error.to_string()),
        })
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::TooMany { retry_after } => {
                Failure::Later(StatusCode::TOO_MANY_REQUESTS, retry_after, TOO_MANY)
            }
            Refused::Store(error) => Failure::Store(error),
        }
    }
}

async fn type_password(visit: Visit, mut interaction: Interaction, form: &Params) -> Outcome {
    interaction.page = Page::Login;
    let typed = form.get("username").unwrap_or("");
    let password = Secret::new(form.get("password").unwrap_or("").to_owned());
    match verify_password(&visit, typed, password).await {
        Ok(user) => finish(visit, interaction, user, "pwd").await,
        Err(failure) => Outcome::Page(failed(visit, failure, "pwd", |visit, notice| {
            login_page(visit, &interaction, Some(typed), Some(notice))
        })),
    }
}

async fn verify_password(
    visit: &Visit,
    typed: &str,
    password: Secret<String>,
) -> Result<User, Failure> {
    let realm = &visit.context.realm;
    let user = realm
        .people
        .users
        .by_login(typed, visit.context.now())
        .await?;
    let budgets = Budgets::of(visit, Kind::Password, user.as_ref(), typed);
    budgets.begin(visit).await?;
    let stored = user.as_ref().and_then(|user| user.password.as_deref());
    let right = match realm.people.passwords.verify(password, stored).await {
        Ok(right) => right,
        Err(PoolError::TooLong | PoolError::Parameters) => false,
        Err(PoolError::Busy) => {
            budgets.right(visit).await?;
            return Err(Failure::Later(StatusCode::SERVICE_UNAVAILABLE, 5, BUSY));
        }
    };
    match user {
        Some(user) if right && user.enabled => {
            budgets.right(visit).await?;
            Ok(user)
        }
        user => {
            budgets.wrong(visit).await?;
            Err(Failure::Wrong(WRONG, user.map(|user| user.id)))
        }
    }
}

async fn type_code(visit: Visit, mut interaction: Interaction, form: &Params) -> Outcome {
    interaction.page = Page::Code;
    let typed = form.get("otp").unwrap_or("");
    match verify_code(&visit, &interaction, typed).await {
        Ok(user) => finish(visit, interaction, user, "otp").await,
        Err(failure) => Outcome::Page(failed(visit, failure, "otp", |visit, notice| {
            code_page(visit, &interaction, Some(notice))
        })),
    }
}

async fn verify_code(
    visit: &Visit,
    interaction: &Interaction,
    typed: &str,
) -> Result<User, Failure> {
    let (realm, now) = (&visit.context.realm, visit.context.now());
    let pending = interaction.code.as_ref().ok_or(Failure::Say(ENDED_CODE))?;
    let users = &realm.people.users;
    let user = users.by_login(&pending.typed, now).await?;
    let budgets = Budgets::of(visit, Kind::Code, user.as_ref(), &pending.typed);
    budgets.begin(visit).await?;
    let keyring = realm.keyring().clone();
    match one_time_code::attempt(&*realm.store, &keyring, &pending.id, typed, now).await? {
        Attempt::Right { user_id, email } => {
            budgets.right(visit).await?;
            // Between the mail and the code the account may have moved to another address, or been disabled.
            let user = users.by_id(&user_id, now).await?;
            let user = user.filter(|user| user.enabled && user.email.as_deref() == Some(&*email));
            let user = user.ok_or(Failure::Say(ENDED_CODE))?;
            if user.email_verified {
                return Ok(user);
            }
            // Mail to the address has reached the person.
            let verified = users.change(&user_id, now, |user| {
                user.email_verified = user.email.as_deref() == Some(&*email);
            });
            Ok(verified.await?)
        }
        Attempt::Wrong => {
            budgets.wrong(visit).await?;
            Err(Failure::Wrong(WRONG_CODE, user.map(|user| user.id)))
        }
        Attempt::Ended => {
            budgets.wrong(visit).await?;
            Err(Failure::Say(ENDED_CODE))
        }
    }
}

async fn mail_code(visit: Visit, mut interaction: Interaction, form: &Params) -> Response {
    let again = interaction.page == Page::Code;
    let typed = match &interaction.code {
        Some(code) if again => code.typed.clone(),
        _ => form.get("username").unwrap_or("").trim().to_owned(),
    };
    if typed.is_empty() {
        let notice = Notice::Error("Type your user name or e-mail address first.");
        return show(visit, interaction, Some(notice));
    }
    if visit.context.realm.people.mailer.is_none() || typed.len() > crate::user::MAX_EMAIL_BYTES {
        return show(visit, interaction, Some(Notice::Error(WRONG)));
    }
    match send_code(&visit, &typed).await {
        Ok(id) => {
            interaction.page = Page::Code;
            interaction.code = Some(PendingCode { id, typed });
            let notice = again.then_some(Notice::Done(
                "If the account exists, a new code is on its way. The one before no longer works.",
            ));
            let html = code_page(&visit, &interaction, notice);
            visit.page(html)
        }
        Err(failure) => {
            interaction.page = Page::Login;
            failed(visit, failure, "mail", |visit, notice| {
                login_page(visit, &interaction, Some(&typed), Some(notice))
            })
        }
    }
}

/// Makes a code, and mails it if there is somebody to mail it to. What the browser sees is the same either way.
async fn send_code(visit: &Visit, typed: &str) -> Result<one_time_code::CodeId, Failure> {
    let context = &visit.context;
    let (realm, settings, now) = (&context.realm, &context.snapshot.settings, context.now());
    let user = realm.people.users.by_login(typed, now).await?;
    let budgets = Budgets::of(visit, Kind::Mail, user.as_ref(), typed);
    budgets.begin(visit).await?;
    budgets.wrong(visit).await?;
    let receiver = user.as_ref().filter(|user| user.enabled);
    let receiver = receiver.and_then(|user| Some((&*user.id, user.email.as_deref()?)));
    let keyring = realm.keyring().clone();
    let lifetime = settings.otp_lifetime;
    let code = one_time_code::create(&*realm.store, &keyring, receiver, lifetime, now).await?;
    if let (Some((_, email)), Some(mailer)) = (receiver, &realm.people.mailer) {
        let text = format!(
            "{}\n\nis your code to log in at {}.\n\nIt works once, for {} minutes, in the browser that asked for it.\n\
             If you did not ask for it, you can ignore this message. Give the code to nobody.\n",
            code.digits,
            settings.issuer,
            (lifetime / 60).max(1),
        );
        if let Err(error) = mailer
            .send(email, "Your login code", text, context.now_ms)
            .await
        {
            // Saying so would tell a stranger that the address exists.
            tracing::error!(%error, request_id = %context.request_id, "a login code could not be mailed");
        }
    }
    Ok(code.id)
}

fn failed(
    visit: Visit,
    failure: Failure,
    method: &str,
    html: impl FnOnce(&Visit, Notice) -> page::Html,
) -> Response {
    let event = visit.context.event(Action::LOGIN).method(method);
    let event = event.refused(match &failure {
        Failure::Wrong(..) => "wrong_credentials",
        Failure::Say(_) => "ended",
        Failure::Later(StatusCode::TOO_MANY_REQUESTS, ..) => "too_many_attempts",
        Failure::Later(..) | Failure::Store(_) => "temporarily_unavailable",
    });
    let event = match &failure {
        // Whose account it was; never what somebody typed.
        Failure::Wrong(_, Some(user_id)) => event.subject(user_id),
        _ => event,
    };
    visit.context.realm.audit().record(event);
    match failure {
        Failure::Wrong(text, _) | Failure::Say(text) => {
            let html = html(&visit, Notice::Error(text));
            visit.page(html)
        }
        Failure::Later(status, retry_after, text) => {
            let html = html(&visit, Notice::Error(text));
            visit.later(status, retry_after, html)
        }
        Failure::Store(error) => visit.unavailable(&error),
    }
}

/// Begins the session, and notes in the interaction what was done.
async fn finish(
    mut visit: Visit,
    mut interaction: Interaction,
    user: User,
    method: &str,
) -> Outcome {
    let both_possible = visit.context.realm.people.mailer.is_some()
        && user.password.is_some()
        && user.email.is_some();
    if let Err(error) = visit.log_in(user, method, interaction.step_up).await {
        return Outcome::Page(visit.unavailable(&error));
    }
    interaction.code = None;
    interaction.page = Page::Start;
    let row = visit.present().map(|present| &present.found.row);
    // Somebody of whom two factors are asked has one more page before them.
    let half_way = wants_both(&interaction)
        && both_possible
        && row.is_some_and(|row| !acr::reaches(&row.acr, acr::PASSWORD_AND_EMAIL_CODE));
    if half_way {
        interaction.step_up = true;
    } else {
        interaction.login = row.map(Proof::by);
    }
    Outcome::Done(Box::new(visit), Box::new(interaction))
}

/// Whether the request's first wish is both factors, as an essential claim or by `acr_values`.
fn wants_both(interaction: &Interaction) -> bool {
    request_of(interaction).is_some_and(|request| {
        let essential = request.claims.as_ref().and_then(|c| c.essential_acr());
        let wanted = essential.unwrap_or(&request.acr_values);
        wanted
            .first()
            .is_some_and(|class| class == acr::PASSWORD_AND_EMAIL_CODE)
    })
}
