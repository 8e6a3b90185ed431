//! Tests of the fuzz properties with the inputs of the corpus.

#[path = "../../../websvc-fuzz/properties/body.rs"]
mod body;
#[path = "../../../websvc-fuzz/properties/replay.rs"]
mod replay;

use replay::replay;
use websvc_types::{ScrapeOptions, SearchRequest};

#[test]
fn fuzz_corpus_of_search_requests_holds_the_properties() {
    replay("decode_request", body::check::<SearchRequest>);
}

#[test]
fn fuzz_corpus_of_scrape_options_holds_the_properties() {
    replay("scrape_options", body::check::<ScrapeOptions>);
}
