//! The redaction of personal data: any text, any way to redact it.

#![no_main]

#[path = "../properties/redact.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|data: &[u8]| property::check(data));
