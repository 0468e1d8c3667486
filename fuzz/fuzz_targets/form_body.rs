//! libFuzzer's entry to [`signet_fuzz::targets::form_body`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| signet_fuzz::targets::form_body::run(data));
