//! Who a provider says that a person is.
use serde::{Deserialize, Serialize};
use serde_json::Value;
use signet_oauth::people::provider::{Protocol, Provider};

use super::hint::seal_id_token;
use super::refresh_token::seal_refresh_token;
use super::verify::Asked;
use super::{Asking, Metadata, Tokens, Trouble};

/// The longest `sub` of a provider's person, in bytes (OpenID Connect Core section 2).
const MAX_SUBJECT: usize = 255;
/// How deep a claim's name leads into objects.
const MAX_DEPTH: usize = 4;
/// The longest address, in bytes.
const MAX_ADDRESS: usize = 254;

/// See the module.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Person {
    /// Names the person there for ever.
    pub subject: String,
    /// The session there.
    pub sid: Option<String>,
    /// Their address.
    pub email: Option<String>,
    /// Whether the provider says that mail to it reaches the person.
    pub email_verified: bool,
    /// What they are called there.
    pub username: Option<String>,
    /// When they last showed who they are, Unix seconds.
    pub auth_time: Option<u64>,
    /// How, as the provider calls it.
    pub amr: Vec<String>,
    /// Everything else that was said.
    pub claims: Value,
    /// The ID token, sealed, where a logout here goes on there.
    #[serde(default)]
    pub sealed_id_token: Option<String>,
    /// The refresh token, sealed, where such are kept.
    #[serde(default)]
    pub sealed_refresh_token: Option<String>,
}

/// A claim by its name, where a full stop leads into an object.
pub fn claim<'a>(claims: &'a Value, name: &str) -> Option<&'a Value> {
    // A name with full stops in it (a URL, say) comes first.
    if let Some(found) = claims.get(name) {
        return Some(found);
    }
    let mut found = claims;
    for (depth, part) in name.split('.').enumerate() {
        if depth >= MAX_DEPTH {
            return None;
        }
        found = found.get(part)?;
    }
    Some(found)
}

/// What of an ID token is not completed by an answer that nobody has signed: how and when the
/// person logged in, and in which session (OpenID Connect Core section 2).
const OF_ID_TOKEN: [&str; 4] = ["acr", "amr", "auth_time", "sid"];
/// What says something about another claim of its own document alone: with the address, whether it
/// is verified (OpenID Connect Core section 5.1), and likewise with the number.
const TOGETHER: [[&str; 2]; 2] = [
    ["email", "email_verified"],
    ["phone_number", "phone_number_verified"],
];

/// The claims of the ID token, and what userinfo adds to them: what is signed holds over what is
/// not.
fn completed(mut signed: Value, userinfo: Value) -> Value {
    if let (Value::Object(claims), Value::Object(mut more)) = (&mut signed, userinfo) {
        more.retain(|name, _| !OF_ID_TOKEN.contains(&name.as_str()));
        for pair in TOGETHER {
            if pair.iter().any(|name| claims.contains_key(*name)) {
                more.retain(|name, _| !pair.contains(&name.as_str()));
            }
        }
        for (name, value) in more {
            claims.entry(name).or_insert(value);
        }
    }
    signed
}

impl Person {
    /// Of the claims of one document.
    ///
    /// # Errors
    /// [`Trouble::Answer`]: it names no person.
    pub(super) fn of(provider: &Provider, claims: Value) -> Result<Person, Trouble> {
        let text = |name: &str| claims.get(name).and_then(Value::as_str).map(str::to_owned);
        let subject = match claim(&claims, &provider.subject_claim) {
            Some(Value::String(subject)) => subject.clone(),
            // GitHub's ids are numbers.
            Some(Value::Number(number)) if number.is_u64() => number.to_string(),
            Some(_) | None => String::new(),
        };
        if subject.is_empty()
            || subject.len() > MAX_SUBJECT
            || subject.chars().any(char::is_control)
        {
            return Err(Trouble::Answer("it names no person"));
        }
        // Some say it as a text.
        let email_verified = match claims.get("email_verified") {
            Some(Value::Bool(verified)) => *verified,
            Some(Value::String(text)) => text == "true",
            Some(_) | None => false,
        };
        let email = text("email").filter(|email| email.len() <= MAX_ADDRESS);
        let amr = claims.get("amr").and_then(Value::as_array);
        let amr = amr.into_iter().flatten().filter_map(Value::as_str);
        Ok(Person {
            subject,
            sid: text("sid").filter(|sid| sid.len() <= MAX_SUBJECT),
            email_verified: email_verified && email.is_some(),
            email,
            username: text("preferred_username").or_else(|| text("login")),
            auth_time: claims.get("auth_time").and_then(Value::as_u64),
            amr: amr.take(16).map(str::to_owned).collect(),
            claims,
            sealed_id_token: None,
            sealed_refresh_token: None,
        })
    }
}

impl Asking<'_> {
    /// The person whom a login at the provider was of.
    ///
    /// # Errors
    /// See [`Trouble`].
    pub async fn person(
        &self,
        metadata: &Metadata,
        tokens: &Tokens,
        nonce: &str,
    ) -> Result<Person, Trouble> {
        let mut person = match self.provider.protocol {
            Protocol::Openid => self.of_id_token(metadata, tokens, nonce).await?,
            Protocol::Oauth2 => self.of_api(metadata, tokens).await?,
            Protocol::Hook | Protocol::Ldap => {
                return Err(Trouble::Own("nobody is sent to this provider"));
            }
        };
        let token = tokens.refresh_token.as_ref();
        let keyring = self.realm.keyring();
        person.sealed_refresh_token =
            seal_refresh_token(&keyring, self.provider, &person.subject, token);
        Ok(person)
    }

    async fn of_id_token(
        &self,
        metadata: &Metadata,
        tokens: &Tokens,
        nonce: &str,
    ) -> Result<Person, Trouble> {
        let token = tokens.id_token.as_deref();
        let token = token.ok_or(Trouble::Answer("it gave no ID token"))?;
        let asked = Asked {
            nonce,
            access_token: tokens.access_token.expose(),
        };
        let verified = self.id_token(metadata, token, &asked).await?;
        let sub = verified.claims().sub().unwrap_or_default().to_owned();
        let mut claims: Value = serde_json::from_str(verified.claims().json())
            .map_err(|_| Trouble::Answer("its ID token is no JSON"))?;
        if let Some(url) = &metadata.userinfo_endpoint {
            let more = self.api(url, tokens).await?;
            // OpenID Connect Core section 5.3.2: otherwise it is of somebody else.
            if more.get("sub").and_then(Value::as_str) != Some(&*sub) {
                return Err(Trouble::Answer("its userinfo is of somebody else"));
            }
            claims = completed(claims, more);
        }
        let mut person = Person::of(self.provider, claims)?;
        if self.provider.logout {
            let keyring = self.realm.keyring();
            person.sealed_id_token = seal_id_token(&keyring, &self.provider.issuer, token);
        }
        Ok(person)
    }

    pub(super) async fn of_api(
        &self,
        metadata: &Metadata,
        tokens: &Tokens,
    ) -> Result<Person, Trouble> {
        let url = metadata.userinfo_endpoint.as_deref();
        let url = url.ok_or(Trouble::Own("userinfo_endpoint is missing"))?;
        let mut claims = self.api(url, tokens).await?;
        if let Value::Object(claims) = &mut claims {
            claims.retain(|name, _| !OF_ID_TOKEN.contains(&name.as_str()));
        }
        if let (Some(url), Value::Object(claims)) = (&self.provider.emails_endpoint, &mut claims) {
            // What the public profile says of an address is not verified.
            claims.remove("email");
            claims.remove("email_verified");
            let emails = self.api(url, tokens).await?;
            let primary =
                emails.as_array().into_iter().flatten().find(|email| {
                    email["primary"] == Value::Bool(true) && email["email"].is_string()
                });
            if let Some(primary) = primary {
                claims.insert("email".into(), primary["email"].clone());
                claims.insert("email_verified".into(), primary["verified"].clone());
            }
        }
        Person::of(self.provider, claims)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_claim_is_found_by_its_whole_name_and_inside_objects() {
        let claims = json!({
            "realm_access": { "roles": ["a"] },
            "https://x.example/groups": ["b"],
            "a": { "b": { "c": { "d": { "e": 1 } } } },
        });
        assert_eq!(claim(&claims, "realm_access.roles"), Some(&json!(["a"])));
        assert_eq!(
            claim(&claims, "https://x.example/groups"),
            Some(&json!(["b"]))
        );
        assert_eq!(claim(&claims, "a.b.c.d.e"), None);
        assert_eq!(claim(&claims, "realm_access.nothing"), None);
    }

    // LP4: an address was verified by another document's word about another address.
    #[test]
    fn an_address_and_whether_it_is_verified_are_of_one_document() {
        let openid = Provider::new("corp", "https://id.example");
        let of = |signed: Value, userinfo: Value| {
            let person = Person::of(&openid, completed(signed, userinfo)).unwrap();
            (person.email, person.email_verified)
        };
        let (own, other) = ("own@x.example", "other@x.example");
        let said = |email: &str, verified: bool| (Some(email.to_owned()), verified);
        assert_eq!(
            of(
                json!({ "sub": "s", "email": own }),
                json!({ "sub": "s", "email": other, "email_verified": true }),
            ),
            said(own, false)
        );
        assert_eq!(
            of(
                json!({ "sub": "s", "email_verified": true }),
                json!({ "sub": "s", "email": other }),
            ),
            (None, false)
        );
        assert_eq!(
            of(
                json!({ "sub": "s" }),
                json!({ "sub": "s", "email": other, "email_verified": true }),
            ),
            said(other, true)
        );
        assert_eq!(
            of(
                json!({ "sub": "s", "email": own, "email_verified": true }),
                json!({ "sub": "s", "email": other, "email_verified": false }),
            ),
            said(own, true)
        );
    }

    // LP5: `amr` of an unsigned answer became a class of authentication.
    #[test]
    fn how_somebody_logged_in_is_said_by_the_id_token_alone() {
        let openid = Provider::new("corp", "https://id.example");
        let userinfo = json!({ "sub": "s", "amr": ["hwk", "user"], "acr": "x", "auth_time": 1,
            "sid": "1", "name": "Ann" });
        let claims = completed(json!({ "sub": "s" }), userinfo);
        let ann = Person::of(&openid, claims).unwrap();
        assert_eq!((ann.amr.len(), ann.auth_time, ann.sid), (0, None, None));
        assert_eq!(ann.claims.get("acr"), None);
        assert_eq!(ann.claims["name"], "Ann");
    }

    #[test]
    fn a_person_has_a_subject_and_an_address_is_verified_by_word_alone() {
        let openid = Provider::new("corp", "https://id.example");
        let of = |claims: Value| Person::of(&openid, claims);
        let ann =
            of(json!({ "sub": "s", "email": "a@x.example", "email_verified": true })).unwrap();
        assert!(ann.email_verified);
        for unverified in [json!("yes"), json!(1), json!(null), json!("false")] {
            let ann =
                of(json!({ "sub": "s", "email": "a@x.example", "email_verified": unverified }));
            assert!(!ann.unwrap().email_verified);
        }
        for nobody in [
            json!({}),
            json!({ "sub": "" }),
            json!({ "sub": 1.5 }),
            json!({ "sub": "x".repeat(256) }),
            json!([]),
        ] {
            assert!(of(nobody.clone()).is_err(), "{nobody}");
        }
        let github = Provider {
            subject_claim: "id".into(),
            ..Provider::new("github", "https://github.com/login/oauth")
        };
        let octocat = Person::of(&github, json!({ "id": 583_231, "login": "octocat" })).unwrap();
        assert_eq!(
            (&*octocat.subject, octocat.username.as_deref()),
            ("583231", Some("octocat"))
        );
    }
}
