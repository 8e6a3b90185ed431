//! Reader of sitemaps and feeds: any file.

#![no_main]

#[path = "../properties/sitemap.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|data: &[u8]| property::check(data));
