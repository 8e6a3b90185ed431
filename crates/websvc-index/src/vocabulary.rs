//! Words of a query as terms of the index.
//!
//! A query does not say its language, so each word stands for its stems under every language that the index
//! holds. Most languages agree on most words, so that usually one or two terms remain.

use tantivy::Searcher;
use tantivy::schema::IndexRecordOption;

use crate::analysis::{Kind, Language, each_word, fold, folded};
use crate::lexicon::SharedLexicon;
use crate::schema::{Fields, STEM_MARK};

/// More languages than this are not tried, the most frequent first.
const MAX_LANGUAGES: usize = 8;

/// How many units a single ideograph may stand for.
const MAX_SINGLE_FORMS: usize = 32;

/// Vocabulary of one generation of the index.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    /// The languages of the index; `None` stands for those without a stemmer.
    languages: Vec<Option<Language>>,
    /// The words of texts that lent some to long questions.
    pub(crate) lexicon: SharedLexicon,
}

/// One unit of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueryWord {
    /// The unit as typed, folded: a term of the fields `exact`, `title` and `url_words`.
    pub(crate) exact: String,
    /// Its forms in the field `terms`, without repetition; empty for a stop word.
    pub(crate) forms: Vec<String>,
    /// How often the query has it.
    pub(crate) count: u16,
    /// True if the word is of a script with spaces, so that other pages may write it and its neighbor as one word.
    pub(crate) spaced: bool,
}

/// Two neighbours of a query written as one: `anti-inflammatory` and `health care` are `antiinflammatory` and
/// `healthcare` elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Compound {
    /// The two words as in [`QueryWord::exact`].
    pub(crate) parts: [String; 2],
    /// Its forms in the field `terms`.
    pub(crate) forms: Vec<String>,
}

/// Separator between two neighboring words of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CompoundJoin {
    /// A hyphen or another sign.
    Tight,
    /// A space.
    Loose,
}

impl Vocabulary {
    /// Reads which languages the documents have.
    pub(crate) fn read(searcher: &Searcher, fields: &Fields) -> tantivy::Result<Self> {
        let mut counts: Vec<(String, u64)> = Vec::new();
        let mut known = 0;
        for segment in searcher.segment_readers() {
            let index = segment.inverted_index(fields.language)?;
            let mut terms = index.terms().stream()?;
            while let Some((code, info)) = terms.next() {
                let code = String::from_utf8_lossy(code).into_owned();
                known += u64::from(info.doc_freq);
                match counts.iter_mut().find(|(other, _)| *other == code) {
                    Some((_, count)) => *count += u64::from(info.doc_freq),
                    None => counts.push((code, u64::from(info.doc_freq))),
                }
            }
        }
        counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let mut languages: Vec<_> = counts.iter().map(|(code, _)| Language::from_code(code)).collect();
        if known < searcher.num_docs() {
            languages.push(None);
        }
        let mut seen_unstemmed = false;
        languages.retain(|language| language.is_some() || !std::mem::replace(&mut seen_unstemmed, true));
        languages.truncate(MAX_LANGUAGES);
        Ok(Self { languages, lexicon: SharedLexicon::default() })
    }

    /// Takes `text` apart into query words, stop words included.
    pub(crate) fn words(
        &self,
        text: &str,
        searcher: &Searcher,
        fields: &Fields,
    ) -> tantivy::Result<Vec<QueryWord>> {
        let (mut words, mut singles) = (Vec::new(), Vec::new());
        let fluent = self.query_languages(text);
        each_word(text, |word| {
            if word.kind != Kind::Last && !word.lower.is_empty() {
                let exact = folded(word.lower);
                let forms = match word.kind {
                    Kind::Letters => self.forms(word.lower, &exact, &fluent),
                    Kind::Pair | Kind::Last | Kind::Single => vec![exact.clone()],
                };
                if word.kind == Kind::Single {
                    singles.push(words.len());
                }
                words.push(QueryWord { exact, forms, count: 1, spaced: word.kind == Kind::Letters });
            }
        });
        for at in singles {
            let word: &mut QueryWord = &mut words[at];
            word.forms = units_beginning_with(&word.exact, searcher, fields)?;
        }
        Ok(words)
    }

    /// Returns the languages whose stop words are stop words of a query: the most frequent of the index, and every
    /// other of which the query has at least two.
    fn query_languages(&self, text: &str) -> Vec<Language> {
        let known: Vec<Language> = self.languages.iter().copied().flatten().collect();
        let mut counts = vec![0; known.len()];
        if let [_, _, ..] = known.as_slice() {
            each_word(text, |word| {
                let folded = folded(word.lower);
                for (count, language) in counts.iter_mut().zip(&known) {
                    *count += usize::from(language.is_stop_word(&folded));
                }
            });
        }
        let main = self.languages.first().copied().flatten();
        let fluent =
            known.into_iter().zip(counts).filter(|&(language, count)| count > 1 || Some(language) == main);
        fluent.map(|(language, _)| language).collect()
    }

    /// Returns the forms of a word; none when it is a stop word of one of the languages `fluent`.
    fn forms(&self, lower: &str, exact: &str, fluent: &[Language]) -> Vec<String> {
        let mut forms = Vec::with_capacity(1);
        if fluent.iter().any(|language| language.is_stop_word(exact)) {
            return forms;
        }
        let mut add = |form: &str| {
            if !forms.iter().any(|known| known == form) {
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

    /// Returns two neighbours as one word; `None` for neighbours that nobody writes so, such as stop words and letters.
    pub(crate) fn compound(
        &self,
        first: &QueryWord,
        second: &QueryWord,
        bond: CompoundJoin,
    ) -> Option<Compound> {
        const MIN_BYTES: usize = 3;
        let parts = [first, second];
        let is_word = |word: &&QueryWord| !word.forms.is_empty() && word.exact.len() >= MIN_BYTES;
        let joins = match bond {
            CompoundJoin::Tight => !parts.iter().all(|part| part.forms.is_empty()),
            CompoundJoin::Loose => parts.iter().all(is_word),
        };
        // `3.11` is not 311.
        let is_number = parts.iter().all(|part| part.exact.chars().all(char::is_numeric));
        if !joins || is_number || !parts.iter().all(|part| part.spaced) {
            return None;
        }
        let joined = format!("{}{}", first.exact, second.exact);
        let forms = self.forms(&joined, &joined, &[]);
        Some(Compound { parts: parts.map(|part| part.exact.clone()), forms })
    }

    /// Returns the terms of the field `title` that stand for a word.
    pub(crate) fn title_forms(word: &QueryWord) -> Vec<String> {
        if word.forms.is_empty() {
            return vec![word.exact.clone()];
        }
        word.forms.iter().map(|form| format!("{STEM_MARK}{form}")).collect()
    }
}

/// Finds the indexed units that begin with a single ideograph, which by itself is a unit only at the end of a run.
fn units_beginning_with(single: &str, searcher: &Searcher, fields: &Fields) -> tantivy::Result<Vec<String>> {
    let mut found: Vec<(u32, String)> = Vec::new();
    for segment in searcher.segment_readers() {
        let index = segment.inverted_index(fields.terms)?;
        let mut terms = index.terms().range().ge(single).lt(format!("{single}\u{10ffff}")).into_stream()?;
        while let Some((bytes, info)) = terms.next() {
            let text = String::from_utf8_lossy(bytes).into_owned();
            match found.iter_mut().find(|(_, known)| *known == text) {
                Some((count, _)) => *count += info.doc_freq,
                None => found.push((info.doc_freq, text)),
            }
        }
    }
    found.sort_unstable_by(|a, b| b.cmp(a));
    found.truncate(MAX_SINGLE_FORMS);
    Ok(found.into_iter().map(|(_, text)| text).collect())
}

/// Returns the folded words of `text` with their places, for phrases in the field `exact` and its like.
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

/// How postings are read for scoring.
pub(crate) const SCORED: IndexRecordOption = IndexRecordOption::WithFreqs;
