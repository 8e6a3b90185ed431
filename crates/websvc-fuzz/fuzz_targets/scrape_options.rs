//! Validation of scrape options: every body is accepted or rejected.

#![no_main]

#[path = "../properties/body.rs"]
mod property;

use libfuzzer_sys::fuzz_target;
use websvc_types::ScrapeOptions;

fuzz_target!(|data: &[u8]| property::check::<ScrapeOptions>(data));
