//! The validation service's configuration file.

use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf};

use serde::Deserialize;
use signet_verify::ReplayGuard;

use signet_config::{duration::Duration, model};

/// The whole file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GateConfig {
    /// Address and port.
    #[serde(default = "default_listen")]
    pub listen: SocketAddr,
    /// Certificate and key; without, plain HTTP.
    pub tls: Option<model::Tls>,
    /// Threads that answer; by default as many as there are cores.
    pub threads: Option<usize>,
    /// Whose tokens are accepted.
    #[serde(default)]
    pub issuers: Vec<Issuer>,
    /// What is demanded of them. The first policy counts where a request names none.
    #[serde(default)]
    pub policies: Vec<Policy>,
    /// Header field to claim: what forward-auth answers tell the upstream.
    pub identity: Option<BTreeMap<String, String>>,
    /// The header field in which the proxy hands over a client's certificate.
    pub certificate_header: Option<String>,
    /// How the proxy shows that it is one: without, nothing that it says about a request is
    /// believed.
    pub proxy: Option<Proxy>,
    /// What remembers DPoP proofs and logout tokens.
    #[serde(default)]
    pub replay: Replay,
    /// A file of at least 32 bytes that gates beside each other share, so that each knows the
    /// others' DPoP nonces.
    pub dpop_nonce_key_file: Option<PathBuf>,
    /// Verified tokens that are kept.
    #[serde(default)]
    pub cache: Cache,
    /// How keys are fetched.
    #[serde(default)]
    pub outbound: model::Outbound,
    /// The login of applications that have none.
    pub login: Option<super::login_model::LoginConfig>,
    /// What is logged, and how.
    #[serde(default)]
    pub log: model::Log,
}

fn default_listen() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 9000))
}

/// How a reverse proxy is known. With both, either will do.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Proxy {
    /// The header field that carries the proxy's secret.
    #[serde(default = "default_secret_header")]
    pub secret_header: String,
    /// File that holds the secret: at least 32 characters in one word.
    pub secret_file: Option<PathBuf>,
    /// Whether a certificate that ends at `tls.client_ca` will do.
    #[serde(default)]
    pub certificate: bool,
}

fn default_secret_header() -> String {
    "x-gate-secret".to_owned()
}

/// What remembers DPoP proofs and logout tokens while they could come again.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Replay {
    /// Bytes that it may take; they are taken as they are needed.
    pub bytes: usize,
}

impl Default for Replay {
    fn default() -> Replay {
        Replay {
            bytes: ReplayGuard::DEFAULT_BYTES,
        }
    }
}

/// One issuer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Issuer {
    /// As `iss` says it, byte for byte.
    pub issuer: String,
    /// File of its keys (a JWK Set), read again when it changes.
    pub jwks_file: Option<PathBuf>,
    /// URL of its keys. With neither, its metadata says where they are.
    pub jwks_url: Option<String>,
    /// Time between two fetches where the answer does not say how long it stays good
    /// (`Cache-Control: max-age`).
    #[serde(default = "default_interval")]
    pub interval: Duration,
    /// Where it says it: never sooner than this.
    #[serde(default = "default_interval_min")]
    pub interval_min: Duration,
    /// Nor later.
    #[serde(default = "default_interval_max")]
    pub interval_max: Duration,
    /// How long the last good keys are used when nothing can be fetched.
    #[serde(default = "default_grace")]
    pub grace: Duration,
    /// How long they are used once something was fetched that is no key set.
    #[serde(default = "default_grace_unreadable")]
    pub grace_unreadable: Duration,
    /// Least time between two fetches.
    #[serde(default = "default_cool_down")]
    pub cool_down: Duration,
    /// Whether readiness waits for its keys.
    #[serde(default = "yes")]
    pub required: bool,
    /// SHA-256, in hexadecimal, of each proof system's verifying key under which its zero-knowledge
    /// tokens are accepted.
    #[serde(default)]
    pub verifying_key_sha256: Vec<String>,
    /// Its stream of revocations, if that is followed.
    pub revocations: Option<Revocations>,
    /// How it is asked about tokens.
    pub introspection: Option<Introspection>,
}

/// Introspection at an issuer (RFC 7662).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Introspection {
    /// Where it is asked; without, its metadata says so.
    pub url: Option<String>,
    /// Who asks.
    pub client: ClientSecret,
    /// How long an answer is believed; never beyond the token's end.
    #[serde(default = "default_believed")]
    pub max_age: Duration,
}

fn default_believed() -> Duration {
    Duration(30)
}

/// Which tokens an issuer is asked about.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Introspect {
    /// Those that are neither JWTs nor compact tokens.
    Opaque,
    /// All of them; JWTs and compact tokens are verified as well.
    All,
}

/// A stream of revocations of a Signet server.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Revocations {
    /// Where it is; without, the issuer's metadata says so.
    pub url: Option<String>,
    /// Who reads it.
    pub client: ClientSecret,
    /// What happens to tokens while the stream is lost.
    #[serde(default, alias = "when_lost")]
    pub on_stream_loss: OnStreamLoss,
    /// How long after its loss.
    #[serde(default = "default_after")]
    pub after: Duration,
}

/// A client of the issuer, and where its secret is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClientSecret {
    /// `client_id`
    pub client_id: String,
    /// File that holds the secret.
    pub client_secret_file: Option<PathBuf>,
    /// Variable of the environment that holds it.
    pub client_secret_env: Option<String>,
}

/// A private key that opens encrypted tokens.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DecryptionKey {
    /// PEM file with a PKCS#8 key of RSA, P-256, P-384 or X25519.
    pub file: PathBuf,
    /// `kid` of the tokens that are for it; without, any that it fits.
    pub kid: Option<String>,
}

/// What happens while it cannot be known whether a token was revoked.
///
/// `when_lost = "closed" | "open"` is the former spelling.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OnStreamLoss {
    /// Tokens of the issuer are refused.
    #[default]
    #[serde(alias = "closed")]
    FailClosed,
    /// They are accepted.
    #[serde(alias = "open")]
    FailOpen,
}

fn default_after() -> Duration {
    Duration(30)
}

fn default_interval() -> Duration {
    Duration(300)
}
fn default_interval_min() -> Duration {
    Duration(30)
}
fn default_interval_max() -> Duration {
    Duration(3600)
}
fn default_grace() -> Duration {
    Duration(6 * 3600)
}
fn default_grace_unreadable() -> Duration {
    Duration(300)
}
fn default_cool_down() -> Duration {
    Duration(10)
}
fn yes() -> bool {
    true
}

/// What tokens a policy is about.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// RFC 9068 access tokens.
    #[default]
    Access,
    /// Access tokens of issuers that do not follow RFC 9068.
    PlainAccess,
    /// ID tokens.
    Id,
    /// Logout tokens.
    Logout,
}

/// Whether tokens must be bound to their sender.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Binding {
    /// Bearer tokens are accepted, too.
    #[default]
    Optional,
    /// DPoP only.
    Dpop,
    /// Client certificates only.
    Certificate,
    /// Either of the two.
    Either,
}

/// One policy.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Policy {
    /// What requests call it.
    #[serde(default = "default_name")]
    pub name: String,
    /// What tokens it is about.
    #[serde(default)]
    pub kind: Kind,
    /// Issuers by name; all of them if none is named.
    #[serde(default)]
    pub issuers: Vec<String>,
    /// One of these must be among a token's audiences.
    pub audiences: Vec<String>,
    /// JOSE names; all asymmetric ones if none is named.
    #[serde(default)]
    pub algorithms: Vec<String>,
    /// `typ` values; those of the kind if none is named. The empty text stands for a token without
    /// `typ`.
    #[serde(default)]
    pub types: Vec<String>,
    /// Clients that tokens may have been issued to.
    #[serde(default)]
    pub authorized_parties: Vec<String>,
    /// By how much clocks may differ.
    pub leeway: Option<Duration>,
    /// Refuses tokens that were issued longer ago.
    pub max_age: Option<Duration>,
    /// Scopes that every token must have.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// Authentication contexts, one of which must be the token's.
    #[serde(default)]
    pub acr: Vec<String>,
    /// Refuses tokens whose user was authenticated longer ago.
    pub authentication_max_age: Option<Duration>,
    /// Sender constraint.
    #[serde(default)]
    pub binding: Binding,
    /// Scheme, host and port that requests with a DPoP proof must be for; any if none is named.
    #[serde(default)]
    pub origins: Vec<String>,
    /// Whether DPoP proofs must carry a nonce of the gate (RFC 9449 section 9).
    #[serde(default)]
    pub dpop_nonces: bool,
    /// The `realm` of challenges.
    #[serde(default)]
    pub realm: String,
    /// Keys that open encrypted tokens.
    #[serde(default)]
    pub decryption_keys: Vec<DecryptionKey>,
    /// Also compact tokens, under the keys that the issuers' metadata names.
    #[serde(default)]
    pub compact: bool,
    /// Which tokens the policy's issuer is asked about.
    pub introspect: Option<Introspect>,
    /// Longest token, in bytes.
    pub max_bytes: Option<usize>,
}

fn default_name() -> String {
    "default".to_owned()
}

/// Verified tokens that are kept.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Cache {
    /// How many, about.
    pub entries: usize,
    /// Bytes that they may take together.
    pub bytes: usize,
}

impl Default for Cache {
    fn default() -> Cache {
        Cache {
            entries: 8192,
            // With these the whole service stays under 25 MB.
            bytes: 6 << 20,
        }
    }
}
