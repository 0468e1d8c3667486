//! Making a token.

use super::{message_hash, signing::Signer};
use crate::limits::{MAX_PAYLOAD_BYTES, MAX_SIGNATURE_BYTES, MAX_TOKEN_BYTES};
use crate::payload::{Head, Payload};
use crate::token::context;
use crate::{SignError, SigningKey, Version, wire, wire::Writer};

impl SigningKey {
    /// Appends a token that says `payload`. Where `out` has room for [`MAX_TOKEN_BYTES`] more (for
    /// HMAC: for the token), nothing of this crate allocates.
    ///
    /// # Errors
    /// [`SignError`] where a verifier would refuse the payload; `out` is then as it was.
    pub fn sign_into(
        &self,
        version: Version,
        payload: &Payload<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), SignError> {
        let payload = &Payload {
            certificate: self.certificate.as_ref(),
            ..*payload
        };
        payload.check(version)?;
        let head = Head {
            version,
            algorithm: self.algorithm,
            key_id_type: self.id.kind,
            key_id: self.id.bytes(self.id.kind),
        };
        let length = payload.encoded_len(&head);
        if length > MAX_PAYLOAD_BYTES {
            return Err(SignError::Bounds("payload"));
        }
        let start = out.len();
        out.reserve(self.room(version, length));
        out.resize(start + wire::bytes_len(length), 0);
        let mut writer = Writer::new(&mut out[start..]);
        writer.head(1, length);
        let payload_at = start + writer.written();
        payload.encode(&head, &mut writer);
        match &self.signer {
            Signer::Hmac { mac, .. } => {
                let tag = mac.sign_parts(&[context(version), &out[payload_at..]]);
                wire::put_bytes(out, 2, &tag);
            }
            Signer::Proof { secret, prover } => {
                let Some(prover) = prover else {
                    out.truncate(start);
                    return Err(SignError::NoProver);
                };
                let hash = message_hash(&[context(version), &out[payload_at..]]);
                let Ok(proof) = prover.prove(secret.expose(), &hash) else {
                    out.truncate(start);
                    return Err(SignError::Proof);
                };
                wire::put_bytes(out, 3, &proof.to_bytes());
            }
            Signer::Signature(key) => {
                // The library wants one piece: behind a context the message is put together at the
                // buffer's end for a moment.
                let mut message_at = payload_at;
                let payload_end = out.len();
                if version != Version::V0 {
                    message_at = payload_end;
                    out.extend_from_slice(context(version));
                    out.extend_from_within(payload_at..payload_end);
                }
                let mut signature = [0; MAX_SIGNATURE_BYTES];
                let signature = &mut signature[..self.algorithm.signature_len()];
                if key.sign_to(&out[message_at..], signature).is_err() {
                    out.truncate(start);
                    return Err(SignError::Library);
                }
                out.truncate(payload_end);
                wire::put_bytes(out, 2, signature);
            }
        }
        debug_assert!(out.len() - start <= MAX_TOKEN_BYTES);
        Ok(())
    }

    /// Bytes that a token with a payload of `length` bytes takes at most, and the message beside
    /// it, where one is put together.
    fn room(&self, version: Version, length: usize) -> usize {
        let signature = self.algorithm.signature_len();
        let message = match self.signer {
            Signer::Signature(_) if version != Version::V0 => context(version).len() + length,
            Signer::Signature(_) | Signer::Hmac { .. } | Signer::Proof { .. } => 0,
        };
        // Two tags and two lengths.
        length + signature.max(message) + 8
    }
}
