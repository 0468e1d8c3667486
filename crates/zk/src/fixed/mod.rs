//! Sums of multiples of fixed bases, prepared once: by bits, and by full-size numbers.
//!
//! Tables are public. Which entries are read depends on secrets: a prover must not share its
//! processor's caches with somebody it distrusts.

mod bits;
mod image;
mod query;
mod wide;

pub(crate) use image::{Image, Shared, Source};
pub(crate) use query::Query;
pub(crate) use wide::WideBases;

#[cfg(test)]
mod tests;
