//! Ids of agents and hashes of objects.

use std::fmt;
use std::str::FromStr;

use signet_crypto::hash::sha256;

use crate::base64url;
use crate::error::{Refusal, Result};

/// An agent: SHA-256 over its inception key and the hash of its next key. It never changes; see
/// [`AgentId::commit`].
///
/// As text `agent:` and 43 characters of base64url, which is the only form that is read: an id can
/// be part of a file name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AgentId(pub [u8; 32]);

/// SHA-256 of an object's payload, which is also the object's name; or of content.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash(pub [u8; 32]);

const PREFIX: &str = "agent:";

impl Hash {
    /// The hash of these bytes.
    pub fn of(data: &[u8]) -> Hash {
        Hash(sha256(data))
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", base64url::encode(&self.0))
    }
}

impl fmt::Debug for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&base64url::encode(&self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for AgentId {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<AgentId> {
        let body = text.strip_prefix(PREFIX).ok_or(Refusal::Malformed)?;
        body.parse::<Hash>().map(|hash| AgentId(hash.0))
    }
}

impl FromStr for Hash {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Hash> {
        let bytes = base64url::decode(text)?;
        bytes.try_into().map(Hash).map_err(|_| Refusal::Malformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Known fault G14: ids used as file names walked out of the store.
    #[test]
    fn an_id_is_never_a_path() {
        let id = AgentId([0xff; 32]);
        assert_eq!(id.to_string().parse(), Ok(id));
        for bad in [
            "",
            "agent:",
            "agent:../../../../etc/passwd",
            "agent:..%2f..%2fAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "agent:/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "agent:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB",
            "agent:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA ",
            "Agent:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        ] {
            assert!(bad.parse::<AgentId>().is_err(), "{bad}");
        }
        let text = AgentId([0x3f; 32]).to_string();
        assert!(
            text.chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_:".contains(c))
        );
    }
}
