//! Replays the corpus of the fuzz target with the properties of the fuzzer.

#[path = "../../../websvc-fuzz/properties/markdown.rs"]
mod markdown;
#[path = "../../../websvc-fuzz/properties/offers.rs"]
mod offers;
#[path = "../../../websvc-fuzz/properties/replay.rs"]
mod replay;
#[path = "../../../websvc-fuzz/properties/structured_data.rs"]
mod structured_data;

#[test]
fn properties_of_markdown_hold_for_the_corpus() {
    replay::replay("markdown", markdown::check);
}

#[test]
fn properties_of_products_and_menus_hold_for_the_corpus() {
    replay::replay("offers", offers::check);
}

#[test]
fn properties_of_structured_data_hold_for_the_corpus() {
    replay::replay("structured_data", structured_data::check);
}
