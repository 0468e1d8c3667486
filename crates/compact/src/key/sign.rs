//! Making a token.

use super::{message_hash, signing::Signer};
use crate::limits::{MAX_PAYLOAD_BYTES, MAX_TOKEN_BYTES};
use crate::payload::{Head, Payload};
use crate::token::context;
use crate::{SignError, SigningKey, Version, wire};

impl SigningKey {
    /// Appends a token that says `payload`.
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
        out.reserve(length + self.algorithm.signature_len() + 16);
        wire::put_head(out, 1, length);
        let payload_at = out.len();
        payload.encode(&head, out);
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
                let proof = prover.prove(secret.expose(), &hash).to_bytes();
                wire::put_bytes(out, 3, &proof);
            }
            Signer::Signature(key) => {
                // The signature's library wants one message and appends to a buffer of its own.
                let mut message = Vec::with_capacity(32 + length + self.algorithm.signature_len());
                message.extend_from_slice(context(version));
                message.extend_from_slice(&out[payload_at..]);
                let mut signature = Vec::with_capacity(self.algorithm.signature_len());
                if key.sign_into(&message, &mut signature).is_err() {
                    out.truncate(start);
                    return Err(SignError::Library);
                }
                wire::put_bytes(out, 2, &signature);
            }
        }
        debug_assert!(out.len() - start <= MAX_TOKEN_BYTES);
        Ok(())
    }
}
