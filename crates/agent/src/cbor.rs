//! Deterministic CBOR (RFC 8949 section 4.2.1): one value, one encoding.
//!
//! Only what the objects of this crate need: integers, byte and text strings, arrays, maps, tags, booleans, null. No floats,
//! no indefinite lengths. The decoder refuses every other encoding of a value: long heads, unsorted or repeated map keys,
//! bytes after the end. Lengths are compared with the bytes that are there before anything is allocated.

mod decode;
mod encode;
mod value;

pub use decode::{Decoder, MapReader};
pub use encode::Encoder;
pub use value::Value;

/// Longest message that is read, in bytes. A document with ML-DSA-65 takes about 14 KB for each rotation.
pub const MAX_BYTES: usize = 1024 * 1024;

/// Deepest nesting of arrays, maps and tags.
pub const MAX_DEPTH: usize = 12;

#[cfg(test)]
mod tests;
