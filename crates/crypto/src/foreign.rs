//! Password hashes that other servers made: verified so that people who are imported log in with
//! the password that they have. Nothing is ever hashed this way; whoever logs in is hashed again.
//!
//! | kind | written as |
//! |---|---|
//! | Argon2id, Argon2i, Argon2d | PHC string, version 16 or 19 |
//! | bcrypt | `$2a$`, `$2b$`, `$2y$` |
//! | SHA-256 and SHA-512 crypt(3) | `$5$`, `$6$`, with or without `rounds=` |
//! | PBKDF2 of HMAC-SHA-1, -256, -512 | `$pbkdf2-sha256$i=..$`, `$pbkdf2-sha256$29000$`, `pbkdf2_sha256$..$` |
//! | scrypt | `$scrypt$ln=..,r=..,p=..$` |
//! | Firebase's scrypt | `$firescrypt$ln=..,r=..,p=1$salt$hash$salt separator$signer key` |
//! | salted SHA of LDAP (RFC 2307) | `{SSHA}`, `{SSHA256}`, `{SSHA512}`; `{CRYPT}` before one of crypt(3) |
//!
//! A stored string says what it costs to verify, and an import is somebody else's word: each kind
//! has a bound, and what asks for more is refused when it is read.

use argon2::{Algorithm, Argon2, Params, PasswordHash, PasswordVerifier, Version};
use aws_lc_rs::cipher::{AES_256, EncryptingKey, EncryptionContext, UnboundCipherKey};
use aws_lc_rs::iv::FixedLength;
use aws_lc_rs::{constant_time, digest, pbkdf2};
use sha_crypt::ShaCrypt;

use crate::password::{Cost, MAX_COST, MAX_PASSWORD_BYTES};

/// Longest imported password hash that is read, in bytes.
pub const MAX_STORED_BYTES: usize = 512;
/// Dearest imported bcrypt: 2 to this power rounds, some two seconds.
pub const MAX_BCRYPT_COST: u32 = 15;
/// Most iterations of an imported PBKDF2.
pub const MAX_PBKDF2_ITERATIONS: u32 = 5_000_000;
/// Most rounds of an imported crypt(3).
pub const MAX_CRYPT_ROUNDS: u32 = 1_000_000;
/// Longest password that crypt(3) is asked about, in bytes: each round costs its length.
pub const MAX_CRYPT_PASSWORD_BYTES: usize = 256;
/// Most memory of an imported scrypt, in bytes (128 * N * r).
pub const MAX_SCRYPT_BYTES: u64 = 256 * 1024 * 1024;
/// Most lanes of an imported scrypt; they are computed one after the other.
pub const MAX_SCRYPT_LANES: u32 = 16;
/// Most blocks that an imported scrypt computes (N * r * p).
const MAX_SCRYPT_WORK: u64 = 1 << 23;
/// Shortest salt of an imported hash, in bytes: shorter ones are shared.
const MIN_SALT: usize = 4;
/// Shortest imported hash, in bytes: shorter ones are matched by chance.
const MIN_HASH: usize = 16;
/// Longest salt of an imported hash, in bytes.
const MAX_SALT: usize = 128;
/// Longest imported hash, in bytes.
const MAX_HASH: usize = 64;

/// Why a stored string cannot be verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForeignError {
    /// Of no kind that is known, or malformed.
    #[error("the password hash is of no kind that can be verified, or malformed")]
    Unknown,
    /// It asks for more work or memory than is spent on a login.
    #[error("the password hash costs more than is spent on a login")]
    TooDear,
}

use ForeignError::{TooDear, Unknown};

/// A stored string that was read and is within the bounds.
enum Stored<'a> {
    Argon2 {
        algorithm: Algorithm,
        version: Version,
        params: Params,
        parsed: Box<PasswordHash>,
    },
    Bcrypt(&'a str),
    Crypt(&'a str),
    Pbkdf2 {
        algorithm: pbkdf2::Algorithm,
        iterations: std::num::NonZeroU32,
        salt: Vec<u8>,
        hash: Vec<u8>,
    },
    Scrypt {
        params: scrypt::Params,
        salt: Vec<u8>,
        hash: Vec<u8>,
    },
    /// What scrypt derives is the key under which the project's own key was encrypted.
    Firebase {
        params: scrypt::Params,
        salt: Vec<u8>,
        hash: Vec<u8>,
        signer_key: Vec<u8>,
    },
    Salted {
        algorithm: &'static digest::Algorithm,
        hash: Vec<u8>,
        salt: Vec<u8>,
    },
}

/// Whether this stored string could be verified: what an import asks before it takes it.
///
/// # Errors
/// [`ForeignError`], both the importer's.
pub fn check(stored: &str) -> Result<(), ForeignError> {
    read(stored).map(drop)
}

/// Whether this is what [`crate::password::hash`] makes, so that nothing here concerns it.
pub fn is_own(stored: &str) -> bool {
    stored.starts_with("$argon2id$v=19$")
}

/// Whether `stored` was made from this password, by whatever kind it is. False for a wrong
/// password, for one that is too long, and for a stored string that [`check`] refuses.
pub fn verify(password: &[u8], stored: &str) -> bool {
    if password.len() > MAX_PASSWORD_BYTES {
        return false;
    }
    match read(stored) {
        Err(Unknown | TooDear) => false,
        Ok(stored) => stored.verify(password),
    }
}

impl Stored<'_> {
    fn verify(&self, password: &[u8]) -> bool {
        match self {
            Stored::Argon2 {
                algorithm,
                version,
                params,
                parsed,
            } => Argon2::new(*algorithm, *version, params.clone())
                .verify_password(password, parsed.as_ref())
                .is_ok(),
            // bcrypt knows 72 bytes of a password, and no byte after a zero.
            Stored::Bcrypt(stored) => {
                !password.contains(&0) && bcrypt::verify(password, stored).unwrap_or(false)
            }
            Stored::Crypt(stored) => {
                password.len() <= MAX_CRYPT_PASSWORD_BYTES
                    && ShaCrypt::default()
                        .verify_password(password, *stored)
                        .is_ok()
            }
            Stored::Pbkdf2 {
                algorithm,
                iterations,
                salt,
                hash,
            } => pbkdf2::verify(*algorithm, *iterations, salt, password, hash).is_ok(),
            Stored::Scrypt { params, salt, hash } => {
                let mut made = vec![0; hash.len()];
                scrypt::scrypt(password, salt, params, &mut made).is_ok()
                    && constant_time::verify_slices_are_equal(&made, hash).is_ok()
            }
            Stored::Firebase {
                params,
                salt,
                hash,
                signer_key,
            } => {
                let mut key = [0; 32];
                let mut made = signer_key.clone();
                let encrypted = scrypt::scrypt(password, salt, params, &mut key).is_ok()
                    && encrypted(&key, &mut made).is_some();
                encrypted && constant_time::verify_slices_are_equal(&made, hash).is_ok()
            }
            Stored::Salted {
                algorithm,
                hash,
                salt,
            } => {
                let mut context = digest::Context::new(algorithm);
                context.update(password);
                context.update(salt);
                let made = context.finish();
                constant_time::verify_slices_are_equal(made.as_ref(), hash).is_ok()
            }
        }
    }
}

/// AES-256 in counter mode from zero on: each key encrypts one text.
fn encrypted(key: &[u8; 32], text: &mut [u8]) -> Option<()> {
    let key = EncryptingKey::ctr(UnboundCipherKey::new(&AES_256, key).ok()?).ok()?;
    let begin = EncryptionContext::Iv128(FixedLength::from([0; 16]));
    key.less_safe_encrypt(text, begin).ok().map(drop)
}

fn read(stored: &str) -> Result<Stored<'_>, ForeignError> {
    if stored.len() > MAX_STORED_BYTES || !stored.is_ascii() {
        return Err(Unknown);
    }
    if let Some((scheme, rest)) = stored.strip_prefix('{').and_then(|s| s.split_once('}')) {
        return match scheme.to_ascii_uppercase().as_str() {
            "SSHA" => salted(&digest::SHA1_FOR_LEGACY_USE_ONLY, rest),
            "SSHA256" => salted(&digest::SHA256, rest),
            "SSHA512" => salted(&digest::SHA512, rest),
            "CRYPT" if rest.starts_with('$') => read(rest),
            _ => Err(Unknown),
        };
    }
    let mut fields = stored.split('$');
    let first = fields.next().unwrap_or("");
    let fields: Vec<&str> = fields.collect();
    if let Some(hash) = first.strip_prefix("pbkdf2_") {
        // Django: the salt is text, the hash padded base64.
        let [iterations, salt, made] = fields[..] else {
            return Err(Unknown);
        };
        return derived(hash, iterations, salt.as_bytes().to_vec(), bytes(made)?);
    }
    match (first, &fields[..]) {
        ("", ["argon2id" | "argon2i" | "argon2d", ..]) => argon2(stored),
        ("", ["2a" | "2b" | "2y", cost, _]) => bcrypt_of(stored, cost),
        ("", ["5" | "6", rest @ ..]) => crypt(stored, rest),
        ("", ["scrypt", parameters, salt, made]) => {
            scrypt_of(parameters, bytes(salt)?, bytes(made)?)
        }
        ("", ["firescrypt", parameters, salt, made, separator, signer_key]) => {
            let salt = [bytes(salt)?, bytes(separator)?].concat();
            let signer_key = bytes(signer_key)?;
            match scrypt_of(parameters, salt, bytes(made)?)? {
                Stored::Scrypt { params, salt, hash } if hash.len() == signer_key.len() => {
                    Ok(Stored::Firebase {
                        params,
                        salt,
                        hash,
                        signer_key,
                    })
                }
                _ => Err(Unknown),
            }
        }
        ("", [kind, iterations, salt, made]) => {
            let hash = match kind.strip_prefix("pbkdf2") {
                Some("") => "sha1",
                Some(hash) => hash.strip_prefix('-').ok_or(Unknown)?,
                None => return Err(Unknown),
            };
            derived(hash, iterations, bytes(salt)?, bytes(made)?)
        }
        _ => Err(Unknown),
    }
}

fn argon2(stored: &str) -> Result<Stored<'_>, ForeignError> {
    let parsed = PasswordHash::new(stored).map_err(|_| Unknown)?;
    let algorithm = Algorithm::try_from(parsed.algorithm.as_str()).map_err(|_| Unknown)?;
    // Strings of before version 19 do not name theirs.
    let version = match parsed.version {
        None | Some(16) => Version::V0x10,
        Some(19) => Version::V0x13,
        Some(_) => return Err(Unknown),
    };
    let long = |len: Option<usize>, least| len.is_some_and(|len| len >= least);
    if !long(parsed.hash.as_ref().map(|hash| hash.len()), MIN_HASH)
        || !long(parsed.salt.as_ref().map(|salt| salt.len()), 8)
    {
        return Err(Unknown);
    }
    let params = Params::try_from(&parsed).map_err(|_| Unknown)?;
    let cost = Cost {
        memory_kib: params.m_cost(),
        passes: params.t_cost(),
        lanes: params.p_cost(),
    };
    if cost.memory_kib > MAX_COST.memory_kib
        || cost.passes > MAX_COST.passes
        || cost.lanes > MAX_COST.lanes
    {
        return Err(TooDear);
    }
    Ok(Stored::Argon2 {
        algorithm,
        version,
        params,
        parsed: Box::new(parsed),
    })
}

fn bcrypt_of<'a>(stored: &'a str, cost: &str) -> Result<Stored<'a>, ForeignError> {
    let cost: u32 = cost.parse().map_err(|_| Unknown)?;
    let parts: Result<bcrypt::HashParts, _> = stored.parse();
    match parts {
        Err(_) => Err(Unknown),
        Ok(_) if !(4..=31).contains(&cost) => Err(Unknown),
        Ok(_) if cost > MAX_BCRYPT_COST => Err(TooDear),
        Ok(_) => Ok(Stored::Bcrypt(stored)),
    }
}

fn crypt<'a>(stored: &'a str, fields: &[&str]) -> Result<Stored<'a>, ForeignError> {
    let (rounds, salt, made) = match fields {
        [rounds, salt, made] => (Some(*rounds), *salt, *made),
        [salt, made] => (None, *salt, *made),
        _ => return Err(Unknown),
    };
    if let Some(rounds) = rounds {
        let rounds = rounds.strip_prefix("rounds=").ok_or(Unknown)?;
        let rounds: u32 = rounds.parse().map_err(|_| Unknown)?;
        if rounds > MAX_CRYPT_ROUNDS {
            return Err(TooDear);
        }
        if rounds < 1000 {
            return Err(Unknown);
        }
    }
    let alphabet = |c: u8| c.is_ascii_alphanumeric() || c == b'.' || c == b'/';
    let long = if stored.starts_with("$5$") { 43 } else { 86 };
    // crypt(3) reads no more than 16 characters of a salt.
    if !(1..=16).contains(&salt.len()) || made.len() != long || !made.bytes().all(alphabet) {
        return Err(Unknown);
    }
    Ok(Stored::Crypt(stored))
}

fn scrypt_of(parameters: &str, salt: Vec<u8>, hash: Vec<u8>) -> Result<Stored<'_>, ForeignError> {
    let (mut log_n, mut r, mut p) = (None, None, None);
    for parameter in parameters.split(',') {
        let (name, value) = parameter.split_once('=').ok_or(Unknown)?;
        let value: u32 = value.parse().map_err(|_| Unknown)?;
        match name {
            "ln" => log_n = Some(value),
            "r" => r = Some(value),
            "p" => p = Some(value),
            _ => return Err(Unknown),
        }
    }
    let (Some(log_n @ 1..=63), Some(r @ 1..), Some(p @ 1..)) = (log_n, r, p) else {
        return Err(Unknown);
    };
    let blocks = (1u64 << log_n).saturating_mul(u64::from(r));
    if p > MAX_SCRYPT_LANES
        || blocks.saturating_mul(128) > MAX_SCRYPT_BYTES
        || blocks.saturating_mul(u64::from(p)) > MAX_SCRYPT_WORK
    {
        return Err(TooDear);
    }
    let params = u8::try_from(log_n).map_err(|_| Unknown)?;
    let params = scrypt::Params::new(params, r, p).map_err(|_| Unknown)?;
    fits(&salt, &hash)?;
    Ok(Stored::Scrypt { params, salt, hash })
}

/// PBKDF2; `iterations` as passlib writes them, or as `i=..,l=..` of a PHC string.
fn derived<'a>(
    hash_name: &str,
    iterations: &str,
    salt: Vec<u8>,
    hash: Vec<u8>,
) -> Result<Stored<'a>, ForeignError> {
    let algorithm = match hash_name {
        "sha1" => pbkdf2::PBKDF2_HMAC_SHA1,
        "sha256" => pbkdf2::PBKDF2_HMAC_SHA256,
        "sha512" => pbkdf2::PBKDF2_HMAC_SHA512,
        _ => return Err(Unknown),
    };
    let count = iterations
        .split(',')
        .find_map(|field| field.strip_prefix("i="))
        .unwrap_or(iterations);
    let count: u32 = count.parse().map_err(|_| Unknown)?;
    if count > MAX_PBKDF2_ITERATIONS {
        return Err(TooDear);
    }
    fits(&salt, &hash)?;
    Ok(Stored::Pbkdf2 {
        algorithm,
        iterations: count.try_into().map_err(|_| Unknown)?,
        salt,
        hash,
    })
}

fn salted<'a>(
    algorithm: &'static digest::Algorithm,
    text: &str,
) -> Result<Stored<'a>, ForeignError> {
    let mut hash = bytes(text)?;
    if hash.len() < algorithm.output_len() + MIN_SALT {
        return Err(Unknown);
    }
    let salt = hash.split_off(algorithm.output_len());
    fits(&salt, &hash)?;
    Ok(Stored::Salted {
        algorithm,
        hash,
        salt,
    })
}

fn fits(salt: &[u8], hash: &[u8]) -> Result<(), ForeignError> {
    match (MIN_SALT..=MAX_SALT).contains(&salt.len()) && (MIN_HASH..=MAX_HASH).contains(&hash.len())
    {
        true => Ok(()),
        false => Err(Unknown),
    }
}

/// Base64 as these strings have it: padded or not, and with `.` in the place of `+` (passlib).
fn bytes(text: &str) -> Result<Vec<u8>, ForeignError> {
    let text = text.trim_end_matches('=');
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    let (mut held, mut bits) = (0u32, 0);
    for c in text.bytes() {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' | b'.' => 62,
            b'/' => 63,
            _ => return Err(Unknown),
        };
        held = (held << 6) | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((held >> bits) as u8);
            held &= (1 << bits) - 1;
        }
    }
    // A rest of six bits is no byte, and what is left over is nothing.
    match bits < 6 && held == 0 {
        true => Ok(out),
        false => Err(Unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each made from [`PASSWORD`] by the tool that is named.
    const MADE: &[(&str, &str)] = &[
        (
            "python bcrypt 2b",
            "$2b$04$L.WRoyBdvXkRCsCtIB0iy.hDmxTE0NA11urmvM18QuATbwJXfl7pa",
        ),
        (
            "python bcrypt 2a",
            "$2a$04$4vMFXTFxxohWCzObDHK4p.A43lZ/4k6TsYg1Byh/ai4KgwRAmXLRW",
        ),
        (
            "htpasswd -B",
            "$2y$04$7WSTcw/7cffl9cXCWlfvguI6MrrSQzCg6QUgcqdiAa9KsQxJIAMPu",
        ),
        (
            "openssl passwd -6",
            "$6$Ky9B9De4u6079YUX$4Xr.DGhuY8P1S5sjC2ltluilrOSXMSVEqQMvl9SCCGKEv/WIrsWaIk1W0FU3VdwnOprKzm/FhZnAe2oIwqWZy0",
        ),
        (
            "openssl passwd -5",
            "$5$Le0GxcHVCFCrcnC0$BKPcacbKmaFde91tL5geIofwS49KozBIOmd26ziM8Z7",
        ),
        (
            "mkpasswd sha-512 rounds",
            "$6$rounds=1234$.2Y8.9wEecmtVHdK$wKRJZhQ1OYvf8qdXNslvorspQWYMu6id7M7qUmFTQvmN19i/RCMehQ/rcZawdv0HBxwQonQL/TrFAs6O/SEeS0",
        ),
        (
            "mkpasswd sha-256 rounds",
            "$5$rounds=1234$7gvWHhmgnHa5yGz6$FLxKiE3OD1QssVRPrhfD2PZN6l4dzHEUOHx7M/jz.F4",
        ),
        (
            "passlib sha512_crypt",
            "$6$rounds=1500$b63IO27tJx82k0sf$8YNuQboFQRUTpcsi7gxN13HKVlsRGut44MxgNA/LteAn4JSSBwGhciJYtR9ZobQOrogpOtgsenUo2Hk21xQ7r.",
        ),
        (
            "passlib pbkdf2_sha1",
            "$pbkdf2$500$mPMe41zLGWPMOadU6t37Pw$Ri1P2zAhUsLLgLQehHCP71THvRA",
        ),
        (
            "passlib pbkdf2_sha256",
            "$pbkdf2-sha256$500$2XtPqXUupXSOkdK69947Zw$q/7ybFT798btvppnPV4M0GiArQFEQoQuMB.ZQvRb5NM",
        ),
        (
            "the same as a PHC string",
            "$pbkdf2-sha256$i=500,l=32$2XtPqXUupXSOkdK69947Zw$q/7ybFT798btvppnPV4M0GiArQFEQoQuMB+ZQvRb5NM",
        ),
        (
            "passlib pbkdf2_sha512",
            "$pbkdf2-sha512$500$5lxLKUWodQ5h7N1bi9Ha2w$369nwVOPwOKzkRiSVGI8wN/GFSkty8FwkamoJ.tIn3jEqcfSX55h7GuDTyV/W.vMYiBEAeOOKR9hojZJaltwzg",
        ),
        (
            "passlib django_pbkdf2_sha256",
            "pbkdf2_sha256$500$E5RFQ3VjLEWy$D0+CQqGT49d1NfaCigzIsAF3ViY0oybJJmoCBaUdV8g=",
        ),
        (
            "passlib django_pbkdf2_sha1",
            "pbkdf2_sha1$500$QrWcUANGNurA$rSBxKm0j+BUno+hSjv5F0blYOKE=",
        ),
        (
            "passlib scrypt",
            "$scrypt$ln=6,r=8,p=1$zRmD8H5vrZVyTqnV2vtfaw$2WRXsnmXqjL6jZ+RPNjvXWaCzQBw10u5nLovcOuPkno",
        ),
        (
            "passlib ldap_salted_sha1",
            "{SSHA}r4sQQf2biJuov3EuHOKbPJQPwdSi1Pof",
        ),
        (
            "passlib ldap_salted_sha256",
            "{SSHA256}7dgvWN8InR991J6pSKjNufz6F48CZvF06xMauAMoeFyf01qrdW6tNQ==",
        ),
        (
            "passlib ldap_salted_sha512",
            "{SSHA512}7uVoQHtqNZVz+XdOT0ufK5Of+BI7i/g+i92R7tZ2TVWLZZj9fu4eE9Yx0gyVjUgpnxXCa968jJVnbyqb2y+jHJ+TUkoJYYzR",
        ),
        (
            "passlib ldap_sha512_crypt",
            "{CRYPT}$6$rounds=1000$LYfs7nsTNI4oZKlv$N/JMFWGA0ZXa01OgLmclODpmiH/XaasVJUWbWLCcdfGRTi6BeDvuQWz0cy3w99N2skJCRi2KPzwkyyvpZ9hoH.",
        ),
        (
            "argon2-cffi argon2id",
            "$argon2id$v=19$m=64,t=1,p=1$BM0WSyrxRtni0SKQd9HbEw$1xZjCc9ar5DC9VREKTu4nE874F8nlm0aqYsO3HUTsIk",
        ),
        (
            "argon2-cffi argon2i",
            "$argon2i$v=19$m=64,t=1,p=1$Y4RvgjJAzEN8LSnn+Nghcw$YSZNt/Cdh03OPOSx5lAnwkucD3ODnO2n/OWo7wbPw4g",
        ),
        (
            "argon2-cffi argon2d",
            "$argon2d$v=19$m=64,t=1,p=1$Z7iwCyI54WVMByeYHUnzeA$SwM6pudicRV0/NhdNPRZOAaMaPAnBzcaLdpQTg5QoEw",
        ),
        (
            "argon2-cffi v16",
            "$argon2id$v=16$m=64,t=1,p=1$c2FsdHNhbHRzYWx0$+Gm7QI+ztnvYUI6X3z+1CP9COq5JaHM2CrXhHlNPjNk",
        ),
    ];
    const PASSWORD: &str = "correct horse \u{e4}";

    #[test]
    fn what_independent_tools_made_verifies_and_nothing_else_does() {
        for (tool, stored) in MADE {
            assert_eq!(check(stored), Ok(()), "{tool}");
            assert!(verify(PASSWORD.as_bytes(), stored), "{tool}");
            for wrong in [
                "",
                "correct horse",
                "correct horse \u{e4} ",
                "Correct horse \u{e4}",
            ] {
                assert!(!verify(wrong.as_bytes(), stored), "{tool}");
            }
            let long = [b'x'; MAX_PASSWORD_BYTES + 1];
            assert!(!verify(&long, stored), "{tool}");
        }
    }

    #[test]
    fn what_firebase_documents_and_what_keycloak_exports_verify() {
        for (tool, password, stored) in [
            (
                "firebase/scrypt, its README",
                "user1password",
                "$firescrypt$ln=14,r=8,p=1$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==$Bw==$jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==",
            ),
            // python hashlib.pbkdf2_hmac, with the lengths that Keycloak has: 16 bytes of salt,
            // and of hash 64, 32 or, of its oldest algorithm, 64.
            (
                "pbkdf2-sha512, 64 bytes",
                "old password",
                "$pbkdf2-sha512$i=210,l=64$NWfbAWsg8ZLa7wu1niCYDg==$/Zx0sFerykEr0waQaxCYA+elI7vSsXP/Y0vjbyepBQd0MepXy0eYnCtw/H7LMx8XKN/VOZpnurUpl/eXj4JsyA==",
            ),
            (
                "pbkdf2-sha256, 32 bytes",
                "old password",
                "$pbkdf2-sha256$i=600,l=32$Q1gJd/4JzDrHRvqRaO1UZA==$T3o9dv+X3tyGLUJu3RjD8mdaaZVP3EDPWt9dJGn9iSg=",
            ),
            (
                "pbkdf2, 64 bytes",
                "old password",
                "$pbkdf2$i=27,l=64$xhMLhbkNfRxVs3+FD7fnTg==$isLF5W6p+gRXfSP08GyWSDBwrvQmEvw3VJ9yVHV7KSx5qCHDhCpUBlw8thfA7OrFl54ddtzydcYJt83zqJZuHA==",
            ),
            (
                "pbkdf2-sha256, 64 bytes",
                "old password",
                "$pbkdf2-sha256$i=27,l=64$Q1gJd/4JzDrHRvqRaO1UZA==$XzeXi2KLuQVpEri2OAKfyIlv5zMwaPTLh6ZqKjwauiEVImul39ToH52vJqD+ch2rqajLuqLNyBsvFQzYkMDI5w==",
            ),
        ] {
            assert_eq!(check(stored), Ok(()), "{tool}");
            assert!(verify(password.as_bytes(), stored), "{tool}");
            assert!(!verify(b"another", stored), "{tool}");
        }
        let short = "$firescrypt$ln=14,r=8,p=1$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9A==$Bw==$jxspr8Ki0RYycVU8zykbdA";
        assert_eq!(check(short), Ok(()));
        assert_eq!(check(&short.replace("ln=14", "ln=40")), Err(TooDear));
        assert_eq!(check(&short[..short.len() - 4]), Err(Unknown));
    }

    #[test]
    fn a_changed_character_of_a_hash_never_verifies() {
        for (tool, stored) in MADE {
            // The last characters carry bits that are no part of a byte.
            let at = stored.len() - 6;
            let other = if stored.as_bytes()[at] == b'A' {
                "B"
            } else {
                "A"
            };
            let mut changed = (*stored).to_owned();
            changed.replace_range(at..=at, other);
            assert!(!verify(PASSWORD.as_bytes(), &changed), "{tool}");
        }
    }

    #[test]
    fn bcrypt_knows_seventy_two_bytes_of_a_password() {
        // python bcrypt 5, of 72 times x.
        let stored = "$2b$04$dRAmc/Z0jEsrgy/s46Q3/u/xrGbZAA9cVPXa7KJheAgGLYPkky6j.";
        assert!(verify(&[b'x'; 80], stored));
        assert!(!verify(&[b'x'; 71], stored));
        assert!(!verify(b"x\0", stored));
    }

    #[test]
    fn a_hash_that_costs_too_much_is_refused_when_it_is_read() {
        let bcrypt = "$2b$16$L.WRoyBdvXkRCsCtIB0iy.hDmxTE0NA11urmvM18QuATbwJXfl7pa";
        let crypt = format!("$6$rounds=999999999$saltsalt${}", "a".repeat(86));
        for dear in [
            bcrypt,
            &crypt,
            "$pbkdf2-sha256$4294967295$2XtPqXUupXSOkdK69947Zw$q/7ybFT798btvppnPV4M0GiArQFEQoQuMB.ZQvRb5NM",
            "pbkdf2_sha256$5000001$E5RFQ3VjLEWy$D0+CQqGT49d1NfaCigzIsAF3ViY0oybJJmoCBaUdV8g=",
            "$scrypt$ln=30,r=8,p=1$zRmD8H5vrZVyTqnV2vtfaw$2WRXsnmXqjL6jZ+RPNjvXWaCzQBw10u5nLovcOuPkno",
            "$scrypt$ln=6,r=8,p=17$zRmD8H5vrZVyTqnV2vtfaw$2WRXsnmXqjL6jZ+RPNjvXWaCzQBw10u5nLovcOuPkno",
            "$scrypt$ln=16,r=32,p=16$zRmD8H5vrZVyTqnV2vtfaw$2WRXsnmXqjL6jZ+RPNjvXWaCzQBw10u5nLovcOuPkno",
            "$scrypt$ln=63,r=4294967295,p=1$zRmD8H5vrZVyTqnV2vtfaw$2WRXsnmXqjL6jZ+RPNjvXWaCzQBw10u5nLovcOuPkno",
            "$argon2id$v=19$m=4194304,t=1,p=1$BM0WSyrxRtni0SKQd9HbEw$1xZjCc9ar5DC9VREKTu4nE874F8nlm0aqYsO3HUTsIk",
            "$argon2i$v=19$m=64,t=1000,p=1$BM0WSyrxRtni0SKQd9HbEw$1xZjCc9ar5DC9VREKTu4nE874F8nlm0aqYsO3HUTsIk",
        ] {
            assert_eq!(check(dear), Err(TooDear), "{dear}");
            assert!(!verify(b"p", dear));
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let long = format!("$2b$04${}", "a".repeat(600));
        for bad in [
            "",
            "$",
            "plain text",
            "$1$saltsalt$2vnaRpHa6Jxjz5n83ok8Z0",
            "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=",
            "{SSHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=",
            "{CRYPT}{CRYPT}$6$a$b",
            "$2x$04$L.WRoyBdvXkRCsCtIB0iy.hDmxTE0NA11urmvM18QuATbwJXfl7pa",
            "$2b$00$L.WRoyBdvXkRCsCtIB0iy.hDmxTE0NA11urmvM18QuATbwJXfl7pa",
            "$2b$04$short",
            "$5$$BKPcacbKmaFde91tL5geIofwS49KozBIOmd26ziM8Z7",
            "$6$rounds=1$salt$x",
            "$pbkdf2-md5$500$mPMe41zLGWPMOadU6t37Pw$Ri1P2zAhUsLLgLQehHCP71THvRA",
            "$pbkdf2-sha256$0$2XtPqXUupXSOkdK69947Zw$q/7ybFT798btvppnPV4M0GiArQFEQoQuMB.ZQvRb5NM",
            "$scrypt$ln=6,r=0,p=1$zRmD8H5vrZVyTqnV2vtfaw$2WRXsnmXqjL6jZ+RPNjvXWaCzQBw10u5nLovcOuPkno",
            "$argon2id$v=17$m=64,t=1,p=1$BM0WSyrxRtni0SKQd9HbEw$1xZjCc9ar5DC9VREKTu4nE874F8nlm0aqYsO3HUTsIk",
            &long,
        ] {
            assert_eq!(check(bad), Err(Unknown), "{bad}");
            assert!(!verify(b"", bad));
        }
    }
}
