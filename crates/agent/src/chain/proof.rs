//! Proof of possession: the holder of a chain shows, for one audience and moment, that the last key
//! is his.
//!
//! It is signed by the holder's identity key, or by a further key that this one has certified
//! ([`crate::method`]); the certificate is then part of what is signed.

use crate::cbor::{Decoder, MapReader};
use crate::error::{Refusal, Result, ensure};
use crate::id::Hash;
use crate::method::Method;
use crate::object::{Fields, KeyRef, Object, Signed, Type, read_by, read_hash};
use crate::text::check_text;

/// A proof of possession.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The holder.
    pub by: KeyRef,
    /// The id of the last grant of the chain.
    pub grant: Hash,
    /// For whom.
    pub audience: String,
    /// When, in Unix seconds.
    pub at: u64,
    /// What the verifier asked to be answered; may be empty.
    pub nonce: Vec<u8>,
    /// Where a session's, a device's or a capability's key signed in place of the identity's own:
    /// its certificate.
    pub method: Option<Signed<Method>>,
}

/// What a verifier expects of a proof.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    /// Its own name.
    pub audience: &'a str,
    /// The nonce that it gave, if it did. Without one, a proof can be used again within `max_age`.
    pub nonce: Option<&'a [u8]>,
    /// Seconds.
    pub max_age: u64,
}

impl Proof {
    /// Whether it is for this grant, audience, moment and nonce. The signature is not checked here.
    ///
    /// # Errors
    /// What it is not for.
    pub fn check(
        &self,
        grant: &Hash,
        expected: &Expected<'_>,
        now: u64,
        leeway: u64,
    ) -> Result<()> {
        ensure(self.grant == *grant, Refusal::ProofGrantMismatch)?;
        ensure(
            self.audience == expected.audience,
            Refusal::ProofAudienceMismatch,
        )?;
        let fresh = self.at <= now.saturating_add(leeway)
            && now <= self.at.saturating_add(expected.max_age);
        ensure(fresh, Refusal::ProofTimeMismatch)?;
        let answered = expected.nonce.is_none_or(|nonce| self.nonce == nonce);
        ensure(answered, Refusal::ProofNonceMismatch)
    }
}

impl Object for Proof {
    const TYPE: Type = Type::Proof;

    fn write(&self, out: &mut Fields) {
        out.by(&self.by);
        out.at(3).bytes(&self.grant.0);
        out.at(4).text(&self.audience);
        out.at(5).uint(self.at);
        if !self.nonce.is_empty() {
            out.at(6).bytes(&self.nonce);
        }
        if let Some(method) = &self.method {
            out.at(7).bytes(method.as_bytes());
        }
    }

    fn read(map: &mut MapReader<'_, '_>) -> Result<Self> {
        let proof = Proof {
            by: read_by(map)?,
            grant: map.required(3, read_hash)?,
            audience: map.required(4, Decoder::text)?.to_owned(),
            at: map.required(5, Decoder::uint)?,
            nonce: match map.optional(6, Decoder::bytes)? {
                Some([]) => return Err(Refusal::NotCanonical),
                nonce => nonce.unwrap_or_default().to_vec(),
            },
            method: map.optional(7, |d| Signed::parse(d.bytes()?.to_vec()))?,
        };
        ensure(
            !proof.audience.is_empty() && proof.nonce.len() <= 128,
            Refusal::InvalidValue,
        )?;
        check_text(&proof.audience, 512)?;
        Ok(proof)
    }

    fn by(&self) -> KeyRef {
        self.by
    }

    fn issued(&self) -> Option<u64> {
        // Possession is proven now.
        None
    }
}
