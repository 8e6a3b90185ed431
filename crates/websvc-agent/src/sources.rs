//! Finds the passages that state the values of the data.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use websvc_model::{cut, one_line};

use crate::merge::is_empty;
use crate::numbers::{number_readings, states};
use crate::page::{Page, Passage, url_key, words};
use crate::report::ValueSource;

/// The maximum number of values that are looked up.
const MAX_VALUES: usize = 500;

/// The maximum number of passages that are compared for one value.
const MAX_CANDIDATES: usize = 40;

/// The maximum length of the passage of a source.
const MAX_EXCERPT_CHARS: usize = 400;

/// The number of words from which a text is a summary, and the part of its longer words that a passage must contain.
const SUMMARY_WORDS: usize = 8;
const SUMMARY_RATIO: f64 = 0.7;

/// The maximum number of numbers of a text that are compared apart from their order.
const MAX_NUMBERS: usize = 2;

/// The maximum number of other values that are compared to choose a line.
const MAX_NEIGHBORS: usize = 20;

/// The minimum length of a word of a summary that is compared.
const SUMMARY_WORD_CHARS: usize = 4;

/// Names of currencies. A page states them as signs.
const CURRENCIES: &[&str] =
    &["usd", "eur", "gbp", "chf", "jpy", "euro", "euros", "dollars", "dollar", "pounds"];

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

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
    let mut lookup = Lookup { pages, sources: Sources::default(), remaining: MAX_VALUES };
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
    sources: Sources,
    remaining: usize,
}

/// A passage by the indexes of its page and of itself.
type Place = (usize, usize);

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

/// A value in the form in which it is looked up.
#[derive(Debug)]
enum Needle {
    Number(f64),
    Url(String),
    Text(TextNeedle),
}

#[derive(Debug)]
struct TextNeedle {
    /// The words of the text, and of other spellings.
    spellings: Vec<String>,
    /// The readings of its numbers if it has few, and the words that must occur with them.
    numbers: Vec<Vec<f64>>,
    numbered_words: Vec<String>,
    /// The longer words of a summary.
    summary: Vec<String>,
}

impl Needle {
    /// Returns the form of a value; `None` if it cannot have a source.
    fn new(value: &Value) -> Option<Self> {
        match value {
            value if is_empty(value) => None,
            Value::Number(number) => number.as_f64().map(Self::Number),
            Value::String(text) if is_url(text) => Some(Self::Url(text.trim().to_owned())),
            Value::String(text) => TextNeedle::new(text).map(Self::Text),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    fn is_in(&self, passage: &Passage) -> bool {
        match self {
            Self::Number(value) => states(&passage.numbers, *value),
            Self::Url(url) => passage.text.contains(url.as_str()),
            Self::Text(text) => text.is_in(passage),
        }
    }

    fn is_address_of(&self, page: &Page) -> bool {
        let Self::Url(url) = self else { return false };
        let key = url_key(url);
        url_key(&page.url) == key || page.links.iter().any(|link| url_key(&link.url) == key)
    }

    /// Returns the line of a passage that states the value and the most of its neighbors, or else all of it.
    fn excerpt<'a>(&self, passage: &'a Passage, neighbors: &[&Self]) -> &'a str {
        let mut best = (0, passage.text.as_str());
        for line in passage.text.lines() {
            let part = Passage::new(line.to_owned());
            let count = 1 + neighbors.iter().filter(|needle| needle.is_in(&part)).count();
            if count > best.0 && self.is_in(&part) {
                best = (count, line);
            }
        }
        best.1
    }
}

impl TextNeedle {
    fn new(text: &str) -> Option<Self> {
        let words_of_text = words(text);
        let all: Vec<&str> = words_of_text.split_whitespace().collect();
        if all.is_empty() {
            return None;
        }
        let mut spellings = vec![words_of_text.clone()];
        let dates = date_spellings(text);
        let mut numbers = number_readings(text);
        if !dates.is_empty() || numbers.len() > MAX_NUMBERS {
            numbers.clear();
        }
        spellings.extend(dates);
        let is_word =
            |word: &&&str| !word.contains(|c: char| c.is_ascii_digit()) && !CURRENCIES.contains(*word);
        let numbered_words = match numbers.is_empty() {
            true => Vec::new(),
            false => all.iter().filter(is_word).map(|word| format!(" {word} ")).collect(),
        };
        let mut summary: Vec<String> = Vec::new();
        if all.len() >= SUMMARY_WORDS {
            let long = all.iter().filter(|word| word.chars().count() >= SUMMARY_WORD_CHARS);
            summary = long.map(|word| format!(" {word} ")).collect();
            summary.sort_unstable();
            summary.dedup();
        }
        Some(Self { spellings, numbers, numbered_words, summary })
    }

    fn is_in(&self, passage: &Passage) -> bool {
        let Self { spellings, numbers, numbered_words, summary } = self;
        let contains = |word: &String| passage.words.contains(word.as_str());
        if spellings.iter().any(contains) {
            return true;
        }
        let is_stated = |readings: &Vec<f64>| readings.iter().any(|value| states(&passage.numbers, *value));
        let has_numbers = !numbers.is_empty() && numbers.iter().all(is_stated);
        if has_numbers && numbered_words.iter().all(contains) {
            return true;
        }
        let found = summary.iter().filter(|word| contains(word)).count();
        !summary.is_empty() && found as f64 >= summary.len() as f64 * SUMMARY_RATIO
    }
}

fn is_url(text: &str) -> bool {
    let text = text.trim();
    (text.starts_with("http://") || text.starts_with("https://")) && !text.contains(char::is_whitespace)
}

/// Returns the words of a date of the form `2026-03-05` in the spellings of pages.
fn date_spellings(text: &str) -> Vec<String> {
    let text = text.trim();
    let date = text.get(..10).filter(|_| text.len() == 10 || text[10..].starts_with('T'));
    let Some(date) = date else { return Vec::new() };
    let mut parts = date.splitn(3, '-').map(|part| part.parse::<usize>().ok());
    let (Some(Some(year)), Some(Some(month)), Some(Some(day))) = (parts.next(), parts.next(), parts.next())
    else {
        return Vec::new();
    };
    let Some(name) = month.checked_sub(1).and_then(|index| MONTHS.get(index)) else { return Vec::new() };
    let short = &name[..3];
    let mut spellings = vec![words(date)];
    for name in [name, short] {
        spellings.push(format!(" {day} {name} {year} "));
        spellings.push(format!(" {name} {day} {year} "));
        spellings.push(format!(" {day:02} {name} {year} "));
    }
    spellings.push(format!(" {day:02} {month:02} {year} "));
    spellings.push(format!(" {month:02} {day:02} {year} "));
    spellings.push(format!(" {day} {month} {year} "));
    spellings.push(format!(" {month} {day} {year} "));
    spellings
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
        check(&json!("in_stock"), "In stock", true);
        check(&json!("http://a.test/buy"), "x", true);
        check(&json!("http://a.test/tea"), "x", true);
        let text = "The company was founded in Lisbon by Maria Sousa and later moved to Porto.";
        check(&json!("Maria Sousa founded the company in Lisbon; it moved to Porto later"), text, true);
    }

    #[test]
    fn other_values_are_not_found() {
        check(&json!("Green Tea"), "We sell green coffee and tea.", false);
        check(&json!("tea"), "steam teapot", false);
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
