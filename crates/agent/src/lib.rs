//! Agent identities, grants that only narrow, receipts that nobody can rewrite. Usable alone.
//!
//! - [`identity`]: documents that certify themselves; the id stays the same through rotation.
//!   [`file`](mod@file) keeps the private half under a passphrase, [`derive`](mod@derive) makes
//!   further keys, [`method`] certifies them.
//! - [`grant`] and [`chain`]: who lets whom do what, checked from a root that the verifier names to
//!   a holder who proves ([`mod@proof`]) that he is the one; [`constraint`]s are all evaluated,
//!   [`revocation`]s and [`declaration`]s enforced.
//! - [`receipt`] and [`log`](mod@log): what was done, chained by hash, or in a Merkle tree with
//!   signed checkpoints.
//! - [`lineage`], [`continuity`], [`competence`]: where an agent comes from, whether it was there,
//!   how well it does.
//!
//! Every object has one canonical binary form ([`cbor`], [`cose`], `agent.cddl`), of which every
//! field is signed, and a transcription for people ([`json`]). An id is recomputed from what it
//! names; nothing is believed because a file says so. A [`object::Signed`] is read and not
//! verified; its `verify` methods and [`identity::VerifiedDocument`] are where belief begins.
//!
//! Time and context are handed in; only [`file`](mod@file) touches a disk. Which algorithm signs,
//! the signer's key decides. What this crate leaves to others: how documents and revocations
//! travel, and who counts uses.
//!
//! `examples/delegation.rs` issues a chain, presents it and verifies it.
#![forbid(unsafe_code)]

pub mod anchor;
pub mod attestation;
pub mod base64url;
pub mod chain;
pub mod continuity;
pub mod cose;
pub mod declaration;
pub mod derive;
pub mod error;
pub mod file;
pub mod id;
pub mod identity;
pub mod json;
pub mod keys;
pub mod lineage;
pub mod log;
pub mod method;
pub mod object;
pub mod receipt;
pub mod revocation;
pub mod text;
pub mod text_map;

pub use chain::{capability, constraint, grant, network, presentation, proof};
pub use error::{Refusal, Result};
pub use id::{AgentId, Hash};
pub use keys::{Alg, KeySet, SigningKeys, Suite, VerifyingKeys};
pub use receipt::{competence, witness};
/// The encoding of every object: its [`Decoder`](cbor::Decoder) and [`Encoder`](cbor::Encoder) are
/// in [`object::Object`].
pub use signet_cbor as cbor;
