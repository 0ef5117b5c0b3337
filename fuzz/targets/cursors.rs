#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| tideline_fuzz::cursors(input));
