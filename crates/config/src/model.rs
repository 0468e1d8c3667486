//! The configuration as types. Field documentation is the operator's manual: the JSON Schema
//! (`signet config schema`) and the names that a misspelt key is compared with come from here.

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use signet_oauth::settings::{RegistrationSettings, Settings};
use signet_registry::rules::RuleForm;

use super::{duration::Duration, passkeys::Passkeys, secret::SecretRef};

mod entries;
mod passwords;
mod sign_up;
mod telemetry;

pub use entries::{Attribute, Client, Group, Provider, Realm, Resource, Role, Scope, StepUp, User};
pub use passwords::Passwords;
pub use sign_up::SignUp;
pub use telemetry::{Telemetry, TraceParents};

/// The whole file.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The issuer identifier: https, no query, no fragment, no trailing slash. Clients compare it
    /// byte for byte.
    pub issuer: String,
    /// Directory of the sealing key and, with the embedded store, of the database. Mode 0700 is
    /// wise. A relative path starts at this file's directory.
    #[serde(default = "default_data_dir")]
    pub data_dir: PathBuf,
    /// Where the server listens. At least one `https` or `http` listener.
    pub listeners: Vec<Listener>,
    /// The certificate of `https` and `mtls` listeners.
    pub tls: Option<Tls>,
    /// The reverse proxy in front of `http` listeners.
    pub proxy: Option<Proxy>,
    /// Where state is kept.
    #[serde(default)]
    pub store: Store,
    /// How mail leaves. Without it, one-time codes and recovery are not offered.
    pub mail: Option<Mail>,
    /// How pages and mails look.
    #[serde(default)]
    pub brand: super::brand::Brand,
    /// Signing keys and algorithms.
    #[serde(default)]
    pub keys: Keys,
    /// How long things live.
    #[serde(default)]
    pub lifetimes: Lifetimes,
    /// Protocol rules that a deployment may choose.
    #[serde(default)]
    pub protocol: Protocol,
    /// Dynamic client registration (RFC 7591).
    #[serde(default)]
    pub registration: Registration,
    /// Chains of agents' grants.
    #[serde(default)]
    pub agents: Agents,
    /// Passkeys (WebAuthn).
    #[serde(default)]
    pub passkeys: Passkeys,
    /// Accounts that people make for themselves (docs/accounts.md).
    #[serde(default)]
    pub sign_up: SignUp,
    /// What this node is called in answers that tell nodes apart, and among the nodes of a cluster
    /// (there: 1 to 32 of a-z, 0-9 and -, a letter first). Default: the host's name.
    pub node: Option<String>,
    /// Several nodes as one installation. Without it, no other node can join.
    pub cluster: Option<Cluster>,
    /// Fetches that the server makes itself (a client's `jwks_uri`).
    #[serde(default)]
    pub outbound: Outbound,
    /// Bounds on load.
    #[serde(default)]
    pub limits: Limits,
    /// How often somebody may guess. Failures count, successes never.
    #[serde(default, alias = "guessing")]
    pub login_limits: LoginLimits,
    /// What new passwords must be.
    #[serde(default)]
    pub passwords: Passwords,
    /// What is logged, and how.
    #[serde(default)]
    pub log: Log,
    /// The audit trail: every decision, in a log that nobody can rewrite unseen.
    #[serde(default)]
    pub audit: Audit,
    /// What is asked of administrators (docs/administrators.md).
    #[serde(default)]
    pub administration: Administration,
    /// Figures for monitoring.
    #[serde(default)]
    pub metrics: Metrics,
    /// Traces, metrics and log lines for an OpenTelemetry collector.
    #[serde(default)]
    pub telemetry: Telemetry,
    /// Clients that this file owns. They win over clients of the same id in the store, and the
    /// admin API cannot change them.
    #[serde(default)]
    pub clients: Vec<Client>,
    /// Users created at startup if missing. Existing users are never modified.
    #[serde(default)]
    pub users: Vec<User>,
    /// Resource servers (RFC 8707) that this file owns.
    #[serde(default)]
    pub resources: Vec<Resource>,
    /// Scopes besides openid, profile, email, address, phone, groups and offline_access.
    #[serde(default)]
    pub scopes: Vec<Scope>,
    /// Attributes of people that this file owns (docs/claims.md).
    #[serde(default)]
    pub attributes: Vec<Attribute>,
    /// Roles that this file owns.
    #[serde(default)]
    pub roles: Vec<Role>,
    /// Classes that some logins have to reach, by groups, scopes and clients (docs/login.md).
    #[serde(default)]
    pub step_up: Vec<StepUp>,
    /// Groups that this file owns. Who is in them is the admin API's.
    #[serde(default)]
    pub groups: Vec<Group>,
    /// Who may get tokens where no access rule decides (docs/access-rules.md).
    #[serde(default)]
    pub access: Access,
    /// Access rules that this file owns.
    #[serde(default)]
    pub rules: Vec<RuleForm>,
    /// Identity providers of others that this file owns. They win over those of the same name in
    /// the store, and the admin API cannot change them.
    #[serde(default)]
    pub providers: Vec<Provider>,
    /// Realms beside the first, that this file owns (docs/realms.md). Their people, clients and
    /// keys are in the store, and stay there when a realm is taken out of this file.
    #[serde(default)]
    pub realms: Vec<Realm>,
}

/// Access rules: what holds where none decides.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Access {
    /// "allow": whatever no rule denies is allowed. "deny": whatever no rule allows is denied.
    pub default: AccessMode,
}

/// What is asked of administrators.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Administration {
    /// "optional": a reason that is given is recorded. "dangerous": what ends something for good,
    /// or reveals what people log in with, needs one. "required": whatever changes something does.
    pub reason: ReasonWanted,
}

/// Which acts of administration need a reason.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasonWanted {
    /// None.
    #[default]
    Optional,
    /// What ends something for good, or reveals what people log in with.
    Dangerous,
    /// Whatever changes something.
    Required,
}

/// What holds where no access rule decides.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AccessMode {
    /// Whatever no rule denies is allowed.
    #[default]
    Allow,
    /// Whatever no rule allows is denied.
    Deny,
}

fn default_data_dir() -> PathBuf {
    "/var/lib/signet".into()
}

/// One listening socket.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Listener {
    /// Address and port, e.g. "0.0.0.0:443" or "[::]:443"; or "fd:0", the first socket that systemd
    /// hands over.
    pub address: ListenAddress,
    /// What is spoken there.
    #[serde(default)]
    pub protocol: ListenProtocol,
    /// Base URL under which clients reach an `mtls` listener, e.g. "https://mtls.id.example.com".
    /// Goes into `mtls_endpoint_aliases` (RFC 8705 section 5).
    pub public_url: Option<String>,
}

/// An address, or a socket that the service manager opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    /// Bound by the server.
    Socket(SocketAddr),
    /// Inherited: index among LISTEN_FDS.
    Inherited(usize),
}

impl<'de> Deserialize<'de> for ListenAddress {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let parsed = match text.strip_prefix("fd:") {
            Some(index) => index.parse().ok().map(ListenAddress::Inherited),
            None => text.parse().ok().map(ListenAddress::Socket),
        };
        parsed.ok_or_else(|| {
            serde::de::Error::custom(
                "expected an address and a port such as \"127.0.0.1:8443\" or \"[::]:443\", or \"fd:0\"",
            )
        })
    }
}

impl Serialize for ListenAddress {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            ListenAddress::Socket(address) => serializer.collect_str(address),
            ListenAddress::Inherited(index) => serializer.collect_str(&format_args!("fd:{index}")),
        }
    }
}

impl JsonSchema for ListenAddress {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ListenAddress".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "IP address and port (\"127.0.0.1:8443\", \"[::]:443\"), or \"fd:N\" for the Nth inherited socket.",
            "type": "string"
        })
    }
}

/// What a listener speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ListenProtocol {
    /// TLS, no client certificates.
    #[default]
    Https,
    /// TLS that asks for a client certificate (RFC 8705). Browsers are never sent here.
    Mtls,
    /// Plain HTTP, for a reverse proxy that ends TLS. Loopback, or with `[proxy]`.
    Http,
}

/// A certificate chain and its key, PEM.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// PEM file, leaf first. Read again on SIGHUP.
    pub certificate: PathBuf,
    /// PEM file of the private key (PKCS#8, SEC1 or PKCS#1). Read again on SIGHUP.
    pub key: PathBuf,
    /// PEM file of the authorities whose client certificates `mtls` listeners accept for
    /// `tls_client_auth`. Self-signed client certificates are compared with the client's registered
    /// keys instead.
    pub client_ca: Option<PathBuf>,
    /// Speak TLS 1.2 too, for old clients.
    #[serde(default)]
    pub tls12: bool,
}

/// A node of several.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// Address and port of the listener that only nodes speak to, e.g. "0.0.0.0:7443". TLS 1.3 with
    /// keys of its own; no certificate is needed.
    pub listen: SocketAddr,
    /// Where the other nodes find it: host names or addresses, each with a port. Default: `listen`,
    /// where that is not an address of all interfaces.
    #[serde(default)]
    pub advertise: Vec<String>,
    /// The https URL under which this node alone answers everything that the issuer answers.
    /// Default: the issuer.
    pub url: Option<String>,
    /// Where it stands: a data centre, say. Voters of a replicated store are spread over zones.
    pub zone: Option<String>,
    /// Who is connected to whom.
    #[serde(default)]
    pub topology: Topology,
    /// With `topology = "hubs"`: whether this node is one.
    #[serde(default)]
    pub hub: bool,
    /// Names, each with a port, under which nodes are looked for besides those that are known: a
    /// name may have several addresses and is resolved again each time (headless services).
    #[serde(default)]
    pub peers: Vec<String>,
    /// After how long without word from a majority of the nodes (over a database: and without its
    /// change log) tokens are not called active here, but `temporarily_unavailable`: what was
    /// revoked meanwhile could not be heard. Default: never.
    pub staleness: Option<Duration>,
}

/// Who is connected to whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Topology {
    /// Every node to every other.
    #[default]
    Mesh,
    /// Hubs to each other, every other node to all hubs.
    Hubs,
}

/// A reverse proxy that may speak for clients.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Proxy {
    /// Addresses whose forwarding and certificate headers count.
    pub trusted: Vec<IpAddr>,
    /// File with a secret, at least 32 characters in one word, that the proxy puts into
    /// `secret_header` of each request. Without it, every program at those addresses is a proxy.
    pub secret_file: Option<PathBuf>,
    /// The header with that secret.
    #[serde(default = "default_secret_header")]
    pub secret_header: String,
    /// The one header in which the proxy names the client.
    #[serde(default)]
    pub forwarded_header: ForwardedHeader,
    /// Header in which the proxy puts the client's certificate (RFC 9440 `Client-Cert`, or
    /// URL-encoded PEM). Without `secret_file` it counts at `http` listeners alone.
    pub client_certificate_header: Option<String>,
    /// Base URL of the proxy's mTLS listener, e.g.
    /// "https://mtls.id.example.com". Goes into `mtls_endpoint_aliases` (RFC 8705 section 5), so
    /// that no browser is asked for one. Default: the issuer's own endpoints take them.
    pub client_certificate_url: Option<String>,
    /// Does the proxy check the certificate's chain before it passes it on? Only then does
    /// `tls_client_auth` work behind it.
    #[serde(default)]
    pub verifies_client_certificates: bool,
}

fn default_secret_header() -> String {
    "x-proxy-secret".to_owned()
}

/// How a proxy names the client. One only: a proxy that sets the one passes on what a client wrote
/// in the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ForwardedHeader {
    /// `X-Forwarded-For`.
    #[default]
    XForwardedFor,
    /// `Forwarded` (RFC 7239).
    Forwarded,
}

/// Which engine keeps state.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Store {
    /// Engine; `sqlite` is the embedded one.
    pub engine: StoreEngine,
    /// Where the database of `postgres` is:
    /// `postgres://USER@HOST:PORT,HOST2:PORT2/DATABASE?sslrootcert=FILE&sslcert=FILE&sslkey=FILE`,
    /// never with a password. TLS is used, and checked, for every host that is not this machine. A
    /// relative file starts at the configuration file's directory.
    pub url: Option<String>,
    /// Where the database's password is. Without: `PGPASSWORD`, or a password file (`PGPASSFILE`,
    /// `~/.pgpass`, `passfile` in the URL).
    pub password: Option<SecretRef>,
    /// Directory of the database, on a local disk; a relative path starts at `data_dir`. Default:
    /// `data_dir`.
    pub directory: Option<PathBuf>,
    /// Bytes of a file beside the database that is given up when the disk is full, so that
    /// revocations and logouts are still done; 0: none, else 1048576 to 1073741824. Default:
    /// 16777216.
    pub reserve_bytes: u64,
}

impl Default for Store {
    fn default() -> Self {
        Store {
            engine: StoreEngine::default(),
            url: None,
            password: None,
            directory: None,
            reserve_bytes: signet_store::sqlite::DEFAULT_RESERVE,
        }
    }
}

/// Store engines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StoreEngine {
    /// SQLite in WAL mode, one writer that commits in groups.
    #[default]
    Sqlite,
    /// A server that speaks PostgreSQL's protocol, which any number of nodes share.
    Postgres,
}

/// Outgoing mail.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mail {
    /// Sender, e.g. "Example Login <login@example.com>".
    pub from: String,
    /// SMTP server.
    pub smtp: Option<Smtp>,
    /// Write each message as one .eml file into this directory instead of sending it.
    pub directory: Option<PathBuf>,
}

/// An SMTP server.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Smtp {
    /// Host name, compared with its certificate.
    pub host: String,
    /// Port. Default: 465 for `tls`, 587 for `starttls`, 25 for `plain`.
    pub port: Option<u16>,
    /// How the connection is protected.
    #[serde(default)]
    pub security: SmtpSecurity,
    /// User name, where the server asks for one.
    pub username: Option<String>,
    /// Password of `username`.
    pub password: Option<SecretRef>,
    /// PEM file of a further authority that the server's certificate may come from.
    pub trust: Option<PathBuf>,
}

/// Protection of an SMTP connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SmtpSecurity {
    /// TLS from the first byte.
    #[default]
    Tls,
    /// STARTTLS, required.
    Starttls,
    /// None: only to a relay on this machine.
    Plain,
}

/// Signing keys.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Keys {
    /// Algorithms the server signs with; a key of each is made and published. Leave ML-DSA out
    /// where clients use a library that refuses a whole key set for one key type (AKP) that it does
    /// not know.
    pub algorithms: Vec<String>,
    /// Access tokens, unless the client or resource says otherwise.
    pub access_token: String,
    /// ID tokens, unless the client says otherwise.
    pub id_token: String,
    /// Compact access tokens. With `hmac-sha256` only this server can check them: resource servers
    /// introspect.
    pub compact: CompactAlgorithm,
    /// Age at which a key is replaced.
    pub rotate_after: Duration,
    /// How long a new key is published before it signs: longer than clients cache the JWKS.
    pub publish_ahead: Duration,
}

impl Config {
    /// Where the embedded database is.
    pub fn store_directory(&self) -> PathBuf {
        match &self.store.directory {
            Some(directory) => self.data_dir.join(directory),
            None => self.data_dir.clone(),
        }
    }
}

impl Default for Keys {
    fn default() -> Self {
        let life = signet_registry::keys::Policy::default();
        Keys {
            algorithms: [
                "ES256",
                "RS256",
                "PS256",
                "EdDSA",
                "ES384",
                "ES512",
                "ML-DSA-44",
                "ML-DSA-65",
                "ML-DSA-87",
            ]
            .map(String::from)
            .to_vec(),
            access_token: "ES256".into(),
            id_token: "ES256".into(),
            compact: CompactAlgorithm::default(),
            rotate_after: Duration(life.period),
            publish_ahead: Duration(life.publish_ahead),
        }
    }
}

/// What compact access tokens are signed with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum CompactAlgorithm {
    /// HMAC-SHA256, the smallest and fastest; its key is published nowhere.
    #[serde(rename = "hmac-sha256")]
    HmacSha256,
    /// Ed25519 (RFC 8032).
    #[default]
    #[serde(rename = "ed25519")]
    Ed25519,
    /// ML-DSA-44 (FIPS 204), against quantum computers.
    #[serde(rename = "ml-dsa-44")]
    MlDsa44,
}

/// How access tokens are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AccessTokenFormat {
    /// RFC 9068.
    Jwt,
    /// Binary and smaller than a JWT; for one audience.
    Compact,
}

impl From<AccessTokenFormat> for signet_oauth::issued::format::AccessTokenFormat {
    fn from(format: AccessTokenFormat) -> Self {
        match format {
            AccessTokenFormat::Jwt => Self::Jwt,
            AccessTokenFormat::Compact => Self::Compact,
        }
    }
}

/// Lifetimes. All can be changed by a reload; what was issued keeps its own end.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Lifetimes {
    /// Authorization codes.
    pub code: Duration,
    /// Access tokens.
    pub access_token: Duration,
    /// ID tokens.
    pub id_token: Duration,
    /// A refresh token family, from login.
    pub refresh_token: Duration,
    /// A refresh token that is not used.
    pub refresh_idle: Duration,
    /// Pushed authorization requests (RFC 9126).
    pub pushed_request: Duration,
    /// Device codes (RFC 8628).
    pub device_code: Duration,
    /// A login or consent page that waits for its answer.
    pub interaction: Duration,
    /// A login session that is not used.
    pub session_idle: Duration,
    /// A login session, from login.
    pub session: Duration,
    /// One-time codes sent by mail.
    pub one_time_code: Duration,
    /// An invitation that an administrator sends.
    pub invitation: Duration,
    /// The time in which the deletion of an account can be undone.
    pub deletion_grace: Duration,
    /// The groups that an identity provider named at somebody's login there count for so long.
    pub provider_groups: Duration,
}

impl Default for Lifetimes {
    fn default() -> Self {
        let rules = Settings::new("");
        Lifetimes {
            code: Duration(rules.code_lifetime),
            access_token: Duration(rules.access_token_lifetime),
            id_token: Duration(rules.id_token_lifetime),
            refresh_token: Duration(rules.refresh_token_lifetime),
            refresh_idle: Duration(rules.refresh_idle_lifetime),
            pushed_request: Duration(rules.par_lifetime),
            device_code: Duration(rules.device_code_lifetime),
            interaction: Duration(rules.interaction_lifetime),
            session_idle: Duration(rules.session_idle_lifetime),
            session: Duration(rules.session_absolute_lifetime),
            one_time_code: Duration(rules.otp_lifetime),
            invitation: Duration(rules.invitation_lifetime),
            deletion_grace: Duration(rules.deletion_grace),
            provider_groups: Duration(rules.provider_groups_lifetime),
        }
    }
}

/// Protocol choices.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Protocol {
    /// Audience of access tokens where no resource was asked for. Default: the issuer.
    pub default_audience: Option<String>,
    /// The authentication context class that every login has to reach, e.g.
    /// "urn:signet:acr:two-factors" (docs/login.md). Whoever has nothing that reaches it sets up a
    /// second factor when they log in.
    pub required_acr: Option<String>,
    /// Refuse authorization requests that were not pushed (RFC 9126 section 5).
    pub require_pushed_authorization_requests: bool,
    /// People may log in here; false: at identity providers alone (docs/identity-providers.md).
    pub local_login: bool,
    /// People may have their accounts deleted, on the account page (docs/accounts.md).
    pub self_deletion: bool,
    /// Answer DPoP proofs without a server nonce with `use_dpop_nonce` (RFC 9449 section 8).
    pub require_dpop_nonce: bool,
    /// Oldest `iat` of a DPoP proof that is accepted.
    pub dpop_proof_max_age: Duration,
    /// Seconds between polls of a device.
    pub device_poll_interval: Duration,
    /// Time in which a sender-constrained client's retry of one refresh is answered again; 0:
    /// never.
    pub refresh_retry_window: Duration,
    /// How far a client's clock may be ahead.
    pub clock_leeway: Duration,
}

impl Default for Protocol {
    fn default() -> Self {
        let rules = Settings::new("");
        Protocol {
            default_audience: None,
            required_acr: None,
            require_pushed_authorization_requests: rules.require_pushed_authorization_requests,
            local_login: rules.local_login,
            self_deletion: rules.self_deletion,
            require_dpop_nonce: rules.dpop_nonce_required,
            dpop_proof_max_age: Duration(rules.dpop_proof_max_age),
            device_poll_interval: Duration(rules.device_poll_interval),
            refresh_retry_window: Duration(rules.refresh_retry_window),
            clock_leeway: Duration(rules.clock_leeway),
        }
    }
}

/// Dynamic client registration.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Registration {
    /// Is `/register` there at all?
    pub enabled: bool,
    /// May anybody register, without an initial access token?
    pub open: bool,
    /// Do registered clients need PKCE? False makes a plain OpenID Connect Basic deployment
    /// possible.
    pub require_pkce: bool,
    /// Scopes that a registered client may ask for where it names none.
    pub default_scope: Vec<String>,
    /// Grant types that a registered client may ask for.
    pub grant_types: Vec<String>,
    /// May a registered client ask for signatures with ML-DSA? Its keys then stand in everybody's
    /// key set.
    pub ml_dsa: bool,
    /// May the assertions of a registered client name the token endpoint as their audience (OpenID
    /// Connect Core section 9), not the issuer alone? Never where it pushes its requests or binds
    /// its tokens.
    pub token_endpoint_assertion_audience: bool,
}

impl Default for Registration {
    fn default() -> Self {
        Registration {
            enabled: false,
            open: false,
            require_pkce: true,
            default_scope: RegistrationSettings::default()
                .default_scope
                .iter()
                .map(String::from)
                .collect(),
            grant_types: RegistrationSettings::default().grant_types,
            ml_dsa: false,
            token_endpoint_assertion_audience: false,
        }
    }
}

/// Chains of agents' grants: whether they are exchanged for tokens, and whose.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Agents {
    /// May people bind identities to their accounts, and clients with `may_exchange_agent_grants`
    /// exchange the chains that begin there?
    pub enabled: bool,
    /// The identities (`agent:...`) that chains may begin at. Default: every one that a person
    /// bound.
    pub roots: Vec<String>,
    /// Custom constraints (`x-NAME`) that are fulfilled here, each with its value. A grant with
    /// another one is refused.
    pub constraints: BTreeMap<String, String>,
}

/// The server as a client.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Outbound {
    /// PEM file of further authorities that outbound connections believe.
    pub trust: Option<PathBuf>,
    /// May outbound fetches reach private and loopback addresses? Only where every client is
    /// trusted.
    pub allow_private_addresses: bool,
    /// May they reach this machine's loopback addresses (and speak plain http there)? For
    /// development.
    pub allow_loopback: bool,
}

/// Bounds.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Open connections, of all listeners together.
    pub connections: u64,
    /// Open connections of one address (one /64 of IPv6); 0: no bound. Loopback and trusted proxies
    /// are not counted.
    pub connections_per_address: u32,
    /// Time for a TLS handshake.
    pub handshake_timeout: Duration,
    /// Time for a request's head; also how long an idle connection is kept.
    pub head_timeout: Duration,
    /// Time for a request's body.
    pub body_timeout: Duration,
    /// Largest request body, in bytes.
    pub body_bytes: usize,
    /// Requests in flight get this long at a stop.
    pub shutdown_grace: Duration,
    /// Worker threads of the server. Default: one per processor.
    pub threads: Option<usize>,
    /// Threads that hash passwords (19 MiB each while they do). Default: half of the processors.
    pub password_threads: Option<usize>,
    /// Logins that may wait for such a thread; beyond that the answer is 503 with Retry-After.
    /// Browsers that the account's owner has logged in from have a quarter as many places of their
    /// own beside these.
    pub password_queue: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let server = signet_http::Limits::default();
        Limits {
            connections: server.connections,
            connections_per_address: server.connections_per_address,
            handshake_timeout: Duration(server.handshake.as_secs()),
            head_timeout: Duration(server.head.as_secs()),
            body_timeout: Duration(server.body.as_secs()),
            body_bytes: server.body_bytes,
            shutdown_grace: Duration(server.grace.as_secs()),
            threads: None,
            password_threads: None,
            password_queue: signet_directory::passwords::PasswordOptions::default().queue,
        }
    }
}

/// Limits of guessing: passwords, one-time codes, client secrets, user codes of devices. Beyond
/// them the answer is 429 with Retry-After. A browser in which a person has logged in before has a
/// count of its own, so others lock nobody out.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LoginLimits {
    /// Time after which failures are forgotten, counted from the first.
    pub window: Duration,
    /// Failures for one account, from browsers that never logged in to it.
    pub per_account: u32,
    /// Failures for one account, from one browser that did.
    pub per_device: u32,
    /// Failures from one address (one /64 of IPv6); a /56 has twice as many, a /48 four times.
    pub per_address: u32,
    /// Wrong one-time codes for one account in a day.
    pub codes_per_day: u32,
    /// Messages that may be asked for in a window, for one account by one network or known browser;
    /// by all networks together five times as many.
    pub mails: u32,
}

impl Default for LoginLimits {
    fn default() -> Self {
        let limits = signet_realm::attempts::Limits::default();
        LoginLimits {
            window: Duration(limits.window),
            per_account: limits.account,
            per_device: limits.device,
            per_address: limits.address,
            codes_per_day: limits.codes_per_day,
            mails: limits.mails,
        }
    }
}

/// Logs go to standard error.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    /// A level ("info"), or directives as in RUST_LOG ("info,signet_server=debug"). RUST_LOG wins.
    /// Default: info.
    pub level: Option<String>,
    /// Which requests get a line (route, status, time, address, client; never a query string or a
    /// token): only those that were refused or failed, or all. "all" costs about as much as a small
    /// answer.
    pub requests: LogRequests,
    /// Default: text on a terminal, JSON otherwise.
    pub format: Option<LogFormat>,
    /// Most lines a second of one place in the program, 1 to 100000; one line says how many are
    /// left out. Lines below level info are not bounded.
    pub per_second: u32,
}

impl Default for Log {
    fn default() -> Self {
        Log {
            level: None,
            requests: LogRequests::default(),
            format: None,
            per_second: 50,
        }
    }
}

/// Which requests get a line in the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogRequests {
    /// Those that were answered with an error (4xx at level info, 5xx at level warn).
    #[default]
    Refused,
    /// All.
    All,
}

/// The audit trail (`signet audit`): who was allowed what, in a log of signed receipts.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Audit {
    /// Keep one. Without it nothing of what the server decided can be proved later.
    pub enabled: bool,
    /// This node's name: 1 to 32 of a-z, 0-9 and -, beginning with a letter. It is in the names of
    /// its segments and in its identity, and stays what it was at the first start. Default:
    /// "node-1".
    pub node: Option<String>,
    /// Directory of the log, on a local disk; a relative path starts at `data_dir`.
    pub directory: PathBuf,
    /// A segment of this many bytes is closed, 65536 to 268435456. Closed segments are compressed.
    pub segment_bytes: u64,
    /// A segment whose first record is this old is closed by the next record, 1m to 366d.
    pub segment_age: Duration,
    /// Where closed segments are handed to; a relative path starts at `data_dir`. It is not made:
    /// one that is not mounted must not be filled in its place. Without `keep_for` and `keep_bytes`
    /// they leave as soon as they are closed.
    pub archive_directory: Option<PathBuf>,
    /// How long closed segments stay in `directory`, 1m and more. Then they go to the archive or,
    /// without one, are removed. Default: they stay.
    pub keep_for: Option<Duration>,
    /// Most bytes of all segments in `directory`, 131072 and more; the oldest closed ones leave
    /// beyond it. Default: no bound.
    pub keep_bytes: Option<u64>,
    /// How many milliseconds a decision waits for others to share a signature and a flush with, 10
    /// to 10000: about as much is lost on a crash. Lines of state changes wait for nothing: they
    /// commit with their change.
    pub interval_ms: u64,
    /// Most lines a second of refusals of a new kind, 1 to 10000. Refusals that say the same are
    /// counted, a line a minute; beyond this one line says how many are left out.
    pub refusals_per_second: u32,
}

impl Default for Audit {
    fn default() -> Self {
        Audit {
            enabled: true,
            node: None,
            directory: "audit".into(),
            segment_bytes: 32 << 20,
            segment_age: Duration(86_400),
            archive_directory: None,
            keep_for: None,
            keep_bytes: None,
            interval_ms: 100,
            refusals_per_second: 20,
        }
    }
}

/// `/metrics`, in the Prometheus text format.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Metrics {
    /// Also for other machines than this one: metrics tell an unauthenticated caller about load and
    /// attacks.
    pub open: bool,
}

/// Form of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// OpenID Connect Core section 5.4: what the metadata offers, a registered client may ask for.
    #[test]
    fn registered_clients_may_ask_for_every_standard_scope() {
        let scopes = Registration::default().default_scope;
        for scope in [
            "openid",
            "profile",
            "email",
            "address",
            "phone",
            "offline_access",
        ] {
            assert!(scopes.iter().any(|s| s == scope), "{scope}");
        }
    }
}
