//! Values of attributes of the elements that selectors match.

use crate::page::parse;
use websvc_extract::PageAttributes;
use websvc_types::format::AttributeSelector;
use websvc_types::limits::{ATTRIBUTE_VALUES_MAX, ATTRIBUTE_VALUES_MAX_BYTES};

fn attributes(html: &str, selectors: &[(&str, &str)]) -> PageAttributes {
    let selector = |(selector, attribute): &(&str, &str)| AttributeSelector {
        selector: (*selector).to_owned(),
        attribute: (*attribute).to_owned(),
    };
    parse(html).attributes(&selectors.iter().map(selector).collect::<Vec<_>>()).unwrap()
}

#[test]
fn white_space_around_a_selector_and_a_name_does_not_count() {
    let page = attributes("<b id=x></b>", &[(" b ", " ID ")]);
    assert_eq!((&*page.values[0].attribute, &page.values[0].values), (" ID ", &vec!["x".to_owned()]));
}

#[test]
fn values_beyond_the_number_of_one_selector_are_left_out() {
    let html = "<b id=x></b>".repeat(ATTRIBUTE_VALUES_MAX);
    let page = attributes(&html, &[("b", "id"), ("b", "id")]);
    assert!(page.is_complete && page.values.iter().all(|found| found.values.len() == ATTRIBUTE_VALUES_MAX));
    let page = attributes(&format!("{html}<b id=y></b>"), &[("b", "id")]);
    assert!(!page.is_complete && page.values[0].values.len() == ATTRIBUTE_VALUES_MAX);
}

#[test]
fn values_beyond_the_size_of_all_selectors_are_left_out() {
    let value = "x".repeat(ATTRIBUTE_VALUES_MAX_BYTES / 2);
    let page = attributes(&format!("<b id={value}></b>"), &[("b", "id"), ("b", "id"), ("b", "id")]);
    let counts: Vec<usize> = page.values.iter().map(|found| found.values.len()).collect();
    assert_eq!((counts, page.is_complete), (vec![1, 1, 0], false));
}
