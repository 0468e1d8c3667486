//! Fixtures of this crate's tests.
use crate::{client::*, redirect_uri::RedirectUri, scope::ScopeSet, sealed::*};
use signet_crypto::seal::{Keyring, SealingKey};

pub fn keyring() -> Keyring {
    Keyring::new(SealingKey::generate(), Vec::new())
}

pub fn scope(text: &str) -> ScopeSet {
    ScopeSet::parse(text).unwrap()
}

pub const NOW: u64 = 1_800_000_000;
pub const ISSUER: &str = "https://as.example";
pub const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

pub fn code() -> AuthorizationCode {
    AuthorizationCode {
        id: [1; 16],
        grant_id: [2; 16],
        client_id: "client".into(),
        redirect_uri: "https://client.example/cb".into(),
        redirect_uri_was_sent: true,
        code_challenge: Some(CHALLENGE.into()),
        nonce: Some("n-1".into()),
        scope: scope("openid profile"),
        resources: Vec::new(),
        user_id: "user-1".into(),
        sid: "sid-1".into(),
        auth_time: NOW - 30,
        acr: "urn:signet:acr:password".into(),
        amr: vec!["pwd".into()],
        claims: None,
        dpop_jkt: None,
        issued_at_ms: (NOW - 10) * 1000,
        expires_at: NOW + 50,
    }
}

pub fn refresh_token() -> RefreshToken {
    RefreshToken {
        grant_id: [2; 16],
        generation: 3,
        client_id: "client".into(),
        scope: scope("openid profile email"),
        resources: Vec::new(),
        user_id: "user-1".into(),
        sid: Some("sid-1".into()),
        auth_time: NOW - 3000,
        acr: "urn:signet:acr:password".into(),
        amr: vec!["pwd".into()],
        claims: None,
        confirmation: None,
        issued_at_ms: (NOW - 100) * 1000,
        expires_at: NOW + 1000,
        family_expires_at: NOW + 5000,
    }
}

/// A confidential client with every grant, secret "secret-secret-secret-secret-secret".
pub fn client() -> Client {
    Client {
        client_id: "client".into(),
        revision: 1,
        created_at: NOW - 1_000_000,
        enabled: true,
        client_name: None,
        client_uri: None,
        logo_uri: None,
        policy_uri: None,
        tos_uri: None,
        contacts: Vec::new(),
        application_type: ApplicationType::Web,
        redirect_uris: vec![RedirectUri::parse("https://client.example/cb", false).unwrap()],
        post_logout_redirect_uris: Vec::new(),
        allowed_origins: Vec::new(),
        initiate_login_uri: None,
        grant_types: GrantType::ALL.to_vec(),
        response_types: vec!["code".into()],
        token_endpoint_auth_method: AuthMethod::ClientSecretBasic,
        token_endpoint_auth_signing_alg: None,
        secrets: vec![ClientSecret::Sha256 {
            hash: signet_crypto::hash::sha256(SECRET.as_bytes()),
            expires_at: None,
        }],
        jwks: None,
        jwks_uri: None,
        tls_client_auth: None,
        scope: scope("openid profile email offline_access api:read api:write"),
        resources: Vec::new(),
        may_act_for: Vec::new(),
        id_token_signed_response_alg: None,
        userinfo_signed_response_alg: None,
        access_token_signed_response_alg: None,
        introspection_signed_response_alg: None,
        default_max_age: None,
        require_auth_time: false,
        default_acr_values: Vec::new(),
        require_pkce: true,
        require_pushed_authorization_requests: false,
        dpop_bound_access_tokens: false,
        tls_client_certificate_bound_access_tokens: false,
        refresh_rotation: RefreshRotation::Rotate,
        consent: ConsentPolicy::Ask,
        access_token_lifetime: None,
        refresh_token_lifetime: None,
        registration_token_hash: None,
        software_id: None,
        software_version: None,
        sector_identifier_uri: None,
        expires_at: None,
    }
}

pub const SECRET: &str = "secret-secret-secret-secret-secret";
