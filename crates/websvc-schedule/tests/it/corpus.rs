//! Replays the corpus of the fuzz target with the properties of the fuzzer.

#[path = "../../../websvc-fuzz/properties/replay.rs"]
mod replay;
#[path = "../../../websvc-fuzz/properties/schedule.rs"]
mod schedule;

#[test]
fn properties_of_schedules_hold_for_the_corpus() {
    replay::replay("schedule", schedule::check);
}
