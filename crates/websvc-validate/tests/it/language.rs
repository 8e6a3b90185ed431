//! Tests of the languages of a location.

use serde_json::json;
use websvc_types::ViolationCode::{InvalidFormat, TooLong};

use crate::support::{check_option, scrape_plan};

#[test]
fn language_tags_follow_bcp_47() {
    for tag in ["en", "en-US", "pt_BR", "zh-Hant-TW", "gsw", "sl-rozaj-biske-1994", "de-CH-1901"] {
        check_option("location", &json!({ "languages": [tag] }), &[]);
    }
    for tag in ["", "e", "en-", "-en", "en--US", "engl", "english language", "en-verylongpart", "12", "e🦀"]
    {
        check_option(
            "location",
            &json!({ "languages": ["en", tag] }),
            &[("location/languages/1", InvalidFormat)],
        );
    }
}

#[test]
fn languages_keep_their_order_without_duplicates() {
    let plan = scrape_plan(json!({ "location": { "languages": ["pt_BR", "en", "pt-BR"] } }));
    assert_eq!(plan.location.languages, ["pt-BR", "en"]);
    assert!(scrape_plan(json!({})).location.languages.is_empty());
}

#[test]
fn more_than_20_languages_are_rejected() {
    check_option("location", &json!({ "languages": vec!["en"; 20] }), &[]);
    check_option("location", &json!({ "languages": vec!["en"; 21] }), &[("location/languages", TooLong)]);
}
