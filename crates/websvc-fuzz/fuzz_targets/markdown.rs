//! Writers of pages and reader of feeds: any page and any feed.

#![no_main]

#[path = "../properties/markdown.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|data: &[u8]| property::check(data));
