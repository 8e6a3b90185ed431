//! Validation of search requests: every body is accepted or rejected.

#![no_main]

#[path = "../properties/body.rs"]
mod property;

use libfuzzer_sys::fuzz_target;
use websvc_types::SearchRequest;

fuzz_target!(|data: &[u8]| property::check::<SearchRequest>(data));
