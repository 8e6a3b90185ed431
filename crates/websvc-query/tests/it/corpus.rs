//! The inputs of the fuzz targets, checked as the fuzzer does.

#[path = "../../../websvc-fuzz/properties/query.rs"]
pub(crate) mod query;
#[path = "../../../websvc-fuzz/properties/replay.rs"]
mod replay;
#[path = "../../../websvc-fuzz/properties/tbs.rs"]
pub(crate) mod tbs;

use replay::replay;

#[test]
fn the_properties_of_queries_hold_for_the_corpus() {
    replay("query", query::check);
}

#[test]
fn the_properties_of_time_filters_hold_for_the_corpus() {
    replay("tbs", tbs::check);
}
