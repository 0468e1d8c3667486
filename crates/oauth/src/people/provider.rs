//! Identity providers of others: what the registry says of each, and which of it can be.
//!
//! A provider is an OpenID Connect issuer, found by discovery, or an OAuth 2 server whose endpoints
//! the record names; or a server that is asked for passwords alone, until its people have moved.
//! Nothing here fetches anything.
use crate::issued::names::wire_names;
use crate::uri::Uri;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The longest name of an identity provider, in bytes.
pub const MAX_PROVIDER_NAME: usize = 32;
/// Most identity providers of a realm.
pub const MAX_PROVIDERS: usize = 100;
/// Most rows of one table of an identity provider: of claims, or of groups.
pub const MAX_PROVIDER_ROWS: usize = 64;
/// Most mail domains that lead to one identity provider.
pub const MAX_PROVIDER_DOMAINS: usize = 256;
/// Most identity providers that are asked for one password.
pub const MAX_MIGRATED_FROM: usize = 3;
/// What stands in [`Provider::search_filter`] for what was typed.
pub const LOGIN: &str = "{login}";
/// The longest text of a member of an identity provider's record, in bytes.
pub const MAX_PROVIDER_TEXT: usize = 512;

/// What a provider speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// OpenID Connect: endpoints by discovery, the person by a signed ID token.
    #[default]
    Openid,
    /// OAuth 2 alone: endpoints by the record, the person by what an API answers.
    Oauth2,
    /// A password is asked by a form that is posted, and the answer says who the person is.
    Hook,
    /// LDAP: a password is asked by a bind (RFC 4513 section 5.1.3).
    Ldap,
}
wire_names!(Protocol {
    Openid = "openid",
    Oauth2 = "oauth2",
    Hook = "hook",
    Ldap = "ldap",
});

impl Protocol {
    /// Whether people can be sent there. Of the others passwords are asked, and nothing else.
    pub fn leads_there(self) -> bool {
        match self {
            Protocol::Openid | Protocol::Oauth2 => true,
            Protocol::Hook | Protocol::Ldap => false,
        }
    }
}

/// How this server shows a provider who it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderAuth {
    /// RFC 6749 section 2.3.1, in the header.
    #[default]
    ClientSecretBasic,
    /// RFC 6749 section 2.3.1, in the form.
    ClientSecretPost,
    /// RFC 7523, signed with this server's own keys (`jwks_uri` of its metadata).
    PrivateKeyJwt,
    /// Not at all: a public client, held by PKCE alone.
    None,
}
wire_names!(ProviderAuth {
    ClientSecretBasic = "client_secret_basic",
    ClientSecretPost = "client_secret_post",
    PrivateKeyJwt = "private_key_jwt",
    None = "none",
});

/// How a provider's answer comes back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerBy {
    /// In the query of a redirect.
    #[default]
    Query,
    /// In a form that the browser posts.
    FormPost,
}
wire_names!(AnswerBy { Query = "query", FormPost = "form_post" });

/// What is known beforehand of a provider that many use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// GitHub: OAuth 2 with an API.
    Github,
    /// Google.
    Google,
    /// Microsoft Entra ID, one tenant.
    Microsoft,
    /// GitLab, by default gitlab.com.
    Gitlab,
    /// Sign in with Apple.
    Apple,
}
wire_names!(Preset {
    Github = "github",
    Google = "google",
    Microsoft = "microsoft",
    Gitlab = "gitlab",
    Apple = "apple",
});

/// A claim of the provider that becomes something of the account, at each login.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimRow {
    /// The claim; a full stop leads into an object.
    pub claim: String,
    /// A member of the profile (`given_name`), else an attribute of the schema.
    pub to: String,
}

/// A value of a claim that puts a person into a group, until they log in without it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupRow {
    /// The claim, a text or a list of texts; a full stop leads into an object.
    pub claim: String,
    /// The value. `*`: every value is the name of a group.
    pub value: String,
    /// The group; absent with `*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// An identity provider of the realm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provider {
    /// Names it in URLs and buttons; never changes.
    pub name: String,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Where the picture of its button is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logo_uri: Option<String>,
    /// What it was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// What it speaks.
    #[serde(default)]
    pub protocol: Protocol,
    /// Its issuer identifier; of an OAuth 2 provider what people's ids are remembered under.
    pub issuer: String,
    /// Who this server is there.
    pub client_id: String,
    /// How this server shows it.
    #[serde(default)]
    pub auth: ProviderAuth,
    /// The client's secret, sealed, base64url.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed_secret: Option<String>,
    /// What is asked for.
    pub scope: String,
    /// How answers come back.
    #[serde(default)]
    pub answer_by: AnswerBy,
    /// Instead of what discovery says; of an OAuth 2 provider all that there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorization_endpoint: Option<String>,
    /// As above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_endpoint: Option<String>,
    /// As above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub userinfo_endpoint: Option<String>,
    /// Where the person's addresses are, as GitHub lists them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emails_endpoint: Option<String>,
    /// The member of the user's document that names the person for ever.
    #[serde(default = "default_subject")]
    pub subject_claim: String,
    /// It is believed about addresses that it calls verified.
    #[serde(default)]
    pub trust_email: bool,
    /// It is believed about how people logged in there (`amr`, `acr`).
    #[serde(default)]
    pub trust_acr: bool,
    /// A person who is not known gets an account.
    #[serde(default = "yes")]
    pub create: bool,
    /// It can be used.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// It has no button: hints and domains lead to it.
    #[serde(default)]
    pub hidden: bool,
    /// Who logs out here is logged out there, too (OpenID Connect RP-Initiated Logout 1.0).
    #[serde(default)]
    pub logout: bool,
    /// The refresh tokens that it gives are kept, sealed.
    #[serde(default)]
    pub keep_refresh_token: bool,
    /// Clients that may exchange a person's access token for an access token of the provider.
    #[serde(default)]
    pub exchange_clients: Vec<String>,
    /// Mail domains whose people log in there.
    #[serde(default)]
    pub domains: Vec<String>,
    /// It is asked for the password of who is not known here, and who is theirs gets an account.
    #[serde(default)]
    pub migrate: bool,
    /// Of a directory: where its people are, a distinguished name (RFC 4514).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_base: Option<String>,
    /// Of a directory: who is meant, a filter (RFC 4515) with `{login}` for what was typed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_filter: Option<String>,
    /// What of its claims is taken over.
    #[serde(default)]
    pub claims: Vec<ClaimRow>,
    /// Who is in which group by it.
    #[serde(default)]
    pub groups: Vec<GroupRow>,
    /// Grows at every write.
    pub revision: u64,
}

fn default_subject() -> String {
    SUB.to_owned()
}

fn yes() -> bool {
    true
}

const SUB: &str = "sub";
/// What is wrong with a record, in words for whoever wrote it.
pub type Fault = &'static str;

/// Whether a provider may have this name: it is a segment of URLs and a part of buttons.
///
/// # Errors
/// What it must be.
pub fn check_name(name: &str) -> Result<(), Fault> {
    let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    let bytes = name.as_bytes();
    let ends = [bytes.first(), bytes.last()];
    (bytes.len() <= MAX_PROVIDER_NAME
        && bytes.iter().copied().all(fits)
        && ends.iter().all(|end| end.is_some_and(|b| *b != b'-')))
    .then_some(())
    .ok_or("a provider's name has 1 to 32 lower-case letters, digits and hyphens, none at its ends")
}

impl Provider {
    /// One with the defaults.
    pub fn new(name: impl Into<String>, issuer: impl Into<String>) -> Provider {
        Provider {
            name: name.into(),
            label: None,
            logo_uri: None,
            preset: None,
            protocol: Protocol::Openid,
            issuer: issuer.into(),
            client_id: String::new(),
            auth: ProviderAuth::default(),
            sealed_secret: None,
            scope: "openid email profile".to_owned(),
            answer_by: AnswerBy::Query,
            authorization_endpoint: None,
            token_endpoint: None,
            userinfo_endpoint: None,
            emails_endpoint: None,
            subject_claim: default_subject(),
            trust_email: false,
            trust_acr: false,
            create: true,
            enabled: true,
            hidden: false,
            logout: false,
            keep_refresh_token: false,
            exchange_clients: Vec::new(),
            domains: Vec::new(),
            migrate: false,
            search_base: None,
            search_filter: None,
            claims: Vec::new(),
            groups: Vec::new(),
            revision: 0,
        }
    }

    /// One as a preset has it. What the preset does not know (Microsoft's tenant) is left empty and
    /// must be said.
    pub fn of_preset(name: impl Into<String>, preset: Preset) -> Provider {
        let issuer = match preset {
            Preset::Github => "https://github.com/login/oauth",
            Preset::Google => "https://accounts.google.com",
            Preset::Microsoft => "",
            Preset::Gitlab => "https://gitlab.com",
            Preset::Apple => "https://appleid.apple.com",
        };
        let mut provider = Provider::new(name, issuer);
        provider.preset = Some(preset);
        match preset {
            Preset::Github => {
                let url = |text: &str| Some(text.to_owned());
                provider.protocol = Protocol::Oauth2;
                provider.scope = "read:user user:email".to_owned();
                provider.auth = ProviderAuth::ClientSecretPost;
                provider.authorization_endpoint = url("https://github.com/login/oauth/authorize");
                provider.token_endpoint = url("https://github.com/login/oauth/access_token");
                provider.userinfo_endpoint = url("https://api.github.com/user");
                provider.emails_endpoint = url("https://api.github.com/user/emails");
                provider.subject_claim = "id".to_owned();
            }
            Preset::Google | Preset::Microsoft | Preset::Gitlab => {}
            Preset::Apple => {
                // Sign in with Apple REST API: name and address come only in a posted form.
                provider.answer_by = AnswerBy::FormPost;
                provider.auth = ProviderAuth::ClientSecretPost;
                provider.scope = "openid email name".to_owned();
            }
        }
        provider
    }

    /// Whether people may be sent there now.
    pub fn leads_there(&self) -> bool {
        self.enabled && self.protocol.leads_there()
    }

    /// What a button calls it.
    pub fn shown(&self) -> &str {
        let known = match self.preset {
            Some(Preset::Github) => "GitHub",
            Some(Preset::Google) => "Google",
            Some(Preset::Microsoft) => "Microsoft",
            Some(Preset::Gitlab) => "GitLab",
            Some(Preset::Apple) => "Apple",
            None => &self.name,
        };
        self.label.as_deref().unwrap_or(known)
    }

    /// Where its answers come back, below an issuer of ours: one for each provider, so that an
    /// answer of one is never taken for another's (RFC 9700 section 4.4.2.2).
    pub fn redirect_uri(&self, issuer: &str) -> String {
        format!("{issuer}/providers/{}/callback", self.name)
    }

    /// Where it says that a person logged out there (OpenID Connect Back-Channel Logout 1.0).
    pub fn logout_uri(&self, issuer: &str) -> String {
        format!("{issuer}/providers/{}/backchannel-logout", self.name)
    }

    /// Where it sends people back to who logged out there because they did so here (OpenID Connect
    /// RP-Initiated Logout 1.0 section 3).
    pub fn logged_out_uri(&self, issuer: &str) -> String {
        format!("{issuer}/providers/{}/logged-out", self.name)
    }

    /// Whether the record can be one.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Result<(), Fault> {
        check_name(&self.name)?;
        let short = |text: &str| {
            !text.is_empty()
                && text.len() <= MAX_PROVIDER_TEXT
                && !text.chars().any(char::is_control)
        };
        if self.label.as_deref().is_some_and(|label| !short(label)) {
            return Err("label must be a short text");
        }
        if !short(&self.client_id)
            && (self.auth != ProviderAuth::None || self.protocol.leads_there())
        {
            return Err("client_id is missing, or too long");
        }
        let is_url = |text: &str| {
            // Whether plain http may be fetched is the outbound connection's to say.
            Uri::parse(text)
                .is_some_and(|uri| matches!(uri.scheme, "https" | "http") && uri.host.is_some())
        };
        if self.protocol == Protocol::Ldap {
            self.check_directory()?;
        } else if !is_url(&self.issuer) || self.issuer.contains('?') {
            return Err("issuer must be an absolute https URL without query and fragment");
        }
        if !self.protocol.leads_there() {
            self.check_asked_alone()?;
        } else if self.search_base.is_some() || self.search_filter.is_some() {
            return Err("search_base and search_filter are of protocol ldap");
        }
        if self.logo_uri.as_deref().is_some_and(|url| !is_url(url)) {
            return Err("logo_uri must be an absolute https URL without fragment");
        }
        let endpoints = [
            &self.authorization_endpoint,
            &self.token_endpoint,
            &self.userinfo_endpoint,
            &self.emails_endpoint,
        ];
        if endpoints.into_iter().flatten().any(|url| !is_url(url)) {
            return Err("an endpoint must be an absolute https URL without fragment");
        }
        if self.protocol == Protocol::Oauth2
            && (self.authorization_endpoint.is_none()
                || self.token_endpoint.is_none()
                || self.userinfo_endpoint.is_none())
        {
            return Err(
                "oauth2 needs authorization_endpoint, token_endpoint and userinfo_endpoint",
            );
        }
        if self.scope.len() > MAX_PROVIDER_TEXT
            || !self.scope.bytes().all(|b| (32..127).contains(&b))
        {
            return Err("scope must be words, separated by spaces");
        }
        if self.protocol == Protocol::Openid && !self.scope.split(' ').any(|word| word == "openid")
        {
            return Err("scope must have openid");
        }
        if !short(&self.subject_claim) {
            return Err("subject_claim must be the name of a member");
        }
        let secret = matches!(
            self.auth,
            ProviderAuth::ClientSecretBasic | ProviderAuth::ClientSecretPost
        );
        if secret && self.sealed_secret.is_none() {
            return Err("this authentication method needs the client secret");
        }
        // Of a client that shows nothing a refresh token is worth as much to whoever finds it.
        if self.keep_refresh_token && self.auth == ProviderAuth::None {
            return Err("keep_refresh_token needs a client that authenticates at the provider");
        }
        let clients = &self.exchange_clients;
        if !clients.is_empty() && !self.keep_refresh_token {
            return Err("exchange_clients needs keep_refresh_token");
        }
        if clients.len() > MAX_PROVIDER_ROWS || !clients.iter().all(|client| short(client)) {
            return Err("exchange_clients are at most 64 client ids");
        }
        if self.domains.len() > MAX_PROVIDER_DOMAINS || !self.domains.iter().all(|d| is_domain(d)) {
            return Err("domains are at most 256 domain names in lower case");
        }
        if self.claims.len() > MAX_PROVIDER_ROWS || self.groups.len() > MAX_PROVIDER_ROWS {
            return Err("a table has at most 64 rows");
        }
        if !self
            .claims
            .iter()
            .all(|row| short(&row.claim) && short(&row.to))
        {
            return Err("a row of claims is {\"claim\": NAME, \"to\": MEMBER OR ATTRIBUTE}");
        }
        let group = |row: &GroupRow| {
            short(&row.claim)
                && short(&row.value)
                && match (&*row.value, &row.group) {
                    ("*", None) => true,
                    ("*", Some(_)) | (_, None) => false,
                    (_, Some(group)) => crate::people::check_group_name(group).is_ok(),
                }
        };
        if !self.groups.iter().all(group) {
            return Err(
                "a row of groups is {\"claim\": NAME, \"value\": VALUE, \"group\": GROUP}, or value \"*\" without a group",
            );
        }
        Ok(())
    }
}

impl Provider {
    /// What an LDAP server needs.
    fn check_directory(&self) -> Result<(), Fault> {
        let uri = Uri::parse(&self.issuer).filter(|uri| {
            matches!(uri.scheme, "ldaps" | "ldap")
                && uri.host.is_some_and(|host| !host.is_empty())
                && matches!(uri.rest, "" | "/")
        });
        if uri.is_none() {
            return Err("issuer must be ldaps://HOST[:PORT], or ldap://HOST[:PORT] for STARTTLS");
        }
        let fits = |text: &Option<String>| {
            text.as_deref().is_some_and(|text| {
                !text.is_empty()
                    && text.len() <= MAX_PROVIDER_TEXT
                    && !text.chars().any(char::is_control)
            })
        };
        if !fits(&self.search_base) {
            return Err("ldap needs search_base, a distinguished name");
        }
        let named = self.search_filter.as_deref().unwrap_or_default();
        if !fits(&self.search_filter) || !named.contains(LOGIN) {
            return Err("ldap needs search_filter, a filter with {login} for what was typed");
        }
        if !matches!(
            self.auth,
            ProviderAuth::ClientSecretBasic | ProviderAuth::None
        ) {
            return Err(
                "ldap binds with client_id and client_secret, or, with token_endpoint_auth_method none, searches as nobody",
            );
        }
        Ok(())
    }

    /// What a server cannot have that people are not sent to.
    fn check_asked_alone(&self) -> Result<(), Fault> {
        if !self.migrate {
            return Err("protocol hook and ldap need migrate: people cannot be sent there");
        }
        let leads = self.authorization_endpoint.is_some()
            || self.token_endpoint.is_some()
            || self.userinfo_endpoint.is_some()
            || self.emails_endpoint.is_some()
            || self.preset.is_some()
            || self.logout
            || self.keep_refresh_token
            || self.trust_acr
            || !self.domains.is_empty();
        if leads {
            return Err(
                "protocol hook and ldap have no endpoints, preset, logout, keep_refresh_token, trust_acr and domains: people are not sent there",
            );
        }
        if self.protocol == Protocol::Hook
            && (self.search_base.is_some() || self.search_filter.is_some())
        {
            return Err("search_base and search_filter are of protocol ldap");
        }
        Ok(())
    }
}

fn is_domain(text: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    text.len() <= 253 && text.contains('.') && text.split('.').all(label)
}

/// Providers of one moment, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Providers(BTreeMap<String, Arc<Provider>>);

impl Providers {
    /// Puts a provider in the place of the one with its name.
    pub fn put(&mut self, provider: Arc<Provider>) {
        self.0.insert(provider.name.clone(), provider);
    }

    /// Takes a provider out.
    pub fn forget(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// The provider of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<Provider>> {
        self.0.get(name)
    }

    /// The provider of this name, where people may be sent there.
    pub fn usable(&self, name: &str) -> Option<&Arc<Provider>> {
        self.get(name).filter(|provider| provider.leads_there())
    }

    /// Those that are asked for the passwords of people who are not known, at most
    /// [`MAX_MIGRATED_FROM`], in the order of their names.
    pub fn asked_for_passwords(&self) -> impl Iterator<Item = &Arc<Provider>> {
        let asked = self.iter();
        let asked = asked.filter(|provider| provider.enabled && provider.migrate);
        asked.take(MAX_MIGRATED_FROM)
    }

    /// All, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Provider>> {
        self.0.values()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has no providers.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The provider that an address's domain leads to. Of several the first by name.
    pub fn of_address(&self, typed: &str) -> Option<&Arc<Provider>> {
        let (_, domain) = typed.trim().rsplit_once('@')?;
        let domain = domain.to_ascii_lowercase();
        let mut usable = self.iter().filter(|provider| provider.leads_there());
        usable.find(|provider| provider.domains.contains(&domain))
    }
}

#[cfg(test)]
mod tests;
