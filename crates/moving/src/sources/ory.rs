//! Ory Kratos: identities as its administration API lists them, in JSON. From its documented API
//! (`GET /admin/identities?include_credential=...`), not from a running one.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::credentials::{self, NO_HOST, in_base64url};
use crate::moved::{App, Identity, Moved, Passkey, Person};
use crate::people::{self, Draft, id_of_uuid, text, texts};
use crate::read::{Part, ReadError};
use crate::report::{Report, rows};
use crate::sources::{Options, Source};

pub(super) const SOURCE: Source = Source {
    name: "ory",
    title: "Ory Kratos",
    takes: "A JSON array of identities, or one a line: what `GET /admin/identities` answers with `include_credential=password`, `oidc`, `totp`, `webauthn` and `passkey`. Read by the documented form; no Ory was run here.",
    endings: &[".json", ".jsonl"],
    folders: &[],
    rows: ROWS,
    read,
};

rows! {
    IDENTITIES: InPart, "Identities", "State, address and name. The id is kept as its 16 bytes in base64url, so `sub` has another form than the UUID's text.";
    NAMELESS: Stays, "Identities without `email` or `username` among their traits", "Nobody could log in: give them one and import again.";
    PASSWORDS: Comes, "Password hashes: Argon2, bcrypt, PBKDF2, scrypt, Firebase's scrypt, salted SHA", "Verified as they are, and hashed again at the next login.";
    OTHER_PASSWORDS: Stays, "Password hashes of other kinds, and those without a salt", "The person sets a password by the link of account recovery.";
    TOTP: Comes, "TOTP", "With algorithm, digits and period of its URL.";
    OTHER_TOTP: Stays, "TOTP out of bounds", "The person adds an app.";
    PASSKEYS: InPart, "Passkeys, and WebAuthn keys that are passwordless", "`--rp-id` says for which host they were made, and it is that of the issuer here.";
    SECURITY_KEYS: Stays, "WebAuthn keys that are a second factor", "They are not discoverable: their person adds them again.";
    LOOKUP: Stays, "Lookup secrets", "The person makes recovery codes at /account.";
    LINKS: InPart, "Links of `oidc`", "Where an identity provider of the name is here already; else they are left out.";
    TRAITS: InPart, "Other traits", "Standard claims go into the profile; the others become attributes, if they are texts or lists of texts.";
    METADATA: Stays, "`metadata_public`, `metadata_admin`", "Attributes, if somebody writes them.";
    REST: Stays, "Clients (Ory Hydra), sessions, schemas, flows", "Register the clients here; people log in again.";
}

#[derive(Deserialize)]
struct Whole {
    id: String,
    #[serde(default)]
    state: Option<String>,
    #[serde(default)]
    traits: BTreeMap<String, Value>,
    #[serde(default)]
    verifiable_addresses: Option<Vec<Address>>,
    #[serde(default)]
    credentials: BTreeMap<String, Credential>,
    #[serde(default)]
    metadata_public: Option<Value>,
    #[serde(default)]
    metadata_admin: Option<Value>,
}

#[derive(Deserialize)]
struct Address {
    value: String,
    #[serde(default)]
    verified: bool,
}

#[derive(Deserialize)]
struct Credential {
    #[serde(default)]
    config: Value,
}

fn read(parts: &[Part], options: &Options) -> Result<Moved, ReadError> {
    let mut moved = Moved {
        from: "identities of Ory Kratos".to_owned(),
        ..Moved::default()
    };
    let mut drafts = Vec::new();
    for part in parts {
        for whole in part.lines::<Whole>()? {
            drafts.extend(person(whole, options, &mut moved.report));
        }
    }
    people::finish(&mut moved, drafts, &TRAITS);
    Ok(moved)
}

fn person(mut whole: Whole, options: &Options, report: &mut Report) -> Option<Draft> {
    let take = |traits: &mut BTreeMap<String, Value>, name: &str| {
        let found = traits.remove(name)?;
        found
            .as_str()
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    let email = take(&mut whole.traits, "email");
    let username = take(&mut whole.traits, "username").or_else(|| email.clone());
    let Some(username) = username else {
        report.add(&NAMELESS, whole.id, "");
        return None;
    };
    let verified = whole.verifiable_addresses.unwrap_or_default();
    let verified = verified
        .iter()
        .any(|one| one.verified && Some(&one.value) == email.as_ref());
    let mut person = Person {
        id: id_of_uuid(&whole.id),
        username,
        email,
        email_verified: verified,
        enabled: whole.state.as_deref() != Some("inactive"),
        ..Person::default()
    };
    if person.id.is_none() {
        report.add(
            &IDENTITIES,
            &*person.username,
            "its id is no UUID: a new one",
        );
    }
    match whole.traits.remove("name") {
        Some(Value::String(name)) => drop(person.profile.insert("name".to_owned(), name.into())),
        Some(name) => {
            let parts = [text(&name, "first"), text(&name, "last")];
            let [given, family] = parts.each_ref().map(Option::as_deref);
            people::call(&mut person, given, family, None);
        }
        None => {}
    }
    let is_said = |value: &Option<Value>| {
        let members = value.as_ref().and_then(Value::as_object);
        members.is_some_and(|members| !members.is_empty())
    };
    if is_said(&whole.metadata_public) || is_said(&whole.metadata_admin) {
        report.add(&METADATA, &*person.username, "");
    }
    for (kind, credential) in &whole.credentials {
        take_credential(kind, &credential.config, &mut person, options, report);
    }
    let attributes = whole.traits.into_iter();
    let attributes = attributes.map(|(name, value)| (name, texts(value)));
    Some(Draft {
        person,
        attributes: attributes.collect(),
    })
}

fn take_credential(
    kind: &str,
    config: &Value,
    person: &mut Person,
    options: &Options,
    report: &mut Report,
) {
    let name = person.username.clone();
    match kind {
        "password" => {
            let Some(hash) = text(config, "hashed_password") else {
                return;
            };
            match people::hash(with_logarithm(&hash)) {
                Ok(hash) => person.password_hash = Some(hash),
                Err(why) => report.add(&OTHER_PASSWORDS, name, why),
            }
        }
        "oidc" => {
            let providers = config.get("providers").and_then(Value::as_array);
            for one in providers.into_iter().flatten() {
                if let (Some(provider), Some(subject)) =
                    (text(one, "provider"), text(one, "subject"))
                {
                    person.identities.push(Identity {
                        provider,
                        subject,
                        name: None,
                    });
                }
            }
        }
        "totp" => match text(config, "totp_url").as_deref().and_then(app) {
            Some(app) => person.totp.push(app),
            None => report.add(&OTHER_TOTP, name, ""),
        },
        "webauthn" | "passkey" => {
            let keys = config.get("credentials").and_then(Value::as_array);
            for key in keys.into_iter().flatten() {
                if kind == "webauthn" && key.get("is_passwordless") != Some(&Value::Bool(true)) {
                    report.add(&SECURITY_KEYS, &*name, "");
                    continue;
                }
                match passkey(key, options) {
                    Ok(passkey) => person.passkeys.push(passkey),
                    Err(why) => report.add(&PASSKEYS, &*name, why),
                }
            }
        }
        "lookup_secret" => report.add(&LOOKUP, name, ""),
        // Mailed codes and the like are ways to log in here, too.
        _ => {}
    }
}

/// Kratos writes scrypt's N itself where PHC strings have its logarithm.
fn with_logarithm(stored: &str) -> String {
    let Some((number, rest)) = stored
        .strip_prefix("$scrypt$ln=")
        .and_then(|rest| rest.split_once(','))
    else {
        return stored.to_owned();
    };
    match number.parse::<u64>() {
        Ok(n) if n > 63 && n.is_power_of_two() => format!("$scrypt$ln={},{rest}", n.ilog2()),
        _ => stored.to_owned(),
    }
}

/// An app of a key URI.
fn app(url: &str) -> Option<App> {
    let query = url.strip_prefix("otpauth://totp/")?.split_once('?')?.1;
    let parameter = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(own, _)| *own == name).map(|(_, value)| value)
    };
    let number =
        |name: &str, usual: u64| parameter(name).map_or(Some(usual), |text| text.parse().ok());
    let secret = signet_encoding::base32::decode(parameter("secret")?)?;
    let (digits, period) = (number("digits", 6)?, number("period", 30)?);
    let algorithm = parameter("algorithm").unwrap_or("SHA1");
    credentials::app(&secret, algorithm, digits, period).ok()
}

fn passkey(key: &Value, options: &Options) -> Result<Passkey, String> {
    let rp_id = options.rp_id.clone();
    let rp_id = rp_id.ok_or(NO_HOST)?;
    let bytes = |name: &str| in_base64url(key, name);
    let authenticator = key.get("authenticator").cloned().unwrap_or_default();
    let count = authenticator.get("sign_count").and_then(Value::as_u64);
    Ok(Passkey {
        rp_id,
        id: bytes("id").ok_or("it has no id")?,
        public_key: bytes("public_key").ok_or("it has no public key")?,
        sign_count: count.and_then(|count| count.try_into().ok()).unwrap_or(0),
        aaguid: None,
        backup_eligible: None,
        transports: Vec::new(),
        label: text(key, "display_name").unwrap_or_default(),
        created_at: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_identity_comes_over_with_its_password_app_and_links() {
        let export = json!([{
            "id": "00112233-4455-6677-8899-aabbccddeeff",
            "state": "active",
            "traits": { "email": "a@example.com", "name": { "first": "A", "last": "B" }, "team": "x" },
            "verifiable_addresses": [{ "value": "a@example.com", "verified": true, "via": "email" }],
            "metadata_public": { "plan": "gold" },
            "credentials": {
                "password": { "config": { "hashed_password": "$scrypt$ln=64,r=8,p=1$zRmD8H5vrZVyTqnV2vtfaw$2WRXsnmXqjL6jZ+RPNjvXWaCzQBw10u5nLovcOuPkno" } },
                "oidc": { "config": { "providers": [{ "provider": "google", "subject": "7" }] } },
                "totp": { "config": { "totp_url": "otpauth://totp/X:a?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&algorithm=SHA256&digits=8&period=60&issuer=X" } },
                "webauthn": { "config": { "credentials": [{ "id": "AAAA" }] } },
            },
        }, { "id": "x", "traits": {} }]);
        let part = Part {
            name: "identities.json".to_owned(),
            bytes: export.to_string().into_bytes(),
        };
        let moved = read(&[part], &Options::default()).unwrap();
        let [person] = &moved.people[..] else {
            panic!()
        };
        assert_eq!(person.id.as_deref(), Some("ABEiM0RVZneImaq7zN3u_w"));
        assert!(person.email_verified && person.enabled);
        assert_eq!(person.profile["name"], "A B");
        assert_eq!(person.attributes["team"], "x");
        // 64 is the N of which passlib's string of the crypto crate's tests has the logarithm.
        assert!(
            person
                .password_hash
                .as_deref()
                .unwrap()
                .starts_with("$scrypt$ln=6,r=8")
        );
        let app = &person.totp[0];
        assert_eq!((app.algorithm, app.digits, app.period), ("SHA256", 8, 60));
        assert_eq!(person.identities[0].subject, "7");
        let what: Vec<_> = moved.report.iter().map(|(_, what, ..)| what).collect();
        for row in [&NAMELESS, &METADATA, &SECURITY_KEYS] {
            assert!(what.contains(&row.what), "{what:?}");
        }
    }

    #[test]
    fn a_line_of_another_shape_is_named_by_its_number() {
        let part = Part {
            name: "i.jsonl".to_owned(),
            bytes: b"{\"id\":\"x\",\"traits\":{}}\n\n{\"id\":7}\n".to_vec(),
        };
        let error = read(&[part], &Options::default()).err().unwrap();
        assert!(
            error
                .to_string()
                .starts_with("i.jsonl:3: id: expected a string"),
            "{error}"
        );
    }
}
