//! Password hashes of Auth0, as they are verified here.

use super::form::{CustomHash, Encoded};
use crate::credentials::{base64, bytes, hex};
use crate::people;

/// A hash that can be verified here, or why it cannot.
pub(super) fn custom(given: &CustomHash) -> Result<String, String> {
    let password = given
        .password
        .as_ref()
        .and_then(|form| form.encoding.as_deref());
    if password.is_some_and(|name| !["utf8", "ascii"].contains(&name)) {
        return Err("of passwords in another encoding than UTF-8".to_owned());
    }
    let stored = match given.algorithm.as_str() {
        // These say everything themselves.
        "argon2" | "bcrypt" | "pbkdf2" | "ldap" => given.hash.value.clone(),
        "sha1" | "sha256" | "sha512" => salted(given)?,
        "scrypt" => scrypt(given)?,
        _ => return Err(String::new()),
    };
    people::hash(stored)
}

/// The bytes of a text in one of the encodings.
fn decoded(text: &str, encoding: Option<&str>) -> Result<Vec<u8>, String> {
    let found = match encoding {
        None | Some("utf8") => Some(text.as_bytes().to_vec()),
        Some("base64") => bytes(text),
        Some("hex") => hex(text),
        Some(_) => None,
    };
    found.ok_or_else(|| "it is not in the encoding that it names".to_owned())
}

/// The hash itself: in hexadecimal digits, unless it says otherwise.
fn made(hash: &Encoded) -> Result<Vec<u8>, String> {
    decoded(&hash.value, Some(hash.encoding.as_deref().unwrap_or("hex")))
}

/// A digest of the password and a salt after it, as LDAP has it.
fn salted(given: &CustomHash) -> Result<String, String> {
    let salt = given.salt.as_ref().ok_or("it has no salt")?;
    if salt.position.as_deref() != Some("suffix") {
        return Err("its salt stands before the password".to_owned());
    }
    let scheme = match given.algorithm.as_str() {
        "sha1" => "SSHA",
        "sha256" => "SSHA256",
        _ => "SSHA512",
    };
    let mut both = made(&given.hash)?;
    both.extend(decoded(&salt.value, salt.encoding.as_deref())?);
    Ok(format!("{{{scheme}}}{}", base64(&both)))
}

/// scrypt; what is left out has the values of the documentation.
fn scrypt(given: &CustomHash) -> Result<String, String> {
    let salt = given.salt.as_ref().ok_or("it has no salt")?;
    let salt = decoded(&salt.value, salt.encoding.as_deref())?;
    let cost = given.cost.unwrap_or(16_384);
    if !cost.is_power_of_two() {
        return Err("its cost is no power of two".to_owned());
    }
    let (r, p) = (
        given.block_size.unwrap_or(8),
        given.parallelization.unwrap_or(1),
    );
    let (log_n, salt, hash) = (cost.ilog2(), base64(&salt), base64(&made(&given.hash)?));
    Ok(format!("$scrypt$ln={log_n},r={r},p={p}${salt}${hash}"))
}
