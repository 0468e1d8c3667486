//! A token that was checked.

use crate::{Claims, Refusal, TokenKind};
use signet_crypto::Algorithm;
use std::sync::{Arc, OnceLock};

/// What a token was, apart from its claims.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Form {
    /// A JWT, signed with this algorithm.
    Jwt(Algorithm),
    /// A compact token.
    #[cfg(feature = "compact")]
    Compact(signet_compact::Algorithm),
    /// Any text that its issuer called active (RFC 7662).
    Introspected,
}

#[derive(Debug)]
struct Facts {
    claims: Claims,
    kind: TokenKind,
    form: Form,
    /// SHA-256 over what was signed
    identity: OnceLock<[u8; 32]>,
}

/// A token that a [`crate::Verifier`] accepted, and nothing else: it cannot be made in any other
/// way. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Verified(Arc<Facts>);

impl Verified {
    pub(crate) fn new(mut claims: Claims, kind: TokenKind, form: Form, token: &str) -> Verified {
        claims.keep_token(token);
        Verified(Arc::new(Facts {
            claims,
            kind,
            form,
            identity: OnceLock::new(),
        }))
    }

    /// As `new`, where the token's text without its signature is not what was signed.
    pub(crate) fn with_identity(self, identity: [u8; 32]) -> Verified {
        // It is new, so nobody has asked before.
        let _ = self.0.identity.set(identity);
        self
    }

    /// The token as it was presented.
    pub(crate) fn text(&self) -> &str {
        self.0.claims.token()
    }

    /// What it says.
    pub fn claims(&self) -> &Claims {
        &self.0.claims
    }

    /// What it was accepted as.
    pub fn kind(&self) -> TokenKind {
        self.0.kind
    }

    /// What it was written as.
    pub fn form(&self) -> Form {
        self.0.form
    }

    /// Names the token: SHA-256 over what was signed. Two signatures over the same claims (an ECDSA
    /// signature has two forms, s and n - s) are one token, so that a deny list by this name cannot
    /// be walked around.
    pub fn identity(&self) -> [u8; 32] {
        let signed = || match self.text().rsplit_once('.') {
            Some((signed, _)) => signet_crypto::hash::sha256(signed.as_bytes()),
            None => signet_crypto::hash::sha256(self.text().as_bytes()),
        };
        *self.0.identity.get_or_init(signed)
    }

    /// Demands a scope of this one request.
    ///
    /// # Errors
    /// [`Refusal::Scope`]; its challenge names the scope: [`crate::Challenge::scope`].
    pub fn require_scope(&self, scope: &str) -> Result<(), Refusal> {
        match self.claims().has_scope(scope) {
            true => Ok(()),
            false => Err(Refusal::Scope),
        }
    }
}
