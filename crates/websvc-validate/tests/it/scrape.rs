//! Tests of scrape options.

use std::time::Duration;

use serde_json::{Value, json};
use websvc_types::ViolationCode::*;
use websvc_types::{Format, ParserKind, Profile, Proxy, RedactEntity, RedactMode, ScrapeOptions};
use websvc_validate::{Checked, FeaturePolicy, Policy, check_request};

use crate::support::{Expected, check_option, scrape_plan};

const TWO_DAYS: Duration = Duration::from_secs(2 * 86_400);
const TWO_YEARS: Duration = Duration::from_secs(2 * 365 * 86_400);

#[test]
fn scrape_options_have_their_defaults() {
    let checked = check_request(&ScrapeOptions::default(), &Policy::default()).unwrap();
    assert!(checked.warnings.is_empty());
    let plan = checked.plan;
    assert_eq!(plan.formats.iter().map(Format::name).collect::<Vec<_>>(), ["markdown"]);
    assert!(plan.only_main_content && !plan.only_clean_content);
    assert!(plan.include_tags.is_empty() && plan.exclude_tags.is_empty());
    assert_eq!((plan.max_age, plan.min_age), (TWO_DAYS, None));
    assert!(plan.headers.is_empty() && plan.actions.is_empty());
    assert_eq!((plan.wait_for, plan.timeout), (Duration::ZERO, Duration::from_secs(60)));
    assert!(!plan.mobile && plan.skip_tls_verification);
    assert_eq!(plan.parsers.iter().map(|parser| parser.kind).collect::<Vec<_>>(), [ParserKind::Pdf]);
    assert_eq!(plan.location.country, "US");
    assert!(plan.remove_base64_images && plan.block_ads);
    assert_eq!((plan.proxy, plan.wants_enhanced_proxy()), (Proxy::Auto, false));
    assert!(plan.store_in_cache && !plan.lockdown);
    assert!(plan.redact_pii.is_none() && plan.profile.is_none());
    assert!(plan.threat.is_none() && plan.audit.is_none());
}

#[test]
fn scrape_options_out_of_range_are_rejected() {
    let name = |length: usize| json!({ "name": "ü".repeat(length) });
    let user = |length: usize| json!({ "username": "ü".repeat(length) });
    let pages = |pages: i64| json!([{ "type": "pdf", "maxPages": pages }]);
    let table: &[(&str, Value, Expected<'_>)] = &[
        ("timeout", json!(1000), &[]),
        ("timeout", json!(300_000), &[]),
        ("timeout", json!(999), &[("timeout", TooSmall)]),
        ("timeout", json!(300_001), &[("timeout", TooBig)]),
        ("maxAge", json!(0), &[]),
        ("maxAge", json!(9_007_199_254_740_991_u64), &[]),
        ("maxAge", json!(9_007_199_254_740_992_u64), &[("maxAge", TooBig)]),
        ("minAge", json!(9_007_199_254_740_992_u64), &[("minAge", TooBig)]),
        ("includeTags", json!(["ul > li:nth-child(2)", "p:hover"]), &[("includeTags/1", InvalidFormat)]),
        ("excludeTags", json!(["p".repeat(2000)]), &[]),
        ("excludeTags", json!(["p".repeat(2001)]), &[("excludeTags/0", TooLong)]),
        ("excludeTags", json!([":not(".repeat(65)]), &[("excludeTags/0", InvalidFormat)]),
        ("maxAge", json!(-1), &[("maxAge", TooSmall)]),
        ("minAge", json!(1), &[]),
        ("minAge", json!(1e30), &[("minAge", TooBig)]),
        ("profile", name(1), &[]),
        ("profile", name(128), &[]),
        ("profile", name(0), &[("profile/name", TooShort)]),
        ("profile", name(129), &[("profile/name", TooLong)]),
        ("profile", json!({}), &[("profile/name", Missing)]),
        ("auditMetadata", user(0), &[]),
        ("auditMetadata", user(1024), &[]),
        ("auditMetadata", user(1025), &[("auditMetadata/username", TooLong)]),
        ("auditMetadata", json!({}), &[("auditMetadata/username", Missing)]),
        ("parsers", json!([]), &[]),
        ("parsers", json!(["pdf"]), &[]),
        ("parsers", pages(1), &[]),
        ("parsers", pages(10_000), &[]),
        ("parsers", pages(0), &[("parsers/0/maxPages", TooSmall)]),
        ("parsers", pages(10_001), &[("parsers/0/maxPages", TooBig)]),
        ("parsers", json!([{ "type": "image" }]), &[]),
        ("parsers", json!([{ "type": "docx" }]), &[("parsers/0/type", UnknownValue)]),
        ("parsers", json!(["pdf", { "type": "pdf", "mode": "ocr" }]), &[("parsers/1", Conflict)]),
        ("redactPII", json!({ "entities": ["NAME"] }), &[("redactPII/entities/0", UnknownValue)]),
        ("includeTags", json!(["main", ""]), &[("includeTags/1", TooShort)]),
        ("excludeTags", json!([1]), &[("excludeTags/0", InvalidType)]),
        ("lockdown", json!("no"), &[("lockdown", InvalidType)]),
    ];
    for (field, value, expected) in table {
        check_option(field, value, expected);
    }
}

#[test]
fn empty_list_of_parsers_stays_empty() {
    assert!(scrape_plan(json!({ "parsers": [] })).parsers.is_empty());
}

#[test]
fn lockdown_raises_the_default_max_age() {
    let max_age = |options: Value| scrape_plan(options).max_age;
    assert_eq!(max_age(json!({ "lockdown": true })), TWO_YEARS);
    assert_eq!(max_age(json!({ "lockdown": true, "maxAge": 5 })), Duration::from_millis(5));
    // The official Python client always sends this value.
    assert_eq!(max_age(json!({ "lockdown": true, "maxAge": 14_400_000 })), TWO_YEARS);
    assert_eq!(max_age(json!({ "maxAge": 14_400_000 })), Duration::from_secs(4 * 3600));
}

#[test]
fn personal_pages_are_not_stored() {
    let table = [
        (json!({}), true),
        (json!({ "storeInCache": true }), true),
        (json!({ "storeInCache": false }), false),
        (json!({ "storeInCache": true, "headers": { "cookie": "a=b" } }), false),
        (json!({ "headers": {} }), true),
        (json!({ "storeInCache": true, "actions": [{ "type": "scrape" }] }), false),
        (json!({ "actions": [] }), true),
        (json!({ "storeInCache": true, "profile": { "name": "p" } }), false),
        (json!({ "storeInCache": true, "lockdown": true }), false),
    ];
    for (options, stored) in table {
        assert_eq!(scrape_plan(options.clone()).store_in_cache, stored, "{options}");
    }
    let zero = Policy { zdr: FeaturePolicy::Forced, ..Policy::default() };
    let anonymous = Policy { anon: FeaturePolicy::Forced, ..Policy::default() };
    for policy in [zero, anonymous] {
        assert!(!check_request(&ScrapeOptions::default(), &policy).unwrap().plan.store_in_cache);
    }
}

#[test]
fn page_with_credentials_in_its_url_is_personal() {
    let plan = |body| {
        let request: websvc_types::ScrapeRequest = serde_json::from_value(body).unwrap();
        check_request(&request, &Policy::default()).unwrap().plan
    };
    let page = plan(json!({ "url": "http://user:secret@tea.test/a", "storeInCache": true }));
    assert_eq!(page.target.url.as_str(), "http://tea.test/a");
    assert_eq!(page.scrape.headers["authorization"], "Basic dXNlcjpzZWNyZXQ=");
    assert!(!page.scrape.store_in_cache);
    let with_header =
        plan(json!({ "url": "http://user:secret@tea.test/a", "headers": { "Authorization": "Bearer x" } }));
    assert_eq!(with_header.scrape.headers["authorization"], "Bearer x");
    assert!(plan(json!({ "url": "http://tea.test/a" })).scrape.store_in_cache);
}

#[test]
fn zero_retention_turns_clean_content_off_with_a_warning() {
    check_option("onlyCleanContent", &json!(true), &[]);
    let check = |lockdown: bool, policy: Policy, is_clean: bool| {
        let options = ScrapeOptions {
            only_clean_content: Some(true),
            lockdown: Some(lockdown),
            ..ScrapeOptions::default()
        };
        let Checked { plan, warnings } = check_request(&options, &policy).unwrap();
        assert_eq!(plan.only_clean_content, is_clean);
        let has_warning =
            |warning: &String| warning.starts_with("onlyCleanContent has no effect with zero data retention");
        assert_eq!(warnings.iter().filter(|warning| has_warning(warning)).count(), usize::from(!is_clean));
    };
    check(false, Policy::default(), true);
    check(true, Policy::default(), false);
    check(false, Policy { zdr: FeaturePolicy::Forced, ..Policy::default() }, false);
}

#[test]
fn profile_conflicts_with_zero_and_anonymous_retention() {
    check_option("profile", &json!({ "name": "p" }), &[]);
    let check = |policy: Policy| {
        let profile = Some(Profile { name: "p".to_owned(), save_changes: Some(false) });
        let options = ScrapeOptions { profile, ..ScrapeOptions::default() };
        let rejection = check_request(&options, &policy).unwrap_err();
        assert!(rejection.to_string().starts_with("profile is not supported"), "{rejection}");
    };
    check(Policy { zdr: FeaturePolicy::Forced, ..Policy::default() });
    check(Policy { anon: FeaturePolicy::Forced, ..Policy::default() });
}

#[test]
fn redact_pii_accepts_booleans_and_options() {
    let redact = |value: Value| scrape_plan(json!({ "redactPII": value })).redact_pii.clone();
    assert_eq!(redact(json!(false)), None);
    assert!(redact(json!(true)).is_some_and(|options| options.mode.is_none()));
    let options = redact(json!({ "mode": "fast", "entities": ["EMAIL"] })).unwrap();
    assert_eq!((options.mode, options.entities), (Some(RedactMode::Fast), Some(vec![RedactEntity::Email])));
    assert_eq!(redact(json!({ "entities": [] })).unwrap().entities, None);
}

#[test]
fn proxy_stealth_means_enhanced() {
    let plan = scrape_plan(json!({ "proxy": "stealth" }));
    assert!(plan.wants_enhanced_proxy());
    assert!(!scrape_plan(json!({ "proxy": "basic" })).wants_enhanced_proxy());
}
