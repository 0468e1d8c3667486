//! What the server keeps of a passkey, and asks of one: the rows' format, challenges that are
//! answered once, the options that pages carry.

use serde::{Deserialize, Serialize};
use signet_crypto::hash::sha256;
use signet_encoding::base64url;
use signet_encoding::json::Writer;
use signet_oauth::people::passkeys::{Aaguid, PasskeySettings, UserVerification};
use signet_oauth::settings::Settings;
use signet_store::{Change, Key, Op, Outcome, Store, StoreError, Table};
use signet_webauthn::{CHALLENGE_LEN, CoseKey, NewCredential, RelyingParty, SUPPORTED};

/// How long a browser waits for a person, in milliseconds. The page's own end comes later.
const TIMEOUT_MS: u64 = 300_000;
/// Longest id of a credential, in bytes (WebAuthn section 4, "credential ID").
const MAX_CREDENTIAL_ID_BYTES: usize = 1023;

/// The relying party of the realm. None: passkeys are off, or the issuer's host can have none.
pub fn relying_party(settings: &Settings) -> Option<RelyingParty> {
    let PasskeySettings {
        enabled,
        related_origins,
        ..
    } = &settings.passkeys;
    let party = enabled.then(|| RelyingParty::of_issuer(&settings.issuer, related_origins))??;
    // A node that browsers reach at a port of its own: its pages have that origin.
    Some(match &settings.node_base {
        Some(own) => party.also_at(own),
        None => party,
    })
}

/// Whether an authenticator must verify its user.
pub fn must_verify(settings: &Settings) -> bool {
    match settings.passkeys.user_verification {
        UserVerification::Required => true,
        UserVerification::Preferred => false,
    }
}

/// Until when an answered challenge is remembered, Unix seconds. `ends_at`: until when its page may
/// be sent again, which may be longer than an interaction lasts (a login that waits for a mail).
pub fn remembered_until(settings: &Settings, ends_at: u64, now: u64) -> u64 {
    ends_at.max(now.saturating_add(settings.interaction_lifetime))
}

/// What a passkey answers: random, sealed into the page that asks, answered once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Challenge([u8; CHALLENGE_LEN]);

impl Challenge {
    /// A new one.
    pub fn new() -> Challenge {
        Challenge(signet_crypto::random::bytes())
    }

    /// The one of a page whose sealed state has this text, which other proofs may answer, too.
    pub fn of(text: &str) -> Challenge {
        Challenge(sha256(format!("signet passkey {text}").as_bytes()))
    }

    /// As the sealed state of a page has it.
    pub fn from_slice(bytes: &[u8]) -> Option<Challenge> {
        bytes.try_into().ok().map(Challenge)
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8; CHALLENGE_LEN] {
        &self.0
    }

    /// Consumes it: of all answers to it, on whatever node, one is the first. `end`: when the page
    /// that asks has expired, Unix seconds.
    ///
    /// # Errors
    /// The store's.
    pub async fn consume(&self, store: &dyn Store, end: u64, now: u64) -> Result<bool, StoreError> {
        let insert = Op::Insert {
            key: Key::new(Table::Once, [b"w".as_slice(), &sha256(&self.0)].concat()),
            value: Vec::new(),
            end: Some(end),
        };
        let outcome = store.commit(Change::new(insert), now).await?;
        Ok(matches!(outcome, Outcome::Done { .. }))
    }
}

impl Default for Challenge {
    fn default() -> Self {
        Challenge::new()
    }
}

/// What a credential's row says of a passkey.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passkey {
    /// The credential's id, in base64url.
    pub id: String,
    /// Its public key (COSE), in base64url.
    pub key: String,
    /// How often it had signed.
    pub sign_count: u32,
    /// The model of its authenticator.
    pub aaguid: [u8; 16],
    /// It may be on several devices.
    pub backup_eligible: bool,
    /// It was, when it was last used.
    pub backed_up: bool,
    /// How its authenticator is reached.
    pub transports: Vec<String>,
    /// It has verified its user at least once: it is two factors by itself. One of a version that
    /// did not say so counts as a security key until it does.
    #[serde(default)]
    pub verifies: bool,
    /// It came from a server that did not say whether it may be on several devices: its next use
    /// says so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub backup_unknown: bool,
}

/// A passkey that was made at another server.
#[derive(Clone, Debug)]
pub struct BroughtPasskey<'a> {
    /// The relying party that it was made for.
    pub rp_id: &'a str,
    /// The credential's id, in base64url.
    pub id: &'a str,
    /// Its public key (COSE), in base64url.
    pub key: &'a str,
    /// How often it had signed.
    pub sign_count: u32,
    /// The model of its authenticator.
    pub aaguid: [u8; 16],
    /// Whether it may be on several devices, where that is known.
    pub backup_eligible: Option<bool>,
    /// How its authenticator is reached.
    pub transports: Vec<String>,
    /// It has verified its user.
    pub verifies: bool,
}

impl Passkey {
    /// One that can be used here, with the name of its row.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn brought(
        given: BroughtPasskey<'_>,
        settings: &Settings,
    ) -> Result<(String, Passkey), String> {
        let party = relying_party(settings);
        let party = party.ok_or("passkeys are off in this realm, or its host can have none")?;
        if given.rp_id != party.id() {
            return Err(format!(
                "it was made for {:?} and works nowhere else; here is {:?}",
                given.rp_id,
                party.id()
            ));
        }
        let id = base64url::decode(given.id.as_bytes()).map_err(|_| "its id is not base64url")?;
        if !(1..=MAX_CREDENTIAL_ID_BYTES).contains(&id.len()) {
            return Err("its id has 1 to 1023 bytes".to_owned());
        }
        let key =
            base64url::decode(given.key.as_bytes()).map_err(|_| "its key is not base64url")?;
        CoseKey::parse(&key).map_err(|_| "its public key is no COSE key of a known algorithm")?;
        let allowed = &settings.passkeys.allowed_aaguids;
        if !allowed.is_empty() && !allowed.contains(&Aaguid(given.aaguid)) {
            return Err("its model is not allowed in this realm".to_owned());
        }
        let transports = given.transports.into_iter();
        let transports = transports.filter(|one| one.len() <= 32).take(8).collect();
        let passkey = Passkey {
            id: given.id.to_owned(),
            key: given.key.to_owned(),
            sign_count: given.sign_count,
            aaguid: given.aaguid,
            backup_eligible: given.backup_eligible.unwrap_or(false),
            backed_up: false,
            transports,
            verifies: given.verifies,
            backup_unknown: given.backup_eligible.is_none(),
        };
        Ok((row_id(&id), passkey))
    }

    /// Of a credential that was made.
    pub fn of(made: &NewCredential) -> Passkey {
        Passkey {
            id: base64url::encode(&made.id),
            key: base64url::encode(&made.key),
            sign_count: made.sign_count,
            aaguid: made.aaguid,
            backup_eligible: made.backup_eligible,
            backed_up: made.backed_up,
            transports: made.transports.clone(),
            verifies: made.user_verified,
            backup_unknown: false,
        }
    }

    /// Reads a row.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`].
    pub fn read(data: &[u8]) -> Result<Passkey, StoreError> {
        serde_json::from_slice(data).map_err(|_| StoreError::Corrupt("a passkey".into()))
    }

    /// The row.
    pub fn encode(&self) -> Vec<u8> {
        // Invariant: strings, numbers and booleans always serialize.
        serde_json::to_vec(self).expect("a passkey serializes")
    }
}

/// Names a passkey's row: ids are up to 1023 bytes long, and their hash is not.
pub fn row_id(credential_id: &[u8]) -> String {
    base64url::encode(&sha256(credential_id))
}

/// What a page asks a browser for that is to use a passkey: `PublicKeyCredentialRequestOptionsJSON`
/// (WebAuthn section 5.1.9). It names no credential: every passkey that was made here is
/// discoverable.
pub fn request_options(party: &RelyingParty, settings: &Settings, challenge: &Challenge) -> String {
    written(|w| {
        w.member("challenge").base64url(challenge.as_bytes());
        w.member("rpId").string(party.id());
        w.member("timeout").number(TIMEOUT_MS);
        w.member("userVerification").string(verification(settings));
    })
}

/// Whom a new passkey is for.
pub struct NewcomerOptions<'a> {
    /// The account's id: what the authenticator says again at a login.
    pub user_id: &'a str,
    /// What the person logs in as.
    pub username: &'a str,
    /// What they are called.
    pub display_name: &'a str,
    /// What the realm is called.
    pub realm_name: &'a str,
    /// What they have.
    pub present: &'a [Passkey],
}

/// What a page asks a browser for that is to make a passkey:
/// `PublicKeyCredentialCreationOptionsJSON` (WebAuthn section 5.1.8). Discoverable always: a login
/// names nobody.
pub fn creation_options(
    party: &RelyingParty,
    settings: &Settings,
    challenge: &Challenge,
    newcomer: &NewcomerOptions<'_>,
) -> String {
    written(|w| {
        w.member("challenge").base64url(challenge.as_bytes());
        w.member("rp").object(|w| {
            w.member("id").string(party.id());
            w.member("name").string(newcomer.realm_name);
        });
        w.member("user").object(|w| {
            w.member("id").base64url(newcomer.user_id.as_bytes());
            w.member("name").string(newcomer.username);
            w.member("displayName").string(newcomer.display_name);
        });
        w.member("pubKeyCredParams").array(|w| {
            for (number, _) in SUPPORTED {
                w.object(|w| {
                    w.member("type").string("public-key");
                    w.member("alg").integer(number);
                });
            }
        });
        w.member("timeout").number(TIMEOUT_MS);
        w.member("attestation").string("none");
        w.member("authenticatorSelection").object(|w| {
            w.member("residentKey").string("required");
            // The older name of the same (section 5.4.4).
            w.member("requireResidentKey").bool(true);
            w.member("userVerification").string(verification(settings));
        });
        w.member("excludeCredentials").array(|w| {
            for passkey in newcomer.present {
                w.object(|w| descriptor(w, passkey));
            }
        });
    })
}

fn verification(settings: &Settings) -> &'static str {
    settings.passkeys.user_verification.as_str()
}

fn descriptor(w: &mut Writer<'_>, passkey: &Passkey) {
    w.member("type").string("public-key");
    w.member("id").string(&passkey.id);
    w.member("transports").strings(&passkey.transports);
}

fn written(members: impl FnOnce(&mut Writer<'_>)) -> String {
    let mut out = Vec::new();
    Writer::new(&mut out).object(members);
    // Invariant: the writer writes UTF-8.
    String::from_utf8(out).unwrap_or_default()
}

/// What keeps a model's passkeys, where it is one of those that most people have: the name of a new
/// passkey until its person gives it another. From the lists that the vendors publish.
const KEEPERS: [(&str, &str); 14] = [
    ("fbfc3007-154e-4ecc-8c0b-6e020557d7bd", "Apple Passwords"),
    ("dd4ec289-e01d-41c9-bb89-70fa845d4bf2", "Apple Passwords"),
    (
        "ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4",
        "Google Password Manager",
    ),
    ("adce0002-35bc-c60a-648b-0b25f1f05503", "Chrome on Mac"),
    ("08987058-cadc-4b81-b6e1-30de50dcbe96", "Windows Hello"),
    ("9ddd1817-af5a-4672-a2b9-3e3dd95000a9", "Windows Hello"),
    ("6028b017-b1d4-4c02-b4b3-afcdafc96bb2", "Windows Hello"),
    ("bada5566-a7aa-401f-bd96-45619a55120d", "1Password"),
    ("d548826e-79b4-db40-a3d8-11116f7e8349", "Bitwarden"),
    ("531126d6-e717-415c-9320-3d9aa6981239", "Dashlane"),
    ("b84e4048-15dc-4dd0-8640-f4f60813c8af", "NordPass"),
    ("50726f74-6f6e-5061-7373-50726f746f6e", "Proton Pass"),
    ("53414d53-554e-4700-0000-000000000000", "Samsung Pass"),
    ("fdb141b2-5d84-443e-8a35-4698c205a502", "KeePassXC"),
];

/// What keeps the passkeys of a model, where that is known.
pub fn keeper(aaguid: &[u8; 16]) -> Option<&'static str> {
    let text = signet_oauth::people::passkeys::Aaguid(*aaguid).to_string();
    let row = KEEPERS.iter().find(|(known, _)| *known == text)?;
    Some(row.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_store::MemoryStore;

    #[tokio::test]
    async fn of_racing_answers_to_a_challenge_one_is_the_first() {
        let store = std::sync::Arc::new(MemoryStore::new());
        let challenge = Challenge::new();
        let racers: Vec<_> = (0..20)
            .map(|_| {
                let store = store.clone();
                tokio::spawn(async move { challenge.consume(&*store, 2000, 1000).await })
            })
            .collect();
        let mut first = 0;
        for racer in racers {
            first += u32::from(racer.await.expect("a task").expect("the store"));
        }
        assert_eq!(first, 1);
    }

    #[test]
    fn every_keeper_has_a_model_of_the_one_form() {
        for (model, name) in KEEPERS {
            let parsed = signet_oauth::people::passkeys::Aaguid::parse(model).expect("a UUID");
            assert_eq!(keeper(&parsed.0), Some(name));
        }
        assert_eq!(keeper(&[0; 16]), None);
    }

    #[test]
    fn options_are_strict_json_whatever_somebody_is_called() {
        let settings = Settings::new("https://id.example");
        let party = relying_party(&settings).expect("a domain");
        let newcomer = NewcomerOptions {
            user_id: "u",
            username: "\"},{\"",
            display_name: "<script>",
            realm_name: "R",
            present: &[],
        };
        let text = creation_options(&party, &settings, &Challenge::new(), &newcomer);
        let read: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(read["user"]["name"], "\"},{\"");
        assert_eq!(read["pubKeyCredParams"][0]["alg"], -7);
        assert_eq!(read["authenticatorSelection"]["residentKey"], "required");
    }

    #[test]
    fn an_issuer_without_a_domain_and_one_that_is_told_not_to_offer_none() {
        assert!(relying_party(&Settings::new("https://127.0.0.1:8443")).is_none());
        let mut settings = Settings::new("https://id.example");
        assert!(relying_party(&settings).is_some());
        settings.passkeys.enabled = false;
        assert!(relying_party(&settings).is_none());
    }
}
