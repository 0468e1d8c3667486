//! Fuzz targets: each is a plain function over bytes that must neither panic nor break a rule that
//! it checks.
//!
//! They run under libFuzzer (feature `libfuzzer`, nightly) and under the `smoke` binary (stable). A
//! target that only looked for panics would miss what matters here, so each also states a rule:
//! what is read and written again is the same, what verifies is what the key signed, byte for byte.
#![forbid(unsafe_code)]

pub mod mutate;
pub mod targets;
