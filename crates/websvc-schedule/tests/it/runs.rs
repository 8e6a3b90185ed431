//! Runs in local time: clock changes, leap days, ends of months, and instants between minutes.

use super::{instant, schedule};

/// Checks the instants of the first runs after an instant.
#[track_caller]
fn check(cron: &str, zone: &str, after: &str, expected: &[&str]) {
    let schedule = schedule(cron, zone);
    let runs: Vec<String> =
        schedule.runs_after(instant(after)).take(expected.len()).map(|run| run.to_string()).collect();
    assert_eq!(runs, expected, "{cron} in {zone}");
}

#[test]
fn run_is_after_the_instant() {
    check("0 9 * * *", "UTC", "2026-01-01T08:59:59.999Z", &["2026-01-01T09:00:00Z"]);
    check("0 9 * * *", "UTC", "2026-01-01T09:00:00Z", &["2026-01-02T09:00:00Z"]);
    check("0 9 * * *", "UTC", "2026-01-01T09:00:00.001Z", &["2026-01-02T09:00:00Z"]);
    check("* * * * *", "UTC", "2026-12-31T23:59:30Z", &["2027-01-01T00:00:00Z"]);
}

#[test]
fn daily_run_follows_the_wall_clock_over_both_clock_changes() {
    check(
        "0 9 * * *",
        "Europe/Berlin",
        "2026-03-27T12:00:00Z",
        &["2026-03-28T08:00:00Z", "2026-03-29T07:00:00Z", "2026-03-30T07:00:00Z"],
    );
    check(
        "0 9 * * *",
        "Europe/Berlin",
        "2026-10-23T12:00:00Z",
        &["2026-10-24T07:00:00Z", "2026-10-25T08:00:00Z", "2026-10-26T08:00:00Z"],
    );
    check(
        "0 9 * * *",
        "America/New_York",
        "2026-03-06T20:00:00Z",
        &["2026-03-07T14:00:00Z", "2026-03-08T13:00:00Z", "2026-03-09T13:00:00Z"],
    );
    check(
        "0 9 * * *",
        "America/New_York",
        "2026-10-30T20:00:00Z",
        &["2026-10-31T13:00:00Z", "2026-11-01T14:00:00Z", "2026-11-02T14:00:00Z"],
    );
}

#[test]
fn skipped_time_does_not_run_on_that_day() {
    check(
        "30 2 * * *",
        "Europe/Berlin",
        "2026-03-27T12:00:00Z",
        &["2026-03-28T01:30:00Z", "2026-03-30T00:30:00Z"],
    );
    check(
        "30 2 * * *",
        "America/New_York",
        "2026-03-07T00:00:00Z",
        &["2026-03-07T07:30:00Z", "2026-03-09T06:30:00Z"],
    );
    // Half an hour from 2:00 to 2:30 is skipped.
    check(
        "15 2 * * *",
        "Australia/Lord_Howe",
        "2026-10-02T20:00:00Z",
        &["2026-10-04T15:15:00Z", "2026-10-05T15:15:00Z"],
    );
    check("30 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", &["2026-10-03T15:30:00Z"]);
}

#[test]
fn repeated_time_runs_once() {
    check(
        "30 2 * * *",
        "Europe/Berlin",
        "2026-10-24T12:00:00Z",
        &["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"],
    );
    check(
        "30 1 * * *",
        "America/New_York",
        "2026-10-31T12:00:00Z",
        &["2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"],
    );
    // Half an hour from 1:30 to 2:00 is repeated.
    check(
        "45 1 * * *",
        "Australia/Lord_Howe",
        "2026-04-04T00:00:00Z",
        &["2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"],
    );
}

#[test]
fn instant_inside_the_repeated_hour_finds_the_next_new_time() {
    // 2:15 for the second time.
    check("*/20 * * * *", "Europe/Berlin", "2026-10-25T01:15:00Z", &["2026-10-25T02:00:00Z"]);
    // 2:15 for the first time.
    check(
        "*/20 * * * *",
        "Europe/Berlin",
        "2026-10-25T00:15:00Z",
        &["2026-10-25T00:20:00Z", "2026-10-25T00:40:00Z", "2026-10-25T02:00:00Z"],
    );
}

#[test]
fn hourly_run_continues_over_the_skipped_hour() {
    check(
        "0 * * * *",
        "Europe/Berlin",
        "2026-03-28T23:30:00Z",
        &["2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z"],
    );
}

#[test]
fn skipped_day_has_no_runs() {
    // Samoa had no December 30 in 2011.
    check(
        "0 */12 * * *",
        "Pacific/Apia",
        "2011-12-29T20:00:00Z",
        &["2011-12-29T22:00:00Z", "2011-12-30T10:00:00Z", "2011-12-30T22:00:00Z"],
    );
}

#[test]
fn midnight_skipped_by_a_clock_change_has_no_run() {
    check(
        "0 0 * * *",
        "Africa/Cairo",
        "2026-04-23T00:00:00Z",
        &["2026-04-24T21:00:00Z", "2026-04-25T21:00:00Z"],
    );
}

#[test]
fn leap_day_is_found_years_ahead() {
    check(
        "0 0 29 2 *",
        "UTC",
        "2026-11-25T00:00:00Z",
        &["2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z", "2036-02-29T00:00:00Z"],
    );
    check("0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", &["2104-02-29T00:00:00Z"]);
    check("0 0 29 2 */7", "UTC", "2026-11-25T00:00:00Z", &["2032-02-29T00:00:00Z", "2060-02-29T00:00:00Z"]);
}

#[test]
fn days_beyond_the_end_of_a_month_are_passed_over() {
    check(
        "0 12 31 * *",
        "UTC",
        "2026-01-31T12:00:00Z",
        &["2026-03-31T12:00:00Z", "2026-05-31T12:00:00Z", "2026-07-31T12:00:00Z"],
    );
    check("0 0 30 1-3 *", "UTC", "2027-01-30T00:00:00Z", &["2027-03-30T00:00:00Z", "2028-01-30T00:00:00Z"]);
}

#[test]
fn date_that_does_not_exist_has_no_run() {
    for cron in ["0 0 30 2 *", "0 0 31 4,6,9,11 *"] {
        assert_eq!(
            schedule(cron, "Europe/Berlin").next_after(instant("2026-01-01T00:00:00Z")),
            None,
            "{cron}"
        );
    }
}

#[test]
fn end_of_time_has_no_run() {
    let schedule = schedule("0 0 * * *", "Pacific/Kiritimati");
    assert_eq!(schedule.next_after(jiff::Timestamp::MAX), None);
    assert!(schedule.next_after(jiff::Timestamp::MIN).is_some());
}
