//! Behaviour of the encodings: strictness, and what holds for every input.
#![allow(
    unreachable_pub,
    reason = "a program of tests: nothing outside reaches into it"
)]

mod json_strictness;
mod properties;
