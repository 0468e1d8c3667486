//! From here to a provider and back: what has to be remembered meanwhile.
//!
//! The `state` of the request is the sealed name of a row, and opens only with the cookie of the
//! browser that it was given to and under the provider that it was made for (RFC 9700 sections 4.4
//! and 4.7). The row has the nonce, the PKCE verifier and the interaction; taking it out is one
//! conditional change, so an answer counts once.
use serde::{Deserialize, Serialize};
use signet_crypto::seal::Purpose;
use signet_encoding::base64url;
use signet_oauth::authorize::with_query;
use signet_oauth::people::provider::{AnswerBy, Preset, Protocol, Provider};
use signet_oauth::scope::OFFLINE_ACCESS;
use signet_store::{Change, Key, Op, StoreError, Table};

use super::asking;
use signet_federation::upstream::{Metadata, Trouble, challenge};
use signet_realm::budgets::Act;
use signet_request::browser_request::BrowserRequest;
use signet_request::interaction::{Goal, Interaction};

const STATE: Purpose = Purpose::Other("provider-state");
const ROW: Purpose = Purpose::Other("provider-journey");
/// The longest `state` that is opened, in characters: ours are shorter.
const MAX_STATE: usize = 128;
/// How much older than asked for a login at a provider may be, seconds: clocks differ.
pub(super) const LEEWAY: u64 = 60;

/// What has to be remembered.
#[derive(Serialize, Deserialize)]
pub(super) struct Journey {
    /// The provider's issuer when the journey began.
    pub(super) issuer: String,
    pub(super) nonce: String,
    pub(super) verifier: String,
    pub(super) redirect_uri: String,
    /// Unix seconds.
    pub(super) begun_at: u64,
    /// The oldest that the login there may be, seconds.
    pub(super) max_age: Option<u64>,
    /// The person must have logged in again.
    pub(super) anew: bool,
    /// The account and session that asked for a link.
    pub(super) link: Option<(String, String)>,
    /// Sealed for the browser.
    pub(super) interaction: String,
}

/// Why a journey did not begin.
pub(super) enum NotBegun {
    Trouble(Trouble),
    Store(StoreError),
}

impl From<Trouble> for NotBegun {
    fn from(trouble: Trouble) -> NotBegun {
        NotBegun::Trouble(trouble)
    }
}

impl From<StoreError> for NotBegun {
    fn from(error: StoreError) -> NotBegun {
        NotBegun::Store(error)
    }
}

fn row_key(id: &[u8]) -> Key {
    Key::new(Table::Once, [b"provider journey ".as_slice(), id].concat())
}

/// What the `state` of a request is bound to: the browser and the provider.
pub(super) fn bound_to(browser: &BrowserRequest, provider: &str) -> Vec<u8> {
    [browser.browser_id().as_slice(), provider.as_bytes()].concat()
}

/// Remembers a journey, and gives the URL that it leads to. `link`: the account and session that
/// want the link.
pub(super) async fn begin(
    browser: &BrowserRequest,
    interaction: &Interaction,
    provider: &Provider,
    typed: &str,
    link: Option<(String, String)>,
) -> Result<String, NotBegun> {
    let metadata = asking(browser, provider).metadata().await?;
    let now = browser.context.now();
    let request = interaction.request();
    // Who is asked to log in for the account page has a session that is too old for something.
    let own = matches!(interaction.goal, Goal::Account | Goal::Console(_));
    let again = own && browser.present().is_some();
    let anew = link.is_some() || again || request.is_some_and(|request| request.prompts.login);
    let journey = Journey {
        issuer: provider.issuer.clone(),
        nonce: random(),
        verifier: random(),
        redirect_uri: provider.redirect_uri(&browser.context.base()),
        begun_at: now,
        max_age: request.and_then(|request| request.max_age),
        anew,
        link,
        interaction: browser.seal(interaction),
    };
    let id: [u8; 16] = signet_crypto::random::bytes();
    let keyring = browser.context.realm.keyring().clone();
    let broken = || Trouble::Own("the login could not be sealed");
    // Invariant: strings, numbers and booleans always serialize.
    let plain = serde_json::to_vec(&journey).unwrap_or_default();
    let sealed = keyring.seal_with(ROW, &id, &plain).map_err(|_| broken())?;
    // The row is all that a beginning costs: its bytes are counted, for a request may be large.
    let budgets = &browser.context.realm.budgets;
    let spent = budgets.spend_many(Act::Waiting, browser.caller(), sealed.len(), now);
    spent.map_err(|_| Trouble::TooMany)?;
    let insert = Op::Insert {
        key: row_key(&id),
        value: sealed,
        end: Some(interaction.ends_at),
    };
    let store = &browser.context.realm.store;
    if !store.commit(Change::new(insert), now).await?.is_done() {
        return Err(Trouble::Own("the login has come to its end").into());
    }
    let state = keyring.seal_with(STATE, &bound_to(browser, &provider.name), &id);
    let state = base64url::encode(&state.map_err(|_| broken())?);
    Ok(url(
        &metadata,
        interaction,
        provider,
        typed,
        &journey,
        &state,
    ))
}

fn random() -> String {
    base64url::encode(&signet_crypto::random::bytes::<32>())
}

/// The request (OpenID Connect Core section 3.1.2.1, RFC 7636).
fn url(
    metadata: &Metadata,
    interaction: &Interaction,
    provider: &Provider,
    typed: &str,
    journey: &Journey,
    state: &str,
) -> String {
    let challenge = challenge(&journey.verifier);
    let mut fields: Vec<(&str, String)> = vec![
        ("response_type", "code".to_owned()),
        ("client_id", provider.client_id.clone()),
        ("redirect_uri", journey.redirect_uri.clone()),
        ("scope", provider.scope.clone()),
        ("state", state.to_owned()),
        ("code_challenge", challenge),
        ("code_challenge_method", "S256".to_owned()),
    ];
    if provider.answer_by == AnswerBy::FormPost {
        fields.push(("response_mode", AnswerBy::FormPost.as_str().to_owned()));
    }
    // Google gives refresh tokens for this, and not for a scope.
    if provider.keep_refresh_token && provider.preset == Some(Preset::Google) {
        fields.push(("access_type", "offline".to_owned()));
    }
    let request = interaction.request();
    let hint = request.and_then(|request| request.login_hint.as_deref());
    let hint = Some(typed).filter(|typed| !typed.is_empty()).or(hint);
    if provider.protocol == Protocol::Openid {
        fields.push(("nonce", journey.nonce.clone()));
        if let Some(max_age) = journey.max_age {
            fields.push(("max_age", max_age.to_string()));
        }
        let select = request.is_some_and(|request| request.prompts.select_account);
        // OpenID Connect Core section 11: without it `offline_access` is passed over. Microsoft
        // takes it without, and would ask at every login.
        let consent = provider.keep_refresh_token
            && provider.preset != Some(Preset::Microsoft)
            && provider.scope.split(' ').any(|word| word == OFFLINE_ACCESS);
        let prompts = [
            (journey.anew, "login"),
            (select, "select_account"),
            (consent, "consent"),
        ];
        let prompts: Vec<&str> = prompts
            .iter()
            .filter(|(set, _)| *set)
            .map(|(_, p)| *p)
            .collect();
        if !prompts.is_empty() {
            fields.push(("prompt", prompts.join(" ")));
        }
        if let Some(hint) = hint {
            fields.push(("login_hint", hint.to_owned()));
        }
        if let Some(request) = request {
            if !request.ui_locales.is_empty() {
                fields.push(("ui_locales", request.ui_locales.join(" ")));
            }
            // What nobody believes is not asked for.
            if provider.trust_acr && !request.acr_values.is_empty() {
                fields.push(("acr_values", request.acr_values.join(" ")));
            }
        }
    }
    with_query(&metadata.authorization_endpoint, &fields)
}

/// Takes the journey out that an answer of this provider belongs to; nobody else gets it after
/// this. None: it was not begun in this browser, or not at this provider, or has been answered, or
/// has expired.
pub(super) async fn take(
    browser: &BrowserRequest,
    provider: &Provider,
    state: &str,
) -> Result<Option<Journey>, StoreError> {
    let opened = open(browser, provider, state);
    let Some(id) = opened else { return Ok(None) };
    let (store, now) = (&browser.context.realm.store, browser.context.now());
    let key = row_key(&id);
    let Some(row) = store.get(&key, now).await? else {
        return Ok(None);
    };
    let remove = Op::Remove {
        key,
        version: row.version,
    };
    if !store.commit(Change::new(remove), now).await?.is_done() {
        return Ok(None);
    }
    let keyring = browser.context.realm.keyring();
    let plain = keyring.open_with(ROW, &id, &row.value);
    let corrupt = || StoreError::Corrupt("a login at a provider".to_owned());
    let plain = plain.map_err(|_| corrupt())?;
    let journey: Journey = serde_json::from_slice(&plain).map_err(|_| corrupt())?;
    // The record may be another provider's by now, under the same name.
    Ok(Some(journey).filter(|journey| journey.issuer == provider.issuer))
}

fn open(browser: &BrowserRequest, provider: &Provider, state: &str) -> Option<[u8; 16]> {
    if state.len() > MAX_STATE {
        return None;
    }
    let sealed = base64url::decode(state.as_bytes()).ok()?;
    let keyring = browser.context.realm.keyring();
    let opened = keyring.open_with(STATE, &bound_to(browser, &provider.name), &sealed);
    opened.ok()?.try_into().ok()
}
