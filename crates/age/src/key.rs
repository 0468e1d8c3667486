//! Whom a file is encrypted to, and who can decrypt it.

use bech32::primitives::decode::CheckedHrpstring;
use bech32::{Bech32, Hrp};
use signet_crypto::Secret;
use signet_crypto::x25519::{KEY_LEN, X25519Key};

use crate::AgeError;

/// What a recipient begins with, before its 1.
const RECIPIENT: &str = "age";
/// What an identity begins with, before its 1.
const IDENTITY: &str = "AGE-SECRET-KEY-";

/// Whom a file is encrypted to.
pub enum Recipient {
    /// Whoever knows this passphrase.
    Passphrase(Secret<String>),
    /// The holder of the secret half of this X25519 key.
    Key([u8; KEY_LEN]),
}

impl Recipient {
    /// A recipient by its text: `age1` and 58 letters and digits more.
    ///
    /// # Errors
    /// [`AgeError::Recipient`], [`AgeError::OtherKind`].
    pub fn parse(text: &str) -> Result<Recipient, AgeError> {
        let text = text.trim();
        let key = bytes(text, RECIPIENT).ok_or(match text.starts_with("age1") {
            true => AgeError::Recipient,
            false => AgeError::OtherKind,
        })?;
        Ok(Recipient::Key(*key.expose()))
    }
}

/// Who can decrypt a file.
pub enum Identity {
    /// Who knows this passphrase.
    Passphrase(Secret<String>),
    /// Who has these X25519 keys, one of which is enough.
    Keys(Vec<X25519Key>),
}

impl Identity {
    /// The identities of a file: one a line, as `age-keygen` writes it. Empty lines and those that
    /// begin with `#` are none.
    ///
    /// # Errors
    /// [`AgeError::Identity`], [`AgeError::OtherKind`].
    pub fn parse(file: &str) -> Result<Identity, AgeError> {
        let lines = file.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let keys = lines.map(|line| {
            let key = bytes(line, IDENTITY).ok_or(AgeError::OtherKind)?;
            X25519Key::from_bytes(&key).map_err(|_| AgeError::OtherKind)
        });
        let keys: Vec<X25519Key> = keys.collect::<Result<_, _>>()?;
        match keys.is_empty() {
            true => Err(AgeError::Identity),
            false => Ok(Identity::Keys(keys)),
        }
    }

    /// A new identity's text, and the recipient's that belongs to it.
    ///
    /// # Errors
    /// [`AgeError::Library`].
    pub fn generate() -> Result<(Secret<String>, String), AgeError> {
        let secret = Secret::<[u8; KEY_LEN]>::random();
        let key = X25519Key::from_bytes(&secret).map_err(|_| AgeError::Library)?;
        let text = text(IDENTITY, secret.expose())?.to_ascii_uppercase();
        Ok((Secret::new(text), text_of(key.public())?))
    }
}

/// The recipient's text of a public key.
fn text_of(key: &[u8; KEY_LEN]) -> Result<String, AgeError> {
    text(RECIPIENT, key)
}

fn text(begins: &str, key: &[u8]) -> Result<String, AgeError> {
    let begins = Hrp::parse(begins).map_err(|_| AgeError::Library)?;
    bech32::encode::<Bech32>(begins, key).map_err(|_| AgeError::Library)
}

/// The 32 bytes of a text in Bech32 (BIP 173) that begins so.
fn bytes(text: &str, begins: &str) -> Option<Secret<[u8; KEY_LEN]>> {
    let read = CheckedHrpstring::new::<Bech32>(text).ok()?;
    if !read.hrp().as_str().eq_ignore_ascii_case(begins) {
        return None;
    }
    let mut key = [0; KEY_LEN];
    let mut given = read.byte_iter();
    for byte in &mut key {
        *byte = given.next()?;
    }
    given.next().is_none().then(|| Secret::new(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_as_it_was_written_and_nothing_else_is_one() {
        let (secret, recipient) = Identity::generate().unwrap();
        assert_eq!((secret.expose().len(), recipient.len()), (74, 62));
        let file = format!("# created: now\r\n\n{}\r\n", secret.expose());
        let Identity::Keys(keys) = Identity::parse(&file).unwrap() else {
            panic!("keys");
        };
        let Recipient::Key(public) = Recipient::parse(&recipient).unwrap() else {
            panic!("a key");
        };
        assert_eq!(keys[0].public(), &public);
        let mut wrong = recipient.clone();
        let last = if wrong.ends_with('q') { "p" } else { "q" };
        wrong.replace_range(61.., last);
        for (text, why) in [
            (&*wrong, AgeError::Recipient),
            ("age1", AgeError::Recipient),
            ("ssh-ed25519 AAAA", AgeError::OtherKind),
            (secret.expose(), AgeError::OtherKind),
        ] {
            assert_eq!(Recipient::parse(text).err(), Some(why), "{text}");
        }
        assert_eq!(
            Identity::parse("# nobody\n").err(),
            Some(AgeError::Identity)
        );
        assert_eq!(Identity::parse(&recipient).err(), Some(AgeError::OtherKind));
    }
}
