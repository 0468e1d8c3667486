//! Behaviour of the store over Cassandra: the contract of every engine, and faults.

mod contract;
mod faults;
#[path = "../../store/tests/rules.rs"]
mod rules;
mod server;
