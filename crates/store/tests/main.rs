//! Behaviour of the store: the contract that each engine passes, crashes, revocations.

mod contract;
mod crash;
mod embedded;
mod full_disk;
mod moving;
mod postgres;
mod revocation;
mod rules;
mod schema;
mod server;
