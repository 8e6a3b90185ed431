//! Replays the corpus of the fuzz target with the properties of the fuzzer.

#[path = "../../../websvc-fuzz/properties/branding.rs"]
mod branding;
#[path = "../../../websvc-fuzz/properties/replay.rs"]
mod replay;

#[test]
fn properties_of_designs_hold_for_the_corpus() {
    replay::replay("branding", branding::check);
}
