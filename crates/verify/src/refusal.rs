//! Why a token was refused: a code for the operator, an opaque answer for the peer, a counter for
//! each.

use crate::per_thread::PerThread;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Which answer a refusal gets: the error codes of RFC 6750 section 3.1, RFC 9449 section 7.1 and
/// RFC 9470 section 3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// 401 without an error code: the request had no token (RFC 6750 section 3.1).
    Unauthenticated,
    /// 400 `invalid_request`
    InvalidRequest,
    /// 401 `invalid_token`
    InvalidToken,
    /// 403 `insufficient_scope`
    InsufficientScope,
    /// 401 `insufficient_user_authentication`
    InsufficientUserAuthentication,
    /// 401 `invalid_dpop_proof`
    InvalidDpopProof,
    /// 401 `use_dpop_nonce`, with a nonce
    UseDpopNonce,
    /// 503: not the peer's fault, and no statement about the token
    Unavailable,
}

impl Answer {
    /// The HTTP status.
    pub const fn status(self) -> u16 {
        match self {
            Answer::InvalidRequest => 400,
            Answer::InsufficientScope => 403,
            Answer::Unavailable => 503,
            Answer::Unauthenticated
            | Answer::InvalidToken
            | Answer::InsufficientUserAuthentication
            | Answer::InvalidDpopProof
            | Answer::UseDpopNonce => 401,
        }
    }

    /// The registered error code; none where the request had no token.
    pub const fn error(self) -> Option<&'static str> {
        match self {
            Answer::Unauthenticated => None,
            Answer::InvalidRequest => Some("invalid_request"),
            Answer::InvalidToken => Some("invalid_token"),
            Answer::InsufficientScope => Some("insufficient_scope"),
            Answer::InsufficientUserAuthentication => Some("insufficient_user_authentication"),
            Answer::InvalidDpopProof => Some("invalid_dpop_proof"),
            Answer::UseDpopNonce => Some("use_dpop_nonce"),
            Answer::Unavailable => Some("temporarily_unavailable"),
        }
    }
}

macro_rules! refusals {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $answer:ident, $text:literal;)*) => {
        /// Why a token was refused. For logs and counters: a peer learns no more than
        /// [`Refusal::answer`].
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        pub enum Refusal {
            $($(#[$doc])* #[doc = $text] $name,)*
        }

        impl Refusal {
            /// All of them, in order.
            pub const ALL: &'static [Refusal] = &[$(Refusal::$name,)*];

            /// A short name for counters: lower case, underscores.
            pub const fn code(self) -> &'static str {
                match self { $(Refusal::$name => $code,)* }
            }

            /// A sentence for an operator.
            pub const fn describe(self) -> &'static str {
                match self { $(Refusal::$name => $text,)* }
            }

            /// What the peer receives.
            pub const fn answer(self) -> Answer {
                match self { $(Refusal::$name => Answer::$answer,)* }
            }
        }
    };
}

refusals! {
    NoToken = "no_token", Unauthenticated, "the request carries no token";
    Ambiguous = "ambiguous", InvalidRequest, "the request carries more than one token, proof or way of sending them";
    TooLarge = "too_large", InvalidToken, "the token, or a part of it, is too large";
    Malformed = "malformed", InvalidToken, "the token is not of a form that is read here";
    Encryption = "encryption", InvalidToken, "the token is encrypted in a way that is not allowed, or cannot be decrypted";
    Algorithm = "algorithm", InvalidToken, "the algorithm is unknown, none, or not allowed";
    Critical = "critical", InvalidToken, "the header names a critical extension";
    Extension = "extension", InvalidToken, "the header has b64 or zip";
    Type = "type", InvalidToken, "the token is of another type";
    UnknownKey = "unknown_key", InvalidToken, "the issuer has no such key";
    AmbiguousKey = "ambiguous_key", InvalidToken, "the token names no key and several would fit";
    KeyMismatch = "key_mismatch", InvalidToken, "the key is for another algorithm";
    KeysUnavailable = "keys_unavailable", Unavailable, "the issuer's keys could not be fetched, or are older than their grace";
    IssuerDisabled = "issuer_disabled", InvalidToken, "the issuer was disabled";
    Signature = "signature", InvalidToken, "the signature is not valid";
    Claims = "claims", InvalidToken, "the claims are not strict JSON, or one has the wrong type";
    MissingClaim = "missing_claim", InvalidToken, "a claim that this kind of token must have is missing";
    ForbiddenClaim = "forbidden_claim", InvalidToken, "a claim that this kind of token must not have is there";
    Issuer = "issuer", InvalidToken, "the token is of another issuer";
    Audience = "audience", InvalidToken, "the token is for another audience";
    AuthorizedParty = "authorized_party", InvalidToken, "the token was issued to a party that is not allowed";
    Expired = "expired", InvalidToken, "the token has expired";
    NotYetValid = "not_yet_valid", InvalidToken, "the token is not valid yet";
    IssuedInFuture = "issued_in_future", InvalidToken, "the token was issued in the future";
    TooOld = "too_old", InvalidToken, "the token was issued too long ago";
    Nonce = "nonce", InvalidToken, "the nonce is missing or not the expected one";
    AccessTokenHash = "access_token_hash", InvalidToken, "at_hash is missing or does not belong to the access token";
    CodeHash = "code_hash", InvalidToken, "c_hash is missing or does not belong to the code";
    LogoutEvent = "logout_event", InvalidToken, "the token carries no logout event";
    Replayed = "replayed", InvalidToken, "a token that may be used once came a second time";
    Scope = "scope", InsufficientScope, "the token lacks a scope";
    AuthenticationContext = "authentication_context", InsufficientUserAuthentication, "the user was not authenticated in a way that is demanded";
    AuthenticationAge = "authentication_age", InsufficientUserAuthentication, "the user was authenticated too long ago";
    Rule = "rule", InvalidToken, "a rule of the operator refused the token";
    Unbound = "unbound", InvalidToken, "the token must be bound to its sender and is not";
    UnknownConfirmation = "unknown_confirmation", InvalidToken, "the token is bound in a way that is not known here";
    Scheme = "scheme", InvalidToken, "a token bound by DPoP was sent as Bearer, or the reverse";
    ProofMissing = "proof_missing", InvalidDpopProof, "the token is bound by DPoP and no proof came with it";
    Proof = "proof", InvalidDpopProof, "the DPoP proof is not valid for this request";
    ProofTime = "proof_time", InvalidDpopProof, "the DPoP proof is too old or from the future";
    ProofKey = "proof_key", InvalidToken, "the DPoP proof was made with another key than the token's";
    ProofNonce = "proof_nonce", UseDpopNonce, "the DPoP proof carries no nonce of this verifier, or an expired one";
    ProofReplayed = "proof_replayed", InvalidDpopProof, "the DPoP proof came a second time";
    ProofOrigin = "proof_origin", InvalidDpopProof, "the request is not for an origin of the policy";
    ReplayShareUsed = "replay_share_used", Unavailable, "one key has used its share of the proofs that can be remembered";
    ReplayGuardFull = "replay_guard_full", Unavailable, "more proofs are fresh than can be remembered";
    CertificateMissing = "certificate_missing", InvalidToken, "the token is bound to a certificate and none was presented";
    Certificate = "certificate", InvalidToken, "the token is bound to another certificate";
    Inactive = "inactive", InvalidToken, "the issuer says that the token is not active";
    IntrospectionUnavailable = "introspection_unavailable", Unavailable, "the issuer could not be asked about the token";
    Revoked = "revoked", InvalidToken, "the token was revoked";
    RevocationUnknown = "revocation_unknown", Unavailable, "whether the token was revoked cannot be known at the moment";
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.describe())
    }
}

impl std::error::Error for Refusal {}

/// What a verifier has decided so far. Plain relaxed counters, each thread's own: a refusal costs
/// one addition, and no log line.
#[derive(Debug, Default)]
pub struct Counters {
    threads: PerThread<Counts>,
}

/// What one thread counted.
#[derive(Debug)]
struct Counts {
    accepted: AtomicU64,
    cached: AtomicU64,
    refused: [AtomicU64; Refusal::ALL.len()],
}

impl Default for Counts {
    fn default() -> Self {
        Counts {
            accepted: AtomicU64::new(0),
            cached: AtomicU64::new(0),
            refused: [const { AtomicU64::new(0) }; Refusal::ALL.len()],
        }
    }
}

impl Counters {
    pub(crate) fn accept(&self, cached: bool) {
        let own = self.threads.own();
        own.accepted.fetch_add(1, Relaxed);
        if cached {
            own.cached.fetch_add(1, Relaxed);
        }
    }

    /// Counts a refusal that was decided outside of the verifier (a request without a token, say).
    pub fn refuse(&self, refusal: Refusal) {
        self.threads.own().refused[refusal as usize].fetch_add(1, Relaxed);
    }

    /// Tokens accepted, cached ones among them.
    pub fn accepted(&self) -> u64 {
        self.sum(|counts| &counts.accepted)
    }

    /// Tokens found in the cache.
    pub fn cached(&self) -> u64 {
        self.sum(|counts| &counts.cached)
    }

    /// Tokens refused for this reason.
    pub fn refused(&self, refusal: Refusal) -> u64 {
        self.sum(|counts| &counts.refused[refusal as usize])
    }

    fn sum(&self, which: impl Fn(&Counts) -> &AtomicU64) -> u64 {
        let all = self.threads.all();
        all.map(|counts| which(counts).load(Relaxed)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_in_the_order_of_the_enum() {
        for (index, refusal) in Refusal::ALL.iter().enumerate() {
            assert_eq!(*refusal as usize, index);
            assert!(
                Refusal::ALL[..index]
                    .iter()
                    .all(|other| other.code() != refusal.code())
            );
        }
    }
}
