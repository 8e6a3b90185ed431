//! Tests of formats.

use serde_json::{Value, json};
use websvc_types::ViolationCode::*;
use websvc_types::{Format, ScrapeOptions};
use websvc_validate::{FeaturePolicy, Policy, TrackingPlan, read_request};

use crate::support::{Expected, check_item, check_option, plan};

#[track_caller]
fn check(format: &Value, expected: Expected<'_>) {
    check_item("formats", format, expected);
}

#[test]
fn formats_are_accepted_as_object_and_bare_name() {
    for name in Format::NAMES {
        match *name {
            "question" => check(&json!({ "type": name, "question": "why?" }), &[]),
            "highlights" => check(&json!({ "type": name, "query": "why" }), &[]),
            _ => {
                check(&json!({ "type": name }), &[]);
                check(&json!(name), &[]);
            }
        }
    }
}

#[test]
fn format_options_out_of_range_are_rejected() {
    let screenshot = |key: &str, value: Value| json!({ "type": "screenshot", key: value });
    let viewport =
        |width: i64, height: i64| screenshot("viewport", json!({ "width": width, "height": height }));
    check(&screenshot("quality", json!(1)), &[]);
    check(&screenshot("quality", json!(100)), &[]);
    check(&screenshot("quality", json!(0)), &[("/quality", TooSmall)]);
    check(&screenshot("quality", json!(101)), &[("/quality", TooBig)]);
    check(&screenshot("quality", json!(300)), &[("/quality", TooBig)]);
    check(&viewport(1, 1), &[]);
    check(&viewport(7680, 4320), &[]);
    check(&viewport(0, 4321), &[("/viewport/height", TooBig), ("/viewport/width", TooSmall)]);
    check(&screenshot("viewport", json!({ "width": 1 })), &[("/viewport/height", Missing)]);
    let both = [("/viewport/height", Missing), ("/viewport/width", TooSmall)];
    check(&screenshot("viewport", json!({ "width": 0 })), &both);
    check(&screenshot("fullPage", json!(1)), &[("/fullPage", InvalidType)]);
    for (kind, key) in [("question", "question"), ("highlights", "query")] {
        let format = |length: usize| json!({ "type": kind, key: "ü".repeat(length) });
        let path = format!("/{key}");
        check(&format(1), &[]);
        check(&format(10_000), &[]);
        check(&format(0), &[(&path, TooShort)]);
        check(&format(10_001), &[(&path, TooLong)]);
        check(&json!({ "type": kind }), &[(&path, Missing)]);
    }
    for kind in ["json", "changeTracking"] {
        let format = |length: usize| json!({ "type": kind, "prompt": "ü".repeat(length) });
        check(&format(10_000), &[]);
        check(&format(10_001), &[("/prompt", TooLong)]);
        check(&json!({ "type": kind, "schema": [] }), &[("/schema", InvalidType)]);
    }
    let attributes = |selectors: Value| json!({ "type": "attributes", "selectors": selectors });
    let selector = |selector: &str, attribute: &str| json!({ "selector": selector, "attribute": attribute });
    check(&attributes(json!([])), &[("/selectors", TooShort)]);
    check(&attributes(json!([selector("a:hover", "href")])), &[("/selectors/0/selector", InvalidFormat)]);
    check(&attributes(json!([selector("a", " ")])), &[("/selectors/0/attribute", TooShort)]);
    check(&attributes(json!([{ "selector": "a" }])), &[("/selectors/0/attribute", Missing)]);
    check(&attributes(json!(vec![selector("a", "href"); 50])), &[]);
    check(&attributes(json!(vec![selector("a", "href"); 51])), &[("/selectors", TooLong)]);
    check(&json!({ "type": "changeTracking", "modes": ["git-diff", "json"], "tag": "t" }), &[]);
    check(&json!({ "type": "changeTracking", "modes": ["git"] }), &[("/modes/0", UnknownValue)]);
}

#[test]
fn duplicate_formats_are_removed_or_conflict() {
    let body = json!({ "query": "q", "scrapeOptions": { "formats": ["html", { "type": "html" }, "links"] } });
    let plan = plan(&body);
    let names: Vec<_> = plan.scrape.as_ref().unwrap().formats.iter().map(Format::name).collect();
    assert_eq!(names, ["html", "links"]);
    check_option(
        "formats",
        &json!(["screenshot", { "type": "screenshot", "fullPage": true }]),
        &[("formats/1", Conflict)],
    );
}

#[test]
fn changes_need_the_markdown_in_the_same_list() {
    let check = |formats: Value, expected: Expected<'_>| check_option("formats", &formats, expected);
    check(json!(["changeTracking"]), &[("formats/0", Conflict)]);
    check(json!(["html", { "type": "changeTracking", "modes": [] }]), &[("formats/1", Conflict)]);
    check(json!(["changeTracking", "markdown"]), &[]);
    check(json!([{ "type": "markdown" }, "changeTracking"]), &[]);
}

#[test]
fn tracked_pages_are_never_read_from_the_cache() {
    let check = |options: Value, policy: Policy, max_age_ms: u64, expected: TrackingPlan| {
        let mut body = options.clone();
        body["formats"] = json!(["markdown", "changeTracking"]);
        let plan = read_request::<ScrapeOptions>(body.to_string().as_bytes(), &policy).unwrap().plan;
        assert_eq!((plan.max_age.as_millis(), plan.tracking), (max_age_ms.into(), expected), "{options}");
        assert_eq!(plan.change_tracking().is_some(), expected == TrackingPlan::On);
    };
    let day = 86_400_000;
    check(json!({}), Policy::default(), 0, TrackingPlan::On);
    check(json!({ "maxAge": day }), Policy::default(), 0, TrackingPlan::On);
    check(json!({ "maxAge": day, "minAge": 1 }), Policy::default(), day, TrackingPlan::CacheOnly);
    check(json!({ "maxAge": day, "lockdown": true }), Policy::default(), day, TrackingPlan::CacheOnly);
    let zdr = Policy { zdr: FeaturePolicy::Forced, ..Policy::default() };
    check(json!({ "maxAge": day }), zdr, day, TrackingPlan::ZeroRetention);
    let anon = Policy { anon: FeaturePolicy::Forced, ..Policy::default() };
    check(json!({ "maxAge": day }), anon, day, TrackingPlan::Anonymous);
    let off = read_request::<ScrapeOptions>(b"{}", &Policy::default()).unwrap().plan;
    assert_eq!(off.tracking, TrackingPlan::Off);
}
