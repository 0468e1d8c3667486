//! Signet on the command line: see `signet --help`.
#![deny(unsafe_code)]

mod config;
fn main() {}
