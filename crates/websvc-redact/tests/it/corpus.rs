//! Replays the corpus of the fuzz target with the properties of the fuzzer.

#[path = "../../../websvc-fuzz/properties/redact.rs"]
mod redact;
#[path = "../../../websvc-fuzz/properties/redact_named.rs"]
mod redact_named;
#[path = "../../../websvc-fuzz/properties/replay.rs"]
mod replay;

#[test]
fn properties_of_redaction_hold_for_the_corpus() {
    replay::replay("redact", redact::check);
}

#[test]
fn properties_of_named_texts_hold_for_the_corpus() {
    replay::replay("redact_named", redact_named::check);
}
