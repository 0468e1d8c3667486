//! What a holder hands to a verifier in one piece: a chain, the proof that he holds its last key,
//! and what belongs to them.
//!
//! One CBOR array, `presentation` in `agent.cddl`; as text, base64url of it. Reading it verifies
//! the documents, for they prove themselves, and nothing else: [`crate::chain::Check`] does that,
//! with a root that the verifier names.

use crate::base64url;
use crate::cbor::{Decoder, Encoder};
use crate::chain::MAX_LINKS;
use crate::chain::grant::Grant;
use crate::chain::proof::Proof;
use crate::declaration::Declaration;
use crate::error::{Refusal, Result, ensure};
use crate::identity::VerifiedDocument;
use crate::lineage::{Birth, MAX_GENERATIONS};
use crate::object::{Object, Signed};

/// The version that is written and read.
const VERSION: u64 = 1;

/// Most documents, and most declarations, of one presentation.
pub const MAX_COMPANIONS: usize = 32;

/// A chain, shown.
#[derive(Debug, Clone)]
pub struct Presentation {
    /// The grants, the root's first; one at least.
    pub grants: Vec<Signed<Grant>>,
    /// The holder's proof of possession.
    pub proof: Signed<Proof>,
    /// Documents of agents of the chain, each verified in itself.
    pub documents: Vec<VerifiedDocument>,
    /// Declarations of refusal by agents of the chain.
    pub declarations: Vec<Signed<Declaration>>,
    /// The holder's line of descent, the oldest birth first.
    pub births: Vec<Signed<Birth>>,
}

impl Presentation {
    /// Its one encoding.
    pub fn encode(&self) -> Vec<u8> {
        fn list<T: Object>(out: &mut Encoder, items: &[Signed<T>]) {
            out.array(items.len());
            for item in items {
                out.bytes(item.as_bytes());
            }
        }
        let mut out = Encoder::with_capacity(2048);
        out.array(6).uint(VERSION);
        list(&mut out, &self.grants);
        out.bytes(self.proof.as_bytes());
        out.array(self.documents.len());
        for document in &self.documents {
            out.bytes(document.signed().as_bytes());
        }
        list(&mut out, &self.declarations);
        list(&mut out, &self.births);
        out.finish()
    }

    /// Base64url of [`encode`](Self::encode).
    pub fn to_text(&self) -> String {
        base64url::encode(&self.encode())
    }

    /// Reads one. Its documents are verified, the rest is only consistent.
    ///
    /// # Errors
    /// [`Refusal::Malformed`], [`Refusal::WrongType`], [`Refusal::TooLarge`] and what the objects
    /// refuse; [`Refusal::EmptyChain`] without a grant.
    pub fn parse(data: &[u8]) -> Result<Presentation> {
        fn list<T: Object>(d: &mut Decoder<'_>, most: usize) -> Result<Vec<Signed<T>>> {
            d.list(most, |d| Signed::parse(d.bytes()?.to_vec()))
        }
        let presentation = Decoder::whole(data, |d| {
            d.tuple(6, |d| {
                ensure(d.uint()? == VERSION, Refusal::WrongType)?;
                Ok::<_, Refusal>(Presentation {
                    grants: list(d, MAX_LINKS)?,
                    proof: Signed::parse(d.bytes()?.to_vec())?,
                    documents: d.list(MAX_COMPANIONS, |d| {
                        VerifiedDocument::parse(d.bytes()?.to_vec())
                    })?,
                    declarations: list(d, MAX_COMPANIONS)?,
                    births: list(d, MAX_GENERATIONS)?,
                })
            })
        })?;
        ensure(!presentation.grants.is_empty(), Refusal::EmptyChain)?;
        Ok(presentation)
    }

    /// Reads the text form.
    ///
    /// # Errors
    /// As [`parse`](Self::parse); [`Refusal::Malformed`] for what is no canonical base64url.
    pub fn from_text(text: &str) -> Result<Presentation> {
        Self::parse(&base64url::decode(text)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::capability::Capability;
    use crate::identity::{Created, create};
    use crate::keys::Suite;
    use proptest::prelude::*;

    fn presentation() -> Presentation {
        let make = |name| create(name, Suite::Ed25519, 1).expect("created");
        let (alice, bob): (Created, Created) = (make("alice"), make("bob"));
        let capability: Capability = "read:calendar".parse().expect("capability");
        let body = Grant::new(alice.document.by(), &bob.document, vec![capability], 10, 60);
        let grant = Signed::sign(&body, &alice.document.signer(&alice.keys)).expect("signed");
        let proof = Proof {
            by: bob.document.by(),
            grant: grant.id(),
            audience: "https://as.example".into(),
            at: 11,
            nonce: vec![7; 48],
            method: None,
        };
        Presentation {
            proof: Signed::sign(&proof, &bob.document.signer(&bob.keys)).expect("signed"),
            grants: vec![grant],
            documents: vec![bob.document],
            declarations: Vec::new(),
            births: Vec::new(),
        }
    }

    #[test]
    fn what_is_written_is_what_is_read() {
        let shown = presentation();
        let read = Presentation::from_text(&shown.to_text()).expect("read");
        assert_eq!(read.grants, shown.grants);
        assert_eq!(read.proof, shown.proof);
        assert_eq!(read.documents[0].id(), shown.documents[0].id());
        assert_eq!(read.encode(), shown.encode());
    }

    #[test]
    fn an_empty_chain_another_version_and_trailing_bytes_are_refused() {
        let mut shown = presentation();
        let good = shown.encode();
        let mut later = good.clone();
        later[1] = 2;
        assert_eq!(Presentation::parse(&later).err(), Some(Refusal::WrongType));
        let mut longer = good.clone();
        longer.push(0);
        assert!(Presentation::parse(&longer).is_err());
        assert!(Presentation::parse(&good[..good.len() - 1]).is_err());
        shown.grants.clear();
        assert_eq!(
            Presentation::parse(&shown.encode()).err(),
            Some(Refusal::EmptyChain)
        );
    }

    proptest! {
        #[test]
        fn reading_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Presentation::parse(&bytes);
        }
        #[test]
        fn a_damaged_presentation_never_panics(at in 0..400_usize, byte: u8) {
            let mut bytes = presentation().encode();
            let at = at % bytes.len();
            bytes[at] = byte;
            let _ = Presentation::parse(&bytes);
        }
    }
}
