//! What a configuration file decides.
use crate::{identity::Identity, proxies::Proxies};
use signet_gate_login::Login;
use signet_verify::Verifier;
use std::sync::Arc;

/// Issuers, policies and what upstreams receive; a reload replaces it as a whole.
pub struct Setup {
    /// Issuers and policies.
    pub verifier: Arc<Verifier>,
    /// What the forward-auth endpoints tell about an accepted token.
    pub identity: Identity,
    /// The header field in which a reverse proxy hands over the client's certificate (PEM in
    /// percent-encoding, or base64). Accepted only from a caller that `proxies` knows.
    pub certificate_header: Option<String>,
    /// Whose word about a request is taken.
    pub proxies: Proxies,
    /// The login of applications that have none.
    pub login: Option<Arc<Login>>,
}
