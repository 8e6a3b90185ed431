//! Reader of structured data: any page.

#![no_main]

#[path = "../properties/structured_data.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|data: &[u8]| property::check(data));
