//! Section 2.4: time filters.

use websvc_types::ViolationCode::*;
use websvc_validate::SearchPlan;

use crate::conformance::row::{Row, row, search};

pub(super) fn rows() -> Vec<Row> {
    vec![qdr(), cdr(), sbd(), combined()]
}

/// Returns range and order of the first source as text.
fn read(plan: &SearchPlan) -> String {
    plan.sources[0].tbs.as_ref().map_or_else(String::new, |tbs| {
        let range = tbs.range.map_or_else(|| "any time".to_owned(), |range| format!("{range:?}"));
        format!("{range}, {:?}", tbs.sort)
    })
}

fn last(unit: &str, count: u16) -> String {
    format!("Last {{ unit: {unit}, count: {count} }}, Relevance")
}

fn between(min: &str, max: &str, sort: &str) -> String {
    format!("Between {{ min: {min}, max: {max} }}, {sort}")
}

fn qdr() -> Row {
    row(
        "2.4 qdr",
        "`qdr:h`, `d`, `w`, `m` or `y`, with a count from 1 to 9999 (not specified): the last hours, \
         days, weeks, months, years",
    )
    .at(search("tbs"))
    .reads("qdr:h", read, last("Hour", 1))
    .reads("qdr:d", read, last("Day", 1))
    .reads("qdr:w", read, last("Week", 1))
    .reads("qdr:m", read, last("Month", 1))
    .reads("qdr:y", read, last("Year", 1))
    .reads("qdr:d3", read, last("Day", 3))
    .reads("qdr:h9999", read, last("Hour", 9999))
    .bad("qdr:d0", InvalidFormat)
    .bad("qdr:d10000", InvalidFormat)
    .bad("qdr:d-1", InvalidFormat)
    .bad("qdr:x", InvalidFormat)
    .bad("qdr:D", InvalidFormat)
    .bad("qdr:", InvalidFormat)
    .bad("qdr", InvalidFormat)
    .tested("websvc-query", "range_resolves_to_unix_seconds")
    .tested("websvc-index", "time_ranges_filter_and_date_order_sorts")
}

fn cdr() -> Row {
    row(
        "2.4 cdr",
        "`cdr:1,cd_min:MM/DD/YYYY,cd_max:MM/DD/YYYY`: both days included, either may be absent, \
         the first must not be after the last",
    )
    .at(search("tbs"))
    .reads(
        "cdr:1,cd_min:02/29/2024,cd_max:12/31/2024",
        read,
        between("Some(2024-02-29)", "Some(2024-12-31)", "Relevance"),
    )
    .reads(
        "cdr:1,cd_min:2/9/2024,cd_max:2/9/2024",
        read,
        between("Some(2024-02-09)", "Some(2024-02-09)", "Relevance"),
    )
    .reads("cdr:1,cd_min:02/29/2024", read, between("Some(2024-02-29)", "None", "Relevance"))
    .reads("cdr:1,cd_max:12/31/2024", read, between("None", "Some(2024-12-31)", "Relevance"))
    .reads("cdr:1,cd_min:,cd_max:12/31/2024", read, between("None", "Some(2024-12-31)", "Relevance"))
    .bad("cdr:1", InvalidFormat)
    .bad("cdr:2,cd_min:01/01/2024", InvalidFormat)
    .bad("cd_min:01/01/2024", InvalidFormat)
    .bad("cdr:1,cd_min:02/30/2024", InvalidFormat)
    .bad("cdr:1,cd_min:02/29/2023", InvalidFormat)
    .bad("cdr:1,cd_max:13/01/2024", InvalidFormat)
    .bad("cdr:1,cd_max:31/12/2024", InvalidFormat)
    .bad("cdr:1,cd_max:2024-01-01", InvalidFormat)
    .bad("cdr:1,cd_max:01/01/24", InvalidFormat)
    .bad("cdr:1,cd_min:02/01/2024,cd_max:01/31/2024", InvalidFormat)
    .tested("websvc-query", "errors_name_the_value")
    .tested("websvc-index", "time_ranges_filter_and_date_order_sorts")
}

fn sbd() -> Row {
    row("2.4 sbd", "`sbd:1`: by date, newest first")
        .at(search("tbs"))
        .reads("sbd:1", read, "any time, Date".to_owned())
        .bad("sbd:2", InvalidFormat)
        .bad("sbd", InvalidFormat)
        .tested("websvc-index", "time_ranges_filter_and_date_order_sorts")
}

fn combined() -> Row {
    let week_by_date = "Last { unit: Week, count: 1 }, Date";
    row("2.4 combined", "with commas in any order, each item once, one range; an empty text counts as absent")
        .at(search("tbs"))
        .reads("", read, String::new())
        .reads("  ", read, String::new())
        .reads("sbd:1,qdr:w", read, week_by_date.to_owned())
        .reads("qdr:w,sbd:1", read, week_by_date.to_owned())
        .reads("qdr:w, sbd:1", read, week_by_date.to_owned())
        .reads("cd_max:12/31/2024,sbd:1,cdr:1", read, between("None", "Some(2024-12-31)", "Date"))
        .bad("qdr:d,qdr:w", InvalidFormat)
        .bad("qdr:d,cdr:1,cd_min:01/01/2024", InvalidFormat)
        .bad("sbd:1,sbd:1", InvalidFormat)
        .bad("qdr:w,", InvalidFormat)
        .bad("week", InvalidFormat)
        .bad("x".repeat(100_000), InvalidFormat)
        .tested("websvc-query", "every_text_is_a_time_filter_or_an_error")
}
