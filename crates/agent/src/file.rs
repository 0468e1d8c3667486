//! Identity files (`.aid`): private keys under a passphrase, bound to the public document.
//!
//! `["signet-identity-file", 1, kind, document, [memory KiB, passes, lanes], salt, sealed]` in
//! canonical CBOR. The passphrase becomes a key by Argon2id with the stored parameters (bounded on
//! reading, so that a file cannot cost minutes); the seeds are sealed by AES-256-GCM whose
//! associated data is everything before them. Neither half can be swapped for that of another file.
//! There is no default passphrase.
//!
//! The current key and the next one rest in two files of two kinds. The only module of this crate
//! that touches a disk.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use signet_crypto::aead::AeadKey;
use signet_crypto::password::{Cost, MAX_PASSWORD_BYTES, derive_key};
use signet_crypto::{Secret, private_file, random};

use crate::cbor::{Decoder, Encoder, MAX_BYTES};
use crate::error::{Refusal, Result, ensure};
use crate::identity::VerifiedDocument;
use crate::keys::{SEED_LEN, SigningKeys, Suite};

const LABEL: &str = "signet-identity-file";
const VERSION: u64 = 1;
const SALT_LEN: usize = 16;

/// The least cost that is written: 19 MiB and 2 passes, the least that OWASP's Password Storage
/// Cheat Sheet has for Argon2id.
const LEAST_SEALED: Cost = Cost {
    memory_kib: 19 * 1024,
    passes: 2,
    lanes: 1,
};

/// The least cost that is read: what Argon2 itself needs. Whether a file is cheaper than it should
/// be, says [`IdentityFile::is_cheap`].
const LEAST_COST: Cost = Cost {
    memory_kib: 8,
    passes: 1,
    lanes: 1,
};

/// The dearest file that is opened: 256 MiB, 8 passes, 4 lanes.
const MAX_COST: Cost = Cost {
    memory_kib: 256 * 1024,
    passes: 8,
    lanes: 4,
};

/// Which key a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The document's current key.
    Current,
    /// The key that the document has committed to as the next.
    Next,
}

impl Kind {
    const fn number(self) -> u64 {
        self as u64 + 1
    }
}

/// An identity file, read: the public half verified, the private half sealed.
#[derive(Debug, Clone)]
pub struct IdentityFile {
    kind: Kind,
    document: VerifiedDocument,
    cost: Cost,
    salt: [u8; SALT_LEN],
    sealed: Vec<u8>,
}

impl IdentityFile {
    /// Seals keys under a passphrase.
    ///
    /// # Errors
    /// [`Refusal::PassphraseRefused`] for an empty or endless passphrase;
    /// [`Refusal::NextKeyMismatch`] or [`Refusal::WrongSigner`] if the keys are not those that the
    /// document names; [`Refusal::InvalidValue`] for a cost below 19 MiB and 2 passes, or beyond
    /// 256 MiB, 8 passes and 4 lanes.
    pub fn seal(
        kind: Kind,
        document: &VerifiedDocument,
        keys: &SigningKeys,
        passphrase: &[u8],
        cost: Cost,
    ) -> Result<IdentityFile> {
        check_cost(cost, LEAST_SEALED)?;
        Self::seal_at(kind, document, keys, passphrase, cost)
    }

    /// The same at any cost that can be read: for tests that open thousands of files.
    ///
    /// # Errors
    /// As [`seal`](Self::seal).
    #[cfg(any(test, feature = "cheap-files"))]
    pub fn seal_cheaply(
        kind: Kind,
        document: &VerifiedDocument,
        keys: &SigningKeys,
        passphrase: &[u8],
    ) -> Result<IdentityFile> {
        Self::seal_at(kind, document, keys, passphrase, LEAST_COST)
    }

    fn seal_at(
        kind: Kind,
        document: &VerifiedDocument,
        keys: &SigningKeys,
        passphrase: &[u8],
        cost: Cost,
    ) -> Result<IdentityFile> {
        check_keys(kind, document, keys)?;
        check_cost(cost, LEAST_COST)?;
        let mut salt = [0; SALT_LEN];
        random::fill_system(&mut salt);
        let mut file = IdentityFile {
            kind,
            document: document.clone(),
            cost,
            salt,
            sealed: Vec::new(),
        };
        let seeds: Vec<u8> = keys
            .seeds()
            .iter()
            .flat_map(|seed| *seed.expose())
            .collect();
        let mut plain = Encoder::with_capacity(seeds.len() + 16);
        plain.array(2).text(keys.set().suite().name()).bytes(&seeds);
        let (_, plain) = (Secret::new(seeds), Secret::new(plain.finish()));
        let aad = file.public_half();
        file.key(passphrase)?
            .seal_into(&aad, plain.expose(), &mut file.sealed)
            .map_err(|_| Refusal::Library)?;
        Ok(file)
    }

    /// Reads a file's bytes and verifies the public document.
    ///
    /// # Errors
    /// [`Refusal::Malformed`] and its kin for what is no such file; what [`VerifiedDocument::new`]
    /// refuses; [`Refusal::InvalidValue`] for Argon2 parameters out of bounds.
    pub fn parse(data: &[u8]) -> Result<IdentityFile> {
        let file = Decoder::whole(data, |d| {
            d.tuple(7, |d| {
                ensure(d.text()? == LABEL, Refusal::WrongType)?;
                ensure(d.uint()? == VERSION, Refusal::WrongType)?;
                let kind = match d.uint()? {
                    1 => Kind::Current,
                    2 => Kind::Next,
                    _ => return Err(Refusal::WrongType),
                };
                let document = VerifiedDocument::parse(d.bytes()?.to_vec())?;
                let cost = d.tuple(3, |d| {
                    let mut number = || u32::try_from(d.uint()?).map_err(|_| Refusal::InvalidValue);
                    Ok::<_, Refusal>(Cost {
                        memory_kib: number()?,
                        passes: number()?,
                        lanes: number()?,
                    })
                })?;
                let (salt, sealed) = (d.fixed()?, d.bytes()?.to_vec());
                Ok(IdentityFile {
                    kind,
                    document,
                    cost,
                    salt,
                    sealed,
                })
            })
        })?;
        check_cost(file.cost, LEAST_COST)?;
        Ok(file)
    }

    /// The file's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Encoder::new();
        out.raw(&self.public_half()).bytes(&self.sealed);
        out.finish()
    }

    /// Everything before the sealed half: its associated data.
    fn public_half(&self) -> Vec<u8> {
        let mut out = Encoder::new();
        out.array(7)
            .text(LABEL)
            .uint(VERSION)
            .uint(self.kind.number());
        out.bytes(self.document.signed().as_bytes());
        out.array(3)
            .uint(self.cost.memory_kib.into())
            .uint(self.cost.passes.into())
            .uint(self.cost.lanes.into());
        out.bytes(&self.salt);
        out.finish()
    }

    fn key(&self, passphrase: &[u8]) -> Result<AeadKey> {
        let fits = (1..=MAX_PASSWORD_BYTES).contains(&passphrase.len());
        ensure(fits, Refusal::PassphraseRefused)?;
        let key =
            derive_key(passphrase, &self.salt, self.cost).map_err(|_| Refusal::InvalidValue)?;
        Ok(AeadKey::new(key.expose()))
    }

    /// The private keys.
    ///
    /// # Errors
    /// [`Refusal::FileNotAuthentic`] for a wrong passphrase and for a file of which anything was
    /// changed; [`Refusal::PassphraseRefused`] for one that nothing was sealed with.
    pub fn open(&self, passphrase: &[u8]) -> Result<SigningKeys> {
        let plain = self
            .key(passphrase)?
            .open(&self.public_half(), &self.sealed)
            .map(Secret::new)
            .map_err(|_| Refusal::FileNotAuthentic)?;
        let keys = Decoder::whole(plain.expose(), |d| {
            d.tuple(2, |d| {
                let suite = Suite::from_name(d.text()?).ok_or(Refusal::Malformed)?;
                let (seeds, rest) = d.bytes()?.as_chunks::<SEED_LEN>();
                ensure(rest.is_empty(), Refusal::Malformed)?;
                SigningKeys::from_seeds(
                    suite,
                    seeds.iter().map(|seed| Secret::new(*seed)).collect(),
                )
            })
        })?;
        check_keys(self.kind, &self.document, &keys)?;
        Ok(keys)
    }

    /// The same keys under another passphrase, salt and cost.
    ///
    /// # Errors
    /// As [`open`](Self::open) and [`seal`](Self::seal).
    pub fn with_passphrase(&self, old: &[u8], new: &[u8], cost: Cost) -> Result<IdentityFile> {
        Self::seal(self.kind, &self.document, &self.open(old)?, new, cost)
    }

    /// Whether guessing its passphrase costs less than [`seal`](Self::seal) would let it: whoever
    /// reads such a file should say so.
    pub fn is_cheap(&self) -> bool {
        check_cost(self.cost, LEAST_SEALED).is_err()
    }

    /// The public document.
    pub fn document(&self) -> &VerifiedDocument {
        &self.document
    }

    /// Which key it holds.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Reads a file.
    ///
    /// # Errors
    /// What the disk says; [`FileError::Refused`] as [`parse`](Self::parse).
    pub fn read(path: &Path) -> std::result::Result<IdentityFile, FileError> {
        let mut data = Vec::new();
        File::open(path)?
            .take(MAX_BYTES as u64 + 1)
            .read_to_end(&mut data)?;
        Ok(Self::parse(&data)?)
    }

    /// Writes the file, mode 0600: whole and synced, or not at all. `replace` says whether one that
    /// is there may go.
    ///
    /// # Errors
    /// What the disk says; `AlreadyExists` without `replace`.
    pub fn write(&self, path: &Path, replace: bool) -> io::Result<()> {
        match replace {
            true => private_file::write(path, &self.to_bytes()),
            false => private_file::create(path, &self.to_bytes()),
        }
    }
}

/// Why an identity file could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The disk.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// What it gave.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

fn check_keys(kind: Kind, document: &VerifiedDocument, keys: &SigningKeys) -> Result<()> {
    match kind {
        Kind::Current => ensure(keys.set() == document.current().set(), Refusal::WrongSigner),
        Kind::Next => ensure(
            keys.set().commitment() == document.next(),
            Refusal::NextKeyMismatch,
        ),
    }
}

fn check_cost(cost: Cost, floor: Cost) -> Result<()> {
    let within = |value: u32, least: u32, most: u32| (least..=most).contains(&value);
    let good = within(cost.memory_kib, floor.memory_kib, MAX_COST.memory_kib)
        && within(cost.passes, floor.passes, MAX_COST.passes)
        && within(cost.lanes, floor.lanes, MAX_COST.lanes);
    ensure(good, Refusal::InvalidValue)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::{Created, create};
    use std::fs;

    const CHEAP: Cost = LEAST_COST;

    fn sealed(name: &str) -> (Created, IdentityFile) {
        let created = create(name, Suite::Ed25519, 1).expect("created");
        let file =
            IdentityFile::seal_cheaply(Kind::Current, &created.document, &created.keys, b"correct");
        (created, file.expect("sealed"))
    }

    #[test]
    fn a_file_opens_with_its_own_passphrase_only() {
        let (created, file) = sealed("alice");
        let file = IdentityFile::parse(&file.to_bytes()).expect("its own encoding");
        assert_eq!(
            file.open(b"correct").expect("opened").set(),
            created.keys.set()
        );
        assert_eq!(file.open(b"correcT").err(), Some(Refusal::FileNotAuthentic));
        for bad in [b"".to_vec(), vec![b'x'; 1025]] {
            assert_eq!(file.open(&bad).err(), Some(Refusal::PassphraseRefused));
            let again =
                IdentityFile::seal_cheaply(Kind::Current, &created.document, &created.keys, &bad);
            assert_eq!(again.err(), Some(Refusal::PassphraseRefused));
        }
        let changed = file
            .with_passphrase(b"correct", b"other", LEAST_SEALED)
            .expect("changed");
        assert!(changed.open(b"correct").is_err());
        assert_eq!(
            changed.open(b"other").expect("opened").set(),
            created.keys.set()
        );
    }

    // Known fault G13: one built-in passphrase; the public half could be swapped.
    #[test]
    fn neither_half_can_be_swapped() {
        let (_, alice) = sealed("alice");
        let (_, mallory) = sealed("mallory");
        let mixed = IdentityFile {
            sealed: mallory.sealed.clone(),
            ..alice.clone()
        };
        assert_eq!(
            mixed.open(b"correct").err(),
            Some(Refusal::FileNotAuthentic)
        );
        let mixed = IdentityFile {
            document: mallory.document.clone(),
            ..alice.clone()
        };
        assert_eq!(
            mixed.open(b"correct").err(),
            Some(Refusal::FileNotAuthentic)
        );
        let mixed = IdentityFile {
            kind: Kind::Next,
            ..alice
        };
        assert_eq!(
            mixed.open(b"correct").err(),
            Some(Refusal::FileNotAuthentic)
        );
    }

    #[test]
    fn every_changed_byte_and_every_cut_is_refused() {
        let (_, file) = sealed("alice");
        let data = file.to_bytes();
        for at in 0..data.len() {
            let mut changed = data.clone();
            changed[at] ^= 1;
            let opened = IdentityFile::parse(&changed).and_then(|file| file.open(b"correct"));
            assert!(opened.is_err(), "byte {at}");
            assert!(IdentityFile::parse(&data[..at]).is_err(), "{at}");
        }
    }

    #[test]
    fn stored_parameters_are_bounded() {
        let (_, file) = sealed("alice");
        for cost in [
            Cost {
                memory_kib: 256 * 1024 + 1,
                ..CHEAP
            },
            Cost {
                memory_kib: 7,
                ..CHEAP
            },
            Cost { passes: 9, ..CHEAP },
            Cost { passes: 0, ..CHEAP },
            Cost { lanes: 5, ..CHEAP },
        ] {
            let changed = IdentityFile {
                cost,
                ..file.clone()
            };
            let parsed = IdentityFile::parse(&changed.to_bytes());
            assert_eq!(parsed.err(), Some(Refusal::InvalidValue), "{cost:?}");
        }
    }

    #[test]
    fn a_file_that_is_cheap_to_guess_is_not_written_and_is_known_by_its_reader() {
        let created = create("alice", Suite::Ed25519, 1).expect("created");
        let seal = |cost| {
            IdentityFile::seal(
                Kind::Current,
                &created.document,
                &created.keys,
                b"correct",
                cost,
            )
        };
        for cost in [
            CHEAP,
            Cost {
                memory_kib: 19 * 1024 - 1,
                ..LEAST_SEALED
            },
            Cost {
                passes: 1,
                ..LEAST_SEALED
            },
        ] {
            assert_eq!(seal(cost).err(), Some(Refusal::InvalidValue), "{cost:?}");
        }
        assert!(!seal(LEAST_SEALED).expect("sealed").is_cheap());
        assert!(sealed("bob").1.is_cheap());
        assert_eq!(
            sealed("bob")
                .1
                .with_passphrase(b"correct", b"new", CHEAP)
                .err(),
            Some(Refusal::InvalidValue)
        );
    }

    #[test]
    fn a_file_is_private_whole_and_never_overwritten_by_accident() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("alice.aid");
        let (created, file) = sealed("alice");
        file.write(&path, false).expect("written");
        let mode = fs::metadata(&path).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let refused = file.write(&path, false).expect_err("taken");
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        file.write(&path, true).expect("replaced");
        let read = IdentityFile::read(&path).expect("read");
        assert_eq!(read.document().id(), created.document.id());
        let left = fs::read_dir(directory.path()).expect("listed").count();
        assert_eq!(left, 1, "nothing is left beside it");
    }

    #[test]
    fn the_next_key_is_in_a_file_of_its_own() {
        let (created, current) = sealed("alice");
        let next = IdentityFile::seal_cheaply(Kind::Next, &created.document, &created.next, b"p")
            .expect("sealed");
        assert_eq!(next.open(b"p").expect("opened").set(), created.next.set());
        let wrong = IdentityFile::seal_cheaply(Kind::Next, &created.document, &created.keys, b"p");
        assert_eq!(wrong.err(), Some(Refusal::NextKeyMismatch));
        let seeds = created.next.seeds()[0].expose();
        assert!(
            !current
                .to_bytes()
                .windows(SEED_LEN)
                .any(|window| window == seeds)
        );
    }
}
