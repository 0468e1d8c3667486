//! libFuzzer's entry to [`signet_fuzz::targets::gate_cookie`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| signet_fuzz::targets::gate_cookie::run(data));
