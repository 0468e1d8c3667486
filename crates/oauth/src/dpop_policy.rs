//! DPoP at the authorization server (RFC 9449).
/// What a proof may be signed with, as the `algs` of a challenge.
pub const PROOF_ALGORITHMS: &str =
    "ES256 ES384 ES512 EdDSA Ed25519 RS256 PS256 ML-DSA-44 ML-DSA-65 ML-DSA-87";
