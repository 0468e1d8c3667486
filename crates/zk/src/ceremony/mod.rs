//! A ceremony: parameters whose secrets nobody knows, if one contributor to each phase was honest
//! and forgot its own.
//!
//! **Both phases are multi-party.** In phase 1 each contributor multiplies tau, alpha and beta by
//! secrets of its own; the powers that result do not depend on the circuit but for their number.
//! Specialising them to the circuit is public arithmetic that anybody repeats. In phase 2 each
//! contributor multiplies delta. gamma is 1 and nobody's. Somebody who knew all of one phase's
//! secrets (tau, alpha and beta, or delta) could prove anything; one honest contributor in each
//! phase, who need not be the same, prevents it. No random beacon ends the phases: Groth16 stays
//! sound without one (Kohlweiss, Maller, Siim, Volkhov, "Snarky Ceremonies", 2021).
//!
//! **The transcript** has every contribution: the points it made of tau, alpha, beta or delta, and
//! for each a Schnorr proof that the contributor knew its factor, bound to the hash of all that
//! came before, so no contribution can be cut out, moved or copied. Of the powers it has the last
//! state only, which is checked as a whole against the last points ([`Ceremony::verify`], with the
//! checker's own random weights).
//!
//! A contributor does not have to trust the ones before: whoever uses the parameters verifies the
//! transcript, and each contributor looks for the hash of its own contribution in it.

mod check;
mod contribution;
mod file;
mod state;
#[cfg(test)]
mod tests;

pub use state::{Ceremony, Transcript};
