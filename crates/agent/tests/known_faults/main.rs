//! What other implementations of agents' identities, grants and receipts got wrong, one test a fault: each tries it.

#[path = "../common/mod.rs"]
mod common;
mod grants;
mod identities;
mod receipts;
mod scene;
mod verdicts;
