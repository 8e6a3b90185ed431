//! Tests of schedules: expressions, texts, runs on both sides of clock changes, distances and descriptions.

mod corpus;
mod cron;
mod description;
mod distance;
mod property;
mod runs;
mod text;
mod zone;

use jiff::Timestamp;
use websvc_schedule::{Cron, Schedule, Zone};

fn schedule(cron: &str, zone: &str) -> Schedule {
    let cron: Cron = cron.parse().expect("a cron expression");
    Schedule::new(cron, Zone::from_name(zone).expect("a zone"))
}

fn instant(text: &str) -> Timestamp {
    text.parse().expect("a time")
}
