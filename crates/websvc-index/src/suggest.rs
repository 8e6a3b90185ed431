//! Corrections: words of the index with a similar spelling to query words that the index does not have.
//!
//! A word with one edit is searched in place of an unknown one. Words with two edits are only suggested, and only if a
//! search found nothing. A Levenshtein automaton walks the term dictionaries of the index and
//! leaves a branch as soon as it has too many edits, so it visits a few thousand nodes and not all terms.

use tantivy::{Searcher, Term};
use tantivy_fst::Automaton;
use websvc_query::Query;

use crate::analysis::{Kind, each_word, folded};
use crate::schema::Fields;
use crate::vocabulary::{QueryWord, is_indexed};

/// Minimum bytes of a word that is corrected. Shorter words have too many similar words.
const MIN_BYTES: usize = 4;
/// Minimum characters of a word in which two edits are corrected.
const TWO_EDITS_MIN_CHARS: usize = 8;
/// Maximum bytes of a word that is corrected.
const MAX_BYTES: usize = 40;

/// Maximum similar words that are considered for a word in each segment, which bounds the time in large indexes.
const MAX_SIMILAR: usize = 2_000;

/// Maximum unknown words of a query that is corrected. With more, the query is probably not misspelled.
const MAX_UNKNOWN: usize = 4;

/// Returns a warning with another spelling of the query; `None` if no word can be corrected. `corrections` are those with
/// which the query was searched.
pub(crate) fn did_you_mean(
    searcher: &Searcher,
    fields: &Fields,
    query: &Query,
    words: &[QueryWord],
    corrections: &[(String, String)],
) -> tantivy::Result<Option<String>> {
    let mut corrections = corrections.to_vec();
    let (searched, mut unknown) = (corrections.len(), 0);
    for word in words {
        let is_corrected = corrections[..searched].iter().any(|(unknown, _)| *unknown == word.exact);
        if is_corrected || is_known(searcher, fields, word)? {
            continue;
        }
        unknown += 1;
        if unknown > MAX_UNKNOWN {
            return Ok(None);
        }
        let max_edits = if word.exact.chars().count() < TWO_EDITS_MIN_CHARS { 1 } else { 2 };
        if let Some(correction) = similar_word(searcher, fields, &word.exact, max_edits, |_| true)? {
            corrections.push((word.exact.clone(), correction));
        }
    }
    if corrections.len() == searched {
        return Ok(None);
    }
    let suggestion = corrected(query, &corrections);
    Ok(Some(format!("no results were found; did you mean \"{suggestion}\"?")))
}

/// Returns a warning that the query was searched with other words than typed; `None` if it was not.
pub(crate) fn showing_results_for(query: &Query, corrections: &[(String, String)]) -> Option<String> {
    let unknown: Vec<String> = corrections.iter().map(|(unknown, _)| format!("\"{unknown}\"")).collect();
    (!unknown.is_empty()).then(|| {
        let (corrected, unknown) = (corrected(query, corrections), unknown.join(" or "));
        format!("showing results for \"{corrected}\", because no page has {unknown}")
    })
}

/// Returns the words of a query with corrections.
fn corrected(query: &Query, corrections: &[(String, String)]) -> String {
    let mut words: Vec<String> = Vec::new();
    for text in query.words() {
        each_word(text, |word| {
            if word.kind == Kind::Letters {
                let exact = folded(word.lower);
                let corrected = corrections.iter().find(|(unknown, _)| *unknown == exact);
                let corrected = corrected.map(|(_, correction)| correction.clone());
                words.push(corrected.unwrap_or_else(|| word.lower.to_owned()));
            }
        });
    }
    words.join(" ")
}

/// Returns true if a word occurs in the index in any of its forms. Stop words always count as known.
pub(crate) fn is_known(searcher: &Searcher, fields: &Fields, word: &QueryWord) -> tantivy::Result<bool> {
    let exact = Term::from_field_text(fields.exact, &word.exact);
    Ok(word.forms.is_empty() || searcher.doc_freq(&exact)? > 0 || is_indexed(&word.forms, searcher, fields)?)
}

/// Returns the word of the index with the fewest edits, at most `max_edits`, and of several such words the most frequent
/// one. Only candidates count.
pub(crate) fn similar_word(
    searcher: &Searcher,
    fields: &Fields,
    word: &str,
    max_edits: u8,
    is_candidate: impl Fn(&str) -> bool,
) -> tantivy::Result<Option<String>> {
    if !(MIN_BYTES..=MAX_BYTES).contains(&word.len()) {
        return Ok(None);
    }
    for edits in 1..=max_edits {
        let mut best: Option<(u64, String)> = None;
        for segment in searcher.segment_readers() {
            let index = segment.inverted_index(fields.exact)?;
            let automaton = LevenshteinAutomaton { word: word.as_bytes(), max_edits: edits };
            let mut found = index.terms().search(automaton).into_stream()?;
            let mut remaining = MAX_SIMILAR;
            while remaining > 0 && found.advance() {
                remaining -= 1;
                let Ok(text) = std::str::from_utf8(found.key()) else {
                    continue;
                };
                // A number is not another spelling of a word.
                if text.bytes().any(|byte| byte.is_ascii_digit()) || !is_candidate(text) {
                    continue;
                }
                let documents = searcher.doc_freq(&Term::from_field_text(fields.exact, text))?;
                if best.as_ref().is_none_or(|(max, _)| documents > *max) {
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

/// An automaton that accepts words with at most `max_edits` edits relative to `word`: insertions, deletions,
/// substitutions and transpositions of adjacent bytes. Bytes are counted, so substituting a letter outside of ASCII by
/// one with the same first byte is one edit.
struct LevenshteinAutomaton<'a> {
    word: &'a [u8],
    max_edits: u8,
}

/// The state of the automaton: the last two rows of the distance matrix, and the byte of the last row.
#[derive(Clone)]
struct LevenshteinRows {
    last: Vec<u8>,
    previous: Vec<u8>,
    byte: u8,
}

impl Automaton for LevenshteinAutomaton<'_> {
    type State = LevenshteinRows;

    fn start(&self) -> LevenshteinRows {
        let last = (0..=self.word.len()).map(|length| u8::try_from(length).unwrap_or(u8::MAX)).collect();
        LevenshteinRows { last, previous: Vec::new(), byte: 0 }
    }

    fn is_match(&self, state: &LevenshteinRows) -> bool {
        state.last.last().is_some_and(|&distance| distance <= self.max_edits)
    }

    fn can_match(&self, state: &LevenshteinRows) -> bool {
        state.last.iter().any(|&distance| distance <= self.max_edits)
    }

    fn accept(&self, state: &LevenshteinRows, byte: u8) -> LevenshteinRows {
        let mut row = Vec::with_capacity(state.last.len());
        row.push(state.last[0].saturating_add(1));
        for (column, &expected) in self.word.iter().enumerate() {
            let substitution = state.last[column] + u8::from(expected != byte);
            let mut distance = substitution.min(state.last[column + 1] + 1).min(row[column] + 1);
            let is_transposition = column > 0
                && !state.previous.is_empty()
                && expected == state.byte
                && self.word[column - 1] == byte;
            if is_transposition {
                distance = distance.min(state.previous[column - 1] + 1);
            }
            row.push(distance);
        }
        LevenshteinRows { previous: state.last.clone(), last: row, byte }
    }
}

#[cfg(test)]
mod tests {
    use tantivy_fst::Automaton;

    use super::LevenshteinAutomaton;

    fn accepts(word: &str, max_edits: u8, text: &str) -> bool {
        let automaton = LevenshteinAutomaton { word: word.as_bytes(), max_edits };
        let state = text.bytes().fold(automaton.start(), |state, byte| automaton.accept(&state, byte));
        automaton.is_match(&state)
    }

    #[test]
    fn automaton_with_one_edit_accepts_any_single_typo() {
        for text in ["python", "pyhton", "pythn", "pythom", "pythoon", "ypthon"] {
            assert!(accepts("python", 1, text), "{text}");
        }
        for text in ["pyton3", "jython2", "pyt", "nohtyp"] {
            assert!(!accepts("python", 1, text), "{text}");
        }
        assert!(accepts("планета", 1, "плонета"));
    }
}
