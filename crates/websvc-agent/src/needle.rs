//! The search for a value in pages: its text, and the numbers and words that it may be written as.

use serde_json::Value;

use crate::filled::is_empty;
use crate::numbers::{number_readings, states};
use crate::page::{Page, Passage, url_key, words};
use crate::word_index::{Place, WordIndex};

/// The maximum number of passages that are compared for one value.
pub(crate) const MAX_CANDIDATES: usize = 40;

/// The number of words from which a text is a summary, and the part of its longer words that a passage must contain.
const SUMMARY_WORDS: usize = 8;
const SUMMARY_PERCENT: usize = 70;

/// The maximum number of numbers of a text that are compared apart from their order.
const MAX_NUMBERS: usize = 2;

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

/// A value in the form in which it is looked up.
#[derive(Debug)]
pub(crate) enum Needle {
    Number(f64),
    Url {
        url: String,
        /// The URL in the form of the addresses of a page.
        key: String,
    },
    Text(TextNeedle),
}

#[derive(Debug)]
pub(crate) struct TextNeedle {
    /// The words of the text, and of other spellings.
    spellings: Vec<String>,
    /// The readings of its numbers if it has few, and the words that must occur with them.
    numbers: Vec<Vec<f64>>,
    numbered_words: Vec<String>,
    /// The longer words of a summary, each once.
    summary: Vec<String>,
    /// The number of words of the summary that a passage must contain.
    min_summary: usize,
}

impl Needle {
    /// Returns the form of a value; `None` if it cannot have a source.
    pub(crate) fn new(value: &Value) -> Option<Self> {
        match value {
            value if is_empty(value) => None,
            Value::Number(number) => number.as_f64().map(Self::Number),
            Value::String(text) if is_url(text) => {
                let url = text.trim();
                Some(Self::Url { url: url.to_owned(), key: url_key(url) })
            }
            Value::String(text) => TextNeedle::new(text).map(Self::Text),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    pub(crate) fn is_in(&self, passage: &Passage) -> bool {
        match self {
            Self::Number(value) => states(&passage.numbers, *value),
            Self::Url { url, key: _ } => passage.text.contains(url.as_str()),
            Self::Text(text) => text.is_in(passage),
        }
    }

    pub(crate) fn is_address_of(&self, page: &Page) -> bool {
        let Self::Url { url: _, key } = self else { return false };
        page.addresses.contains(key)
    }

    /// Returns the line of a passage that states the value and the most of its neighbors, or else all of it.
    pub(crate) fn excerpt<'a>(&self, passage: &'a Passage, neighbors: &[&Self]) -> &'a str {
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
        let min_summary = (summary.len() * SUMMARY_PERCENT).div_ceil(100);
        Some(Self { spellings, numbers, numbered_words, summary, min_summary })
    }

    /// Returns the first places whose passages state the text.
    pub(crate) fn places(&self, index: &WordIndex<'_>) -> Vec<Place> {
        // The first places of each form are enough: the first ones of all are among them.
        let mut stating: Vec<usize> = Vec::new();
        for spelling in &self.spellings {
            let candidates = index.candidates(spelling.split_whitespace());
            let with_spelling = candidates.iter().filter(|at| has(index.get(**at).1, spelling));
            stating.extend(with_spelling.take(MAX_CANDIDATES));
        }
        if !self.numbers.is_empty() {
            let candidates = index.candidates(self.numbered_words.iter().map(|word| word.trim()));
            let with_numbers = candidates.iter().filter(|at| self.has_numbers_of(index.get(**at).1));
            stating.extend(with_numbers.take(MAX_CANDIDATES));
        }
        if !self.summary.is_empty() {
            let words = self.summary.iter().map(|word| word.trim());
            stating.extend(index.with_several(words, self.min_summary));
        }
        stating.sort_unstable();
        stating.dedup();
        stating.iter().take(MAX_CANDIDATES).map(|at| index.get(*at).0).collect()
    }

    fn is_in(&self, passage: &Passage) -> bool {
        self.spellings.iter().any(|spelling| has(passage, spelling))
            || self.has_numbers_of(passage)
            || self.is_summary_of(passage)
    }

    fn has_numbers_of(&self, passage: &Passage) -> bool {
        let is_stated = |readings: &Vec<f64>| readings.iter().any(|value| states(&passage.numbers, *value));
        !self.numbers.is_empty()
            && self.numbers.iter().all(is_stated)
            && self.numbered_words.iter().all(|word| has(passage, word))
    }

    fn is_summary_of(&self, passage: &Passage) -> bool {
        // The words that must occur have a minimum length and a space each, so most lines are too short for them.
        !self.summary.is_empty()
            && passage.words.len() > self.min_summary * (SUMMARY_WORD_CHARS + 1)
            && self.summary.iter().filter(|word| has(passage, word)).count() >= self.min_summary
    }
}

/// Returns whether a passage has words, which have a space before and after each.
fn has(passage: &Passage, words: &str) -> bool {
    passage.words.contains(words)
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
    // The words of `2026年3月5日` and `2026년 3월 5일`.
    spellings.push(format!(" {year} 年 {month} 月 {day} 日 "));
    spellings.push(format!(" {year} 년 {month} 월 {day} 일 "));
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
    use std::sync::Arc;

    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::tool::ReadPage;

    const WORDS: &[&str] = &[
        "green",
        "tea",
        "a",
        "Assam",
        "lisbon",
        "porto",
        "founded",
        "company",
        "moved",
        "5",
        "49.99",
        "USD",
        "march",
        "2026",
        "2026-03-05",
    ];

    fn page(passages: Vec<Vec<&str>>) -> Arc<Page> {
        let empty = String::new;
        let read = ReadPage { url: empty(), title: empty(), markdown: empty(), links: Vec::new() };
        let passages = passages.into_iter().map(|words| Passage::new(words.join(" "))).collect();
        Arc::new(Page { passages, ..Page::new(read) })
    }

    proptest! {
        #[test]
        fn index_leads_to_the_passages_that_state_a_text(
            pages in vec(vec(vec(select(WORDS), 1..20), 0..8), 1..4),
            value in vec(select(WORDS), 1..14),
        ) {
            let pages: Vec<Arc<Page>> = pages.into_iter().map(page).collect();
            let Some(text) = TextNeedle::new(&value.join(" ")) else { panic!("it has words") };
            let stating = (0..).zip(&pages).flat_map(|(at, page)| (0..).zip(&page.passages).map(move |(passage, text)| ((at, passage), text)));
            let expected: Vec<Place> =
                stating.filter(|(_, passage)| text.is_in(passage)).map(|(place, _)| place).take(MAX_CANDIDATES).collect();
            prop_assert_eq!(text.places(&WordIndex::new(&pages)), expected);
        }
    }
}
