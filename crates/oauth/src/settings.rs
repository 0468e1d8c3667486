/// The server's protocol settings: from the configuration, immutable per snapshot. Lifetimes in seconds.
#[derive(Clone, Debug)]
pub struct Settings {
    pub issuer: String,
    /// base of mtls_endpoint_aliases
    pub mtls_base: Option<String>,
    pub code_lifetime: u64,
    pub access_token_lifetime: u64,
    pub id_token_lifetime: u64,
    pub refresh_token_lifetime: u64,
    pub refresh_idle_lifetime: u64,
    pub par_lifetime: u64,
    pub device_code_lifetime: u64,
    pub device_poll_interval: u64,
    pub interaction_lifetime: u64,
    pub session_idle_lifetime: u64,
    pub session_absolute_lifetime: u64,
    pub otp_lifetime: u64,
    pub access_token_alg: signet_crypto::Algorithm,
    pub id_token_alg: signet_crypto::Algorithm,
    pub signing_algs: Vec<signet_crypto::Algorithm>,
    /// None: the issuer is the audience where no resource was asked for
    pub default_audience: Option<String>,
    pub dpop_nonce_required: bool,
    pub dpop_proof_max_age: u64,
    pub clock_leeway: u64,
    /// seconds in which a sender-constrained client's retry of the same refresh token is answered again; 0: never
    pub refresh_retry_window: u64,
    pub registration: RegistrationSettings,
    pub require_pushed_authorization_requests: bool,
}
#[derive(Clone, Debug)]
pub struct RegistrationSettings {
    pub enabled: bool,
    /// open: no initial access token
    pub open: bool,
    pub require_pkce: bool,
    pub default_scope: crate::scope::ScopeSet,
    pub refresh_rotation: crate::client::RefreshRotation,
}
