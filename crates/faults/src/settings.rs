//! The files that a cluster's nodes are started with: configuration, certificate, secrets, and the
//! clients' own keys.

use std::{
    net::{IpAddr, Ipv4Addr},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use signet_crypto::{Algorithm, SigningKey, certificate::DevelopmentCa};
use signet_encoding::json::Writer;
use signet_jose::{jwk::Jwk, jwt::JwtSigner};

use crate::network::{MAX_NODES, Place};

/// Who the nodes are, in tokens.
pub const ISSUER: &str = "https://id.faults.test";
/// Where clients are sent back.
pub const REDIRECT: &str = "http://127.0.0.1/callback";
/// The client of the introspecting service and of proofs.
pub const SERVICE: &str = "service";
/// The client that authenticates with assertions.
pub const BATCH: &str = "batch";
/// The public client of people.
pub const NATIVE: &str = "native";
/// Who administers.
pub const OPERATOR: &str = "operator";
/// After how many seconds a node that hears no majority calls no token active.
pub const STALENESS: u64 = 5;
/// For how many seconds a key is published before it signs.
pub const PUBLISH_AHEAD: u64 = 5;
/// People with a session, people who log in by mail, and people whose sessions are revoked.
pub const PEOPLE: [(&str, usize); 3] = [("user", 6), ("mail", 10), ("short", 2)];

fn random() -> String {
    signet_encoding::base64url::encode(&signet_crypto::random::bytes::<32>())
}

/// What is the same for all nodes.
pub struct Common {
    /// Its directory.
    pub directory: PathBuf,
    /// The authority of their certificate, PEM.
    pub ca: String,
    /// The secret of the clients that have one.
    pub secret: String,
    /// Everybody's password.
    pub password: String,
    /// The key of the client with assertions.
    pub batch: Arc<JwtSigner>,
    /// The key of proofs.
    pub proofs: Arc<JwtSigner>,
    /// `[store]` of the configuration.
    pub store: String,
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("{}: {e}", path.display());
    std::fs::write(path, text).map_err(failed)?;
    let private = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(path, private).map_err(failed)
}

fn signer() -> Result<JwtSigner, String> {
    let key = SigningKey::generate(Algorithm::Es256).map_err(|e| e.to_string())?;
    Ok(JwtSigner::new(key, "faults"))
}

impl Common {
    /// Writes them. `store`: lines of `[store]`, none for the embedded one.
    pub fn write(directory: &Path, addresses: &[IpAddr], store: String) -> Result<Common, String> {
        let failed = |e: &dyn std::fmt::Display| format!("the certificate cannot be made: {e}");
        let ca = DevelopmentCa::generate().map_err(|e| failed(&e))?;
        let mut names: Vec<String> = vec!["localhost".to_owned()];
        let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
        names.extend(addresses.iter().chain([&local]).map(IpAddr::to_string));
        names.dedup();
        let (chain, key) = ca.issue_server(&names).map_err(|e| failed(&e))?;
        let common = Common {
            directory: directory.to_owned(),
            ca: ca.cert_pem(),
            secret: random(),
            password: random(),
            batch: Arc::new(signer()?),
            proofs: Arc::new(signer()?),
            store,
        };
        let file = |name: &str| directory.join(name);
        write(&file("chain.pem"), &chain)?;
        write(&file("key.pem"), key.expose())?;
        write(&file("ca.pem"), &common.ca)?;
        write(&file("secret"), &common.secret)?;
        write(&file("password"), &common.password)?;
        let public = common
            .batch
            .key()
            .public()
            .ok_or("a key pair has a public half")?;
        let mut jwk = Jwk::new(public.clone());
        jwk.kid = Some("faults".into());
        let mut jwks = Vec::new();
        Writer::new(&mut jwks).object(|w| {
            w.member("keys").array(|w| jwk.write(w));
        });
        write(&file("jwks.json"), &String::from_utf8_lossy(&jwks))?;
        Ok(common)
    }

    /// The configuration of one node, in its own directory; its data is in `data` below that.
    pub fn node(&self, node: usize, place: &Place, directory: &Path) -> Result<PathBuf, String> {
        if node >= MAX_NODES {
            return Err(format!("no more than {MAX_NODES} nodes"));
        }
        let shared = self.directory.display();
        let number = node + 1;
        let Place {
            public,
            cluster,
            advertised,
        } = place;
        let store = &self.store;
        let mut text = format!(
            r#"issuer = "{ISSUER}"
data_dir = "data"
node = "node-{number}"
[[listeners]]
address = "{public}"
[tls]
certificate = "{shared}/chain.pem"
key = "{shared}/key.pem"
[cluster]
listen = "{cluster}"
advertise = ["{advertised}"]
url = "https://{public}"
staleness = "{STALENESS}s"
{store}
[mail]
from = "Signet <login@faults.test>"
directory = "{shared}/mail"
[keys]
algorithms = ["ES256", "RS256"]
publish_ahead = "{PUBLISH_AHEAD}s"
[lifetimes]
code = "10m"
pushed_request = "10m"
one_time_code = "30m"
access_token = "1h"
[protocol]
dpop_proof_max_age = "10m"
device_poll_interval = "1s"
refresh_retry_window = "0s"
[login_limits]
per_account = 10000
per_device = 10000
per_address = 10000
codes_per_day = 10000
mails = 10000
[limits]
shutdown_grace = "5s"
[log]
format = "text"
requests = "refused"
[[clients]]
client_id = "{SERVICE}"
client_secrets = [{{ file = "{shared}/secret" }}]
token_endpoint_auth_method = "client_secret_basic"
grant_types = ["client_credentials"]
may_act_for = ["{NATIVE}", "{BATCH}"]
[[clients]]
client_id = "{OPERATOR}"
client_secrets = [{{ file = "{shared}/secret" }}]
token_endpoint_auth_method = "client_secret_basic"
grant_types = ["client_credentials"]
scope = "signet:admin"
[[clients]]
client_id = "{BATCH}"
jwks = "{shared}/jwks.json"
token_endpoint_auth_method = "private_key_jwt"
token_endpoint_auth_signing_alg = "ES256"
grant_types = ["client_credentials"]
[[clients]]
client_id = "{NATIVE}"
application_type = "native"
token_endpoint_auth_method = "none"
grant_types = ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"]
redirect_uris = ["{REDIRECT}"]
scope = "openid offline_access"
ask_for_consent = false
"#
        );
        for (name, count) in PEOPLE {
            for number in 0..count {
                let person = format!(
                    "[[users]]\nusername = \"{name}{number}\"\nemail = \"{name}{number}@faults.test\"\nemail_verified = true\npassword = {{ file = \"{shared}/password\" }}\n"
                );
                text.push_str(&person);
            }
        }
        let file = directory.join("signet.toml");
        write(&file, &text)?;
        Ok(file)
    }
}
