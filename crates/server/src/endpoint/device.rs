//! `/device`: a person types the code that a device shows, logs in, and says yes or no (RFC 8628
//! section 3.3).
//!
//! Whoever approves is the user of the browser's session; no field of the form names a person
//! (known fault A2). The page that asks is bound to that session, and to the code that it shows.

use http::StatusCode;
use signet_oauth::authorize::{self, acr};
use signet_oauth::id::GrantId;
use signet_oauth::params::Params;
use signet_oauth::token::device_authorization::{
    DeviceRecord, DeviceState, display_user_code, normalize_user_code,
};
use signet_oauth::token::target;
use signet_store::{Change, Key, Op, Outcome, Row, StoreError, Table};

use signet_audit::{self as audit, Action};
use signet_login::journey;
use signet_pages::Notice;
use signet_pages::words::{name_of, scope_lines};
use signet_realm::attempts::{self, Budget, Kind, Refused};
use signet_request::access::{self, Entrance, KeptOut, Leave, Sought, Wants};
use signet_request::browser_request::{BrowserRequest, LoggedIn};
use signet_request::http::{Context, Response};
use signet_request::interaction::{Goal, Interaction, Page};

const UNKNOWN: &str = "device-unknown";
const TOO_MANY: &str = "login-too-many";
/// Where the forms go, relative to this page and to `/interaction`.
const ACTION: &str = "device";

/// GET, also by `verification_uri_complete`: the code is filled in, and the person still presses
/// the button.
pub(super) async fn show(context: Context) -> Response {
    let (browser, params) = match BrowserRequest::of_query(context).await {
        Ok(browser) => browser,
        Err(answer) => return answer,
    };
    let code = params.get("user_code").and_then(normalize_user_code);
    match (browser.present(), code) {
        (None, code) => {
            let interaction = browser.interaction(Goal::Device(code));
            journey::show(browser, interaction, None)
        }
        (Some(_), code) => enter(browser, code.as_deref(), None),
    }
}

fn enter(browser: BrowserRequest, code: Option<&str>, notice: Option<Notice>) -> Response {
    let html = enter_page(&browser, code, notice);
    browser.page(html)
}

fn enter_page(
    browser: &BrowserRequest,
    code: Option<&str>,
    notice: Option<Notice>,
) -> signet_pages::Html {
    let mut interaction = browser.interaction(Goal::Device(None));
    interaction.page = Page::DeviceEnter;
    let shown = code.map(display_user_code).unwrap_or_default();
    signet_pages::device_enter(
        &browser.face(),
        ACTION,
        &browser.seal(&interaction),
        &shown,
        notice,
    )
}

/// POST: the code, or the answer.
pub(super) async fn submit(context: Context) -> Response {
    let (browser, form, interaction) = match BrowserRequest::of_form(context).await {
        Ok(browser) => browser,
        Err(answer) => return answer,
    };
    if browser.present().is_none() {
        // The session ended meanwhile.
        let code = form.get("user_code").and_then(normalize_user_code);
        let interaction = browser.interaction(Goal::Device(code));
        return journey::show(browser, interaction, None);
    }
    match (interaction.page, &interaction.goal) {
        (Page::DeviceEnter, Goal::Device(_)) => confirm(browser, &form).await,
        (Page::DeviceConfirm, Goal::Device(Some(code))) => {
            let code = code.clone();
            decide(browser, &interaction, &code, &form).await
        }
        _ => browser.start_again(),
    }
}

/// The record that waits under a user code, with its row.
async fn waiting(
    browser: &BrowserRequest,
    code: &str,
) -> Result<Option<(DeviceRecord, Row)>, StoreError> {
    let (store, now) = (&browser.context.realm.store, browser.context.now());
    let Some(lead) = store
        .get(&Key::new(Table::UserCode, code.as_bytes()), now)
        .await?
    else {
        return Ok(None);
    };
    let key = Key::new(Table::DeviceCode, lead.value);
    let Some(row) = store.get(&key, now).await? else {
        return Ok(None);
    };
    let record = DeviceRecord::from_bytes(&row.value)
        .map_err(|_| StoreError::Corrupt("device record".into()))?;
    let waits =
        record.user_code == code && record.state == DeviceState::Pending && now < record.expires_at;
    Ok(waits.then_some((record, row)))
}

fn budgets(browser: &BrowserRequest) -> Vec<Budget> {
    let limits = &browser.context.realm.people.limits;
    let user = browser.present().map_or("", |present| &present.user.id);
    let mut budgets = limits.of_networks(Kind::UserCode, browser.context.peer);
    budgets.push(limits.of_account(Kind::UserCode, user, None));
    budgets
}

async fn confirm(browser: BrowserRequest, form: &Params) -> Response {
    let (store, now) = (browser.context.realm.store.clone(), browser.context.now());
    let budgets = budgets(&browser);
    // RFC 8628 section 5.1: user codes are short, so guesses are counted, before they are looked
    // at: also those in parallel.
    for budget in &budgets {
        if let Err(refused) = attempts::count(&*store, budget, now).await {
            return too_many(browser, refused);
        }
    }
    let code = form.get("user_code").and_then(normalize_user_code);
    let found = match &code {
        Some(code) => waiting(&browser, code).await,
        None => Ok(None),
    };
    let registry = browser.context.snapshot.registry.clone();
    let found = match found {
        Ok(found) => found.and_then(|(record, _)| {
            let client = registry.client(&record.client_id, now)?.clone();
            Some((record, client))
        }),
        Err(error) => return browser.unavailable(&error),
    };
    let (Some((record, client)), Some(present)) = (found, browser.present()) else {
        record_wrong_code(&browser, "invalid_user_code");
        return enter(browser, None, Some(Notice::Error(UNKNOWN)));
    };
    for budget in &budgets {
        if let Err(error) = attempts::give_back(&*store, budget, now).await {
            return browser.unavailable(&error);
        }
    }
    let mut interaction = browser.interaction(Goal::Device(Some(record.user_code.clone())));
    let sought = Sought {
        client: Some(&client),
        scope: Some(&record.scope),
        claims: None,
    };
    let required = access::classes(&browser.context, sought, Some(&present.user));
    let methods = present.found.row.methods();
    if required.iter().any(|class| !acr::holds(class, &methods)) {
        // What is missing first; then the device is asked about again.
        interaction.required = required;
        interaction.step_up = true;
        return journey::ask_further(browser, interaction).await;
    }
    interaction.page = Page::DeviceConfirm;
    interaction.shown_to = Some(present.found.row.sid.clone());
    let scope = record.scope.of_person(present.user.admin);
    let t = browser.face();
    let html = signet_pages::device_confirm(
        &t,
        ACTION,
        &browser.seal(&interaction),
        &display_user_code(&record.user_code),
        name_of(&client),
        &present.user.username,
        &scope_lines(&t, &registry, &scope, &scope),
    );
    browser.page(html)
}

fn too_many(browser: BrowserRequest, refused: Refused) -> Response {
    match refused {
        Refused::TooMany { retry_after } => {
            record_wrong_code(&browser, "too_many_attempts");
            let html = enter_page(&browser, None, Some(Notice::Error(TOO_MANY)));
            browser.later(StatusCode::TOO_MANY_REQUESTS, retry_after, html)
        }
        Refused::Store(error) => browser.unavailable(&error),
    }
}

/// What was typed is in no record: it may be another device's code, or anything.
fn record_wrong_code(browser: &BrowserRequest, error: &str) {
    let context = &browser.context;
    let event = context.event(Action::DEVICE_DECISION).refused(error);
    let event = match browser.present() {
        Some(present) => event.subject(&present.user.id),
        None => event,
    };
    context.realm.audit().record(event);
}

async fn decide(
    browser: BrowserRequest,
    interaction: &Interaction,
    code: &str,
    form: &Params,
) -> Response {
    let Some(present) = browser.present() else {
        return browser.start_again();
    };
    if !interaction.was_shown_to(&present.found.row) {
        // Somebody else is logged in than the page was for: shown again, for them.
        return enter(browser, Some(code), None);
    }
    let allow = match form.get("decision") {
        Some("allow") => true,
        Some("deny") => false,
        _ => return enter(browser, Some(code), None),
    };
    let context = &browser.context;
    let event = context
        .event(Action::DEVICE_DECISION)
        .subject(&present.user.id)
        .session(Some(&present.found.row.sid));
    let verdict = match allow {
        true => may(&browser, present, code).await,
        false => Ok((true, None)),
    };
    let (may, rule) = match verdict {
        Ok(verdict) => verdict,
        Err(error) => return browser.unavailable(&error),
    };
    let event = match (allow, may) {
        (true, true) => access::let_in(event.approved(), rule.as_deref()),
        (true, false) => access::noted(event.refused("access_denied"), rule.as_deref()),
        (false, _) => event.refused("access_denied"),
    };
    let (written, _) = audit::with_record(event, write(&browser, code, allow && may)).await;
    match written {
        Ok(true) if !may => browser.error(&authorize::forbidden()),
        Ok(true) => {
            let html = signet_pages::device_done(&browser.face(), allow);
            browser.page(html)
        }
        Ok(false) => {
            record_wrong_code(&browser, "invalid_user_code");
            enter(browser, None, Some(Notice::Error(UNKNOWN)))
        }
        Err(error) => browser.unavailable(&error),
    }
}

/// Whether this person may let the device in, and the rule that decided. A code that nobody waits
/// with any more is found out later.
async fn may(
    browser: &BrowserRequest,
    present: &LoggedIn,
    code: &str,
) -> Result<(bool, Option<String>), StoreError> {
    let Some((record, _)) = waiting(browser, code).await? else {
        return Ok((true, None));
    };
    match ask(browser, present, &record) {
        Ok(leave) => Ok((true, leave.rule().map(str::to_owned))),
        Err(KeptOut::Rule(rule)) => Ok((false, rule)),
        // The policy has changed since the page was shown: the change finds the same.
        Err(KeptOut::Nobody | KeptOut::Owed(_) | KeptOut::Class) => Ok((true, None)),
    }
}

fn ask(
    browser: &BrowserRequest,
    present: &LoggedIn,
    record: &DeviceRecord,
) -> Result<Leave, KeptOut> {
    let snapshot = &browser.context.snapshot;
    let scope = record.scope.of_person(present.user.admin);
    let client = snapshot.registry.clients.get(&record.client_id);
    let wants = Wants {
        sought: Sought {
            client: client.map(|client| &**client),
            scope: Some(&scope),
            claims: None,
        },
        audience: &target::audience_of(&snapshot.settings, &record.resources),
        shown: Some(&present.found.row.methods()),
        classes: &[],
    };
    access::ask(
        &browser.context,
        Entrance::DeviceApproval,
        &present.user,
        &wants,
    )
}

/// Writes the answer over the waiting record. A poll that was faster only moved the time of the
/// last poll: tried again.
async fn write(browser: &BrowserRequest, code: &str, allow: bool) -> Result<bool, StoreError> {
    const MAX_TRIES: usize = 5;
    let Some(present) = browser.present() else {
        return Ok(false);
    };
    let context = &browser.context;
    for _ in 0..MAX_TRIES {
        let Some((record, row)) = waiting(browser, code).await? else {
            return Ok(false);
        };
        let next = if allow {
            let session = present.found.row.facts();
            if ask(browser, present, &record).is_err() {
                return Ok(false);
            }
            let grant_id = signet_crypto::random::id();
            let (grant_id, admin) = (GrantId::new(grant_id), present.user.admin);
            let approved = record.approve(&session, admin, grant_id, context.now_ms);
            approved.map(|approved| approved.bearing(context.issue_ms))
        } else {
            record.deny(context.now())
        };
        let Ok(next) = next else {
            return Ok(false);
        };
        let replace = Change {
            first: Op::Replace {
                key: Key::new(Table::DeviceCode, record.id.as_bytes().as_slice()),
                version: row.version,
                value: next.to_bytes(),
                end: row.end,
            },
            then: vec![Op::Delete {
                key: Key::new(Table::UserCode, code.as_bytes()),
            }],
        };
        let store = &context.realm.store;
        if let Outcome::Done { .. } = store.commit(replace, context.now()).await? {
            return Ok(true);
        }
    }
    Err(StoreError::Unavailable(
        "a device is polling too fast".into(),
    ))
}
