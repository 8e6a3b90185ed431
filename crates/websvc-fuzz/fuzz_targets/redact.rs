//! Redaction of personal data: any text with any options.

#![no_main]

#[path = "../properties/redact.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|data: &[u8]| property::check(data));
