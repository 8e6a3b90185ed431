//! Conversion of query words into terms of the index.
//!
//! The language of a query is unknown, so each word is stemmed in every language of the index. Most stemmers return the
//! same stem for most words, so that usually only one or two terms remain.

use tantivy::schema::IndexRecordOption;
use tantivy::{Searcher, Term};

use crate::analysis::{Kind, Language, Word, each_word, fold, folded, is_unit, other_numbers};
use crate::lexicon::SharedLexicon;
use crate::schema::{Fields, JOINED_MARK, STEM_MARK};

/// Maximum languages in which words are stemmed, the most frequent first.
const MAX_LANGUAGES: usize = 8;

/// Maximum indexed units that match a single ideograph.
const MAX_SINGLE_FORMS: usize = 32;

/// The languages and cached words of one searcher generation.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    /// The languages of the index; `None` represents all languages without a stemmer.
    languages: Vec<Option<Language>>,
    /// The cached words of texts that were used for query expansion.
    pub(crate) lexicon: SharedLexicon,
}

/// A unit of a query: a word, or a part of a text without spaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueryWord {
    /// The folded unit without stemming: a term of the fields `exact`, `title` and `url_words`.
    pub(crate) exact: String,
    /// Its distinct forms in the field `terms`; empty for a stop word.
    pub(crate) forms: Vec<String>,
    /// Number of occurrences in the query.
    pub(crate) count: u16,
    /// True if the word is of a script with spaces, so that pages may write it and its neighbor as one word.
    pub(crate) spaced: bool,
    /// The mark of the word as typed (see [`crate::analysis::Word::mark`]); `None` for a stop word.
    pub(crate) mark: Option<String>,
    /// The word with its apostrophe as one word: `oreilly` for `O'Reilly`, whose word is `reilly`.
    pub(crate) joined: Option<String>,
}

/// Words of the index that stand for one or two words of a query. Some pages have `antiinflammatory` and `healthcare` in
/// place of `anti-inflammatory` and `health care`, and some have only compounds with a word.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Compound {
    /// The words of the query as in [`QueryWord::exact`].
    pub(crate) parts: Vec<String>,
    /// Its forms in the field `terms`.
    pub(crate) forms: Vec<String>,
    /// Weight in the ranking, relative to the words of the query.
    pub(crate) weight: f32,
}

/// Treatment of abbreviations such as `U.S.A.`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Abbreviations {
    /// Each letter is a word.
    Apart,
    /// The abbreviation is one word, if the index has it.
    Joined,
}

/// Weight of a number with its unit as one word.
const MEASURE_WEIGHT: f32 = 2.0;

/// Weight of another spelling of a word.
const SPELLING_WEIGHT: f32 = 0.5;

/// A unit of a query as it is written.
struct Unit {
    lower: String,
    kind: Kind,
    mark: Option<String>,
    /// The text that begins with the unit as one word, and its number of units.
    joined: Option<(String, usize, bool)>,
}

/// Separator between two neighboring words of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CompoundJoin {
    /// A hyphen or other punctuation.
    Tight,
    /// White space.
    Loose,
}

impl Vocabulary {
    /// Reads the languages of the documents.
    pub(crate) fn read(searcher: &Searcher, fields: &Fields) -> tantivy::Result<Self> {
        let mut counts: Vec<(String, u64)> = Vec::new();
        let mut with_language = 0;
        for segment in searcher.segment_readers() {
            let index = segment.inverted_index(fields.language)?;
            let mut terms = index.terms().stream()?;
            while let Some((code, info)) = terms.next() {
                let code = String::from_utf8_lossy(code).into_owned();
                with_language += u64::from(info.doc_freq);
                match counts.iter_mut().find(|(other, _)| *other == code) {
                    Some((_, count)) => *count += u64::from(info.doc_freq),
                    None => counts.push((code, u64::from(info.doc_freq))),
                }
            }
        }
        counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let mut languages: Vec<_> = counts.iter().map(|(code, _)| Language::from_code(code)).collect();
        if with_language < searcher.num_docs() {
            languages.push(None);
        }
        let mut seen_unstemmed = false;
        languages.retain(|language| language.is_some() || !std::mem::replace(&mut seen_unstemmed, true));
        languages.truncate(MAX_LANGUAGES);
        Ok(Self { languages, lexicon: SharedLexicon::default() })
    }

    /// Returns the languages of the index that have a stemmer.
    pub(crate) fn languages(&self) -> impl Iterator<Item = Language> {
        self.languages.iter().copied().flatten()
    }

    /// Splits `text` into query words, including stop words.
    pub(crate) fn words(
        &self,
        text: &str,
        abbreviations: Abbreviations,
        searcher: &Searcher,
        fields: &Fields,
    ) -> tantivy::Result<Vec<QueryWord>> {
        let languages = self.query_languages(text);
        let mut words = Vec::new();
        let mut skipped = 0;
        for Unit { lower, kind, mark, joined } in units(text) {
            if skipped > 0 {
                skipped -= 1;
                continue;
            }
            let exact = folded(&lower);
            if let Some((joined, units, true)) = &joined
                && abbreviations == Abbreviations::Joined
            {
                let forms = self.forms(joined, &folded(joined), &languages);
                if is_indexed(&[forms.clone(), as_joined(&forms)].concat(), searcher, fields)? {
                    skipped = units - 1;
                    let exact = folded(joined);
                    words.push(QueryWord { exact, forms, count: 1, spaced: true, mark, joined: None });
                    continue;
                }
            }
            let forms = match kind {
                Kind::Letters => self.forms(&lower, &exact, &languages),
                Kind::Pair | Kind::Last => vec![exact.clone()],
                Kind::Single => units_beginning_with(&exact, searcher, fields)?,
            };
            let mark = mark.filter(|_| !forms.is_empty());
            let joined = joined.filter(|&(_, units, _)| units == 1).map(|(joined, ..)| joined);
            words.push(QueryWord { exact, forms, count: 1, spaced: kind == Kind::Letters, mark, joined });
        }
        Ok(words)
    }

    /// Returns the languages whose stop words are dropped from a query: the most frequent language of the index, and
    /// the languages with at least two stop words in the query.
    fn query_languages(&self, text: &str) -> Vec<Language> {
        let languages: Vec<Language> = self.languages.iter().copied().flatten().collect();
        let mut counts = vec![0; languages.len()];
        if let [_, _, ..] = languages.as_slice() {
            each_word(text, |word| {
                let folded = folded(word.lower);
                for (count, language) in counts.iter_mut().zip(&languages) {
                    *count += usize::from(language.is_stop_word(&folded));
                }
            });
        }
        let main = self.languages.first().copied().flatten();
        let is_query_language = |&(language, count): &(Language, usize)| count > 1 || Some(language) == main;
        let counted = languages.into_iter().zip(counts);
        counted.filter(is_query_language).map(|(language, _)| language).collect()
    }

    /// Returns the forms of a folded word, which is not a stop word.
    pub(crate) fn forms_of(&self, folded: &str) -> Vec<String> {
        self.forms(folded, folded, &[])
    }

    /// Returns the forms of a word; none if it is a stop word of one of `stop_word_languages`.
    fn forms(&self, lower: &str, exact: &str, stop_word_languages: &[Language]) -> Vec<String> {
        let mut forms = Vec::with_capacity(1);
        if stop_word_languages.iter().any(|language| language.is_stop_word(exact)) {
            return forms;
        }
        let mut add = |form: &str| {
            if !forms.iter().any(|existing| existing == form) {
                forms.push(form.to_owned());
            }
        };
        let mut stem = String::new();
        for language in &self.languages {
            match language {
                Some(language) if language.is_stop_word(exact) => {}
                Some(language) => {
                    stem.clear();
                    language.stem(lower, &mut stem);
                    add(&stem);
                    if language.has_accents() {
                        add(exact);
                    }
                }
                None => add(exact),
            }
        }
        forms
    }

    /// Returns two neighboring words as a compound; `None` for words that are not written as one, such as stop words
    /// and single letters.
    pub(crate) fn compound(
        &self,
        first: &QueryWord,
        second: &QueryWord,
        join: CompoundJoin,
    ) -> Option<Compound> {
        const MIN_BYTES: usize = 3;
        let parts = [first, second];
        let is_word = |word: &&QueryWord| !word.forms.is_empty() && word.exact.len() >= MIN_BYTES;
        let can_join = match join {
            CompoundJoin::Tight => !parts.iter().all(|part| part.forms.is_empty()),
            CompoundJoin::Loose => parts.iter().all(is_word) || is_measure(parts),
        };
        // `3.11` is not 311.
        let is_number = parts.iter().all(|part| part.exact.chars().all(char::is_numeric));
        if !can_join || is_number || !parts.iter().all(|part| part.spaced) {
            return None;
        }
        let joined = format!("{}{}", first.exact, second.exact);
        let forms = self.forms_of(&joined);
        // Of a number and its unit, neither says much alone.
        let weight = if is_measure(parts) { MEASURE_WEIGHT } else { 1.0 };
        Some(Compound { parts: parts.map(|part| part.exact.clone()).to_vec(), forms, weight })
    }

    /// Returns the other spellings of a word of a script with spaces: the texts that are also written as this word, and
    /// the singular of an irregular plural and the reverse.
    pub(crate) fn other_spellings(&self, word: &QueryWord) -> Option<Compound> {
        if word.forms.is_empty() || !word.spaced {
            return None;
        }
        let mut forms = as_joined(&word.forms);
        if let Some(english) = self.languages().find(|language| language.is_english()) {
            for other in other_numbers(&word.exact) {
                let mut stem = String::new();
                english.stem(other, &mut stem);
                forms.push(stem);
            }
        }
        Some(Compound { parts: vec![word.exact.clone()], forms, weight: SPELLING_WEIGHT })
    }

    /// Returns a word with its apostrophe as one word.
    pub(crate) fn joined(&self, word: &QueryWord) -> Option<Compound> {
        let forms = self.forms_of(&folded(word.joined.as_deref()?));
        Some(Compound { parts: vec![word.exact.clone()], forms, weight: 1.0 })
    }

    /// Returns the terms of the field `title` that match a word.
    pub(crate) fn title_forms(word: &QueryWord) -> Vec<String> {
        if word.forms.is_empty() {
            return vec![word.exact.clone()];
        }
        word.forms.iter().map(|form| format!("{STEM_MARK}{form}")).collect()
    }
}

/// Returns the forms of texts that are also written as one word with these forms.
fn as_joined(forms: &[String]) -> Vec<String> {
    forms.iter().map(|form| format!("{JOINED_MARK}{form}")).collect()
}

/// Returns true for a number and its unit.
fn is_measure([first, second]: [&QueryWord; 2]) -> bool {
    first.exact.bytes().all(|byte| byte.is_ascii_digit()) && is_unit(&second.exact)
}

/// Splits the text of a query into units.
fn units(text: &str) -> Vec<Unit> {
    let mut units = Vec::new();
    each_word(text, |Word { lower, kind, mark, joined }| {
        if kind != Kind::Last && !lower.is_empty() {
            let joined = joined.map(|joined| (joined.text.to_owned(), joined.units, joined.is_abbreviation));
            units.push(Unit { lower: lower.to_owned(), kind, mark: mark.map(str::to_owned), joined });
        }
    });
    units
}

/// Returns true if the field `terms` of the index has one of the forms.
pub(crate) fn is_indexed(forms: &[String], searcher: &Searcher, fields: &Fields) -> tantivy::Result<bool> {
    for form in forms {
        if searcher.doc_freq(&Term::from_field_text(fields.terms, form))? > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the indexed units that begin with a single ideograph. The ideograph alone is only a unit at the end of a
/// run.
fn units_beginning_with(single: &str, searcher: &Searcher, fields: &Fields) -> tantivy::Result<Vec<String>> {
    let mut found: Vec<(u32, String)> = Vec::new();
    for segment in searcher.segment_readers() {
        let index = segment.inverted_index(fields.terms)?;
        let mut terms = index.terms().range().ge(single).lt(format!("{single}\u{10ffff}")).into_stream()?;
        while let Some((bytes, info)) = terms.next() {
            let text = String::from_utf8_lossy(bytes).into_owned();
            match found.iter_mut().find(|(_, unit)| *unit == text) {
                Some((count, _)) => *count += info.doc_freq,
                None => found.push((info.doc_freq, text)),
            }
        }
    }
    found.sort_unstable_by(|a, b| b.cmp(a));
    found.truncate(MAX_SINGLE_FORMS);
    Ok(found.into_iter().map(|(_, text)| text).collect())
}

/// Returns the folded words of `text` with their positions, for phrases in fields without stemming such as `exact`.
pub(crate) fn literal_words(text: &str) -> Vec<(usize, String)> {
    let (mut words, mut offset, mut buffer) = (Vec::new(), 0, String::new());
    each_word(text, |word| {
        if word.kind != Kind::Last && !word.lower.is_empty() {
            buffer.clear();
            fold(word.lower, &mut buffer);
            words.push((offset, buffer.clone()));
        }
        offset += 1;
    });
    words
}

/// The data of postings that scoring reads.
pub(crate) const SCORED: IndexRecordOption = IndexRecordOption::WithFreqs;
