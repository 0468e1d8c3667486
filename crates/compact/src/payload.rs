//! The payload: what a token says, borrowed from its bytes or from its maker.

use crate::limits::*;
use crate::wire::{self, Fields, Reader, Value, Writer};
use crate::{Refusal, SignError};

/// `algorithm` of the published format, one row each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Algorithm {
    /// 1: a shared key.
    HmacSha256,
    /// 2: RFC 8032, cofactored.
    Ed25519,
    /// 3: FIPS 204, empty context.
    MlDsa44,
    /// 4: a zero-knowledge proof of Poseidon(K) = key hash.
    Groth16Poseidon,
    /// 5: a zero-knowledge proof of SHA-256(K) = key hash.
    Groth16Hybrid,
}

impl Algorithm {
    /// Every algorithm, in order of its number.
    pub const ALL: [Algorithm; 5] = [
        Algorithm::HmacSha256,
        Algorithm::Ed25519,
        Algorithm::MlDsa44,
        Algorithm::Groth16Poseidon,
        Algorithm::Groth16Hybrid,
    ];

    /// The number on the wire.
    pub fn number(self) -> u32 {
        self as u32 + 1
    }

    /// The algorithm of a number.
    pub fn from_number(number: u32) -> Option<Algorithm> {
        Algorithm::ALL
            .get((number as usize).checked_sub(1)?)
            .copied()
    }

    /// The name that commands and documents use.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::HmacSha256 => "hmac-sha256",
            Algorithm::Ed25519 => "ed25519",
            Algorithm::MlDsa44 => "ml-dsa-44",
            Algorithm::Groth16Poseidon => "groth16-poseidon",
            Algorithm::Groth16Hybrid => "groth16-hybrid",
        }
    }

    /// The algorithm of a name.
    pub fn from_name(name: &str) -> Option<Algorithm> {
        Algorithm::ALL
            .into_iter()
            .find(|algorithm| algorithm.name() == name)
    }

    /// Whether the token carries a proof in place of a signature.
    pub fn is_zero_knowledge(self) -> bool {
        matches!(self, Algorithm::Groth16Poseidon | Algorithm::Groth16Hybrid)
    }

    /// Whether issuer and verifier (or prover) share a secret: its bytes may never be a key id.
    pub fn is_symmetric(self) -> bool {
        matches!(
            self,
            Algorithm::HmacSha256 | Algorithm::Groth16Poseidon | Algorithm::Groth16Hybrid
        )
    }

    /// Bytes of a signature; a proof for the zero-knowledge algorithms.
    pub fn signature_len(self) -> usize {
        match self {
            Algorithm::HmacSha256 => 32,
            Algorithm::Ed25519 => 64,
            Algorithm::MlDsa44 => 2420,
            Algorithm::Groth16Poseidon | Algorithm::Groth16Hybrid => 128,
        }
    }
}

/// `key_id_type`: how `key_id` names the key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum KeyIdType {
    /// 1: the first 8 bytes of SHA-256 of the key.
    ShortHash,
    /// 2: the public key itself; never for a symmetric key.
    PublicKey,
    /// 3: all 32 bytes of SHA-256 of the key (or the key hash that a proof is about).
    Hash,
}

impl KeyIdType {
    /// The number on the wire.
    pub fn number(self) -> u32 {
        self as u32 + 1
    }

    /// The type of a number.
    pub fn from_number(number: u32) -> Option<KeyIdType> {
        match number {
            1 => Some(KeyIdType::ShortHash),
            2 => Some(KeyIdType::PublicKey),
            3 => Some(KeyIdType::Hash),
            _ => None,
        }
    }

    /// Bytes of such an id under `algorithm`.
    fn len(self, algorithm: Algorithm) -> Option<usize> {
        match (self, algorithm) {
            (KeyIdType::ShortHash, _) => Some(8),
            (KeyIdType::Hash, _) => Some(32),
            (KeyIdType::PublicKey, Algorithm::Ed25519) => Some(32),
            (KeyIdType::PublicKey, Algorithm::MlDsa44) => Some(1312),
            (KeyIdType::PublicKey, _) => None,
        }
    }
}

/// The format's version.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Default)]
pub enum Version {
    /// The published format.
    #[default]
    V0,
    /// With issuer, token id, confirmation and named claims, signed behind a context.
    V1,
}

/// What the token is bound to (RFC 7800), version 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Confirmation<'a> {
    /// SHA-256 thumbprint of the holder's JWK (RFC 9449 section 6.1).
    Jkt(&'a [u8; 32]),
    /// SHA-256 of the holder's certificate (RFC 8705 section 3.1).
    X5tS256(&'a [u8; 32]),
}

/// A claim by name, version 1: its value is JSON text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Claim<'a> {
    /// As in a JWT.
    pub name: &'a str,
    /// JSON text; this crate carries it and leaves its meaning to the reader.
    pub json: &'a str,
}

impl Claim<'_> {
    /// Whether a JWT's claim of this name has a field of its own here. A reader takes such a claim
    /// from its field alone, and refuses a token that has it by name, too: two places for one claim
    /// would be two meanings.
    pub fn has_field(&self) -> bool {
        const FIELDS: [&str; 9] = [
            "iss", "sub", "aud", "exp", "nbf", "iat", "jti", "scope", "cnf",
        ];
        FIELDS.contains(&self.name)
    }
}

/// Whether a text is a scope as OAuth knows them: at least one of the characters of scope-token
/// (RFC 6749 section 3.3). A space in it would be one scope here and two wherever scopes are joined
/// by spaces.
pub(crate) fn is_scope_token(scope: &str) -> bool {
    !scope.is_empty()
        && scope
            .bytes()
            .all(|byte| matches!(byte, 0x21 | 0x23..=0x5B | 0x5D..=0x7E))
}

/// Scopes in strictly ascending order, from a slice or straight from a token's bytes.
#[derive(Clone, Copy, Debug)]
pub struct Scopes<'a>(List<'a, &'a str>);

/// Named claims in strictly ascending order of their names.
#[derive(Clone, Copy, Debug)]
pub struct Claims<'a>(List<'a, Claim<'a>>);

#[derive(Clone, Copy, Debug)]
enum List<'a, T> {
    Given(&'a [T]),
    /// Consecutive fields that a parse has checked.
    Encoded {
        bytes: &'a [u8],
        count: usize,
    },
}

impl<'a> Scopes<'a> {
    /// Checks characters (RFC 6749 section 3.3), order and bounds.
    ///
    /// # Errors
    /// [`SignError::Bounds`], [`SignError::Characters`], [`SignError::Order`].
    pub fn new(scopes: &'a [&'a str]) -> Result<Scopes<'a>, SignError> {
        if scopes.len() > MAX_SCOPES {
            return Err(SignError::Bounds("scope"));
        }
        if scopes
            .iter()
            .any(|scope| scope.is_empty() || scope.len() > MAX_STRING_BYTES)
        {
            return Err(SignError::Bounds("scope"));
        }
        if !scopes.iter().all(|scope| is_scope_token(scope)) {
            return Err(SignError::Characters("scope"));
        }
        if scopes
            .windows(2)
            .any(|pair| pair[0].as_bytes() >= pair[1].as_bytes())
        {
            return Err(SignError::Order("scope"));
        }
        Ok(Scopes(List::Given(scopes)))
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// In ascending order.
    pub fn iter(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let (given, mut reader) = self.0.parts();
        given
            .iter()
            .copied()
            .chain(std::iter::from_fn(move || match reader.next() {
                // The bytes were checked when the token was parsed.
                Ok(Some((_, value))) => value.text(MAX_STRING_BYTES).ok(),
                _ => None,
            }))
    }

    /// Whether each is a scope as OAuth knows them (RFC 6749 section 3.3). Those of a version 1
    /// token always are; version 0, the published format, takes any text. A caller that
    /// joins its scopes by spaces asks this first.
    pub fn are_tokens(&self) -> bool {
        self.iter().all(is_scope_token)
    }

    /// Whether `scope` is among them.
    pub fn contains(&self, scope: &str) -> bool {
        self.iter().any(|own| own == scope)
    }
}

impl<'a> Claims<'a> {
    /// Checks order and bounds.
    pub fn new(claims: &'a [Claim<'a>]) -> Result<Claims<'a>, SignError> {
        let out_of_bounds = |claim: &Claim<'_>| {
            claim.name.is_empty()
                || claim.name.len() > MAX_STRING_BYTES
                || claim.json.is_empty()
                || claim.json.len() > MAX_CLAIM_BYTES
        };
        if claims.len() > MAX_CLAIMS || claims.iter().any(out_of_bounds) {
            return Err(SignError::Bounds("claim"));
        }
        if claims
            .windows(2)
            .any(|pair| pair[0].name.as_bytes() >= pair[1].name.as_bytes())
        {
            return Err(SignError::Order("claim"));
        }
        Ok(Claims(List::Given(claims)))
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// In ascending order of names.
    pub fn iter(&self) -> impl Iterator<Item = Claim<'a>> + use<'a> {
        let (given, mut reader) = self.0.parts();
        given
            .iter()
            .copied()
            .chain(std::iter::from_fn(move || match reader.next() {
                Ok(Some((_, Value::Bytes(bytes)))) => parse_claim(bytes).ok(),
                _ => None,
            }))
    }

    /// The JSON text of a claim.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        self.iter()
            .find(|claim| claim.name == name)
            .map(|claim| claim.json)
    }
}

impl<'a, T> List<'a, T> {
    fn len(&self) -> usize {
        match self {
            List::Given(items) => items.len(),
            List::Encoded { count, .. } => *count,
        }
    }

    fn parts(&self) -> (&'a [T], Reader<'a>) {
        match *self {
            List::Given(items) => (items, Reader::new(&[])),
            List::Encoded { bytes, .. } => (&[], Reader::new(bytes)),
        }
    }
}

impl Default for Scopes<'_> {
    fn default() -> Self {
        Scopes(List::Given(&[]))
    }
}

impl Default for Claims<'_> {
    fn default() -> Self {
        Claims(List::Given(&[]))
    }
}

/// What a token says. To sign, fill in what is wanted; `algorithm` and the key id are the key's
/// business.
#[derive(Clone, Copy, Debug, Default)]
pub struct Payload<'a> {
    /// Unix seconds: the last second in which the token is valid. Must be set.
    pub expires_at: u64,
    /// Unix seconds; 0: unset.
    pub not_before: u64,
    /// Unix seconds; 0: unset.
    pub issued_at: u64,
    /// Whom the token is about; may be empty.
    pub subject: &'a str,
    /// Whom the token is for; may be empty.
    pub audience: &'a str,
    /// What it allows.
    pub scopes: Scopes<'a>,
    /// Version 1: who issued it.
    pub issuer: &'a str,
    /// Version 1: 16 bytes that name the token.
    pub token_id: Option<&'a [u8; TOKEN_ID_BYTES]>,
    /// Version 1: the key it is bound to.
    pub confirmation: Option<Confirmation<'a>>,
    /// Version 1: further claims.
    pub claims: Claims<'a>,
    /// Version 1: SHA-256 of the body of the certificate that vouches for the key. The signing key
    /// writes it; what is set here is not read.
    pub certificate: Option<&'a [u8; 32]>,
}

/// The head of a payload, which selects a key and is trusted by nobody before that key's check.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head<'a> {
    pub version: Version,
    pub algorithm: Algorithm,
    pub key_id_type: KeyIdType,
    pub key_id: &'a [u8],
}

impl<'a> Payload<'a> {
    /// Whether the payload can be written in `version` and read by a verifier.
    pub(crate) fn check(&self, version: Version) -> Result<(), SignError> {
        if self.expires_at == 0 {
            return Err(SignError::NoEnd);
        }
        for (text, name) in [
            (self.subject, "subject"),
            (self.audience, "audience"),
            (self.issuer, "issuer"),
        ] {
            if text.len() > MAX_STRING_BYTES {
                return Err(SignError::Bounds(name));
            }
        }
        if version == Version::V0 {
            let later = [
                (!self.issuer.is_empty(), "issuer"),
                (self.token_id.is_some(), "token_id"),
                (self.confirmation.is_some(), "confirmation"),
                (!self.claims.is_empty(), "claim"),
                (self.certificate.is_some(), "certificate"),
            ];
            if let Some((_, name)) = later.into_iter().find(|(present, _)| *present) {
                return Err(SignError::Version(name));
            }
        }
        Ok(())
    }

    /// Bytes of the encoding.
    pub(crate) fn encoded_len(&self, head: &Head<'_>) -> usize {
        let scopes: usize = self
            .scopes
            .iter()
            .map(|scope| wire::bytes_len(scope.len()))
            .sum();
        let claims: usize = self
            .claims
            .iter()
            .map(|claim| wire::bytes_len(claim_len(&claim)))
            .sum();
        wire::number_len(u64::from(head.version == Version::V1))
            + wire::number_len(u64::from(head.algorithm.number()))
            + wire::number_len(u64::from(head.key_id_type.number()))
            + wire::bytes_len(head.key_id.len())
            + wire::number_len(self.expires_at)
            + wire::number_len(self.not_before)
            + wire::number_len(self.issued_at)
            + wire::bytes_len(self.subject.len())
            + wire::bytes_len(self.audience.len())
            + scopes
            + wire::bytes_len(self.issuer.len())
            + wire::bytes_len(self.token_id.map_or(0, |id| id.len()))
            + wire::bytes_len(if self.confirmation.is_some() {
                CONFIRMATION_LEN
            } else {
                0
            })
            + claims
            + wire::bytes_len(self.certificate.map_or(0, |id| id.len()))
    }

    /// Writes the encoding, [`encoded_len`](Self::encoded_len) bytes.
    #[inline]
    pub(crate) fn encode(&self, head: &Head<'_>, out: &mut Writer<'_>) {
        out.number(1, u64::from(head.version == Version::V1));
        out.number(2, u64::from(head.algorithm.number()));
        out.number(3, u64::from(head.key_id_type.number()));
        out.bytes(4, head.key_id);
        out.number(5, self.expires_at);
        out.number(6, self.not_before);
        out.number(7, self.issued_at);
        out.bytes(8, self.subject.as_bytes());
        out.bytes(9, self.audience.as_bytes());
        for scope in self.scopes.iter() {
            out.bytes(10, scope.as_bytes());
        }
        out.bytes(11, self.issuer.as_bytes());
        if let Some(id) = self.token_id {
            out.bytes(12, id);
        }
        if let Some(confirmation) = self.confirmation {
            out.head(13, CONFIRMATION_LEN);
            match confirmation {
                Confirmation::Jkt(thumbprint) => out.bytes(1, thumbprint),
                Confirmation::X5tS256(thumbprint) => out.bytes(2, thumbprint),
            }
        }
        for claim in self.claims.iter() {
            out.head(14, claim_len(&claim));
            out.bytes(1, claim.name.as_bytes());
            out.bytes(2, claim.json.as_bytes());
        }
        if let Some(id) = self.certificate {
            out.bytes(15, id);
        }
    }

    /// Reads a payload in its one canonical form.
    #[inline]
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<(Head<'a>, Payload<'a>), Refusal> {
        if bytes.len() > MAX_PAYLOAD_BYTES {
            return Err(Refusal::Bounds);
        }
        let mut fields = Fields::new(bytes);
        let version = fields.small(1)?;
        let algorithm = fields.small(2)?;
        let key_id_type = fields.small(3)?;
        let key_id = fields.bytes(4)?.unwrap_or_default();
        let mut payload = Payload {
            expires_at: fields.number(5)?,
            not_before: fields.number(6)?,
            issued_at: fields.number(7)?,
            subject: fields.text(8, MAX_STRING_BYTES)?,
            audience: fields.text(9, MAX_STRING_BYTES)?,
            scopes: Scopes(ascending(&mut fields, 10, MAX_SCOPES, |scope| {
                let scope = wire::text(scope, MAX_STRING_BYTES)?;
                if version == 0 || is_scope_token(scope) {
                    Ok(scope)
                } else {
                    Err(Refusal::Characters)
                }
            })?),
            ..Payload::default()
        };
        let later = fields.rest();
        if !later.is_empty() {
            payload.read_later(&mut fields)?;
        }
        let version = match version {
            0 => Version::V0,
            1 => Version::V1,
            _ => return Err(Refusal::Unknown),
        };
        if version == Version::V0 && !later.is_empty() {
            return Err(Refusal::NotCanonical);
        }
        let algorithm = Algorithm::from_number(algorithm).ok_or(Refusal::Unknown)?;
        let key_id_type = KeyIdType::from_number(key_id_type).ok_or(Refusal::Unknown)?;
        if key_id_type.len(algorithm).ok_or(Refusal::Unknown)? != key_id.len() {
            return Err(Refusal::Bounds);
        }
        if payload.expires_at == 0 {
            return Err(Refusal::Bounds);
        }
        Ok((
            Head {
                version,
                algorithm,
                key_id_type,
                key_id,
            },
            payload,
        ))
    }

    /// The fields that version 1 adds, to the end.
    fn read_later(&mut self, fields: &mut Fields<'a>) -> Result<(), Refusal> {
        self.issuer = fields.text(11, MAX_STRING_BYTES)?;
        self.token_id = fields.bytes(12)?.map(exactly).transpose()?;
        self.confirmation = fields.bytes(13)?.map(parse_confirmation).transpose()?;
        self.claims = Claims(ascending(fields, 14, MAX_CLAIMS, |claim| {
            Ok(parse_claim(claim)?.name)
        })?);
        self.certificate = fields.bytes(15)?.map(exactly).transpose()?;
        if fields.rest().is_empty() {
            Ok(())
        } else {
            Err(Refusal::NotCanonical)
        }
    }
}

/// A run of one repeated field, whose elements `name` reads: strictly ascending by what it answers,
/// at most `max`.
#[inline(always)]
fn ascending<'a, T>(
    fields: &mut Fields<'a>,
    field: u8,
    max: usize,
    name: impl Fn(&'a [u8]) -> Result<&'a str, Refusal>,
) -> Result<List<'a, T>, Refusal> {
    let from = fields.rest();
    let (mut count, mut last) = (0, "");
    while let Some(element) = fields.bytes(field)? {
        let name = name(element)?;
        // The first is never empty.
        if name.as_bytes() <= last.as_bytes() {
            return Err(Refusal::NotCanonical);
        }
        (last, count) = (name, count + 1);
        if count > max {
            return Err(Refusal::Bounds);
        }
    }
    Ok(List::Encoded {
        bytes: between(from, fields.rest()),
        count,
    })
}

/// Bytes of the one length that they may have.
fn exactly<const N: usize>(bytes: &[u8]) -> Result<&[u8; N], Refusal> {
    bytes.try_into().map_err(|_| Refusal::Bounds)
}

/// The bytes from where `from` begins to where `to`, a later rest of the same slice, begins.
fn between<'a>(from: &'a [u8], to: &[u8]) -> &'a [u8] {
    &from[..from.len().saturating_sub(to.len())]
}

/// A confirmation is one 32-byte field.
const CONFIRMATION_LEN: usize = 34;

fn claim_len(claim: &Claim<'_>) -> usize {
    wire::bytes_len(claim.name.len()) + wire::bytes_len(claim.json.len())
}

fn parse_claim(bytes: &[u8]) -> Result<Claim<'_>, Refusal> {
    let mut reader = Reader::new(bytes);
    match (reader.next()?, reader.next()?, reader.next()?) {
        (Some((1, name)), Some((2, json)), None) => Ok(Claim {
            name: name.text(MAX_STRING_BYTES)?,
            json: json.text(MAX_CLAIM_BYTES)?,
        }),
        _ => Err(Refusal::NotCanonical),
    }
}

fn parse_confirmation(bytes: &[u8]) -> Result<Confirmation<'_>, Refusal> {
    let mut reader = Reader::new(bytes);
    let (Some((field, value)), None) = (reader.next()?, reader.next()?) else {
        return Err(Refusal::NotCanonical);
    };
    let thumbprint = value.bytes()?.try_into().map_err(|_| Refusal::Bounds)?;
    match field {
        1 => Ok(Confirmation::Jkt(thumbprint)),
        2 => Ok(Confirmation::X5tS256(thumbprint)),
        _ => Err(Refusal::NotCanonical),
    }
}
