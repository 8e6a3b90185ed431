//! Readers of documents: any file.

#![no_main]

#[path = "../properties/documents.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|data: &[u8]| property::check(data));
