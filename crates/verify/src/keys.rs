//! An issuer's keys, prepared: each for one algorithm, found by key id.

use signet_crypto::{Algorithm, VerifyingKey};
use signet_jose::{jwk::JwkSet, jws::HeaderRef};
use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering::Relaxed},
};

/// Without a `kid`, at most this many keys are tried.
const MAX_TRIED: usize = 4;

/// One key for one algorithm.
#[derive(Debug)]
pub(crate) struct PreparedKey {
    kid: Option<Box<str>>,
    key: VerifyingKey,
    /// what the key is, whatever it is called: its thumbprint
    identity: [u8; 32],
    /// set when the key is in the issuer's set no longer: whatever it signed ends with it, cached
    /// or not
    withdrawn: AtomicBool,
    /// the header of the first token that the key was found to have signed
    known: OnceLock<KnownHeader>,
}

/// A header as tokens carry it and what it says. An issuer writes the same one with each key, so it
/// need not be read again.
#[derive(Debug)]
struct KnownHeader {
    encoded: Box<[u8]>,
    typ: Option<Box<str>>,
}

impl PreparedKey {
    pub(crate) fn verifying_key(&self) -> &VerifyingKey {
        &self.key
    }

    /// Remembers the header of a token that this key signed. Only one that names the key: without a
    /// name, which key is meant depends on the other keys.
    pub(crate) fn remember(&self, encoded: &[u8], header: &HeaderRef<'_>) {
        if self.known.get().is_none() && header.kid.is_some() && encoded.len() <= MAX_KNOWN {
            let typ = header.typ.as_deref().map(Box::from);
            let encoded = encoded.into();
            // Another thread may have been first: theirs is as good.
            let _ = self.known.set(KnownHeader { encoded, typ });
        }
    }

    pub(crate) fn is_withdrawn(&self) -> bool {
        self.withdrawn.load(Relaxed)
    }

    fn is(&self, other: &PreparedKey) -> bool {
        self.identity == other.identity
            && self.key.algorithm() == other.key.algorithm()
            && self.kid == other.kid
    }
}

/// Longest header that is remembered, in bytes.
const MAX_KNOWN: usize = 1024;

/// What a token's `kid` and `alg` lead to.
pub(crate) enum Found {
    /// The key, or the few that may be tried.
    Keys(Arc<PreparedKey>, Vec<Arc<PreparedKey>>),
    /// No key has this id.
    Unknown,
    /// The id is known, and its key is for another algorithm (RFC 8725 section 3.1).
    Mismatch,
    /// No `kid`, and several keys fit.
    Ambiguous,
}

/// What happens to a token that names no key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WithoutKid {
    /// It is refused.
    Refuse,
    /// It is checked if exactly one key fits its algorithm.
    #[default]
    OnlyKey,
    /// The keys that fit are tried, at most four.
    TryEach,
}

/// All keys of an issuer at one moment.
#[derive(Debug, Default)]
pub(crate) struct KeyTable {
    keys: Vec<Arc<PreparedKey>>,
}

impl KeyTable {
    /// Every key of the set, for each of the algorithms that it may be used with. Keys that were
    /// there before stay the same objects.
    pub(crate) fn prepare(set: &JwkSet, algorithms: &[Algorithm], before: &KeyTable) -> KeyTable {
        let mut keys = Vec::new();
        for jwk in &set.keys {
            let identity = jwk.thumbprint();
            for algorithm in algorithms {
                // A key that cannot be prepared (a weak one, a point off its curve) is as if it
                // were not there.
                if let Ok(key) = jwk.verifying_key(*algorithm) {
                    keys.push(PreparedKey {
                        kid: jwk.kid.as_deref().map(Box::from),
                        key: key.kept(),
                        identity,
                        withdrawn: AtomicBool::new(false),
                        known: OnceLock::new(),
                    });
                }
            }
        }
        KeyTable::keeping(keys, before)
    }

    /// One shared secret (HS256 and its like).
    pub(crate) fn secret(kid: Option<&str>, key: VerifyingKey, identity: [u8; 32]) -> KeyTable {
        let key = PreparedKey {
            kid: kid.map(Box::from),
            key,
            identity,
            withdrawn: AtomicBool::new(false),
            known: OnceLock::new(),
        };
        KeyTable {
            keys: vec![Arc::new(key)],
        }
    }

    fn keeping(keys: Vec<PreparedKey>, before: &KeyTable) -> KeyTable {
        let keep = |key: PreparedKey| {
            let old = before
                .keys
                .iter()
                .find(|old| old.is(&key) && !old.is_withdrawn());
            old.cloned().unwrap_or_else(|| Arc::new(key))
        };
        KeyTable {
            keys: keys.into_iter().map(keep).collect(),
        }
    }

    /// Ends every key that `next` does not have.
    pub(crate) fn withdraw_all_but(&self, next: &KeyTable) {
        for key in &self.keys {
            if !next.keys.iter().any(|kept| Arc::ptr_eq(kept, key)) {
                key.withdrawn.store(true, Relaxed);
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The key that signed a token with this very header before, and the header's `typ`.
    pub(crate) fn of_known_header(
        &self,
        encoded: &[u8],
    ) -> Option<(&Arc<PreparedKey>, Option<&str>)> {
        self.keys.iter().find_map(|key| {
            let known = key.known.get()?;
            (*known.encoded == *encoded).then_some((key, known.typ.as_deref()))
        })
    }

    /// `kid` and `alg` are the sender's words: they choose among the issuer's own keys, and nothing
    /// else.
    pub(crate) fn find(&self, kid: Option<&str>, alg: Algorithm, rule: WithoutKid) -> Found {
        let fits = |key: &&Arc<PreparedKey>| key.key.algorithm() == alg;
        let Some(kid) = kid else {
            let mut fitting = self.keys.iter().filter(fits);
            let Some(first) = fitting.next() else {
                return Found::Unknown;
            };
            let others: Vec<_> = fitting.take(MAX_TRIED - 1).cloned().collect();
            return match rule {
                WithoutKid::Refuse => Found::Unknown,
                WithoutKid::OnlyKey if !others.is_empty() => Found::Ambiguous,
                WithoutKid::OnlyKey | WithoutKid::TryEach => Found::Keys(first.clone(), others),
            };
        };
        let mut known = false;
        for key in self
            .keys
            .iter()
            .filter(|key| key.kid.as_deref() == Some(kid))
        {
            if fits(&key) {
                return Found::Keys(key.clone(), Vec::new());
            }
            known = true;
        }
        match known {
            true => Found::Mismatch,
            false => Found::Unknown,
        }
    }
}
