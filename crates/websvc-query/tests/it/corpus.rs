//! The inputs of the fuzz targets, checked as the fuzzer does.

#[path = "../../../websvc-fuzz/properties/corpus.rs"]
mod corpus;
#[path = "../../../websvc-fuzz/properties/query.rs"]
pub(crate) mod query;
#[path = "../../../websvc-fuzz/properties/tbs.rs"]
pub(crate) mod tbs;

#[test]
fn the_properties_of_queries_hold_for_the_corpus() {
    corpus::replay("query", query::check);
}

#[test]
fn the_properties_of_time_filters_hold_for_the_corpus() {
    corpus::replay("tbs", tbs::check);
}
