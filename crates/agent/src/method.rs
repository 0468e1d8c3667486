//! Verification methods: keys for a session, a device or a capability, certified by the identity's
//! key with a purpose and an end.
//!
//! Such a key proves possession in place of the identity's own ([`crate::chain::proof`]), and does
//! nothing else: it grants nothing, revokes nothing and signs no receipts. It ends with its
//! certificate; with the key that certified it, if that one is given up as compromised; and with a
//! rotation, unless the new document lists the certificate.

use crate::cbor::{Decoder, MapReader};
use crate::chain::capability::Capability;
use crate::error::{Refusal, Result, ensure};
use crate::keys::KeySet;
use crate::object::{Fields, KeyRef, Object, Type, read_by};
use crate::text::check_text;

/// What a further key is for. A key of one purpose is none for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// One session.
    Session,
    /// One device.
    Device,
    /// One capability.
    Capability,
}

impl Purpose {
    /// All of them, in the order of their numbers, which begin at 1.
    pub const ALL: [Purpose; 3] = [Purpose::Session, Purpose::Device, Purpose::Capability];

    /// The number in objects and derivation contexts.
    pub const fn number(self) -> u64 {
        self as u64 + 1
    }

    /// "session", "device", "capability".
    pub const fn name(self) -> &'static str {
        match self {
            Purpose::Session => "session",
            Purpose::Device => "device",
            Purpose::Capability => "capability",
        }
    }

    fn from_number(number: u64) -> Result<Purpose> {
        let found = Self::ALL
            .into_iter()
            .find(|purpose| purpose.number() == number);
        found.ok_or(Refusal::InvalidValue)
    }
}

/// A certified further key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Method {
    /// The identity, and its key that certifies.
    pub by: KeyRef,
    /// What the key is for.
    pub purpose: Purpose,
    /// Which session, device or capability.
    pub name: String,
    /// The key.
    pub keys: KeySet,
    /// The first second, Unix.
    pub not_before: u64,
    /// The last second, Unix.
    pub not_after: u64,
}

impl Object for Method {
    const TYPE: Type = Type::Method;

    fn write(&self, out: &mut Fields) {
        out.by(&self.by);
        out.at(3).uint(self.purpose.number());
        out.at(4).text(&self.name);
        self.keys.write(out.at(5));
        out.at(6).uint(self.not_before);
        out.at(7).uint(self.not_after);
    }

    fn read(map: &mut MapReader<'_, '_>) -> Result<Self> {
        let method = Method {
            by: read_by(map)?,
            purpose: Purpose::from_number(map.required(3, Decoder::uint)?)?,
            name: map.required(4, Decoder::text)?.to_owned(),
            keys: map.required(5, KeySet::read)?,
            not_before: map.required(6, Decoder::uint)?,
            not_after: map.required(7, Decoder::uint)?,
        };
        check_text(&method.name, 256)?;
        ensure(method.not_before <= method.not_after, Refusal::InvalidValue)?;
        Ok(method)
    }

    fn by(&self) -> KeyRef {
        self.by
    }

    fn issued(&self) -> Option<u64> {
        // See `VerifiedDocument::key_of_certificate`.
        None
    }
}

impl Method {
    /// Whether its key may prove possession for a use of this capability at this moment; `leeway`
    /// seconds of skew are forgiven at the beginning. A session's and a device's key may for every
    /// capability that was granted; a capability's key for what its name covers, and for nothing if
    /// its name is no capability.
    ///
    /// # Errors
    /// [`Refusal::MethodRefused`], [`Refusal::NotYetValid`], [`Refusal::Expired`].
    pub fn check_use(&self, capability: &Capability, now: u64, leeway: u64) -> Result<()> {
        let fits = match self.purpose {
            Purpose::Session | Purpose::Device => true,
            Purpose::Capability => self
                .name
                .parse::<Capability>()
                .is_ok_and(|own| own.covers(capability)),
        };
        ensure(fits, Refusal::MethodRefused)?;
        let begun = now.saturating_add(leeway) >= self.not_before;
        ensure(begun, Refusal::NotYetValid)?;
        ensure(now <= self.not_after, Refusal::Expired)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::create;
    use crate::keys::{SigningKeys, Suite};
    use crate::object::Signed;

    #[test]
    fn a_method_counts_for_its_purpose_and_time_and_ends_with_a_compromised_key() {
        let alice = create("alice", Suite::Ed25519, 100).expect("created");
        let session = SigningKeys::generate(Suite::Ed25519).expect("generated");
        let method = Method {
            by: alice.document.by(),
            purpose: Purpose::Session,
            name: "laptop".into(),
            keys: session.set().clone(),
            not_before: 100,
            not_after: 200,
        };
        let signed = Signed::sign(&method, &alice.document.signer(&alice.keys)).expect("signed");
        let keys = |purpose, now| {
            signed
                .keys_for(purpose, &alice.document, now)
                .map(|k| k.set().clone())
        };
        assert_eq!(keys(Purpose::Session, 100), Ok(session.set().clone()));
        assert_eq!(keys(Purpose::Device, 100), Err(Refusal::MethodRefused));
        assert_eq!(keys(Purpose::Session, 99), Err(Refusal::NotYetValid));
        assert_eq!(keys(Purpose::Session, 201), Err(Refusal::Expired));
        let with = alice
            .document
            .amend(&alice.keys, |d| d.methods.push(signed.clone()))
            .expect("amended");
        let after = SigningKeys::generate(Suite::Ed25519)
            .expect("generated")
            .set()
            .commitment();
        let kept = with
            .rotate(&alice.keys, &alice.next, after, "", false, 150)
            .expect("rotated");
        assert_eq!(kept.body().methods.len(), 1);
        let lost = with
            .rotate(&alice.keys, &alice.next, after, "", true, 150)
            .expect("rotated");
        assert!(lost.body().methods.is_empty());
        assert_eq!(
            signed.keys_for(Purpose::Session, &lost, 160).err(),
            Some(Refusal::KeyCompromised)
        );
    }
}
