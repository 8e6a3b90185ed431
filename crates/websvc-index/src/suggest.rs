//! "Did you mean": words of the index that are spelled almost like words it does not have.
//!
//! Runs only when a search found nothing. The dictionaries of the index are walked by an automaton that gives up a
//! branch as soon as it has too many differences, so that a few thousand of their nodes are visited, not all terms.

use tantivy::{Searcher, Term};
use tantivy_fst::Automaton;
use websvc_query::Query;

use crate::analysis::{Kind, each_word, folded};
use crate::schema::Fields;
use crate::vocabulary::QueryWord;

/// Words with fewer bytes have too many neighbours.
const MIN_BYTES: usize = 4;
/// From this length on two differences are allowed.
const TWO_DIFFERENCES_FROM: usize = 8;
/// Longer words are not looked up.
const MAX_BYTES: usize = 40;

/// Of one word, more neighbours than this are not weighed; bounds the time in huge indexes.
const MAX_NEIGHBOURS: usize = 2_000;

/// More unknown words than this are no misspelling.
const MAX_UNKNOWN: usize = 4;

/// Returns a sentence that proposes another spelling; `None` when every word is known or has no neighbour.
pub(crate) fn did_you_mean(
    searcher: &Searcher,
    fields: &Fields,
    query: &Query,
    words: &[QueryWord],
) -> tantivy::Result<Option<String>> {
    let mut corrections: Vec<(&str, String)> = Vec::new();
    let mut unknown = 0;
    for word in words {
        if is_known(searcher, fields, word)? {
            continue;
        }
        unknown += 1;
        if unknown > MAX_UNKNOWN {
            return Ok(None);
        }
        if let Some(better) = nearest(searcher, fields, &word.exact)? {
            corrections.push((&word.exact, better));
        }
    }
    if corrections.is_empty() {
        return Ok(None);
    }
    let mut proposal: Vec<String> = Vec::new();
    for text in query.words() {
        each_word(text, |word| {
            if word.kind == Kind::Letters {
                let exact = folded(word.lower);
                let better = corrections.iter().find(|(wrong, _)| *wrong == exact);
                proposal.push(better.map_or_else(|| word.lower.to_owned(), |(_, better)| better.clone()));
            }
        });
    }
    Ok(Some(format!("nothing was found; did you mean \"{}\"?", proposal.join(" "))))
}

/// Tells whether a word occurs in any of its forms; stop words do.
fn is_known(searcher: &Searcher, fields: &Fields, word: &QueryWord) -> tantivy::Result<bool> {
    if word.forms.is_empty() || searcher.doc_freq(&Term::from_field_text(fields.exact, &word.exact))? > 0 {
        return Ok(true);
    }
    for form in &word.forms {
        if searcher.doc_freq(&Term::from_field_text(fields.terms, form))? > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the word of the index with the fewest differences; the most frequent of equals.
fn nearest(searcher: &Searcher, fields: &Fields, word: &str) -> tantivy::Result<Option<String>> {
    if !(MIN_BYTES..=MAX_BYTES).contains(&word.len()) {
        return Ok(None);
    }
    let allowed = if word.chars().count() < TWO_DIFFERENCES_FROM { 1 } else { 2 };
    for differences in 1..=allowed {
        let mut best: Option<(u64, String)> = None;
        for segment in searcher.segment_readers() {
            let index = segment.inverted_index(fields.exact)?;
            let spelling = LevenshteinAutomaton { word: word.as_bytes(), differences };
            let mut found = index.terms().search(spelling).into_stream()?;
            let mut left = MAX_NEIGHBOURS;
            while left > 0 && found.advance() {
                left -= 1;
                let Ok(text) = std::str::from_utf8(found.key()) else {
                    continue;
                };
                // Numbers are no spelling of words.
                if text.bytes().any(|byte| byte.is_ascii_digit()) {
                    continue;
                }
                let documents = searcher.doc_freq(&Term::from_field_text(fields.exact, text))?;
                if best.as_ref().is_none_or(|(most, _)| documents > *most) {
                    best = Some((documents, text.to_owned()));
                }
            }
        }
        if let Some((_, text)) = best {
            return Ok(Some(text));
        }
    }
    Ok(None)
}

/// Accepts what becomes `word` by at most `differences` insertions, omissions, replacements and exchanges of
/// neighbours, counted in bytes: a letter outside of ASCII that shares its first byte with another counts once too.
struct LevenshteinAutomaton<'a> {
    word: &'a [u8],
    differences: u8,
}

/// Two rows of the table of distances: the last one, the one before, and the byte between them.
#[derive(Clone)]
struct LevenshteinRows {
    last: Vec<u8>,
    before: Vec<u8>,
    byte: u8,
}

impl Automaton for LevenshteinAutomaton<'_> {
    type State = LevenshteinRows;

    fn start(&self) -> LevenshteinRows {
        let last = (0..=self.word.len()).map(|at| u8::try_from(at).unwrap_or(u8::MAX)).collect();
        LevenshteinRows { last, before: Vec::new(), byte: 0 }
    }

    fn is_match(&self, state: &LevenshteinRows) -> bool {
        state.last.last().is_some_and(|&distance| distance <= self.differences)
    }

    fn can_match(&self, state: &LevenshteinRows) -> bool {
        state.last.iter().any(|&distance| distance <= self.differences)
    }

    fn accept(&self, state: &LevenshteinRows, byte: u8) -> LevenshteinRows {
        let mut row = Vec::with_capacity(state.last.len());
        row.push(state.last[0].saturating_add(1));
        for (at, &wanted) in self.word.iter().enumerate() {
            let replaced = state.last[at] + u8::from(wanted != byte);
            let mut distance = replaced.min(state.last[at + 1] + 1).min(row[at] + 1);
            if at > 0 && !state.before.is_empty() && wanted == state.byte && self.word[at - 1] == byte {
                distance = distance.min(state.before[at - 1] + 1);
            }
            row.push(distance);
        }
        LevenshteinRows { before: state.last.clone(), last: row, byte }
    }
}

#[cfg(test)]
mod tests {
    use tantivy_fst::Automaton;

    use super::LevenshteinAutomaton;

    fn accepts(word: &str, differences: u8, text: &str) -> bool {
        let spelling = LevenshteinAutomaton { word: word.as_bytes(), differences };
        let state = text.bytes().fold(spelling.start(), |state, byte| spelling.accept(&state, byte));
        spelling.is_match(&state)
    }

    #[test]
    fn one_difference_is_any_single_slip() {
        for text in ["python", "pyhton", "pythn", "pythom", "pythoon", "ypthon"] {
            assert!(accepts("python", 1, text), "{text}");
        }
        for text in ["pyton3", "jython2", "pyt", "nohtyp"] {
            assert!(!accepts("python", 1, text), "{text}");
        }
        assert!(accepts("планета", 1, "плонета"));
    }
}
