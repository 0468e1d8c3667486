//! What a request brings: the token, and what must go with it.

use crate::Refusal;
use signet_jose::authorization::{self, AuthorizationError};

pub use signet_jose::{authorization::Scheme, dpop::presentation::Proof};

/// A token as it was presented. Only [`crate::Verifier::verify`] believes it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Presented<'a> {
    pub(crate) token: &'a str,
    pub(crate) scheme: Option<Scheme>,
    pub(crate) proof: Option<Proof<'a>>,
    pub(crate) certificate: Option<[u8; 32]>,
    pub(crate) nonce: Option<&'a str>,
    pub(crate) access_token: Option<&'a str>,
    pub(crate) code: Option<&'a str>,
    pub(crate) binding_elsewhere: bool,
}

impl<'a> Presented<'a> {
    /// A token without its scheme: ID and logout tokens, and access tokens that another component
    /// took out of a request.
    pub fn token(token: &'a str) -> Presented<'a> {
        Presented {
            token,
            ..Presented::default()
        }
    }

    /// The value of an `Authorization` header field: scheme, spaces, token (RFC 9110 section 11.4:
    /// the scheme in any case).
    ///
    /// # Errors
    /// [`Refusal::NoToken`] for another scheme, [`Refusal::Malformed`] where no single token
    /// follows.
    pub fn authorization(value: &'a str) -> Result<Presented<'a>, Refusal> {
        let (scheme, token) = authorization::access_token(value).map_err(|error| match error {
            AuthorizationError::Scheme => Refusal::NoToken,
            _ => Refusal::Malformed,
        })?;
        Ok(Presented {
            token,
            scheme: Some(scheme),
            ..Presented::default()
        })
    }

    /// The scheme that the token came with, where that is known.
    #[must_use]
    pub fn scheme(mut self, scheme: Scheme) -> Presented<'a> {
        self.scheme = Some(scheme);
        self
    }

    /// The scheme of the `Authorization` header field.
    pub fn authorization_scheme(&self) -> Option<Scheme> {
        self.scheme
    }

    /// With a DPoP proof.
    #[must_use]
    pub fn proof(mut self, proof: Proof<'a>) -> Presented<'a> {
        self.proof = Some(proof);
        self
    }

    /// With the SHA-256 of the client's certificate (DER), whose key the TLS handshake proved.
    #[must_use]
    pub fn certificate(mut self, thumbprint: [u8; 32]) -> Presented<'a> {
        self.certificate = Some(thumbprint);
        self
    }

    /// With the nonce of the authentication request that an ID token must answer.
    #[must_use]
    pub fn nonce(mut self, nonce: &'a str) -> Presented<'a> {
        self.nonce = Some(nonce);
        self
    }

    /// With the access token that came beside an ID token: `at_hash` must be its hash, where there
    /// is one.
    #[must_use]
    pub fn access_token(mut self, access_token: &'a str) -> Presented<'a> {
        self.access_token = Some(access_token);
        self
    }

    /// With the code that came beside an ID token: `c_hash` must be its hash, where there is one.
    #[must_use]
    pub fn code(mut self, code: &'a str) -> Presented<'a> {
        self.code = Some(code);
        self
    }

    /// The caller proves the token's binding (`cnf`) itself, or has no request to prove it with.
    /// Said in so many words, because a bound token that is taken as bearer is worth stealing
    /// (known fault V11).
    #[must_use]
    pub fn binding_is_checked_elsewhere(mut self) -> Presented<'a> {
        self.binding_elsewhere = true;
        self
    }
}
