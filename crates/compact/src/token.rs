//! A token: payload and signature, parsed without copying.

use crate::limits::MAX_TOKEN_BYTES;
use crate::payload::{Head, Payload};
use crate::wire::{self, Reader};
use crate::{Algorithm, KeyIdType, Refusal, Version};

/// What stands before a version 1 payload when it is signed. Its first byte, 0x73, would be a group of field 14: no payload of any version
/// begins so, and a version 1 signature can never be shown as one of version 0.
pub const SIGNING_CONTEXT_V1: &[u8] = b"signet compact v1\n";

/// A token whose form is right and whose content nobody has believed yet.
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
    pub fn parse(bytes: &'a [u8]) -> Result<Token<'a>, Refusal> {
        if bytes.len() > MAX_TOKEN_BYTES {
            return Err(Refusal::TooLarge);
        }
        let mut reader = Reader::new(bytes);
        let Some((1, payload)) = reader.next()? else {
            return Err(Refusal::NotCanonical);
        };
        let payload_bytes = payload.bytes()?;
        let Some((field, value)) = reader.next()? else {
            return Err(Refusal::Shape);
        };
        let signature = value.bytes()?;
        if reader.next()?.is_some() {
            // A proof besides a signature, a repeated or an unknown field.
            return Err(Refusal::Shape);
        }
        let (head, payload) = Payload::parse(payload_bytes)?;
        let expected = if head.algorithm.is_zero_knowledge() {
            3
        } else {
            2
        };
        if field != expected || signature.len() != head.algorithm.signature_len() {
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

    /// The payload's bytes: what identifies the token. A proof can be re-randomised by anyone, and a token's bytes then differ.
    pub fn payload_bytes(&self) -> &'a [u8] {
        self.payload_bytes
    }

    /// The parts of the signed message, in order.
    pub(crate) fn message(&self) -> [&'a [u8]; 2] {
        [context(self.head.version), self.payload_bytes]
    }

    /// Appends the token's bytes: the same that were parsed.
    pub fn encode(&self, out: &mut Vec<u8>) {
        wire::put_head(out, 1, self.payload.encoded_len(&self.head));
        self.payload.encode(&self.head, out);
        wire::put_bytes(
            out,
            if self.head.algorithm.is_zero_knowledge() {
                3
            } else {
                2
            },
            self.signature,
        );
    }
}

/// What is signed before the payload.
pub(crate) fn context(version: Version) -> &'static [u8] {
    match version {
        Version::V0 => &[],
        Version::V1 => SIGNING_CONTEXT_V1,
    }
}
