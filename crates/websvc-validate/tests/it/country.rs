//! Countries of the searcher and of the visit.

use serde_json::json;
use websvc_types::ViolationCode::UnknownValue;

use crate::support::{check_field, check_option, plan, scrape_plan};

#[test]
fn the_searchers_country_may_be_in_any_case() {
    for (text, country) in
        [("US", "US"), ("de", "DE"), ("Jp", "JP"), ("UK", "GB"), ("uk", "GB"), ("CA", "CA")]
    {
        let plan = plan(&json!({ "query": "q", "country": text }));
        assert_eq!((plan.country(), plan.country_given()), (country, true), "{text}");
    }
}

#[test]
fn a_country_must_exist() {
    for text in ["XX", "ZZ", "USA", "U", "Germany", "D€", "ß"] {
        check_field("country", &json!(text), Some(UnknownValue));
    }
}

#[test]
fn an_empty_country_is_not_given() {
    let plan = plan(&json!({ "query": "q", "country": "" }));
    assert_eq!((plan.country(), plan.country_given()), ("US", false));
}

#[test]
fn the_country_of_a_visit_is_two_letters_in_any_case() {
    for text in ["DE", "de", "De", ""] {
        check_option("location", &json!({ "country": text }), &[]);
    }
    for text in ["XX", "DEU", " DE"] {
        check_option("location", &json!({ "country": text }), &[("location/country", UnknownValue)]);
    }
    assert_eq!(scrape_plan(json!({})).location().country(), "US");
    assert_eq!(scrape_plan(json!({ "location": { "country": "FR" } })).location().country(), "FR");
}
