//! Signing keys: their life, and what the hot path sees of them.
//!
//! A key is made ahead of its use and published at once, as the standby of its algorithm; becomes
//! the active one on a schedule or by command; and stays published after its last signature until
//! the last token that it signed has expired. So a client that caches the JWKS finds every key
//! there before the first token that needs it, and as long as any does.
//!
//! A key serves one token format: JWT keys are in the JWKS, the public keys of compact tokens in a
//! document of their own, and a symmetric key in neither. All have the same life.
//!
//! - [`KeySet`] is the immutable view of one snapshot.
//! - [`SigningKeys`] keeps the rows, private halves sealed, and says what has changed of them.
//! - [`Published`] is what a node has in memory of them; [`KeySet`]s are made of it.
//! - [`SealingFile`] holds the keys that seal: in the data directory, not in the store that they
//!   protect.
mod error;
mod keeper;
mod kind;
mod material;
mod plan;
mod published;
mod record;
mod rest;
mod sealing;
mod set;
mod spare;

pub use error::KeysError;
pub use keeper::{KeyInfo, Moment, SigningKeys, longest_token};
pub use kind::KeyKind;
pub use plan::Policy;
pub use published::Published;
pub use record::Phase;
pub use rest::open_all;
pub use sealing::{SEALING_FILE, SealingError, SealingFile, ShareSealingKeys};
pub use set::{Builder, KeySet};
pub use spare::keep_spare_keys;
