//! What Keycloak imports: one RealmRepresentation with roles, groups and users. Its shapes are
//! those of Keycloak 26, as its own export writes them and `sources/keycloak` reads them.
//!
//! An account keeps the text of its id: `sub` stays the same for applications, and it is what
//! passkeys say of their user. Keycloak takes any text of up to 36 characters.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Map, Value, json};
use signet_encoding::base64url;

use super::{About, Form, People};
use crate::report::{Fate, Report, Row};

pub(super) const FORM: Form = Form {
    name: "keycloak",
    title: "Keycloak",
    file: "keycloak.json",
    taken: "`age --decrypt -o keycloak.json keycloak.json.age`, then the administration console's *Partial import* into a realm whose clients and identity providers are there, or `kc.sh import --file keycloak.json` for a realm of its own. Remove the plain file then. It was read back by `signet import keycloak`; no Keycloak was run for it.",
    rows: ROWS,
    begin: |about| Box::new(Realm::new(about)),
};

/// What the realm is called in the file: an import names the one that it goes into.
const REALM: &str = "signet";

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { what: "Accounts", fate: Fate::Comes, note: "Name, address, state, time of creation. The id is kept as its text, so `sub` stays the same." },
    PROFILE,
    Row { what: "Attributes", fate: Fate::InPart, note: "As texts and lists of them. Whether somebody vouches for one is not said." },
    PASSWORDS,
    Row { what: "Code apps", fate: Fate::Comes, note: "As `otp` credentials of the kind `totp`." },
    Row { what: "Passkeys", fate: Fate::InPart, note: "As `webauthn-passwordless` credentials. The realm's policy names their relying party, and the host has to stay." },
    Row { what: "Groups, with those in them and their roles", fate: Fate::Comes, note: "Nested as they are." },
    GROUP_NAMES,
    Row { what: "Roles", fate: Fate::Comes, note: "`CLIENT_ID/NAME` is the client's role, whose client has to be there." },
    Row { what: "Links to identity providers", fate: Fate::Comes, note: "By the provider's name, which is its alias there." },
    Row { what: "Consents", fate: Fate::InPart, note: "Scopes but `openid`, which Keycloak grants without naming it." },
    Row { what: "`must_change_password`", fate: Fate::Comes, note: "`UPDATE_PASSWORD`." },
    OTHERS,
    OUTSIDE,
    ERASED,
    Row { what: "Administrators", fate: Fate::Stays, note: "Give them roles of `realm-management` there." },
];
#[rustfmt::skip]
const PROFILE: Row = Row { what: "Profile", fate: Fate::InPart, note: "First and last name are members there, and make the full name; the other claims become attributes of their names." };
#[rustfmt::skip]
const PASSWORDS: Row = Row { what: "Password hashes", fate: Fate::InPart, note: "Argon2 and PBKDF2. Of other kinds (bcrypt, scrypt and more, which an import brought and no login has replaced) Keycloak verifies none: their person sets a password there." };
#[rustfmt::skip]
const GROUP_NAMES: Row = Row { what: "Groups with a `/` in their name", fate: Fate::Stays, note: "It separates groups there." };
#[rustfmt::skip]
const OTHERS: Row = Row { what: "The end of an account, terms, open invitations", fate: Fate::Stays, note: "Keycloak has no such member." };
#[rustfmt::skip]
const OUTSIDE: Row = Row { what: "Accounts of a directory outside", fate: Fate::Stays, note: "Name the directory there." };
#[rustfmt::skip]
const ERASED: Row = Row { what: "Accounts that are to be erased", fate: Fate::Stays, note: "They were on their way out." };

struct Realm {
    about: About,
    /// The path of each group, by its name.
    paths: BTreeMap<String, String>,
    /// The relying party of a passkey.
    party: Option<String>,
    count: u64,
}

fn text<'a>(value: &'a Value, member: &str) -> Option<&'a str> {
    value.get(member)?.as_str()
}

fn list<'a>(value: &'a Value, member: &str) -> impl Iterator<Item = &'a Value> {
    value
        .get(member)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn texts<'a>(value: &'a Value, member: &str) -> impl Iterator<Item = &'a str> {
    list(value, member).filter_map(Value::as_str)
}

/// Roles of the realm, and those of clients by client.
fn roles<'a>(
    names: impl Iterator<Item = &'a str>,
) -> (Vec<&'a str>, BTreeMap<&'a str, Vec<&'a str>>) {
    let (mut of_realm, mut of_clients) = (Vec::new(), BTreeMap::<_, Vec<_>>::new());
    for name in names {
        match name.rsplit_once('/') {
            Some((client, role)) => of_clients.entry(client).or_default().push(role),
            None => of_realm.push(name),
        }
    }
    (of_realm, of_clients)
}

impl Realm {
    fn new(about: About) -> Realm {
        let parents: BTreeMap<String, Option<String>> = about
            .groups
            .iter()
            .filter_map(|group| {
                let parent = text(group, "parent").map(str::to_owned);
                Some((text(group, "name")?.to_owned(), parent))
            })
            .collect();
        let mut paths = BTreeMap::new();
        for name in parents.keys() {
            // A group and those around it; a circle cannot be, and would end here.
            let mut around: Vec<&str> = Vec::new();
            let mut at = Some(name);
            while let Some(one) = at.filter(|_| around.len() <= parents.len()) {
                around.push(one);
                at = parents.get(one).and_then(Option::as_ref);
            }
            if around.iter().any(|one| one.contains('/')) {
                continue;
            }
            around.reverse();
            paths.insert(name.clone(), format!("/{}", around.join("/")));
        }
        Realm {
            about,
            paths,
            party: None,
            count: 0,
        }
    }

    /// The groups in one, or those in none.
    fn groups_in(&self, parent: Option<&str>, depth: usize) -> Vec<Value> {
        let inside = self.about.groups.iter().filter(|group| {
            let name = text(group, "name").unwrap_or_default();
            text(group, "parent") == parent && self.paths.contains_key(name)
        });
        let inside = inside.map(|group| {
            let name = text(group, "name").unwrap_or_default();
            let (of_realm, of_clients) = roles(texts(group, "roles"));
            let below = match depth {
                0 => Vec::new(),
                depth => self.groups_in(Some(name), depth - 1),
            };
            json!({
                "name": name, "path": self.paths.get(name),
                "realmRoles": of_realm, "clientRoles": of_clients, "subGroups": below,
            })
        });
        inside.collect()
    }

    fn user(&mut self, account: &Value, report: &mut Report) -> Option<Value> {
        let username = text(account, "username")?;
        if account.get("directory").is_some() {
            report.add(&OUTSIDE, username, "");
            return None;
        }
        if account.get("deletion").is_some() {
            report.add(&ERASED, username, "");
            return None;
        }
        for member in ["expires_at", "terms", "must_accept_terms", "invitation"] {
            if account.get(member).is_some() {
                report.add(&OTHERS, username, member);
            }
        }
        let millis = |member: &str| Some(account.get(member)?.as_u64()?.saturating_mul(1000));
        let empty = Map::new();
        let profile = account
            .get("profile")
            .and_then(Value::as_object)
            .unwrap_or(&empty);
        let claim = |name: &str| profile.get(name).and_then(Value::as_str);
        let (given, family) = (claim("given_name"), claim("family_name"));
        let both: Vec<&str> = [given, family].into_iter().flatten().collect();
        let mut attributes: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, value) in profile {
            let is_said = match name.as_str() {
                "given_name" | "family_name" => true,
                "name" if !both.is_empty() => {
                    if value.as_str() != Some(&*both.join(" ")) {
                        report.add(&PROFILE, username, "the full name is another");
                    }
                    true
                }
                "phone_number_verified" => value == &Value::Bool(false),
                _ => false,
            };
            if !is_said {
                attributes.insert(name.clone(), crate::people::texts(value.clone()));
            }
        }
        let own = account
            .get("attributes")
            .and_then(Value::as_object)
            .unwrap_or(&empty);
        for (name, value) in own {
            attributes.insert(name.clone(), crate::people::texts(value.clone()));
        }
        let mut groups = Vec::new();
        for name in texts(account, "groups") {
            match self.paths.get(name) {
                Some(path) => groups.push(path.as_str()),
                None => report.add(&GROUP_NAMES, username, name),
            }
        }
        let (realm_roles, client_roles) = roles(texts(account, "roles"));
        let must_change = account.get("must_change_password") == Some(&Value::Bool(true));
        let actions: &[&str] = if must_change {
            &["UPDATE_PASSWORD"]
        } else {
            &[]
        };
        let identities = list(account, "identities").map(|one| {
            json!({
                "identityProvider": one["provider"], "userId": one["subject"],
                "userName": text(one, "name").or(text(one, "subject")),
            })
        });
        let consents = list(account, "consents").map(|one| {
            let scopes = text(one, "scope").unwrap_or_default().split(' ');
            let scopes = scopes.filter(|scope| !scope.is_empty() && *scope != "openid");
            let scopes: Vec<&str> = scopes.collect();
            json!({
                "clientId": one["client_id"], "grantedClientScopes": scopes,
                "createdDate": one["granted_at"].as_u64().map(|at| at.saturating_mul(1000)),
            })
        });
        let mut credentials = Vec::new();
        if let Some(hash) = text(account, "password_hash") {
            match password(hash) {
                Some(password) => credentials.push(password),
                None => report.add(&PASSWORDS, username, ""),
            }
        }
        credentials.extend(list(account, "totp").map(app));
        for one in list(account, "passkeys") {
            self.party = text(one, "rp_id").map(str::to_owned);
            credentials.push(passkey(one));
        }
        let user = json!({
            "id": account["id"], "username": username, "email": account.get("email"),
            "emailVerified": account["email_verified"], "enabled": account["enabled"],
            "createdTimestamp": millis("created_at"),
            "firstName": given, "lastName": family, "attributes": attributes,
            "groups": groups, "realmRoles": realm_roles, "clientRoles": client_roles,
            "requiredActions": actions, "credentials": credentials,
            "federatedIdentities": identities.collect::<Vec<_>>(),
            "clientConsents": consents.collect::<Vec<_>>(),
        });
        Some(without_nulls(user))
    }
}

/// Keycloak's parser takes a member that is left out where it refuses some that are null.
fn without_nulls(mut value: Value) -> Value {
    if let Some(members) = value.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    value
}

/// JSON within JSON, as Keycloak keeps credentials.
fn credential(kind: &str, of: &Value, secret: Value, data: Value) -> Value {
    let at = of.get("created_at").and_then(Value::as_u64);
    without_nulls(json!({
        "type": kind,
        "userLabel": text(of, "label").filter(|label| !label.is_empty()),
        "createdDate": at.map(|at| at.saturating_mul(1000)),
        "secretData": secret.to_string(),
        "credentialData": without_nulls(data).to_string(),
    }))
}

/// Base64 without padding, as a PHC string has it, with its padding.
fn padded(text: &str) -> String {
    let padding = (4 - text.len() % 4) % 4;
    format!("{text}{}", &"==="[..padding])
}

/// A PHC string that Keycloak can verify.
fn password(hash: &str) -> Option<Value> {
    let mut parts = hash.strip_prefix('$')?.split('$');
    let kind = parts.next()?;
    let mut numbers = BTreeMap::new();
    let mut values = Vec::new();
    for part in parts {
        match part.contains('=') {
            true => numbers.extend(part.split(',').filter_map(|one| one.split_once('='))),
            false => values.push(part),
        }
    }
    let [salt, value] = values[..] else {
        return None;
    };
    let bytes = value.len() * 3 / 4;
    let number = |name: &str| numbers.get(name)?.parse::<u64>().ok();
    let data = match kind {
        "argon2id" | "argon2i" | "argon2d" => json!({
            "algorithm": "argon2", "hashIterations": number("t")?,
            "additionalParameters": {
                "type": [kind.strip_prefix("argon2")?],
                "version": [match number("v").unwrap_or(19) { 19 => "1.3", 16 => "1.0", _ => return None }],
                "memory": [number("m")?.to_string()],
                "parallelism": [number("p")?.to_string()],
                "hashLength": [bytes.to_string()],
            },
        }),
        "pbkdf2" | "pbkdf2-sha256" | "pbkdf2-sha512" => json!({
            "algorithm": kind, "hashIterations": number("i")?, "additionalParameters": {},
        }),
        _ => return None,
    };
    let secret = json!({
        "value": padded(value), "salt": padded(salt), "additionalParameters": {},
    });
    Some(credential("password", &Value::Null, secret, data))
}

fn app(app: &Value) -> Value {
    let algorithm = text(app, "algorithm").unwrap_or("SHA1");
    let data = json!({
        "subType": "totp", "digits": app["digits"], "period": app["period"], "counter": 0,
        "algorithm": format!("Hmac{algorithm}"), "secretEncoding": "BASE32",
    });
    credential("otp", app, json!({ "value": app["secret"] }), data)
}

fn passkey(passkey: &Value) -> Value {
    // Keycloak has the id in standard base64, and the key in base64url.
    let id = text(passkey, "id").unwrap_or_default();
    let mut standard = Vec::new();
    let bytes = base64url::decode(id.as_bytes()).unwrap_or_default();
    base64url::encode_standard_into(&bytes, &mut standard);
    let data = json!({
        "aaguid": text(passkey, "aaguid").unwrap_or("00000000-0000-0000-0000-000000000000"),
        "credentialId": String::from_utf8(standard).unwrap_or_default(),
        "credentialPublicKey": passkey["public_key"], "counter": passkey["sign_count"],
        "attestationStatementFormat": "none", "transports": passkey["transports"],
    });
    credential("webauthn-passwordless", passkey, json!({}), data)
}

impl People for Realm {
    fn head(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let known = |role: &Value| {
            let mut shown = json!({ "name": text(role, "name") });
            if let Some(description) = text(role, "description") {
                shown["description"] = description.into();
            }
            shown
        };
        let (mut of_realm, mut of_clients) = (Vec::new(), BTreeMap::<&str, Vec<Value>>::new());
        for role in &self.about.roles {
            match text(role, "name").and_then(|name| name.rsplit_once('/')) {
                Some((client, name)) => {
                    let mut shown = known(role);
                    shown["name"] = name.into();
                    of_clients.entry(client).or_default().push(shown);
                }
                None => of_realm.push(known(role)),
            }
        }
        let roles = json!({ "realm": of_realm, "client": of_clients });
        let groups = Value::Array(self.groups_in(None, self.paths.len()));
        write!(
            out,
            "{{\"realm\":\"{REALM}\",\"enabled\":true,\"roles\":{roles},\"groups\":{groups},\"users\":["
        )
    }

    fn person(
        &mut self,
        account: &Value,
        report: &mut Report,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let Some(user) = self.user(account, report) else {
            return Ok(());
        };
        let comma = if self.count == 0 { "" } else { "," };
        self.count += 1;
        write!(out, "{comma}\n{user}")
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"\n]")?;
        if let Some(party) = &self.party {
            let party = Value::from(party.as_str());
            write!(out, ",\"webAuthnPolicyPasswordlessRpId\":{party}")?;
            write!(
                out,
                ",\"webAuthnPolicyPasswordlessRequireResidentKey\":\"Yes\""
            )?;
        }
        out.write_all(b"}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Part;
    use crate::sources::{Options, Source};

    /// What Keycloak's file says to the reader of Keycloak's files.
    fn round_trip(accounts: &[Value]) -> (crate::moved::Moved, Report) {
        let groups = vec![
            json!({ "name": "staff", "roles": ["employee"] }),
            json!({ "name": "sales", "parent": "staff", "roles": ["shop/seller"] }),
            json!({ "name": "a/b" }),
        ];
        let roles = vec![
            json!({ "name": "employee", "description": "Works here" }),
            json!({ "name": "shop/seller" }),
        ];
        let about = About {
            credentials: true,
            groups,
            roles,
        };
        let mut realm = Realm::new(about);
        let (mut bytes, mut report) = (Vec::new(), Report::default());
        realm.head(&mut bytes).unwrap();
        for account in accounts {
            realm.person(account, &mut report, &mut bytes).unwrap();
        }
        realm.end(&mut bytes).unwrap();
        let part = Part {
            name: "keycloak.json".to_owned(),
            bytes,
        };
        let source = Source::named("keycloak").unwrap();
        ((source.read)(&[part], &Options::default()).unwrap(), report)
    }

    fn account(username: &str, hash: &str) -> Value {
        json!({
            "id": "ABEiM0RVZneImaq7zN3u_w", "username": username, "email": "a@b.example",
            "email_verified": true, "admin": false, "enabled": true, "has_password": true,
            "must_change_password": true, "created_at": 1_700_000_000, "updated_at": 1_700_000_001,
            "profile": {
                "name": "Ann Other", "given_name": "Ann", "family_name": "Other", "locale": "de",
                "phone_number_verified": false,
            },
            "groups": ["sales"], "roles": ["employee", "shop/seller"],
            "attributes": { "badge": "7" }, "password_hash": hash,
            "totp": [{
                "secret": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", "algorithm": "SHA256", "digits": 8,
                "period": 60, "label": "phone", "created_at": 1_700_000_002,
            }],
            "passkeys": [{
                "rp_id": "id.example", "id": "_-8", "public_key": "pQECAyYgASFYIA", "sign_count": 3,
                "transports": ["internal"], "user_verified": true, "label": "laptop",
            }],
            "identities": [{ "provider": "corp", "subject": "42", "name": "ann" }],
            "consents": [{ "client_id": "shop", "scope": "openid email", "granted_at": 1_700_000_003 }],
        })
    }

    #[test]
    fn what_is_written_for_keycloak_is_read_as_keycloaks_with_every_credential() {
        for hash in [
            "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0c2E$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g",
            "$pbkdf2-sha512$i=210000$c2FsdHNhbHRzYWx0c2E$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g",
        ] {
            let (moved, report) = round_trip(&[account("ann", hash)]);
            assert!(report.is_empty(), "{}", report.to_text(ROWS));
            let ann = &moved.people[0];
            assert_eq!(ann.password_hash.as_deref(), Some(hash));
            let shown = serde_json::to_value(ann).unwrap();
            let given = account("ann", hash);
            for member in [
                "id",
                "username",
                "email",
                "email_verified",
                "enabled",
                "must_change_password",
                "created_at",
                "groups",
                "roles",
                "attributes",
                "totp",
                "consents",
            ] {
                assert_eq!(shown[member], given[member], "{member}");
            }
            assert_eq!(shown["profile"]["name"], "Ann Other");
            assert_eq!(shown["profile"]["locale"], "de");
            for member in [
                "rp_id",
                "id",
                "public_key",
                "sign_count",
                "transports",
                "label",
            ] {
                let (read, written) = (&shown["passkeys"][0], &given["passkeys"][0]);
                assert_eq!(read[member], written[member], "{member}");
            }
            let names: Vec<&str> = moved.groups.iter().map(|group| &*group.name).collect();
            assert_eq!(names, ["staff", "sales"]);
            assert_eq!(moved.groups[1].parent.as_deref(), Some("staff"));
            assert_eq!(moved.roles.len(), 2);
        }
    }

    #[test]
    fn what_keycloak_cannot_keep_is_reported_by_name() {
        let mut bcrypt = account(
            "bob",
            "$2b$10$abcdefghijklmnopqrstuuabcdefghijklmnopqrstuvwxyzabcdefghij",
        );
        bcrypt["groups"] = json!(["a/b"]);
        bcrypt["expires_at"] = 1_800_000_000.into();
        let mut outside = account("carol", "$argon2id$v=19$m=1,t=1,p=1$c2FsdA$aGFzaA");
        outside["directory"] = "ldap".into();
        let (moved, report) = round_trip(&[bcrypt, outside]);
        assert_eq!(moved.people.len(), 1);
        assert_eq!(moved.people[0].password_hash, None);
        let text = report.to_text(ROWS);
        for row in [&PASSWORDS, &GROUP_NAMES, &OTHERS, &OUTSIDE] {
            assert!(text.contains(row.what), "{}: {text}", row.what);
        }
        assert!(!text.contains("$2b$"), "{text}");
    }

    #[test]
    fn an_account_of_any_shape_makes_no_panic() {
        for account in [
            json!({}),
            json!({ "username": "x" }),
            json!({ "username": "x", "password_hash": "$" }),
            json!({ "username": "x", "password_hash": "$argon2id$v=19$m=1,t=1" }),
            json!({ "username": "x", "totp": [{}], "passkeys": [{}], "profile": 7, "groups": {} }),
        ] {
            let mut realm = Realm::new(About {
                credentials: true,
                groups: vec![json!({ "name": "a", "parent": "a" })],
                roles: vec![json!({})],
            });
            let mut out = Vec::new();
            realm.head(&mut out).unwrap();
            realm
                .person(&account, &mut Report::default(), &mut out)
                .unwrap();
            realm.end(&mut out).unwrap();
            assert!(serde_json::from_slice::<Value>(&out).is_ok());
        }
    }
}
