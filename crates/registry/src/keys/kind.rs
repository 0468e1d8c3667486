//! What a signing key is for: one key for one token format.
use signet_crypto::Algorithm;
use signet_oauth::settings::Settings;

/// One row of the keys' plan: each has an active key, and a standby key ahead of its use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum KeyKind {
    /// JWTs, signed with a JOSE algorithm; published in the JWKS.
    Jose(Algorithm),
    /// Compact tokens; published in the document of compact keys, unless it is symmetric.
    Compact(signet_compact::Algorithm),
}

impl KeyKind {
    /// Everything that keys are kept for under these settings.
    pub fn all(settings: &Settings) -> Vec<KeyKind> {
        let jose = settings.signing_algs.iter().copied().map(KeyKind::Jose);
        jose.chain([KeyKind::Compact(settings.compact_alg)])
            .collect()
    }

    /// As records and the admin API name it: a JOSE algorithm, or `compact-` and the algorithm's
    /// name in that format.
    pub const fn name(self) -> &'static str {
        use signet_compact::Algorithm as Compact;
        match self {
            KeyKind::Jose(algorithm) => algorithm.name(),
            KeyKind::Compact(Compact::HmacSha256) => "compact-hmac-sha256",
            KeyKind::Compact(Compact::Ed25519) => "compact-ed25519",
            KeyKind::Compact(Compact::MlDsa44) => "compact-ml-dsa-44",
            KeyKind::Compact(Compact::Groth16Poseidon) => "compact-groth16-poseidon",
            KeyKind::Compact(Compact::Groth16Hybrid) => "compact-groth16-hybrid",
        }
    }

    /// The kind of a name.
    pub fn from_name(name: &str) -> Option<KeyKind> {
        match name.strip_prefix("compact-") {
            Some(name) => signet_compact::Algorithm::from_name(name).map(KeyKind::Compact),
            None => Algorithm::from_name(name).map(KeyKind::Jose),
        }
    }
}

impl From<Algorithm> for KeyKind {
    fn from(algorithm: Algorithm) -> KeyKind {
        KeyKind::Jose(algorithm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_which_kind_it_is_and_no_two_share_one() {
        let jose = Algorithm::ALL.iter().copied().map(KeyKind::Jose);
        let compact = signet_compact::Algorithm::ALL.map(KeyKind::Compact);
        for kind in jose.chain(compact) {
            assert_eq!(KeyKind::from_name(kind.name()), Some(kind));
        }
    }
}
