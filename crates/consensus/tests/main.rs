//! Behaviour of the replicated store: the contract of every engine, faults, growth, recovery.

mod contract;
mod faults;
mod formats;
mod growth;
mod history;
mod recovery;
#[path = "../../store/tests/rules.rs"]
mod rules;
mod world;
