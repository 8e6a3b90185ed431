//! Compiled path pattern.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use regex_automata::Input;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::pikevm::PikeVM;
use regex_automata::nfa::thompson::{NFA, WhichCaptures};
use regex_automata::util::syntax;

/// Maximum size of the automaton of a pattern, in bytes. Nested repetitions would grow without bound.
const PATTERN_MAX_BYTES: usize = 1 << 20;

/// Memory for the states that searches build, in bytes. A large automaton needs more.
const MIN_CACHE_BYTES: usize = 16 * 1024;

/// Regular expression that is searched for in URLs. All threads share one cache, so that the memory does not grow with
/// their number.
pub(crate) struct PathPattern {
    text: Arc<str>,
    dfa: DFA,
    /// Cache of search states, created by the first search.
    cache: Mutex<Option<Cache>>,
    /// Maximum memory, in bytes.
    bytes: usize,
}

/// Error of compiling a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CompileError {
    /// The text is not a regular expression.
    Syntax(String),
    /// The automaton would take more than this number of bytes.
    TooBig(usize),
}

impl PathPattern {
    /// Compiles a pattern whose automaton takes at most `max_bytes`, and at most the limit of a single pattern.
    pub(crate) fn compile(text: &str, max_bytes: usize) -> Result<Self, CompileError> {
        let limit = max_bytes.min(PATTERN_MAX_BYTES);
        let syntax_error = |error: String| CompileError::Syntax(error);
        // URLs are ASCII. Unicode classes take a hundred times the memory and match no more URLs, so the pattern is
        // parsed with them only if it cannot be parsed without.
        let ascii = syntax::Config::new().unicode(false).utf8(false);
        let hir = match syntax::parse_with(text, &ascii) {
            Ok(hir) => hir,
            Err(_) => syntax::parse_with(text, &syntax::Config::new())
                .map_err(|error| syntax_error(error.to_string()))?,
        };
        let config =
            NFA::config().utf8(false).which_captures(WhichCaptures::None).nfa_size_limit(Some(limit));
        let nfa = NFA::compiler().configure(config).build_from_hir(&hir).map_err(|error| {
            match error.size_limit() {
                Some(limit) => CompileError::TooBig(limit),
                None => syntax_error(error.to_string()),
            }
        })?;
        let config = DFA::config().unicode_word_boundary(true);
        let min_capacity =
            config.get_minimum_cache_capacity(&nfa).map_err(|error| syntax_error(error.to_string()))?;
        let capacity = min_capacity.max(MIN_CACHE_BYTES);
        let bytes = size_of::<Self>() + text.len() + nfa.memory_usage() + capacity;
        let dfa = DFA::builder()
            .configure(config.cache_capacity(capacity))
            .build_from_nfa(nfa)
            .map_err(|error| syntax_error(error.to_string()))?;
        Ok(Self { text: text.into(), dfa, cache: Mutex::new(None), bytes })
    }

    /// Returns the text of the pattern.
    pub(crate) fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Returns the maximum memory of the pattern, in bytes: the automaton and the full cache of its searches.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns whether the pattern matches anywhere in a text.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        let mut cache = self.cache.lock();
        let cache = cache.get_or_insert_with(|| self.dfa.create_cache());
        match self.dfa.try_search_fwd(cache, &Input::new(text).earliest(true)) {
            Ok(found) => found.is_some(),
            // The lazy DFA fails at a word boundary next to a non-ASCII character, which no URL has.
            Err(_) => PikeVM::new_from_nfa(self.dfa.get_nfa().clone())
                .is_ok_and(|vm| vm.is_match(&mut vm.create_cache(), text)),
        }
    }
}

impl fmt::Debug for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PathPattern")
            .field("text", &self.text)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, text: &str, expected: bool) {
        let compiled = PathPattern::compile(pattern, usize::MAX).expect("a pattern");
        assert_eq!(compiled.is_match(text), expected, "{pattern} in {text}");
        let again = PathPattern::compile(pattern, usize::MAX).expect("a pattern");
        assert_eq!(again.is_match(text), expected, "{pattern} in {text}, compiled again");
    }

    #[test]
    fn pattern_matches_as_crate_regex_does() {
        check("^/docs/", "/docs/x", true);
        check("^/docs/", "/a/docs/x", false);
        check("docs", "/a/docs/x", true);
        check(r"^/\d{4}/\w+$", "/2026/news", true);
        check(r"^/\d{4}/\w+$", "/2026/news/1", false);
        check(r"\bnews\b", "/x-news/1", true);
        check(r"(?i)NEWS", "/news", true);
        check(r"^/\p{Lowercase}+$", "/news", true);
        check(r"^/\p{Lowercase}+$", "/News", false);
        check("[äöü]|/a", "/a", true);
        check("ä", "/a", false);
        check("", "/a", true);
        check("^$", "", true);
        check("/%C3%A4$", "/%C3%A4", true);
        check("a|b$", "/c/b", true);
        check("(?u:\\w)\\b", "/a", true);
    }

    #[test]
    fn pattern_with_too_large_automaton_is_rejected() {
        let limit = CompileError::TooBig(PATTERN_MAX_BYTES);
        assert_eq!(PathPattern::compile("(x{500}){500}", usize::MAX).err(), Some(limit));
        assert_eq!(PathPattern::compile("x{500}", 100).err(), Some(CompileError::TooBig(100)));
        assert!(matches!(PathPattern::compile("(", usize::MAX), Err(CompileError::Syntax(_))));
    }
}
