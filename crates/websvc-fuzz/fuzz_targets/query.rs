//! Query language: every text has a tree that is equal after printing and parsing.

#![no_main]

#[path = "../properties/query.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|data: &[u8]| property::check(data));
