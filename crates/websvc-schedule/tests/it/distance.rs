//! Minimum distance of runs, schedules that never run, and the rate of runs.

use std::time::Duration;

use super::{instant, schedule};

const NOW: &str = "2026-11-25T12:34:56Z";
const MINUTE: Duration = Duration::from_secs(60);

#[track_caller]
fn check(cron: &str, min: Duration, expected: Result<(), &str>) {
    let result = schedule(cron, "Europe/Berlin").check(instant(NOW), min).map_err(|error| error.to_string());
    assert_eq!(result, expected.map_err(str::to_owned), "{cron}");
}

#[test]
fn schedule_at_the_minimum_is_accepted() {
    for cron in ["*/5 * * * *", "0,5 * * * *", "3-58/5 * * * *", "59 23 * * *", "0 9 25 11 *"] {
        check(cron, 5 * MINUTE, Ok(()));
    }
}

#[test]
fn too_frequent_schedule_names_both_distances() {
    for (cron, min, message) in [
        (
            "*/4 * * * *",
            5 * MINUTE,
            "at least 5 minutes apart; \"*/4 * * * *\" has runs that are 4 minutes apart",
        ),
        ("* * * * *", 5 * MINUTE, "at least 5 minutes apart; \"* * * * *\" has runs that are 1 minute apart"),
        // From :56 to :00.
        (
            "*/7 * * * *",
            5 * MINUTE,
            "at least 5 minutes apart; \"*/7 * * * *\" has runs that are 4 minutes apart",
        ),
        // From 9:59 to 10:00.
        (
            "0,59 9,10 * * *",
            5 * MINUTE,
            "at least 5 minutes apart; \"0,59 9,10 * * *\" has runs that are 1 minute apart",
        ),
        // From 23:58 on Saturdays to 0:00 on Sundays.
        (
            "0,58 0,23 * * 6,0",
            5 * MINUTE,
            "at least 5 minutes apart; \"0,58 0,23 * * 6,0\" has runs that are 2 minutes apart",
        ),
        (
            "*/5 * * * *",
            15 * MINUTE,
            "at least 15 minutes apart; \"*/5 * * * *\" has runs that are 5 minutes apart",
        ),
        ("0 * * * *", 1440 * MINUTE, "at least 1 day apart; \"0 * * * *\" has runs that are 1 hour apart"),
        ("0 0 * * *", 2880 * MINUTE, "at least 2 days apart; \"0 0 * * *\" has runs that are 1 day apart"),
        (
            "0 0 1 * *",
            30 * 1440 * MINUTE,
            "at least 30 days apart; \"0 0 1 * *\" has runs that are 28 days apart",
        ),
        (
            "*/1 * * * *",
            Duration::from_secs(90),
            "at least 90 seconds apart; \"*/1 * * * *\" has runs that are 1 minute apart",
        ),
    ] {
        check(cron, min, Err(&format!("runs of a schedule must be {message}")));
    }
}

#[test]
fn far_days_count_too() {
    // The 31st and the 1st are neighbors, whatever day it is.
    let message = "runs of a schedule must be at least 5 minutes apart; \"0,59 0,23 1,31 * *\" has runs that are 1 minute apart";
    check("0,59 0,23 1,31 * *", 5 * MINUTE, Err(message));
    // Without neighboring days, the runs at 23:59 and 0:00 are far from each other.
    check("0 0 1 * *", 5 * MINUTE, Ok(()));
}

#[test]
fn clock_change_does_not_decide() {
    // On the last Sunday of March, 1:58 and 3:00 are two minutes apart.
    check("0,58 1,3 * 3 *", 5 * MINUTE, Ok(()));
    let runs: Vec<_> = schedule("0,58 1,3 * 3 *", "Europe/Berlin")
        .runs_after(instant("2026-03-29T00:30:00Z"))
        .take(2)
        .collect();
    assert_eq!(runs[1].duration_since(runs[0]).as_secs(), 120);
}

#[test]
fn schedule_without_run_within_a_year_is_rejected() {
    for cron in ["0 0 30 2 *", "0 0 31 4 *", "0 0 29 2 *"] {
        check(
            cron,
            5 * MINUTE,
            Err(&format!("schedule must run within a year; \"{cron}\" has no run in the next 366 days")),
        );
    }
    assert_eq!(schedule("0 0 29 2 *", "UTC").check(instant("2027-06-01T00:00:00Z"), 5 * MINUTE), Ok(()));
}

#[test]
fn rate_of_runs_is_the_average_of_a_year() {
    for (cron, runs) in [
        ("* * * * *", 43_200),
        ("*/5 * * * *", 8_640),
        ("0 * * * *", 720),
        ("0 9,17 * * *", 60),
        ("0 9 * * 1-5", 22),
        ("0 9 * * 1", 5),
        ("0 0 1 * *", 1),
        ("0 0 1 1 *", 1),
    ] {
        assert_eq!(schedule(cron, "UTC").runs_per_30_days(instant(NOW)), runs, "{cron}");
    }
}
