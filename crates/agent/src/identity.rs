//! Identities: documents that certify themselves.
//!
//! The id commits to the inception key and to the hash of the next key. Each rotation opens that
//! hash and commits to a further key; it is signed by the key that ends and by the one that begins.
//! Whoever steals the current key cannot rotate, because the next key rests elsewhere; whoever
//! changes, cuts or invents history does not arrive at the id.
//!
//! A retired key speaks only for what was issued while it was current, and a later rotation can
//! give it up altogether: see [`VerifiedDocument::key_for`].
//!
//! The newest document is the one with the most rotations. A document cannot say that no newer one
//! exists: a verifier who has to know asks the agent or a registry again.

mod authority;

pub use authority::{KeyState, newest};

use crate::attestation::Attestation;
use crate::cbor::{Decoder, MapReader};
use crate::cose;
use crate::error::{Refusal, Result, ensure};
use crate::id::{AgentId, Hash};
use crate::keys::{Alg, KeySet, SigningKeys, Suite, VerifyingKeys};
use crate::method::Method;
use crate::object::{Fields, KeyRef, Object, Signed, Signer, Type, read_by, read_hash};
use crate::text::check_text;

/// Most rotations that are read.
pub const MAX_ROTATIONS: usize = 256;

/// Longest name in bytes.
pub const MAX_NAME: usize = 128;

/// Longest reason in bytes.
pub const MAX_REASON: usize = 512;

/// An earlier key that a rotation gives up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompromisedKey {
    /// Its number: that of the key that ends, or of one before it.
    pub key: u64,
    /// Since when it may have been in other hands, Unix seconds; not later than the rotation. What
    /// a log had taken in before still counts.
    pub since: u64,
}

/// One step of the history, signed by the keys that end and those that begin, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotation {
    /// Whose, and the number of the key that ends.
    pub by: KeyRef,
    /// The id of the rotation before, or, for the first, the agent's id.
    pub previous: Hash,
    /// The key that begins: the one whose hash the step before committed to.
    pub keys: KeySet,
    /// The hash of the key after it.
    pub next: Hash,
    /// Why.
    pub reason: String,
    /// The key that ends is not to be believed any more, except for what a log had taken in before.
    pub compromised: bool,
    /// When, in Unix seconds.
    pub at: u64,
    /// Earlier keys that are not to be believed any more either, by ascending number.
    pub compromised_keys: Vec<CompromisedKey>,
}

impl Object for Rotation {
    const TYPE: Type = Type::Rotation;

    fn write(&self, out: &mut Fields) {
        out.by(&self.by);
        out.at(3).bytes(&self.previous.0);
        self.keys.write(out.at(4));
        out.at(5).bytes(&self.next.0);
        out.text(6, &self.reason);
        if self.compromised {
            out.at(7).bool(true);
        }
        out.at(8).uint(self.at);
        out.list(9, &self.compromised_keys, |out, given_up| {
            out.array(2).uint(given_up.key).uint(given_up.since);
        });
    }

    fn read(map: &mut MapReader<'_, '_>) -> Result<Self> {
        let rotation = Rotation {
            by: read_by(map)?,
            previous: map.required(3, read_hash)?,
            keys: map.required(4, KeySet::read)?,
            next: map.required(5, read_hash)?,
            reason: map.text(6)?.to_owned(),
            compromised: match map.optional(7, Decoder::bool)? {
                // It is left out, and not written out.
                Some(false) => return Err(Refusal::NotCanonical),
                compromised => compromised.is_some(),
            },
            at: map.required(8, Decoder::uint)?,
            compromised_keys: map.list(9, MAX_ROTATIONS, |d| {
                d.tuple(2, |d| {
                    Ok::<_, Refusal>(CompromisedKey {
                        key: d.uint()?,
                        since: d.uint()?,
                    })
                })
            })?,
        };
        check_text(&rotation.reason, MAX_REASON)?;
        let ascends = rotation
            .compromised_keys
            .windows(2)
            .all(|pair| pair[0].key < pair[1].key);
        ensure(ascends, Refusal::NotCanonical)?;
        let earlier = rotation
            .compromised_keys
            .iter()
            .all(|given_up| given_up.key <= rotation.by.key && given_up.since <= rotation.at);
        ensure(earlier, Refusal::InvalidValue)?;
        Ok(rotation)
    }

    fn by(&self) -> KeyRef {
        self.by
    }

    fn issued(&self) -> Option<u64> {
        // Its keys are those of two steps; `VerifiedDocument::new` knows which.
        None
    }
}

/// The public identity document, signed by the current key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The agent, and the number of its current key.
    pub by: KeyRef,
    /// What people call it.
    pub name: String,
    /// When it began, in Unix seconds.
    pub created: u64,
    /// The first key.
    pub inception: KeySet,
    /// The hash of the second.
    pub next: Hash,
    /// Every rotation since.
    pub rotations: Vec<Signed<Rotation>>,
    /// Keys for sessions, devices and capabilities.
    pub methods: Vec<Signed<Method>>,
    /// What others say of it. Reading the document does not verify them: their signers' documents
    /// are needed.
    pub attestations: Vec<Signed<Attestation>>,
}

fn read_signed<T: Object>(d: &mut Decoder<'_>) -> Result<Signed<T>> {
    Signed::parse(d.bytes()?.to_vec())
}

impl Object for Document {
    const TYPE: Type = Type::Identity;

    fn write(&self, out: &mut Fields) {
        out.by(&self.by);
        out.at(3).text(&self.name);
        out.at(4).uint(self.created);
        self.inception.write(out.at(5));
        out.at(6).bytes(&self.next.0);
        out.list(7, &self.rotations, |out, item| {
            out.bytes(item.as_bytes());
        });
        out.list(8, &self.methods, |out, item| {
            out.bytes(item.as_bytes());
        });
        out.list(9, &self.attestations, |out, item| {
            out.bytes(item.as_bytes());
        });
    }

    fn read(map: &mut MapReader<'_, '_>) -> Result<Self> {
        let document = Document {
            by: read_by(map)?,
            name: map.required(3, Decoder::text)?.to_owned(),
            created: map.required(4, Decoder::uint)?,
            inception: map.required(5, KeySet::read)?,
            next: map.required(6, read_hash)?,
            rotations: map.list(7, MAX_ROTATIONS, read_signed)?,
            methods: map.list(8, 64, read_signed)?,
            attestations: map.list(9, 64, read_signed)?,
        };
        ensure(!document.name.is_empty(), Refusal::InvalidValue)?;
        check_text(&document.name, MAX_NAME)?;
        Ok(document)
    }

    fn by(&self) -> KeyRef {
        self.by
    }

    fn issued(&self) -> Option<u64> {
        None
    }
}

/// What a new identity consists of.
#[derive(Debug)]
pub struct Created {
    /// The public document.
    pub document: VerifiedDocument,
    /// The current private keys: for the identity file.
    pub keys: SigningKeys,
    /// The next ones, already committed to: to be kept elsewhere.
    pub next: SigningKeys,
}

/// Makes an identity with random keys.
///
/// # Errors
/// [`Refusal::InvalidValue`] for a name that is empty, too long or has control characters;
/// [`Refusal::Library`].
pub fn create(name: &str, suite: Suite, now: u64) -> Result<Created> {
    create_from(
        name,
        SigningKeys::generate(suite)?,
        SigningKeys::generate(suite)?,
        now,
    )
}

/// Makes an identity of these keys.
///
/// # Errors
/// As [`create`].
pub fn create_from(name: &str, keys: SigningKeys, next: SigningKeys, now: u64) -> Result<Created> {
    let commitment = next.set().commitment();
    let body = Document {
        by: KeyRef {
            agent: AgentId::commit(keys.set(), &commitment),
            key: 0,
        },
        name: name.to_owned(),
        created: now,
        inception: keys.set().clone(),
        next: commitment,
        rotations: Vec::new(),
        methods: Vec::new(),
        attestations: Vec::new(),
    };
    let document = Signed::sign_with(&body, &[&keys])?;
    Ok(Created {
        // Its keys and signature were made here: nothing is left to find out but that they are
        // keys.
        document: VerifiedDocument::new(document)?,
        keys,
        next,
    })
}

/// What is known of one of an agent's keys.
#[derive(Debug, Clone)]
struct Epoch {
    keys: VerifyingKeys,
    /// When the rotation that ended it says it was, Unix seconds.
    retired: Option<u64>,
    /// Since when it is not to be believed, by the earliest of the rotations that gave it up.
    compromised: Option<u64>,
}

impl Epoch {
    fn new(keys: VerifyingKeys) -> Epoch {
        Epoch {
            keys,
            retired: None,
            compromised: None,
        }
    }

    fn give_up(&mut self, since: u64) {
        self.compromised = Some(self.compromised.map_or(since, |known| known.min(since)));
    }
}

/// Why a key is rotated.
#[derive(Debug, Clone, Copy, Default)]
pub struct RotationNotice<'a> {
    /// For people; at most [`MAX_REASON`] bytes.
    pub reason: &'a str,
    /// The key that ends is not to be believed any more, except for what a log had taken in before
    /// the rotation.
    pub compromised: bool,
    /// Earlier keys of which the same is to hold, each from a time on, by ascending number.
    pub compromised_keys: &'a [CompromisedKey],
}

/// A document whose id, history and signatures were all recomputed.
#[derive(Debug, Clone)]
pub struct VerifiedDocument {
    document: Signed<Document>,
    epochs: Vec<Epoch>,
    /// What the current key committed to.
    next: Hash,
    /// What the next rotation names as the one before it.
    head: Hash,
    last_at: u64,
}

impl VerifiedDocument {
    /// Verifies a document: the id from the inception, each step of the history, the methods'
    /// certificates, the whole.
    ///
    /// # Errors
    /// [`Refusal::IdMismatch`], [`Refusal::HistoryBroken`], [`Refusal::NextKeyMismatch`],
    /// [`Refusal::SignatureInvalid`], [`Refusal::KeyReused`] where a key that begins, or is
    /// committed to, was used before, and what keys and messages refuse.
    pub fn new(document: Signed<Document>) -> Result<VerifiedDocument> {
        let body = document.body();
        let id = body.by.agent;
        ensure(
            id == AgentId::commit(&body.inception, &body.next),
            Refusal::IdMismatch,
        )?;
        let mut epochs = vec![Epoch::new(VerifyingKeys::new(&body.inception)?)];
        let (mut next, mut head, mut last_at) = (body.next, Hash(id.0), body.created);
        for (number, rotation) in (0_u64..).zip(&body.rotations) {
            let step = rotation.body();
            let fits = step.by
                == KeyRef {
                    agent: id,
                    key: number,
                }
                && step.previous == head
                && step.at >= last_at;
            ensure(fits, Refusal::HistoryBroken)?;
            ensure(step.keys.commitment() == next, Refusal::NextKeyMismatch)?;
            // Pre-rotation protects by a key that nobody has seen. One of an earlier step, alone or
            // in a suite, is none.
            let used = |key: (Alg, &[u8])| {
                epochs
                    .iter()
                    .any(|epoch| epoch.keys.set().iter().any(|known| known == key))
            };
            ensure(!step.keys.iter().any(used), Refusal::KeyReused)?;
            let keys = VerifyingKeys::new(&step.keys)?;
            // The first key is pushed above, and one with each step.
            let last = epochs.last_mut().ok_or(Refusal::HistoryBroken)?;
            cose::verify(&rotation.message()?, &[&last.keys, &keys])?;
            last.retired = Some(step.at);
            if step.compromised {
                last.give_up(step.at);
            }
            for given_up in &step.compromised_keys {
                let earlier = usize::try_from(given_up.key)
                    .ok()
                    .and_then(|number| epochs.get_mut(number));
                earlier.ok_or(Refusal::UnknownKey)?.give_up(given_up.since);
            }
            epochs.push(Epoch::new(keys));
            (next, head, last_at) = (step.next, rotation.id(), step.at);
        }
        let used = |epoch: &Epoch| epoch.keys.set().commitment() == next;
        ensure(!epochs.iter().any(used), Refusal::KeyReused)?;
        // Key numbers begin at 0.
        ensure(
            body.by.key == epochs.len() as u64 - 1,
            Refusal::HistoryBroken,
        )?;
        let verified = VerifiedDocument {
            document,
            epochs,
            next,
            head,
            last_at,
        };
        verified.document.verify(verified.current())?;
        for method in &verified.document.body().methods {
            method.verify_certificate(&verified)?;
        }
        let attested = verified
            .document
            .body()
            .attestations
            .iter()
            .all(|a| a.body().subject == id);
        ensure(attested, Refusal::WrongSigner)?;
        Ok(verified)
    }

    /// Reads and verifies.
    ///
    /// # Errors
    /// As [`Signed::parse`] and [`VerifiedDocument::new`].
    pub fn parse(data: Vec<u8>) -> Result<VerifiedDocument> {
        Self::new(Signed::parse(data)?)
    }

    /// The agent's id.
    pub fn id(&self) -> AgentId {
        self.document.body().by.agent
    }

    /// The agent with its current key.
    pub fn by(&self) -> KeyRef {
        self.document.body().by
    }

    /// The document.
    pub fn signed(&self) -> &Signed<Document> {
        &self.document
    }

    /// What it says.
    pub fn body(&self) -> &Document {
        self.document.body()
    }

    /// The current public keys.
    pub fn current(&self) -> &VerifyingKeys {
        // There is one epoch at least: the inception.
        &self.epochs[self.epochs.len() - 1].keys
    }

    /// The hash of the next key.
    pub fn next(&self) -> Hash {
        self.next
    }

    /// The key of a number, whatever its state.
    pub fn key(&self, number: u64) -> Option<&VerifyingKeys> {
        let number = usize::try_from(number).ok()?;
        self.epochs.get(number).map(|epoch| &epoch.keys)
    }

    /// Whether a later document of the same agent continues this one: nothing of this history is
    /// missing or different.
    pub fn is_continued_by(&self, later: &VerifiedDocument) -> bool {
        let (own, others) = (&self.body().rotations, &later.body().rotations);
        self.id() == later.id()
            && others.len() >= own.len()
            && own.iter().zip(others).all(|(a, b)| a.id() == b.id())
    }

    /// The next document: the current key ends, the key that was committed to begins.
    ///
    /// # Errors
    /// As [`rotate_with`](Self::rotate_with).
    pub fn rotate(
        &self,
        current: &SigningKeys,
        next: &SigningKeys,
        following: Hash,
        reason: &str,
        compromised: bool,
        now: u64,
    ) -> Result<VerifiedDocument> {
        let notice = RotationNotice {
            reason,
            compromised,
            compromised_keys: &[],
        };
        self.rotate_with(current, next, following, notice, now)
    }

    /// The same, where earlier keys are given up as well. Certificates of keys that are given up
    /// leave the document.
    ///
    /// # Errors
    /// [`Refusal::NextKeyMismatch`] if `next` is not that key; [`Refusal::WrongSigner`] if
    /// `current` is not the current one; [`Refusal::KeyReused`] if `next` or `following` was used
    /// before; [`Refusal::InvalidValue`] for a time before the last step, an unusable reason, or an
    /// earlier key that is none; [`Refusal::NotCanonical`] for keys that do not ascend.
    pub fn rotate_with(
        &self,
        current: &SigningKeys,
        next: &SigningKeys,
        following: Hash,
        notice: RotationNotice<'_>,
        now: u64,
    ) -> Result<VerifiedDocument> {
        ensure(current.set() == self.current().set(), Refusal::WrongSigner)?;
        ensure(
            next.set().commitment() == self.next,
            Refusal::NextKeyMismatch,
        )?;
        ensure(now >= self.last_at, Refusal::InvalidValue)?;
        ensure(
            self.body().rotations.len() < MAX_ROTATIONS,
            Refusal::TooLarge,
        )?;
        let rotation = Rotation {
            by: self.by(),
            previous: self.head,
            keys: next.set().clone(),
            next: following,
            reason: notice.reason.to_owned(),
            compromised: notice.compromised,
            at: now,
            compromised_keys: notice.compromised_keys.to_vec(),
        };
        let ended = self.by().key;
        let mut body = self.body().clone();
        body.rotations
            .push(Signed::sign_with(&rotation, &[current, next])?);
        body.by.key += 1;
        // Whoever stole a key could have certified methods of his own.
        let given_up = |key: u64| {
            (notice.compromised && key == ended)
                || notice.compromised_keys.iter().any(|known| known.key == key)
        };
        body.methods
            .retain(|method| !given_up(method.body().by.key));
        Self::new(Signed::sign_with(&body, &[next])?)
    }

    /// The document with other methods, attestations or name.
    ///
    /// # Errors
    /// As [`VerifiedDocument::new`]; [`Refusal::WrongSigner`] if `keys` is not the current one.
    pub fn amend(
        &self,
        keys: &SigningKeys,
        change: impl FnOnce(&mut Document),
    ) -> Result<VerifiedDocument> {
        ensure(keys.set() == self.current().set(), Refusal::WrongSigner)?;
        let mut body = self.body().clone();
        change(&mut body);
        Self::new(Signed::sign_with(&body, &[keys])?)
    }

    /// Signs as this agent with its current key.
    pub fn signer<'a>(&self, keys: &'a SigningKeys) -> Signer<'a> {
        Signer {
            by: self.by(),
            keys,
        }
    }
}

#[cfg(test)]
mod tests;
