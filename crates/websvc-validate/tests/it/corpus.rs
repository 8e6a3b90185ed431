//! The inputs of the fuzz targets, checked as the fuzzer does.

#[path = "../../../websvc-fuzz/properties/body.rs"]
mod body;
#[path = "../../../websvc-fuzz/properties/replay.rs"]
mod replay;

use replay::replay;
use websvc_types::{ScrapeOptions, SearchRequest};
use websvc_validate::{check_scrape_options, check_search, read_scrape_options, read_search};

#[test]
fn the_properties_of_searches_hold_for_the_corpus() {
    replay("decode_request", |data| body::check::<SearchRequest, _>(data, read_search, check_search));
}

#[test]
fn the_properties_of_scrape_options_hold_for_the_corpus() {
    replay("scrape_options", |data| {
        body::check::<ScrapeOptions, _>(data, read_scrape_options, check_scrape_options);
    });
}
