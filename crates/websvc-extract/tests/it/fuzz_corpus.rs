//! Replays the corpus of the fuzz target with the properties of the fuzzer.

#[path = "../../../websvc-fuzz/properties/offers.rs"]
mod offers;
#[path = "../../../websvc-fuzz/properties/replay.rs"]
mod replay;

#[test]
fn properties_of_products_and_menus_hold_for_the_corpus() {
    replay::replay("offers", offers::check);
}
