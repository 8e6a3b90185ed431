//! Tests of schedules: expressions, texts, runs on both sides of clock changes, distances and descriptions.

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
    Schedule::new(cron.parse::<Cron>().unwrap(), Zone::from_name(zone).unwrap())
}

fn instant(text: &str) -> Timestamp {
    text.parse().unwrap()
}
