//! Sealed values: what the server hands out and reads back, readable and changeable by nobody in
//! between.
//!
//! A sealed value is `key id (4) || nonce (12) || ciphertext || tag (16)`, AES-256-GCM. The id in
//! front says which of the ring's keys sealed it, so the key can be rotated: the new one seals, the
//! older ones still open until they are taken out of the ring. Each pair of key and [`Purpose`] has
//! its own AES key, derived by HKDF-SHA256 when the ring is made, and the purpose is in the
//! associated data too: a code cannot be presented as a cookie. Each realm has keys of its own,
//! derived from the same sealing keys, so realms are apart by key.
//!
//! A ring seals and opens; it does not know whether a value was used before or has expired. That is
//! for the plaintext to say.

use crate::{
    Secret,
    aead::{AeadError, AeadKey},
    kdf::Extracted,
    random,
};

/// What a sealed value is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// An authorization code (RFC 6749 section 4.1).
    AuthorizationCode,
    /// A refresh token (RFC 6749 section 6).
    RefreshToken,
    /// A browser's session cookie.
    SessionCookie,
    /// The state of a login or consent page.
    Interaction,
    /// A `request_uri` of RFC 9126.
    PushedRequest,
    /// A device code (RFC 8628).
    DeviceCode,
    /// A private signing key at rest.
    SigningKey,
    /// A client secret at rest, where HMAC needs the secret itself.
    ClientSecret,
    /// A server nonce of RFC 9449 section 8.
    DpopNonce,
    /// A link that recovers an account.
    Recovery,
    /// Anything else, by a label of its own. Its AES key is derived at each use, which costs about
    /// a microsecond.
    Other(&'static str),
}

impl Purpose {
    /// Those whose keys are derived once. The position in this list is the position in
    /// [`RingKey::prepared`].
    const PREPARED: [Purpose; 10] = [
        Purpose::AuthorizationCode,
        Purpose::RefreshToken,
        Purpose::SessionCookie,
        Purpose::Interaction,
        Purpose::PushedRequest,
        Purpose::DeviceCode,
        Purpose::SigningKey,
        Purpose::ClientSecret,
        Purpose::DpopNonce,
        Purpose::Recovery,
    ];

    /// A label never changes: what is at rest was sealed under it. Those of `Other` have a prefix
    /// of their own, so they cannot be one of the listed ones.
    fn label(self) -> (&'static str, &'static str) {
        match self {
            Purpose::AuthorizationCode => ("", "authorization_code"),
            Purpose::RefreshToken => ("", "refresh_token"),
            Purpose::SessionCookie => ("", "session_cookie"),
            Purpose::Interaction => ("", "interaction"),
            Purpose::PushedRequest => ("", "pushed_request"),
            Purpose::DeviceCode => ("", "device_code"),
            Purpose::SigningKey => ("", "signing_key"),
            Purpose::ClientSecret => ("", "client_secret"),
            Purpose::DpopNonce => ("", "dpop_nonce"),
            Purpose::Recovery => ("", "recovery"),
            Purpose::Other(label) => ("other:", label),
        }
    }

    /// Whether a key that was narrowed to this still opens values of the purpose. What is in no
    /// list may be consumed: it does not open.
    fn is_open_to(self, opens: Opens) -> bool {
        let (_, label) = self.label();
        let at_rest = Self::AT_REST.contains(&label);
        match opens {
            Opens::All => true,
            Opens::Lasting => at_rest || Self::HELD.contains(&label),
            Opens::AtRest => at_rest,
        }
    }

    /// The labels of data at rest.
    const AT_REST: [&str; 7] = [
        "signing_key",
        "client_secret",
        "audit_identity",
        "provider-refresh-token",
        "provider-secret",
        "totp-secret",
        "mail",
    ];

    /// The labels of what clients and browsers hold for longer than one answer, and whose rows say
    /// whether it is still good.
    const HELD: [&str; 5] = [
        "refresh_token",
        "session_cookie",
        "console",
        "device-cookie",
        "provider-id-token",
    ];

    fn position(self) -> Option<usize> {
        Self::PREPARED.iter().position(|purpose| *purpose == self)
    }

    /// `length of the label (2 bytes) || label || aad`: the length keeps a label and data from
    /// being taken for another label and other data.
    fn associated_data(self, aad: &[u8]) -> Vec<u8> {
        let (prefix, label) = self.label();
        let length = u16::try_from(prefix.len() + label.len()).unwrap_or(u16::MAX);
        let mut out = Vec::with_capacity(2 + prefix.len() + label.len() + aad.len());
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(prefix.as_bytes());
        out.extend_from_slice(label.as_bytes());
        out.extend_from_slice(aad);
        out
    }
}

/// What a key still opens. A store that was put back to an earlier moment has forgotten which
/// values were consumed since: whatever could be consumed a second time must not open any more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Opens {
    /// Everything that it sealed.
    #[default]
    All,
    /// Data at rest, refresh tokens and session cookies. Nothing that is good for
    /// one answer: codes, pushed requests, device codes, pages, mailed links, nonces.
    Lasting,
    /// Data at rest alone.
    AtRest,
}

/// The keys that seal: one current, older ones that still open.
pub struct Keyring {
    current: RingKey,
    older: Vec<RingKey>,
}

/// One key with everything that is derived from it.
struct RingKey {
    id: [u8; KEY_ID_LEN],
    opens: Opens,
    extracted: Extracted,
    prepared: Vec<AeadKey>,
}

const KEY_ID_LEN: usize = 4;

impl RingKey {
    /// `realm`: empty for the default one, whose keys are derived as all were before there were
    /// realms.
    fn new(key: &SealingKey, realm: &str) -> Self {
        let mut extracted = Extracted::new(b"signet sealing key", key.key.expose());
        if !realm.is_empty() {
            let of_realm = extracted.expand::<32>(&[b"realm:", realm.as_bytes()]);
            extracted = Extracted::new(b"signet sealing key of a realm", of_realm.expose());
        }
        let prepared = Purpose::PREPARED
            .iter()
            .map(|purpose| aead_key(&extracted, *purpose))
            .collect();
        RingKey {
            id: key.id,
            opens: key.opens,
            extracted,
            prepared,
        }
    }

    fn with<T>(&self, purpose: Purpose, use_key: impl FnOnce(&AeadKey) -> T) -> T {
        match purpose.position().and_then(|i| self.prepared.get(i)) {
            Some(key) => use_key(key),
            None => use_key(&aead_key(&self.extracted, purpose)),
        }
    }
}

fn aead_key(extracted: &Extracted, purpose: Purpose) -> AeadKey {
    let (prefix, label) = purpose.label();
    let key = extracted.expand::<32>(&[b"seal:", prefix.as_bytes(), label.as_bytes()]);
    AeadKey::new(key.expose())
}

impl Keyring {
    /// What a sealed value is longer than its plaintext, in bytes.
    pub const OVERHEAD: usize = KEY_ID_LEN + AeadKey::OVERHEAD;

    /// A ring that seals under `current` and opens what any of them sealed.
    pub fn new(current: SealingKey, older: Vec<SealingKey>) -> Self {
        Keyring::of_realm("", current, older)
    }

    /// As `new`, with keys derived for a realm: what one realm sealed opens in no other, although
    /// the sealing keys are the same. The empty name is the default realm's, and `new` its ring.
    pub fn of_realm(realm: &str, current: SealingKey, older: Vec<SealingKey>) -> Self {
        Keyring {
            current: RingKey::new(&current, realm),
            older: older.iter().map(|key| RingKey::new(key, realm)).collect(),
        }
    }

    /// Seals under the current key.
    ///
    /// # Errors
    /// As [`AeadKey::seal_into`].
    pub fn seal(&self, purpose: Purpose, plaintext: &[u8]) -> Result<Vec<u8>, AeadError> {
        self.seal_with(purpose, b"", plaintext)
    }

    /// As `seal` with further associated data (an issuer, a user id), which opening has to name
    /// again.
    ///
    /// # Errors
    /// As [`AeadKey::seal_into`].
    pub fn seal_with(
        &self,
        purpose: Purpose,
        aad: &[u8],
        plaintext: &[u8],
    ) -> Result<Vec<u8>, AeadError> {
        let mut out = Vec::with_capacity(plaintext.len() + Self::OVERHEAD);
        out.extend_from_slice(&self.current.id);
        self.current.with(purpose, |key| {
            key.seal_into(&purpose.associated_data(aad), plaintext, &mut out)
        })?;
        Ok(out)
    }

    /// The plaintext, if a key of this ring sealed it for this purpose.
    ///
    /// # Errors
    /// For everything else, without saying why.
    pub fn open(&self, purpose: Purpose, sealed: &[u8]) -> Result<Vec<u8>, AeadError> {
        self.open_with(purpose, b"", sealed)
    }

    /// As `open`, of what was sealed with this associated data.
    ///
    /// # Errors
    /// As `open`.
    pub fn open_with(
        &self,
        purpose: Purpose,
        aad: &[u8],
        sealed: &[u8],
    ) -> Result<Vec<u8>, AeadError> {
        let (id, body) = sealed.split_first_chunk::<KEY_ID_LEN>().ok_or(AeadError)?;
        let aad = purpose.associated_data(aad);
        // Ids are random and short: should two keys share one, both are tried.
        std::iter::once(&self.current)
            .chain(&self.older)
            .filter(|key| key.id == *id && purpose.is_open_to(key.opens))
            .find_map(|key| key.with(purpose, |key| key.open(&aad, body)).ok())
            .ok_or(AeadError)
    }

    /// 32 bytes under the current key for a context of the caller's (HKDF-SHA256), to key a hash
    /// with. They change when the sealing key is rotated.
    pub fn derive(&self, context: &str) -> Secret<[u8; 32]> {
        self.current
            .extracted
            .expand(&[b"derive:", context.as_bytes()])
    }

    /// The id that is in front of what `seal` makes.
    pub fn current_id(&self) -> [u8; 4] {
        self.current.id
    }

    /// The id of the key that sealed a value, as it claims: for deciding what to re-encrypt after a
    /// rotation.
    pub fn id_of(sealed: &[u8]) -> Option<[u8; 4]> {
        sealed.first_chunk().copied()
    }
}

impl std::fmt::Debug for Keyring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keyring")
            .field("current", &self.current.id)
            .field("older", &self.older.len())
            .finish()
    }
}

/// One sealing key with the id that its sealed values begin with. The id says nothing about the
/// key: it is drawn, not computed.
#[derive(Clone, Debug)]
pub struct SealingKey {
    /// In front of every value that the key seals.
    pub id: [u8; 4],
    /// 32 random bytes.
    pub key: Secret<[u8; 32]>,
    /// What it still opens.
    pub opens: Opens,
}

impl SealingKey {
    /// A new key with a new id.
    pub fn generate() -> Self {
        let mut id = [0; 4];
        random::fill_system(&mut id);
        let mut key = [0; 32];
        random::fill_system(&mut key);
        let secret = Secret::new(key);
        zeroize::Zeroize::zeroize(&mut key);
        SealingKey {
            id,
            key: secret,
            opens: Opens::All,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(id: u8, byte: u8) -> SealingKey {
        SealingKey {
            id: [id; 4],
            key: Secret::new([byte; 32]),
            opens: Opens::All,
        }
    }

    fn purposes() -> Vec<Purpose> {
        let mut all = Purpose::PREPARED.to_vec();
        all.extend([
            Purpose::Other("csrf"),
            Purpose::Other(""),
            Purpose::Other("x"),
        ]);
        all
    }

    #[test]
    fn a_narrowed_key_opens_nothing_that_could_be_consumed_again() {
        let old = SealingKey::generate();
        let sealed: Vec<(Purpose, Vec<u8>)> = purposes()
            .into_iter()
            .chain([
                Purpose::Other("totp-secret"),
                Purpose::Other("device-cookie"),
            ])
            .map(|purpose| {
                let ring = Keyring::new(old.clone(), Vec::new());
                (purpose, ring.seal(purpose, b"value").expect("sealed"))
            })
            .collect();
        let opened = |opens| -> Vec<Purpose> {
            let narrowed = SealingKey {
                opens,
                ..old.clone()
            };
            let ring = Keyring::new(SealingKey::generate(), vec![narrowed]);
            let mut sealed = sealed.clone();
            sealed.retain(|(purpose, value)| ring.open(*purpose, value).is_ok());
            sealed.into_iter().map(|(purpose, _)| purpose).collect()
        };
        assert_eq!(opened(Opens::All).len(), sealed.len());
        let lasting = [
            Purpose::RefreshToken,
            Purpose::SessionCookie,
            Purpose::SigningKey,
            Purpose::ClientSecret,
            Purpose::Other("totp-secret"),
            Purpose::Other("device-cookie"),
        ];
        assert_eq!(opened(Opens::Lasting), lasting);
        let at_rest = [
            Purpose::SigningKey,
            Purpose::ClientSecret,
            Purpose::Other("totp-secret"),
        ];
        assert_eq!(opened(Opens::AtRest), at_rest);
    }

    #[test]
    fn a_value_opens_for_its_own_purpose_only() {
        let ring = Keyring::new(SealingKey::generate(), Vec::new());
        for sealed_for in purposes() {
            let sealed = ring.seal(sealed_for, b"value").expect("sealed");
            assert_eq!(sealed.len(), 5 + Keyring::OVERHEAD);
            for opened_for in purposes() {
                let opened = ring.open(opened_for, &sealed);
                assert_eq!(
                    opened.is_ok(),
                    sealed_for == opened_for,
                    "{sealed_for:?} {opened_for:?}"
                );
            }
        }
    }

    #[test]
    fn what_one_realm_sealed_opens_in_no_other() {
        let of = |realm| Keyring::of_realm(realm, key(1, 1), vec![key(2, 2)]);
        let rings = [of(""), of("a"), of("b"), of("ab")];
        for purpose in purposes() {
            for (at, ring) in rings.iter().enumerate() {
                let sealed = ring.seal(purpose, b"value").expect("sealed");
                for (other, opens) in rings.iter().enumerate() {
                    let opened = opens.open(purpose, &sealed).is_ok();
                    assert_eq!(opened, at == other, "{purpose:?}");
                }
            }
        }
        for (at, ring) in rings.iter().enumerate() {
            for other in &rings[at + 1..] {
                assert_ne!(ring.derive("a"), other.derive("a"));
            }
        }
    }

    #[test]
    fn associated_data_is_bound() {
        let ring = Keyring::new(SealingKey::generate(), Vec::new());
        let sealed = ring
            .seal_with(Purpose::Interaction, b"alice", b"value")
            .expect("sealed");
        assert_eq!(
            ring.open_with(Purpose::Interaction, b"alice", &sealed)
                .as_deref(),
            Ok(&b"value"[..])
        );
        assert!(
            ring.open_with(Purpose::Interaction, b"bob", &sealed)
                .is_err()
        );
        assert!(ring.open(Purpose::Interaction, &sealed).is_err());
    }

    #[test]
    fn a_label_and_data_cannot_be_shifted_into_each_other() {
        assert_ne!(
            Purpose::Other("a").associated_data(b"bc"),
            Purpose::Other("ab").associated_data(b"c")
        );
    }

    #[test]
    fn an_older_key_opens_after_a_rotation_and_not_once_it_is_gone() {
        let sealed = Keyring::new(key(1, 1), Vec::new())
            .seal(Purpose::RefreshToken, b"value")
            .expect("sealed");
        assert_eq!(Keyring::id_of(&sealed), Some([1; 4]));

        let rotated = Keyring::new(key(2, 2), vec![key(1, 1)]);
        assert_eq!(
            rotated.open(Purpose::RefreshToken, &sealed).as_deref(),
            Ok(&b"value"[..])
        );
        let anew = rotated
            .seal(Purpose::RefreshToken, b"value")
            .expect("sealed");
        assert_eq!(Keyring::id_of(&anew), Some(rotated.current_id()));

        let forgotten = Keyring::new(key(2, 2), Vec::new());
        assert!(forgotten.open(Purpose::RefreshToken, &sealed).is_err());
        assert!(forgotten.open(Purpose::RefreshToken, &anew).is_ok());
    }

    #[test]
    fn two_keys_with_one_id_both_open() {
        let sealed = Keyring::new(key(1, 1), Vec::new())
            .seal(Purpose::Interaction, b"value")
            .expect("sealed");
        let ring = Keyring::new(key(1, 2), vec![key(1, 1)]);
        assert!(ring.open(Purpose::Interaction, &sealed).is_ok());
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_refused() {
        let ring = Keyring::new(SealingKey::generate(), vec![SealingKey::generate()]);
        let sealed = ring.seal(Purpose::DeviceCode, b"value").expect("sealed");
        for bit in 0..sealed.len() * 8 {
            let mut changed = sealed.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(ring.open(Purpose::DeviceCode, &changed).is_err());
        }
        for length in 0..sealed.len() {
            assert!(ring.open(Purpose::DeviceCode, &sealed[..length]).is_err());
        }
    }

    #[test]
    fn derived_keys_differ_by_context_and_key_and_are_stable() {
        let ring = Keyring::new(key(1, 1), Vec::new());
        assert_eq!(ring.derive("a"), ring.derive("a"));
        assert_ne!(ring.derive("a"), ring.derive("b"));
        assert_ne!(
            ring.derive("a"),
            Keyring::new(key(1, 2), Vec::new()).derive("a")
        );
    }
}
