//! Which of an identity's keys may have signed what.
//!
//! The current key may sign anything. A retired one speaks only for what was issued while it was
//! current, and for nothing that is about now: possession, revocations, declarations of refusal,
//! checkpoints. A key that was given up as compromised speaks for nothing but what a log had taken
//! in before, for its thief dates objects as he likes.

use super::{Epoch, VerifiedDocument};
use crate::anchor::Anchors;
use crate::error::{Refusal, Result, ensure};
use crate::id::{AgentId, Hash};
use crate::keys::VerifyingKeys;
use crate::method::{Method, Purpose};
use crate::object::{Object, Signed};

/// The outcome of one of an identity's keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyState {
    /// Its number, which is the number of rotations before it.
    pub number: u64,
    /// When it began, Unix seconds.
    pub from: u64,
    /// When it was rotated out; `None` for the current key.
    pub retired: Option<u64>,
    /// Since when it is not to be believed; `None`: it was not given up.
    pub compromised: Option<u64>,
}

/// Of these documents, the agent's newest: the one with the most rotations.
pub fn newest<'a>(
    documents: impl IntoIterator<Item = &'a VerifiedDocument>,
    agent: AgentId,
) -> Option<&'a VerifiedDocument> {
    documents
        .into_iter()
        .filter(|document| document.id() == agent)
        .max_by_key(|document| document.by().key)
}

impl VerifiedDocument {
    /// The outcome of each key, the first one's state first.
    pub fn key_states(&self) -> Vec<KeyState> {
        let mut from = self.body().created;
        let states = (0_u64..).zip(&self.epochs).map(|(number, epoch)| {
            let state = KeyState {
                number,
                from,
                retired: epoch.retired,
                compromised: epoch.compromised,
            };
            from = epoch.retired.unwrap_or(from);
            state
        });
        states.collect()
    }

    /// Whether no step of the history is of the future; `leeway` seconds of skew are forgiven.
    /// Until its moment has come, a step would let the key before it speak on, and bar every other
    /// step.
    ///
    /// # Errors
    /// [`Refusal::NotYetValid`].
    pub fn check_time(&self, now: u64, leeway: u64) -> Result<()> {
        let last = self.body().rotations.last();
        let begun = last.is_none_or(|step| step.body().at <= now.saturating_add(leeway));
        ensure(begun, Refusal::NotYetValid)
    }

    fn epoch(&self, number: u64) -> Result<&Epoch> {
        let epoch = usize::try_from(number)
            .ok()
            .and_then(|number| self.epochs.get(number));
        epoch.ok_or(Refusal::UnknownKey)
    }

    /// The key of a number, to verify an object with. `issued`: [`Object::issued`], when the object
    /// says that it was made, Unix seconds; `None` if it is about now.
    ///
    /// That an object is dated before a key began is not asked: the key's holder may date it later
    /// as well.
    ///
    /// # Errors
    /// [`Refusal::UnknownKey`]; [`Refusal::KeyCompromised`] for a key that was given up and
    /// [`Refusal::RetiredKey`] for what a retired one may not say any more, unless a log had taken
    /// the object in before.
    pub fn key_for(
        &self,
        number: u64,
        object: &Hash,
        issued: Option<u64>,
        anchors: &Anchors,
    ) -> Result<&VerifyingKeys> {
        let epoch = self.epoch(number)?;
        if let Some(since) = epoch.compromised {
            ensure(anchors.before(object, since), Refusal::KeyCompromised)?;
        }
        if let Some(retired) = epoch.retired {
            // The date is the signer's word: enough, unless the verifier wants a log's.
            let dated = issued.is_some_and(|at| at <= retired) && !anchors.are_demanded();
            ensure(
                dated || anchors.before(object, retired),
                Refusal::RetiredKey,
            )?;
        }
        Ok(&epoch.keys)
    }

    /// The key that has to have signed this certificate: the current one, or an earlier one if this
    /// document lists the certificate, which the current key has signed then.
    ///
    /// # Errors
    /// As [`key_for`](Self::key_for).
    pub fn key_of_certificate(&self, method: &Signed<Method>) -> Result<&VerifyingKeys> {
        let number = method.body().by.key;
        let listed = &self.body().methods;
        if listed.iter().any(|known| known.id() == method.id()) {
            let epoch = self.epoch(number)?;
            ensure(epoch.compromised.is_none(), Refusal::KeyCompromised)?;
            return Ok(&epoch.keys);
        }
        self.key_for(number, &method.id(), None, &Anchors::none())
    }
}

impl<T: Object> Signed<T> {
    /// Checks that the agent of this document signed, with the key that the object names and while
    /// that key might: see [`VerifiedDocument::key_for`].
    ///
    /// # Errors
    /// [`Refusal::WrongSigner`] for a document of another agent, [`Refusal::UnknownKey`],
    /// [`Refusal::RetiredKey`] and [`Refusal::KeyCompromised`] unless `anchors` has the object from
    /// before, and as [`verify`](Self::verify).
    pub fn verify_by(&self, document: &VerifiedDocument, anchors: &Anchors) -> Result<()> {
        let by = self.body().by();
        ensure(by.agent == document.id(), Refusal::WrongSigner)?;
        self.verify(document.key_for(by.key, &self.id(), self.body().issued(), anchors)?)
    }
}

impl Signed<Method> {
    /// Checks that this identity certified the key.
    ///
    /// # Errors
    /// [`Refusal::WrongSigner`], and as [`VerifiedDocument::key_of_certificate`] and
    /// [`Signed::verify`].
    pub fn verify_certificate(&self, document: &VerifiedDocument) -> Result<()> {
        ensure(self.body().by.agent == document.id(), Refusal::WrongSigner)?;
        self.verify(document.key_of_certificate(self)?)
    }

    /// The keys, if this identity certified them for this purpose and moment.
    ///
    /// # Errors
    /// [`Refusal::MethodRefused`] for another purpose, [`Refusal::NotYetValid`],
    /// [`Refusal::Expired`], and as [`verify_certificate`](Self::verify_certificate).
    pub fn keys_for(
        &self,
        purpose: Purpose,
        document: &VerifiedDocument,
        now: u64,
    ) -> Result<VerifyingKeys> {
        self.verify_certificate(document)?;
        let body = self.body();
        ensure(body.purpose == purpose, Refusal::MethodRefused)?;
        ensure(now >= body.not_before, Refusal::NotYetValid)?;
        ensure(now <= body.not_after, Refusal::Expired)?;
        VerifyingKeys::new(&body.keys)
    }
}
