//! Every attack of the table in the crate's documentation: a token that is accepted, one mutation,
//! a refusal.

mod binding;
mod claims;
mod form;
mod header;
mod keys;
mod kinds;
mod signature;
mod table;
mod wycheproof;
