//! What a relying party must not believe.

mod authenticator;
mod ceremonies;
mod parsers;
