//! A client of the configuration as the server's record of it: its members are read by the rows
//! that every other client's are.

use std::path::Path;

use signet_crypto::hash::sha256;
use signet_encoding::json::{self, Limits, Object};
use signet_jose::jwk::JwkSet;
use signet_oauth::{
    client::{
        AuthMethod, Client, ClientSecret, ConsentPolicy, RefreshRotation,
        metadata::{self, MEMBERS, Member, Rules, Shape},
    },
    settings::Settings,
};

use super::{
    duration::Duration,
    fault::{Faults, Seal},
    model,
};

/// What a member may take: a client's keys are the longest.
const LIMITS: Limits = Limits {
    bytes: 256 * 1024,
    depth: 16,
    members: 4096,
};

/// One client. `seal`: `None` checks without reading secrets.
pub fn client(
    entry: &model::Client,
    path: &str,
    base: &Path,
    seal: Option<Seal<'_>>,
    faults: &mut Faults,
) -> Option<Client> {
    let before = faults.0.len();
    if entry.client_id.is_empty()
        || entry.client_id.len() > 128
        || !entry.client_id.bytes().all(|b| b.is_ascii_graphic())
    {
        faults.add(
            format!("{path}.client_id"),
            "a client_id is 1 to 128 visible ASCII characters",
        );
    }
    let mut client = Client::new(entry.client_id.clone(), 0);
    members(entry, path, &mut client, faults);
    if let Some(rotate) = entry.rotate_refresh_tokens {
        said_once(
            entry,
            "refresh_rotation",
            "rotate_refresh_tokens",
            path,
            faults,
        );
        client.refresh_rotation = match rotate {
            true => RefreshRotation::Rotate,
            false => RefreshRotation::Keep,
        };
    }
    if let Some(ask) = entry.ask_for_consent {
        said_once(entry, "consent", "ask_for_consent", path, faults);
        client.consent = match ask {
            true => ConsentPolicy::Ask,
            false => ConsentPolicy::Skip,
        };
    }
    if entry.jwks.is_some() {
        client.jwks = jwks(entry, path, base, faults);
    }
    client.secrets = secrets(
        entry,
        client.token_endpoint_auth_method,
        path,
        base,
        seal,
        faults,
    );
    (faults.0.len() == before).then_some(client)
}

/// The rules that every client is held to, whoever registered it.
pub fn check(
    entry: &model::Client,
    client: &Client,
    settings: &Settings,
    path: &str,
    faults: &mut Faults,
) {
    if let Err(bad) = metadata::check(client, settings) {
        let member = match bad.member {
            "refresh_rotation" if entry.rotate_refresh_tokens.is_some() => "rotate_refresh_tokens",
            "consent" if entry.ask_for_consent.is_some() => "ask_for_consent",
            member => member,
        };
        faults.add(format!("{path}.{member}"), bad.error.description);
    }
}

fn said_once(entry: &model::Client, member: &str, switch: &str, path: &str, faults: &mut Faults) {
    if entry.members.contains_key(member) {
        faults.add(
            format!("{path}.{switch}"),
            format!("{switch} and {member} say one thing: use one of them"),
        );
    }
}

/// Reads the members that the file names, each by its row, and then together for what they say
/// together.
fn members(entry: &model::Client, path: &str, client: &mut Client, faults: &mut Faults) {
    let before = faults.0.len();
    let mut document = Vec::new();
    for member in MEMBERS {
        let Some(value) = entry.members.get(member.name) else {
            continue;
        };
        let here = format!("{path}.{}", member.name);
        let value = match in_json(member, value) {
            Ok(value) => value,
            Err(fault) => {
                faults.add(here, fault);
                continue;
            }
        };
        match read(member, &value, client) {
            Ok(()) => document.push((member.name, value)),
            Err(fault) => {
                // Of a list, the entry that is wrong by itself.
                let alone = |item: &serde_json::Value| {
                    let list = serde_json::Value::Array(vec![item.clone()]);
                    read(member, &list, &mut client.clone()).is_err()
                };
                let wrong = value
                    .as_array()
                    .and_then(|list| list.iter().position(alone));
                match wrong {
                    Some(index) => faults.add(format!("{here}[{index}]"), fault),
                    None => faults.add(here, fault),
                }
            }
        }
    }
    if faults.0.len() > before {
        return;
    }
    let document: serde_json::Map<_, _> = document
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    let text = serde_json::Value::Object(document).to_string();
    let together = parse(&text).and_then(|document| {
        metadata::read(&document, client, &Rules::operator()).map_err(|e| e.description)
    });
    if let Err(fault) = together {
        faults.add(path, fault);
    }
}

fn parse(text: &str) -> Result<Object<'_>, &'static str> {
    json::parse_object(text.as_bytes(), &LIMITS).map_err(|_| "a value is not one of JSON")
}

fn read(member: &Member, value: &serde_json::Value, client: &mut Client) -> Result<(), String> {
    let text = value.to_string();
    let value = json::parse(text.as_bytes(), &LIMITS).map_err(|error| error.to_string())?;
    member
        .read(&value, client)
        .map_err(|error| match error.hint {
            None => error.description.to_owned(),
            Some(hint) => format!("{}: {hint}", error.description),
        })
}

/// A value of the file as the rows read it: a length of time may have a unit, and scopes may be a
/// list.
fn in_json(member: &Member, value: &toml::Value) -> Result<serde_json::Value, String> {
    match (member.shape, value) {
        (Shape::Seconds, toml::Value::String(text)) => Duration::parse(text)
            .map(|d| d.0.into())
            .map_err(str::to_owned),
        (Shape::Scope, toml::Value::Array(list)) => {
            let names: Option<Vec<&str>> = list
                .iter()
                .map(|name| name.as_str().filter(|name| !name.contains(' ')))
                .collect();
            match names {
                Some(names) => Ok(names.join(" ").into()),
                None => Err("a scope is 1 to 128 visible ASCII characters without quote, space and backslash".to_owned()),
            }
        }
        _ => serde_json::to_value(value).map_err(|error| error.to_string()),
    }
}

fn secrets(
    entry: &model::Client,
    method: AuthMethod,
    path: &str,
    base: &Path,
    seal: Option<Seal<'_>>,
    faults: &mut Faults,
) -> Vec<ClientSecret> {
    if method.needs_secret() == entry.client_secrets.is_empty() {
        let fault = if method.needs_secret() {
            format!("{method} needs client_secrets")
        } else {
            format!("{method} uses no client_secrets")
        };
        faults.add(path, fault);
    }
    let Some(seal) = seal else { return Vec::new() };
    let mut made = Vec::new();
    for (i, reference) in entry.client_secrets.iter().enumerate() {
        let here = format!("{path}.client_secrets[{i}]");
        match reference.read(base) {
            Err(message) => faults.add(here, message),
            Ok(secret) if secret.expose().len() < 32 => {
                faults.add(here, "a client secret has at least 32 bytes: generate it, people should not remember it");
            }
            Ok(secret) if method == AuthMethod::ClientSecretJwt => {
                match seal(&entry.client_id, secret.expose().as_bytes()) {
                    Some(sealed) => made.push(ClientSecret::Sealed {
                        sealed,
                        expires_at: None,
                    }),
                    None => faults.add(here, "the secret cannot be sealed"),
                }
            }
            Ok(secret) => made.push(ClientSecret::Sha256 {
                hash: sha256(secret.expose().as_bytes()),
                expires_at: None,
            }),
        }
    }
    made
}

fn jwks(entry: &model::Client, path: &str, base: &Path, faults: &mut Faults) -> Option<JwkSet> {
    let file = base.join(entry.jwks.as_ref()?);
    let here = format!("{path}.jwks");
    let text = std::fs::read(&file)
        .map_err(|e| faults.add(&here, format!("cannot read {}: {e}", file.display())))
        .ok()?;
    JwkSet::parse(&text)
        .map_err(|e| faults.add(&here, format!("{}: {e}", file.display())))
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str) -> (Option<Client>, Vec<crate::fault::Fault>) {
        let entry: model::Client = toml::from_str(text).unwrap();
        let mut faults = Faults::default();
        let client = client(&entry, "clients[0]", Path::new("."), None, &mut faults);
        (client, faults.0)
    }

    #[test]
    fn a_configuration_file_can_set_every_member() {
        let plain = "client_id = \"c\"\ntoken_endpoint_auth_method = \"none\"\n";
        let (default, _) = made(plain);
        // `jwks` is the path of a file here.
        for member in MEMBERS.iter().filter(|member| member.name != "jwks") {
            let value = match (member.name, member.shape) {
                ("application_type", _) => r#""native""#.to_owned(),
                ("refresh_rotation", _) => r#""keep""#.to_owned(),
                ("consent", _) => r#""implicit""#.to_owned(),
                ("response_types", _) => "[]".to_owned(),
                ("enabled" | "require_pkce", _) => "false".to_owned(),
                ("tls_client_auth_san_ip", _) => r#""192.0.2.1""#.to_owned(),
                // These say something of a client with a secret or an assertion.
                (
                    "token_endpoint_auth_method"
                    | "token_endpoint_auth_signing_alg"
                    | "any_secret_method",
                    _,
                ) => continue,
                (_, Shape::Text) => r#""text""#.to_owned(),
                (_, Shape::Scope) => r#"["openid", "email"]"#.to_owned(),
                (_, Shape::Url) => r#""https://a.example/x""#.to_owned(),
                (_, Shape::List) => r#"["https://a.example"]"#.to_owned(),
                (_, Shape::Name(names)) => format!("{:?}", names().last().unwrap()),
                (_, Shape::NameList(names)) => format!("[{:?}]", names().last().unwrap()),
                (_, Shape::Flag) => "true".to_owned(),
                (_, Shape::Seconds) => r#""7m""#.to_owned(),
                (_, Shape::Time) => "77".to_owned(),
                (_, Shape::ClaimTable) => r#"["groups"]"#.to_owned(),
                (_, Shape::KeySet) => unreachable!("jwks alone is one"),
            };
            let (client, faults) = made(&format!("{plain}{} = {value}\n", member.name));
            assert_eq!(faults, [], "{}", member.name);
            assert_ne!(client, default, "{}", member.name);
        }
        let secret = "client_id = \"c\"\nclient_secrets = [{ env = \"X\" }]\n";
        let chosen = format!("{secret}token_endpoint_auth_method = \"client_secret_basic\"\n");
        for (text, any) in [(secret, true), (&*chosen, false)] {
            let (client, faults) = made(text);
            assert_eq!(faults, [], "{text}");
            assert_eq!(client.unwrap().any_secret_method, any, "{text}");
        }
        let assertion = "client_id = \"c\"\ntoken_endpoint_auth_method = \"private_key_jwt\"\n\
                         token_endpoint_auth_signing_alg = \"ES256\"\n";
        let (client, faults) = made(assertion);
        assert_eq!(faults, []);
        assert!(client.unwrap().token_endpoint_auth_signing_alg.is_some());
    }

    #[test]
    fn a_fault_is_at_its_member_and_one_thing_is_said_once() {
        let places = |more: &str| {
            let text = format!("client_id = \"c\"\ntoken_endpoint_auth_method = \"none\"\n{more}");
            let (_, faults) = made(&text);
            faults
                .into_iter()
                .map(|fault| fault.path)
                .collect::<Vec<_>>()
        };
        assert_eq!(places("require_pkce = 1\n"), ["clients[0].require_pkce"]);
        assert_eq!(
            places("grant_types = [\"refresh_token\", \"x\"]\n"),
            ["clients[0].grant_types[1]"]
        );
        assert_eq!(
            places("access_token_lifetime = \"7x\"\n"),
            ["clients[0].access_token_lifetime"]
        );
        assert_eq!(
            places("consent = \"ask\"\nask_for_consent = false\n"),
            ["clients[0].ask_for_consent"]
        );
    }
}
