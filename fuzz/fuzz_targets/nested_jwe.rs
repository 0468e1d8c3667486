//! libFuzzer's entry to [`signet_fuzz::targets::nested_jwe`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| signet_fuzz::targets::nested_jwe::run(data));
