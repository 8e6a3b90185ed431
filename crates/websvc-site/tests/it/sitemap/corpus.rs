//! Runs the properties of the fuzz target on its corpus.

#[path = "../../../../websvc-fuzz/properties/replay.rs"]
mod replay;
#[path = "../../../../websvc-fuzz/properties/sitemap.rs"]
mod sitemap;

#[test]
fn sitemap_corpus_fulfils_the_properties() {
    replay::replay("sitemap", sitemap::check);
}
