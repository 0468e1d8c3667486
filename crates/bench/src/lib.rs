//! Benchmarks that stand beside their floor: each figure is measured in the same run as the bare
//! operations that it cannot do without.
//!
//! A ratio says more than a time on a machine that others use too. `wall` is what a client waits;
//! `cpu` is what the server process spends on one request, which wake-ups and neighbours disturb
//! less.
#![forbid(unsafe_code)]

pub mod client;
pub mod compact;
pub mod echo;
pub mod flow;
pub mod load;
pub mod nodes;
pub mod postgres;
pub mod process;
pub mod report;
pub mod rotate;
