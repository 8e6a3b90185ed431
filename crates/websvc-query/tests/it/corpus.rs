//! Runs the properties of the fuzz targets on their corpus.

#[path = "../../../websvc-fuzz/properties/query.rs"]
pub(crate) mod query;
#[path = "../../../websvc-fuzz/properties/replay.rs"]
mod replay;
#[path = "../../../websvc-fuzz/properties/tbs.rs"]
pub(crate) mod tbs;

use replay::replay;

#[test]
fn query_corpus_fulfils_the_properties() {
    replay("query", query::check);
}

#[test]
fn tbs_corpus_fulfils_the_properties() {
    replay("tbs", tbs::check);
}
