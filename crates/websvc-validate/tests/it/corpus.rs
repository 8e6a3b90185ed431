//! Tests of the fuzz properties with the inputs of the corpus.

#[path = "../../../websvc-fuzz/properties/body.rs"]
mod body;
#[path = "../../../websvc-fuzz/properties/replay.rs"]
mod replay;

use replay::replay;
use websvc_types::{ScrapeOptions, SearchRequest};
use websvc_validate::{check_scrape_options, check_search, read_scrape_options, read_search};

#[test]
fn fuzz_corpus_of_search_requests_holds_the_properties() {
    replay("decode_request", |data| body::check::<SearchRequest, _>(data, read_search, check_search));
}

#[test]
fn fuzz_corpus_of_scrape_options_holds_the_properties() {
    replay("scrape_options", |data| {
        body::check::<ScrapeOptions, _>(data, read_scrape_options, check_scrape_options);
    });
}
