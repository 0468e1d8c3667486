//! The header: the file's key, sealed for each of those who may read it, and its tag.

use signet_crypto::chacha::{ChaChaKey, TAG_LEN};
use signet_crypto::kdf::{hkdf_sha256, scrypt_key};
use signet_crypto::mac::HmacSha256Key;
use signet_crypto::x25519::{KEY_LEN, X25519Key};
use signet_crypto::{Secret, random};
use signet_encoding::base64url;

use crate::key::{Identity, Recipient};
use crate::{AgeError, MAX_HEADER_BYTES, MAX_WORK_FACTOR, WORK_FACTOR};

/// What every such file begins with.
pub const MAGIC: &[u8] = b"age-encryption.org/v1\n";

/// Bytes of a file's key.
const FILE_KEY_LEN: usize = 16;
/// Columns of a stanza's body: a shorter line is its last.
const COLUMNS: usize = 64;
/// Bytes of the salt of a passphrase.
const SALT_LEN: usize = 16;

const X25519: &str = "X25519";
const X25519_INFO: &[u8] = b"age-encryption.org/v1/X25519";
const SCRYPT: &str = "scrypt";
const SCRYPT_LABEL: &[u8] = b"age-encryption.org/v1/scrypt";

pub(crate) type FileKey = Secret<[u8; FILE_KEY_LEN]>;

/// Whether bytes begin as a file of the format does.
pub fn is_encrypted(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Standard base64 without padding, as the format has it.
fn encode(bytes: &[u8]) -> String {
    base64url::encode(bytes).replace('-', "+").replace('_', "/")
}

fn decode(text: &str) -> Option<Vec<u8>> {
    // The URL alphabet's own two characters are none of the format's.
    if text.contains(['-', '_']) {
        return None;
    }
    let text = text.replace('+', "-").replace('/', "_");
    base64url::decode(text.as_bytes()).ok()
}

/// A header for this recipient, with the key that it seals.
pub(crate) fn write(recipient: &Recipient) -> Result<(Vec<u8>, FileKey), AgeError> {
    let file_key = FileKey::random();
    let mut header = MAGIC.to_vec();
    let (first, wrapping) = match recipient {
        Recipient::Passphrase(passphrase) => {
            let salt: [u8; SALT_LEN] = random::bytes();
            let key = of_passphrase(passphrase, &salt, WORK_FACTOR)?;
            (format!("{SCRYPT} {} {WORK_FACTOR}", encode(&salt)), key)
        }
        Recipient::Key(public) => {
            let own = X25519Key::generate();
            let key = of_agreement(&own, public, own.public(), public);
            let key = key.ok_or(AgeError::Recipient)?;
            (format!("{X25519} {}", encode(own.public())), key)
        }
    };
    let mut body = file_key.expose().to_vec();
    let sealed = ChaChaKey::new(wrapping.expose()).seal([0; 12], &mut body);
    sealed.map_err(|_| AgeError::Library)?;
    // 32 bytes are 43 characters: the body is one line, which is its last.
    header.extend_from_slice(format!("-> {first}\n{}\n---", encode(&body)).as_bytes());
    let tag = tag(&file_key, &header);
    header.extend_from_slice(format!(" {}\n", encode(&tag)).as_bytes());
    Ok((header, file_key))
}

fn tag(file_key: &FileKey, header: &[u8]) -> [u8; 32] {
    let key = hkdf_sha256::<32>(b"", file_key.expose(), b"header");
    HmacSha256Key::new(key.expose()).sign(header)
}

fn of_passphrase(
    passphrase: &Secret<String>,
    salt: &[u8],
    work_factor: u8,
) -> Result<Secret<[u8; 32]>, AgeError> {
    let salt = [SCRYPT_LABEL, salt].concat();
    let key = scrypt_key(passphrase.expose().as_bytes(), &salt, work_factor);
    key.map_err(|_| AgeError::TooDear)
}

/// The key that two X25519 keys agree on. `share`: the file's own, `recipient`: whom it is for.
fn of_agreement(
    own: &X25519Key,
    other: &[u8; KEY_LEN],
    share: &[u8; KEY_LEN],
    recipient: &[u8; KEY_LEN],
) -> Option<Secret<[u8; 32]>> {
    let agreed = own.agree(other).ok()?;
    let salt = [*share, *recipient].concat();
    Some(hkdf_sha256(&salt, agreed.expose(), X25519_INFO))
}

/// For whom the file's key is sealed.
struct Stanza<'a> {
    kind: &'a str,
    arguments: Vec<&'a str>,
    body: Vec<u8>,
}

/// The same for who knows the file's key: whom the file is for is not looked at.
pub(crate) fn read_own(file: &[u8], key: &FileKey) -> Result<(FileKey, usize), AgeError> {
    if !is_encrypted(file) {
        return Err(AgeError::NotAge);
    }
    let mut lines = Lines {
        file,
        began: 0,
        at: MAGIC.len(),
    };
    loop {
        let line = lines.next()?;
        let Some(given) = line.strip_prefix("--- ") else {
            continue;
        };
        let given = decode(given).ok_or(AgeError::Header("its tag is no base64"))?;
        let tagged = lines.began + 3;
        return match signet_crypto::ct_eq(&tag(key, &file[..tagged]), &given) {
            true => Ok((FileKey::new(*key.expose()), lines.at)),
            false => Err(AgeError::Changed),
        };
    }
}

/// The file's key, and where the header ends.
pub(crate) fn read(file: &[u8], identity: &Identity) -> Result<(FileKey, usize), AgeError> {
    if !is_encrypted(file) {
        return Err(AgeError::NotAge);
    }
    let mut lines = Lines {
        file,
        began: 0,
        at: MAGIC.len(),
    };
    let mut stanzas = Vec::new();
    let given = loop {
        let line = lines.next()?;
        if let Some(tag) = line.strip_prefix("--- ") {
            break tag;
        }
        let words = line
            .strip_prefix("-> ")
            .ok_or(AgeError::Header("no recipient where one is due"))?;
        let mut words = words.split(' ');
        let kind = words.next().unwrap_or_default();
        let arguments: Vec<&str> = words.collect();
        if kind.is_empty() || arguments.iter().any(|one| one.is_empty()) {
            return Err(AgeError::Header("a recipient without a kind"));
        }
        let body = lines.body()?;
        stanzas.push(Stanza {
            kind,
            arguments,
            body,
        });
    };
    if stanzas.is_empty() {
        return Err(AgeError::Header("nobody can read it"));
    }
    let has_passphrase = stanzas.iter().any(|stanza| stanza.kind == SCRYPT);
    if has_passphrase && stanzas.len() > 1 {
        // Whoever knows one of two passphrases could have written it: the format forbids it.
        return Err(AgeError::Header("a passphrase beside other recipients"));
    }
    let file_key = match (identity, has_passphrase) {
        (Identity::Passphrase(passphrase), true) => by_passphrase(&stanzas[0], passphrase)?,
        (Identity::Keys(keys), false) => by_keys(&stanzas, keys)?,
        (Identity::Passphrase(_), false) => return Err(AgeError::NoPassphrase),
        (Identity::Keys(_), true) => return Err(AgeError::PassphraseNeeded),
    };
    let given = decode(given).ok_or(AgeError::Header("its tag is no base64"))?;
    // The tag is of everything up to the three hyphens.
    let tagged = lines.began + 3;
    match signet_crypto::ct_eq(&tag(&file_key, &file[..tagged]), &given) {
        true => Ok((file_key, lines.at)),
        false => Err(AgeError::Changed),
    }
}

fn by_passphrase(stanza: &Stanza<'_>, passphrase: &Secret<String>) -> Result<FileKey, AgeError> {
    let [salt, work_factor] = stanza.arguments[..] else {
        return Err(AgeError::Header("a passphrase without salt or work factor"));
    };
    let salt = decode(salt).filter(|salt| salt.len() == SALT_LEN);
    let salt = salt.ok_or(AgeError::Header("the salt of its passphrase"))?;
    let is_number = work_factor.bytes().all(|byte| byte.is_ascii_digit());
    let plain = is_number && !work_factor.starts_with('0');
    let number = work_factor.parse::<u8>().ok().filter(|_| plain);
    let number = number.ok_or(AgeError::Header("the work factor of its passphrase"))?;
    if number > MAX_WORK_FACTOR {
        return Err(AgeError::TooDear);
    }
    check_body(stanza)?;
    let key = of_passphrase(passphrase, &salt, number)?;
    unwrap(stanza, &key).ok_or(AgeError::WrongPassphrase)
}

fn by_keys(stanzas: &[Stanza<'_>], keys: &[X25519Key]) -> Result<FileKey, AgeError> {
    // Kinds that are not known are for others.
    for stanza in stanzas.iter().filter(|stanza| stanza.kind == X25519) {
        let [share] = stanza.arguments[..] else {
            return Err(AgeError::Header("a recipient X25519 without its share"));
        };
        let share: Option<[u8; KEY_LEN]> = decode(share).and_then(|share| share.try_into().ok());
        let share = share.ok_or(AgeError::Header("the share of a recipient X25519"))?;
        check_body(stanza)?;
        for own in keys {
            let key = of_agreement(own, &share, &share, own.public());
            let key = key.ok_or(AgeError::Header("a share of small order"))?;
            if let Some(file_key) = unwrap(stanza, &key) {
                return Ok(file_key);
            }
        }
    }
    Err(AgeError::WrongIdentity)
}

/// A body of another length could be sealed under two keys at once: it is refused before it is
/// opened.
fn check_body(stanza: &Stanza<'_>) -> Result<(), AgeError> {
    match stanza.body.len() == FILE_KEY_LEN + TAG_LEN {
        true => Ok(()),
        false => Err(AgeError::Header("the body of a recipient")),
    }
}

fn unwrap(stanza: &Stanza<'_>, key: &Secret<[u8; 32]>) -> Option<FileKey> {
    let mut body = stanza.body.clone();
    ChaChaKey::new(key.expose()).open([0; 12], &mut body).ok()?;
    let body = Secret::new(body);
    let key: [u8; FILE_KEY_LEN] = body.expose()[..].try_into().ok()?;
    Some(Secret::new(key))
}

/// The lines of a header.
struct Lines<'a> {
    file: &'a [u8],
    /// Where the last line began.
    began: usize,
    /// Where the next one does.
    at: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Result<&'a str, AgeError> {
        let rest = &self.file[self.at..];
        let room = MAX_HEADER_BYTES.saturating_sub(self.at);
        let end = rest.iter().take(room).position(|byte| *byte == b'\n');
        let end = end.ok_or(AgeError::Header("it has no end"))?;
        let line = std::str::from_utf8(&rest[..end]);
        let line = line
            .ok()
            .filter(|line| line.bytes().all(|byte| (32..127).contains(&byte)));
        (self.began, self.at) = (self.at, self.at + end + 1);
        line.ok_or(AgeError::Header("it is no text"))
    }

    /// A stanza's body: lines of [`COLUMNS`] characters, and a shorter one, which may be empty.
    fn body(&mut self) -> Result<Vec<u8>, AgeError> {
        let mut text = String::new();
        loop {
            let line = self.next()?;
            if line.len() > COLUMNS {
                return Err(AgeError::Header("a line that is too long"));
            }
            text.push_str(line);
            if line.len() < COLUMNS {
                return decode(&text).ok_or(AgeError::Header("a body that is no base64"));
            }
        }
    }
}
