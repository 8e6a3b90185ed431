//! The queries for words: in the fields with words as they are written, and in the subfields with stems.
//!
//! A page has the stems of its language, so that a page matches a word in one of the subfields. Words as they are written
//! count, too: they find words without their accents, and pages of an index without stems.

use serde_json::{Value, json};
use websvc_index::is_stop_word;
use websvc_validate::SourceKind;

use super::clauses::{all_words, boosted, constant_score, either, has_words, phrase_match};
use super::mapping::field;
use super::stems::{StemFields, Stems};

/// The fields that words are searched in as they are written, with their boosts.
const PAGE_FIELDS: &[(&str, f64)] =
    &[(field::TITLE, 3.0), (field::HEADINGS, 2.0), (field::URL_WORDS, 1.5), (field::BODY, 1.0)];

/// The boost of words as they are written, in addition to their stems.
const WRITTEN_BOOST: f64 = 0.1;
const STEMMED_PAGE_FIELDS: &[(&str, f64)] = &[
    (field::TITLE, WRITTEN_BOOST),
    (field::HEADINGS, WRITTEN_BOOST),
    (field::URL_WORDS, WRITTEN_BOOST),
    (field::BODY, WRITTEN_BOOST),
];
const PAGE_PHRASE_FIELDS: &[&str] = &[field::TITLE, field::HEADINGS, field::BODY];
const IMAGE_FIELDS: &[(&str, f64)] = &[(field::IMAGE_WORDS, 1.0)];
const IMAGE_PHRASE_FIELDS: &[&str] = &[field::IMAGE_WORDS];

/// The boost of stems in the title. The title is also part of the text, whose boost is 1.
const TITLE_STEM_BOOST: f64 = 0.3;

/// The boost of two words that are next to each other.
const PAIR_BOOST: f64 = 0.1;

/// The number of other words between such words, as far as a server counts changed positions.
const PAIR_SLOP: u32 = 3;

/// The maximum number of words for which documents with all words come before all others. In longer queries, many words
/// are dispensable (as in the embedded index).
const MAX_REQUIRED_WORDS: usize = 4;

/// A boost larger than any sum of other scores.
const ALL_WORDS_BOOST: f64 = 1000.0;
const ALL_OF_MANY_WORDS_BOOST: f64 = 10.0;

const ADJACENT_BOOST: f64 = 2.0;

/// The maximum number of words that are searched in every field. Servers limit the clauses of a query (OpenSearch: 1024).
const MAX_WORDS_IN_ALL_FIELDS: usize = 40;

/// The maximum number of words that rank. A query has at most 500 characters.
const MAX_WORDS: usize = 80;

/// The fields of a search for words.
#[derive(Clone, Copy)]
pub(super) struct Words<'a> {
    kind: SourceKind,
    /// The stemmed languages; `None` if words are searched as they are written.
    stems: Option<&'a Stems>,
}

/// The queries for the plain words of a search.
#[derive(Default)]
pub(super) struct WordQueries {
    /// A document has to match it, unless another text is required.
    pub(super) any: Option<Value>,
    /// The queries that only contribute to the score.
    pub(super) bonuses: Vec<Value>,
}

impl<'a> Words<'a> {
    /// Creates the fields for a kind of results. The texts of images are not stemmed, because a page has several images
    /// and only websvc knows which of them match.
    pub(super) fn new(kind: SourceKind, stems: Option<&'a Stems>) -> Self {
        Self { kind, stems: stems.filter(|_| kind != SourceKind::Images) }
    }

    /// Returns the queries for plain words. One match suffices; more matches score higher.
    pub(super) fn ranked(&self, words: &[&str]) -> WordQueries {
        let mut words = self.content_words(words);
        words.truncate(MAX_WORDS);
        let word = |word: &&str| {
            if words.len() > MAX_WORDS_IN_ALL_FIELDS { self.word_in_text(word) } else { self.word(word) }
        };
        let any: Vec<Value> = words.iter().map(word).collect();
        let is_short = words.len() <= MAX_REQUIRED_WORDS;
        let mut bonuses = Vec::new();
        if words.len() > 1 {
            if is_short || self.stems.is_none() {
                let boost = if is_short { ALL_WORDS_BOOST } else { ALL_OF_MANY_WORDS_BOOST };
                bonuses.push(constant_score(&json!({"bool": {"must": any}}), boost));
            }
            match self.stems {
                Some(_) => bonuses.extend(words.windows(2).map(|pair| self.pair(&pair.join(" ")))),
                None => {
                    let adjacent = self.phrase(&words.join(" "));
                    bonuses.extend(adjacent.map(|phrase| boosted(&phrase, ADJACENT_BOOST)));
                }
            }
        }
        let any = (!any.is_empty()).then(|| if any.len() == 1 { any[0].clone() } else { either(&any) });
        WordQueries { any, bonuses }
    }

    /// Returns the query for a word.
    pub(super) fn word(&self, text: &str) -> Value {
        let fields = match (self.kind, self.stems) {
            (SourceKind::Web | SourceKind::News, None) => PAGE_FIELDS,
            (SourceKind::Web | SourceKind::News, Some(_)) => STEMMED_PAGE_FIELDS,
            (SourceKind::Images, _) => IMAGE_FIELDS,
        };
        let mut alternatives: Vec<Value> =
            fields.iter().map(|(name, boost)| boosted(&all_words(name, text), *boost)).collect();
        for StemFields { title, text: all } in self.stem_fields(text) {
            alternatives.push(all_words(&all, text));
            alternatives.push(boosted(&all_words(&title, text), TITLE_STEM_BOOST));
        }
        either(&alternatives)
    }

    /// Returns the query for a word of a very long query.
    fn word_in_text(&self, text: &str) -> Value {
        if self.stems.is_none() {
            return self.word(text);
        }
        let stems = self.stem_fields(text).into_iter().map(|fields| all_words(&fields.text, text));
        let plain = [field::TITLE, field::BODY].map(|name| boosted(&all_words(name, text), WRITTEN_BOOST));
        either(&stems.chain(plain).collect::<Vec<_>>())
    }

    /// Returns the query for a quoted text, which matches as it is written; `None` if it has no words.
    pub(super) fn phrase(&self, text: &str) -> Option<Value> {
        let fields = match self.kind {
            SourceKind::Web | SourceKind::News => PAGE_PHRASE_FIELDS,
            SourceKind::Images => IMAGE_PHRASE_FIELDS,
        };
        let alternatives: Vec<Value> = fields.iter().map(|name| phrase_match(name, text)).collect();
        has_words(text).then(|| either(&alternatives))
    }

    /// Returns the query for the words of a text in the title.
    pub(super) fn in_title(&self, text: &str) -> Value {
        let name = self.title_field();
        let stems = self.stem_fields(text).into_iter().map(|fields| all_words(&fields.title, text));
        let alternatives: Vec<Value> = [all_words(name, text)].into_iter().chain(stems).collect();
        if let [only] = &alternatives[..] { only.clone() } else { either(&alternatives) }
    }

    /// Returns the query for a quoted text in the title.
    pub(super) fn phrase_in_title(&self, text: &str) -> Value {
        phrase_match(self.title_field(), text)
    }

    fn title_field(&self) -> &'static str {
        match self.kind {
            SourceKind::Web | SourceKind::News => field::TITLE,
            SourceKind::Images => field::IMAGE_WORDS,
        }
    }

    /// Returns the query for two words that are next to each other in any form.
    fn pair(&self, pair: &str) -> Value {
        let near =
            |StemFields { text, .. }| json!({"match_phrase": {text: {"query": pair, "slop": PAIR_SLOP}}});
        let alternatives: Vec<Value> = self.stem_fields(pair).into_iter().map(near).collect();
        boosted(&either(&alternatives), PAIR_BOOST)
    }

    /// Returns the subfields that a text is searched in.
    fn stem_fields(&self, text: &str) -> Vec<StemFields> {
        let Some(stems) = self.stems else { return Vec::new() };
        // The scripts of East Asia have no stems.
        let is_unstemmed = !text.chars().any(|c| c.is_alphabetic() && c < '\u{2e80}');
        if is_unstemmed { vec![Stems::unstemmed_fields()] } else { stems.fields().collect() }
    }

    /// Returns the words without stop words, or all words if there are no others. As in the embedded index, these are the
    /// stop words of the main language, and of the languages of which the query has at least two.
    fn content_words<'w>(&self, words: &[&'w str]) -> Vec<&'w str> {
        let Some(stems) = self.stems else { return words.to_vec() };
        let is_stop = |code: &str, word: &str| is_stop_word(&[code], &word.to_lowercase());
        let is_used = |(at, code): &(usize, &str)| {
            *at == 0 || words.iter().filter(|word| is_stop(code, word)).nth(1).is_some()
        };
        let languages: Vec<&str> = stems.codes().enumerate().filter(is_used).map(|(_, code)| code).collect();
        let is_content = |word: &&&str| !languages.iter().any(|code| is_stop(code, word));
        let content: Vec<&str> = words.iter().filter(is_content).copied().collect();
        if content.is_empty() { words.to_vec() } else { content }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clauses(query: &Value) -> usize {
        match query {
            Value::Object(object) => object
                .iter()
                .map(|(name, inner)| usize::from(name.starts_with("match")) + clauses(inner))
                .sum(),
            Value::Array(list) => list.iter().map(clauses).sum(),
            _ => 0,
        }
    }

    #[test]
    fn every_query_has_fewer_clauses_than_servers_allow() {
        let stems = Stems::new(None).unwrap();
        let words = Words::new(SourceKind::Web, Some(&stems));
        for count in [1, 2, 4, 5, 16, 40, 41, 80, 81, 250] {
            let texts: Vec<String> = (0..count).map(|at| format!("word{at}")).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let WordQueries { any, bonuses } = words.ranked(&texts);
            let all = clauses(&any.unwrap()) + bonuses.iter().map(clauses).sum::<usize>();
            assert!(all < 1000, "{count} words: {all} clauses");
        }
    }

    #[test]
    fn stop_words_do_not_rank_unless_there_are_no_others() {
        let stems = Stems::new(None).unwrap();
        let words = Words::new(SourceKind::Web, Some(&stems));
        for (query, expected) in [
            ("what is the price of tea", &["price", "tea"][..]),
            ("the who", &["the", "who"]),
            ("die hard", &["die", "hard"]),
            ("die Würde des Menschen", &["Würde", "Menschen"]),
        ] {
            let query: Vec<&str> = query.split(' ').collect();
            assert_eq!(words.content_words(&query), expected);
        }
        assert_eq!(Words::new(SourceKind::Web, None).content_words(&["the", "tea"]), ["the", "tea"]);
    }

    #[test]
    fn words_without_letters_that_are_stemmed_are_searched_in_one_subfield() {
        let stems = Stems::new(None).unwrap();
        let words = Words::new(SourceKind::Web, Some(&stems));
        let subfields = |text| words.word(text).to_string().matches("stems.").count();
        assert_eq!((subfields("tasks"), subfields("東京"), subfields("東京tower")), (10, 2, 10));
        assert_eq!(
            Words::new(SourceKind::Images, Some(&stems)).word("tasks").to_string().matches("stems.").count(),
            0
        );
    }
}
