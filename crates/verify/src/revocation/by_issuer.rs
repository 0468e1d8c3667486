//! Each issuer's revocations concern its own tokens: `alice` of one is not `alice` of another.

use super::{Revocation, RevocationHealth, Revocations};
use crate::Claims;
use std::sync::Arc;

/// Revocations of several issuers. A token of an issuer that is not among them is not revoked; one
/// that names no issuer (a compact token of version 0) must be live for all of them.
#[derive(Default)]
pub struct RevocationsByIssuer(Vec<(String, Arc<dyn Revocations>)>);

impl RevocationsByIssuer {
    /// Of no issuer yet.
    pub fn new() -> RevocationsByIssuer {
        RevocationsByIssuer::default()
    }

    /// And those of this issuer.
    #[must_use]
    pub fn and(mut self, issuer: impl Into<String>, revocations: Arc<dyn Revocations>) -> Self {
        self.0.push((issuer.into(), revocations));
        self
    }
}

impl Revocations for RevocationsByIssuer {
    fn check(&self, claims: &Claims, now: u64) -> Revocation {
        let mut answer = Revocation::Live;
        for (issuer, revocations) in &self.0 {
            if claims.iss().is_some_and(|iss| iss != issuer) {
                continue;
            }
            match revocations.check(claims, now) {
                Revocation::Live => {}
                Revocation::Revoked => return Revocation::Revoked,
                Revocation::Unknown => answer = Revocation::Unknown,
            }
        }
        answer
    }

    fn health(&self, now: u64) -> Vec<RevocationHealth> {
        self.0.iter().flat_map(|(_, one)| one.health(now)).collect()
    }
}
