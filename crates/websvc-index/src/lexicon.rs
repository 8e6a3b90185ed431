//! A bounded cache of stems and of the stem counts of texts, for one searcher generation.
//!
//! Long queries are expanded with words of their best candidates (see [`crate::feedback`]). Tokenizing and stemming
//! those texts costs far more than the rest of a search, and the same words and candidates recur, so both are cached.
//! The cache never changes a result.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use tantivy::DocAddress;

use crate::analysis::{Kind, Language, each_word, fold};

/// Maximum words, of about 100 bytes each; a lexicon with more is replaced by an empty one.
const MAX_WORDS: usize = 40_000;

/// Maximum entries in the counts of all texts, of 8 bytes each; a lexicon with more is replaced by an empty one.
const MAX_ENTRIES: usize = 200_000;

/// The number of a stem.
pub(crate) type StemId = u32;

/// The number of occurrences of each stem in a text, sorted by stem, without stop words.
pub(crate) type Counts = Arc<[(StemId, f32)]>;

/// A part of a document, identified by the position of its first word.
pub(crate) type TextPart = (DocAddress, u32);

/// The lexicon of a searcher generation. A search uses the same lexicon until its end.
#[derive(Debug, Default)]
pub(crate) struct SharedLexicon(Mutex<Arc<Lexicon>>);

impl SharedLexicon {
    /// Returns the current lexicon, or a new one if it is full.
    pub(crate) fn current(&self) -> Arc<Lexicon> {
        let mut current = self.0.lock();
        if current.is_full() {
            *current = Arc::default();
        }
        Arc::clone(&current)
    }
}

/// Stems by number, and the stem counts of texts.
#[derive(Debug, Default)]
pub(crate) struct Lexicon(Mutex<LexiconState>);

#[derive(Debug, Default)]
struct LexiconState {
    /// Words in lower case by their language; `None` for stop words.
    words: HashMap<Option<Language>, HashMap<Box<str>, Option<StemId>>>,
    numbers: HashMap<Box<str>, StemId>,
    stems: Vec<Stem>,
    texts: HashMap<TextPart, Counts>,
    word_count: usize,
    entry_count: usize,
}

#[derive(Debug)]
struct Stem {
    text: Box<str>,
    /// Number of documents with the stem, after it was counted once.
    documents: Option<u64>,
}

impl Lexicon {
    fn state(&self) -> MutexGuard<'_, LexiconState> {
        self.0.lock()
    }

    fn is_full(&self) -> bool {
        let state = self.state();
        state.word_count > MAX_WORDS || state.entry_count > MAX_ENTRIES
    }

    /// Returns the cached counts of a part.
    pub(crate) fn cached_counts(&self, part: TextPart) -> Option<Counts> {
        self.state().texts.get(&part).map(Arc::clone)
    }

    /// Counts the stems of the texts of a part, and caches the counts.
    pub(crate) fn count<'a>(
        &self,
        part: TextPart,
        texts: impl Iterator<Item = &'a str>,
        language: Option<Language>,
    ) -> Counts {
        let mut state = self.state();
        let mut ids = Vec::new();
        for text in texts {
            each_word(text, |word| ids.extend(state.number(word.lower, word.kind, language)));
        }
        ids.sort_unstable();
        let counts: Counts = ids.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as f32)).collect();
        state.entry_count += counts.len();
        state.texts.insert(part, Arc::clone(&counts));
        counts
    }

    /// Returns the stem with a number, and the number of documents with it. `count_documents` counts them on the first
    /// call for a stem.
    pub(crate) fn stem<E>(
        &self,
        id: StemId,
        count_documents: impl FnOnce(&str) -> Result<u64, E>,
    ) -> Result<(Box<str>, u64), E> {
        let mut state = self.state();
        let Stem { text, documents } = &mut state.stems[id as usize];
        let count = match *documents {
            Some(count) => count,
            None => *documents.insert(count_documents(text)?),
        };
        Ok((text.clone(), count))
    }
}

impl LexiconState {
    /// Returns the number of the stem of a unit of text; `None` for stop words.
    fn number(&mut self, lower: &str, kind: Kind, language: Option<Language>) -> Option<StemId> {
        if matches!(kind, Kind::Last | Kind::Single) {
            return None;
        }
        let language = language.filter(|_| kind == Kind::Letters);
        if let Some(&number) = self.words.get(&language).and_then(|words| words.get(lower)) {
            return number;
        }
        let number = stem(lower, language).map(|stem| match self.numbers.get(stem.as_str()) {
            Some(&number) => number,
            None => self.add(stem.into_boxed_str()),
        });
        self.words.entry(language).or_default().insert(lower.into(), number);
        self.word_count += 1;
        number
    }

    fn add(&mut self, text: Box<str>) -> StemId {
        let number = StemId::try_from(self.stems.len()).expect("the number of words is bounded");
        self.numbers.insert(text.clone(), number);
        self.stems.push(Stem { text, documents: None });
        number
    }
}

/// Returns the stem of a word; `None` for stop words.
fn stem(lower: &str, language: Option<Language>) -> Option<String> {
    let mut out = String::new();
    fold(lower, &mut out);
    if let Some(language) = language {
        if language.is_stop_word(&out) {
            return None;
        }
        out.clear();
        language.stem(lower, &mut out);
    }
    (!out.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tantivy::DocAddress;

    use super::{Lexicon, MAX_WORDS, SharedLexicon};
    use crate::analysis::Language;

    fn part(doc_id: u32) -> (DocAddress, u32) {
        (DocAddress::new(0, doc_id), 0)
    }

    #[test]
    fn lexicon_counts_stems_without_stop_words() {
        let lexicon = Lexicon::default();
        let english = Language::from_code("en");
        let counts =
            lexicon.count(part(0), ["The gathering", "of gatherers gathers 東京"].into_iter(), english);
        let mut found: Vec<(String, f32)> = counts
            .iter()
            .map(|&(id, count)| {
                let (text, documents) = lexicon.stem(id, |text| Ok::<_, ()>(text.len() as u64)).unwrap();
                assert_eq!(documents, text.len() as u64, "documents of {text}");
                assert_eq!(lexicon.stem(id, |_| Err(())), Ok((text.clone(), documents)));
                (text.into(), count)
            })
            .collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        let expected = [("gather", 3.0), ("東京", 1.0)];
        assert_eq!(found, expected.map(|(text, count)| (text.to_owned(), count)));
        assert_eq!(lexicon.cached_counts(part(0)), Some(counts));
        assert_eq!(lexicon.cached_counts(part(1)), None);
    }

    #[test]
    fn full_lexicon_is_replaced_and_the_old_one_stays_valid() {
        let shared = SharedLexicon::default();
        let first = shared.current();
        assert!(Arc::ptr_eq(&first, &shared.current()));
        let text: String = (0..=MAX_WORDS).map(|number| format!("w{number} ")).collect();
        let counts = first.count(part(0), std::iter::once(text.as_str()), None);
        assert_eq!(counts.len(), MAX_WORDS + 1);
        let second = shared.current();
        assert!(!Arc::ptr_eq(&first, &second));
        assert_eq!(second.cached_counts(part(0)), None);
        assert_eq!(first.cached_counts(part(0)), Some(counts));
    }
}
