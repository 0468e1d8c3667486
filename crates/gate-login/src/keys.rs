//! The keys that seal cookies: a file, one key a line, the first seals and all of them open.
//!
//! A key is 36 random bytes in base64url, the first four of which name it. A new key is put on a
//! line before the others; a line is taken away once no session can be as old as its last use.

use signet_crypto::{
    Secret, private_file,
    seal::{Keyring, Opens, SealingKey},
};
use signet_encoding::base64url;
use std::{fmt, io, path::Path};

/// Longest file that is read, in bytes.
const MAX_KEYS_FILE_BYTES: u64 = 16 * 1024;

/// Why there are no keys.
#[derive(Debug)]
pub enum KeysError {
    /// The system says so.
    File(io::Error),
    /// Others than its owner may read or write the file.
    Open,
    /// Longer than 16 KiB.
    TooLong,
    /// This line (from 1) is no key.
    Line(usize),
    /// There is no key in it.
    Empty,
}

impl fmt::Display for KeysError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeysError::File(error) => error.fmt(f),
            KeysError::Open => f.write_str("others than its owner may read or write it: chmod 600"),
            KeysError::TooLong => f.write_str("it is longer than 16 KiB"),
            KeysError::Line(line) => write!(
                f,
                "line {line} is no key: 36 random bytes in base64url (openssl rand -base64 36 | tr '+/' '-_')"
            ),
            KeysError::Empty => f.write_str("it has no key"),
        }
    }
}

impl std::error::Error for KeysError {}

/// The keys of a file. One that is missing is made, with one new key, mode 0600; `made` says so.
///
/// # Errors
/// See [`KeysError`].
pub fn read_keys(file: &Path) -> Result<(Keyring, bool), KeysError> {
    let made = match std::fs::symlink_metadata(file) {
        Ok(_) => false,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            match private_file::create(file, &line_of(&SealingKey::generate())) {
                Ok(()) => true,
                // Another gate was faster: its key is everybody's.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
                Err(error) => return Err(KeysError::File(error)),
            }
        }
        Err(error) => return Err(KeysError::File(error)),
    };
    if private_file::is_open_to_others(file).map_err(KeysError::File)? {
        return Err(KeysError::Open);
    }
    if std::fs::metadata(file).map_err(KeysError::File)?.len() > MAX_KEYS_FILE_BYTES {
        return Err(KeysError::TooLong);
    }
    let text = Secret::new(std::fs::read_to_string(file).map_err(KeysError::File)?);
    Ok((parse(text.expose())?, made))
}

fn parse(text: &str) -> Result<Keyring, KeysError> {
    let mut keys = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let read = base64url::decode_array::<36>(line.as_bytes());
        let bytes = Secret::new(read.map_err(|_| KeysError::Line(at + 1))?);
        let (mut id, mut key) = ([0; 4], [0; 32]);
        id.copy_from_slice(&bytes.expose()[..4]);
        key.copy_from_slice(&bytes.expose()[4..]);
        keys.push(SealingKey {
            id,
            key: Secret::new(key),
            opens: Opens::All,
        });
    }
    if keys.is_empty() {
        return Err(KeysError::Empty);
    }
    let current = keys.remove(0);
    Ok(Keyring::new(current, keys))
}

fn line_of(key: &SealingKey) -> Vec<u8> {
    let mut bytes = [0; 36];
    bytes[..4].copy_from_slice(&key.id);
    bytes[4..].copy_from_slice(key.key.expose());
    let bytes = Secret::new(bytes);
    let mut line = Vec::with_capacity(64);
    base64url::encode_into(bytes.expose(), &mut line);
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_crypto::seal::Purpose;
    use std::os::unix::fs::PermissionsExt;

    fn folder() -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!(
            "gate-login-{}",
            base64url::encode(&signet_crypto::random::bytes::<12>())
        ));
        private_file::directory(&folder).unwrap();
        folder
    }

    #[test]
    fn a_missing_file_is_made_once_and_private() {
        let folder = folder();
        let file = folder.join("login.keys");
        let (first, made) = read_keys(&file).unwrap();
        assert!(made);
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let (second, made) = read_keys(&file).unwrap();
        assert!(!made);
        let sealed = first.seal(Purpose::SessionCookie, b"x").unwrap();
        assert!(second.open(Purpose::SessionCookie, &sealed).is_ok());
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(read_keys(&file), Err(KeysError::Open)));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_new_first_line_seals_and_the_former_one_still_opens() {
        let line = |key: &SealingKey| String::from_utf8(line_of(key)).unwrap();
        let (old, new) = (SealingKey::generate(), SealingKey::generate());
        let before = parse(&line(&old)).unwrap();
        let after = parse(&format!("# rotated\n\n{}{}", line(&new), line(&old))).unwrap();
        let sealed = before.seal(Purpose::SessionCookie, b"x").unwrap();
        assert!(after.open(Purpose::SessionCookie, &sealed).is_ok());
        let sealed = after.seal(Purpose::SessionCookie, b"x").unwrap();
        assert!(before.open(Purpose::SessionCookie, &sealed).is_err());
    }

    #[test]
    fn a_mistake_is_named_with_its_line() {
        assert!(matches!(parse(""), Err(KeysError::Empty)));
        assert!(matches!(parse("# none\n"), Err(KeysError::Empty)));
        assert!(matches!(parse("\nabc\n"), Err(KeysError::Line(2))));
    }
}
