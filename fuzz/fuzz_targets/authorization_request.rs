//! libFuzzer's entry to [`signet_fuzz::targets::authorization_request`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| signet_fuzz::targets::authorization_request::run(data));
