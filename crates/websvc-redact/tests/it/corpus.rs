//! The inputs of the fuzz target, checked as the fuzzer does.

#[path = "../../../websvc-fuzz/properties/redact.rs"]
mod redact;
#[path = "../../../websvc-fuzz/properties/replay.rs"]
mod replay;

#[test]
fn the_properties_of_redaction_hold_for_the_corpus() {
    replay::replay("redact", redact::check);
}
