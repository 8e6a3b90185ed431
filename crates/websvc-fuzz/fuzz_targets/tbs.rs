//! The time filter: what is accepted can be printed and read again.

#![no_main]

#[path = "../properties/tbs.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|data: &[u8]| property::check(data));
