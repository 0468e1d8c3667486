//! A passkey: the login page's button, its name field's autofill, or a further step.
//!
//! At the first step nobody is named: the passkey says whose it is (a discoverable credential), so
//! no list of credential ids is ever shown to somebody who has not logged in, and nothing tells
//! whether an account has one. A signature cannot be guessed, so wrong ones count for the address
//! alone there.
//!
//! The challenge is sealed into the page, for its browser, and consumed by the first right answer
//! on whatever node. The counter is compared and written in one change of the row that was read.

use std::borrow::Cow;

use signet_audit::Action;
use signet_crypto::Secret;
use signet_directory::{CredentialKind, CredentialName, User, id_of_uuid};
use signet_encoding::base64url;
use signet_oauth::params::Params;
use signet_store::StoreError;
use signet_webauthn::{Assertion, AuthenticatorData, Counter, Known, authenticate};

use super::budgets::Standing;
use super::method::{Answer, Attempt, Method, MethodPage, Page, Script, Step, Verdict, step_page};
use crate::passkeys::{self, Challenge, Passkey, relying_party};
use signet_pages::{Html, PasskeyStep};
use signet_realm::attempts::Kind;
use signet_request::access::Entrance;
use signet_request::browser_request::BrowserRequest;
use signet_request::security_mail::{self, SecurityEvent};

/// What is said to a browser that sent no answer: it has no script.
const NO_SCRIPT: &str = "passkey-no-script";
/// How often a row that other logins write at the same time is tried.
const MAX_TRIES: usize = 8;

/// The method's name.
const NAME: &str = "passkey";

/// See the module.
pub const METHOD: Method = Method {
    name: NAME,
    shows: &[
        "passkey_synced",
        "passkey_bound",
        "security_key",
        "security_key_synced",
    ],
    step: Step::Either,
    guess: Kind::Factor,
    offered: |browser| relying_party(&browser.context.snapshot.settings).is_some(),
    usable: |_, user| user.has(CredentialKind::Passkey),
    decision: "passkey",
    label: "passkey-use",
    start: None,
    script: Some(Script {
        login_options,
        is_answer,
        fresh: || Challenge::new().as_bytes().to_vec(),
        missing: NO_SCRIPT,
    }),
    page: Page::Step(page),
    verify: |attempt| boxed(attempt),
    wrong: "passkey-wrong",
    expired: "passkey-expired",
};

/// Whether the form has a passkey's answer in it.
pub(super) fn is_answer(form: &Params) -> bool {
    form.get("passkey").is_some_and(|answer| !answer.is_empty())
}

/// What the login page asks a browser for.
fn login_options(browser: &BrowserRequest, challenge: Option<&str>) -> Option<String> {
    let settings = &browser.context.snapshot.settings;
    let party = relying_party(settings)?;
    let challenge = Challenge::of(challenge?);
    Some(passkeys::request_options(&party, settings, &challenge))
}

fn page(page: &MethodPage<'_>, user: &User) -> Html {
    let settings = &page.browser.context.snapshot.settings;
    let asked = relying_party(settings).zip(Challenge::from_slice(page.state));
    let Some((party, challenge)) = asked else {
        // Passkeys were turned off meanwhile: the other methods are chosen from.
        return signet_pages::choose_step(&page.browser.face(), &step_page(page, user));
    };
    signet_pages::passkey_step(
        &page.browser.face(),
        &PasskeyStep {
            action: page.action,
            interaction: page.interaction,
            username: &user.username,
            options: &passkeys::request_options(&party, settings, &challenge),
            others: page.others,
            can_cancel: page.can_cancel,
            notice: page.notice.clone(),
        },
    )
}

/// Whose the answer is: the person who is on the way, or else the one that the passkey names.
async fn owner(attempt: &Attempt<'_>, handle: Option<&[u8]>) -> Result<Option<User>, StoreError> {
    let context = &attempt.browser.context;
    match (attempt.user, handle) {
        (Some(user), None) => Ok(Some(user.clone())),
        (Some(user), Some(handle)) => {
            let same = named_by(handle).is_some_and(|id| *id == user.id);
            Ok(same.then(|| user.clone()))
        }
        (None, Some(handle)) => match named_by(handle) {
            Some(id) => Ok(context.realm.people.users.by_id(&id, context.now()).await?),
            None => Ok(None),
        },
        (None, None) => Ok(None),
    }
}

/// The id of the account that a user handle names. One of a passkey that was made here is that id;
/// servers that people come from use their UUID, as text or as it is.
fn named_by(handle: &[u8]) -> Option<Cow<'_, str>> {
    if handle.len() == 16 {
        return Some(base64url::encode(handle).into());
    }
    let text = std::str::from_utf8(handle).ok()?;
    Some(id_of_uuid(text).map_or(text.into(), Cow::from))
}

fn boxed<'a>(attempt: &'a Attempt<'a>) -> Answer<'a, Verdict> {
    Box::pin(verify(attempt))
}

async fn verify(attempt: &Attempt<'_>) -> Result<Verdict, StoreError> {
    let context = &attempt.browser.context;
    let (realm, now) = (&context.realm, context.now());
    let settings = &context.snapshot.settings;
    let asked = relying_party(settings).zip(Challenge::from_slice(attempt.state));
    let Some((party, challenge)) = asked else {
        return Ok(Verdict::Expired);
    };
    if attempt.standing == Standing::UsedUp {
        return Ok(Verdict::Wrong);
    }
    let refused = |reason: &dyn std::fmt::Display| {
        tracing::info!(target: "signet::login", %reason, request_id = %context.request_id, "refused a passkey");
        Ok(Verdict::Wrong)
    };
    let answer = match Assertion::parse(attempt.form.get("passkey").unwrap_or("")) {
        Ok(answer) => answer,
        Err(error) => return refused(&error),
    };
    let user = owner(attempt, answer.user_handle.as_deref()).await?;
    let name = CredentialName::new(CredentialKind::Passkey, passkeys::row_id(&answer.id));
    let holds =
        |user: &User| Entrance::Login.opens(user, now) && user.credentials().contains(&name);
    let Some(user) = user.filter(holds) else {
        return refused(&"nobody's");
    };
    let users = &realm.people.users;
    let mut consumed = false;
    for _ in 0..MAX_TRIES {
        let Some(mut stored) = users.credential(&user.id, &name, now).await? else {
            return refused(&"taken away");
        };
        let mut passkey = Passkey::read(stored.data.expose())?;
        let key = base64url::decode(passkey.key.as_bytes());
        let key = key.map_err(|_| StoreError::Corrupt("a passkey".into()))?;
        if passkey.backup_unknown {
            let said = AuthenticatorData::parse(&answer.authenticator_data);
            passkey.backup_eligible = said.is_ok_and(|data| data.flags.backup_eligible());
            passkey.backup_unknown = false;
        }
        let known = Known {
            id: &answer.id,
            key: &key,
            sign_count: passkey.sign_count,
            backup_eligible: passkey.backup_eligible,
        };
        let must = passkeys::must_verify(settings);
        let used = match authenticate(&party, challenge.as_bytes(), must, &known, &answer) {
            Ok(used) => used,
            Err(error) => return refused(&error),
        };
        // Only who has the key comes here: nobody else writes a row.
        let end = passkeys::remembered_until(settings, attempt.ends_at, now);
        if !consumed && !challenge.consume(&*realm.store, end, now).await? {
            return Ok(Verdict::Expired);
        }
        consumed = true;
        if used.counter == Counter::Cloned {
            cloned(attempt.browser, &user).await;
            return refused(&"its counter did not go on");
        }
        passkey.sign_count = used.sign_count;
        passkey.backed_up = used.backed_up;
        passkey.verifies |= used.user_verified;
        stored.data = Secret::new(passkey.encode());
        stored.used_at = Some(now);
        if users.rewrite_credential(&user.id, &stored, now).await? {
            let shown = match (used.user_verified, passkey.backup_eligible) {
                (true, true) => "passkey_synced",
                (true, false) => "passkey_bound",
                (false, false) => "security_key",
                (false, true) => "security_key_synced",
            };
            return Ok(Verdict::ProvenBy(Box::new(user), shown));
        }
    }
    Err(StoreError::Unavailable("a passkey's row is busy".into()))
}

/// Somebody may have a copy of the passkey (WebAuthn section 6.1.1): it is recorded, and its person
/// is notified.
async fn cloned(browser: &BrowserRequest, user: &User) {
    let event = browser.context.event(Action::LOGIN).method(NAME);
    let event = event.subject(&user.id).refused("passkey_counter");
    browser.context.realm.audit().record(event);
    security_mail::send(browser, user, SecurityEvent::PasskeyCopied).await;
}
