//! Tests of the country of a search and of a location.

use serde_json::json;
use websvc_types::ViolationCode::UnknownValue;

use crate::support::{check_field, check_option, plan, scrape_plan};

#[test]
fn search_country_ignores_case() {
    for (text, country) in
        [("US", "US"), ("de", "DE"), ("Jp", "JP"), ("UK", "GB"), ("uk", "GB"), ("CA", "CA")]
    {
        let plan = plan(&json!({ "query": "q", "country": text }));
        assert_eq!((plan.country, plan.country_given), (country, true), "{text}");
    }
}

#[test]
fn unassigned_country_codes_are_rejected() {
    for text in ["XX", "ZZ", "USA", "U", "Germany", "D€", "ß"] {
        check_field("country", &json!(text), Some(UnknownValue));
    }
}

#[test]
fn empty_country_counts_as_absent() {
    let plan = plan(&json!({ "query": "q", "country": "" }));
    assert_eq!((plan.country, plan.country_given), ("US", false));
}

#[test]
fn location_country_is_checked_in_any_case() {
    for text in ["DE", "de", "De", ""] {
        check_option("location", &json!({ "country": text }), &[]);
    }
    for text in ["XX", "DEU", " DE"] {
        check_option("location", &json!({ "country": text }), &[("location/country", UnknownValue)]);
    }
    assert_eq!(scrape_plan(json!({})).location.country, "US");
    assert_eq!(scrape_plan(json!({ "location": { "country": "FR" } })).location.country, "FR");
}
