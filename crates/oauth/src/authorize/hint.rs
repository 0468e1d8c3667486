//! `id_token_hint`: an ID token of this server, given back by a client. It names a person; it
//! proves nothing about who is at the browser (known fault A5).
use crate::request::IssuerKeys;
use signet_jose::{jws, jwt::Claims};

/// The longest hint, in bytes.
pub(super) const MAX_HINT_BYTES: usize = 16 * 1024;

/// What an ID token of ours said. It may have ended (OpenID Connect Core section 3.1.2.1,
/// RP-Initiated Logout section 2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdTokenHint {
    /// the person
    pub sub: String,
    /// the clients it was for
    pub audience: Vec<String>,
    /// the session it was issued in, where it names that
    pub sid: Option<String>,
    /// when the person logged in
    pub auth_time: Option<u64>,
}

/// Verifies signature, type and issuer of an ID token; its end is not looked at. `keys`: this
/// server's own. None for everything that is not an ID token that this server signed: also for its
/// access and logout tokens.
pub fn verify_id_token_hint(
    token: &str,
    issuer: &str,
    keys: &dyn IssuerKeys,
) -> Option<IdTokenHint> {
    let compact = jws::split(token.as_bytes(), MAX_HINT_BYTES).ok()?;
    let header = compact.decode_header().ok()?;
    // ID tokens say `JWT` or nothing; at+jwt and logout+jwt are other tokens (RFC 8725 section
    // 3.11).
    if !(header.typ.is_none() || jws::typ_is(header.typ.as_deref(), "JWT")) {
        return None;
    }
    let payload = compact
        .verify(&header, keys.verifying_key(header.kid.as_deref()?)?)
        .ok()?;
    let claims = Claims::parse(&payload).ok()?;
    if claims.iss.as_deref() != Some(issuer) {
        return None;
    }
    Some(IdTokenHint {
        sub: claims.sub?.into_owned(),
        audience: claims.aud.into_iter().map(|a| a.into_owned()).collect(),
        sid: claims
            .other
            .get("sid")
            .and_then(|v| v.as_str())
            .map(str::to_owned),
        auth_time: claims.other.get("auth_time").and_then(|v| v.as_u64()),
    })
}
