//! `/account`: the person's own password, sessions, consents and agents.
mod agents;
mod attributes;
mod data;
mod delete;
pub(crate) mod factors;
mod passkeys;
mod profile;
mod providers;

pub use agents::{CHALLENGE_LIFETIME, MAX_FORM_OBJECT};
pub use data::PersonData;

use signet_crypto::Secret;
use signet_oauth::params::Params;
use signet_store::StoreError;

use crate::failure::Failure;
use crate::freshness::{self, Fresh};
use crate::journey::{self, provider};
use crate::waiting_login;
use signet_audit::{Action, Event};
use signet_directory::passwords::Waiter;
use signet_directory::session::{self, Found};
use signet_directory::{PasswordOf, PasswordVerdict, User, UserError};
use signet_pages::words::{host_of, name_of, scope_text};
use signet_pages::{AccountView, ConsentView, LogoutOnward, Notice, SessionView};
use signet_realm::attempts::{self, Kind};
use signet_request::access::Entrance;
use signet_request::browser_request::{BrowserRequest, LoggedIn, store_failed};
use signet_request::front_channel_logout;
use signet_request::http::{Context, Response};
use signet_request::interaction::{Goal, Page};
use signet_request::security_mail::{self, SecurityEvent};

const PASSWORD_CHANGED: &str = "account-password-changed";

/// GET.
pub async fn show(context: Context) -> Response {
    let browser = match BrowserRequest::begin(context).await {
        Ok(browser) => browser,
        Err(response) => return response,
    };
    match waiting_login::said(browser.context.query()) {
        Some((text, name)) if browser.present().is_none() => {
            let interaction = browser.interaction(Goal::Account);
            let name = name.and_then(|name| browser.open_name(name));
            journey::show_for(
                browser,
                interaction,
                name.as_deref(),
                Some(Notice::Done(text)),
            )
        }
        Some(_) | None => overview(browser, None).await,
    }
}

async fn overview(browser: BrowserRequest, notice: Option<Notice>) -> Response {
    match render(&browser, notice).await {
        Ok(Some(html)) => browser.page(html),
        Ok(None) => ask_login(browser),
        Err(error) => browser.unavailable(&error),
    }
}

fn ask_login(browser: BrowserRequest) -> Response {
    let interaction = browser.interaction(Goal::Account);
    journey::show(browser, interaction, None)
}

async fn render(
    browser: &BrowserRequest,
    notice: Option<Notice>,
) -> Result<Option<signet_pages::Html>, StoreError> {
    let Some(present) = browser.present() else {
        return Ok(None);
    };
    let (store, now) = (&*browser.context.realm.store, browser.context.now());
    let (users, user) = (&browser.context.realm.people.users, &present.user);
    let sessions = session::list(store, &user.id, now).await?;
    let sessions: Vec<SessionView> = sessions
        .into_iter()
        .map(|(_, row)| SessionView {
            browser: session::browser_name(&row.user_agent),
            current: row.sid == present.found.row.sid,
            sid: row.sid,
            address: row.address,
            created_at: row.created_at,
            last_seen: row.last_seen,
        })
        .collect();
    let (t, registry) = (browser.face(), &browser.context.snapshot.registry);
    let consents = signet_directory::consent::list(store, &user.id, now).await?;
    let consents: Vec<ConsentView> = consents
        .into_iter()
        .map(|(client_id, consent)| ConsentView {
            client_name: registry
                .clients
                .get(&client_id)
                .map_or_else(|| client_id.clone(), |client| name_of(client).to_owned()),
            pictured: registry
                .clients
                .get(&client_id)
                .is_some_and(|client| client.shown_logo().is_some()),
            scopes: consent
                .scope
                .iter()
                .map(|name| scope_text(&t, registry, name))
                .collect(),
            granted_at: consent.granted_at,
            client_id,
        })
        .collect();
    let mut interaction = browser.interaction(Goal::Account);
    interaction.page = Page::Account;
    interaction.shown_to = Some(present.found.row.sid.clone());
    let challenge = agents::challenge();
    let agents = agents::view(browser, &user.id, &challenge).await?;
    let passkey = passkeys::options(browser, user, &challenge).await?;
    let answered = agents.is_some() || passkey.is_some();
    interaction.challenge = answered.then_some(challenge);
    let factors = factors::view(browser, user).await?;
    Ok(Some(signet_pages::account(
        &t,
        &AccountView {
            interaction: &browser.seal(&interaction),
            display_name: user.display_name(),
            username: &user.username,
            email: user.email.as_deref(),
            has_password: users.has_password(user),
            password_changed_at: Some(user.password_changed_at).filter(|at| *at > 0),
            own_password: users.may(user).password,
            shortest_password: browser.context.realm.people.passwords.shortest(user.admin),
            notice,
            sessions: &sessions,
            consents: &consents,
            agents: agents.as_ref(),
            profile: profile::view(browser, user),
            attributes: &attributes::view(browser, user),
            factors: Some(&factors),
            deletable: delete::offered(browser, present),
            passkey: passkey.as_deref(),
            providers: signet_pages::ProviderLinks {
                links: &providers::links(browser, user).await?,
                others: &providers::others(browser, user),
            },
        },
    )))
}

/// POST: one of the page's forms.
pub async fn submit<D: PersonData>(context: Context) -> Response {
    let (browser, form, interaction) = match BrowserRequest::of_form(context).await {
        Ok(browser) => browser,
        Err(answer) => return answer,
    };
    let Some(present) = browser.present().cloned() else {
        return ask_login(browser);
    };
    if interaction.page == Page::AccountStep && interaction.was_shown_to(&present.found.row) {
        return factors::submit_step(browser, &present, interaction, &form).await;
    }
    if interaction.page != Page::Account || !interaction.was_shown_to(&present.found.row) {
        return overview(browser, None).await;
    }
    match form.get("decision") {
        Some("end-session") => end_session(browser, &present, form.get("sid").unwrap_or("")).await,
        Some("end-others") => end_others(browser, &present).await,
        Some("withdraw") => {
            let client_id = form.get("client_id").unwrap_or("");
            withdraw(browser, &present, client_id).await
        }
        Some("bind-agent") => agents::bind(browser, &present, &form, &interaction).await,
        Some("unbind-agent") => {
            let agent = form.get("agent").unwrap_or("");
            agents::unbind(browser, &present, agent).await
        }
        Some("revoke-grant") => {
            let grant = form.get("grant").unwrap_or("");
            agents::revoke(browser, &present, grant).await
        }
        Some("stop-agents") => agents::stop_all(browser, &present).await,
        Some("attributes") => attributes::save(browser, &present, &form).await,
        Some("profile") => profile::save(browser, &present, &form).await,
        Some("passkey-add") => passkeys::add(browser, &present, &interaction, &form).await,
        Some("totp-add") => factors::begin_totp(browser, &present).await,
        Some("recovery-codes") => factors::make_recovery_codes(browser, &present).await,
        Some("credential-rename") => factors::rename(browser, &present, &form).await,
        Some("credential-remove") => factors::remove(browser, &present, &form).await,
        Some("provider-unlink") => providers::unlink(browser, &present, &form).await,
        Some(decision) if decision.starts_with(providers::LINK) => {
            providers::link(browser, &present, decision).await
        }
        Some("export") => data::export::<D>(browser, &present).await,
        Some("delete-account") => delete::delete(browser, &present, &form).await,
        Some("password") => change_password(browser, &present, &form).await,
        _ => overview(browser, None).await,
    }
}

/// The line of what a person does with their own account.
fn about<'a>(browser: &'a BrowserRequest, present: &'a LoggedIn, operation: &'a str) -> Event<'a> {
    let event = browser.context.event(Action::ACCOUNT).operation(operation);
    event
        .subject(&present.user.id)
        .session(Some(&present.found.row.sid))
}

async fn end_session(mut browser: BrowserRequest, present: &LoggedIn, sid: &str) -> Response {
    if sid == present.found.row.sid {
        // While the session still says where its person logged in, and which applications it was
        // in.
        let elsewhere = provider::onward(&browser, None, true).await;
        let frames = match front_channel_logout::frames(&browser).await {
            Ok(frames) => frames,
            Err(error) => return browser.unavailable(&error),
        };
        return match (browser.log_out().await, elsewhere) {
            (Ok(()), Some(url)) if frames.is_empty() => browser.redirect(&url),
            (Ok(()), Some(url)) => {
                let t = browser.face();
                let onward = LogoutOnward::Go(&host_of(&t, &url), &url);
                browser.page(signet_pages::signed_out(&t, onward, &frames))
            }
            (Ok(()), None) => {
                let html = signet_pages::signed_out(&browser.face(), LogoutOnward::Stay, &frames);
                browser.page(html)
            }
            (Err(error), _) => browser.unavailable(&error),
        };
    }
    let realm = browser.context.realm.clone();
    let now = browser.context.now();
    let event = about(&browser, present, "end-session").target(sid);
    let ended = async {
        // Only what is in the person's own list can be ended from it.
        for (id, row) in session::list(&*realm.store, &present.user.id, now).await? {
            if row.sid == sid {
                realm.revoke_session(&row.sid).await?;
                session::end(&*realm.store, &id, &row, now).await?;
            }
        }
        Ok::<(), StoreError>(())
    };
    match realm.audit().act(event, ended, store_failed).await {
        Ok(()) => overview(browser, Some(Notice::Done("account-session-ended"))).await,
        Err(error) => browser.unavailable(&error),
    }
}

async fn end_others(browser: BrowserRequest, present: &LoggedIn) -> Response {
    let ended = end_other_sessions(&browser, present);
    let event = about(&browser, present, "end-others");
    match browser
        .context
        .realm
        .audit()
        .act(event, ended, store_failed)
        .await
    {
        Ok(()) => overview(browser, Some(Notice::Done("account-sessions-ended"))).await,
        Err(error) => browser.unavailable(&error),
    }
}

async fn end_other_sessions(
    browser: &BrowserRequest,
    present: &LoggedIn,
) -> Result<(), StoreError> {
    let realm = &browser.context.realm;
    let keep = Some(&*present.found.row.sid);
    let now = browser.context.now();
    let ended = session::end_all(&*realm.store, &present.user.id, keep, now).await?;
    realm.revoke_sessions(&ended).await
}

async fn withdraw(browser: BrowserRequest, present: &LoggedIn, client_id: &str) -> Response {
    let realm = browser.context.realm.clone();
    let now = browser.context.now();
    let withdrawn = async {
        // The consent first: nothing new can come of it while the old is being ended. A code that
        // was given in the last seconds and is redeemed after this is the one thing that slips
        // through, once.
        signet_directory::consent::withdraw(&*realm.store, &present.user.id, client_id, now)
            .await?;
        realm.revoke_grants_of(&present.user.id, client_id).await
    };
    let done = "account-withdrawn";
    let event = about(&browser, present, "withdraw").client(client_id);
    match realm.audit().act(event, withdrawn, store_failed).await {
        Ok(_) => overview(browser, Some(Notice::Done(done))).await,
        Err(error) => browser.unavailable(&error),
    }
}

/// A form about the person was saved: the page shows them as they are now.
async fn after_saving(
    mut browser: BrowserRequest,
    present: &LoggedIn,
    saved: Result<User, Failure>,
) -> Response {
    let outcome = saved.map(|user| {
        browser.enter(user, present.found.clone());
        "account-saved"
    });
    answer(browser, outcome).await
}

/// What was done, or why not, above the page.
async fn answer(browser: BrowserRequest, outcome: Result<&'static str, Failure>) -> Response {
    match outcome {
        Ok(done) => overview(browser, Some(Notice::Done(done))).await,
        Err(Failure::Wrong(text, _) | Failure::Expired(text) | Failure::Invalid(text)) => {
            overview(browser, Some(Notice::Error(text))).await
        }
        Err(Failure::LoginRequired) => ask_login(browser),
        Err(Failure::Later(status, retry_after, text)) => {
            match render(&browser, Some(Notice::Error(text))).await {
                Ok(Some(html)) => browser.later(status, retry_after, html),
                Ok(None) => ask_login(browser),
                Err(error) => browser.unavailable(&error),
            }
        }
        Err(Failure::Store(error)) => browser.unavailable(&error),
    }
}

async fn change_password(
    mut browser: BrowserRequest,
    present: &LoggedIn,
    form: &Params,
) -> Response {
    let fresh = freshness::of(&browser.context, present);
    let users = &browser.context.realm.people.users;
    if fresh.is_none() && !users.has_password(&present.user) {
        return factors::ask_fresh(browser, present).await;
    }
    let changed = try_change_password(&browser, present, fresh.as_ref(), form);
    let event = about(&browser, present, "password");
    let changed = browser
        .context
        .realm
        .audit()
        .act(event, changed, Failure::code);
    let outcome = match changed.await {
        Ok((user, found)) => {
            let told = SecurityEvent::PasswordChanged;
            security_mail::send(&browser, &user, told).await;
            browser.enter(user, found);
            Ok(PASSWORD_CHANGED)
        }
        Err(failure) => Err(failure),
    };
    answer(browser, outcome).await
}

/// Sets the new password and ends everything of the account, as every other way to a new password
/// does: whoever changes it because somebody else was in must have them out. The person's own
/// session begins again, and is the answer.
async fn try_change_password(
    browser: &BrowserRequest,
    present: &LoggedIn,
    fresh: Option<&Fresh<'_>>,
    form: &Params,
) -> Result<(User, Found), Failure> {
    let (realm, now) = (&browser.context.realm, browser.context.now());
    let (users, user) = (&realm.people.users, &present.user);
    if !users.may(user).password {
        return Err(UserError::KeptElsewhere("the password").into());
    }
    let new = form.get("new_password").unwrap_or("");
    realm
        .check_new_password(new, PasswordOf::user(user))
        .map_err(|refused| Failure::Invalid(refused.text_id()))?;
    if users.has_password(user) {
        // Whoever finds an open browser must not be able to keep the account.
        let device = browser.device();
        let known = device.as_ref().and_then(|device| device.known(user));
        let budget = realm
            .people
            .limits
            .of_account(Kind::Password, &user.id, known);
        attempts::count(&*realm.store, &budget, now).await?;
        let current = Secret::new(form.get("password").unwrap_or("").to_owned());
        let checked = users.verify_password(Some(user), current, Waiter::Known, now);
        let checked = checked.await;
        if !matches!(checked, Ok(PasswordVerdict::Wrong)) {
            attempts::give_back(&*realm.store, &budget, now).await?;
        }
        match checked? {
            PasswordVerdict::Right => {}
            PasswordVerdict::Wrong => {
                return Err(Failure::Invalid("account-password-wrong"));
            }
            PasswordVerdict::Busy => return Err(Failure::BUSY),
        }
    } else if fresh.is_none() {
        // A first password outlives the session.
        return Err(Failure::LoginRequired);
    }
    let phc = users.hash(Secret::new(new.to_owned())).await?;
    // Somebody else changed it since this page was read: then what was typed as the current one is
    // not.
    let unchanged = |read: &User| {
        read.password_changed_at == user.password_changed_at && Entrance::Session.opens(read, now)
    };
    let changed = realm
        .change_user_and_end_everything(&user.id, unchanged, |draft| {
            draft.set_password(Some(&phc), now);
        })
        .await?;
    let user = changed.ok_or(Failure::LoginRequired)?;
    let settings = &browser.context.snapshot.settings;
    let row = &present.found.row;
    // A millisecond later than everything that has just ended.
    let now_ms = realm.now_ms() + 1;
    let (store, issue_ms) = (&*realm.store, realm.issue_ms_at(now_ms));
    let found = session::begin_anew(store, settings, row, now_ms, issue_ms).await?;
    Ok((user, found))
}
