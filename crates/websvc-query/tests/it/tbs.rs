//! Cases for each rule of the time filter.

use jiff::Timestamp;
use jiff::civil::{Date, date};
use websvc_query::{Sort, Tbs, TbsRange, TbsUnit, parse_tbs};

#[track_caller]
fn check(text: &str, expected: Option<Tbs>) {
    assert_eq!(parse_tbs(text), Ok(expected), "{text:?}");
}

#[track_caller]
fn check_error(text: &str, expected: &str) {
    let error = parse_tbs(text).expect_err(text).to_string();
    assert!(error.contains(expected), "{text:?}: {error}");
}

fn last(unit: TbsUnit, count: u16, sort: Sort) -> Option<Tbs> {
    Some(Tbs { range: Some(TbsRange::Last { unit, count }), sort })
}

fn between(min: Option<Date>, max: Option<Date>, sort: Sort) -> Option<Tbs> {
    Some(Tbs { range: Some(TbsRange::Between { min, max }), sort })
}

#[test]
fn known_forms_are_parsed() {
    check("", None);
    check("  ", None);
    check("qdr:h", last(TbsUnit::Hour, 1, Sort::Relevance));
    check("qdr:d", last(TbsUnit::Day, 1, Sort::Relevance));
    check("qdr:w", last(TbsUnit::Week, 1, Sort::Relevance));
    check("qdr:m", last(TbsUnit::Month, 1, Sort::Relevance));
    check("qdr:y", last(TbsUnit::Year, 1, Sort::Relevance));
    check("qdr:d3", last(TbsUnit::Day, 3, Sort::Relevance));
    check("sbd:1", Some(Tbs { range: None, sort: Sort::Date }));
    check("sbd:1,qdr:w", last(TbsUnit::Week, 1, Sort::Date));
    check(" qdr:w , sbd:1 ", last(TbsUnit::Week, 1, Sort::Date));
    let (min, max) = (date(2024, 2, 29), date(2024, 12, 31));
    check("cdr:1,cd_min:02/29/2024,cd_max:12/31/2024", between(Some(min), Some(max), Sort::Relevance));
    check("cd_max:12/31/2024,sbd:1,cd_min:2/29/2024,cdr:1", between(Some(min), Some(max), Sort::Date));
    check("cdr:1,cd_min:02/29/2024", between(Some(min), None, Sort::Relevance));
    check("cdr:1,cd_max:12/31/2024", between(None, Some(max), Sort::Relevance));
    check("cdr:1,cd_min:02/29/2024,cd_max:02/29/2024", between(Some(min), Some(min), Sort::Relevance));
}

#[test]
fn count_is_1_to_9999() {
    check("qdr:h1", last(TbsUnit::Hour, 1, Sort::Relevance));
    check("qdr:d03", last(TbsUnit::Day, 3, Sort::Relevance));
    check("qdr:y9999", last(TbsUnit::Year, 9999, Sort::Relevance));
    for count in ["0", "0000", "10000", "00001", "99999999999999999999", "+3", "-3", " 3", "3d", "\u{663}"] {
        check_error(&format!("qdr:d{count}"), &format!("bad range \"qdr:d{count}\""));
    }
}

#[test]
fn bound_without_a_date_is_open() {
    let (min, max) = (date(2024, 2, 29), date(2024, 12, 31));
    check("cdr:1,cd_min:2/29/2024,cd_max:", between(Some(min), None, Sort::Relevance));
    check("cdr:1,cd_min: ,cd_max:12/31/2024", between(None, Some(max), Sort::Relevance));
    check_error("cdr:1,cd_min:,cd_max:", "needs cd_min");
    check_error("cd_max:", "\"cd_max\" needs cdr:1");
    check_error("cdr:1,cd_min:,cd_min:1/1/2024", "\"cd_min\" is given twice");
}

#[test]
fn date_must_exist_in_the_calendar() {
    let max = |year, month, day| between(None, Some(date(year, month, day)), Sort::Relevance);
    check("cdr:1,cd_max:1/5/2024", max(2024, 1, 5));
    check("cdr:1,cd_max:01/01/0001", max(1, 1, 1));
    check("cdr:1,cd_max:12/31/9999", max(9999, 12, 31));
    check("cdr:1,cd_max:02/29/2000", max(2000, 2, 29));
    for day in [
        "02/29/2023",
        "02/29/1900",
        "02/30/2024",
        "04/31/2024",
        "00/10/2024",
        "10/00/2024",
        "13/01/2024",
        "1/1/0000",
        "1/1/24",
        "1/1/02024",
        "001/1/2024",
        "1/001/2024",
        "/1/2024",
        "1//2024",
        "1/1/",
        "1/1",
        "1/1/2024/",
        "1/ 1/2024",
        "+1/1/2024",
        "2024-01-01",
        "1.1.2024",
        "1/1/20x4",
        "today",
    ] {
        check_error(&format!("cdr:1,cd_min:{day}"), &format!("bad date \"{day}\" in cd_min"));
    }
}

#[test]
fn keys_must_be_known_and_in_lower_case() {
    for item in [
        "QDR:d",
        "Sbd:1",
        "sbd:0",
        "sbd:",
        "cdr:0",
        "cdr:",
        "cdr",
        "lr:lang_en",
        "sbd :1",
        ":",
        "qdr\u{ff1a}d",
    ] {
        check_error(item, &format!("unknown item \"{item}\""));
    }
    check_error("qdr:D", "bad range \"qdr:D\"");
    check_error("qdr:n5", "bad range \"qdr:n5\"");
    check_error("qdr:w,,sbd:1", "unknown item \"\"");
    check_error(",", "unknown item \"\"");
}

#[test]
fn long_value_is_truncated_in_the_message() {
    let message = parse_tbs(&"x".repeat(100_000)).expect_err("the item is unknown").to_string();
    assert!(message.contains(&format!("\"{}…\"", "x".repeat(60))), "{message}");
}

#[test]
fn equal_filters_are_printed_in_the_same_form() {
    for (text, expected) in [
        ("qdr:d", "qdr:d"),
        ("qdr:d1", "qdr:d"),
        ("sbd:1 , qdr:w02", "qdr:w2,sbd:1"),
        ("cd_max:12/31/2024,sbd:1,cdr:1,cd_min:1/5/0024", "cdr:1,cd_min:01/05/0024,cd_max:12/31/2024,sbd:1"),
        ("cdr:1,cd_min:,cd_max:1/1/2024", "cdr:1,cd_max:01/01/2024"),
        ("sbd:1", "sbd:1"),
    ] {
        assert_eq!(parse_tbs(text).expect(text).expect(text).to_string(), expected, "{text:?}");
    }
}

#[test]
fn errors_name_the_value() {
    check_error("qdr:x", "\"qdr:x\"");
    check_error("qdr:", "\"qdr:\"");
    check_error("qdr:d0", "\"qdr:d0\"");
    check_error("qdr:d10000", "\"qdr:d10000\"");
    check_error("qdr:d+3", "\"qdr:d+3\"");
    check_error("week", "\"week\"");
    check_error("sbd:2", "\"sbd:2\"");
    check_error("qdr:w,", "\"\"");
    check_error("cdr:1,cd_min:02/30/2024", "\"02/30/2024\" in cd_min");
    check_error("cdr:1,cd_max:13/01/2024", "\"13/01/2024\" in cd_max");
    check_error("cdr:1,cd_max:01/01/24", "\"01/01/24\"");
    check_error("cdr:1,cd_max:01/01/2024/5", "\"01/01/2024/5\"");
    check_error("cdr:1,cd_max:2024-01-01", "\"2024-01-01\"");
    check_error("cdr:1,cd_max:01/01/0000", "\"01/01/0000\"");
    check_error("cdr:1,cd_min:02/01/2024,cd_max:01/31/2024", "cd_min:02/01/2024 is after cd_max:01/31/2024");
    check_error("qdr:d,qdr:w", "\"qdr\" is given twice");
    check_error("qdr:d,cdr:1,cd_min:01/01/2024", "\"qdr:d\" and a custom range");
    check_error("sbd:1,sbd:1", "\"sbd\" is given twice");
    check_error("cdr:1,cdr:1", "\"cdr\" is given twice");
    check_error("cdr:1", "needs cd_min");
    check_error("cd_min:01/01/2024", "\"cd_min\" needs cdr:1");
    check_error("qdr:d,cd_max:01/01/2024", "\"cd_max\" needs cdr:1");
}

#[test]
fn range_resolves_to_unix_seconds() {
    let now: Timestamp = "2024-03-31T12:00:00Z".parse().expect("a literal");
    let at = |text: &str| text.parse::<Timestamp>().expect("a literal").as_second();
    let seconds =
        |text: &str| parse_tbs(text).expect(text).and_then(|tbs| tbs.range).expect(text).seconds(now);
    assert_eq!(seconds("qdr:h"), (Some(at("2024-03-31T11:00:00Z")), None));
    assert_eq!(seconds("qdr:d3"), (Some(at("2024-03-28T12:00:00Z")), None));
    assert_eq!(seconds("qdr:m"), (Some(at("2024-02-29T12:00:00Z")), None));
    assert_eq!(seconds("qdr:y9999").0, Some(at("-007975-03-31T12:00:00Z")));
    assert_eq!(
        seconds("cdr:1,cd_min:01/02/2024,cd_max:01/03/2024"),
        (Some(at("2024-01-02T00:00:00Z")), Some(at("2024-01-03T23:59:59Z")))
    );
    let last_day = at("9999-12-30T00:00:00Z") + 86_400;
    assert_eq!(seconds("cdr:1,cd_min:12/31/9999"), (Some(last_day), None));
    assert_eq!(seconds("cdr:1,cd_max:12/31/9999"), (None, Some(last_day + 86_399)));
    assert_eq!(seconds("cdr:1,cd_max:1/1/0001").1, Some(at("0001-01-01T23:59:59Z")));
}
