//! Runs the properties of the fuzz target on its corpus.

#[path = "../../../websvc-fuzz/properties/documents.rs"]
mod documents;
#[path = "../../../websvc-fuzz/properties/replay.rs"]
mod replay;

#[test]
fn documents_corpus_fulfils_the_properties() {
    replay::replay("documents", documents::check);
}
