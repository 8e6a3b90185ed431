//! The words of texts as numbers, remembered for one generation of the index.
//!
//! Long questions borrow words from the texts of their best answers. Taking a text apart and stemming its words costs
//! far more than everything else of a search, and the same words and the same answers come again and again, so both
//! are remembered within fixed bounds. What is remembered never changes a result.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tantivy::DocAddress;

use crate::analysis::{Kind, Language, each_word, fold};

/// With more words than this the lexicon begins anew; one takes about 100 bytes.
const MAX_WORDS: usize = 40_000;

/// With more entries than this in the remembered texts it begins anew too; one takes 8 bytes.
const MAX_ENTRIES: usize = 200_000;

/// The number of a stem.
pub(crate) type StemId = u32;

/// How often each stem stands in a text, in the order of the first occurrences. Stop words are left out.
pub(crate) type Counts = Arc<[(StemId, f32)]>;

/// A part of a document: the position of its first word tells it from others.
pub(crate) type TextPart = (DocAddress, u32);

/// The lexicon of a generation; searches keep the one that they began with.
#[derive(Debug, Default)]
pub(crate) struct SharedLexicon(Mutex<Arc<Lexicon>>);

impl SharedLexicon {
    /// Returns the lexicon, or a new one when it is full.
    pub(crate) fn current(&self) -> Arc<Lexicon> {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if current.is_full() {
            *current = Arc::default();
        }
        Arc::clone(&current)
    }
}

/// Stems by number, and the texts that were counted.
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
    /// In how many documents it stands, once that was asked.
    documents: Option<u64>,
}

impl Lexicon {
    fn known(&self) -> MutexGuard<'_, LexiconState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_full(&self) -> bool {
        let known = self.known();
        known.word_count > MAX_WORDS || known.entry_count > MAX_ENTRIES
    }

    /// Returns the counts of a part, if they are remembered.
    pub(crate) fn remembered(&self, part: TextPart) -> Option<Counts> {
        self.known().texts.get(&part).map(Arc::clone)
    }

    /// Counts the stems of texts that together are a part, and remembers them.
    pub(crate) fn count<'a>(
        &self,
        part: TextPart,
        texts: impl Iterator<Item = &'a str>,
        language: Option<Language>,
    ) -> Counts {
        let mut known = self.known();
        let mut ids = Vec::new();
        for text in texts {
            each_word(text, |word| ids.extend(known.number(word.lower, word.kind, language)));
        }
        ids.sort_unstable();
        let counts: Counts = ids.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as f32)).collect();
        known.entry_count += counts.len();
        known.texts.insert(part, Arc::clone(&counts));
        counts
    }

    /// Returns the stem with a number, and in how many documents it stands, which `ask` finds out the first time.
    pub(crate) fn stem<E>(
        &self,
        id: StemId,
        ask: impl FnOnce(&str) -> Result<u64, E>,
    ) -> Result<(Box<str>, u64), E> {
        let mut known = self.known();
        let Stem { text, documents } = &mut known.stems[id as usize];
        let count = match *documents {
            Some(count) => count,
            None => *documents.insert(ask(text)?),
        };
        Ok((text.clone(), count))
    }
}

impl LexiconState {
    /// Returns the number of a unit of a text as a term of the field `terms`; `None` for stop words.
    fn number(&mut self, lower: &str, kind: Kind, language: Option<Language>) -> Option<StemId> {
        if matches!(kind, Kind::Last | Kind::Single) {
            return None;
        }
        let language = language.filter(|_| kind == Kind::Letters);
        if let Some(&known) = self.words.get(&language).and_then(|words| words.get(lower)) {
            return known;
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
        let number = StemId::try_from(self.stems.len()).expect("a lexicon has far fewer words");
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

    fn part(at: u32) -> (DocAddress, u32) {
        (DocAddress::new(0, at), 0)
    }

    #[test]
    fn texts_are_counted_by_stem_without_stop_words() {
        let lexicon = Lexicon::default();
        let english = Language::from_code("en");
        let counts =
            lexicon.count(part(0), ["The gathering", "of gatherers gathers 東京"].into_iter(), english);
        let mut found: Vec<(String, f32)> = counts
            .iter()
            .map(|&(id, count)| {
                let (text, documents) = lexicon.stem(id, |text| Ok::<_, ()>(text.len() as u64)).unwrap();
                assert_eq!(documents, text.len() as u64, "asked once, then remembered");
                assert_eq!(lexicon.stem(id, |_| Err(())), Ok((text.clone(), documents)));
                (text.into(), count)
            })
            .collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        let expected = [("gather", 3.0), ("東京", 1.0)];
        assert_eq!(found, expected.map(|(text, count)| (text.to_owned(), count)));
        assert_eq!(lexicon.remembered(part(0)), Some(counts));
        assert_eq!(lexicon.remembered(part(1)), None);
    }

    #[test]
    fn a_full_lexicon_begins_anew_and_the_old_one_stays_whole() {
        let shared = SharedLexicon::default();
        let first = shared.current();
        assert!(Arc::ptr_eq(&first, &shared.current()));
        let text: String = (0..=MAX_WORDS).map(|at| format!("w{at} ")).collect();
        let counts = first.count(part(0), std::iter::once(text.as_str()), None);
        assert_eq!(counts.len(), MAX_WORDS + 1);
        let second = shared.current();
        assert!(!Arc::ptr_eq(&first, &second));
        assert_eq!(second.remembered(part(0)), None);
        assert_eq!(first.remembered(part(0)), Some(counts));
    }
}
