//! What a person of Keycloak logs in with.

use serde_json::Value;
use signet_encoding::base32;

use super::form::Credential;
use super::known::Known;
use super::rows;
use crate::credentials::{self, NO_HOST, in_base64url};
use crate::moved::{App, Passkey, Person};
use crate::people;
use crate::read::nested;
use crate::report::Report;

/// Gives the person a credential, or reports why not.
pub(super) fn read(
    credential: &Credential,
    person: &mut Person,
    known: &Known<'_>,
    report: &mut Report,
) {
    let name = person.username.clone();
    match credential.kind.as_deref() {
        Some("password") => match password(credential) {
            Ok(hash) => {
                person.password_hash = Some(hash);
                person.must_change_password |= credential.temporary == Some(true);
            }
            Err(why) => report.add(&rows::OTHER_PASSWORDS, name, why),
        },
        Some("otp" | "totp" | "hotp") => match app(credential) {
            Ok(app) => person.totp.push(app),
            Err(why) => report.add(&rows::HOTP, name, why),
        },
        Some(kind @ ("webauthn" | "webauthn-passwordless")) => {
            let second = kind == "webauthn";
            let row = match second {
                true => &rows::SECURITY_KEYS,
                false => &rows::PASSWORDLESS,
            };
            if second && !known.discoverable {
                report.add(row, name, "");
                return;
            }
            let party = known.relying_party[usize::from(!second)].as_deref();
            match passkey(credential, party) {
                Ok(passkey) => person.passkeys.push(passkey),
                Err(why) => report.add(row, name, why),
            }
        }
        Some("recovery-authn-codes") => report.add(&rows::RECOVERY_CODES, name, ""),
        kind => report.add(
            &rows::OTHER_CREDENTIALS,
            name,
            kind.unwrap_or("without a type"),
        ),
    }
}

/// The first of a member's values, where Keycloak has lists of texts.
fn first(data: &Value, name: &str) -> Option<String> {
    match data.get("additionalParameters")?.get(name)? {
        Value::Array(values) => values.first()?.as_str().map(str::to_owned),
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}

fn password(credential: &Credential) -> Result<String, String> {
    let secret = nested(credential.secret_data.as_deref()).unwrap_or_default();
    let data = nested(credential.credential_data.as_deref()).unwrap_or_default();
    let text = |value: &Value, name: &str| Some(value.get(name)?.as_str()?.to_owned());
    let hash = text(&secret, "value").or_else(|| credential.hashed_salted_value.clone());
    let salt = text(&secret, "salt").or_else(|| credential.salt.clone());
    let algorithm = text(&data, "algorithm").or_else(|| credential.algorithm.clone());
    let iterations = data.get("hashIterations").and_then(Value::as_u64);
    let iterations = iterations.or(credential.hash_iterations);
    let lacks = || "it lacks its hash, salt or iterations".to_owned();
    let (hash, salt) = (hash.ok_or_else(lacks)?, salt.ok_or_else(lacks)?);
    let iterations = iterations.ok_or_else(lacks)?;
    // Standard base64, as PHC strings have it without padding.
    let (hash, salt) = (hash.trim_end_matches('='), salt.trim_end_matches('='));
    let stored = match algorithm.as_deref() {
        Some(kind @ ("pbkdf2" | "pbkdf2-sha256" | "pbkdf2-sha512")) => {
            format!("${kind}$i={iterations}${salt}${hash}")
        }
        Some("argon2") => {
            let kind = first(&data, "type").unwrap_or_else(|| "id".to_owned());
            let version = match first(&data, "version").as_deref() {
                Some("1.0") => 16,
                Some("1.3") | None => 19,
                Some(_) => return Err("an unknown version of argon2".to_owned()),
            };
            let number = |name: &str, usual: u32| match first(&data, name) {
                None => Ok(usual),
                Some(text) => text
                    .parse()
                    .map_err(|_| format!("argon2: {name} is no number")),
            };
            let (memory, lanes) = (number("memory", 7168)?, number("parallelism", 1)?);
            if !["id", "i", "d"].contains(&&*kind) {
                return Err("an unknown kind of argon2".to_owned());
            }
            format!("$argon2{kind}$v={version}$m={memory},t={iterations},p={lanes}${salt}${hash}")
        }
        Some(_) => return Err(String::new()),
        None => return Err("it names no algorithm".to_owned()),
    };
    people::hash(stored)
}

fn app(credential: &Credential) -> Result<App, String> {
    let secret = nested(credential.secret_data.as_deref()).unwrap_or_default();
    let data = nested(credential.credential_data.as_deref()).unwrap_or_default();
    if data.get("subType").and_then(Value::as_str) != Some("totp") {
        return Err(String::new());
    }
    let value = secret.get("value").and_then(Value::as_str);
    let value = value
        .filter(|value| !value.is_empty())
        .ok_or("it has no secret")?;
    // The key is the text itself, unless it says otherwise.
    let secret = match data.get("secretEncoding").and_then(Value::as_str) {
        Some("BASE32") => base32::decode(value).ok_or("its secret is not base32")?,
        Some(_) => return Err("its secret is in an unknown encoding".to_owned()),
        None => value.as_bytes().to_vec(),
    };
    let algorithm = data.get("algorithm").and_then(Value::as_str);
    let number = |name: &str, usual: u64| data.get(name).and_then(Value::as_u64).unwrap_or(usual);
    let (digits, period) = (number("digits", 6), number("period", 30));
    let app = credentials::app(&secret, algorithm.unwrap_or("HmacSHA1"), digits, period)?;
    Ok(App {
        label: credential.user_label.clone().unwrap_or_default(),
        created_at: credential.created_date.map(|at| at / 1000),
        ..app
    })
}

fn passkey(credential: &Credential, party: Option<&str>) -> Result<Passkey, String> {
    let data = nested(credential.credential_data.as_deref()).unwrap_or_default();
    let party = party.ok_or(NO_HOST)?;
    let bytes = |name: &str| in_base64url(&data, name);
    let transports = data.get("transports").and_then(Value::as_array);
    let transports = transports.into_iter().flatten().filter_map(Value::as_str);
    Ok(Passkey {
        rp_id: party.to_owned(),
        id: bytes("credentialId").ok_or("it has no id")?,
        public_key: bytes("credentialPublicKey").ok_or("it has no public key")?,
        sign_count: data
            .get("counter")
            .and_then(Value::as_u64)
            .and_then(|count| count.try_into().ok())
            .unwrap_or(0),
        aaguid: people::text(&data, "aaguid"),
        backup_eligible: None,
        transports: transports.map(str::to_owned).collect(),
        label: credential.user_label.clone().unwrap_or_default(),
        created_at: credential.created_date.map(|at| at / 1000),
    })
}
