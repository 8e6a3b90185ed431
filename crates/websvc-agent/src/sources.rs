//! Finds the passages that state the values of the data.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use websvc_model::{cut, one_line};

use crate::needle::{MAX_CANDIDATES, Needle};
use crate::page::Page;
use crate::report::ValueSource;
use crate::word_index::{Place, WordIndex};

/// The maximum number of values that are looked up.
const MAX_VALUES: usize = 500;

/// The maximum length of the passage of a source.
const MAX_EXCERPT_CHARS: usize = 400;

/// The maximum number of other values that are compared to choose a line.
const MAX_NEIGHBORS: usize = 20;

/// The sources of values, and the values without one.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    pub(crate) found: Vec<ValueSource>,
    pub(crate) unsourced: Vec<Unsourced>,
    /// True if there are more values than are looked up.
    pub(crate) is_incomplete: bool,
}

/// A value that no page states.
#[derive(Debug)]
pub(crate) struct Unsourced {
    pub(crate) pointer: String,
    pub(crate) value: Value,
}

/// Looks up the values of the data in pages. Texts are compared without case and punctuation, numbers in the notations of
/// several languages, and long texts by their words. Booleans and empty values have no source.
pub(crate) fn find_sources(data: &Value, pages: &[Arc<Page>]) -> Sources {
    let index = OnceCell::new();
    let mut lookup = Lookup { pages, index, sources: Sources::default(), remaining: MAX_VALUES };
    lookup.visit(data, &mut String::new());
    lookup.sources
}

/// Returns whether one of the passages of a page states a value, or the value cannot have a source.
pub(crate) fn is_stated(value: &Value, page: &Page) -> bool {
    Needle::new(value).is_none_or(|needle| {
        needle.is_address_of(page) || page.passages.iter().any(|passage| needle.is_in(passage))
    })
}

struct Lookup<'a> {
    pages: &'a [Arc<Page>],
    /// The words of the pages, once a text is looked up.
    index: OnceCell<WordIndex<'a>>,
    sources: Sources,
    remaining: usize,
}

impl Lookup<'_> {
    fn visit(&mut self, value: &Value, pointer: &mut String) {
        let children: Vec<(String, &Value)> = match value {
            Value::Object(fields) => {
                fields.iter().map(|(key, value)| (key.replace('~', "~0").replace('/', "~1"), value)).collect()
            }
            Value::Array(items) => {
                items.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                return self.look_up(&[(pointer.clone(), value)]);
            }
        };
        let (mut scalars, mut nested) = (Vec::new(), Vec::new());
        for (key, child) in children {
            let pointer = format!("{pointer}/{key}");
            if child.is_object() || child.is_array() {
                nested.push((pointer, child));
            } else {
                scalars.push((pointer, child));
            }
        }
        self.look_up(&scalars);
        for (mut pointer, child) in nested {
            self.visit(child, &mut pointer);
        }
    }

    /// Looks up the values of one object or list. Of several passages that state a value, the one that states the most of
    /// them is the source: a price occurs on many lines, but not next to the name of its product.
    fn look_up(&mut self, values: &[(String, &Value)]) {
        let mut found: Vec<(&str, &Value, Needle, Vec<Place>)> = Vec::new();
        let mut counts: HashMap<Place, usize> = HashMap::new();
        for (pointer, value) in values {
            let Some(needle) = Needle::new(value) else { continue };
            if self.remaining == 0 {
                self.sources.is_incomplete = true;
                break;
            }
            self.remaining -= 1;
            let places = self.places(&needle);
            for place in &places {
                *counts.entry(*place).or_default() += 1;
            }
            found.push((pointer, value, needle, places));
        }
        let needles: Vec<&Needle> =
            found.iter().map(|(_, _, needle, _)| needle).take(MAX_NEIGHBORS).collect();
        for (pointer, value, needle, places) in &found {
            // The first one of several that are equally good.
            let best = places.iter().rev().max_by_key(|place| counts[*place]);
            let pointer = (*pointer).to_owned();
            let Some((page, passage)) = best else {
                self.sources.unsourced.push(Unsourced { pointer, value: (*value).clone() });
                continue;
            };
            let page = &self.pages[*page];
            let passage = page.passages.get(*passage).map_or("", |passage| needle.excerpt(passage, &needles));
            let passage = cut(&one_line(passage), MAX_EXCERPT_CHARS);
            self.sources.found.push(ValueSource { pointer, url: page.url.clone(), passage });
        }
    }

    fn places(&self, needle: &Needle) -> Vec<Place> {
        if let Needle::Text(text) = needle {
            return text.places(self.index.get_or_init(|| WordIndex::new(self.pages)));
        }
        let mut places = Vec::new();
        for (page_index, page) in self.pages.iter().enumerate() {
            let before = places.len();
            for (index, passage) in page.passages.iter().enumerate() {
                if places.len() < MAX_CANDIDATES && needle.is_in(passage) {
                    places.push((page_index, index));
                }
            }
            if places.len() == before && needle.is_address_of(page) {
                places.push((page_index, 0));
            }
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tool::{Link, ReadPage};

    fn page(url: &str, markdown: &str) -> Arc<Page> {
        let links = vec![Link { url: "http://a.test/buy".into(), text: "Buy".into() }];
        let (url, markdown) = (url.to_owned(), markdown.to_owned());
        Arc::new(Page::new(ReadPage { url, title: String::new(), markdown, links }))
    }

    #[track_caller]
    fn check(value: &Value, markdown: &str, expected: bool) {
        let page = page("http://a.test/tea", markdown);
        assert_eq!(is_stated(value, &page), expected, "{value} in {markdown:?}");
        let sources = find_sources(&json!({ "a/b": value }), &[page]);
        assert_eq!(sources.unsourced.is_empty(), expected, "{sources:?}");
        if let [source] = sources.found.as_slice() {
            assert_eq!((source.pointer.as_str(), source.url.as_str()), ("/a~1b", "http://a.test/tea"));
        }
    }

    #[test]
    fn values_are_found_in_other_spellings() {
        check(&json!("Green Tea"), "We sell **green** [tea](http://x.test/cup).", true);
        check(&json!(1299.5), "It costs 1.299,50 €.", true);
        check(&json!("49.99 USD"), "Only $49.99 today", true);
        check(&json!("2026-03-05"), "Published March 5, 2026 by us", true);
        check(&json!("2026-03-05T10:00:00Z"), "Am 05.03.2026", true);
        check(&json!("2026-03-05"), "2026年3月5日より", true);
        check(&json!("in_stock"), "In stock", true);
        check(&json!("龙井"), "本店的龙井售价是每罐320元。", true);
        check(&json!("320元"), "本店的龙井售价是每罐320元。", true);
        check(&json!("녹차"), "이 녹차의 가격은 오천 원입니다.", true);
        check(&json!("http://a.test/buy"), "x", true);
        check(&json!("http://a.test/tea"), "x", true);
        let text = "The company was founded in Lisbon by Maria Sousa and later moved to Porto.";
        check(&json!("Maria Sousa founded the company in Lisbon; it moved to Porto later"), text, true);
    }

    #[test]
    fn other_values_are_not_found() {
        check(&json!("Green Tea"), "We sell green coffee and tea.", false);
        check(&json!("tea"), "steam teapot", false);
        check(&json!("龙井"), "本店的井水和龙舟", false);
        check(&json!("320元"), "本店的龙井售价是每罐330元。", false);
        check(&json!(12), "It costs 1.299,50 €.", false);
        check(&json!("49.99 USD"), "Only $39.99 today", false);
        check(&json!("12 bags"), "12 boxes", false);
        check(&json!("2026-03-05"), "Published March 6, 2026", false);
        check(&json!("http://b.test/"), "x", false);
        check(
            &json!("Maria Sousa founded the company in Lisbon; it moved to Porto later"),
            "Maria Sousa",
            false,
        );
        check(&json!("cup"), "[tea](http://x.test/cup)", false);
    }

    #[test]
    fn values_without_sources_are_not_missed() {
        let sources = find_sources(&json!({ "a": null, "b": true, "c": "", "d": [] }), &[]);
        assert!(sources.found.is_empty() && sources.unsourced.is_empty());
    }

    #[test]
    fn source_is_the_passage_with_the_other_values_of_the_object() {
        let filler = "word ".repeat(170);
        let page = page(
            "http://a.test/",
            &format!("Assam {filler}\n\n5 {filler}\n\n- Sencha 5\n- Assam: 5\n\n{filler}"),
        );
        let sources = find_sources(&json!({ "teas": [{ "name": "Assam", "price": 5 }] }), &[page]);
        let found: Vec<_> = sources.found.iter().map(|s| (s.pointer.as_str(), s.passage.as_str())).collect();
        assert_eq!(found, [("/teas/0/name", "- Assam: 5"), ("/teas/0/price", "- Assam: 5")]);
    }

    #[test]
    fn number_of_lookups_is_limited() {
        let sources = find_sources(&json!(vec![1; 600]), &[]);
        assert!(sources.is_incomplete);
        assert_eq!(sources.unsourced.len(), MAX_VALUES);
    }
}
