//! Readers of structured data, products and menus: any page.

#![no_main]

#[path = "../properties/offers.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|data: &[u8]| property::check(data));
