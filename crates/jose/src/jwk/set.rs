//! Key sets (RFC 7517 section 5).

use super::{Jwk, JwkError, entries::entries};
use signet_crypto::Algorithm;
use signet_encoding::json::{JsonError, Limits, Object, Value, Writer};
use std::{collections::HashSet, fmt};

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

/// An entry of a published set: what a set's limits leave to one.
const ENTRY_LIMITS: Limits = Limits {
    bytes: KEY_LIMITS.bytes,
    depth: SET_LIMITS.depth - 2,
    members: SET_LIMITS.members,
};

/// A set of public keys. Ids are unique within a key type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JwkSet {
    /// in the order of the document
    pub keys: Vec<Jwk>,
}

/// An entry of a published set that is not used, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// its place in the document, from 0
    pub index: usize,
    /// its `kid`, where it has one that is a text
    pub kid: Option<String>,
    /// what is wrong with it
    pub reason: JwkError,
}

impl fmt::Display for LeftOut {
    /// `key 2 ("2026"): the JWK carries private key material`; the id is escaped, for it is the
    /// publisher's text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key {}", self.index)?;
        if let Some(kid) = &self.kid {
            write!(f, " ({kid:?})")?;
        }
        write!(f, ": {}", self.reason)
    }
}

/// What a publisher's set is worth: its good keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Published {
    /// the keys that can be used
    pub set: JwkSet,
    /// the others, in the order of the document; at most [`MAX_KEYS`] of them are listed
    pub left_out: Vec<LeftOut>,
}

impl JwkSet {
    /// Reads a set that somebody else publishes, and may change at any moment. It is as good as its
    /// good keys: an entry that is private or symmetric, no key at all, or beyond [`MAX_KEYS`] is
    /// left out and named, and so are different keys of one type under one id, for one of them
    /// would win by accident (RFC 7517 sections 4.5 and 5), and so is one that strict JSON refuses.
    /// Refusing the whole set for one of them would keep an older set in use, and with it keys that
    /// this one withdraws. Members beside `keys` are passed over, whatever is in them.
    ///
    /// # Errors
    /// Where the document is no object with one array `keys`.
    pub fn parse_published(json: &[u8]) -> Result<Published, JwkError> {
        let entries = entries(json, SET_LIMITS.bytes)?;
        let mut good: Vec<(usize, Jwk)> = Vec::with_capacity(entries.len().min(MAX_KEYS));
        let mut left_out = Vec::new();
        for (index, entry) in entries.into_iter().enumerate() {
            if left_out.len() >= MAX_KEYS && index >= MAX_KEYS {
                break;
            }
            let object = signet_encoding::json::parse_object(entry, &ENTRY_LIMITS);
            let read = match &object {
                _ if index >= MAX_KEYS => Err(JwkError::TooMany),
                Err(JsonError::Type) => Err(JwkError::Member("keys")),
                Err(error) => Err(JwkError::Json(*error)),
                Ok(object) => Jwk::from_value(object),
            };
            match read {
                // The same key twice is one key.
                Ok(jwk) if good.iter().any(|(_, known)| *known == jwk) => {}
                Ok(jwk) => good.push((index, jwk)),
                Err(_) if left_out.len() >= MAX_KEYS => {}
                Err(reason) => left_out.push(LeftOut {
                    index,
                    kid: object.ok().as_ref().and_then(kid_of),
                    reason,
                }),
            }
        }
        let doubled = |(_, jwk): &(usize, Jwk)| {
            let same_id = |(_, other): &&(usize, Jwk)| {
                other.kid == jwk.kid && other.key.key_type() == jwk.key.key_type()
            };
            jwk.kid.is_some() && good.iter().filter(same_id).count() > 1
        };
        let (twice, once): (Vec<_>, Vec<_>) = good.iter().cloned().partition(doubled);
        left_out.extend(twice.into_iter().map(|(index, jwk)| LeftOut {
            index,
            kid: jwk.kid,
            reason: JwkError::DuplicateKid,
        }));
        left_out.sort_by_key(|entry| entry.index);
        Ok(Published {
            set: JwkSet {
                keys: once.into_iter().map(|(_, jwk)| jwk).collect(),
            },
            left_out,
        })
    }

    /// Reads a set that its owner hands over. Keys that Signet does not understand, or whose
    /// members cannot be, are left out (RFC 7517 section 5). A private or symmetric key, two keys
    /// of one type with one id, and too many keys refuse the whole set: whoever wrote it should
    /// hear of it. Of a set that is fetched, see [`JwkSet::parse_published`].
    pub fn parse(json: &[u8]) -> Result<JwkSet, JwkError> {
        Self::read(
            &signet_encoding::json::parse_object(json, &SET_LIMITS)?,
            true,
        )
    }

    /// As [`JwkSet::parse`], of a set that is part of a larger document, and nothing is left out:
    /// for the `jwks` of a client's registration, whose developer wants to hear what is wrong.
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

    /// RFC 7517 section 4.5: ids should be distinct, except between equivalent keys of different
    /// types. With two, one of them would win by accident.
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

    /// The one key for a token's `kid` and `alg`. Without a `kid` there must be exactly one key
    /// that fits, for trying several would let the sender choose.
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

fn kid_of(object: &Object<'_>) -> Option<String> {
    let kid = object.get("kid").and_then(Value::as_str)?;
    (kid.len() <= super::MAX_KID_BYTES).then(|| kid.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
    const Y: &str = "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs";

    fn key(kid: &str, x: &str) -> String {
        format!(r#"{{"kty":"OKP","crv":"Ed25519","kid":"{kid}","x":"{x}"}}"#)
    }

    fn read(keys: &[String]) -> Published {
        let text = format!(r#"{{"keys":[{}]}}"#, keys.join(","));
        JwkSet::parse_published(text.as_bytes()).unwrap()
    }

    fn ids(published: &Published) -> Vec<&str> {
        let keys = published.set.keys.iter();
        keys.filter_map(|jwk| jwk.kid.as_deref()).collect()
    }

    #[test]
    fn a_published_set_is_as_good_as_its_good_keys() {
        let private = key("p", X).replacen(r#""x""#, r#""d":"AAAA","x""#, 1);
        let bad = [
            r#"{"kty":"oct","k":"AAAA","kid":"o"}"#.to_owned(),
            private,
            "7".to_owned(),
            r#"{"kty":"NEW","kid":"n"}"#.to_owned(),
            r#"{"kid":5}"#.to_owned(),
        ];
        for odd in &bad {
            let published = read(&[odd.clone(), key("good", X)]);
            assert_eq!(ids(&published), ["good"], "{odd}");
            assert_eq!(published.left_out.len(), 1, "{odd}");
            assert_eq!(published.left_out[0].index, 0);
        }
        assert_eq!(read(&bad).set, JwkSet::default());
    }

    #[test]
    fn one_place_that_strict_json_refuses_withdraws_its_own_entry_and_no_other() {
        let good = key("good", X);
        let deep = format!(r#"{{"x":{}{}}}"#, "[".repeat(70), "]".repeat(70));
        for (odd, reason) in [
            (r#"{"kty":"EC","n":1e400}"#, JsonError::Limit),
            (
                r#"{"kty":"EC","n":1234567890123456789012345678901}"#,
                JsonError::Limit,
            ),
            (r#"{"kid":"\ud800"}"#, JsonError::Malformed(0)),
            (r#"{"kid":"a","kid":"b"}"#, JsonError::Duplicate),
            (deep.as_str(), JsonError::Limit),
        ] {
            let published = read(&[odd.to_owned(), good.clone()]);
            assert_eq!(ids(&published), ["good"], "{odd}");
            let [left_out] = &published.left_out[..] else {
                panic!("{:?}", published.left_out);
            };
            let JwkError::Json(found) = &left_out.reason else {
                panic!("{left_out}");
            };
            match reason {
                JsonError::Malformed(_) => assert!(matches!(found, JsonError::Malformed(_))),
                other => assert_eq!(*found, other, "{odd}"),
            }
            // In a member that nobody reads it hides nothing.
            let foreign = format!("\u{feff}{{\"foreign\":{odd},\"foreign\":0,\"keys\":[{good}]}}");
            let published = JwkSet::parse_published(foreign.as_bytes()).unwrap();
            assert_eq!(
                (ids(&published), published.left_out.len()),
                (vec!["good"], 0)
            );
        }
    }

    #[test]
    fn an_empty_set_is_a_set_and_one_that_two_readers_would_read_differently_is_none() {
        assert_eq!(read(&[]), Published::default());
        for document in [
            r#"{"keys":"x"}"#,
            "[]",
            r#"{"keys":["#,
            r#"{"keys":[],"keys":[]}"#,
        ] {
            assert!(JwkSet::parse_published(document.as_bytes()).is_err());
        }
    }

    #[test]
    fn of_two_keys_with_one_kid_none_wins_and_the_same_key_twice_is_one() {
        let two = read(&[key("a", X), key("b", X), key("a", Y)]);
        assert_eq!(ids(&two), ["b"]);
        let reasons: Vec<(usize, JwkError)> = two
            .left_out
            .iter()
            .map(|o| (o.index, o.reason.clone()))
            .collect();
        assert_eq!(
            reasons,
            [(0, JwkError::DuplicateKid), (2, JwkError::DuplicateKid)]
        );
        let same = read(&[key("a", X), key("a", X)]);
        assert_eq!((ids(&same), same.left_out.len()), (vec!["a"], 0));
    }

    #[test]
    fn of_a_set_that_is_too_large_the_first_keys_count() {
        let many: Vec<String> = (0..MAX_KEYS + 3)
            .map(|number| key(&number.to_string(), X))
            .collect();
        let published = read(&many);
        assert_eq!(published.set.keys.len(), MAX_KEYS);
        assert_eq!(published.left_out.len(), 3);
        assert_eq!(published.left_out[0].reason, JwkError::TooMany);
        assert_eq!(
            published.left_out[0].to_string(),
            "key 64 (\"64\"): too many keys"
        );
    }
}
