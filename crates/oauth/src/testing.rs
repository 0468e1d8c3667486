//! Fixtures of this crate's tests.
use crate::id::CodeId;
use crate::id::GrantId;
use crate::issued::sealed::*;
use crate::request::IssuerKeys;
use crate::scope::ScopeSet;
use crate::token::decision::{RevocationQuery, Revocations, Unavailable};
use signet_crypto::{
    Algorithm, SigningKey, VerifyingKey,
    seal::{Keyring, SealingKey},
};
use signet_jose::jwt::JwtSigner;

/// An issuer with one key, of this id.
pub(crate) struct OneKey(pub &'static str, pub VerifyingKey);

impl IssuerKeys for OneKey {
    fn verifying_key(&self, kid: &str) -> Option<&VerifyingKey> {
        (kid == self.0).then_some(&self.1)
    }
    fn compact_keys(&self) -> Option<&signet_compact::KeySet> {
        None
    }
}

/// An index in which nothing was revoked.
pub(crate) struct NothingRevoked;

impl Revocations for NothingRevoked {
    fn is_revoked(&self, _: &RevocationQuery<'_>) -> Result<bool, Unavailable> {
        Ok(false)
    }
}

pub(crate) fn keyring() -> Keyring {
    Keyring::new(SealingKey::generate(), Vec::new())
}

/// A key that signs, ES256.
pub(crate) fn signer() -> JwtSigner {
    JwtSigner::new(SigningKey::generate(Algorithm::Es256).unwrap(), "k1")
}

pub(crate) fn scope(text: &str) -> ScopeSet {
    ScopeSet::parse(text).unwrap()
}

pub(crate) const NOW: u64 = 1_800_000_000;
pub(crate) const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

pub(crate) fn code() -> AuthorizationCode {
    AuthorizationCode {
        id: CodeId::new([1; 16]),
        grant_id: GrantId::new([2; 16]),
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
        session_ends_at: NOW + 7 * 86_400,
        amr: vec!["pwd".into()],
        claims: None,
        dpop_jkt: None,
        issued_at_ms: (NOW - 10) * 1000,
        expires_at: NOW + 50,
    }
}

pub(crate) fn refresh_token() -> RefreshToken {
    RefreshToken {
        grant_id: GrantId::new([2; 16]),
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
