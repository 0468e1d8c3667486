//! Passwords as Django stores them.

use crate::credentials::base64;
use crate::people;

/// A hash that can be verified here; Err(None): the account has no password.
pub(super) fn read(stored: &str) -> Result<String, Option<String>> {
    // Django marks those that nobody can log in with so.
    if stored.is_empty() || stored.starts_with('!') {
        return Err(None);
    }
    let Some((algorithm, rest)) = stored.split_once('$') else {
        return Err(Some("it is none of Django's".to_owned()));
    };
    let known = match algorithm {
        "pbkdf2_sha256" | "pbkdf2_sha1" => Some(stored.to_owned()),
        "argon2" => Some(format!("${rest}")),
        // Its bcrypt_sha256 hashes the password before, and is another kind.
        "bcrypt" => rest.starts_with('$').then(|| rest.to_owned()),
        "scrypt" => scrypt(rest),
        _ => None,
    };
    let known = known.ok_or_else(|| Some("of another algorithm".to_owned()))?;
    people::hash(known).map_err(Some)
}

/// `N$salt$r$p$hash`; the salt is its text.
fn scrypt(rest: &str) -> Option<String> {
    let fields: Vec<&str> = rest.split('$').collect();
    let [cost, salt, r, p, hash] = fields[..] else {
        return None;
    };
    let cost: u64 = cost
        .parse()
        .ok()
        .filter(|cost: &u64| cost.is_power_of_two())?;
    let salt = base64(salt.as_bytes());
    Some(format!(
        "$scrypt$ln={},r={r},p={p}${salt}${hash}",
        cost.ilog2()
    ))
}
