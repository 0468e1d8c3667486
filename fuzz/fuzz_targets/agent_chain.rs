//! libFuzzer's entry to [`signet_fuzz::targets::agent_chain`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| signet_fuzz::targets::agent_chain::run(data));
