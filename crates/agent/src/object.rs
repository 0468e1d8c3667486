//! What all signed objects share: a payload that is one CBOR map, a type in its first field, an id
//! that is its hash.
//!
//! An [`Object`] lists its fields once for writing and once for reading. Reading refuses whatever
//! writing would not have written, left-out defaults included, so an object has one encoding and
//! what was signed is verified as it arrived.

use std::ops::Range;

use crate::cbor::{Decoder, Encoder, MapReader};
use crate::cose::{self, Message};
use crate::error::{Refusal, Result, ensure};
use crate::id::{AgentId, Hash};
use crate::keys::{SigningKeys, VerifyingKeys};

/// Which key signs: an agent, and how many rotations came before the key (0 for the inception key).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyRef {
    /// The agent.
    pub agent: AgentId,
    /// The number of its key.
    pub key: u64,
}

/// One who signs.
#[derive(Debug, Clone, Copy)]
pub struct Signer<'a> {
    /// As which agent, with which of its keys.
    pub by: KeyRef,
    /// The private keys.
    pub keys: &'a SigningKeys,
}

/// The types of objects, as the first field of each payload has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    /// [`crate::identity::Document`]
    Identity,
    /// [`crate::chain::grant::Grant`]
    Grant,
    /// [`crate::identity::Rotation`]
    Rotation,
    /// [`crate::receipt::Receipt`]
    Receipt,
    /// [`crate::chain::proof::Proof`]
    Proof,
    /// [`crate::revocation::Revocation`]
    Revocation,
    /// [`crate::method::Method`]
    Method,
    /// [`crate::attestation::Attestation`]
    Attestation,
    /// [`crate::receipt::witness::Witness`]
    Witness,
    /// [`crate::lineage::Birth`]
    Birth,
    /// [`crate::continuity::Heartbeat`]
    Heartbeat,
    /// [`crate::receipt::competence::TrackRecord`]
    TrackRecord,
    /// [`crate::declaration::Declaration`]
    Declaration,
}

impl Type {
    /// All of them, in the order of their numbers, which begin at 1.
    pub const ALL: [Type; 13] = [
        Type::Identity,
        Type::Grant,
        Type::Rotation,
        Type::Receipt,
        Type::Proof,
        Type::Revocation,
        Type::Method,
        Type::Attestation,
        Type::Witness,
        Type::Birth,
        Type::Heartbeat,
        Type::TrackRecord,
        Type::Declaration,
    ];

    /// The number in the payload.
    pub const fn number(self) -> u64 {
        self as u64 + 1
    }

    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Type::Identity => "identity",
            Type::Grant => "grant",
            Type::Rotation => "rotation",
            Type::Receipt => "receipt",
            Type::Proof => "proof",
            Type::Revocation => "revocation",
            Type::Method => "method",
            Type::Attestation => "attestation",
            Type::Witness => "witness",
            Type::Birth => "birth",
            Type::Heartbeat => "heartbeat",
            Type::TrackRecord => "track_record",
            Type::Declaration => "declaration",
        }
    }

    /// The type of a name.
    pub fn from_name(name: &str) -> Option<Type> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The type that a payload says it is of.
    ///
    /// # Errors
    /// [`Refusal::Malformed`] for what is no payload, [`Refusal::WrongType`] for an unknown number.
    pub fn of_payload(payload: &[u8]) -> Result<Type> {
        let number = match payload {
            [0xa1..=0xb7, 0, number, ..] => u64::from(*number),
            _ => return Err(Refusal::Malformed),
        };
        let found = Self::ALL.into_iter().find(|kind| kind.number() == number);
        found.ok_or(Refusal::WrongType)
    }
}

/// Writes the fields of a payload in the order of their keys.
#[derive(Debug)]
pub struct Fields {
    out: Encoder,
    count: u8,
}

impl Fields {
    fn new(kind: Type) -> Fields {
        let mut out = Encoder::with_capacity(256);
        // The head of the map: its length is known at the end, and below 24.
        out.raw(&[0xa0]);
        let mut fields = Fields { out, count: 0 };
        fields.at(0).uint(kind.number());
        fields
    }

    /// Where the value of this field is written.
    pub fn at(&mut self, key: u64) -> &mut Encoder {
        self.count += 1;
        self.out.uint(key)
    }

    /// A field that is left out where it is zero.
    pub fn uint(&mut self, key: u64, value: u64) {
        if value != 0 {
            self.at(key).uint(value);
        }
    }

    /// A field that is left out where it is `None`.
    pub fn hash(&mut self, key: u64, value: Option<&Hash>) {
        if let Some(hash) = value {
            self.at(key).bytes(&hash.0);
        }
    }

    /// A field that is left out where it is empty.
    pub fn text(&mut self, key: u64, value: &str) {
        if !value.is_empty() {
            self.at(key).text(value);
        }
    }

    /// A list that is left out where it is empty.
    pub fn list<T>(&mut self, key: u64, items: &[T], mut write: impl FnMut(&mut Encoder, &T)) {
        if !items.is_empty() {
            let out = self.at(key).array(items.len());
            items.iter().for_each(|item| write(out, item));
        }
    }

    /// The signer in fields 1 and 2; the inception key's number is left out.
    pub fn by(&mut self, by: &KeyRef) {
        self.at(1).bytes(&by.agent.0);
        self.uint(2, by.key);
    }

    fn finish(self) -> Vec<u8> {
        let mut payload = self.out.finish();
        // No object has more than 23 fields.
        payload[0] |= self.count;
        payload
    }
}

/// Reads the signer from fields 1 and 2.
pub(crate) fn read_by(map: &mut MapReader<'_, '_>) -> Result<KeyRef> {
    let agent = AgentId(map.required(1, Decoder::fixed)?);
    let key = map.uint(2)?;
    Ok(KeyRef { agent, key })
}

pub(crate) fn read_hash(d: &mut Decoder<'_>) -> Result<Hash> {
    Ok(Hash(d.fixed()?))
}

/// Whether the items ascend and none repeats: a set has one order.
pub(crate) fn check_ascending<T: Ord>(items: &[T]) -> Result<()> {
    let ascends = items.windows(2).all(|pair| pair[0] < pair[1]);
    ensure(ascends, Refusal::NotCanonical)
}

/// A kind of signed object.
pub trait Object: Sized {
    /// Its type.
    const TYPE: Type;

    /// Writes the fields after the type, keys ascending.
    fn write(&self, out: &mut Fields);

    /// Reads the fields after the type, and checks what can be checked of the object alone.
    ///
    /// # Errors
    /// What is no such object.
    fn read(map: &mut MapReader<'_, '_>) -> Result<Self>;

    /// Who has to have signed it.
    fn by(&self) -> KeyRef;

    /// When it says that it was issued, in Unix seconds, if that is what it is about: then it may
    /// be signed by a key that was retired later. `None`: it is about now, so only the signer's
    /// current key speaks for it.
    fn issued(&self) -> Option<u64>;

    /// The canonical payload.
    fn payload(&self) -> Vec<u8> {
        let mut fields = Fields::new(Self::TYPE);
        self.write(&mut fields);
        fields.finish()
    }

    /// Reads a payload.
    ///
    /// # Errors
    /// [`Refusal::WrongType`] for an object of another type, [`Refusal::NotCanonical`] for another
    /// encoding, and what [`read`](Self::read) refuses.
    fn from_payload(payload: &[u8]) -> Result<Self> {
        Decoder::whole(payload, |d| {
            d.map(|map| {
                let number = map.required(0, Decoder::uint)?;
                ensure(number == Self::TYPE.number(), Refusal::WrongType)?;
                Self::read(map)
            })
        })
    }
}

/// An object with its signatures, read and consistent, and not verified until one of the `verify`
/// methods says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed<T> {
    data: Vec<u8>,
    payload: Range<usize>,
    body: T,
    id: Hash,
}

impl<T: Object> Signed<T> {
    /// Signs an object.
    ///
    /// # Errors
    /// [`Refusal::WrongSigner`] if the object names another signer; what reading it would refuse;
    /// [`Refusal::Library`].
    pub fn sign(body: &T, signer: &Signer<'_>) -> Result<Signed<T>> {
        ensure(body.by() == signer.by, Refusal::WrongSigner)?;
        Self::sign_with(body, &[signer.keys])
    }

    pub(crate) fn sign_with(body: &T, keys: &[&SigningKeys]) -> Result<Signed<T>> {
        let payload = body.payload();
        // What nobody would read is not signed.
        let body = T::from_payload(&payload)?;
        let made = cose::make(&payload, keys)?;
        Ok(Signed {
            id: Hash::of(&payload),
            payload: made.payload,
            body,
            data: made.message,
        })
    }

    /// Reads a message. Nothing has been verified yet.
    ///
    /// # Errors
    /// As [`Message::parse`] and [`Object::from_payload`].
    pub fn parse(data: Vec<u8>) -> Result<Signed<T>> {
        let message = Message::parse(&data)?;
        let payload = message.payload();
        let body = T::from_payload(payload)?;
        let id = Hash::of(payload);
        let start = payload.as_ptr() as usize - data.as_ptr() as usize;
        let payload = start..start + payload.len();
        Ok(Signed {
            payload,
            body,
            id,
            data,
        })
    }

    /// What the object says, believed or not.
    pub fn body(&self) -> &T {
        &self.body
    }

    /// SHA-256 of the payload: the object's name. It does not depend on the signatures.
    pub fn id(&self) -> Hash {
        self.id
    }

    /// The whole message.
    pub fn as_bytes(&self) -> &[u8] {
        &self.data
    }

    /// What is signed.
    pub fn payload(&self) -> &[u8] {
        &self.data[self.payload.clone()]
    }

    pub(crate) fn message(&self) -> Result<Message<'_>> {
        Ok(Message::parse(&self.data)?)
    }

    /// Checks the signatures with these keys. Whether they are the right ones is the caller's to
    /// know.
    ///
    /// # Errors
    /// As [`Message::verify`].
    pub fn verify(&self, keys: &VerifyingKeys) -> Result<()> {
        cose::verify(&self.message()?, &[keys])
    }
}
