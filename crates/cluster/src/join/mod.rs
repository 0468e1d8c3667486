//! Becoming a member, and ceasing to be one.
//!
//! A member makes an invitation: a row of the store, and a [`Token`] that names it, its secret,
//! where the cluster listens and whose keys answer there. A newcomer connects, sees by the pinned
//! key that it talks to the cluster, and hands over the secret and its public keys; any member may
//! answer, and one conditional write decides who used the invitation. The answer has the list of
//! members, and what the rooms above give to a new node, sealed to its ML-KEM-768 key.
//!
//! Who was let in may ask again with the same keys until the invitation expires, as it will if the
//! connection was lost before the answer; for everybody else the invitation is used.
//!
//! Names are decided by the store, too. An invitation is a secret until it is used: who has it
//! becomes a member, and a member is trusted.
mod answer;
mod host;
mod newcomer;
mod rows;
mod token;

pub use host::{ClusterError, Host, HostParts, Provide};
pub use newcomer::{Ask, ByStream, JoinError, Newcomer, Welcome, join};
pub use rows::cluster_of;
pub use token::{DEFAULT_TTL, MAX_TTL, Token, TokenError};

use crate::member::{MAX_ADDRESSES, MAX_TEXT_BYTES, is_address};

/// What a node says of itself.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Description {
    /// Where its cluster listener can be reached, `host:port`, tried in turn.
    pub addresses: Vec<String>,
    /// Its public listener's, `https://host:port`.
    pub url: String,
    /// Where it stands; may be empty.
    pub zone: String,
    /// Whether it relays for others.
    pub hub: bool,
}

impl Description {
    /// Whether others can use it.
    fn is_sound(&self) -> bool {
        let fits = |text: &str| text.len() <= MAX_TEXT_BYTES && !text.contains(char::is_control);
        self.addresses.len() <= MAX_ADDRESSES
            && self.addresses.iter().all(|a| is_address(a))
            && fits(&self.url)
            && fits(&self.zone)
    }
}

/// Names a cluster: random, drawn when the first node made it one.
pub type ClusterId = [u8; 16];
