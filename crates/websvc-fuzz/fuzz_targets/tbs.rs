//! Time filter: a valid filter is equal after printing and parsing.

#![no_main]

#[path = "../properties/tbs.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|data: &[u8]| property::check(data));
