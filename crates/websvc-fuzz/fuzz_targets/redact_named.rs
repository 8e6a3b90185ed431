//! Redaction of texts that a language model named: any text and any names.

#![no_main]

#[path = "../properties/redact_named.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|data: &[u8]| property::check(data));
