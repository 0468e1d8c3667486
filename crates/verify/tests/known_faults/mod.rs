//! Faults that published validators have: a test for each, under its number (`v01` to `v18`).
//! `v14`'s other half, that a refusal allocates nothing, is in `allocation.rs`, and the speed of
//! `v04` in the load bench.

mod cache;
mod fetching;
mod form;
mod keys;
mod kinds;
mod refusals;
mod sharing;
