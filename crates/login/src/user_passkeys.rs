//! A person's passkeys: how one is added, wherever it is asked for, and what an account page says
//! of them.

use signet_directory::{
    CredentialKind, CredentialName, StoredCredential, User, UserDraft, UserError,
};
use signet_oauth::params::Params;
use signet_oauth::people::passkeys::Aaguid;
use signet_store::StoreError;
use signet_webauthn::{Registration, register};

use crate::failure::Failure;
use crate::freshness::Fresh;
use crate::passkeys::{self, Challenge, NewcomerOptions, Passkey, relying_party};
use signet_directory::session;
use signet_request::browser_request::BrowserRequest;
use signet_request::http::Context;
use signet_request::security_mail::{self, SecurityEvent};

/// What is said to a browser that sent no answer: it has no script.
pub(crate) const NO_SCRIPT: &str = "passkey-add-no-script";
const REFUSED: &str = "passkey-refused";
const EXPIRED: &str = "passkey-expired";
const MODEL: &str = "passkey-model";
const KNOWN: &str = "passkey-known";
const TOO_MANY: &str = "passkey-too-many";

/// Whom a new passkey is for.
pub(crate) fn newcomer<'a>(
    user: &'a User,
    realm_name: &'a str,
    present: &'a [Passkey],
) -> NewcomerOptions<'a> {
    NewcomerOptions {
        user_id: &user.id,
        username: &user.username,
        display_name: user.display_name(),
        realm_name,
        present,
    }
}

/// The passkeys of an account.
pub(crate) async fn list(
    browser: &BrowserRequest,
    user: &User,
) -> Result<Vec<Passkey>, StoreError> {
    list_of(&browser.context, user).await
}

async fn list_of(context: &Context, user: &User) -> Result<Vec<Passkey>, StoreError> {
    let (users, now) = (&context.realm.people.users, context.now());
    let all = users.credentials(&user.id, now).await?;
    all.iter()
        .filter(|one| one.name.kind == CredentialKind::Passkey)
        .filter(|one| user.credentials().contains(&one.name))
        .map(|one| Passkey::read(one.data.expose()))
        .collect()
}

/// Whether an account has a security key here that has never verified its user, where such keys are
/// taken: it is nothing but a second factor.
///
/// # Errors
/// The store's.
pub(crate) async fn has_security_key(context: &Context, user: &User) -> Result<bool, StoreError> {
    let settings = &context.snapshot.settings;
    if passkeys::must_verify(settings) || relying_party(settings).is_none() {
        return Ok(false);
    }
    let held = list_of(context, user).await?;
    Ok(held.iter().any(|passkey| !passkey.verifies))
}

/// Adds the passkey that the form has, and tells the person by mail. `ends_at`: until when the page
/// that asked for it may be sent again, Unix seconds.
///
/// # Errors
/// [`Failure::Invalid`] and [`Failure::Expired`] for what can be tried again; the store's.
pub(crate) async fn add(
    browser: &BrowserRequest,
    fresh: &Fresh<'_>,
    challenge: &Challenge,
    ends_at: u64,
    form: &Params,
) -> Result<User, Failure> {
    let user = fresh.user();
    let (realm, now) = (&browser.context.realm, browser.context.now());
    let settings = &browser.context.snapshot.settings;
    let party = relying_party(settings).ok_or(Failure::Invalid(REFUSED))?;
    let must = passkeys::must_verify(settings);
    let made = Registration::parse(form.get("passkey").unwrap_or(""))
        .and_then(|answer| register(&party, challenge.as_bytes(), must, &answer));
    let made = made.map_err(|error| {
        let request_id = &browser.context.request_id;
        tracing::info!(target: "signet::login", %error, %request_id, "refused a new passkey");
        Failure::Invalid(REFUSED)
    })?;
    let allowed = &settings.passkeys.allowed_aaguids;
    if !allowed.is_empty() && !allowed.contains(&Aaguid(made.aaguid)) {
        return Err(Failure::Invalid(MODEL));
    }
    let name = CredentialName::new(CredentialKind::Passkey, passkeys::row_id(&made.id));
    if user.credentials().contains(&name) {
        return Err(Failure::Invalid(KNOWN));
    }
    let end = passkeys::remembered_until(settings, ends_at, now);
    if !challenge.consume(&*realm.store, end, now).await? {
        return Err(Failure::Expired(EXPIRED));
    }
    let typed = form.get("label").map(str::trim).unwrap_or("");
    let label = match typed.is_empty() {
        true => passkeys::keeper(&made.aaguid).unwrap_or(""),
        false => typed,
    };
    let passkey = StoredCredential::new(name, label, Passkey::of(&made).encode(), now);
    let users = &realm.people.users;
    let put = |draft: &mut UserDraft| draft.put_credential(&passkey);
    let added = users.change(&user.id, now, put).await;
    let added = added.map_err(|error| match error {
        UserError::TooManyCredentials => Failure::Invalid(TOO_MANY),
        error => error.into(),
    })?;
    if let Some(session) = fresh.session() {
        session::note_factor(&*realm.store, settings, &session.id, now).await?;
    }
    security_mail::send(browser, &added, SecurityEvent::PasskeyAdded).await;
    Ok(added)
}

/// What an account page says of a passkey beside its name: the id of a text.
pub(crate) fn note(stored: &StoredCredential) -> Result<&'static str, StoreError> {
    let passkey = Passkey::read(stored.data.expose())?;
    Ok(match (passkey.backup_eligible, passkey.backed_up) {
        (false, _) => "passkey-bound",
        (true, true) => "passkey-synced",
        (true, false) => "passkey-not-synced",
    })
}
