//! What people bring from another server beside their names: code apps, passkeys, who they are at
//! identity providers, what they have agreed to. Each is read and judged by itself, and no refusal
//! repeats what it was given: that may be a secret.
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use signet_directory::{CredentialKind, CredentialName, StoredCredential, UpstreamLink};
use signet_login::journey::totp::{self, CodeForm, CodeHash, TotpSecret};
use signet_login::passkeys::{BroughtPasskey, Passkey};
use signet_oauth::issued::session::Consent;
use signet_oauth::people::passkeys::Aaguid;
use signet_oauth::scope::ScopeSet;
use signet_operation::problem::Problem;
use signet_realm::state::Realm;
use signet_registry::kinds::RecordKind;

/// An app that makes codes by the time (RFC 6238).
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ImportedTotp")]
pub(crate) struct TotpImport {
    /// In base32; 10 to 128 bytes.
    pub(crate) secret: String,
    /// `SHA1` (the default), `SHA256` or `SHA512`
    #[serde(default)]
    #[schemars(with = "String")]
    pub(crate) algorithm: CodeHash,
    /// 6 (the default) to 8.
    #[serde(default = "digits")]
    pub(crate) digits: u32,
    /// Seconds of a step, 30 unless given.
    #[serde(default = "period")]
    pub(crate) period: u64,
    /// What its person calls it.
    #[serde(default)]
    pub(crate) label: String,
    /// Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) created_at: Option<u64>,
}

fn digits() -> u32 {
    CodeForm::default().digits
}

fn period() -> u64 {
    CodeForm::default().period
}

/// A passkey (WebAuthn).
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ImportedPasskey")]
pub(crate) struct PasskeyImport {
    /// The relying party that it was made for: the host of the issuer here.
    pub(crate) rp_id: String,
    /// The credential's id, in base64url.
    pub(crate) id: String,
    /// Its public key (COSE), in base64url.
    pub(crate) public_key: String,
    /// How often it had signed.
    #[serde(default)]
    pub(crate) sign_count: u32,
    /// The model of its authenticator, a UUID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) aaguid: Option<String>,
    /// Whether it may be on several devices; left out: its next use says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) backup_eligible: Option<bool>,
    /// How its authenticator is reached.
    #[serde(default)]
    pub(crate) transports: Vec<String>,
    /// It has verified its user.
    #[serde(default)]
    pub(crate) user_verified: bool,
    /// What its person calls it.
    #[serde(default)]
    pub(crate) label: String,
    /// Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) created_at: Option<u64>,
}

/// A person of an identity provider.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ImportedIdentity")]
pub(crate) struct IdentityImport {
    /// The provider's name here.
    pub(crate) provider: String,
    /// The person's `sub` there.
    pub(crate) subject: String,
    /// What the person is called there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
}

/// What a person has agreed to for a client.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ImportedConsent")]
pub(crate) struct ConsentImport {
    pub(crate) client_id: String,
    /// Scopes, separated by spaces.
    pub(crate) scope: String,
    /// Unix seconds; left out: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) granted_at: Option<u64>,
}

/// A member as it was sent. The parser's own words could repeat what was sent.
fn read<T: DeserializeOwned>(given: &Value) -> Result<T, &'static str> {
    T::deserialize(given)
        .map_err(|_| "it lacks a member, has an unknown one, or one of another type")
}

/// The credentials of an account that gets this id, or why the account is refused.
pub(crate) fn credentials(
    realm: &Realm,
    user_id: &str,
    (apps, passkeys): (&[Value], &[Value]),
    created_at: Option<u64>,
    left_out: &mut Vec<String>,
) -> Result<Result<Vec<StoredCredential>, String>, Problem> {
    let made_at = created_at.unwrap_or_else(|| realm.now());
    let mut credentials = Vec::new();
    if apps.len() > totp::MAX_APPS {
        return Ok(Err(format!("totp: at most {} apps", totp::MAX_APPS)));
    }
    for (at, given) in apps.iter().enumerate() {
        let refused = |why: &str| format!("totp[{at}]: {why}");
        let app: TotpImport = match read(given) {
            Ok(app) => app,
            Err(why) => return Ok(Err(refused(why))),
        };
        let form = CodeForm {
            algorithm: app.algorithm,
            digits: app.digits,
            period: app.period,
        };
        let secret = match TotpSecret::brought(&app.secret, form) {
            Ok(secret) => secret,
            Err(why) => return Ok(Err(refused(why))),
        };
        let (ring, at) = (realm.keyring(), app.created_at.unwrap_or(made_at));
        credentials.push(totp::imported(&secret, &app.label, &ring, user_id, at)?);
    }
    let snapshot = realm.snapshot();
    for (at, given) in passkeys.iter().enumerate() {
        let judged = read::<PasskeyImport>(given)
            .map_err(str::to_owned)
            .and_then(|given| {
                let aaguid = given.aaguid.as_deref().map(Aaguid::parse);
                let aaguid = aaguid.unwrap_or(Some(Aaguid([0; 16])));
                let brought = BroughtPasskey {
                    rp_id: &given.rp_id,
                    id: &given.id,
                    key: &given.public_key,
                    sign_count: given.sign_count,
                    aaguid: aaguid.ok_or("its aaguid is no UUID")?.0,
                    backup_eligible: given.backup_eligible,
                    transports: given.transports,
                    verifies: given.user_verified,
                };
                let (id, passkey) = Passkey::brought(brought, &snapshot.settings)?;
                let name = CredentialName::new(CredentialKind::Passkey, id);
                let at = given.created_at.unwrap_or(made_at);
                Ok(StoredCredential::new(
                    name,
                    &given.label,
                    passkey.encode(),
                    at,
                ))
            });
        match judged {
            Ok(credential) => credentials.push(credential),
            Err(why) => left_out.push(format!("passkeys[{at}]: {why}")),
        }
    }
    Ok(Ok(credentials))
}

/// Who the person is at the providers that are here.
pub(crate) async fn links(
    realm: &Realm,
    given: &[Value],
    left_out: &mut Vec<String>,
) -> Result<Vec<UpstreamLink>, Problem> {
    let mut links = Vec::new();
    for (at, given) in given.iter().enumerate() {
        let given: IdentityImport = match read(given) {
            Ok(given) => given,
            Err(why) => {
                left_out.push(format!("identities[{at}]: {why}"));
                continue;
            }
        };
        realm.learn(RecordKind::Provider, &given.provider).await?;
        let snapshot = realm.snapshot();
        let provider = snapshot.registry.providers.get(&given.provider);
        let fits = (1..=MAX_SUBJECT_BYTES).contains(&given.subject.len());
        match provider.filter(|_| fits) {
            Some(provider) => links.push(UpstreamLink {
                provider: given.provider,
                issuer: provider.issuer.clone(),
                subject: given.subject,
                name: given.name,
                linked_at: realm.now(),
            }),
            None if fits => left_out.push(format!(
                "identities[{at}]: there is no identity provider {}",
                given.provider
            )),
            None => left_out.push(format!("identities[{at}]: a subject has 1 to 1024 bytes")),
        }
    }
    Ok(links)
}

/// Longest `sub` of a person of a provider, in bytes.
const MAX_SUBJECT_BYTES: usize = 1024;

/// What the person has agreed to, for the clients that are here.
pub(crate) async fn consents(
    realm: &Realm,
    given: &[Value],
    left_out: &mut Vec<String>,
) -> Result<Vec<(String, Consent)>, Problem> {
    let mut consents: Vec<(String, Consent)> = Vec::new();
    for (at, given) in given.iter().enumerate() {
        let mut leave = |why: &str| left_out.push(format!("consents[{at}]: {why}"));
        let given: ConsentImport = match read(given) {
            Ok(given) => given,
            Err(why) => {
                leave(why);
                continue;
            }
        };
        let Ok(scope) = ScopeSet::parse(&given.scope) else {
            leave("scope is no list of scopes");
            continue;
        };
        realm.learn(RecordKind::Client, &given.client_id).await?;
        let snapshot = realm.snapshot();
        let Some(client) = snapshot.registry.clients.get(&given.client_id) else {
            leave(&format!("there is no client {}", given.client_id));
            continue;
        };
        let consent = Consent {
            scope,
            claims: Vec::new(),
            // An agreement from before the client is one with another client of its id; this one
            // is said to be with the client that is here.
            granted_at: given
                .granted_at
                .unwrap_or_else(|| realm.now())
                .max(client.created_at),
        };
        if consents
            .iter()
            .all(|(client, _)| *client != given.client_id)
        {
            consents.push((given.client_id, consent));
        }
    }
    Ok(consents)
}
