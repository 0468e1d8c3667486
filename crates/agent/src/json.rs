//! The JSON form, for people and files.
//!
//! It is a transcription of the canonical binary form, made from one table of fields per type
//! ([`schema`]): reading builds the payload again and every check is the binary form's. What the
//! JSON says in addition, the object's `id`, is recomputed and compared. Members that are unknown
//! or named twice, floats, and other texts of a binary value are refused.
//!
//! A file may carry companions beside the object: `signer`, its signer's identity document;
//! `content` and `disclosures` of a receipt. They are not signed with it; each is checked against
//! what is.

mod convert;
mod schema;
mod strict;

pub use strict::parse;

use serde_json::{Map, Value, json};

use crate::base64url;
use crate::cbor::{Decoder, MAX_BYTES};
use crate::cose::{Message, assemble};
use crate::error::{Refusal, Result, ensure};
use crate::id::Hash;
use crate::identity::VerifiedDocument;
use crate::keys::Alg;
use crate::object::{Object, Signed, Type};
use crate::receipt::Disclosure;

/// An object read from JSON, with its companions.
#[derive(Debug, Clone)]
pub struct File {
    /// What it is.
    pub kind: Type,
    /// The message, not verified.
    pub message: Vec<u8>,
    /// The signer's document, verified in itself: it proves its own id, and no more.
    pub signer: Option<VerifiedDocument>,
    /// Content of a receipt.
    pub content: Option<Vec<u8>>,
    /// Disclosed fields of a receipt.
    pub disclosures: Vec<Disclosure>,
}

impl File {
    /// The JSON of an object.
    pub fn of<T: Object>(object: &Signed<T>) -> File {
        File {
            kind: T::TYPE,
            message: object.as_bytes().to_vec(),
            signer: None,
            content: None,
            disclosures: Vec::new(),
        }
    }

    /// The same with the signer's document.
    pub fn with_signer(mut self, document: &VerifiedDocument) -> File {
        self.signer = Some(document.clone());
        self
    }

    /// Reads a file.
    ///
    /// # Errors
    /// As [`parse`] and the binary form; [`Refusal::UnknownMember`], [`Refusal::DerivedMismatch`];
    /// for a document what [`VerifiedDocument::new`] refuses.
    pub fn read(text: &[u8]) -> Result<File> {
        ensure(text.len() <= 2 * MAX_BYTES, Refusal::TooLarge)?;
        let Value::Object(mut members) = parse(text)? else {
            return Err(Refusal::Malformed);
        };
        let signer = members.remove("signer").map(|signer| {
            let (kind, message) = from_json(signer)?;
            ensure(kind == Type::Identity, Refusal::WrongType)?;
            VerifiedDocument::parse(message)
        });
        let content = members
            .remove("content_base64url")
            .map(|content| convert::bytes(&content));
        let disclosures = match members.remove("disclosures") {
            Some(Value::Array(items)) => {
                items.into_iter().map(disclosure).collect::<Result<_>>()?
            }
            Some(_) => return Err(Refusal::Malformed),
            None => Vec::new(),
        };
        let (kind, message) = from_json(Value::Object(members))?;
        let companions = content.is_some() || !disclosures.is_empty();
        ensure(kind == Type::Receipt || !companions, Refusal::UnknownMember)?;
        Ok(File {
            kind,
            message,
            signer: signer.transpose()?,
            content: content.transpose()?,
            disclosures,
        })
    }

    /// The object, if it is of this type.
    ///
    /// # Errors
    /// [`Refusal::WrongType`], and as [`Signed::parse`].
    pub fn object<T: Object>(&self) -> Result<Signed<T>> {
        ensure(self.kind == T::TYPE, Refusal::WrongType)?;
        Signed::parse(self.message.clone())
    }

    /// The JSON text, indented.
    ///
    /// # Errors
    /// If the message is not one of this crate's.
    pub fn write(&self) -> Result<String> {
        let mut members = to_json(&self.message)?;
        if let Some(content) = &self.content {
            members.insert(
                "content_base64url".into(),
                base64url::encode(content).into(),
            );
        }
        if !self.disclosures.is_empty() {
            let all = self.disclosures.iter().map(
                |d| json!({ "salt": base64url::encode(&d.salt), "name": d.name, "value": d.value }),
            );
            members.insert("disclosures".into(), all.collect());
        }
        if let Some(signer) = &self.signer {
            members.insert("signer".into(), to_json(signer.signed().as_bytes())?.into());
        }
        let mut text = serde_json::to_string_pretty(&Value::Object(members))
            .map_err(|_| Refusal::Malformed)?;
        text.push('\n');
        Ok(text)
    }
}

fn disclosure(value: Value) -> Result<Disclosure> {
    let Value::Object(mut members) = value else {
        return Err(Refusal::Malformed);
    };
    let mut take = |name: &str| match members.remove(name) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(Refusal::Malformed),
    };
    let (salt, name, value) = (take("salt")?, take("name")?, take("value")?);
    ensure(members.is_empty(), Refusal::UnknownMember)?;
    let salt = base64url::decode(&salt)?
        .try_into()
        .map_err(|_| Refusal::Malformed)?;
    Ok(Disclosure { salt, name, value })
}

/// The JSON of a message: `type`, the fields by their names, `id`, `signatures`.
///
/// # Errors
/// If it is no message of this crate.
pub fn to_json(message: &[u8]) -> Result<Map<String, Value>> {
    let message = Message::parse(message)?;
    let kind = Type::of_payload(message.payload())?;
    let mut members = Map::new();
    members.insert("type".into(), kind.name().into());
    if kind != Type::Identity {
        members.insert("id".into(), Hash::of(message.payload()).to_string().into());
    }
    Decoder::whole(message.payload(), |d| {
        d.map(|map| {
            map.required(0, Decoder::uint)?;
            for field in schema::fields(kind) {
                if map.at(field.key)? {
                    let value = convert::to_json(&field.kind, map.value())?;
                    members.insert(field.name.into(), value);
                }
            }
            Ok::<_, Refusal>(())
        })
    })?;
    let signatures = message.signatures().iter().map(
        |(alg, signature)| json!({ "alg": alg.name(), "signature": base64url::encode(signature) }),
    );
    members.insert("signatures".into(), signatures.collect());
    Ok(members)
}

/// The message of a JSON object, and its type. Nothing has been verified but the `id`.
///
/// # Errors
/// [`Refusal::Malformed`], [`Refusal::UnknownMember`], [`Refusal::DerivedMismatch`],
/// [`Refusal::WrongType`].
pub fn from_json(value: Value) -> Result<(Type, Vec<u8>)> {
    let Value::Object(mut members) = value else {
        return Err(Refusal::Malformed);
    };
    let kind = match members.remove("type") {
        Some(Value::String(name)) => Type::from_name(&name).ok_or(Refusal::WrongType)?,
        _ => return Err(Refusal::WrongType),
    };
    let id = if kind == Type::Identity {
        None
    } else {
        members.remove("id")
    };
    let Some(Value::Array(signatures)) = members.remove("signatures") else {
        return Err(Refusal::Malformed);
    };
    let signatures = signatures
        .into_iter()
        .map(signature)
        .collect::<Result<Vec<_>>>()?;
    let mut fields = vec![(
        crate::cbor::Value::Int(0),
        crate::cbor::Value::Int(kind.number().into()),
    )];
    for field in schema::fields(kind) {
        if let Some(value) = members.remove(field.name) {
            let value = convert::from_json(&field.kind, value)?;
            fields.push((crate::cbor::Value::Int(field.key.into()), value));
        }
    }
    ensure(members.is_empty(), Refusal::UnknownMember)?;
    let payload = crate::cbor::Value::Map(fields).encode()?;
    if let Some(id) = id {
        let same = id
            .as_str()
            .is_some_and(|id| id == Hash::of(&payload).to_string());
        ensure(same, Refusal::DerivedMismatch)?;
    }
    Ok((kind, assemble(&payload, &signatures)?))
}

fn signature(value: Value) -> Result<(Alg, Vec<u8>)> {
    let Value::Object(mut members) = value else {
        return Err(Refusal::Malformed);
    };
    let mut take = |name: &str| match members.remove(name) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(Refusal::Malformed),
    };
    let (alg, signature) = (take("alg")?, take("signature")?);
    ensure(members.is_empty(), Refusal::UnknownMember)?;
    let alg = Alg::from_name(&alg).ok_or(Refusal::WrongAlgorithm)?;
    Ok((alg, base64url::decode(&signature)?))
}
