//! Shared checks of the tests.

use serde_json::{Value, json};
use websvc_types::{SearchRequest, Violation, ViolationCode};
use websvc_validate::{Checked, Policy, Rejection, ScrapePlan, SearchPlan, check_request, read_request};

/// Expected violations: paths and codes.
pub(crate) type Expected<'a> = &'a [(&'a str, ViolationCode)];

/// Checks that a search has exactly these violations; none means that it is accepted.
///
/// The body is checked as text and, if it can be read as a request, as a typed request with the same result.
#[track_caller]
pub(crate) fn check(body: &Value, expected: Expected<'_>) {
    let found = violations(body);
    let found: Vec<(&str, ViolationCode)> = found.iter().map(|v| (v.path.as_str(), v.code)).collect();
    assert_eq!(found, expected, "{body}");
}

/// Checks that `{"query": "q", FIELD: value}` has this violation at the field, or none.
#[track_caller]
pub(crate) fn check_field(field: &str, value: &Value, expected: Option<ViolationCode>) {
    let path = format!("/{field}");
    let expected: Vec<_> = expected.map(|code| (path.as_str(), code)).into_iter().collect();
    check(&json!({ "query": "q", field: value }), &expected);
}

/// Checks that scrape options with this field have exactly these violations. Paths are relative to `/scrapeOptions/`.
#[track_caller]
pub(crate) fn check_option(field: &str, value: &Value, expected: Expected<'_>) {
    let expected: Vec<_> =
        expected.iter().map(|(path, code)| (format!("/scrapeOptions/{path}"), *code)).collect();
    let expected: Vec<_> = expected.iter().map(|(path, code)| (path.as_str(), *code)).collect();
    check(&json!({ "query": "q", "scrapeOptions": { field: value } }), &expected);
}

/// Checks an item of a list of scrape options. Paths are relative to the item. The format changeTracking comes with
/// markdown, which it needs.
#[track_caller]
pub(crate) fn check_item(field: &str, item: &Value, expected: Expected<'_>) {
    let expected: Vec<_> = expected.iter().map(|(path, code)| (format!("{field}/0{path}"), *code)).collect();
    let expected: Vec<_> = expected.iter().map(|(path, code)| (path.as_str(), *code)).collect();
    let is_tracking = item == "changeTracking" || item["type"] == "changeTracking";
    let list = if is_tracking { json!([item, "markdown"]) } else { json!([item]) };
    check_option(field, &list, &expected);
}

/// Checks that a body was rejected with this violation, and maybe with others.
#[track_caller]
pub(crate) fn check_rejected<T>(
    body: &Value,
    outcome: Result<T, Rejection>,
    path: &str,
    code: ViolationCode,
) {
    let Err(Rejection::Invalid(violations)) = outcome else {
        panic!("{body} is not rejected with violations")
    };
    let found: Vec<_> =
        violations.iter().map(|violation| (violation.path.as_str(), violation.code)).collect();
    assert!(found.contains(&(path, code)), "{body}: {found:?}");
}

#[track_caller]
pub(crate) fn violations(body: &Value) -> Vec<Violation> {
    let read = outcome(read_request::<SearchRequest>(body.to_string().as_bytes(), &Policy::default()));
    if let Ok(request) = serde_json::from_value::<SearchRequest>(body.clone()) {
        assert_eq!(outcome(check_request(&request, &Policy::default())), read, "{body}");
    }
    read
}

#[track_caller]
fn outcome(outcome: Result<Checked<SearchPlan>, Rejection>) -> Vec<Violation> {
    match outcome {
        Ok(_) => Vec::new(),
        Err(Rejection::Invalid(violations)) => violations,
        Err(other) => panic!("{other:?}"),
    }
}

/// Returns the plan of an accepted search.
#[track_caller]
pub(crate) fn plan(body: &Value) -> SearchPlan {
    checked(body).plan
}

#[track_caller]
pub(crate) fn checked(body: &Value) -> Checked<SearchPlan> {
    match read_request::<SearchRequest>(body.to_string().as_bytes(), &Policy::default()) {
        Ok(checked) => checked,
        Err(error) => panic!("{body} is rejected: {error}"),
    }
}

/// Returns the plan for scraping the results of an accepted search, with the format markdown.
#[track_caller]
pub(crate) fn scrape_plan(mut options: Value) -> ScrapePlan {
    options["formats"] = json!(["markdown"]);
    let plan = plan(&json!({ "query": "q", "scrapeOptions": options }));
    plan.scrape.as_ref().expect("the search has formats").clone()
}
