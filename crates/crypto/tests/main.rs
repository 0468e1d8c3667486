//! Behaviour of the algorithms: vectors and properties.

mod ml_dsa;
mod properties;
mod wycheproof;
