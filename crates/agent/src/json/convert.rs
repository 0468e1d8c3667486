//! One field's value, from one form to the other.

use serde_json::{Map, Value, json};

use super::schema::Kind;
use crate::base64url;
use crate::cbor::{self, Decoder};
use crate::chain::network::Network;
use crate::error::{Refusal, Result, ensure};
use crate::id::AgentId;
use crate::keys::{Alg, KeySet};
use crate::text_map::TextMap;

pub(super) fn to_json(kind: &Kind, d: &mut Decoder<'_>) -> Result<Value> {
    Ok(match kind {
        Kind::Agent => AgentId(d.fixed()?).to_string().into(),
        Kind::Bytes => base64url::encode(d.bytes()?).into(),
        Kind::Text => d.text()?.into(),
        Kind::Uint => d.uint()?.into(),
        Kind::Bool => d.bool()?.into(),
        Kind::Keys => {
            let keys = KeySet::read(d)?;
            let keys = keys
                .iter()
                .map(|(alg, key)| json!({ "alg": alg.name(), "key": base64url::encode(key) }));
            keys.collect()
        }
        Kind::List(item) => Value::Array(d.list(usize::MAX, |d| to_json(item, d))?),
        Kind::Network => Network::read(d)?.to_string().into(),
        Kind::Budget => d.tuple(2, |d| {
            Ok::<_, Refusal>(json!({ "amount": d.uint()?, "unit": d.text()? }))
        })?,
        Kind::KeySince => d.tuple(2, |d| {
            Ok::<_, Refusal>(json!({ "key": d.uint()?, "since": d.uint()? }))
        })?,
        Kind::Map => {
            let map = TextMap::read(d)?;
            let members: Map<String, Value> =
                map.iter().map(|(k, v)| (k.to_owned(), v.into())).collect();
            members.into()
        }
        Kind::Signed(_) => super::to_json(d.bytes()?)?.into(),
        Kind::Name(names) => {
            let name = usize::try_from(d.uint()?).ok().and_then(|n| names.get(n));
            Value::from(*name.ok_or(Refusal::InvalidValue)?)
        }
    })
}

fn text(value: Value) -> Result<String> {
    match value {
        Value::String(text) => Ok(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Err(Refusal::Malformed)
        }
    }
}

pub(super) fn bytes(value: &Value) -> Result<Vec<u8>> {
    base64url::decode(value.as_str().ok_or(Refusal::Malformed)?)
}

fn members<const N: usize>(value: Value, names: [&str; N]) -> Result<[Value; N]> {
    let Value::Object(mut members) = value else {
        return Err(Refusal::Malformed);
    };
    let values = names.map(|name| members.remove(name).unwrap_or(Value::Null));
    ensure(members.is_empty(), Refusal::UnknownMember)?;
    Ok(values)
}

fn items(value: Value) -> Result<Vec<Value>> {
    match value {
        Value::Array(items) => Ok(items),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            Err(Refusal::Malformed)
        }
    }
}

pub(super) fn from_json(kind: &Kind, value: Value) -> Result<cbor::Value> {
    let uint = |value: &Value| {
        Ok::<_, Refusal>(cbor::Value::Int(
            value.as_u64().ok_or(Refusal::Malformed)?.into(),
        ))
    };
    Ok(match kind {
        Kind::Agent => cbor::Value::Bytes(text(value)?.parse::<AgentId>()?.0.to_vec()),
        Kind::Bytes => cbor::Value::Bytes(bytes(&value)?),
        Kind::Text => cbor::Value::Text(text(value)?),
        Kind::Uint => uint(&value)?,
        Kind::Bool => cbor::Value::Bool(value.as_bool().ok_or(Refusal::Malformed)?),
        Kind::Keys => {
            let mut parts = Vec::new();
            for key in items(value)? {
                let [alg, key] = members(key, ["alg", "key"])?;
                let alg = Alg::from_name(&text(alg)?).ok_or(Refusal::WrongAlgorithm)?;
                parts.push(cbor::Value::Int(alg.number().into()));
                parts.push(cbor::Value::Bytes(bytes(&key)?));
            }
            cbor::Value::Array(parts)
        }
        Kind::List(item) => {
            let all = items(value)?
                .into_iter()
                .map(|value| from_json(item, value));
            cbor::Value::Array(all.collect::<Result<_>>()?)
        }
        Kind::Network => {
            let written = text(value)?;
            let network: Network = written.parse()?;
            ensure(network.to_string() == written, Refusal::NotCanonical)?;
            let mut out = cbor::Encoder::new();
            network.write(&mut out);
            cbor::Value::decode(&out.finish())?
        }
        Kind::Budget => {
            let [amount, unit] = members(value, ["amount", "unit"])?;
            cbor::Value::Array(vec![uint(&amount)?, cbor::Value::Text(text(unit)?)])
        }
        Kind::KeySince => {
            let [key, since] = members(value, ["key", "since"])?;
            cbor::Value::Array(vec![uint(&key)?, uint(&since)?])
        }
        Kind::Map => {
            let Value::Object(members) = value else {
                return Err(Refusal::Malformed);
            };
            let pairs = members.into_iter().map(|(name, value)| {
                Ok((cbor::Value::Text(name), cbor::Value::Text(text(value)?)))
            });
            cbor::Value::Map(pairs.collect::<Result<_>>()?)
        }
        Kind::Signed(expected) => {
            let (found, message) = super::from_json(value)?;
            ensure(found == *expected, Refusal::WrongType)?;
            cbor::Value::Bytes(message)
        }
        Kind::Name(names) => {
            let name = text(value)?;
            let place = names
                .iter()
                .position(|own| *own == name)
                .ok_or(Refusal::InvalidValue)?;
            cbor::Value::Int(place as i128)
        }
    })
}
