//! Schedules of monitors: any text or cron expression.

#![no_main]

#[path = "../properties/schedule.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|data: &[u8]| property::check(data));
