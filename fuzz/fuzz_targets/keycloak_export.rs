//! libFuzzer's entry to [`signet_fuzz::targets::keycloak_export`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| signet_fuzz::targets::keycloak_export::run(data));
