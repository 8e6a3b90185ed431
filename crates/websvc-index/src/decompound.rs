//! Compounds of German, Dutch, Finnish and the Scandinavian languages: `Versicherung` finds `Krankenversicherung`.
//!
//! There is no dictionary. The index has the long words of such pages a second time, backwards, so that the words that
//! end with a word of the query are neighbors in its sorted list of terms. A word that ends or begins with a word of
//! the query is a compound if the rest is a word of the index too.

use std::collections::BTreeSet;

use tantivy::schema::Field;
use tantivy::{Searcher, Term};

use crate::analysis::Language;
use crate::schema::{Fields, REVERSED_MARK};

/// Minimum characters of a compound.
const MIN_COMPOUND: usize = 7;
/// Maximum bytes of a compound.
const MAX_COMPOUND_BYTES: usize = 60;
/// Minimum characters of the last part of a compound.
const MIN_HEAD: usize = 4;
/// Minimum characters of the first part of a compound.
const MIN_MODIFIER: usize = 3;

/// Minimum characters of a last part that is so long that the first part need not be a word of the index.
const LONG_HEAD: usize = 7;
/// Minimum characters of a first part that need not be a word of the index.
const LONG_MODIFIER: usize = 4;

/// Maximum distinct long words of a page that are indexed backwards.
const MAX_REVERSED_WORDS: usize = 20_000;

/// Maximum terms of the index that are visited for a word of the query, in each direction.
const MAX_VISITED: usize = 1_000;
/// Maximum compounds whose parts are looked up, the most frequent first.
const MAX_CHECKED: usize = 200;
/// Maximum compounds with a word as their last part.
const MAX_ENDING: usize = 24;
/// Maximum compounds with a word as their first part.
const MAX_BEGINNING: usize = 12;

/// Texts between the parts of a compound.
const LINKS: [&str; 7] = ["", "s", "n", "es", "en", "er", "e"];

/// Endings of nouns.
const ENDINGS: [&str; 20] = [
    "a", "ar", "arna", "e", "en", "ene", "er", "ern", "erna", "erne", "es", "et", "n", "ne", "ns", "or",
    "orna", "r", "s", "t",
];

/// Prefixes of verbs and of the nouns that are made of them, without accents: a `Vorstellung` is not a kind of
/// `Stellung`.
const PREFIXES: [&str; 72] = [
    "aan", "ab", "af", "an", "auf", "aus", "av", "be", "bei", "bij", "door", "efter", "ein", "emp", "ent",
    "er", "etter", "for", "fore", "fort", "fra", "fram", "ge", "gen", "her", "herab", "heran", "heraus",
    "hin", "hinter", "in", "inn", "los", "med", "mis", "miss", "mit", "mot", "na", "nach", "ned", "neer",
    "om", "on", "ont", "onder", "op", "opp", "over", "pa", "sam", "samen", "teil", "til", "till", "toe",
    "uber", "uit", "um", "un", "und", "under", "unter", "upp", "ut", "ver", "voor", "vor", "weg", "wider",
    "wieder", "zer",
];

/// Returns the long words of a page backwards, as terms.
pub(crate) fn reversed<'a>(words: impl Iterator<Item = &'a str>) -> impl Iterator<Item = String> {
    let long: BTreeSet<&str> = words.filter(|word| is_long(word)).collect();
    long.into_iter().take(MAX_REVERSED_WORDS).map(reversed_term)
}

fn is_long(word: &str) -> bool {
    word.len() <= MAX_COMPOUND_BYTES
        && word.chars().count() >= MIN_COMPOUND
        && word.chars().all(char::is_alphabetic)
}

fn reversed_term(word: &str) -> String {
    std::iter::once(REVERSED_MARK).chain(word.chars().rev()).collect()
}

/// The compounds of an index.
pub(crate) struct Compounds<'a> {
    searcher: &'a Searcher,
    fields: &'a Fields,
    /// The languages of the index that have compounds.
    languages: Vec<Language>,
}

/// The compounds with a word of the query.
#[derive(Debug, Default)]
pub(crate) struct CompoundsOfWord {
    /// The compounds whose last part is the word, which are kinds of it.
    pub(crate) ending: Vec<String>,
    /// The compounds whose first part is the word.
    pub(crate) beginning: Vec<String>,
}

/// A word of the index.
struct Found {
    word: String,
    /// The part that is not the word of the query.
    rest: String,
    documents: u64,
}

impl<'a> Compounds<'a> {
    /// Returns the compounds of an index with pages in `languages`; `None` if none of these has compounds.
    pub(crate) fn new(
        searcher: &'a Searcher,
        fields: &'a Fields,
        languages: impl Iterator<Item = Language>,
    ) -> Option<Self> {
        let languages: Vec<Language> = languages.filter(|language| language.has_compounds()).collect();
        (!languages.is_empty()).then_some(Self { searcher, fields, languages })
    }

    /// Returns the compounds with a folded word.
    pub(crate) fn with(&self, word: &str) -> tantivy::Result<CompoundsOfWord> {
        if word.chars().count() < MIN_HEAD
            || word.len() > MAX_COMPOUND_BYTES
            || !word.chars().all(char::is_alphabetic)
        {
            return Ok(CompoundsOfWord::default());
        }
        Ok(CompoundsOfWord { ending: self.ending_with(word)?, beginning: self.beginning_with(word)? })
    }

    /// Returns the two parts of a folded word that the index does not have, if it has both parts.
    pub(crate) fn split(&self, word: &str) -> tantivy::Result<Option<[String; 2]>> {
        if !is_long(word) {
            return Ok(None);
        }
        for (at, _) in word.char_indices().skip(MIN_MODIFIER) {
            let (modifier, head) = word.split_at(at);
            if head.chars().count() < MIN_HEAD {
                break;
            }
            if self.is_word(head)?
                && let Some(modifier) = self.known_modifier(modifier)?
            {
                return Ok(Some([modifier, head.to_owned()]));
            }
        }
        Ok(None)
    }

    fn ending_with(&self, word: &str) -> tantivy::Result<Vec<String>> {
        let mut found = Vec::new();
        for head in self.inflections(word) {
            let mut add = |term: &str, documents| {
                let word: String = term.chars().skip(1).collect::<Vec<_>>().into_iter().rev().collect();
                if let Some(rest) = word.strip_suffix(&head).filter(|rest| !rest.is_empty()) {
                    found.push(Found { rest: rest.to_owned(), word, documents });
                }
            };
            self.visit(self.fields.label, &reversed_term(&head), &mut add)?;
        }
        let is_long_head = word.chars().count() >= LONG_HEAD;
        let mut compounds = Vec::new();
        for Found { word, rest, .. } in most_frequent(found) {
            if compounds.len() >= MAX_ENDING {
                break;
            }
            let is_plausible = is_long_head && rest.chars().count() >= LONG_MODIFIER;
            if !PREFIXES.contains(&rest.as_str()) && (is_plausible || self.known_modifier(&rest)?.is_some()) {
                compounds.push(word);
            }
        }
        Ok(compounds)
    }

    fn beginning_with(&self, word: &str) -> tantivy::Result<Vec<String>> {
        let mut found = Vec::new();
        self.visit(self.fields.exact, word, &mut |term: &str, documents| {
            let rest = &term[word.len()..];
            if rest.chars().count() >= MIN_HEAD && is_long(term) {
                found.push(Found { word: term.to_owned(), rest: rest.to_owned(), documents });
            }
        })?;
        let mut compounds = Vec::new();
        for Found { word, rest, .. } in most_frequent(found) {
            if compounds.len() >= MAX_BEGINNING {
                break;
            }
            let heads = LINKS.iter().filter_map(|link| rest.strip_prefix(link));
            let mut has_head = false;
            for head in heads.filter(|head| head.chars().count() >= MIN_HEAD) {
                has_head = has_head || self.documents(self.fields.exact, head)? > 0;
            }
            if has_head && self.documents(self.fields.label, &reversed_term(&word))? > 0 {
                compounds.push(word);
            }
        }
        Ok(compounds)
    }

    /// Returns a word in all numbers and cases that have the same stem.
    fn inflections(&self, word: &str) -> BTreeSet<String> {
        let mut inflections = BTreeSet::from([word.to_owned()]);
        for &language in &self.languages {
            let stem = |word: &str| {
                let mut stem = String::new();
                language.stem(word, &mut stem);
                stem
            };
            let own = stem(word);
            let shorter = ENDINGS.iter().filter_map(|ending| word.strip_suffix(ending));
            let bases = shorter.filter(|base| base.chars().count() >= MIN_HEAD && stem(base) == own);
            let base = bases.min_by_key(|base| base.len()).unwrap_or(word);
            inflections.insert(base.to_owned());
            let inflected = ENDINGS.iter().map(|ending| format!("{base}{ending}"));
            inflections.extend(inflected.filter(|inflected| stem(inflected) == own));
        }
        inflections
    }

    /// Returns the first part of a compound as it is in the index, without the text that links it to the rest; `None` if
    /// the index does not have it.
    fn known_modifier(&self, modifier: &str) -> tantivy::Result<Option<String>> {
        if PREFIXES.contains(&modifier) {
            return Ok(None);
        }
        for link in LINKS {
            let Some(part) = modifier.strip_suffix(link) else { continue };
            // `Schule` is `schul` in `Schulbuch`.
            for part in [part.to_owned(), format!("{part}e")] {
                if part.chars().count() >= MIN_MODIFIER && self.is_word(&part)? {
                    return Ok(Some(part));
                }
            }
        }
        Ok(None)
    }

    /// Returns true if the index has a word in some number or case, and it is not a stop word.
    fn is_word(&self, part: &str) -> tantivy::Result<bool> {
        if self.languages.iter().any(|language| language.is_stop_word(part)) {
            return Ok(false);
        }
        if self.documents(self.fields.exact, part)? > 0 {
            return Ok(true);
        }
        for language in &self.languages {
            let mut stem = String::new();
            language.stem(part, &mut stem);
            if stem.chars().count() >= MIN_MODIFIER && self.documents(self.fields.terms, &stem)? > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn documents(&self, field: Field, text: &str) -> tantivy::Result<u64> {
        self.searcher.doc_freq(&Term::from_field_text(field, text))
    }

    /// Calls `add` with the terms that begin with `prefix` and their documents in a segment.
    fn visit(&self, field: Field, prefix: &str, add: &mut impl FnMut(&str, u64)) -> tantivy::Result<()> {
        let mut remaining = MAX_VISITED;
        for segment in self.searcher.segment_readers() {
            let index = segment.inverted_index(field)?;
            let end = format!("{prefix}\u{10ffff}");
            let mut terms = index.terms().range().ge(prefix).lt(end).into_stream()?;
            while remaining > 0
                && let Some((bytes, info)) = terms.next()
            {
                remaining -= 1;
                if let Ok(text) = std::str::from_utf8(bytes) {
                    add(text, u64::from(info.doc_freq));
                }
            }
        }
        Ok(())
    }
}

/// Returns distinct words, the most frequent first.
fn most_frequent(mut found: Vec<Found>) -> impl Iterator<Item = Found> {
    found.sort_unstable_by(|a, b| a.word.cmp(&b.word));
    found.dedup_by(|next, first| {
        let is_same = next.word == first.word;
        first.documents += if is_same { next.documents } else { 0 };
        is_same
    });
    found.sort_by_key(|found| std::cmp::Reverse(found.documents));
    found.into_iter().take(MAX_CHECKED)
}
