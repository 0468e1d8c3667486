//! Identity providers as they are written: in the admin API and in the configuration; and their
//! client secrets at rest. A secret is written and never shown.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use signet_crypto::{
    Secret,
    seal::{Keyring, Purpose},
};
use signet_encoding::base64url;
use signet_oauth::people::provider::{
    AnswerBy, ClaimRow, GroupRow, Preset, Protocol, Provider, ProviderAuth,
};

const SECRET: Purpose = Purpose::Other("provider-secret");
/// The longest client secret of an identity provider, in bytes: one of Apple is a JWT
const MAX_SECRET: usize = 4096;

/// A client secret as it is stored in the record of the provider of this name.
pub fn seal_secret(keyring: &Keyring, name: &str, secret: &Secret<String>) -> Option<String> {
    let sealed = keyring.seal_with(SECRET, name.as_bytes(), secret.expose().as_bytes());
    Some(base64url::encode(&sealed.ok()?))
}

/// The client secret of a provider, where its record has one that opens.
pub fn open_secret(keyring: &Keyring, provider: &Provider) -> Option<Secret<String>> {
    let sealed = provider.sealed_secret.as_deref()?;
    let sealed = base64url::decode(sealed.as_bytes()).ok()?;
    let open = keyring.open_with(SECRET, provider.name.as_bytes(), &sealed);
    String::from_utf8(open.ok()?).ok().map(Secret::new)
}

/// A claim that becomes something of the account, at each login.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ProviderClaim")]
pub struct ClaimForm {
    /// The claim; a full stop leads into an object.
    pub claim: String,
    /// A member of the profile (`given_name`), else an attribute of the schema.
    pub to: String,
}

/// A value of a claim that puts a person into a group.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ProviderGroup")]
pub struct GroupForm {
    /// The claim, a text or a list of texts; a full stop leads into an object.
    pub claim: String,
    /// The value; `*`: every value is the name of a group.
    pub value: String,
    /// The group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// What of an identity provider can be written. What is left out is as the preset has it, or at its
/// default; what was shown can be written back.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "ProviderChange")]
pub struct ProviderForm {
    /// Read-only.
    pub name: Option<String>,
    /// Read-only.
    #[serde(rename = "revision")]
    _revision: Option<u64>,
    /// Read-only.
    #[serde(rename = "redirect_uri")]
    _redirect_uri: Option<String>,
    /// Read-only.
    #[serde(rename = "backchannel_logout_uri")]
    _backchannel_logout_uri: Option<String>,
    /// Read-only.
    #[serde(rename = "post_logout_redirect_uri")]
    _post_logout_redirect_uri: Option<String>,
    /// Read-only.
    #[serde(rename = "has_secret")]
    _has_secret: Option<bool>,
    /// Never shown. Left out: the one that is kept stays, while issuer and client are the same.
    pub client_secret: Option<String>,
    /// What buttons call it.
    label: Option<String>,
    /// Where the picture of its buttons is; this server fetches it, and shows it itself.
    logo_uri: Option<String>,
    /// `github`, `google`, `microsoft`, `gitlab` or `apple`
    preset: Option<String>,
    /// `openid` (the default), `oauth2`, `hook` or `ldap`; of the last two passwords are asked
    /// alone
    protocol: Option<String>,
    /// Its issuer identifier.
    issuer: Option<String>,
    /// Who this server is there; of `ldap` the name that it binds with.
    client_id: String,
    /// `client_secret_basic` (the default), `client_secret_post`, `private_key_jwt` or `none`
    token_endpoint_auth_method: Option<String>,
    /// What is asked for.
    scope: Option<String>,
    /// `query` (the default) or `form_post`
    response_mode: Option<String>,
    /// Instead of what discovery says.
    authorization_endpoint: Option<String>,
    /// Instead of what discovery says.
    token_endpoint: Option<String>,
    /// Instead of what discovery says.
    userinfo_endpoint: Option<String>,
    /// Where the person's addresses are, as GitHub lists them.
    emails_endpoint: Option<String>,
    /// The claim that names the person for ever; `sub` unless given.
    subject_claim: Option<String>,
    /// It is believed about addresses that it calls verified; false unless given.
    trust_email: bool,
    /// It is believed about how people logged in there; false unless given.
    trust_acr: bool,
    /// A person who is not known may get an account; true unless given.
    create: Option<bool>,
    /// It can be used; true unless given.
    enabled: Option<bool>,
    /// It has no button: hints and domains lead to it.
    hidden: bool,
    /// Who logs out here is logged out there, too; false unless given.
    logout: bool,
    /// The refresh tokens that it gives are kept, sealed; false unless given.
    keep_refresh_token: bool,
    /// Clients that may exchange a person's access token for one of the provider (RFC 8693); none
    /// unless given.
    exchange_clients: Vec<String>,
    /// Mail domains whose people log in there.
    domains: Vec<String>,
    /// It is asked for the password of who is not known here, and who is theirs gets an account;
    /// false unless given.
    migrate: bool,
    /// Of `ldap`: where its people are, a distinguished name.
    search_base: Option<String>,
    /// Of `ldap`: who is meant, a filter with `{login}` for what was typed.
    search_filter: Option<String>,
    /// What of its claims is taken over at each login.
    claims: Vec<ClaimForm>,
    /// Who is in which group by it.
    groups: Vec<GroupForm>,
}

fn named<T>(
    said: Option<&str>,
    default: T,
    read: fn(&str) -> Option<T>,
    fault: &'static str,
) -> Result<T, &'static str> {
    match said {
        None => Ok(default),
        Some(said) => read(said).ok_or(fault),
    }
}

impl ProviderForm {
    /// The record, without its secret, and the secret where one was given.
    ///
    /// # Errors
    /// Which member has a value that it cannot have.
    pub fn provider(
        self,
        name: String,
    ) -> Result<(Provider, Option<Secret<String>>), &'static str> {
        let preset = match self.preset.as_deref() {
            None => None,
            Some(said) => Some(
                Preset::from_name(said)
                    .ok_or("preset is github, google, microsoft, gitlab or apple")?,
            ),
        };
        let mut provider = match preset {
            None => Provider::new(name, ""),
            Some(preset) => Provider::of_preset(name, preset),
        };
        if let Some(issuer) = self.issuer {
            provider.issuer = issuer;
        }
        provider.protocol = named(
            self.protocol.as_deref(),
            provider.protocol,
            Protocol::from_name,
            "protocol is openid, oauth2, hook or ldap",
        )?;
        let secret = self.client_secret.map(Secret::new);
        if secret.as_ref().is_some_and(|secret| {
            let text = secret.expose();
            text.is_empty() || text.len() > MAX_SECRET || text.chars().any(char::is_control)
        }) {
            return Err("client_secret must be one line, not longer than 4096 bytes");
        }
        provider.auth = named(
            self.token_endpoint_auth_method.as_deref(),
            provider.auth,
            ProviderAuth::from_name,
            "token_endpoint_auth_method is client_secret_basic, client_secret_post, private_key_jwt or none",
        )?;
        provider.answer_by = named(
            self.response_mode.as_deref(),
            provider.answer_by,
            AnswerBy::from_name,
            "response_mode is query or form_post",
        )?;
        provider.client_id = self.client_id;
        provider.label = self.label;
        provider.logo_uri = self.logo_uri;
        provider.scope = self.scope.unwrap_or(provider.scope);
        let endpoints = [
            (
                &mut provider.authorization_endpoint,
                self.authorization_endpoint,
            ),
            (&mut provider.token_endpoint, self.token_endpoint),
            (&mut provider.userinfo_endpoint, self.userinfo_endpoint),
            (&mut provider.emails_endpoint, self.emails_endpoint),
        ];
        for (known, said) in endpoints {
            if said.is_some() {
                *known = said;
            }
        }
        provider.subject_claim = self.subject_claim.unwrap_or(provider.subject_claim);
        provider.trust_email = self.trust_email;
        provider.trust_acr = self.trust_acr;
        provider.create = self.create.unwrap_or(true);
        provider.enabled = self.enabled.unwrap_or(true);
        provider.hidden = self.hidden;
        provider.logout = self.logout;
        provider.keep_refresh_token = self.keep_refresh_token;
        provider.exchange_clients = self.exchange_clients;
        provider.domains = self.domains;
        provider.migrate = self.migrate;
        provider.search_base = self.search_base;
        provider.search_filter = self.search_filter;
        let claims = self.claims.into_iter();
        provider.claims = claims
            .map(|row| ClaimRow {
                claim: row.claim,
                to: row.to,
            })
            .collect();
        let groups = self.groups.into_iter();
        provider.groups = groups
            .map(|row| GroupRow {
                claim: row.claim,
                value: row.value,
                group: row.group,
            })
            .collect();
        Ok((provider, secret))
    }
}

/// A provider that the configuration declares: `members` under the names that they have in the
/// admin API, and held to the same rules. `seal` seals the secret; without it they are only
/// checked.
///
/// # Errors
/// What is wrong with it.
pub fn declared(
    name: &str,
    members: serde_json::Value,
    secret: Option<Secret<String>>,
    seal: Option<&Keyring>,
) -> Result<Provider, String> {
    let read = serde_json::from_value(members);
    let mut wanted: ProviderForm = read.map_err(|e| e.to_string())?;
    wanted.client_secret = secret.map(|secret| secret.expose().clone());
    let (mut provider, secret) = wanted.provider(name.to_owned())?;
    provider.sealed_secret = match (&secret, seal) {
        (None, _) => None,
        (Some(_), None) => Some(String::new()),
        (Some(secret), Some(keyring)) => seal_secret(keyring, name, secret),
    };
    provider.check()?;
    Ok(provider)
}
