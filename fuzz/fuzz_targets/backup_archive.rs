//! libFuzzer's entry to [`signet_fuzz::targets::backup_archive`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| signet_fuzz::targets::backup_archive::run(data));
