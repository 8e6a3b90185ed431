//! Validation of search requests: every body is accepted or rejected.

#![no_main]

#[path = "../properties/body.rs"]
mod property;

use libfuzzer_sys::fuzz_target;
use websvc_types::SearchRequest;
use websvc_validate::{check_search, read_search};

fuzz_target!(|data: &[u8]| property::check::<SearchRequest, _>(data, read_search, check_search));
