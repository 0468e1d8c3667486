//! Chains of agents' grants at the server, over real sockets. Faults found in systems of this kind,
//! by their rows:
//!
//! | | fault | tried by |
//! |---|---|---|
//! | G4 | a chain needs no root, and its links' keys are not compared | `exchange::g04_*` |
//! | G5 | delegation depth is a field that the delegate fills in | `exchange::g05_*` |
//! | G6 | anyone's revocation revokes; an unreadable one counts as none | `ending::g06_*` |
//! | G7 | constraints are stored and never evaluated | `exchange::g07_*` |
//! | G15 | grants and proofs are replayable | `exchange::g15_*` |
mod account;
mod admin;
mod ending;
mod exchange;
pub mod world;
