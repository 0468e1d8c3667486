//! Codes of an app, by the time (RFC 6238). An app that is added here makes them of SHA-1, six
//! digits and 30 seconds, which is what every app does whatever parameters it receives; one that
//! came from another server keeps its own [`CodeForm`].
//!
//! A code is accepted one step early and one step late: clocks drift, and people type slowly. It
//! works once: the row has the last step that was accepted, only a later one is accepted after it,
//! and the write that says so has the row that was read as its condition. So of two nodes that are
//! shown one code, one accepts it. The secret is sealed in the row, for its account and its row.
//!
//! The HMAC is the crypto crate's; a library would bring a second one and its hashes for the ten
//! lines below, and not what is ours anyway: the steps, the single use, the sealing.

use serde::{Deserialize, Serialize};
use signet_crypto::Secret;
use signet_crypto::mac::{hmac_sha1, hmac_sha256, hmac_sha512};
use signet_crypto::seal::{Keyring, Purpose};
use signet_directory::{
    Accounts, CredentialKind, CredentialName, StoredCredential, User, UserError,
};
use signet_encoding::base32;
use signet_oauth::params;
use signet_store::StoreError;

use super::budgets::Standing;
use super::method::{Answer, Attempt, Method, MethodPage, Page, Step, Verdict, step_page};
use crate::freshness::Fresh;
use signet_pages::Html;
use signet_realm::attempts::Kind;
use signet_request::access::Entrance;
use signet_request::browser_request::BrowserRequest;

/// Seconds of one step.
pub const PERIOD: u64 = 30;
/// Steps before and after the present one whose codes are accepted.
pub const WINDOW: u64 = 1;
/// Apps of one account.
pub const MAX_APPS: usize = 4;
/// Bytes of a new secret: the length of the hash (RFC 4226 section 4, R6).
pub const SECRET_BYTES: usize = 20;
/// A code's digits.
pub const DIGITS: usize = 6;
/// Shortest secret of an app that comes from another server, in bytes (RFC 4226 section 4, R6).
pub const MIN_SECRET_BYTES: usize = 10;
/// Longest secret of an app that comes from another server, in bytes.
pub const MAX_SECRET_BYTES: usize = 128;
/// Longest step of an app that comes from another server, in seconds: its codes are accepted for
/// three of them.
pub const MAX_PERIOD: u64 = 120;

const PURPOSE: Purpose = Purpose::Other("totp-secret");
/// How often a row that other logins write at the same time is tried.
const MAX_TRIES: usize = 8;

/// See the module.
pub const METHOD: Method = Method {
    name: "totp",
    shows: &["totp"],
    step: Step::Second,
    guess: Kind::Factor,
    offered: |_| true,
    usable: |_, user| user.has(CredentialKind::Totp),
    decision: "totp",
    label: "factors-totp-button",
    start: None,
    script: None,
    page: Page::Step(page),
    verify: |attempt| verify(attempt),
    wrong: "factors-totp-wrong",
    expired: "",
};

fn page(page: &MethodPage<'_>, user: &User) -> Html {
    signet_pages::totp_step(&page.browser.face(), &step_page(page, user))
}

fn verify<'a>(attempt: &'a Attempt<'a>) -> Answer<'a, Verdict> {
    Box::pin(async move {
        let Some(user) = attempt.user else {
            return Ok(Verdict::Wrong);
        };
        let typed = match attempt.standing {
            Standing::Open => attempt.form.get("totp").unwrap_or(""),
            Standing::UsedUp => "",
        };
        let (realm, now) = (
            &attempt.browser.context.realm,
            attempt.browser.context.now(),
        );
        let keyring = realm.keyring();
        let right = accept(&realm.people.users, &keyring, &user.id, typed, now).await?;
        Ok(match right && Entrance::Login.opens(user, now) {
            true => Verdict::Proven(Box::new(user.clone())),
            false => Verdict::Wrong,
        })
    })
}

/// What an app's row has in it.
#[derive(Serialize, Deserialize)]
struct AppRow {
    /// Sealed.
    secret: Vec<u8>,
    /// The last step whose code was accepted.
    last_step: u64,
    /// How its codes are made; rows of before say nothing.
    #[serde(default, skip_serializing_if = "CodeForm::is_usual")]
    form: CodeForm,
}

/// The hash that codes are made with (RFC 6238 section 1.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum CodeHash {
    /// HMAC-SHA-1.
    #[default]
    #[serde(rename = "SHA1")]
    Sha1,
    /// HMAC-SHA-256.
    #[serde(rename = "SHA256")]
    Sha256,
    /// HMAC-SHA-512.
    #[serde(rename = "SHA512")]
    Sha512,
}

/// How an app makes its codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CodeForm {
    /// The hash.
    pub algorithm: CodeHash,
    /// Digits of a code: 6 to 8.
    pub digits: u32,
    /// Seconds of a step.
    pub period: u64,
}

impl Default for CodeForm {
    fn default() -> CodeForm {
        CodeForm {
            algorithm: CodeHash::Sha1,
            digits: DIGITS as u32,
            period: PERIOD,
        }
    }
}

impl CodeForm {
    fn is_usual(&self) -> bool {
        *self == CodeForm::default()
    }
}

/// A secret that both sides know, and how they make codes of it.
pub struct TotpSecret(Secret<Vec<u8>>, CodeForm);

impl TotpSecret {
    /// A new one.
    pub fn generate() -> TotpSecret {
        TotpSecret::from_bytes(&signet_crypto::random::bytes::<SECRET_BYTES>())
    }

    /// One that was made before.
    pub fn from_bytes(bytes: &[u8]) -> TotpSecret {
        TotpSecret(Secret::new(bytes.to_vec()), CodeForm::default())
    }

    /// One of another server, in base32.
    ///
    /// # Errors
    /// What is wrong with it; never the secret.
    pub fn brought(secret: &str, form: CodeForm) -> Result<TotpSecret, &'static str> {
        let secret = base32::decode(secret).ok_or("the secret is not base32")?;
        let secret = Secret::new(secret);
        if !(MIN_SECRET_BYTES..=MAX_SECRET_BYTES).contains(&secret.expose().len()) {
            return Err("the secret has 10 to 128 bytes");
        }
        if !(6..=8).contains(&form.digits) {
            return Err("a code has 6 to 8 digits");
        }
        if !(1..=MAX_PERIOD).contains(&form.period) {
            return Err("a step has 1 to 120 seconds");
        }
        Ok(TotpSecret(secret, form))
    }

    /// For the sealed state of the page that shows it.
    pub fn expose(&self) -> &[u8] {
        self.0.expose()
    }

    /// How its codes are made.
    pub fn form(&self) -> CodeForm {
        self.1
    }

    /// As apps take it (RFC 4648 section 6, without padding).
    pub fn base32(&self) -> String {
        base32::encode(self.0.expose())
    }

    /// What apps read from a QR code (the Key URI format, which all of them take). `service`: what
    /// the app calls it, before the account's name and as the issuer, which have to agree.
    pub fn key_uri(&self, service: &str, username: &str) -> String {
        let encoded = |text: &str| {
            let mut encoded = String::new();
            params::encode_into(text, &mut encoded);
            // A plus is no space in a path.
            encoded.replace('+', "%20")
        };
        // A colon, escaped or not, ends the service's name: neither part may have one.
        let service = encoded(&service.replace(':', ""));
        let account = encoded(&username.replace(':', ""));
        format!(
            "otpauth://totp/{service}:{account}?secret={}&issuer={service}&algorithm=SHA1&digits={DIGITS}&period={PERIOD}",
            self.base32(),
        )
    }

    /// The code of a step (RFC 4226 section 5.3).
    pub fn code(&self, step: u64) -> String {
        let (key, message) = (self.0.expose(), &step.to_be_bytes());
        let word = match self.1.algorithm {
            CodeHash::Sha1 => truncated(&hmac_sha1(key, message)),
            CodeHash::Sha256 => truncated(&hmac_sha256(key, message)),
            CodeHash::Sha512 => truncated(&hmac_sha512(key, message)),
        };
        let digits = self.1.digits;
        format!(
            "{:0width$}",
            word % 10u32.pow(digits),
            width = digits as usize
        )
    }

    /// The step after `last_step` whose code was typed, of those that are accepted at `now`. It
    /// takes as long for every code.
    fn step_of(&self, typed: &str, last_step: u64, now: u64) -> Option<u64> {
        let present = now / self.1.period;
        let mut found = None;
        for step in present.saturating_sub(WINDOW)..=present + WINDOW {
            let equal = signet_crypto::ct_eq(self.code(step).as_bytes(), typed.as_bytes());
            if equal && step > last_step {
                found = found.or(Some(step));
            }
        }
        found
    }
}

/// 31 bits of a tag, from where its last four bits say (RFC 4226 section 5.3). Every tag has 20
/// bytes at least.
fn truncated(tag: &[u8]) -> u32 {
    let at = usize::from(tag[tag.len() - 1] & 15);
    u32::from_be_bytes([tag[at] & 0x7f, tag[at + 1], tag[at + 2], tag[at + 3]])
}

/// What an app calls this server: the realm's name, or the host where nobody gave it one.
pub(crate) fn service_name(browser: &BrowserRequest) -> String {
    let brand = browser.context.realm.people.brands.own();
    match brand.chosen_name() {
        Some(name) => name.to_owned(),
        None => host(&browser.context.snapshot.settings.issuer).to_owned(),
    }
}

/// The host of an issuer, without its port.
fn host(issuer: &str) -> &str {
    let authority = issuer.split("://").nth(1).unwrap_or(issuer);
    let authority = authority.split('/').next().unwrap_or(authority);
    match authority.rsplit_once(':') {
        // The last group of an IPv6 address is no port.
        Some((host, port)) if !port.contains(']') => host,
        _ => authority,
    }
}

/// What ties a sealed secret to its row.
fn binding(user_id: &str, id: &str) -> Vec<u8> {
    [user_id.as_bytes(), &[0], id.as_bytes()].concat()
}

fn open(row: &AppRow, keyring: &Keyring, user_id: &str, id: &str) -> Option<TotpSecret> {
    let opened = keyring.open_with(PURPOSE, &binding(user_id, id), &row.secret);
    match opened {
        Ok(secret) => Some(TotpSecret(Secret::new(secret), row.form)),
        Err(_) => {
            tracing::error!(user = %user_id, "failed to open a TOTP secret");
            None
        }
    }
}

fn read(credential: &StoredCredential) -> Result<AppRow, StoreError> {
    let corrupt = |_| StoreError::Corrupt("a code app".into());
    serde_json::from_slice(credential.data.expose()).map_err(corrupt)
}

fn write(row: &AppRow) -> Secret<Vec<u8>> {
    // Invariant: bytes and a number always serialize.
    Secret::new(serde_json::to_vec(row).expect("a code app serializes"))
}

/// The digits that were typed: spaces between them are ignored.
fn digits(typed: &str) -> String {
    let digits = typed.chars().filter(|c| !c.is_whitespace());
    digits.take(2 * DIGITS).collect()
}

/// A credential for a secret whose code was just typed; None: it is not its code. The code counts
/// as used.
///
/// # Errors
/// Sealing.
pub(crate) fn enrol(
    fresh: &Fresh<'_>,
    secret: &TotpSecret,
    typed: &str,
    label: &str,
    keyring: &Keyring,
    now: u64,
) -> Result<Option<StoredCredential>, StoreError> {
    of_first_code(secret, typed, label, keyring, &fresh.user().id, now)
}

fn of_first_code(
    secret: &TotpSecret,
    typed: &str,
    label: &str,
    keyring: &Keyring,
    user_id: &str,
    now: u64,
) -> Result<Option<StoredCredential>, StoreError> {
    let Some(last_step) = secret.step_of(&digits(typed), 0, now) else {
        return Ok(None);
    };
    made(secret, last_step, label, keyring, user_id, now).map(Some)
}

/// A credential for the app of an account that comes from another server.
///
/// # Errors
/// Sealing.
pub fn imported(
    secret: &TotpSecret,
    label: &str,
    keyring: &Keyring,
    user_id: &str,
    created_at: u64,
) -> Result<StoredCredential, StoreError> {
    made(secret, 0, label, keyring, user_id, created_at)
}

fn made(
    secret: &TotpSecret,
    last_step: u64,
    label: &str,
    keyring: &Keyring,
    user_id: &str,
    now: u64,
) -> Result<StoredCredential, StoreError> {
    let id = signet_encoding::base64url::encode(&signet_crypto::random::id::<12>());
    let sealed = keyring.seal_with(PURPOSE, &binding(user_id, &id), secret.expose());
    let sealed = sealed.map_err(|_| StoreError::Unavailable("sealing".into()))?;
    let row = AppRow {
        secret: sealed,
        last_step,
        form: secret.1,
    };
    let name = CredentialName::new(CredentialKind::Totp, id);
    let data = write(&row).expose().clone();
    Ok(StoredCredential::new(name, label, data, now))
}

/// The secret of an app, for who takes an account elsewhere.
///
/// # Errors
/// [`StoreError::Corrupt`]; None: it cannot be opened any more.
pub fn opened(
    credential: &StoredCredential,
    keyring: &Keyring,
    user_id: &str,
) -> Result<Option<TotpSecret>, StoreError> {
    Ok(open(
        &read(credential)?,
        keyring,
        user_id,
        &credential.name.id,
    ))
}

/// Whether this is a code of one of the account's apps, which is used up by it.
///
/// # Errors
/// The store's.
pub(crate) async fn accept(
    users: &Accounts,
    keyring: &Keyring,
    user_id: &str,
    typed: &str,
    now: u64,
) -> Result<bool, StoreError> {
    let typed = digits(typed);
    let mut right = false;
    for credential in users.credentials(user_id, now).await? {
        if credential.name.kind == CredentialKind::Totp && !right {
            right = accept_of(users, keyring, user_id, credential, &typed, now).await?;
        }
    }
    Ok(right)
}

async fn accept_of(
    users: &Accounts,
    keyring: &Keyring,
    user_id: &str,
    mut credential: StoredCredential,
    typed: &str,
    now: u64,
) -> Result<bool, StoreError> {
    for _ in 0..MAX_TRIES {
        let row = read(&credential)?;
        let secret = open(&row, keyring, user_id, &credential.name.id);
        let step = secret.and_then(|secret| secret.step_of(typed, row.last_step, now));
        let Some(last_step) = step else {
            return Ok(false);
        };
        credential.data = write(&AppRow { last_step, ..row });
        credential.used_at = Some(now);
        if users.rewrite_credential(user_id, &credential, now).await? {
            return Ok(true);
        }
        // Somebody else was faster: with this code, or with another.
        match users.credential(user_id, &credential.name, now).await? {
            Some(current) => credential = current,
            None => return Ok(false),
        }
    }
    Ok(false)
}

/// Seals all apps' secrets under the ring's current key. How many were not under it yet.
///
/// # Errors
/// The store's; [`UserError::Conflict`] where one is written all the time.
pub async fn rewrap(users: &Accounts, keyring: &Keyring, now: u64) -> Result<usize, UserError> {
    const PAGE: usize = 500;
    let (mut count, mut after) = (0, None);
    loop {
        let page = users.credentials_page(CredentialKind::Totp, after, PAGE, now);
        let (credentials, next) = page.await?;
        for (user_id, credential) in credentials {
            count += usize::from(rewrap_one(users, keyring, &user_id, credential, now).await?);
        }
        match next {
            Some(next) => after = Some(next),
            None => return Ok(count),
        }
    }
}

async fn rewrap_one(
    users: &Accounts,
    keyring: &Keyring,
    user_id: &str,
    mut credential: StoredCredential,
    now: u64,
) -> Result<bool, UserError> {
    for _ in 0..MAX_TRIES {
        let row = read(&credential)?;
        if Keyring::id_of(&row.secret) == Some(keyring.current_id()) {
            return Ok(false);
        }
        let Some(secret) = open(&row, keyring, user_id, &credential.name.id) else {
            // It was lost with a key long ago, and holds up nobody else.
            return Ok(false);
        };
        let bound = binding(user_id, &credential.name.id);
        let sealed = keyring.seal_with(PURPOSE, &bound, secret.expose());
        let sealed = sealed.map_err(|_| StoreError::Unavailable("sealing".into()))?;
        credential.data = write(&AppRow {
            secret: sealed,
            ..row
        });
        if users.rewrite_credential(user_id, &credential, now).await? {
            return Ok(true);
        }
        match users.credential(user_id, &credential.name, now).await? {
            Some(current) => credential = current,
            None => return Ok(false),
        }
    }
    Err(UserError::Conflict)
}

/// How many apps the account has.
pub(crate) fn count(user: &User) -> usize {
    let apps = user.credentials().iter();
    apps.filter(|name| name.kind == CredentialKind::Totp)
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_crypto::seal::SealingKey;
    use signet_directory::NewUser;
    use signet_directory::passwords::{PasswordOptions, PasswordPool};
    use signet_store::MemoryStore;
    use std::sync::Arc;

    /// RFC 6238 appendix B, SHA-1; six of its eight digits.
    #[test]
    fn codes_are_those_of_the_rfc() {
        let secret = TotpSecret::from_bytes(b"12345678901234567890");
        for (time, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(secret.code(time / PERIOD), code);
        }
        assert_eq!(secret.base32(), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
    }

    #[test]
    fn a_code_counts_one_step_early_and_late_and_not_after_a_later_one() {
        let secret = TotpSecret::from_bytes(b"12345678901234567890");
        let now = 1_111_111_111;
        let present = now / PERIOD;
        for step in present - 1..=present + 1 {
            assert_eq!(secret.step_of(&secret.code(step), 0, now), Some(step));
            assert_eq!(secret.step_of(&secret.code(step), step, now), None);
        }
        for step in [present - 2, present + 2] {
            assert_eq!(secret.step_of(&secret.code(step), 0, now), None);
        }
        assert_eq!(secret.step_of("", 0, now), None);
    }

    #[test]
    fn an_app_calls_the_server_by_one_name_wherever_it_reads_it() {
        let secret = TotpSecret::from_bytes(b"12345678901234567890");
        let uri = secret.key_uri("Acme: M&Ms", "a:lice@example.com");
        let (label, query) = uri.split_once('?').unwrap();
        assert_eq!(label, "otpauth://totp/Acme%20M%26Ms:alice%40example.com");
        let issuer = query.split('&').find(|part| part.starts_with("issuer="));
        assert_eq!(issuer, Some("issuer=Acme%20M%26Ms"));
        for (issuer, name) in [
            ("https://localhost:24443", "localhost"),
            ("https://id.example/realm/b", "id.example"),
            ("https://[::1]:8443", "[::1]"),
            ("https://[::1]", "[::1]"),
        ] {
            assert_eq!(host(issuer), name);
        }
    }

    /// RFC 6238 appendix B: each hash has a secret of its own length there.
    #[test]
    fn codes_of_other_forms_are_those_of_the_rfc() {
        let seed = b"1234567890".repeat(7);
        for (algorithm, length, codes) in [
            (CodeHash::Sha1, 20, ["94287082", "07081804", "69279037"]),
            (CodeHash::Sha256, 32, ["46119246", "68084774", "90698825"]),
            (CodeHash::Sha512, 64, ["90693936", "25091201", "38618901"]),
        ] {
            let form = CodeForm {
                algorithm,
                digits: 8,
                period: PERIOD,
            };
            let text = base32::encode(&seed[..length]);
            let secret = TotpSecret::brought(&text, form).unwrap();
            for (time, code) in [59, 1_111_111_109, 2_000_000_000].into_iter().zip(codes) {
                assert_eq!(secret.code(time / PERIOD), code);
            }
            let slow = CodeForm { period: 60, ..form };
            let slow = TotpSecret::brought(&text, slow).unwrap();
            assert_eq!(slow.step_of(&slow.code(100), 0, 6_030), Some(100));
            assert_eq!(slow.step_of(&secret.code(201), 0, 6_030), None);
        }
    }

    #[test]
    fn an_app_of_another_server_is_held_to_bounds() {
        let usual = CodeForm::default();
        let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
        for (text, form) in [
            ("no base32!", usual),
            ("GEZDGNBV", usual),
            (&*"GEZDGNBV".repeat(40), usual),
            (secret, CodeForm { digits: 5, ..usual }),
            (secret, CodeForm { digits: 9, ..usual }),
            (secret, CodeForm { period: 0, ..usual }),
            (
                secret,
                CodeForm {
                    period: MAX_PERIOD + 1,
                    ..usual
                },
            ),
        ] {
            let Err(why) = TotpSecret::brought(text, form) else {
                panic!("{form:?}");
            };
            assert!(!why.contains(text));
        }
    }

    #[test]
    fn a_row_of_before_says_nothing_of_its_form() {
        let row: AppRow = serde_json::from_str(r#"{"secret":[1],"last_step":7}"#).unwrap();
        assert_eq!(row.form, CodeForm::default());
        assert_eq!(write(&row).expose(), br#"{"secret":[1],"last_step":7}"#);
    }

    #[tokio::test]
    async fn after_a_rewrap_the_old_sealing_key_is_not_needed() {
        let pool = PasswordPool::new(PasswordOptions::default());
        let users = Accounts::new(Arc::new(MemoryStore::new()), Arc::new(pool), Vec::new());
        let new = NewUser {
            username: "alice".into(),
            ..NewUser::default()
        };
        let now = 1_111_111_111;
        let alice = users.create(new, now).await.unwrap();
        let (old, new) = (SealingKey::generate(), SealingKey::generate());
        let before = Keyring::new(old.clone(), Vec::new());
        let secret = TotpSecret::generate();
        let code = secret.code(now / PERIOD);
        let app = of_first_code(&secret, &code, "phone", &before, &alice.id, now);
        let app = app.unwrap().unwrap();
        let added = users.change(&alice.id, now, |draft| draft.put_credential(&app));
        added.await.unwrap();
        let both = Keyring::new(new.clone(), vec![old]);
        assert_eq!(rewrap(&users, &both, now).await.unwrap(), 1);
        assert_eq!(rewrap(&users, &both, now).await.unwrap(), 0);
        let after = Keyring::new(new, Vec::new());
        let try_at = async |at: u64, ring: &Keyring| {
            let code = secret.code(at / PERIOD);
            accept(&users, ring, &alice.id, &code, at).await.unwrap()
        };
        assert!(
            !try_at(now + PERIOD, &before).await,
            "the row is under the new key alone"
        );
        assert!(try_at(now + PERIOD, &after).await);
        assert!(!try_at(now + PERIOD, &after).await, "once");
    }
}
