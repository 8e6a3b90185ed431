//! Runs: texts of a query whose words belong together in their order, such as `1.2.3`, `192.168.0.1` and `Node.js`.
//!
//! The index has their words one by one. Their parts are often frequent, so that pages with the parts in any order would
//! rank as high. Pages with the run as typed are therefore searched first, and rank before the others.

use tantivy::query::Query as IndexQuery;
use tantivy::schema::Field;

use crate::compiled::{Compiled, phrase};
use crate::vocabulary::QueryWord;

/// A text of the query such as `1.2.3`, whose words belong together in this order.
pub(crate) struct Run {
    /// The query for the text as a phrase.
    pub(crate) query: Box<dyn IndexQuery>,
    /// The indexes of its words in [`QueryStatistics::words`]; `None` for a stop word.
    parts: Vec<Option<u16>>,
}

impl Run {
    /// Returns the run of a text, given the indexes of its words; `None` if one of them does not occur in the index.
    pub(crate) fn new(
        compiled: &Compiled,
        exact: Field,
        run: &(String, Vec<usize>),
        indexes: &[Option<usize>],
    ) -> Option<Self> {
        let (text, parts) = run;
        let index = |&part: &usize| match indexes[part] {
            Some(index) => u16::try_from(index).ok().map(Some),
            None if compiled.words[part].forms.is_empty() => Some(None),
            None => None,
        };
        let parts = parts.iter().map(index).collect::<Option<Vec<_>>>()?;
        parts.iter().any(Option::is_some).then_some(())?;
        Some(Self { query: phrase(exact, text)?, parts })
    }

    /// Returns the distinct words.
    pub(crate) fn words(&self) -> impl Iterator<Item = usize> {
        let is_first = |&(at, part): &(usize, u16)| !self.parts[..at].contains(&Some(part));
        let words = self.parts.iter().enumerate().filter_map(|(at, part)| Some((at, (*part)?)));
        words.filter(is_first).map(|(_, part)| usize::from(part))
    }

    /// Returns true if the words occur one after the other.
    pub(crate) fn occurs(&self, positions: &[(u32, u16)]) -> bool {
        let mut words = (0u32..).zip(&self.parts).filter_map(|(offset, part)| Some((offset, (*part)?)));
        let Some((first_offset, first)) = words.next() else { return false };
        let others: Vec<(u32, u16)> = words.collect();
        let mut starts = positions.iter().filter(|(_, word)| *word == first);
        starts.any(|(start, _)| {
            let at = |offset: u32| start + offset - first_offset;
            others.iter().all(|&(offset, word)| positions.binary_search(&(at(offset), word)).is_ok())
        })
    }
}

/// Returns whether the words of a text without spaces belong together in this order: versions, addresses, dates, product
/// numbers and names with dots. Words of letters with hyphens or slashes do not, because they are also written apart or
/// as one word, and neither do abbreviations (`e.g.`).
pub(crate) fn is_run(text: &str, words: &[QueryWord]) -> bool {
    let inner = text.trim_matches(|c: char| !c.is_alphanumeric());
    let is_name = inner.contains(['.', '_', ':', '@']) && words.iter().any(|word| word.exact.len() > 1);
    words.len() > 1
        && words.iter().all(|word| word.spaced)
        && !text.contains(char::is_whitespace)
        && (is_name || inner.contains(char::is_numeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, words: &[&str], expected: bool) {
        let word = |exact: &&str| QueryWord {
            exact: (*exact).to_owned(),
            forms: vec![(*exact).to_owned()],
            count: 1,
            spaced: true,
            mark: None,
            joined: None,
        };
        let words: Vec<QueryWord> = words.iter().map(word).collect();
        assert_eq!(is_run(text, &words), expected, "{text}");
    }

    #[test]
    fn versions_dates_and_names_with_dots_are_runs() {
        check("1.2.3", &["1", "2", "3"], true);
        check("2024-01-15", &["2024", "01", "15"], true);
        check("WH-1000XM5", &["wh", "1000xm5"], true);
        check("Node.js", &["node", "js"], true);
        check("max_length", &["max", "length"], true);
        check("(10.0.7.1),", &["10", "0", "7", "1"], true);
        check("well-known.", &["well", "known"], false);
        check("and/or", &["and", "or"], false);
        check("(e.g.,", &["e", "g"], false);
        check("2024", &["2024"], false);
        check("3 11", &["3", "11"], false);
    }

    #[test]
    fn run_occurs_if_its_words_follow_each_other_in_order() {
        let query = || -> Box<dyn IndexQuery> { Box::new(tantivy::query::EmptyQuery) };
        let run = |parts: &[Option<u16>]| Run { query: query(), parts: parts.to_vec() };
        let positions = [(3, 0), (4, 2), (5, 1), (9, 0), (10, 1), (11, 2)];
        assert!(run(&[Some(0), Some(1), Some(2)]).occurs(&positions));
        assert!(!run(&[Some(2), Some(1), Some(0)]).occurs(&positions));
        assert!(run(&[Some(0), None, Some(1)]).occurs(&positions), "a stop word has no position");
        assert!(!run(&[None]).occurs(&positions));
        assert_eq!(run(&[Some(0), Some(1), Some(0)]).words().collect::<Vec<_>>(), [0, 1]);
    }
}
