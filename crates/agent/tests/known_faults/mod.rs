//! What other implementations of agents' identities, grants and receipts got wrong, one test a
//! fault: each tries it.

mod grants;
mod identities;
mod receipts;
mod scene;
mod verdicts;
