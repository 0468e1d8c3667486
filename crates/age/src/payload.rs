//! The text, in chunks that are sealed each by itself: a file can be written while it is made.

use std::io::{self, BufRead, ErrorKind, Read, Write};

use signet_crypto::chacha::{ChaChaKey, TAG_LEN};
use signet_crypto::kdf::hkdf_sha256;
use signet_crypto::random;
use zeroize::Zeroizing;

use crate::header::{self, FileKey};
use crate::key::{Identity, Recipient};
use crate::{AgeError, MAX_HEADER_BYTES};

/// Bytes of a chunk's text.
const CHUNK: usize = 64 * 1024;
/// Bytes of the number that a file's own key for its text is drawn with.
const NONCE_LEN: usize = 16;

/// The key of the text of a file, and the number of its next chunk.
struct Chunks {
    key: ChaChaKey,
    next: u64,
}

impl Chunks {
    fn new(file_key: &FileKey, nonce: &[u8]) -> Chunks {
        let key = hkdf_sha256::<32>(nonce, file_key.expose(), b"payload");
        Chunks {
            key: ChaChaKey::new(key.expose()),
            next: 0,
        }
    }

    /// Of the next chunk: its number, and whether it is the last, so that a file cannot be cut.
    fn nonce(&mut self, is_last: bool) -> [u8; 12] {
        let mut nonce = [0; 12];
        nonce[3..11].copy_from_slice(&self.next.to_be_bytes());
        nonce[11] = u8::from(is_last);
        self.next += 1;
        nonce
    }
}

/// A file that is being written. Without [`Encrypted::finish`] it is cut off, and nobody reads it.
pub struct Encrypted<W: Write> {
    into: W,
    file_key: FileKey,
    chunks: Chunks,
    /// What waits for its chunk to be full. It never grows, so that it is wiped where it was.
    waiting: Zeroizing<Vec<u8>>,
}

impl<W: Write> Encrypted<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// What the system says, of `into`; [`AgeError`], where nothing can be encrypted to the
    /// recipient.
    pub fn new(mut into: W, recipient: &Recipient) -> io::Result<Encrypted<W>> {
        let (header, file_key) = header::write(recipient).map_err(io::Error::other)?;
        let nonce: [u8; NONCE_LEN] = random::bytes();
        into.write_all(&header)?;
        into.write_all(&nonce)?;
        Ok(Encrypted {
            into,
            chunks: Chunks::new(&file_key, &nonce),
            file_key,
            waiting: Zeroizing::new(Vec::with_capacity(CHUNK + TAG_LEN)),
        })
    }

    /// What opens this one file again: for who wrote it and reads it back, and is not whom it is
    /// for.
    pub fn own_key(&self) -> OwnKey {
        OwnKey(FileKey::new(*self.file_key.expose()))
    }

    /// Ends the file, and gives what it was written into.
    ///
    /// # Errors
    /// What the system says.
    pub fn finish(mut self) -> io::Result<W> {
        self.seal(true)?;
        self.into.flush()?;
        Ok(self.into)
    }

    fn seal(&mut self, is_last: bool) -> io::Result<()> {
        let nonce = self.chunks.nonce(is_last);
        let sealed = self.chunks.key.seal(nonce, &mut self.waiting);
        sealed.map_err(io::Error::other)?;
        self.into.write_all(&self.waiting)?;
        self.waiting.clear();
        Ok(())
    }
}

impl<W: Write> Write for Encrypted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        // A full chunk may be the last: it is sealed when the next one begins.
        if self.waiting.len() == CHUNK {
            self.seal(false)?;
        }
        let taken = &bytes[..bytes.len().min(CHUNK - self.waiting.len())];
        self.waiting.extend_from_slice(taken);
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.into.flush()
    }
}

/// The key of one file that was written here ([`Encrypted::own_key`]).
pub struct OwnKey(FileKey);

/// A file that is being read. What is read is what was written, in order; that it is all of it is
/// known at its end alone: a file that was cut off or changed ends in an error, and nothing that
/// was read of it may be used then.
pub struct Decrypted<R: BufRead> {
    from: R,
    chunks: Chunks,
    /// The chunk that is given out.
    chunk: Zeroizing<Vec<u8>>,
    given: usize,
    /// Of the chunk after it, what was read to see whether there is one.
    ahead: Option<u8>,
    state: Reading,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    Begun,
    Within,
    Ended,
    Refused,
}

impl<R: BufRead> Decrypted<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// What the system says, of `from`; else an [`AgeError`] within ([`io::Error::get_ref`]).
    pub fn new(from: R, identity: &Identity) -> io::Result<Decrypted<R>> {
        Decrypted::of(from, |header| header::read(header, identity))
    }

    /// The same for who wrote the file.
    ///
    /// # Errors
    /// As [`Decrypted::new`].
    pub fn of_own(from: R, key: &OwnKey) -> io::Result<Decrypted<R>> {
        Decrypted::of(from, |header| header::read_own(header, &key.0))
    }

    fn of(
        mut from: R,
        open: impl FnOnce(&[u8]) -> Result<(FileKey, usize), AgeError>,
    ) -> io::Result<Decrypted<R>> {
        let mut head = Vec::new();
        let mut began = 0;
        while head.len() < MAX_HEADER_BYTES {
            let room = (MAX_HEADER_BYTES - head.len()) as u64;
            let read = from.by_ref().take(room).read_until(b'\n', &mut head)?;
            // What is no such file is not read to an end of line that may be far.
            let begins = head.len().min(header::MAGIC.len());
            if read == 0 || head[..begins] != header::MAGIC[..begins] {
                break;
            }
            if head[began..].starts_with(b"--- ") {
                break;
            }
            began = head.len();
        }
        let (file_key, end) = open(&head).map_err(refused)?;
        if end != head.len() {
            return Err(refused(AgeError::Header("it has no end")));
        }
        let mut nonce = [0; NONCE_LEN];
        from.read_exact(&mut nonce).map_err(cut)?;
        Ok(Decrypted {
            from,
            chunks: Chunks::new(&file_key, &nonce),
            chunk: Zeroizing::new(Vec::with_capacity(CHUNK + TAG_LEN)),
            given: 0,
            ahead: None,
            state: Reading::Begun,
        })
    }

    /// The next chunk, opened; it is the last where nothing follows it.
    fn next_chunk(&mut self) -> io::Result<()> {
        self.chunk.clear();
        self.given = 0;
        self.chunk.extend(self.ahead.take());
        let room = (CHUNK + TAG_LEN - self.chunk.len()) as u64;
        self.from.by_ref().take(room).read_to_end(&mut self.chunk)?;
        let mut next = [0];
        let is_last = loop {
            match self.from.read(&mut next) {
                Ok(0) => break true,
                Ok(_) => break false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        };
        self.ahead = (!is_last).then_some(next[0]);
        let nonce = self.chunks.nonce(is_last);
        let opened = self.chunks.key.open(nonce, &mut self.chunk);
        // An empty chunk is the whole of an empty text, and never the end of another.
        if opened.is_err() || (self.chunk.is_empty() && self.state == Reading::Within) {
            self.chunk.clear();
            self.state = Reading::Refused;
            return Err(refused(AgeError::Changed));
        }
        self.state = if is_last {
            Reading::Ended
        } else {
            Reading::Within
        };
        Ok(())
    }
}

impl<R: BufRead> Read for Decrypted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.given == self.chunk.len() {
            match self.state {
                Reading::Begun | Reading::Within => self.next_chunk()?,
                Reading::Ended => return Ok(0),
                Reading::Refused => return Err(refused(AgeError::Changed)),
            }
        }
        let rest = &self.chunk[self.given..];
        let count = rest.len().min(into.len());
        into[..count].copy_from_slice(&rest[..count]);
        self.given += count;
        Ok(count)
    }
}

fn refused(error: AgeError) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, error)
}

fn cut(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::UnexpectedEof => refused(AgeError::Changed),
        _ => error,
    }
}

/// The text of a whole file.
///
/// # Errors
/// [`AgeError`]; then nothing of it is given.
pub fn decrypt(file: &[u8], identity: &Identity) -> Result<Vec<u8>, AgeError> {
    let (file_key, end) = header::read(file, identity)?;
    let (nonce, mut rest) = file[end..]
        .split_at_checked(NONCE_LEN)
        .ok_or(AgeError::Changed)?;
    let mut chunks = Chunks::new(&file_key, nonce);
    let mut text = Zeroizing::new(Vec::with_capacity(rest.len()));
    loop {
        let (sealed, after) = rest.split_at(rest.len().min(CHUNK + TAG_LEN));
        let is_last = after.is_empty();
        let nonce = chunks.nonce(is_last);
        let mut chunk = Zeroizing::new(sealed.to_vec());
        let opened = chunks.key.open(nonce, &mut chunk);
        // An empty chunk is the whole of an empty text, and never the end of another.
        if opened.is_err() || (chunk.is_empty() && !text.is_empty()) {
            return Err(AgeError::Changed);
        }
        text.extend_from_slice(&chunk);
        if is_last {
            return Ok(std::mem::take(&mut *text));
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use signet_crypto::Secret;

    fn of_key(text: &[u8]) -> (Vec<u8>, Identity) {
        let (secret, recipient) = Identity::generate().unwrap();
        let recipient = Recipient::parse(&recipient).unwrap();
        let file = written(text, &recipient);
        (file, Identity::parse(secret.expose()).unwrap())
    }

    fn written(text: &[u8], recipient: &Recipient) -> Vec<u8> {
        let mut file = Encrypted::new(Vec::new(), recipient).unwrap();
        file.write_all(text).unwrap();
        file.finish().unwrap()
    }

    /// As [`decrypt`], piece by piece.
    fn streamed(file: &[u8], identity: &Identity) -> Result<Vec<u8>, AgeError> {
        let said = |error: io::Error| {
            let within = error.get_ref().and_then(|error| error.downcast_ref());
            *within.expect("an error of the format")
        };
        let mut text = Vec::new();
        let mut reader = Decrypted::new(file, identity).map_err(said)?;
        match reader.read_to_end(&mut text) {
            Ok(_) => Ok(text),
            Err(error) => {
                // And it says so for as long as it is asked.
                assert!(reader.read(&mut [0]).is_err());
                Err(said(error))
            }
        }
    }

    #[test]
    fn who_wrote_a_file_reads_it_back_without_being_whom_it_is_for() {
        let (_, recipient) = Identity::generate().unwrap();
        let recipient = Recipient::parse(&recipient).unwrap();
        let mut file = Encrypted::new(Vec::new(), &recipient).unwrap();
        let key = file.own_key();
        file.write_all(&[3; CHUNK + 5]).unwrap();
        let mut file = file.finish().unwrap();
        let mut text = Vec::new();
        let mut reader = Decrypted::of_own(&file[..], &key).unwrap();
        reader.read_to_end(&mut text).unwrap();
        assert_eq!(text, [3; CHUNK + 5]);
        file[header::MAGIC.len() + 3] ^= 1;
        assert!(Decrypted::of_own(&file[..], &key).is_err());
    }

    fn passphrase(text: &str) -> Secret<String> {
        Secret::new(text.to_owned())
    }

    #[test]
    fn a_text_of_every_length_around_a_chunk_is_read_back() {
        for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 5] {
            let text: Vec<u8> = (0..=250).cycle().take(length).collect();
            let (file, identity) = of_key(&text);
            assert_eq!(decrypt(&file, &identity).unwrap(), text, "{length}");
            assert_eq!(streamed(&file, &identity).unwrap(), text, "{length}");
            assert!(header::is_encrypted(&file));
        }
    }

    #[test]
    fn a_passphrase_opens_what_it_sealed_and_another_says_so() {
        let file = written(b"text", &Recipient::Passphrase(passphrase("right")));
        let of = |text| decrypt(&file, &Identity::Passphrase(passphrase(text)));
        assert_eq!(of("right").unwrap(), b"text");
        assert_eq!(of("wrong"), Err(AgeError::WrongPassphrase));
        let (_, identity) = of_key(b"");
        assert_eq!(decrypt(&file, &identity), Err(AgeError::PassphraseNeeded));
        let dear = String::from_utf8_lossy(&file).replace(" 18\n", " 23\n");
        let dear = decrypt(dear.as_bytes(), &Identity::Passphrase(passphrase("right")));
        assert_eq!(dear, Err(AgeError::TooDear));
    }

    /// vectors/age was written by other implementations of the format: rage, and age itself.
    #[test]
    fn files_of_another_implementation_are_read() {
        let vector = |name: &str| {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/age/");
            std::fs::read(format!("{folder}{name}")).unwrap()
        };
        let identity = String::from_utf8(vector("identity.txt")).unwrap();
        let identity = Identity::parse(&identity).unwrap();
        let text: Vec<u8> = (0..=255).cycle().take(256 * 300).collect();
        assert_eq!(decrypt(&vector("recipients.age"), &identity).unwrap(), text);
        let identity = Identity::Passphrase(passphrase("a passphrase"));
        assert_eq!(
            decrypt(&vector("passphrase.age"), &identity).unwrap(),
            b"a text"
        );
    }

    #[test]
    fn who_is_no_recipient_learns_that_alone() {
        let (file, _) = of_key(b"text");
        let (_, other) = of_key(b"");
        assert_eq!(decrypt(&file, &other), Err(AgeError::WrongIdentity));
        let by_passphrase = decrypt(&file, &Identity::Passphrase(passphrase("x")));
        assert_eq!(by_passphrase, Err(AgeError::NoPassphrase));
        assert_eq!(decrypt(b"text", &other), Err(AgeError::NotAge));
    }

    #[test]
    fn nothing_of_a_changed_cut_or_longer_file_is_used() {
        let (file, identity) = of_key(&[7; CHUNK + 9]);
        for at in (0..file.len()).filter(|at| *at < 400 || at % 977 == 0) {
            let mut changed = file.clone();
            changed[at] ^= 1;
            assert!(decrypt(&changed, &identity).is_err(), "{at}");
            assert!(streamed(&changed, &identity).is_err(), "{at}");
            assert!(decrypt(&file[..at], &identity).is_err(), "cut at {at}");
            assert!(streamed(&file[..at], &identity).is_err(), "cut at {at}");
        }
        let longer = [&file[..], b"x"].concat();
        assert_eq!(decrypt(&longer, &identity), Err(AgeError::Changed));
        assert_eq!(streamed(&longer, &identity), Err(AgeError::Changed));
        // The first chunk alone says that it is not the last.
        let cut = &file[..file.len() - 9 - TAG_LEN];
        assert_eq!(decrypt(cut, &identity), Err(AgeError::Changed));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn pieces_of_any_size_are_one_text(pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40_000), 0..6)) {
            let (secret, recipient) = Identity::generate().unwrap();
            let recipient = Recipient::parse(&recipient).unwrap();
            let mut file = Encrypted::new(Vec::new(), &recipient).unwrap();
            for piece in &pieces {
                file.write_all(piece).unwrap();
            }
            let file = file.finish().unwrap();
            let identity = Identity::parse(secret.expose()).unwrap();
            prop_assert_eq!(decrypt(&file, &identity).unwrap(), pieces.concat());
            prop_assert_eq!(streamed(&file, &identity).unwrap(), pieces.concat());
        }

        #[test]
        fn a_broken_header_is_refused_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let (_, identity) = of_key(b"");
            let file = [header::MAGIC, &bytes].concat();
            prop_assert!(decrypt(&file, &identity).is_err());
            prop_assert!(streamed(&file, &identity).is_err());
        }
    }
}
