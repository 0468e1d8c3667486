//! Deterministic CBOR (RFC 8949 section 4.2.1) and the COSE messages made of it (RFC 9052): one
//! value, one encoding.
//!
//! Only what signed objects need: integers, byte and text strings, arrays, maps, tags, booleans,
//! null. No floats, no indefinite lengths. The decoder refuses every other encoding of a value:
//! long heads, unsorted or repeated map keys, bytes after the end. Lengths are compared with the
//! bytes that are there before anything is allocated.
//!
//! What the values mean is the caller's business. A reader that a [`Decoder`] calls may fail for
//! reasons of its own: every method that takes one is generic over an error that [`Error`] can
//! become.
#![forbid(unsafe_code)]

pub mod cose;
mod decode;
mod encode;
mod error;
mod value;

pub use decode::{Decoder, MapReader};
pub use encode::Encoder;
pub use error::{Error, Result};
pub use value::Value;

/// Longest message that is read, in bytes: a document of an agent with ML-DSA-65 takes about 14 KB
/// for each of its rotations.
pub const MAX_BYTES: usize = 1024 * 1024;

/// Deepest nesting of arrays, maps and tags.
pub const MAX_DEPTH: usize = 12;

#[cfg(test)]
mod tests;
