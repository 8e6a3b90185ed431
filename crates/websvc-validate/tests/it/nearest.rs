//! Misspelt names.

use websvc_validate::suggest;

#[test]
fn a_near_name_is_found() {
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
fn a_text_of_any_length_is_answered() {
    assert_eq!(suggest(&"limit".repeat(1_000_000), ["limit"]), None);
}
