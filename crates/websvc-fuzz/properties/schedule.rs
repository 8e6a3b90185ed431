//! Properties of the schedules of monitors for any text.

use jiff::Timestamp;
use websvc_schedule::{Cron, Schedule, Zone};

/// Checks that a schedule of a text or a cron expression is equal after it is printed and parsed, that it can be
/// described, that its runs are in order, and that each run matches the expression. The first line is the schedule, the
/// second a time zone.
pub(crate) fn check(data: &[u8]) {
    let input = String::from_utf8_lossy(data);
    let mut lines = input.lines();
    let text = lines.next().unwrap_or_default();
    let zone = lines.next().and_then(|name| match Zone::from_name(name) {
        Ok(zone) => Some(zone),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            None
        }
    });
    match Cron::from_text(text) {
        Ok(cron) => {
            assert_eq!(cron.as_str().parse::<Cron>().as_ref(), Ok(&cron), "{text:?}");
            check_cron(cron, zone.clone());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    match text.parse::<Cron>() {
        Ok(cron) => check_cron(cron, zone),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn check_cron(cron: Cron, zone: Option<Zone>) {
    assert!(!cron.describe().is_empty());
    let zone = zone.unwrap_or_else(|| Zone::from_name("UTC").expect("UTC is a time zone"));
    let schedule = Schedule::new(cron, zone);
    let mut last = Timestamp::UNIX_EPOCH;
    for run in schedule.runs_after(last).take(3) {
        assert!(run > last, "{run} is not after {last}");
        assert_eq!(run.as_second() % 60, 0, "{run} is not at a minute");
        last = run;
    }
}
