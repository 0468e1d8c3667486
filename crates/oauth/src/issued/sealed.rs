//! What codes and refresh tokens say about themselves, inside a seal.
//!
//! The server keeps no row for a code or token until it is used: everything that the token endpoint
//! needs is in the value itself, encrypted and authenticated by the [`Keyring`] under a purpose of
//! its own, and base64url on the wire. The store only decides "once".
use crate::codec::{Decoder, Encoder, Undecodable};
use crate::id::{CodeId, GrantId};
use crate::scope::ScopeSet;
use signet_crypto::seal::{Keyring, Purpose};
use signet_encoding::base64url;

/// Longest sealed value that is looked at, in bytes of its wire form.
pub const MAX_WIRE_BYTES: usize = 16 * 1024;
const CODE_VERSION: u8 = 2;
const REFRESH_VERSION: u8 = 1;

/// An authorization code's content: everything `/token` needs. `id` names the once-row. Times are
/// Unix seconds, or milliseconds where the name says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationCode {
    /// The row that is written when the code is used.
    pub id: CodeId,
    /// The grant (and refresh family) that begins with this code.
    pub grant_id: GrantId,
    /// Whom the code was given to.
    pub client_id: String,
    /// Where the code was sent.
    pub redirect_uri: String,
    /// Whether the request named it: then the token request must too (RFC 6749 section 4.1.3).
    pub redirect_uri_was_sent: bool,
    /// PKCE challenge, method S256 (RFC 7636).
    pub code_challenge: Option<String>,
    /// For the ID token.
    pub nonce: Option<String>,
    /// What was granted.
    pub scope: ScopeSet,
    /// Resources that were asked for (RFC 8707).
    pub resources: Vec<String>,
    /// Who granted it.
    pub user_id: String,
    /// Public session id, never the cookie.
    pub sid: String,
    /// When the person was authenticated.
    pub auth_time: u64,
    /// What was done, not what was asked for (known fault A6).
    pub acr: String,
    /// Authentication methods (RFC 8176).
    pub amr: Vec<String>,
    /// When the session ends at the latest; what it does not outlive ends then, too.
    pub session_ends_at: u64,
    /// The `claims` request parameter, checked JSON.
    pub claims: Option<String>,
    /// The key that the token request must prove (RFC 9449 section 10).
    pub dpop_jkt: Option<String>,
    /// Milliseconds: compared with the epoch of a revoked user.
    pub issued_at_ms: u64,
    /// The code has expired from this second on.
    pub expires_at: u64,
}

/// A refresh token's content. `generation` is compared with the family's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefreshToken {
    /// The grant, which is the refresh family.
    pub grant_id: GrantId,
    /// 0 for the first token of a family; grows at each rotation.
    pub generation: u64,
    /// Whom it was given to.
    pub client_id: String,
    /// The whole grant, however far one refresh narrowed it.
    pub scope: ScopeSet,
    /// Resources of the grant.
    pub resources: Vec<String>,
    /// Who granted it.
    pub user_id: String,
    /// The session that it ends with; none where `offline_access` was granted.
    pub sid: Option<String>,
    /// When the person was authenticated.
    pub auth_time: u64,
    /// What was done then.
    pub acr: String,
    /// How it was done.
    pub amr: Vec<String>,
    /// The `claims` request parameter, checked JSON.
    pub claims: Option<String>,
    /// The key or certificate of a public client (RFC 9449 section 5, RFC 8705 section 4).
    pub confirmation: Option<Confirmation>,
    /// Milliseconds: compared with the epoch of a revoked user or client.
    pub issued_at_ms: u64,
    /// Idle end: not accepted from this second on.
    pub expires_at: u64,
    /// Absolute end of the family.
    pub family_expires_at: u64,
}

/// `cnf` (RFC 7800): what a token is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confirmation {
    /// Thumbprint of a DPoP key (RFC 9449 section 6.1), base64url.
    Jkt(String),
    /// SHA-256 of a client certificate (RFC 8705 section 3.1), base64url.
    X5tS256(String),
}

impl AuthorizationCode {
    /// Seals it for the wire.
    pub fn seal(&self, keyring: &Keyring) -> Result<String, Unsealable> {
        seal(keyring, Purpose::AuthorizationCode, &self.encode())
    }
    /// Opens what [`seal`](Self::seal) made. Says nothing of its end or use.
    pub fn open(keyring: &Keyring, wire: &str) -> Result<Self, Unsealable> {
        Ok(Self::decode(&open(
            keyring,
            Purpose::AuthorizationCode,
            wire,
        )?)?)
    }
    fn encode(&self) -> Vec<u8> {
        let mut e = Encoder::new(CODE_VERSION);
        e.fixed(self.id.as_bytes())
            .fixed(self.grant_id.as_bytes())
            .text(&self.client_id)
            .text(&self.redirect_uri)
            .flag(self.redirect_uri_was_sent)
            .optional_text(self.code_challenge.as_deref())
            .optional_text(self.nonce.as_deref());
        e.text(&self.scope.to_string())
            .texts(self.resources.iter().map(String::as_str))
            .text(&self.user_id)
            .text(&self.sid)
            .number(self.auth_time)
            .text(&self.acr)
            .texts(self.amr.iter().map(String::as_str))
            .number(self.session_ends_at)
            .optional_text(self.claims.as_deref())
            .optional_text(self.dpop_jkt.as_deref())
            .number(self.issued_at_ms)
            .number(self.expires_at);
        e.finish()
    }
    fn decode(bytes: &[u8]) -> Result<Self, Undecodable> {
        let mut d = Decoder::new(bytes, CODE_VERSION)?;
        let code = AuthorizationCode {
            id: CodeId::new(d.fixed()?),
            grant_id: GrantId::new(d.fixed()?),
            client_id: d.string()?,
            redirect_uri: d.string()?,
            redirect_uri_was_sent: d.flag()?,
            code_challenge: d.optional_string()?,
            nonce: d.optional_string()?,
            scope: decode_scope(&mut d)?,
            resources: d.strings()?,
            user_id: d.string()?,
            sid: d.string()?,
            auth_time: d.number()?,
            acr: d.string()?,
            amr: d.strings()?,
            session_ends_at: d.number()?,
            claims: d.optional_string()?,
            dpop_jkt: d.optional_string()?,
            issued_at_ms: d.number()?,
            expires_at: d.number()?,
        };
        d.finish()?;
        Ok(code)
    }
}

impl RefreshToken {
    /// Seals it for the wire.
    pub fn seal(&self, keyring: &Keyring) -> Result<String, Unsealable> {
        seal(keyring, Purpose::RefreshToken, &self.encode())
    }
    /// Opens what [`seal`](Self::seal) made. Says nothing of its end, generation or revocation.
    pub fn open(keyring: &Keyring, wire: &str) -> Result<Self, Unsealable> {
        Ok(Self::decode(&open(keyring, Purpose::RefreshToken, wire)?)?)
    }
    fn encode(&self) -> Vec<u8> {
        let mut e = Encoder::new(REFRESH_VERSION);
        e.fixed(self.grant_id.as_bytes())
            .number(self.generation)
            .text(&self.client_id)
            .text(&self.scope.to_string())
            .texts(self.resources.iter().map(String::as_str))
            .text(&self.user_id)
            .optional_text(self.sid.as_deref())
            .number(self.auth_time)
            .text(&self.acr)
            .texts(self.amr.iter().map(String::as_str))
            .optional_text(self.claims.as_deref());
        let (kind, value) = match &self.confirmation {
            None => (0, None),
            Some(Confirmation::Jkt(value)) => (1, Some(value)),
            Some(Confirmation::X5tS256(value)) => (2, Some(value)),
        };
        e.number(kind);
        if let Some(value) = value {
            e.text(value);
        }
        e.number(self.issued_at_ms)
            .number(self.expires_at)
            .number(self.family_expires_at);
        e.finish()
    }
    fn decode(bytes: &[u8]) -> Result<Self, Undecodable> {
        let mut d = Decoder::new(bytes, REFRESH_VERSION)?;
        let token = RefreshToken {
            grant_id: GrantId::new(d.fixed()?),
            generation: d.number()?,
            client_id: d.string()?,
            scope: decode_scope(&mut d)?,
            resources: d.strings()?,
            user_id: d.string()?,
            sid: d.optional_string()?,
            auth_time: d.number()?,
            acr: d.string()?,
            amr: d.strings()?,
            claims: d.optional_string()?,
            confirmation: match d.number()? {
                0 => None,
                1 => Some(Confirmation::Jkt(d.string()?)),
                2 => Some(Confirmation::X5tS256(d.string()?)),
                _ => return Err(Undecodable),
            },
            issued_at_ms: d.number()?,
            expires_at: d.number()?,
            family_expires_at: d.number()?,
        };
        d.finish()?;
        Ok(token)
    }
}

/// Why a value could not be sealed or opened. The peer hears `invalid_grant`, and no difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unsealable {
    /// Not base64url, too long, altered, or sealed under a key that is gone.
    #[error("the value was not sealed here")]
    NotAuthentic,
    /// Sealed here by a version that wrote another layout.
    #[error("the sealed value has another layout")]
    Layout(#[from] Undecodable),
    /// The cryptography library failed.
    #[error("the value could not be sealed")]
    Library,
}

fn seal(keyring: &Keyring, purpose: Purpose, plaintext: &[u8]) -> Result<String, Unsealable> {
    keyring
        .seal(purpose, plaintext)
        .map(|sealed| base64url::encode(&sealed))
        .map_err(|_| Unsealable::Library)
}

fn open(keyring: &Keyring, purpose: Purpose, wire: &str) -> Result<Vec<u8>, Unsealable> {
    if wire.len() > MAX_WIRE_BYTES {
        return Err(Unsealable::NotAuthentic);
    }
    let sealed = base64url::decode(wire.as_bytes()).map_err(|_| Unsealable::NotAuthentic)?;
    keyring
        .open(purpose, &sealed)
        .map_err(|_| Unsealable::NotAuthentic)
}

fn decode_scope(d: &mut Decoder<'_>) -> Result<ScopeSet, Undecodable> {
    let text = d.text()?;
    let scope = ScopeSet::parse(text).map_err(|_| Undecodable)?;
    // Doubles and further spaces would be a second spelling.
    if scope.to_string() == text {
        Ok(scope)
    } else {
        Err(Undecodable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use proptest::prelude::*;

    #[test]
    fn what_is_sealed_opens_to_the_same() {
        let keyring = testing::keyring();
        let code = testing::code();
        assert_eq!(
            AuthorizationCode::open(&keyring, &code.seal(&keyring).unwrap()),
            Ok(code)
        );
        for confirmation in [
            None,
            Some(Confirmation::Jkt("j".into())),
            Some(Confirmation::X5tS256("x".into())),
        ] {
            let token = RefreshToken {
                confirmation,
                ..testing::refresh_token()
            };
            assert_eq!(
                RefreshToken::open(&keyring, &token.seal(&keyring).unwrap()),
                Ok(token)
            );
        }
    }

    #[test]
    fn a_code_is_no_refresh_token_and_an_altered_one_is_nothing() {
        let keyring = testing::keyring();
        let wire = testing::code().seal(&keyring).unwrap();
        assert_eq!(
            RefreshToken::open(&keyring, &wire),
            Err(Unsealable::NotAuthentic)
        );
        let mut altered = wire.clone().into_bytes();
        let last = altered.len() / 2;
        altered[last] = if altered[last] == b'A' { b'B' } else { b'A' };
        let altered = String::from_utf8(altered).unwrap();
        assert_eq!(
            AuthorizationCode::open(&keyring, &altered),
            Err(Unsealable::NotAuthentic)
        );
        assert_eq!(
            AuthorizationCode::open(&keyring, &format!("{wire}=")),
            Err(Unsealable::NotAuthentic)
        );
        assert_eq!(
            AuthorizationCode::open(&keyring, &"A".repeat(MAX_WIRE_BYTES + 1)),
            Err(Unsealable::NotAuthentic)
        );
    }

    proptest! {
        #[test]
        fn decoding_never_panics_and_has_one_encoding(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut bytes = bytes;
            if let Some(first) = bytes.first_mut() { *first = CODE_VERSION; }
            if let Ok(code) = AuthorizationCode::decode(&bytes) { prop_assert_eq!(code.encode(), bytes.clone()); }
            if let Some(first) = bytes.first_mut() { *first = REFRESH_VERSION; }
            if let Ok(token) = RefreshToken::decode(&bytes) { prop_assert_eq!(token.encode(), bytes); }
        }
        #[test]
        fn a_damaged_encoding_never_panics(at in 0usize..400, byte: u8, cut in 0usize..400) {
            for mut bytes in [testing::code().encode(), testing::refresh_token().encode()] {
                let length = bytes.len();
                bytes[at % length] = byte;
                bytes.truncate(length - cut % length);
                let _ = AuthorizationCode::decode(&bytes);
                let _ = RefreshToken::decode(&bytes);
            }
        }
    }
}
