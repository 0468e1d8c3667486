//! Whose a password is at a server that people move away from: asked by the password grant, by a
//! form that is posted (a hook), or by an LDAP bind.

use serde_json::{Map, Value, json};
use signet_crypto::Secret;
use signet_ldap::{Entry, LdapError, Question, Server};
use signet_oauth::people::provider::{Protocol, ProviderAuth};
use signet_registry::providers::open_secret;

use super::token::JSON;
use super::{Asking, Metadata, Person, Trouble};
use signet_realm::outbound::Call;

/// Attributes that name an entry for ever: of 389-ds and FreeIPA, of Active Directory, and the
/// standard's (RFC 4530). The first that there is counts.
const FOREVER: [&str; 4] = ["entryUUID", "ipaUniqueID", "nsUniqueId", "objectGUID"];
/// Attributes (RFC 4519, RFC 2798, Active Directory's) and the claims that they are, where the
/// record says nothing else. The first that there is counts.
const CLAIMS: [(&str, &str); 8] = [
    ("uid", "preferred_username"),
    ("sAMAccountName", "preferred_username"),
    ("mail", "email"),
    ("displayName", "name"),
    ("cn", "name"),
    ("givenName", "given_name"),
    ("sn", "family_name"),
    ("preferredLanguage", "locale"),
];

impl Asking<'_> {
    /// The person whose name and password these are. None: nobody's there.
    ///
    /// # Errors
    /// See [`Trouble`].
    pub async fn by_password(
        &self,
        login: &str,
        password: &Secret<String>,
    ) -> Result<Option<Person>, Trouble> {
        match self.provider.protocol {
            Protocol::Openid | Protocol::Oauth2 => self.by_grant(login, password).await,
            Protocol::Hook => self.by_hook(login, password).await,
            Protocol::Ldap => self.by_bind(login, password).await,
        }
    }

    /// RFC 6749 section 4.3, which OAuth 2.1 has no more: the other server may have it still. Who
    /// it is, is what its userinfo says to the access token.
    async fn by_grant(
        &self,
        login: &str,
        password: &Secret<String>,
    ) -> Result<Option<Person>, Trouble> {
        let metadata = self.metadata().await?;
        let fields = [
            ("grant_type", "password"),
            ("username", login),
            ("password", password.expose()),
            ("scope", &self.provider.scope),
        ];
        let tokens = match self.token(&metadata, &fields, None).await {
            Ok(tokens) => tokens,
            Err(Trouble::Refused(code)) if code == "invalid_grant" => return Ok(None),
            Err(trouble) => return Err(trouble),
        };
        self.of_api(&metadata, &tokens).await.map(Some)
    }

    async fn by_hook(
        &self,
        login: &str,
        password: &Secret<String>,
    ) -> Result<Option<Person>, Trouble> {
        let fields = [("username", login), ("password", password.expose())];
        let (authorization, form) = self.form(&Metadata::default(), &fields)?;
        let call = Call {
            url: &self.provider.issuer,
            accept: JSON,
            authorization,
            dpop: None,
            form: Some(form),
        };
        let reply = self.call(&call).await?;
        match reply.status {
            200 => {}
            // 401 is also what a server answers that does not know this one: that is said by its
            // challenge (RFC 9110 section 11.6.1), and seen in its log.
            401 | 403 | 404 => return Ok(None),
            status => return Err(Trouble::Refused(format!("status {status}"))),
        }
        let claims = serde_json::from_slice(&reply.body);
        let claims = claims.map_err(|_| Trouble::Answer("the hook answered no JSON"))?;
        Person::of(self.provider, claims).map(Some)
    }

    async fn by_bind(
        &self,
        login: &str,
        password: &Secret<String>,
    ) -> Result<Option<Person>, Trouble> {
        let provider = self.provider;
        let server = Server::of(&provider.issuer).ok_or(Trouble::Own("its URL is not LDAP's"))?;
        let bind = match provider.auth {
            ProviderAuth::None => None,
            ProviderAuth::ClientSecretBasic
            | ProviderAuth::ClientSecretPost
            | ProviderAuth::PrivateKeyJwt => {
                let secret = open_secret(&self.realm.keyring(), provider);
                let secret = secret.ok_or(Trouble::Own(
                    "the password of its bind is missing, or does not open",
                ))?;
                Some((provider.client_id.clone(), secret))
            }
        };
        let question = Question {
            bind,
            base: provider.search_base.clone().unwrap_or_default(),
            filter: provider.search_filter.clone().unwrap_or_default(),
            login: login.to_owned(),
            password: password.clone(),
        };
        self.spend(&provider.issuer)?;
        let outbound = &self.realm.host.outbound;
        let talk = |stream, tls| signet_ldap::ask(stream, &server, tls, question);
        let answer = outbound.converse(&server.host, server.port, talk).await?;
        let entry = match answer {
            Ok(None) => return Ok(None),
            Ok(Some(entry)) => entry,
            // The policy of the directory keeps the person out: an expired password, a locked
            // account. An unauthenticated caller does not learn which.
            Err(LdapError::Refused(code)) => {
                tracing::info!(provider = %provider.name, code, "received a refusal of a bind from the directory");
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        Person::of(provider, claims_of(&entry)).map(Some)
    }
}

/// What an entry says, as claims: each attribute by its name, and those that are standard claims by
/// theirs. The directory is the address's owner: it verified it, as far as it is believed.
fn claims_of(entry: &Entry) -> Value {
    let mut claims = Map::new();
    for (name, values) in &entry.texts {
        let value = match values.as_slice() {
            [] => continue,
            [one] => json!(one),
            several => json!(several),
        };
        claims.insert(name.clone(), value);
    }
    for (attribute, claim) in CLAIMS {
        if let Some(text) = entry
            .text(attribute)
            .filter(|_| !claims.contains_key(claim))
        {
            claims.insert(claim.to_owned(), json!(text));
        }
    }
    if claims.contains_key("email") {
        claims.insert("email_verified".to_owned(), json!(true));
    }
    let text = |name: &&str| entry.text(name).map(str::to_owned);
    let subject = FOREVER
        .iter()
        .find_map(|name| text(name).or_else(|| guid(entry, name)));
    claims.remove("sub");
    // A distinguished name may be somebody else's one day: an entry without an id is nobody.
    if let Some(subject) = subject {
        claims.insert("sub".to_owned(), json!(subject));
    }
    Value::Object(claims)
}

/// Sixteen bytes as Active Directory's tools write them: the first three groups in the order of a
/// small processor ([MS-DTYP] section 2.3.4.2).
fn guid(entry: &Entry, name: &str) -> Option<String> {
    let mut all = entry.bytes.iter();
    let (_, values) = all.find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    let bytes: [u8; 16] = values.first()?.as_slice().try_into().ok()?;
    let order = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
    let mut text = String::new();
    for (at, from) in order.into_iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{:02x}", bytes[from]));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(texts: &[(&str, &[&str])]) -> Entry {
        let texts = texts.iter().map(|(name, values)| {
            let values = values.iter().map(|value| (*value).to_owned());
            ((*name).to_owned(), values.collect())
        });
        Entry {
            dn: "uid=alice".into(),
            texts: texts.collect(),
            bytes: Default::default(),
        }
    }

    #[test]
    fn an_entry_says_standard_claims_and_its_own_attributes() {
        let claims = claims_of(&entry(&[
            ("UID", &["alice"]),
            ("mail", &["a@x.example", "alice@x.example"]),
            ("cn", &["Alice Liddell"]),
            ("memberOf", &["cn=staff", "cn=admins"]),
            ("employeeNumber", &["7"]),
            ("ENTRYUUID", &["00112233-4455-6677-8899-aabbccddeeff"]),
        ]));
        assert_eq!(claims["preferred_username"], "alice");
        assert_eq!(claims["email"], "a@x.example");
        assert_eq!(claims["email_verified"], true);
        assert_eq!(claims["name"], "Alice Liddell");
        assert_eq!(claims["employeeNumber"], "7");
        assert_eq!(claims["memberOf"], json!(["cn=staff", "cn=admins"]));
        assert_eq!(claims["sub"], "00112233-4455-6677-8899-aabbccddeeff");
    }

    #[test]
    fn an_entry_without_an_id_that_stays_names_nobody() {
        let claims = claims_of(&entry(&[("uid", &["alice"])]));
        assert_eq!(claims.get("sub"), None);
        assert_eq!(claims.get("email_verified"), None);
    }

    #[test]
    fn the_bytes_of_active_directory_are_the_text_of_its_tools() {
        let mut alice = entry(&[]);
        let bytes = (0..16).collect();
        alice.bytes.insert("objectGUID".into(), vec![bytes]);
        let text = "03020100-0504-0706-0809-0a0b0c0d0e0f";
        assert_eq!(claims_of(&alice)["sub"], text);
        alice.bytes.insert("objectGUID".into(), vec![vec![1; 15]]);
        assert_eq!(claims_of(&alice).get("sub"), None);
    }
}
