//! Tests of suggestions for misspelled names.

use websvc_validate::suggest;

#[test]
fn similar_name_is_suggested() {
    let known = ["limit", "timeout", "scrapeOptions", "ignoreInvalidURLs", "tbs"];
    let table = [
        ("limits", Some("limit")),
        ("LIMIT", Some("limit")),
        ("tiemout", Some("timeout")),
        ("scrape_options", Some("scrapeOptions")),
        ("ignoreInvalidUrls", Some("ignoreInvalidURLs")),
        ("tbx", Some("tbs")),
        ("xyz", None),
        ("", None),
        ("colour", None),
    ];
    for (text, expected) in table {
        assert_eq!(suggest(text, known), expected, "{text}");
    }
}

#[test]
fn very_long_text_has_no_suggestion() {
    assert_eq!(suggest(&"limit".repeat(1_000_000), ["limit"]), None);
}
