//! Texts: one row for each form with its cron expression, and texts that must not be guessed.

use websvc_schedule::{Cron, EXAMPLES};

const FORMS: &[(&str, &str)] = &[
    ("every minute", "* * * * *"),
    ("every 1 minute", "*/1 * * * *"),
    ("every 5 minutes", "*/5 * * * *"),
    ("every 30 minute", "*/30 * * * *"),
    ("every 15 min", "*/15 * * * *"),
    ("every 20 mins", "*/20 * * * *"),
    ("every 60 minutes", "*/60 * * * *"),
    ("Every 30 Minutes", "*/30 * * * *"),
    ("  every   30\tminutes. ", "*/30 * * * *"),
    ("every 15 mins.", "*/15 * * * *"),
    ("every 15 minutes start :05", "5-59/15 * * * *"),
    ("every 15 minutes starting :05", "5-59/15 * * * *"),
    ("every 15 minutes start at :05", "5-59/15 * * * *"),
    ("every 15 minutes, starting at :05", "5-59/15 * * * *"),
    ("every 15 minutes starting on :05", "5-59/15 * * * *"),
    ("every 30 min starting at :00", "0-59/30 * * * *"),
    ("hourly", "0 * * * *"),
    ("every hour", "0 * * * *"),
    ("hourly at :15", "15 * * * *"),
    ("every hour at :59", "59 * * * *"),
    ("every hour starting at :07", "7 * * * *"),
    ("hourly, starting at :30", "30 * * * *"),
    ("every 1 hour", "0 */1 * * *"),
    ("every 2 hours", "0 */2 * * *"),
    ("every 6 hr", "0 */6 * * *"),
    ("every 12 hrs.", "0 */12 * * *"),
    ("every 24 hours", "0 */24 * * *"),
    ("daily", "0 0 * * *"),
    ("every day", "0 0 * * *"),
    ("daily at 9", "0 9 * * *"),
    ("every day at 9:00", "0 9 * * *"),
    ("every day, at 09:05", "5 9 * * *"),
    ("daily at 23:59", "59 23 * * *"),
    ("daily at 0:30", "30 0 * * *"),
    ("daily at 9am", "0 9 * * *"),
    ("daily at 9 AM", "0 9 * * *"),
    ("daily at 9 a.m.", "0 9 * * *"),
    ("daily at 5:30 pm", "30 17 * * *"),
    ("daily at 5:30p.m.", "30 17 * * *"),
    ("every day at 12am", "0 0 * * *"),
    ("every day at 12:30 am", "30 0 * * *"),
    ("every day at 12 pm", "0 12 * * *"),
    ("weekly", "0 0 * * 0"),
    ("every week", "0 0 * * 0"),
    ("monthly", "0 0 1 * *"),
    ("every month", "0 0 1 * *"),
    ("every sunday", "0 0 * * 0"),
    ("every monday", "0 0 * * 1"),
    ("every monday at 9:00", "0 9 * * 1"),
    ("Every Tuesday at 5 PM", "0 17 * * 2"),
    ("every wednesday", "0 0 * * 3"),
    ("every thursday", "0 0 * * 4"),
    ("every fri at 18:30", "30 18 * * 5"),
    ("every saturday", "0 0 * * 6"),
    ("every weekday", "0 0 * * 1-5"),
    ("every weekday at 8am", "0 8 * * 1-5"),
];

#[test]
fn text_becomes_cron_expression() {
    for (text, cron) in FORMS {
        assert_eq!(Cron::from_text(text).map(|cron| cron.to_string()).as_deref(), Ok(*cron), "{text}");
    }
}

#[test]
fn other_text_is_rejected_with_examples() {
    for text in [
        "",
        " ",
        "every",
        "every minute starting at :05",
        "every second",
        "every 30 seconds",
        "every other day",
        "every 2 days",
        "every 2 weeks",
        "every 5",
        "5 minutes",
        "every five minutes",
        "every 5 minutes please",
        "every 5 minutes at :05",
        "every 5 minutes starting",
        "every 6 hours at :05",
        "at 9",
        "daily 9:00",
        "daily at",
        "daily at 9 at 10",
        "weekly at 9",
        "monthly at 9",
        "weekdays",
        "every weekend",
        "every mondays",
        "mondays at 9",
        "every monday and friday",
        "twice a day",
        "once",
        "tomorrow",
        "* * * * *",
        "every ５ minutes",
    ] {
        let message = Cron::from_text(text).unwrap_err().to_string();
        assert!(
            message.starts_with(&format!("\"{text}\" is not a schedule: it has none of the known forms;")),
            "{message}"
        );
        for example in EXAMPLES {
            assert!(message.contains(&format!("\"{example}\"")), "{message}");
        }
    }
}

#[track_caller]
fn check_error(text: &str, reason: &str) {
    let message = Cron::from_text(text).expect_err("an error").to_string();
    assert!(
        message.starts_with(&format!("\"{text}\" is not a schedule: {reason}; use for example \"")),
        "{message}"
    );
}

#[test]
fn number_that_does_not_divide_is_named() {
    for number in ["0", "7", "8", "25", "61", "120", "99999999999"] {
        check_error(
            &format!("every {number} minutes"),
            &format!("{number} must divide the 60 minutes of an hour"),
        );
    }
    for number in ["0", "5", "48"] {
        check_error(&format!("every {number} hours"), &format!("{number} must divide the 24 hours of a day"));
    }
}

#[test]
fn time_that_does_not_exist_is_named() {
    for time in [
        "24", "9:60", "9:5", "9:", ":30", "09:00:00", "13pm", "13 pm", "0am", "0:30 am", "14:00 am", "noon",
        "930", "-1", "+9",
    ] {
        check_error(
            &format!("daily at {time}"),
            &format!("the time \"{time}\" must be from 0:00 to 23:59, or from 1:00 to 12:59 with am or pm"),
        );
    }
    for minute in [":60", ":", "5", "1:05", ":005", ":-1"] {
        check_error(
            &format!("hourly at {minute}"),
            &format!("the minute \"{minute}\" must be from :00 to :59"),
        );
    }
}

#[test]
fn dot_or_comma_between_digits_is_not_ignored() {
    for text in
        ["every 1.5 minutes", "every 1,5 minutes", "every 1.2 hours", "daily at 9.30", "daily at 9,30"]
    {
        check_error(text, "it has none of the known forms");
    }
}

#[test]
fn every_example_is_a_text() {
    for example in EXAMPLES {
        Cron::from_text(example).unwrap();
    }
}
