//! What is issued: tokens in their formats, codes and sealed values, sessions, and what they say.
pub mod access_token;
pub mod agent_grants;
pub mod claims;
pub mod format;
pub mod issue;
pub(crate) mod names;
pub mod sealed;
pub mod session;
pub mod token_facts;
