//! The fuzz target's inputs.

#[path = "../../../websvc-fuzz/properties/replay.rs"]
mod replay;
#[path = "../../../websvc-fuzz/properties/sitemap.rs"]
mod sitemap;

#[test]
fn the_corpus_passes() {
    replay::replay("sitemap", sitemap::check);
}
