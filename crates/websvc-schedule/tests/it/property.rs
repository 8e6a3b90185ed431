//! Properties: the next run equals that of a reference that tries every minute, and no input panics.

use std::collections::HashSet;

use jiff::civil::DateTime;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{Span, Timestamp};
use proptest::prelude::*;
use websvc_schedule::Cron;

use super::schedule;

const ZONES: [&str; 8] = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Africa/Cairo",
    "Asia/Kathmandu",
    "Pacific/Apia",
    "America/Santiago",
];
/// Days that the reference searches.
const DAYS: i64 = 8;

/// Field of an expression: its text and its values.
#[derive(Debug, Clone)]
struct Field {
    text: String,
    values: HashSet<u32>,
}

fn item(min: u32, max: u32) -> impl Strategy<Value = Field> {
    (0..5_u8, min..=max, min..=max, 1..=(max - min + 1)).prop_map(move |(form, a, b, step)| {
        let (first, last) = (a.min(b), a.max(b));
        let step_size = step as usize;
        let (text, values): (String, HashSet<u32>) = match form {
            0 => ("*".to_owned(), (min..=max).collect()),
            1 => (a.to_string(), HashSet::from([a])),
            2 => (format!("{first}-{last}/{step}"), (first..=last).step_by(step_size).collect()),
            3 => (format!("{a}/{step}"), (a..=max).step_by(step_size).collect()),
            _ => (format!("*/{step}"), (min..=max).step_by(step_size).collect()),
        };
        Field { text, values }
    })
}

fn field(min: u32, max: u32) -> impl Strategy<Value = Field> {
    prop::collection::vec(item(min, max), 1..3).prop_map(|items| Field {
        text: items.iter().map(|item| item.text.as_str()).collect::<Vec<_>>().join(","),
        values: items.iter().flat_map(|item| &item.values).copied().collect(),
    })
}

fn fields() -> impl Strategy<Value = [Field; 5]> {
    // Half of the expressions run on all days, because only these often have runs at a clock change.
    let any = || Just(Field { text: "*".to_owned(), values: (0..32).collect() });
    let days = prop_oneof![(any(), any(), any()), (field(1, 31), field(1, 12), field(0, 6))];
    (field(0, 59), field(0, 23), days)
        .prop_map(|(minute, hour, (day, month, weekday))| [minute, hour, day, month, weekday])
}

/// Instants near the clock changes of the zones, and others.
fn instants() -> impl Strategy<Value = Timestamp> {
    let changes = [
        "2026-03-29T01:00:00Z",
        "2026-10-25T01:00:00Z",
        "2026-03-08T07:00:00Z",
        "2026-11-01T06:00:00Z",
        "2026-04-04T15:00:00Z",
        "2026-10-03T15:30:00Z",
        "2011-12-30T10:00:00Z",
        "2028-02-29T00:00:00Z",
        "2026-12-31T23:59:00Z",
    ];
    prop_oneof![
        (0..changes.len(), -180_000..10_000_i64).prop_map(move |(index, seconds)| {
            changes[index].parse::<Timestamp>().expect("a time") + Span::new().seconds(seconds)
        }),
        (1_600_000_000..2_000_000_000_i64).prop_map(|second| Timestamp::from_second(second).expect("a time")),
    ]
}

fn matches([minute, hour, day, month, weekday]: &[Field; 5], local: DateTime) -> bool {
    let has = |field: &Field, value: i8| field.values.contains(&u32::from(value.unsigned_abs()));
    let is_day = has(day, local.day());
    let is_weekday = has(weekday, local.weekday().to_sunday_zero_offset());
    let either = !day.text.starts_with('*') && !weekday.text.starts_with('*');
    has(minute, local.minute())
        && has(hour, local.hour())
        && has(month, local.month())
        && if either { is_day || is_weekday } else { is_day && is_weekday }
}

/// Returns the first run after an instant by trying every minute: local times that the clock shows for the second time
/// do not count.
fn reference(fields: &[Field; 5], zone: &TimeZone, after: Timestamp) -> Option<Timestamp> {
    let first = after.as_second() / 60 * 60 + 60;
    let mut shown = HashSet::new();
    for second in (first - 26 * 3600..first + DAYS * 86_400).step_by(60) {
        let instant = Timestamp::from_second(second).expect("a time");
        let local = zone.to_datetime(instant);
        if shown.insert(local) && second >= first && matches(fields, local) {
            return Some(instant);
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn next_run_is_that_of_the_reference(fields in fields(), zone in 0..ZONES.len(), after in instants()) {
        let text = fields.each_ref().map(|field| field.text.clone()).join(" ");
        let zone = ZONES[zone];
        let expected = reference(&fields, &TimeZoneDatabase::bundled().get(zone).unwrap(), after);
        let horizon = Timestamp::from_second(after.as_second() / 60 * 60 + 60 + DAYS * 86_400).unwrap();
        let run = schedule(&text, zone).next_after(after).filter(|run| *run < horizon);
        prop_assert_eq!(run, expected, "{} in {} after {}", text, zone, after);
    }

    #[test]
    fn any_field_is_read_or_rejected(text in "[-*/,0-9a-zA-Z ]{0,30}") {
        if let Ok(cron) = text.parse::<Cron>() {
            prop_assert!(!cron.describe().is_empty());
            prop_assert_eq!(cron.as_str().parse::<Cron>(), Ok(cron.clone()));
        }
    }

    #[test]
    fn any_text_is_read_or_rejected(text in "(every|daily|hourly|at|[0-9]{1,2}|minutes|hours|am|pm|:[0-9]{2}|\\PC| ){0,12}") {
        if let Ok(cron) = Cron::from_text(&text) {
            prop_assert!(!cron.describe().is_empty());
        }
    }

    #[test]
    fn smallest_distance_is_that_of_the_runs(fields in fields()) {
        let text = fields.each_ref().map(|field| field.text.clone()).join(" ");
        let schedule = schedule(&text, "UTC");
        let start: Timestamp = "2026-06-01T00:00:00Z".parse().unwrap();
        let before = start - Span::new().minutes(1);
        let runs: Vec<Timestamp> = schedule.runs_after(before).take_while(|run| *run < start + Span::new().hours(24 * 30)).collect();
        let smallest = runs.windows(2).map(|pair| pair[1].duration_since(pair[0]).unsigned_abs()).min();
        if let Some(smallest) = smallest {
            // A year may have neighboring days that the month has not.
            let min = schedule.min_distance(start).unwrap();
            prop_assert!(min <= smallest, "{}: {:?} > {:?}", text, min, smallest);
            if runs.iter().any(|run| runs.contains(&(*run + Span::new().hours(24)))) {
                prop_assert_eq!(min, smallest, "{}", text);
            }
        }
    }
}
