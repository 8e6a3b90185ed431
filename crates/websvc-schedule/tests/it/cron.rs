//! Forms of cron expressions, by the runs that they mean, and the errors of other texts.

use websvc_schedule::Cron;

use super::{instant, schedule};

/// Checks the local times of the first runs after the start of 2026, a Thursday.
#[track_caller]
fn check(cron: &str, expected: &[&str]) {
    let schedule = schedule(cron, "UTC");
    let runs: Vec<String> = schedule
        .runs_after(instant("2025-12-31T23:59:00Z"))
        .take(expected.len())
        .map(|run| run.strftime("%m-%d %H:%M").to_string())
        .collect();
    assert_eq!(runs, expected, "{cron}");
}

#[track_caller]
fn check_error(cron: &str, expected: &str) {
    assert_eq!(cron.parse::<Cron>().expect_err("an error").to_string(), expected, "{cron}");
}

#[test]
fn numbers_lists_ranges_and_steps_are_read() {
    check("* * * * *", &["01-01 00:00", "01-01 00:01"]);
    check("5 4 * * *", &["01-01 04:05", "01-02 04:05"]);
    check("0,30 9 * * *", &["01-01 09:00", "01-01 09:30", "01-02 09:00"]);
    check("30,0,30 9 * * *", &["01-01 09:00", "01-01 09:30", "01-02 09:00"]);
    check("0 22-23 * * *", &["01-01 22:00", "01-01 23:00", "01-02 22:00"]);
    check("*/25 * * * *", &["01-01 00:00", "01-01 00:25", "01-01 00:50", "01-01 01:00"]);
    check("10-40/15 0 * * *", &["01-01 00:10", "01-01 00:25", "01-01 00:40", "01-02 00:10"]);
    check(
        "0-2,50-59/5 0 * * *",
        &["01-01 00:00", "01-01 00:01", "01-01 00:02", "01-01 00:50", "01-01 00:55"],
    );
}

#[test]
fn number_with_step_means_from_there_on() {
    check("5/15 * * * *", &["01-01 00:05", "01-01 00:20", "01-01 00:35", "01-01 00:50", "01-01 01:05"]);
    check("0 20/2 * * *", &["01-01 20:00", "01-01 22:00", "01-02 20:00"]);
    check("0 0 29/2 * *", &["01-29 00:00", "01-31 00:00", "03-29 00:00"]);
}

#[test]
fn step_may_be_as_large_as_the_field() {
    check("*/60 * * * *", &["01-01 00:00", "01-01 01:00"]);
    check("0 */24 * * *", &["01-01 00:00", "01-02 00:00"]);
}

#[test]
fn months_and_weekdays_have_names() {
    check("0 0 1 JAN,mar-May *", &["01-01 00:00", "03-01 00:00", "04-01 00:00", "05-01 00:00"]);
    check("0 0 * * Mon", &["01-05 00:00", "01-12 00:00"]);
    check("0 0 * * sat,SUN", &["01-03 00:00", "01-04 00:00", "01-10 00:00"]);
    check("0 0 * * fri-sun", &["01-02 00:00", "01-03 00:00", "01-04 00:00", "01-09 00:00"]);
    check("0 0 * * sun-mon", &["01-04 00:00", "01-05 00:00", "01-11 00:00"]);
    check("0 0 * * sun-sun", &["01-04 00:00", "01-11 00:00"]);
}

#[test]
fn weekdays_0_and_7_are_sunday() {
    for sunday in ["0", "7", "0,7", "7-7", "7/2"] {
        check(&format!("0 0 * * {sunday}"), &["01-04 00:00", "01-11 00:00"]);
    }
    check("0 0 * * 5-7", &["01-02 00:00", "01-03 00:00", "01-04 00:00", "01-09 00:00"]);
    check("0 0 * * 0-7", &["01-01 00:00", "01-02 00:00"]);
}

#[test]
fn restricted_day_and_weekday_match_either() {
    check("0 0 13 * 5", &["01-02 00:00", "01-09 00:00", "01-13 00:00", "01-16 00:00"]);
    // A field that starts with `*` is not restricted: both must match.
    check("0 0 */2 * 1", &["01-05 00:00", "01-19 00:00", "02-09 00:00"]);
    check("0 0 13 * */7", &["09-13 00:00", "12-13 00:00"]);
}

#[test]
fn blanks_between_fields_are_normalized() {
    let cron: Cron = " 0\t9  * * 1-5 ".parse().unwrap();
    assert_eq!(cron.as_str(), "0 9 * * 1-5");
    assert_eq!(cron.to_string(), "0 9 * * 1-5");
}

#[test]
fn wrong_field_is_named_with_value_and_rule() {
    check_error("60 * * * *", "minute must be between 0 and 59, not \"60\"");
    check_error("0 24 * * *", "hour must be between 0 and 23, not \"24\"");
    check_error("0 0 0 * *", "day of month must be between 1 and 31, not \"0\"");
    check_error("0 0 * 13 *", "month must be between 1 and 12, not \"13\"");
    check_error("0 0 * * 8", "weekday must be between 0 and 7, not \"8\"");
    check_error(
        "99999999999999999999 * * * *",
        "minute must be between 0 and 59, not \"99999999999999999999\"",
    );
    check_error("40-20 * * * *", "minute must not have a range that ends before it starts, not \"40-20\"");
    check_error("0 0 * * 5-1", "weekday must not have a range that ends before it starts, not \"5-1\"");
    check_error("*/0 * * * *", "minute must have a step between 1 and 60, not \"*/0\"");
    check_error("0 */25 * * *", "hour must have a step between 1 and 24, not \"*/25\"");
    check_error("0 0 * * */8", "weekday must have a step between 1 and 7, not \"*/8\"");
    check_error(
        "x * * * *",
        "minute must be `*`, numbers of 0 to 59, such as `1`, `1,2`, `1-4`, `*/2` or `1/2`, not \"x\"",
    );
    check_error(
        "0 0 * may-x *",
        "month must be `*`, numbers of 1 to 12 or names of jan to dec, such as `1`, `1,2`, `1-4`, `*/2` or `1/2`, not \"may-x\"",
    );
}

#[test]
fn malformed_fields_are_rejected() {
    for field in [
        ",", "1,", "-", "1-", "-1", "1-2-3", "/", "*/", "*/-1", "*/2/2", "+1", "1.5", "**", "?", "L", "mon",
        "½",
    ] {
        let error = format!("{field} * * * *").parse::<Cron>();
        let message = error.unwrap_err().to_string();
        assert!(
            message.starts_with("minute must") && message.ends_with(&format!("not \"{field}\"")),
            "{message}"
        );
    }
}

#[test]
fn number_of_fields_must_be_five() {
    for (cron, found) in [("", 0), ("* * * *", 4), ("0 * * * * *", 6), ("@daily", 1), ("every day", 2)] {
        let message = cron.parse::<Cron>().unwrap_err().to_string();
        assert!(
            message.contains("must have 5 fields") && message.contains(&format!(", not {found};")),
            "{message}"
        );
    }
}
