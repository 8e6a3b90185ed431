//! Validation of scrape options: every body is accepted or rejected.

#![no_main]

#[path = "../properties/body.rs"]
mod property;

use libfuzzer_sys::fuzz_target;
use websvc_types::ScrapeOptions;
use websvc_validate::{check_scrape_options, read_scrape_options};

fuzz_target!(|data: &[u8]| property::check::<ScrapeOptions, _>(
    data,
    read_scrape_options,
    check_scrape_options
));
