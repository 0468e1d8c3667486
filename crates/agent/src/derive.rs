//! Keys derived from an identity's keys (HKDF-SHA256, RFC 5869), each with a context of its own.
//!
//! `HKDF(salt = "signet-agent-derive", input = the seeds one after the other, info = ["...", agent,
//! key, purpose, name, alg])` with the info in CBOR, so no two contexts have the same bytes.

use signet_crypto::{Secret, kdf};

use crate::cbor::Encoder;
use crate::error::{Refusal, Result};
use crate::keys::{SEED_LEN, SigningKeys, Suite};
use crate::method::Purpose;
use crate::object::Signer;

/// The seed for one purpose, name and algorithm number.
fn seed(signer: &Signer<'_>, purpose: Purpose, name: &str, alg: i64) -> Secret<[u8; SEED_LEN]> {
    let seeds: Vec<u8> = signer
        .keys
        .seeds()
        .iter()
        .flat_map(|seed| *seed.expose())
        .collect();
    let seeds = Secret::new(seeds);
    let mut info = Encoder::new();
    info.array(6)
        .text("signet-agent-derive")
        .bytes(&signer.by.agent.0)
        .uint(signer.by.key)
        .uint(purpose.number())
        .text(name)
        .int(alg);
    kdf::hkdf_sha256(b"signet-agent-derive", seeds.expose(), &info.finish())
}

/// The keys of a session, device or capability of this name: always the same ones, of which none
/// tells another.
///
/// # Errors
/// [`Refusal::Library`] if the library fails.
pub fn derive(
    signer: &Signer<'_>,
    purpose: Purpose,
    name: &str,
    suite: Suite,
) -> Result<SigningKeys> {
    let algorithms = suite.algorithms().iter();
    let seeds = algorithms.map(|alg| seed(signer, purpose, name, alg.number()));
    SigningKeys::from_seeds(suite, seeds.collect()).map_err(|_| Refusal::Library)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::create;

    #[test]
    fn each_context_has_a_key_of_its_own() {
        let alice = create("alice", Suite::Ed25519, 0).expect("created");
        let signer = alice.document.signer(&alice.keys);
        let mut all = Vec::new();
        for purpose in Purpose::ALL {
            for name in ["", "a", "b"] {
                for suite in [Suite::Ed25519, Suite::MlDsa44] {
                    let keys = derive(&signer, purpose, name, suite).expect("derived");
                    let again = derive(&signer, purpose, name, suite).expect("derived");
                    assert_eq!(keys.set(), again.set());
                    all.push(*keys.seeds()[0].expose());
                }
            }
        }
        all.push(*alice.keys.seeds()[0].expose());
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
