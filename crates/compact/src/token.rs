//! A token: payload and signature, parsed without copying.

use crate::limits::MAX_TOKEN_BYTES;
use crate::payload::{Head, Payload};
use crate::wire::{self, Fields, Reader, Writer};
use crate::{Algorithm, KeyIdType, Refusal, Version};

/// What stands before a version 1 payload when it is signed. Its first byte, 0x73, would be a group
/// of field 14: no payload of any version begins so, and a version 1 signature can never be shown
/// as one of version 0.
pub const SIGNING_CONTEXT_V1: &[u8] = b"signet compact v1\n";

/// A token whose form is right and whose content is not trusted yet.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    pub(crate) head: Head<'a>,
    pub(crate) payload: Payload<'a>,
    pub(crate) payload_bytes: &'a [u8],
    pub(crate) signature: &'a [u8],
}

impl<'a> Token<'a> {
    /// Parses the one canonical encoding; nothing else is a token.
    ///
    /// # Errors
    /// A [`Refusal`] about size, form or kind; no allocation on the way.
    #[inline]
    pub fn parse(bytes: &'a [u8]) -> Result<Token<'a>, Refusal> {
        if bytes.len() > MAX_TOKEN_BYTES {
            return Err(Refusal::TooLarge);
        }
        let mut fields = Fields::new(bytes);
        let payload_bytes = fields.bytes(1)?.ok_or(Refusal::NotCanonical)?;
        let (signature, proof) = (fields.bytes(2)?, fields.bytes(3)?);
        if !fields.rest().is_empty() {
            return Err(left_over(fields.rest()));
        }
        let (head, payload) = Payload::parse(payload_bytes)?;
        let signature = match (signature, proof) {
            (Some(signature), None) if !head.algorithm.is_zero_knowledge() => signature,
            (None, Some(proof)) if head.algorithm.is_zero_knowledge() => proof,
            // A proof besides a signature, one in place of the other, or neither.
            _ => return Err(Refusal::Shape),
        };
        if signature.len() != head.algorithm.signature_len() {
            return Err(Refusal::Shape);
        }
        Ok(Token {
            head,
            payload,
            payload_bytes,
            signature,
        })
    }

    /// What it says, without believing it.
    pub fn unverified_payload(&self) -> &Payload<'a> {
        &self.payload
    }

    /// The algorithm it names.
    pub fn algorithm(&self) -> Algorithm {
        self.head.algorithm
    }

    /// Its version.
    pub fn version(&self) -> Version {
        self.head.version
    }

    /// The key it names.
    pub fn key_id(&self) -> (KeyIdType, &'a [u8]) {
        (self.head.key_id_type, self.head.key_id)
    }

    /// The payload's bytes: what identifies the token. A proof can be re-randomised by anyone, and
    /// a token's bytes then differ.
    pub fn payload_bytes(&self) -> &'a [u8] {
        self.payload_bytes
    }

    /// The parts of the signed message, in order.
    pub(crate) fn message(&self) -> [&'a [u8]; 2] {
        [context(self.head.version), self.payload_bytes]
    }

    /// Appends the token's bytes: the same that were parsed.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let length = self.payload.encoded_len(&self.head);
        let start = out.len();
        out.resize(
            start + wire::bytes_len(length) + wire::bytes_len(self.signature.len()),
            0,
        );
        let mut writer = Writer::new(&mut out[start..]);
        writer.head(1, length);
        self.payload.encode(&self.head, &mut writer);
        let field = if self.head.algorithm.is_zero_knowledge() {
            3
        } else {
            2
        };
        writer.bytes(field, self.signature);
    }
}

/// Why a token with these bytes behind its last field is none: a further field, or no field at all.
#[cold]
fn left_over(rest: &[u8]) -> Refusal {
    match Reader::new(rest).next() {
        Ok(_) => Refusal::Shape,
        Err(refusal) => refusal,
    }
}

/// What is signed before the payload.
pub(crate) fn context(version: Version) -> &'static [u8] {
    match version {
        Version::V0 => &[],
        Version::V1 => SIGNING_CONTEXT_V1,
    }
}
