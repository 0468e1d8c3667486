//! RFC 9068: a JWT of type `at+jwt`.
use super::{Format, NotWritten, Stamp, write_access_token};
use crate::error::OAuthError;
use crate::issued::token_facts::{MAX_BYTES, VerifiedAccessToken};
use crate::people::mapped_claims::Room;
use crate::request::{IssuerKeys, IssuerSigners};
use crate::token::decision::AccessToken;
use signet_jose::{jws, jwt::Typ};

pub(super) struct Jwt;

impl Format for Jwt {
    // base64url has no dots, and no other format has any.
    fn has_form(&self, token: &str) -> bool {
        token.contains('.')
    }

    fn admits(&self, _: &AccessToken, _: &str) -> Result<(), OAuthError> {
        Ok(())
    }

    /// What a request can make long is taken off: the token stays within what is read again.
    fn room(&self, token: &AccessToken) -> Room {
        let details = token
            .chain
            .as_ref()
            .map_or(0, |chain| chain.authorization_details.len());
        let claims = token.claims.as_ref().map_or(0, String::len);
        let scope: usize = token.scope.iter().map(|scope| scope.len() + 1).sum();
        Room {
            all: Room::JSON.all.saturating_sub(details + claims + scope),
            ..Room::JSON
        }
    }

    fn write(
        &self,
        token: &AccessToken,
        stamp: &Stamp<'_>,
        keys: &dyn IssuerSigners,
        out: &mut Vec<u8>,
    ) -> Result<(), NotWritten> {
        let signer = keys.jwt_signer(token.algorithm).ok_or(NotWritten::NoKey)?;
        let mut payload = Vec::with_capacity(512);
        write_access_token(token, stamp, &mut payload);
        // Header, payload in base64url, and room for the largest signature but ML-DSA's.
        out.reserve(256 + payload.len() * 4 / 3 + 512);
        signer
            .sign_into(Typ::AccessToken, &payload, out)
            .map_err(|_| NotWritten::Signing)
    }

    fn read(&self, keys: &dyn IssuerKeys, token: &str) -> Option<VerifiedAccessToken> {
        let compact = jws::split(token.as_bytes(), MAX_BYTES).ok()?;
        let header = compact.decode_header().ok()?;
        // RFC 9068 section 4: an ID token, a logout token or a proof is no access token.
        if !jws::typ_is(header.typ.as_deref(), Typ::AccessToken.as_str()) {
            return None;
        }
        let key = keys.verifying_key(header.kid.as_deref()?)?;
        let payload = compact.verify(&header, key).ok()?;
        VerifiedAccessToken::parse(&payload).ok()
    }
}
