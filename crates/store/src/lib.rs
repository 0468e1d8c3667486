//! State that outlives a request. See `Store`.
mod model;
pub use model::*;
