//! Tests of valid and invalid selectors.

#![allow(clippy::unwrap_used, reason = "a failure fails the test")]

use proptest::prelude::*;
use websvc_selector::{Dialect, MAX_BRACKETS, MAX_BYTES, Selector, SelectorError};

fn check(text: &str, page: bool, browser: bool) {
    assert_eq!(Selector::parse(text, Dialect::Page).is_ok(), page, "{text} for a page");
    assert_eq!(Selector::parse(text, Dialect::Browser).is_ok(), browser, "{text} for a browser");
}

#[test]
fn structure_and_attributes_are_supported_in_both_dialects() {
    for text in [
        "p",
        "*",
        "main, article > p",
        "#id.class[href^='https:' i]",
        "li:nth-child(2n + 1 of .item)",
        "p:not(.ad, .sponsored):first-of-type",
        ":is(h1, h2) + p ~ ul",
        "ül",
        r"#\31 23",
        "custom-element",
    ] {
        check(text, true, true);
    }
}

#[test]
fn states_and_has_are_supported_only_in_browsers() {
    for text in ["a:hover", "input:checked", "div:has(> table)", "p:lang(de)", "x:not-yet-known(1 2)"] {
        check(text, false, true);
    }
}

#[test]
fn invalid_selectors_are_rejected() {
    for text in
        ["", " ", "p[", "..x", "a >", "> a", "%", "p::before", "a,,b", "a,", "#", "1a", ":is(p, %)", "a{}"]
    {
        check(text, false, false);
    }
}

#[test]
fn limits_are_exact() {
    let nested = |depth: usize| format!("{}p{}", ":not(".repeat(depth), ")".repeat(depth));
    check(&nested(MAX_BRACKETS), true, true);
    let error = Selector::parse(&nested(MAX_BRACKETS + 1), Dialect::Page).unwrap_err();
    assert_eq!(error, SelectorError::TooNested);
    check(&"p".repeat(MAX_BYTES), true, true);
    let error = Selector::parse(&"p".repeat(MAX_BYTES + 1), Dialect::Browser).unwrap_err();
    assert_eq!(error, SelectorError::TooLong);
}

proptest! {
    #[test]
    fn every_selector_of_pages_is_one_of_browsers(text in "[a-z.#:>~+*(), '\"\\\\\\[\\]{}=-]{0,40}|\\PC{0,40}") {
        let page = Selector::parse(&text, Dialect::Page).is_ok();
        let browser = Selector::parse(&text, Dialect::Browser).is_ok();
        prop_assert!(browser || !page, "browsers support every selector of pages");
    }
}
