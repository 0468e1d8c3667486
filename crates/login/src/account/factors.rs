//! What a person logs in with beside the password: code apps, recovery codes, browsers that are
//! remembered.
//!
//! Each change is for who has just shown everything that the account has ([`freshness`]): a browser
//! that was left open must not be enough to keep an account, or to take its second factor away.
//! The person is notified of each by mail.

use signet_directory::{CredentialKind, CredentialName, StoredCredential, User, UserError};
use signet_oauth::params::Params;
use signet_store::StoreError;

use super::{about, answer, overview};
use crate::failure::Failure;
use crate::freshness::{self, Fresh};
use crate::journey::totp::TotpSecret;
use crate::journey::{self, is_last_way, recovery_code, totp};
use crate::user_passkeys;
use signet_directory::session::Shown;
use signet_pages::{CredentialSort, CredentialView, FactorsView, Notice, TotpAddPage};
use signet_request::browser_request::{BrowserRequest, LoggedIn, store_failed};
use signet_request::credentials;
use signet_request::http::Response;
use signet_request::interaction::{Goal, Interaction, Page, Pending};
use signet_request::security_mail::{self, SecurityEvent};

/// Names the state of the page that adds an app.
const ADD: &str = "totp-add";

const WRONG_CODE: &str = "factors-add-wrong";
const TOO_MANY: &str = "factors-add-many";
const ADDED: &str = "factors-added";
const REMOVED: &str = "factors-removed";
const RENAMED: &str = "factors-renamed";
/// How often a row that logins write at the same time is tried.
const MAX_TRIES: usize = 8;
const LAST_WAY: &str = "passkey-last-way";

/// What the account page shows.
pub(super) async fn view(browser: &BrowserRequest, user: &User) -> Result<FactorsView, StoreError> {
    let (users, now) = (&browser.context.realm.people.users, browser.context.now());
    let mut view = FactorsView {
        can_add_totp: totp::count(user) < totp::MAX_APPS,
        can_make_codes: freshness::has_factor(&browser.context, user),
        ..FactorsView::default()
    };
    for one in users.credentials(&user.id, now).await? {
        if !user.credentials().contains(&one.name) || one.expires_at.is_some_and(|end| now >= end) {
            continue;
        }
        let sort = match one.name.kind {
            // Identity providers have a part of the page of their own.
            CredentialKind::Password | CredentialKind::Provider => continue,
            CredentialKind::RecoveryCodes => {
                view.recovery_codes = Some(recovery_code::left(&one)?);
                continue;
            }
            CredentialKind::Totp => CredentialSort::App,
            CredentialKind::Passkey => CredentialSort::Passkey,
            CredentialKind::RememberedBrowser => CredentialSort::Browser,
        };
        let note = match one.name.kind {
            CredentialKind::Passkey => Some(user_passkeys::note(&one)?),
            CredentialKind::Password
            | CredentialKind::Provider
            | CredentialKind::Totp
            | CredentialKind::RecoveryCodes
            | CredentialKind::RememberedBrowser => None,
        };
        view.credentials.push(CredentialView {
            sort,
            kind: one.name.kind.name(),
            can_rename: may_rename(one.name.kind),
            id: one.name.id,
            label: one.label,
            created_at: one.created_at,
            used_at: one.used_at,
            expires_at: one.expires_at,
            note,
        });
    }
    Ok(view)
}

/// Asks for what [`freshness::of`] misses: the whole login, or the second factor alone.
pub(super) async fn ask_fresh(browser: BrowserRequest, present: &LoggedIn) -> Response {
    let mut interaction = browser.interaction(Goal::Account);
    interaction.strict = true;
    if freshness::has_just_logged_in(&browser.context, present) {
        interaction.step_up = true;
        return journey::ask_further(browser, interaction).await;
    }
    journey::show(browser, interaction, None)
}

/// `decision=totp-add`, on the account page: a new secret.
pub(super) async fn begin_totp(browser: BrowserRequest, present: &LoggedIn) -> Response {
    if freshness::of(&browser.context, present).is_none() {
        return ask_fresh(browser, present).await;
    }
    if totp::count(&present.user) >= totp::MAX_APPS {
        return overview(browser, Some(Notice::Error(TOO_MANY))).await;
    }
    let secret = TotpSecret::generate();
    let mut interaction = browser.interaction(Goal::Account);
    interaction.page = Page::AccountStep;
    interaction.shown_to = Some(present.found.row.sid.clone());
    interaction.pending = Some(Pending {
        method: ADD.to_owned(),
        typed: String::new(),
        state: secret.expose().to_vec(),
    });
    let page = add_page(
        &browser,
        &interaction,
        &present.user,
        &secret,
        "account",
        "",
        None,
    );
    browser.page(page)
}

/// The page that adds an app, whoever asks for it.
pub(crate) fn add_page(
    browser: &BrowserRequest,
    interaction: &Interaction,
    user: &User,
    secret: &TotpSecret,
    action: &str,
    label: &str,
    notice: Option<Notice>,
) -> signet_pages::Html {
    let text = secret.base32();
    signet_pages::totp_add(
        &browser.face(),
        &TotpAddPage {
            action,
            interaction: &browser.seal(interaction),
            secret: &text,
            uri: &secret.key_uri(&totp::service_name(browser), &user.username),
            label,
            required: false,
            notice,
        },
    )
}

/// A form of a page behind the account page.
pub(super) async fn submit_step(
    browser: BrowserRequest,
    present: &LoggedIn,
    interaction: Interaction,
    form: &Params,
) -> Response {
    let pending = interaction.pending.as_ref();
    let state = pending.filter(|pending| pending.method == ADD);
    let Some(state) = state.map(|pending| pending.state.clone()) else {
        return overview(browser, None).await;
    };
    if form.get("decision") == Some("cancel") {
        return overview(browser, None).await;
    }
    let secret = TotpSecret::from_bytes(&state);
    let label = form.get("label").unwrap_or("").to_owned();
    let Some(fresh) = freshness::of(&browser.context, present) else {
        return ask_fresh(browser, present).await;
    };
    let added = add_totp(&browser, &fresh, &secret, &label, form);
    let event = about(&browser, present, ADD);
    let audit = browser.context.realm.audit();
    match audit.act(event, added, Failure::code).await {
        Ok(user) => entered(browser, present, user).await,
        Err(Failure::Invalid(text)) => {
            let notice = Some(Notice::Error(text));
            let user = &present.user;
            let page = add_page(
                &browser,
                &interaction,
                user,
                &secret,
                "account",
                &label,
                notice,
            );
            browser.page(page)
        }
        Err(failure) => answer(browser, Err(failure)).await,
    }
}

/// Adds the app whose first code was typed. Browsers that were remembered are not, any more.
async fn add_totp(
    browser: &BrowserRequest,
    fresh: &Fresh<'_>,
    secret: &TotpSecret,
    label: &str,
    form: &Params,
) -> Result<User, Failure> {
    let (realm, now) = (&browser.context.realm, browser.context.now());
    let user = fresh.user();
    if totp::count(user) >= totp::MAX_APPS {
        return Err(Failure::Invalid(TOO_MANY));
    }
    let keyring = realm.keyring().clone();
    let typed = form.get("totp").unwrap_or("");
    let app = totp::enrol(fresh, secret, typed, label, &keyring, now)?;
    let app = app.ok_or(Failure::Invalid(WRONG_CODE))?;
    let added = put(browser, &user.id, &app).await?;
    security_mail::send(browser, &added, SecurityEvent::AppAdded).await;
    Ok(added)
}

async fn put(
    browser: &BrowserRequest,
    user_id: &str,
    credential: &StoredCredential,
) -> Result<User, UserError> {
    let (users, now) = (&browser.context.realm.people.users, browser.context.now());
    let change = users.change(user_id, now, |draft| {
        draft.remove_credentials(CredentialKind::RememberedBrowser);
        draft.put_credential(credential);
    });
    change.await
}

/// The session goes on with the factor that was just shown in it, and is as old as it was.
async fn entered(mut browser: BrowserRequest, present: &LoggedIn, user: User) -> Response {
    let (row, name) = (&present.found.row, totp::METHOD.name);
    let mut shown = vec![Shown::new(name, browser.context.now())];
    shown.extend(row.shown().into_iter().filter(|one| one.method != name));
    match browser.log_in(user, &shown, Some(row.auth_time)).await {
        Ok(()) => overview(browser, Some(Notice::Done(ADDED))).await,
        Err(error) => browser.unavailable(&error),
    }
}

/// `decision=recovery-codes`: a new list, which is shown once.
pub(super) async fn make_recovery_codes(browser: BrowserRequest, present: &LoggedIn) -> Response {
    let Some(fresh) = freshness::of(&browser.context, present) else {
        return ask_fresh(browser, present).await;
    };
    let (users, now) = (&browser.context.realm.people.users, browser.context.now());
    let made = recovery_code::replace(users, &fresh, now);
    let event = about(&browser, present, "recovery-codes");
    match browser
        .context
        .realm
        .audit()
        .act(event, made, store_failed)
        .await
    {
        Ok((user, codes)) => {
            security_mail::send(&browser, &user, SecurityEvent::RecoveryCodesMade).await;
            let html = signet_pages::recovery_codes(&browser.face(), &codes, "account");
            browser.page(html)
        }
        Err(error) => browser.unavailable(&error),
    }
}

/// Whether a person calls it by a name of theirs.
fn may_rename(kind: CredentialKind) -> bool {
    match kind {
        CredentialKind::Totp | CredentialKind::Passkey => true,
        CredentialKind::Password
        | CredentialKind::Provider
        | CredentialKind::RecoveryCodes
        | CredentialKind::RememberedBrowser => false,
    }
}

/// Whether it is a row of this part of the page. Passwords and links have forms of their own.
fn is_listed(kind: CredentialKind) -> bool {
    match kind {
        CredentialKind::Totp
        | CredentialKind::Passkey
        | CredentialKind::RecoveryCodes
        | CredentialKind::RememberedBrowser => true,
        CredentialKind::Password | CredentialKind::Provider => false,
    }
}

/// The credential of the person that the form names.
fn named(present: &LoggedIn, form: &Params) -> Option<CredentialName> {
    let kind = form.get("kind").and_then(CredentialKind::named)?;
    let name = CredentialName::new(kind, form.get("id")?);
    let is_there = present.user.credentials().contains(&name);
    (is_there && is_listed(kind)).then_some(name)
}

/// `decision=credential-rename`: another name, which proves nothing and asks for no fresh login.
pub(super) async fn rename(browser: BrowserRequest, present: &LoggedIn, form: &Params) -> Response {
    let name = named(present, form).filter(|name| may_rename(name.kind));
    let Some(name) = name else {
        return overview(browser, None).await;
    };
    let event = about(&browser, present, "credential-rename").target(name.kind.name());
    let renamed = call(
        &browser,
        &present.user.id,
        &name,
        form.get("label").unwrap_or(""),
    );
    let audit = browser.context.realm.audit();
    match audit.act(event, renamed, store_failed).await {
        Ok(()) => overview(browser, Some(Notice::Done(RENAMED))).await,
        Err(error) => browser.unavailable(&error),
    }
}

async fn call(
    browser: &BrowserRequest,
    user_id: &str,
    name: &CredentialName,
    label: &str,
) -> Result<(), StoreError> {
    let (users, now) = (&browser.context.realm.people.users, browser.context.now());
    for _ in 0..MAX_TRIES {
        let Some(mut stored) = users.credential(user_id, name, now).await? else {
            return Ok(());
        };
        stored.rename(label);
        // A login that counts in the same row goes first.
        if users.rewrite_credential(user_id, &stored, now).await? {
            return Ok(());
        }
    }
    Err(StoreError::Unavailable("a credential's row is busy".into()))
}

/// `decision=credential-remove`. With the last app the recovery codes and the remembered browsers
/// go, too: they stand in its place.
pub(super) async fn remove(browser: BrowserRequest, present: &LoggedIn, form: &Params) -> Response {
    let Some(name) = named(present, form) else {
        return overview(browser, None).await;
    };
    // To forget a browser takes nothing away but a convenience.
    let event = about(&browser, present, "credential-remove").target(name.kind.name());
    let audit = browser.context.realm.audit();
    let removed = if name.kind == CredentialKind::RememberedBrowser {
        let forgotten = forget(&browser, &present.user.id, &name);
        audit.act(event, forgotten, Failure::code).await
    } else {
        let Some(fresh) = freshness::of(&browser.context, present) else {
            return ask_fresh(browser, present).await;
        };
        let removed = take_away(&browser, &fresh, &name);
        audit.act(event, removed, Failure::code).await
    };
    match removed {
        Ok(user) => {
            if let Some(told) = credentials::removal_of(name.kind) {
                security_mail::send(&browser, &user, told).await;
            }
            overview(browser, Some(Notice::Done(REMOVED))).await
        }
        Err(failure) => answer(browser, Err(failure)).await,
    }
}

async fn forget(
    browser: &BrowserRequest,
    user_id: &str,
    known: &CredentialName,
) -> Result<User, Failure> {
    let (users, now) = (&browser.context.realm.people.users, browser.context.now());
    let change = users.change(user_id, now, |draft| {
        credentials::take_away(draft, known);
    });
    Ok(change.await?)
}

/// Whoever takes a factor away has just shown everything, and can log in without it.
async fn take_away(
    browser: &BrowserRequest,
    fresh: &Fresh<'_>,
    name: &CredentialName,
) -> Result<User, Failure> {
    let (users, now) = (&browser.context.realm.people.users, browser.context.now());
    let may = |user: &User| !is_last_way(browser, user, name);
    let change = users.change_if(&fresh.user().id, now, may, |draft| {
        credentials::take_away(draft, name);
    });
    change.await?.ok_or(Failure::Invalid(LAST_WAY))
}
