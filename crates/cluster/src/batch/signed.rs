//! A batch with its signatures.
use super::{Batch, Keys, Verdict};
use signet_cbor::{Decoder, Encoder, Error, Result};
use signet_crypto::{KeyError, hash::sha256};
use std::sync::Arc;

/// Longest batch that is read, in bytes, with its signatures.
pub const MAX_BATCH_BYTES: usize = 768 * 1024;

/// A batch as it travels. Its signatures hold only where [`verify`](Self::verify) said so.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signed {
    batch: Batch,
    bytes: Arc<[u8]>,
}

impl Signed {
    /// Signs a batch.
    ///
    /// # Errors
    /// If the library fails.
    pub fn sign(batch: Batch, keys: &dyn Keys) -> std::result::Result<Signed, KeyError> {
        let body = batch.body();
        let signature = keys.sign(&body)?;
        let mut out = Encoder::with_capacity(body.len() + signature.len() + 16);
        out.array(2).bytes(&body).bytes(&signature);
        Ok(Signed {
            batch,
            bytes: out.finish().into(),
        })
    }

    /// Reads a batch, without believing it.
    ///
    /// # Errors
    /// [`Error::TooLarge`] beyond [`MAX_BATCH_BYTES`], [`Error::NotCanonical`] for another
    /// encoding, [`Error::Malformed`] for what is no batch.
    pub fn from_bytes(bytes: &[u8]) -> Result<Signed> {
        let (body, _) = parts(bytes)?;
        let batch = Decoder::whole(body, Batch::read)?;
        Ok(Signed {
            batch,
            bytes: bytes.into(),
        })
    }

    /// What is signed.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// What is signed.
    pub fn into_batch(self) -> Batch {
        self.batch
    }

    /// As it travels.
    pub fn bytes(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    /// What its signatures are worth.
    pub fn verify(&self, keys: &dyn Keys) -> Verdict {
        match parts(&self.bytes) {
            Ok((body, signature)) => keys.verify(
                &self.batch.id.stream.origin,
                &self.batch.signer,
                body,
                signature,
            ),
            Err(_) => Verdict::Forged,
        }
    }

    /// Half of SHA-256 of its bytes: the same on every node that holds it.
    pub fn hash(&self) -> u128 {
        let hash = sha256(&self.bytes);
        hash[..16]
            .iter()
            .fold(0, |number, byte| number << 8 | u128::from(*byte))
    }
}

fn parts(bytes: &[u8]) -> Result<(&[u8], &[u8])> {
    if bytes.len() > MAX_BATCH_BYTES {
        return Err(Error::TooLarge);
    }
    Decoder::whole(bytes, |d| d.tuple(2, |d| Ok((d.bytes()?, d.bytes()?))))
}
