//! What a token says, and whether it holds: one file a form, and what all forms have in common.
pub(crate) mod binding;
pub(crate) mod claim_checks;
pub(crate) mod claims;
#[cfg(feature = "compact")]
pub(crate) mod compact;
pub(crate) mod id_token;
pub(crate) mod jwt;
pub(crate) mod presented;
