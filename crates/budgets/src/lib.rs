//! How much a caller may cause ([`budgets`]), and how often somebody may guess ([`attempts`]).
#![forbid(unsafe_code)]

pub mod attempts;
pub mod budgets;
