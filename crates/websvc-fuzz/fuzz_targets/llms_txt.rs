//! Writer of llms.txt: any documents of a crawl.

#![no_main]

#[path = "../properties/llms_txt.rs"]
mod property;
// The writer is private to the server, on which the fuzz targets do not depend.
#[path = "../../websvc-server/src/adapter/llms_txt/text.rs"]
mod text;

libfuzzer_sys::fuzz_target!(|data: &[u8]| property::check(data));
