//! Design of a page: any report of its styles and any answer of a model.

#![no_main]

#[path = "../properties/branding.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|data: &[u8]| property::check(data));
