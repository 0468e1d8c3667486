//! Argon2id passwords, as PHC strings (RFC 9106).
//!
//! Hashing is meant to be slow. Callers run it on a bounded pool; what is bounded here is each
//! single hash, by the length of the password and by the parameters that a stored string may name.

use argon2::{Algorithm, Argon2, Params, PasswordHash, PasswordHasher, PasswordVerifier, Version};

use crate::{Secret, random};

/// Memory in KiB, passes, lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Memory, in KiB; at least 8 for each lane.
    pub memory_kib: u32,
    /// Passes over the memory; at least 1.
    pub passes: u32,
    /// Lanes; at least 1.
    pub lanes: u32,
}

impl Default for Cost {
    /// 19 MiB, 2 passes, 1 lane: OWASP's second recommendation, tens of milliseconds of one core.
    fn default() -> Self {
        Cost {
            memory_kib: 19_456,
            passes: 2,
            lanes: 1,
        }
    }
}

/// Longest password that is hashed, in bytes; longer ones are refused before hashing, so that a
/// megabyte of password does not cost seconds.
pub const MAX_PASSWORD_BYTES: usize = 1024;

/// The dearest hash that is computed: 256 MiB, 16 passes, 16 lanes. A stored string that asks for
/// more is refused.
pub const MAX_COST: Cost = Cost {
    memory_kib: 256 * 1024,
    passes: 16,
    lanes: 16,
};

const OUTPUT_LEN: usize = 32;
const SALT_LEN: usize = 16;

/// The PHC string of a password under a new random salt.
///
/// # Errors
/// [`PasswordError::TooLong`] for the person's password, [`PasswordError::Parameters`] for the
/// operator's cost.
pub fn hash(password: &[u8], cost: Cost) -> Result<String, PasswordError> {
    let argon2 = argon2(password, cost)?;
    let mut salt = [0; SALT_LEN];
    random::fill_system(&mut salt);
    argon2
        .hash_password_with_salt(password, &salt)
        .map(|hash| hash.to_string())
        .map_err(|_| PasswordError::Parameters)
}

/// Whether `stored` is the PHC string of this password.
///
/// False for a wrong password, for one that is too long, and for a stored string that cannot be
/// read, is not Argon2id version 19, or names parameters above [`MAX_COST`].
pub fn verify(password: &[u8], stored: &str) -> bool {
    verify_stored(password, stored).is_some()
}

fn verify_stored(password: &[u8], stored: &str) -> Option<()> {
    let stored = PasswordHash::new(stored).ok()?;
    if stored.algorithm != Algorithm::Argon2id.ident()
        || stored.version != Some(Version::V0x13.into())
    {
        return None;
    }
    // Shorter outputs and salts would verify by chance or be shared. Both lengths are in bytes.
    if stored.hash?.len() < 16 || stored.salt?.len() < 8 {
        return None;
    }
    let params = Params::try_from(&stored).ok()?;
    let cost = Cost {
        memory_kib: params.m_cost(),
        passes: params.t_cost(),
        lanes: params.p_cost(),
    };
    argon2(password, cost)
        .ok()?
        .verify_password(password, &stored)
        .ok()
}

/// Whether `stored` was hashed at another cost than `cost`, so that the next correct password
/// should be hashed again.
pub fn needs_rehash(stored: &str, cost: Cost) -> bool {
    let params = PasswordHash::new(stored)
        .ok()
        .and_then(|stored| Params::try_from(&stored).ok());
    params.is_none_or(|params| {
        params.m_cost() != cost.memory_kib
            || params.t_cost() != cost.passes
            || params.p_cost() != cost.lanes
    })
}

/// Spends what [`verify`] would: called for an unknown user, so that known and unknown ones take
/// the same time.
pub fn verify_nobody(password: &[u8], cost: Cost) {
    let password = &password[..password.len().min(MAX_PASSWORD_BYTES)];
    let derived = derive_key(password, &[0; SALT_LEN], cost);
    std::hint::black_box(derived.is_ok());
}

/// Raw Argon2id to 32 bytes, for identity files and sealed keys. The salt has at least 8 bytes.
///
/// # Errors
/// As [`hash`].
pub fn derive_key(
    password: &[u8],
    salt: &[u8],
    cost: Cost,
) -> Result<Secret<[u8; 32]>, PasswordError> {
    let mut out = [0; OUTPUT_LEN];
    argon2(password, cost)?
        .hash_password_into(password, salt, &mut out)
        .map_err(|_| PasswordError::Parameters)?;
    let secret = Secret::new(out);
    zeroize::Zeroize::zeroize(&mut out);
    Ok(secret)
}

fn argon2(password: &[u8], cost: Cost) -> Result<Argon2<'static>, PasswordError> {
    if password.len() > MAX_PASSWORD_BYTES {
        return Err(PasswordError::TooLong);
    }
    if cost.memory_kib > MAX_COST.memory_kib
        || cost.passes > MAX_COST.passes
        || cost.lanes > MAX_COST.lanes
    {
        return Err(PasswordError::Parameters);
    }
    let params = Params::new(cost.memory_kib, cost.passes, cost.lanes, Some(OUTPUT_LEN))
        .map_err(|_| PasswordError::Parameters)?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

/// Why a password was not hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PasswordError {
    /// The person's password is longer than [`MAX_PASSWORD_BYTES`]; the answer may say so.
    #[error("the password is too long")]
    TooLong,
    /// The operator's cost is below Argon2's least or above [`MAX_COST`], or the salt is too short.
    #[error("the parameters are out of bounds")]
    Parameters,
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHEAP: Cost = Cost {
        memory_kib: 64,
        passes: 1,
        lanes: 1,
    };

    #[test]
    fn a_password_verifies_against_its_own_hash_only() {
        let stored = hash(b"correct horse", CHEAP).expect("hashed");
        assert!(
            stored.starts_with("$argon2id$v=19$m=64,t=1,p=1$"),
            "{stored}"
        );
        assert!(verify(b"correct horse", &stored));
        assert!(!verify(b"correct horsf", &stored));
        assert!(!verify(b"", &stored));
        assert_ne!(
            stored,
            hash(b"correct horse", CHEAP).expect("hashed"),
            "salted"
        );
    }

    #[test]
    fn rfc_9106_parameters_of_a_published_string() {
        // The example of the reference implementation's README: argon2id, 64 MiB, 2 passes.
        let stored = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
        assert!(verify(b"password", stored));
        assert!(!verify(b"Password", stored));
    }

    #[test]
    fn long_passwords_are_refused_before_hashing() {
        let longest = [b'a'; MAX_PASSWORD_BYTES];
        assert!(hash(&longest, CHEAP).is_ok());
        let longer = [b'a'; MAX_PASSWORD_BYTES + 1];
        assert_eq!(hash(&longer, CHEAP), Err(PasswordError::TooLong));
        assert!(!verify(&longer, &hash(b"a", CHEAP).expect("hashed")));
    }

    #[test]
    fn stored_strings_that_ask_for_too_much_are_refused() {
        let good = hash(b"p", CHEAP).expect("hashed");
        for (from, to) in [
            ("m=64", "m=4294967295"),
            ("m=64", "m=262145"),
            ("m=64", "m=7"),
            ("t=1", "t=17"),
            ("t=1", "t=0"),
            ("p=1", "p=17"),
            ("p=1", "p=0"),
            ("v=19", "v=16"),
            ("argon2id", "argon2i"),
            ("argon2id", "argon2d"),
            ("argon2id", "scrypt"),
        ] {
            let changed = good.replacen(from, to, 1);
            assert_ne!(changed, good);
            assert!(!verify(b"p", &changed), "{changed}");
        }
        for bad in [
            "",
            "$",
            "p",
            "$argon2id$",
            "$argon2id$v=19$m=64,t=1,p=1",
            "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ",
        ] {
            assert!(!verify(b"p", bad), "{bad}");
        }
        // A hash cut to a few bytes would be matched by chance.
        let cut = &good[..good.rfind('$').expect("PHC") + 1 + 14];
        assert!(!verify(b"p", cut));
    }

    #[test]
    fn costs_out_of_bounds_are_refused() {
        for cost in [
            Cost {
                memory_kib: 7,
                ..CHEAP
            },
            Cost { passes: 0, ..CHEAP },
            Cost { lanes: 0, ..CHEAP },
            Cost {
                memory_kib: MAX_COST.memory_kib + 1,
                ..CHEAP
            },
            Cost {
                passes: MAX_COST.passes + 1,
                ..CHEAP
            },
            Cost {
                lanes: MAX_COST.lanes + 1,
                memory_kib: 1024,
                passes: 1,
            },
        ] {
            assert_eq!(hash(b"p", cost), Err(PasswordError::Parameters), "{cost:?}");
        }
    }

    #[test]
    fn another_cost_asks_for_a_new_hash() {
        let stored = hash(b"p", CHEAP).expect("hashed");
        assert!(!needs_rehash(&stored, CHEAP));
        assert!(needs_rehash(&stored, Cost::default()));
        assert!(needs_rehash("junk", CHEAP));
        verify_nobody(&[0; 5_000], CHEAP);
    }

    #[test]
    fn derived_keys_depend_on_password_salt_and_cost() {
        let derive =
            |password: &[u8], salt: &[u8], cost| derive_key(password, salt, cost).expect("derived");
        let key = derive(b"p", b"salt salt", CHEAP);
        assert_eq!(key, derive(b"p", b"salt salt", CHEAP));
        assert_ne!(key, derive(b"q", b"salt salt", CHEAP));
        assert_ne!(key, derive(b"p", b"salt sal2", CHEAP));
        assert_ne!(key, derive(b"p", b"salt salt", Cost { passes: 2, ..CHEAP }));
        assert!(derive_key(b"p", b"short", CHEAP).is_err());
    }
}
