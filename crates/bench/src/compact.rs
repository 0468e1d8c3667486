//! What the bench of compact tokens signs and verifies: many keys, and no message twice.
//!
//! A deterministic signature of one message under one key measures that message's luck: ML-DSA
//! tries until a signature is short enough (FIPS 204 section 6.2), as often as once or thirty
//! times. So each run goes over keys and messages, and the figure is an average.

use signet_compact::{
    Algorithm, KeyError, Payload, Policy, Scopes, SigningKey, Token, VerifyingKey, Version,
};

/// Keys of each algorithm.
pub const KEYS: usize = 64;
/// Tokens of each algorithm that are verified: several under each key, all different.
pub const TOKENS: usize = 4 * KEYS;

/// Keys, and tokens made with them: token `n` under key `n % KEYS`.
pub struct Inputs {
    /// Fresh keys.
    pub keys: Vec<SigningKey>,
    /// What verifies under each.
    pub verifying: Vec<VerifyingKey>,
    /// Tokens of [`payload`].
    pub tokens: Vec<Vec<u8>>,
}

impl Inputs {
    /// Generates keys and tokens of a signature algorithm.
    ///
    /// # Errors
    /// [`KeyError::Algorithm`] for the zero-knowledge algorithms.
    pub fn generate(algorithm: Algorithm, version: Version) -> Result<Inputs, KeyError> {
        let keys = (0..KEYS)
            .map(|_| SigningKey::generate(algorithm))
            .collect::<Result<Vec<_>, _>>()?;
        let verifying = keys
            .iter()
            .map(SigningKey::verifying_key)
            .collect::<Result<_, _>>()?;
        let tokens = (0..TOKENS)
            .map(|n| token(&keys[n % KEYS], version, n))
            .collect();
        Ok(Inputs {
            keys,
            verifying,
            tokens,
        })
    }

    /// The payloads' bytes: what the bare primitive signs.
    pub fn messages(&self) -> Vec<&[u8]> {
        self.tokens
            .iter()
            .filter_map(|token| Some(Token::parse(token).ok()?.payload_bytes()))
            .collect()
    }
}

/// The claims of the published table; the time changes, so that no message is signed twice.
pub fn payload(n: usize) -> Payload<'static> {
    Payload {
        subject: "user:alice",
        audience: "api.example.com",
        scopes: Scopes::new(&["read", "write"]).expect("in order"),
        issued_at: 1_000_000 + n as u64,
        expires_at: u64::MAX,
        ..Payload::default()
    }
}

/// The payload `claims` with the time of message `n`: what costs to put together is put together
/// once.
#[inline]
pub fn at(claims: &Payload<'static>, n: usize) -> Payload<'static> {
    Payload {
        issued_at: 1_000_000 + n as u64,
        ..*claims
    }
}

/// A token of [`payload`].
///
/// # Panics
/// Where the key cannot sign, which a generated one can.
pub fn token(key: &SigningKey, version: Version, n: usize) -> Vec<u8> {
    let mut out = Vec::new();
    key.sign_into(version, &payload(n), &mut out)
        .expect("within the limits");
    out
}

/// What the tokens are checked against.
pub fn policy() -> Policy<'static> {
    Policy::for_audience("api.example.com", 1 << 40)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn c11_the_bench_goes_over_many_keys_and_signs_no_message_twice() {
        for algorithm in [
            Algorithm::HmacSha256,
            Algorithm::Ed25519,
            Algorithm::MlDsa44,
        ] {
            for version in [Version::V0, Version::V1] {
                let inputs = Inputs::generate(algorithm, version).unwrap();
                let keys: HashSet<[u8; 32]> =
                    inputs.keys.iter().map(SigningKey::key_hash).collect();
                assert!(keys.len() >= 32 && keys.len() == inputs.keys.len());
                let messages = inputs.messages();
                let different: HashSet<&[u8]> = messages.iter().copied().collect();
                assert!(different.len() >= 128 && different.len() == inputs.tokens.len());
                // What is timed is what it is said to be: every token holds, under its own key and
                // under no other.
                for (n, token) in inputs.tokens.iter().enumerate() {
                    let own = &inputs.verifying[n % KEYS];
                    assert!(own.verify(token, &policy()).is_ok());
                    let other = &inputs.verifying[(n + 1) % KEYS];
                    assert!(other.verify(token, &policy()).is_err());
                }
                // Signing continues with messages that were not verified.
                let next = token(&inputs.keys[0], version, TOKENS);
                assert!(!different.contains(Token::parse(&next).unwrap().payload_bytes()));
            }
        }
    }
}
