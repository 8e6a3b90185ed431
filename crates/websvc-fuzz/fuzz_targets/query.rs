//! The query language: every text has a tree that can be printed and read again.

#![no_main]

#[path = "../properties/query.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|data: &[u8]| property::check(data));
