//! Benchmarks that stand beside their floor: each figure is measured in the same run as the bare
//! operations that it cannot do without.
//!
//! A ratio says more than a time on a machine that others use too. `wall` is what a client waits;
//! `cpu` is what the server process spends on one request, which wake-ups and neighbours disturb
//! less. The program `signet-bench` runs the parts of [`parts::TABLE`] into one
//! [`report::record::Record`].
#![forbid(unsafe_code)]

pub mod client;
pub mod compact;
pub mod cores;
pub mod echo;
pub mod engine;
pub mod floor;
pub mod heap;
pub mod hot;
pub mod instructions;
pub mod load;
pub mod machine;
pub mod nodes;
pub mod parts;
pub mod postgres;
pub mod process;
pub mod profile;
pub mod progress;
pub mod report;
pub mod run;
