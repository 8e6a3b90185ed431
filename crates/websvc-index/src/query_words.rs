//! The words of a query: their other spellings, the compounds with them, and the correction of those that the index
//! does not have.

use websvc_query::{Node, Query};

use crate::compiled::Compiled;
use crate::decompound::{Compounds, CompoundsOfWord};
use crate::filter::Compiler;
use crate::rank::MAX_KEYWORDS;
use crate::run::is_run;
use crate::suggest::{is_known, similar_word};
use crate::vocabulary::{Abbreviations, Compound, CompoundJoin, QueryWord, is_indexed};

/// Maximum runs of a query that are searched as such, because each reads the positions of its words.
const MAX_RUNS: usize = 8;

/// Maximum words of a query that are searched in compounds, because each reads a part of the terms.
const MAX_WORDS_IN_COMPOUNDS: usize = 8;

/// Maximum words of a query that are corrected. With more unknown words, the query is probably not misspelled.
const MAX_CORRECTIONS: usize = 4;

/// Minimum characters of a word that is corrected in a query of more than [`MAX_KEYWORDS`] words. Sentences have other words
/// to be found by, and their short unknown words are mostly names and words of everyday life.
const MIN_CHARS_IN_SENTENCE: usize = 8;

/// Weight of a word that is searched in place of an unknown one.
const CORRECTION_WEIGHT: f32 = 0.5;

/// Weight of a compound whose last part is the word.
const ENDING_WEIGHT: f32 = 0.6;
/// Weight of a compound whose first part is the word.
const BEGINNING_WEIGHT: f32 = 0.3;

impl Compiler<'_> {
    /// Adds the scoring words of a query.
    pub(crate) fn add_words(&self, query: &Query, out: &mut Compiled) -> tantivy::Result<()> {
        let plain = query.root().map(plain_words).unwrap_or_default();
        let compounds = Compounds::new(self.searcher, self.fields, self.vocabulary.languages());
        let is_sentence = plain.len() > MAX_KEYWORDS;
        let mut corrected = Vec::new();
        let mut previous: Option<QueryWord> = None;
        for text in query.words() {
            let is_plain = plain.contains(&text);
            let words = self.words_of(text, is_plain, compounds.as_ref())?;
            let is_run = is_run(text, &words) && out.runs.len() < MAX_RUNS;
            let mut run = Vec::new();
            for (index, mut word) in words.into_iter().enumerate() {
                let is_tight = index > 0 && !text.contains(char::is_whitespace);
                let join = if is_tight { CompoundJoin::Tight } else { CompoundJoin::Loose };
                let previous = previous.replace(word.clone());
                let compound = previous.and_then(|previous| self.vocabulary.compound(&previous, &word, join));
                out.compounds.extend(compound);
                out.compounds.extend(self.vocabulary.joined(&word));
                // Most words have none in the index, and without them a query keeps the fastest way to its best pages.
                if let Some(spellings) = self.vocabulary.other_spellings(&word)
                    && is_indexed(&spellings.forms, self.searcher, self.fields)?
                {
                    out.compounds.push(spellings);
                }
                out.marks.extend(word.mark.take().filter(|mark| !is_sentence || !is_capitals(mark)));
                let known = out.words.iter().position(|existing| existing.exact == word.exact);
                run.push(known.unwrap_or(out.words.len()));
                match known {
                    Some(known) => out.words[known].count += 1,
                    None => {
                        corrected.extend(is_plain.then_some(out.words.len()));
                        out.words.push(word);
                    }
                }
            }
            if is_run {
                out.runs.push((text.to_owned(), run));
            }
        }
        if let Some(compounds) = compounds {
            add_compounds(&compounds, &corrected, out)?;
        }
        self.correct(corrected, out)
    }

    /// Splits a text of the query into words. A compound that the index does not have is its two parts.
    fn words_of(
        &self,
        text: &str,
        is_plain: bool,
        compounds: Option<&Compounds<'_>>,
    ) -> tantivy::Result<Vec<QueryWord>> {
        let abbreviations = if is_plain { Abbreviations::Joined } else { Abbreviations::Apart };
        let words = self.vocabulary.words(text, abbreviations, self.searcher, self.fields)?;
        if let ([word], Some(compounds), true) = (words.as_slice(), compounds, is_plain)
            && !is_known(self.searcher, self.fields, word)?
            && let Some(parts) = compounds.split(&word.exact)?
        {
            return self.vocabulary.words(&parts.join(" "), abbreviations, self.searcher, self.fields);
        }
        Ok(words)
    }

    /// Searches the words that the index does not have in the most similar spelling.
    fn correct(&self, plain: Vec<usize>, out: &mut Compiled) -> tantivy::Result<()> {
        let mut unknown = Vec::new();
        for index in plain {
            let word = &out.words[index];
            let has_digit = word.exact.contains(|c: char| c.is_numeric());
            if !has_digit && !is_known(self.searcher, self.fields, word)? && !self.is_joined(word, out)? {
                unknown.push(index);
            }
        }
        if unknown.len() > MAX_CORRECTIONS {
            return Ok(());
        }
        let is_sentence = out.words.len() > MAX_KEYWORDS;
        for index in unknown {
            let word = &out.words[index];
            if is_sentence && word.exact.chars().count() < MIN_CHARS_IN_SENTENCE {
                continue;
            }
            let is_candidate = |other: &str| begins_alike(&word.exact, other);
            if let Some(correction) = similar_word(self.searcher, self.fields, &word.exact, 1, is_candidate)?
            {
                let (parts, forms) = (vec![word.exact.clone()], self.vocabulary.forms_of(&correction));
                out.compounds.push(Compound { parts, forms, weight: CORRECTION_WEIGHT });
                out.corrections.push((word.exact.clone(), correction));
            }
        }
        Ok(())
    }

    /// Returns true if the index has a word joined with its neighbor, or as a part of other words.
    fn is_joined(&self, word: &QueryWord, out: &Compiled) -> tantivy::Result<bool> {
        for Compound { parts, forms, .. } in &out.compounds {
            if parts.contains(&word.exact) && is_indexed(forms, self.searcher, self.fields)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns true for the mark of a name of two capitals, such as `US`. Sentences have many of them, which say little.
fn is_capitals(mark: &str) -> bool {
    mark.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Returns true if two words have the same first letter, or the same first two letters in another order. Words with another
/// beginning are rarely meant: `merlin` is not `berlin`.
fn begins_alike(word: &str, other: &str) -> bool {
    let start = |word: &str| word.chars().take(2).collect::<Vec<_>>();
    let (first, second) = (start(word), start(other));
    first.first() == second.first() || first.iter().rev().eq(&second)
}

/// Returns the words at the top level of a query, which are neither quoted nor arguments of operators.
fn plain_words(root: &Node) -> Vec<&str> {
    let nodes = match root {
        Node::And(children) => children.as_slice(),
        other => std::slice::from_ref(other),
    };
    nodes
        .iter()
        .filter_map(|node| if let Node::Word(text) = node { Some(text.as_str()) } else { None })
        .collect()
}

/// Adds the compounds of the index with some words of the query.
fn add_compounds(compounds: &Compounds<'_>, words: &[usize], out: &mut Compiled) -> tantivy::Result<()> {
    for &index in words.iter().take(MAX_WORDS_IN_COMPOUNDS) {
        let word = &out.words[index];
        if word.forms.is_empty() || !word.spaced {
            continue;
        }
        let parts = vec![word.exact.clone()];
        let CompoundsOfWord { ending, beginning } = compounds.with(&word.exact)?;
        for (forms, weight) in [(ending, ENDING_WEIGHT), (beginning, BEGINNING_WEIGHT)] {
            if !forms.is_empty() {
                out.compounds.push(Compound { parts: parts.clone(), forms, weight });
            }
        }
    }
    Ok(())
}
