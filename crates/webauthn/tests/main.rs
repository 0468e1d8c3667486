//! What a relying party must not accept.

mod authenticator;
mod ceremonies;
mod parsers;
