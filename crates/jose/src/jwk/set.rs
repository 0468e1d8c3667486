//! Key sets (RFC 7517 section 5).

use super::{Jwk, JwkError};
use crate::json::{Limits, Object, Value, Writer};
use signet_crypto::Algorithm;
use std::collections::HashSet;

/// Most keys that a set may have, unsupported ones included.
pub const MAX_KEYS: usize = 64;

/// One JWK: an ML-DSA-87 key, or an RSA key with a certificate chain.
pub(super) const KEY_LIMITS: Limits = Limits {
    bytes: 64 * 1024,
    depth: 4,
    members: 128,
};
const SET_LIMITS: Limits = Limits {
    bytes: 512 * 1024,
    depth: 8,
    members: 64 * MAX_KEYS,
};

/// A set of public keys. Ids are unique within a key type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JwkSet {
    /// in the order of the document
    pub keys: Vec<Jwk>,
}

impl JwkSet {
    /// Reads a published set. Keys that Signet does not understand, or whose members cannot be, are left out (RFC 7517
    /// section 5 recommends it, so that a publisher can add new kinds of keys). A private or symmetric key, two keys
    /// of one type with one id, and too many keys refuse the whole set.
    pub fn parse(json: &[u8]) -> Result<JwkSet, JwkError> {
        Self::read(&crate::json::parse_object(json, &SET_LIMITS)?, true)
    }

    /// As [`JwkSet::parse`], of a set that is part of a larger document, and nothing is left out: for the `jwks` of a
    /// client's registration, whose developer wants to hear what is wrong.
    pub fn from_value_strict(object: &Object<'_>) -> Result<JwkSet, JwkError> {
        Self::read(object, false)
    }

    /// As [`JwkSet::parse`], of a set that is part of a larger document.
    pub fn from_value(object: &Object<'_>) -> Result<JwkSet, JwkError> {
        Self::read(object, true)
    }

    fn read(set: &Object<'_>, leave_out: bool) -> Result<JwkSet, JwkError> {
        let keys = set
            .get("keys")
            .and_then(Value::as_array)
            .ok_or(JwkError::Member("keys"))?;
        if keys.len() > MAX_KEYS {
            return Err(JwkError::TooMany);
        }
        let mut read = Vec::with_capacity(keys.len());
        for key in keys {
            let object = key.as_object().ok_or(JwkError::Member("keys"))?;
            match Jwk::from_value(object) {
                Ok(jwk) => read.push(jwk),
                Err(error @ (JwkError::Private | JwkError::DuplicateKid | JwkError::TooMany)) => {
                    return Err(error);
                }
                Err(_) if leave_out => {}
                Err(error) => return Err(error),
            }
        }
        JwkSet { keys: read }.with_unique_kids()
    }

    /// RFC 7517 section 4.5: ids should be distinct, except between equivalent keys of different types. With two, one
    /// of them would win by accident.
    fn with_unique_kids(self) -> Result<JwkSet, JwkError> {
        let mut seen = HashSet::new();
        for jwk in &self.keys {
            if let Some(kid) = &jwk.kid
                && !seen.insert((jwk.key.key_type(), kid))
            {
                return Err(JwkError::DuplicateKid);
            }
        }
        Ok(self)
    }

    /// The one key for a token's `kid` and `alg`. Without a `kid` there must be exactly one key that fits, for trying
    /// several would let the sender choose.
    pub fn select(&self, kid: Option<&str>, alg: Algorithm) -> Option<&Jwk> {
        let mut fitting = self
            .keys
            .iter()
            .filter(|jwk| jwk.verifies(alg) && (kid.is_none() || jwk.kid.as_deref() == kid));
        match (fitting.next(), fitting.next()) {
            (Some(jwk), None) => Some(jwk),
            _ => None,
        }
    }

    /// Appends the set as a JSON document.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.write_value(&mut Writer::new(out));
    }

    /// Writes the set as one object.
    pub fn write_value(&self, w: &mut Writer<'_>) {
        w.object(|w| {
            w.member("keys")
                .array(|w| self.keys.iter().for_each(|jwk| jwk.write(w)))
        });
    }
}
